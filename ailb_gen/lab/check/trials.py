"""Leaves that run another configuration for a moment: they announce a probe prefix, or exchange two colors.

Two leaves announce one probe each without a color, so that only policies keep others from sending it on: routes with a
color stay with their color, and a leaf's policy for others shows only when links fail, or not at all. When colors
change under traffic, remote leaves move packets to another spine, which must not interrupt them: the backups carry
packets in flight.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count, islice

from ailb_gen.addresses import Prefix
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_routes import ExpectedRoutes
from ailb_gen.checks.families.lab import NO_VALLEY, RECOLORED
from ailb_gen.checks.model import Findings
from ailb_gen.lab.check.expected import bgp_place, leaf_ports
from ailb_gen.lab.check.observed import Observed, ObservedRecoloring
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Address, FabricRoute, Switch
from ailb_gen.wording import some

# Every leaf must be one that could send on what another announces.
PROBERS = 2
LENGTH = 64
# The longest interruption of a flow. BIRD replaces an IPv6 route by two messages to the kernel: some packets are lost.
MOST_MS = 100.0


def probes(context: Context) -> Mapping[str, Prefix]:
    """Return the leaves that announce a probe, with its prefix: the last unused ones of the pool."""
    pool, used = context.expected.pool, {prefix for leaf in context.expected.leaves for prefix in leaf.prefixes}
    last = (pool.value >> LENGTH) | ((1 << max(0, LENGTH - pool.length)) - 1)
    free = (one for down in count() if (one := Prefix((last - down) << LENGTH, LENGTH)) not in used)
    leaves = [leaf for leaf, _ in context.leaves if leaf.ports.get("irb") and leaf.ports["irb"].units]
    return {leaf.named: prefix for leaf, prefix in zip(islice(leaves, PROBERS), free, strict=False)}


def with_probe(switch: Switch, probe: Prefix) -> Switch:
    """Return a leaf that has an address in the probe prefix on its first IRB, and announces it without a color."""
    irb = switch.ports["irb"]
    first, *others = irb.units
    unit = replace(first, addresses=(*first.addresses, Address(probe.value | 1, probe)))
    ports = {**switch.ports, "irb": replace(irb, units=(unit, *others))}
    return replace(switch, ports=ports, routes=(*switch.routes, FabricRoute(probe, None, None)))


def check_probes(context: Context, routes: ExpectedRoutes, observed: Observed, findings: Findings) -> None:
    """Expect a prefix without color to come to spines from the leaf that announces it, and from no other."""
    if observed.not_probed:
        findings.skip(NO_VALLEY, observed.not_probed)
    for source, places in observed.probed.items():
        findings.look(NO_VALLEY, len(context.expected.leaves) - 1)
        senders: dict[str, list[End]] = defaultdict(list)
        for end, sender in _senders(routes, places):
            if sender != source and sender in observed.devices:
                senders[sender].append(end)
        for sender, ends in senders.items():
            message = f"readvertises a prefix of {source}, learned from a spine, to {some(map(str, ends))}"
            involves = dict.fromkeys(end.device for end in ends)
            findings.add(NO_VALLEY, sender, message, bgp_place(context, sender), involves=involves)


def _senders(routes: ExpectedRoutes, places: Mapping[str, frozenset[str]]) -> Iterator[tuple[End, str]]:
    """Yield the ends of spines where the probe prefix came in, with the leaf at the other end."""
    spines = {spine.name for spine in routes.paths.expected.spines}
    for spine, ports in places.items():
        for port in sorted(ports) if spine in spines else ():
            leaf = routes.peer(End(spine, port))
            if leaf is not None:
                yield End(spine, port), leaf.device


@dataclass(frozen=True, slots=True)
class Recoloring:
    """A leaf as it is with two colors exchanged, and their prefixes."""

    leaf: str
    changed: Switch
    prefixes: tuple[Prefix, Prefix]


def recoloring(context: Context) -> Recoloring | None:
    """Return the change: of the first leaf that has servers and prefixes of two colors; None if none has."""
    with_servers = {port.device for port in leaf_ports(context).values()}
    for leaf, expected in context.leaves:
        first = next((route for route in leaf.routes if route.prefix in expected.prefixes), None)
        second = next(
            (row for row in leaf.routes if first and row.prefix in expected.prefixes and row.color != first.color), None
        )
        if leaf.named in with_servers and first is not None and second is not None:
            # A color keeps its backup: by that of another it may have no path.
            others = {first.prefix: second, second.prefix: first}
            pairs = ((row, others.get(row.prefix, row)) for row in leaf.routes)
            routes = tuple(replace(row, color=other.color, backup=other.backup) for row, other in pairs)
            return Recoloring(leaf.named, replace(leaf, routes=routes), (first.prefix, second.prefix))
    return None


def check_recoloring(
    change: Callable[[Recoloring], ObservedRecoloring], context: Context, down: frozenset[End], findings: Findings
) -> None:
    """Let colors change, and check what that costs the packets."""
    planned = recoloring(context)
    if planned is None or down:
        findings.skip(RECOLORED, "no leaf has servers and two colors" if planned is None else "links have failed")
        return
    observed = change(planned)
    if observed.skipped:
        findings.skip(RECOLORED, observed.skipped)
        return
    findings.look(RECOLORED, observed.sent)
    lost = f"{observed.lost} of {observed.sent}"
    one, other = planned.prefixes
    place = bgp_place(context, planned.leaf)
    if not observed.moved:
        message = f"{one} and {other} swapped their colors, and packets from other leaves did not follow"
        findings.add(RECOLORED, planned.leaf, message, place)
    if observed.outage_ms > MOST_MS:
        message = f"while {one} and {other} swapped their colors, {observed.worst} was interrupted for "
        message += f"{observed.outage_ms:.0f} ms, more than {MOST_MS:.0f}; {lost} packets were lost"
        findings.add(RECOLORED, planned.leaf, message, place)
    findings.figure(RECOLORED, "packets lost while colors changed", lost)
    findings.figure(RECOLORED, "longest interruption of a flow", f"{observed.outage_ms:.0f} ms")
