"""Compare the loads of links under collectives with the even share (AILB405)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from ailb_gen.addresses import Prefix
from ailb_gen.checks.context import EXACT, Context
from ailb_gen.checks.model import Check, Findings
from ailb_gen.forwarding.alike import loads_alike
from ailb_gen.forwarding.ecmp import monte_carlo
from ailb_gen.forwarding.loads import Links, Volumes, by_device
from ailb_gen.forwarding.patterns import Rates, all_to_all, permutation, rails_and_rates, ring
from ailb_gen.network.model import speed_text
from ailb_gen.routing.alike import Kind

PATTERNS = (("ring all-reduce", ring), ("all-to-all", all_to_all), ("permutation", permutation))
# The highest and the mean load of the links of a device: out of it, and into it.
Worst = dict[int, tuple[tuple[float, float], tuple[float, float]]]


def check_balance(context: Context, findings: Findings, check: Check) -> None:
    """Compare loads with the even share; the figures show what ECMP hashing would give, by the seed."""
    advance = context.steps.begin("balance", 2 * len(PATTERNS))
    links, groups = Links(context.routing), _groups(context)
    rows, speeds = rails_and_rates(context.network, context.routing.graph.index)
    findings.look(check, len(context.destinations) * len(PATTERNS))
    for name, pattern in PATTERNS:
        shown = _balance_of(context, links, groups, name, partial(pattern, rows), speeds, findings, check)
        findings.figure(check, name, shown)
        advance(2)
    # Loads are those at line rate.
    counts = Counter(context.network.attachment_bps.get(end, 0) for end in context.network.attachments.values())
    if len(counts) > 1:
        shares = ", ".join(f"{count:,} at {speed_text(speed or None)}" for speed, count in sorted(counts.items()))
        findings.figure(check, "NIC speeds", f"{shares}; between two speeds the lower one holds")


def _balance_of(
    context: Context,
    links: Links,
    groups: list[Kind],
    name: str,
    pattern: Callable[..., Volumes],
    speeds: Rates,
    findings: Findings,
    check: Check,
) -> str:
    """Compare the loads of one pattern, whose matrix may take hundreds of megabytes; return its figures."""
    graph, leaves = context.routing.graph, context.destinations
    even = all(speed == 1 for row in speeds for speed in row)
    matrix = pattern(len(graph.names), speeds)
    if not matrix.any():
        return "no traffic crosses a spine"
    load, lost = loads_alike(context.routing, links, leaves, matrix, groups, context.seed)
    worst = _worst(links, leaves, load)
    _add_uneven(context, name, worst, matrix, findings, check)
    flows = matrix if even else pattern(len(graph.names))
    hashed = monte_carlo(links, flows, len(context.expected.colors), context.seed, None if even else matrix)
    ours = f"peak/mean load: up {_top(worst, 0)}, down {_top(worst, 1)}"
    share = f"; {lost / matrix.sum():.1%} lost" if lost > EXACT * matrix.sum() else ""
    peer = f"; with ECMP hashing: {hashed.up:.2f}, {hashed.down:.2f} ({hashed.draws} draws)" if hashed else ""
    return f"{ours}{share}{peer}"


def _groups(context: Context) -> list[Kind]:
    """Return the kinds of the prefixes of leaves; one that is not on its leaf alone is on its own."""
    routing = context.routing
    kind_of = {prefix: number for number, kind in enumerate(routing.kinds) for _, prefix in kind}
    found: dict[object, Kind] = {}
    for device, prefixes in context.destinations.items():
        for prefix in prefixes:
            there = routing.graph.owners[prefix] == (device,)
            found.setdefault(kind_of[prefix] if there else prefix, []).append((device, prefix))
    return list(found.values())


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


def _add_uneven(
    context: Context, pattern: str, worst: Worst, matrix: Volumes, findings: Findings, check: Check
) -> None:
    for device, pair in worst.items():
        switch = context.routing.graph.switches[device]
        for tier, (what, (highest, mean)) in enumerate(zip(("its uplinks", "the links down to it"), pair, strict=True)):
            share = _share(context, device, tier, matrix)
            even = mean if share is None else share
            if highest > even * (1 + EXACT) and mean:
                found = f"{highest / mean:.3f}"
                message = f"{pattern} loads {what} unevenly: peak/mean {found}"
                findings.at(check, switch, message, switch.bgp_line, f"{even / mean:.3f}", found)
