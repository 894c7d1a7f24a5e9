"""A point of a sweep: all inputs of one simulation, and how it runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

from ailb_gen.sim.digest import digest
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.outcome import Progress, SimulationOutcome, Watch
from ailb_gen.sim.profile import profile
from ailb_gen.sim.results import PROFILE, PointResult, encoded, flow_columns, link_columns
from ailb_gen.sim.series import Sampler, sampler_of
from ailb_gen.sim.settings import Level, SimulationSettings
from ailb_gen.sim.statistics import Collective, counted_flows, statistics
from ailb_gen.sim.traffic.background import with_more_links
from ailb_gen.sim.workload import LeastTraffic, Workload
from ailb_gen.version import __version__

# Simulates a workload on a fabric with a seed, on a number of cores. Raises UsageError.
Engine = Callable[
    [FabricArrays, Workload, SimulationSettings, int, Watch | None, Sampler | None, int],
    SimulationOutcome,
]
# The module with the function `simulate` of every level, an engine.
ENGINES = {"packet": "ailb_gen.sim.engine.run", "flow": "ailb_gen.sim.fluid.run"}
# The entry of each by which one sees whether it is compiled.
ENTRIES = {"packet": "loop.advance", "flow": "events.advance"}


@dataclass(frozen=True, slots=True)
class Traffic:
    """The traffic of a point, and the collectives among its jobs, by the job's name.

    `fabric` is the point's with what the traffic adds to it: hosts and links for background load; None: nothing.
    """

    workload: Workload
    collectives: Mapping[str, Collective] = field(default_factory=dict)
    fabric: FabricArrays | None = None


class Recipe(Protocol):
    """The recipe of a point's traffic: a few numbers instead of millions of tasks, to be sent to processes."""

    def build(self, fabric: FabricArrays, seed: int) -> Traffic:
        """Make the traffic. Raises UsageError, IntentError."""

    def least(self, fabric: FabricArrays, seed: int) -> Sequence[LeastTraffic]:
        """Return the least of every part of the traffic, without making it. Raises UsageError, IntentError."""


class ExtraMeasurement(Protocol):
    """An additional measurement: a dataclass whose fields identify a finished point."""

    def __call__(self, run: SimulationRun, outcome: SimulationOutcome) -> Any:  # noqa: ANN401 - what JSON holds
        """Return plain data, which is kept with the statistics of the point."""


@dataclass(frozen=True, slots=True)
class Point:
    """One simulation. `variant` names it among those of its seed; flows count from `after_ps` after the first on.

    With `may_be_cut`, flows without a path are a result, not an error (see `sweep.Prepared`).
    """

    variant: str
    seed: int
    level: Level
    fabric: FabricArrays
    settings: SimulationSettings
    recipe: Recipe
    after_ps: int = 0
    extras: Mapping[str, ExtraMeasurement] = field(default_factory=dict)
    may_be_cut: bool = False


@dataclass(frozen=True, slots=True)
class SimulationRun:
    """A point with its traffic, as the engine gets it."""

    point: Point
    fabric: FabricArrays
    workload: Workload
    settings: SimulationSettings
    collectives: Mapping[str, Collective]

    def digest(self) -> str:
        """Return the digest of all that the results of the point depend on, by which the finished point is known."""
        point = self.point
        about = (__version__, point.level, point.seed, point.after_ps, point.extras)
        return digest(about, self.fabric, self.settings, self.workload, self.collectives)


def run_of(point: Point, traffic: Traffic) -> SimulationRun:
    """Return a point with its traffic."""
    fabric = traffic.fabric or point.fabric
    settings = with_more_links(point.settings, fabric.link_count)
    return SimulationRun(point, fabric, traffic.workload, settings, traffic.collectives)


def simulate(
    point: Point, watch: Watch | None = None, tables: bool = True, profiled: bool = False, cores: int = 1
) -> PointResult:
    """Simulate a point; the result has Parquet files with `tables`, and a profile for charts with `profiled`.

    `watch` gets the progress several times a second; the run ends early when it returns False. Raises UsageError.
    """
    interrupted = False

    def watching(now: Progress) -> bool:
        nonlocal interrupted
        interrupted = watch is not None and not watch(now)
        return not interrupted

    run = run_of(point, point.recipe.build(point.fabric, point.seed))
    # Slow to import.
    engine: Engine = import_module(ENGINES[point.level]).simulate
    sampler = sampler_of(run.fabric, run.workload, run.settings) if profiled else None
    outcome = engine(run.fabric, run.workload, run.settings, point.seed, watching, sampler, cores)
    counted = counted_flows(run.fabric, run.workload, run.settings, outcome, point.after_ps)
    found = statistics(run.fabric, run.workload, outcome, run.collectives, counted)
    # Traffic could not end, though there was time.
    until = point.settings.until_ps
    stuck = not interrupted and not outcome.complete and (until is None or outcome.end_ps < until)
    found |= {"interrupted": interrupted, "stuck": stuck}
    found |= {"extras": {name: extra(run, outcome) for name, extra in point.extras.items()}}
    name = run.digest()
    about = {"version": __version__, "point": name, "seed": point.seed, "interrupted": interrupted}
    files: dict[str, bytes] = {}
    if tables:
        links = {**about, "load_interval_ps": outcome.load_interval_ps}
        files["flows"] = encoded(flow_columns(run.fabric, run.workload, run.settings, outcome), about)
        files["links"] = encoded(link_columns(run.fabric, outcome), links)
    if profiled:
        found_profile = profile(run.fabric, run.workload, outcome, counted)
        files[PROFILE] = json.dumps(found_profile, separators=(",", ":")).encode()
    return PointResult(name, point.seed, found, files)
