"""A point of a sweep: everything that one simulation is told, and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

from ailb_gen import __version__
from ailb_gen.sim.digest import digest
from ailb_gen.sim.fabric import Fabric
from ailb_gen.sim.outcome import Outcome, Progress
from ailb_gen.sim.results import Result, encoded, flow_columns, link_columns
from ailb_gen.sim.settings import Settings
from ailb_gen.sim.statistics import Collective, statistics
from ailb_gen.sim.workload import Workload

Level = Literal["packet", "flow"]
Watch = Callable[[Progress], bool]


@dataclass(frozen=True, slots=True)
class Traffic:
    """The traffic of a point, and the collectives among its jobs, by the job's name."""

    workload: Workload
    collectives: Mapping[str, Collective]


class Recipe(Protocol):
    """How the traffic of a point is made: a few numbers in place of millions of tasks, to be sent to processes."""

    def build(self, fabric: Fabric, seed: int) -> Traffic:
        """Make the traffic. Raises UsageError, IntentError."""


@dataclass(frozen=True, slots=True)
class Point:
    """One simulation. `variant` names it among the others of the same seed; flows count from `after_ps` on."""

    variant: str
    seed: int
    level: Level
    fabric: Fabric
    settings: Settings
    recipe: Recipe
    after_ps: int = 0


def point_digest(point: Point, traffic: Traffic) -> str:
    """Return what a finished point is known by: the digest of all that its results depend on."""
    about = (__version__, point.level, point.seed, point.after_ps)
    return digest(about, point.fabric, point.settings, traffic.workload, traffic.collectives)


def simulate(point: Point, watch: Watch | None = None) -> Result:
    """Simulate a point. `watch` is told how far it is, several times a second; it ends early when that returns False.

    Raises UsageError.
    """
    traffic = point.recipe.build(point.fabric, point.seed)
    outcome = run(point, traffic.workload, watch)
    found = statistics(point.fabric, traffic.workload, point.settings, outcome, traffic.collectives, point.after_ps)
    name = point_digest(point, traffic)
    about = {"version": __version__, "point": name, "seed": point.seed, "complete": outcome.complete}
    tables = {
        "flows": flow_columns(point.fabric, traffic.workload, point.settings, outcome),
        "links": link_columns(point.fabric, outcome),
    }
    about_links = about | {"load_interval_ps": outcome.load_interval_ps}
    files = {kind: encoded(table, about_links if kind == "links" else about) for kind, table in tables.items()}
    return Result(name, point.seed, outcome.complete, asdict(found), files)


def run(point: Point, workload: Workload, watch: Watch | None) -> Outcome:
    """Run the engine of the point's level. Slow to import."""
    if point.level == "flow":
        from ailb_gen.sim.fluid.run import simulate as engine  # noqa: PLC0415
    else:
        from ailb_gen.sim.engine.run import simulate as engine  # noqa: PLC0415
    return engine(point.fabric, workload, point.settings, point.seed, watch)
