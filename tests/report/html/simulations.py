"""Made simulations for tests of pages: points and profiles as `simulate` has them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ailb_gen.report.html.simulated import Simulation
from ailb_gen.sim.comparison import compared
from ailb_gen.sim.profile import profile
from ailb_gen.sim.results import PointRow
from ailb_gen.sim.series import sampler_of
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.statistics import counted_flows, statistics
from ailb_gen.sim.workload import Workload
from tests.sim import double
from tests.sim.engine.cases import flows, leaf_spine

FABRIC = leaf_spine(2, 2, 2)
EVIL = "<script>window.hacked=1</script>"


def work() -> Workload:
    """Three flows, one after the other."""
    return flows([0, 1, 2], [2, 3, 0], [100_000, 200_000, 300_000])


def simulation(
    variants: Mapping[str, tuple[str, str]], seeds: Sequence[int] = (1, 2), slower: Mapping[str, int] | None = None
) -> Simulation:
    """Variants that run the same flows; those in `slower` as if their seed were so much larger."""
    rows, profiles = [], {}
    for name in variants:
        for seed in seeds:
            drawn = seed + (slower or {}).get(name, 0)
            outcome = double.simulate(
                FABRIC, work(), SimulationSettings(), drawn, None, sampler_of(FABRIC, work(), SimulationSettings())
            )
            counted = counted_flows(FABRIC, work(), SimulationSettings(), outcome)
            found = statistics(FABRIC, work(), outcome, {}, counted)
            digest = f"{name}-{seed}"
            profiles[digest] = profile(FABRIC, work(), outcome, counted)
            rows.append(PointRow(name, seed, digest, found | {"interrupted": False, "stuck": False}))
    records = list(compared(rows))
    return Simulation("Made", (("Command", "ailb-gen simulate"),), variants, rows, records, profiles, {"name": EVIL})


def loaded(made: Simulation) -> Simulation:
    """A simulation in which links carry loads that differ, as those of the real engine do."""
    profiles = copy.deepcopy(made.profiles)
    for one in profiles.values():
        for way in ("up", "down"):
            rows = one["pairs"][way]
            one["pairs"][way] = [[(at + to + 1) / 10 for to in range(len(row))] for at, row in enumerate(rows)]
        for row in one["series"]["tiers"].values():
            row["mean_load"] = [0.5 / (1 + at) for at in range(len(row["mean_load"]))]
    return replace(made, profiles=profiles)


def without(made: Simulation, variant: str) -> Simulation:
    """A simulation in which the points of a variant were not simulated."""
    rows = [replace(row, statistics=None) if row.variant == variant else row for row in made.rows]
    profiles = {row.digest: made.profiles[row.digest] for row in rows if row.statistics is not None}
    return replace(made, rows=rows, records=list(compared(rows)), profiles=profiles)
