"""Colors that change under traffic: a leaf exchanges those of two of its prefixes for a moment, and takes them back.

Remote leaves move packets to another spine, which must not interrupt them: the backups carry packets in flight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ailb_gen.addresses import Prefix
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.lab import RECOLORED
from ailb_gen.checks.model import Findings
from ailb_gen.lab.check.expected import bgp_place, leaf_ports
from ailb_gen.lab.check.observed import ObservedRecoloring
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Switch

# The longest interruption of a flow. BIRD replaces an IPv6 route by two messages to the kernel: some packets are lost.
MOST_MS = 100.0


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
            colors = {first.prefix: second.color, second.prefix: first.color}
            routes = tuple(replace(row, color=colors.get(row.prefix, row.color)) for row in leaf.routes)
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
        message = f"{one} and {other} exchanged their colors, and packets from other leaves did not follow"
        findings.add(RECOLORED, planned.leaf, message, place)
    if observed.outage_ms > MOST_MS:
        message = f"while {one} and {other} exchanged their colors, {observed.worst} was interrupted for "
        message += f"{observed.outage_ms:.0f} ms, more than {MOST_MS:.0f}; {lost} packets were lost"
        findings.add(RECOLORED, planned.leaf, message, place)
    findings.figure(RECOLORED, "packets lost while colors changed", lost)
    findings.figure(RECOLORED, "longest interruption of a flow", f"{observed.outage_ms:.0f} ms")
