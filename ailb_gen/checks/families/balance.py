"""Check that collectives load the links of every leaf evenly (AILB405)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ailb_gen.addresses import Prefix
from ailb_gen.checks.context import Context
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.forwarding.ecmp import monte_carlo
from ailb_gen.forwarding.loads import Links, Volumes, by_device, loads
from ailb_gen.forwarding.patterns import all_to_all, permutation, rails, ring

# Fluid loads are sums of fractions; what differs by less is the same.
EXACT = 1e-6
PATTERNS = (("ring all-reduce", ring), ("all-to-all", all_to_all), ("permutation", permutation))
# The highest and the mean load of the links of a device: out of it, and into it.
Worst = dict[int, tuple[tuple[float, float], tuple[float, float]]]


def _check_balance(context: Context, findings: Findings) -> None:
    """Compare loads with the even share; the figures show what ECMP hashing would give, by the seed."""
    advance = context.steps.begin("balance", 2 * len(PATTERNS))
    graph, links = context.routing.graph, Links(context.routing)
    rows, leaves = rails(context.network, graph.index), context.destinations
    findings.look(BALANCED, len(leaves) * len(PATTERNS))
    for name, pattern in PATTERNS:
        matrix = pattern(rows, len(graph.names))
        if not matrix.any():
            findings.figure(BALANCED, name, "nothing crosses a spine")
            continue
        load, lost = loads(links, context.routing.states.__getitem__, leaves, matrix)
        advance(1)
        worst = _worst(links, leaves, load)
        _add_uneven(context, name, worst, matrix, findings)
        hashed = monte_carlo(links, matrix, len(context.expected.colors), context.seed)
        advance(1)
        ours = f"busiest link over the mean (1 is even): up {_top(worst, 0)}, down {_top(worst, 1)}"
        share = f"; {lost / matrix.sum():.1%} lost" if lost > EXACT * matrix.sum() else ""
        peer = (
            f"; ECMP hashing, to compare: {hashed.up:.2f}, {hashed.down:.2f} ({hashed.draws} draws)" if hashed else ""
        )
        findings.figure(BALANCED, name, f"{ours}{share}{peer}")


def _worst(links: Links, leaves: Mapping[int, tuple[Prefix, ...]], load: Volumes) -> Worst:
    rows = by_device(links, leaves, load).items()
    return {device: (_highest(out), _highest(into)) for device, (out, into) in rows}


def _highest(load: Volumes) -> tuple[float, float]:
    return (float(np.max(load)), float(np.mean(load))) if len(load) else (0.0, 0.0)


def _top(worst: Worst, tier: int) -> str:
    ratios = (highest / mean if mean else 1.0 for highest, mean in (pair[tier] for pair in worst.values()))
    return f"{max(ratios, default=1.0):.3f}"


def _share(context: Context, device: int, tier: int, matrix: Volumes) -> float | None:
    """Return the highest load that a link out of a device (0) or into it (1) may have; None where it is the mean."""
    if context.loads.whole:
        return None
    names, row = context.routing.graph.names, matrix[device] if tier == 0 else matrix[:, device]
    volumes = {names[other]: float(row[other]) for other in np.flatnonzero(row)}
    return context.loads.of(names[device], volumes, tier == 0)


def _add_uneven(context: Context, pattern: str, worst: Worst, matrix: Volumes, findings: Findings) -> None:
    for device, pair in worst.items():
        switch = context.routing.graph.switches[device]
        for tier, (what, (highest, mean)) in enumerate(zip(("its uplinks", "the links down to it"), pair, strict=True)):
            share = _share(context, device, tier, matrix)
            even = mean if share is None else share
            if highest > even * (1 + EXACT) and mean:
                found = f"{highest / mean:.3f}"
                message = f"{pattern} loads {what} unevenly: max/mean {found}"
                findings.at(BALANCED, switch, message, switch.bgp_line, f"{even / mean:.3f}", found)


BALANCED = Check(
    "AILB405",
    "with one queue pair per color, collectives load all uplinks of a leaf, and all links down to it, evenly",
    "a collective loads links unevenly",
    "All queue pairs of a collective wait for the most loaded link.",
    "See AILB401 and AILB303: a prefix or an uplink has the wrong color.",
    _check_balance,
    layer=Layer.TRAFFIC,
)
