"""Which flows there are: every NIC sends to the NIC of the same rail in another stripe, each server to another one."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from ailb_gen.addresses import eui64
from ailb_gen.errors import UsageError
from ailb_gen.hosts.model import Host
from ailb_gen.lab.plan import LabPlan, NicPlan, ServerPlan
from ailb_gen.lab.traffic.model import MOST_FLOWS, Flow

# RoCEv2 senders choose source ports from here on (InfiniBand Architecture, annex A17.9.3).
LEAST_PORT, MOST_PORT = 0xC000, 0xFFFF


def addresses(host: Host, nic: NicPlan) -> tuple[int, ...]:
    """Return the addresses of a NIC, one for every rule, in the order of the rules."""
    rules = (rule for rule in host.profile.rules if rule.nic == nic.nic and rule.source is not None)
    return tuple(dict.fromkeys(rule.source.value | eui64(nic.mac) for rule in rules if rule.source is not None))


def partners(plan: LabPlan, hosts: Mapping[str, Host]) -> dict[str, str]:
    """Return the peer of each server: every server receives from one other, across stripes if possible."""
    names = [name for name in plan.servers if name in hosts]
    if len(names) < 2:
        raise UsageError(f"traffic needs two servers; the lab has {len(names)}")
    half = len(names) // 2
    shifts = sorted(range(1, len(names)), key=lambda shift: abs(shift - half))

    def together(shift: int) -> int:
        """Count the servers that would send to one on the same leaf."""
        pairs = zip(names, names[shift:] + names[:shift], strict=True)
        return sum(_leaf(plan.servers[one]) == _leaf(plan.servers[other]) for one, other in pairs)

    best = min(shifts, key=together)
    return dict(zip(names, names[best:] + names[:best], strict=True))


def _leaf(server: ServerPlan) -> str:
    return next((nic.leaf.device for nic in server.nics.values() if nic.leaf is not None), "")


def flows(
    plan: LabPlan, hosts: Mapping[str, Host], qps: int = 0, ecmp: bool = False, seed: int = 1
) -> tuple[Flow, ...]:
    """Return the flows of all servers: QP k goes from address k to address k of the other NIC.

    `qps` are the QPs of a pair of NICs, 0 for one per address. With `ecmp` all QPs of a pair are between the first
    addresses, and differ by random source ports. Raises UsageError.
    """
    chosen = random.Random(seed)  # noqa: S311 - nothing secret
    found: list[Flow] = []
    for source, target in partners(plan, hosts).items():
        on_rail = {nic.rail: nic for nic in plan.servers[target].nics.values()}
        for one in plan.servers[source].nics.values():
            other = on_rail.get(one.rail)
            if other is None:
                continue
            near, far = addresses(hosts[source], one), addresses(hosts[target], other)
            if not near or not far:
                continue
            usable = min(len(near), len(far))
            for qp in range(qps or usable):
                at = 0 if ecmp else qp % usable
                port = chosen.randint(LEAST_PORT, MOST_PORT) if ecmp else LEAST_PORT + qp
                found.append(Flow(source, one.nic, near[at], target, other.nic, far[at], qp, port))
    if not found:
        raise UsageError("no flow is possible; the servers' files have no rules, so their NICs have no addresses")
    if len(found) > MOST_FLOWS:
        raise UsageError(f"{len(found):,} flows are more than {MOST_FLOWS:,}; choose fewer --qps")
    return tuple(_distinct(found, chosen))


def _distinct(found: list[Flow], chosen: random.Random) -> list[Flow]:
    """Give flows that would share a socket another source port."""
    used: set[tuple[str, int, int]] = set()
    result = []
    for flow in found:
        port = flow.port
        while (flow.source, flow.source_address, port) in used:
            port = chosen.randint(LEAST_PORT, MOST_PORT)
        used.add((flow.source, flow.source_address, port))
        result.append(replace(flow, port=port))
    return result
