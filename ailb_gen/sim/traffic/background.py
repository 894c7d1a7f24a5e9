"""Constant load on chosen links: two more hosts per link, and a flow between them that takes this link alone.

The sender's own link is as fast as the load; the next hop of its packets is the chosen link at the switch where it
begins, and the receiver at the other end. ACKs come back over the link of the same cable. Other hosts, links, next-hop
sets, destinations and prefixes keep their numbers; switches move up, since hosts come first. Failures of the fabric are
computed before: the FIBs of all its states get the new prefixes.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import HOST, LOCAL, PS_PER_S, UNREACHABLE, FabricArrays, Forwarding, Int32, Int64
from ailb_gen.sim.settings import UNSET_OF_LINKS, SimulationSettings
from ailb_gen.sim.traffic.arrivals import flows
from ailb_gen.sim.workload import Workload


def with_background(
    fabric: FabricArrays, links: Sequence[int], share: float, duration_ps: int, start_ps: int = 0, seed: int = 0
) -> tuple[FabricArrays, Workload]:
    """Add a flow to each of G links between switches: `share` of the link's rate for a time, at full speed.

    Returns the fabric with its generators, and their flows. A congestion control that applies to all flows slows these
    down, too. A generator does not avoid failures: it loses what it sends over a failed link. `links` are different
    ones. Raises UsageError for a link at a host, and for a time in which not even a byte is sent.
    """
    chosen = np.array(links, dtype=np.int64)
    at_host = chosen[np.minimum(fabric.link_source[chosen], fabric.link_target[chosen]) < fabric.host_count]
    if len(at_host):
        name = fabric.link_names[at_host[0]]
        raise UsageError(f"background on {name}: the link leads to a host; it must be between switches")
    rate = np.maximum((fabric.rate_bps[chosen] * share).astype(np.int64), 1)
    amount = np.array([int(bps) * duration_ps // (8 * PS_PER_S) for bps in rate], dtype=np.int64)
    if len(amount) and amount.min() < 1:
        raise UsageError(f"background of {share:.0%} for {duration_ps} ps: sends less than a byte")
    sender = fabric.host_count + 2 * np.arange(len(chosen))
    start = np.full(len(chosen), start_ps, dtype=np.int64)
    workload = flows(sender, sender + 1, amount, start, seed, "background")
    return _with_hosts(fabric, chosen, rate), workload


def with_more_links(settings: SimulationSettings, link_count: int) -> SimulationSettings:
    """Return settings whose arrays by link reach `link_count`: links that are added mark nothing and lose nothing."""
    switches = settings.switches
    longer: dict[str, Any] = {
        name: np.pad(values, (0, link_count - len(values)), constant_values=unset)
        for name, unset in UNSET_OF_LINKS.items()
        if isinstance(values := getattr(switches, name), np.ndarray)
    }
    return replace(settings, switches=replace(switches, **longer))


def _with_hosts(fabric: FabricArrays, links: Int64, rate: Int64) -> FabricArrays:
    """Add hosts 2g (sender) and 2g + 1 (receiver) for every link, each with two links, a destination and a prefix."""
    count = len(links)
    hosts, old_links, sets = fabric.host_count, fabric.link_count, len(fabric.set_first) - 1
    prefixes = int(fabric.forwarding[0].next_hops.shape[1])
    added = np.arange(2 * count)
    back = fabric.link_reverse[links]
    # By host: the switch it is attached to, its rate, and the fabric's link towards it from the other switch.
    switch = np.stack([fabric.link_source[links], fabric.link_target[links]], axis=1).ravel()
    speed = np.stack([rate, fabric.rate_bps[links]], axis=1).ravel()
    towards = np.stack([back, links], axis=1).ravel()
    delay = np.repeat(fabric.delay_ps[links], 2)
    up, down = old_links + added, old_links + 2 * count + added
    names = [f"background{g + 1}-{end}" for g in range(count) for end in ("sender", "receiver")]
    switch_names = [fabric.names[node] for node in switch]
    ends = (fabric.link_source, fabric.link_target)
    source, target = (np.where(nodes >= hosts, nodes + 2 * count, nodes) for nodes in ends)
    # Sets, 2G each: a host's own link; the link to it at its switch; the link towards it at the other switch.
    own, delivery, far = (sets + 2 * count * part + added for part in range(3))
    return replace(
        fabric,
        names=(*fabric.names[:hosts], *names, *fabric.names[hosts:]),
        host_count=hosts + 2 * count,
        tier=np.insert(fabric.tier, hosts, np.full(2 * count, HOST)).astype(np.int32),
        link_names=(
            *fabric.link_names,
            *(f"{host}:{peer}" for host, peer in zip(names, switch_names, strict=True)),
            *(f"{peer}:{host}" for host, peer in zip(names, switch_names, strict=True)),
        ),
        link_source=_joined(source, hosts + added, switch + 2 * count),
        link_target=_joined(target, switch + 2 * count, hosts + added),
        link_reverse=_joined(fabric.link_reverse, down, up),
        rate_bps=np.concatenate([fabric.rate_bps, speed, speed]),
        delay_ps=np.concatenate([fabric.delay_ps, delay, delay]),
        first_destination=_joined(fabric.first_destination, fabric.first_destination[-1] + 1 + added),
        destination_prefix=_joined(fabric.destination_prefix, prefixes + added),
        host_set=_joined(fabric.host_set, own),
        delivery_set=_joined(fabric.delivery_set, delivery),
        set_first=_joined(fabric.set_first, fabric.set_first[-1] + 1 + np.arange(6 * count)),
        set_links=_joined(fabric.set_links, up, down, towards),
        forwarding=tuple(
            Forwarding(one.at_ps, _with_routes(one.next_hops, switch - hosts, far)) for one in fabric.forwarding
        ),
        prefix_names=(*fabric.prefix_names, *names) if len(fabric.prefix_names) == prefixes else fabric.prefix_names,
    )


def _with_routes(next_hops: Int32, switch: Int32, far: Int64) -> Int32:
    """Add a prefix per host: LOCAL at its own switch, the link towards it at the other one, unreachable elsewhere.

    `switch`, shape (2G,), is the switch of every host; the other end of its link is that of its neighbor in the pair.
    """
    routes = np.full((len(next_hops), len(switch)), UNREACHABLE, dtype=np.int32)
    column = np.arange(len(switch))
    routes[switch, column] = LOCAL
    routes[switch[column ^ 1], column] = far
    return np.concatenate([next_hops, routes], axis=1)


def _joined(*parts: Int32 | Int64) -> Int32:
    return np.concatenate(parts).astype(np.int32)
