"""Generated files, one statement of them changed, and what a simulation of them comes to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import LEAF, FabricArrays
from ailb_gen.sim.outcome import NEVER, SimulationOutcome
from ailb_gen.sim.point import ENGINES, Point, run_of
from ailb_gen.sim.scenario.fabrics import Fabrics, points_on
from ailb_gen.sim.scenario.load import parse
from tests.mutations.tree import Changes, Tree, bytes_of

# Small pools and low thresholds: a few hundred packets fill them. Uplinks have two thirds of what NICs send.
INTENT = """\
name: small
platform: generic
stripes: 2
rails: 2
spines: 2
servers: 3
roce:
  buffers: {lossless: 1, dynamic_threshold: 0, lossless_headroom: 24, lossy: 1}
  ecn: {min_fill: 1, max_fill: 2}
"""
INCAST = "{traffic: [{collective: {kind: incast, bytes: 300KiB}}]}"
PERMUTATION = "{traffic: [{collective: {kind: permutation, bytes: 300KiB}}], seeds: 3}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What was simulated: figures over the seeds, what was warned of, and what was left out; or why nothing was."""

    figures: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    refused: str = ""


def simulated(root: Path, scenario: str) -> Seen:
    """Simulate a scenario, in braces and without its fabric, on the files below `root`."""
    text = f"{{until: 3ms, fabric: {{files: {{artifacts: {root.name}}}}}, {scenario[1:]}"
    try:
        fabrics, variants = Fabrics(root.parent), parse(text, "scenario.yaml")
        points = points_on(fabrics, variants)
        rows = [_figures(point) for point in points]
    except UsageError as error:
        return Seen(refused=str(error))
    return Seen(
        {name: sum(row[name] for row in rows) for name in rows[0]},
        tuple(fabrics.warnings),
        tuple(map(str, fabrics.left_out(variant.scenario for variant in variants))),
    )


def _figures(point: Point) -> dict[str, float]:
    run = run_of(point, point.recipe.build(point.fabric, point.seed))
    engine: Callable[..., SimulationOutcome] = import_module(ENGINES[point.level]).simulate
    outcome = engine(run.fabric, run.workload, run.settings, point.seed, None, None)
    finish = outcome.finish_ps
    return {
        "drops": int(outcome.link_drops.sum()),
        "lost": int(outcome.link_lost.sum()),
        "unreachable": outcome.totals["unreachable"],
        "marks": int(outcome.link_marks.sum()),
        "pauses": int(outcome.link_pauses.sum()),
        "paused": int(outcome.link_paused_ps.sum()),
        "queue": int(outcome.link_peak_bytes.max()),
        "reordered": int(outcome.out_of_order.sum()),
        "repeated": int(outcome.retransmitted.sum()),
        "unended": int((finish == NEVER).sum()),
        "time": float(finish.max()),
        "uneven": _uneven(run.fabric, outcome),
    }


def _uneven(fabric: FabricArrays, outcome: SimulationOutcome) -> float:
    """How much the uplinks of a leaf differ, in bytes, of all leaves together."""
    tier: Any = fabric.tier
    uplinks = np.flatnonzero((tier[fabric.link_source] == LEAF) & (fabric.link_target >= fabric.host_count))
    by_leaf = [
        outcome.link_bytes[uplinks[fabric.link_source[uplinks] == leaf]] for leaf in np.flatnonzero(tier == LEAF)
    ]
    return sum(float(sent.max() - sent.min()) for sent in by_leaf)


def edited(tree: Tree, file: str, pattern: str, new: str) -> Changes:
    """Change the first place of a pattern in a file. Raises ValueError if there is none."""
    text = bytes_of(tree, file).decode()
    found = re.sub(pattern, new, text, count=1, flags=re.MULTILINE | re.DOTALL)
    if found == text:
        raise ValueError(f"{file}: there is no {pattern!r}")
    return {file: found.encode()}
