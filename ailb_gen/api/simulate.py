"""Simulate traffic on a fabric: a scenario file, or one collective on generated files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ailb_gen.api.broken import files_of, refuse_broken
from ailb_gen.api.inputs import check_executor, check_path
from ailb_gen.api.points import Execution, need_engine, simulated
from ailb_gen.paint import Paint, unpainted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.sim.left_out import LeftOut
    from ailb_gen.sim.point import Point
    from ailb_gen.sim.results import PointRow
    from ailb_gen.sim.scenario.load import Variant

DEFAULT = Execution()
# The load balancers that are compared by default.
COMPARED = ("rlb", "dlb", "glb", "ecmp")
# Variants that differ in nothing but their load balancers.
BALANCERS = "balancer"


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """The results of a scenario: `records` compare its variants, `rows` are the statistics of every point.

    `warnings` were known before, `doubts` say what makes the results less than they seem. `left_out` are the statements
    of the fabric's files that decide how packets fare and are not simulated.
    """

    variants: Sequence[Variant]
    points: Sequence[Point]
    rows: Sequence[PointRow]
    records: Sequence[Mapping[str, Any]]
    profiles: Mapping[str, Mapping[str, Any]]
    about: Mapping[str, Any]
    warnings: Sequence[str]
    left_out: Sequence[LeftOut] = ()

    @property
    def dropping(self) -> str:
        """A sentence about variants that drop packets although they have PFC; empty if none does."""
        import numpy as np

        from ailb_gen.wording import some

        lossless = {
            point.variant
            for point in self.points
            if point.level == "packet" and bool(np.any(point.settings.switches.pfc))
        }
        drops = {str(one["variant"]): one["drops"]["most"] for one in self.records if one["drops"] is not None}
        found = [f"{name} ({drops[name]:,.0f})" for name in drops if name in lossless and drops[name]]
        if not found:
            return ""
        return f"Packets are dropped although PFC is on: {some(found)}."

    @property
    def doubts(self) -> tuple[str, ...]:
        """What makes the results less than they seem: traffic that did not end by itself."""
        return tuple(_unfinished(self.rows))

    @property
    def interrupted(self) -> bool:
        """Whether the simulation was ended early."""
        return bool(self.about["interrupted"])

    @property
    def finished(self) -> int:
        """The number of points that ran to their end."""
        return sum(row.statistics is not None and not row.statistics["interrupted"] for row in self.rows)

    @property
    def by_balancer(self) -> bool:
        """Whether the variants differ in nothing but their load balancers."""
        return all(
            variant.name in ("", *(balancer.name for balancer in variant.scenario.balancer))
            for variant in self.variants
        )

    def table(self, paint: Paint = unpainted, width: int = 80) -> str:
        """Return the comparison of the variants as text of at most 80 columns."""
        from ailb_gen.sim.comparison import comparison_table

        return comparison_table(self.records, BALANCERS if self.by_balancer else "variant", paint, width)

    def tie(self) -> str:
        """Return why load balancers are equally fast, or which flows none makes faster, or that none can collide.

        And what NCCL chooses, where it does. Load balancers are not compared where more than they differs.
        """
        from ailb_gen.sim.conclusions import comparable, nccl_choices, no_collisions, remark

        points = comparable(self.rows, {row.variant: row.variant for row in self.rows})
        found = remark(points) if self.by_balancer else ""
        every = [one for seeds in points.values() for one in seeds]
        return " ".join(filter(None, (found or no_collisions(every), nccl_choices(every))))

    def html(self) -> str:
        """Return the report as HTML; it has charts if the simulation was asked for them."""
        from ailb_gen.report.html.simulated import Simulation
        from ailb_gen.report.html.simulated import simulated as page

        swept = {variant.name: variant.swept for variant in self.variants}
        names = dict.fromkeys(point.variant for point in self.points)
        partial = f"{self.finished} of {len(self.rows)} points are finished" if self.interrupted else ""
        facts = (
            ("Command", "ailb-gen simulate"),
            ("Scenario", f"{self.variants[0].source.file}"),
            ("Level", ", ".join(dict.fromkeys(f"{point.level}s" for point in self.points))),
            ("Variants", f"{len(names)}"),
            ("Seeds", f"{len({row.seed for row in self.rows})}"),
            ("Partial", partial),
            ("Digest", self.about["scenario_sha256"]),
        )
        return page(
            Simulation(
                f"{self.about['scenario'] or 'Simulation'}",
                tuple(fact for fact in facts if fact[1]),
                {name: (swept.get(name, ""), name.removesuffix(f", {swept.get(name)}")) for name in names},
                self.rows,
                self.records,
                self.profiles,
                self.variants[0].source.data,
                [*filter(None, [self.dropping]), *self.warnings, *self.doubts, *map(str, self.left_out)],
            )
        )


def simulate(
    scenario: str | Path,
    settings: Sequence[str] = (),
    *,
    out: Path | None = None,
    charts: bool = False,
    force: bool = False,
    execution: Execution = DEFAULT,
) -> SimulationReport:
    """Simulate a scenario file; `settings` replace its values, such as `seeds=3`.

    Results are kept in `out`, from which an interrupted simulation continues. With `charts`, data for charts is kept
    as well. Files in which validation finds errors that decide how packets fare are only simulated with `force`. Raises
    BrokenFabricError without, UsageError, IntentError, OutputError, WorkerError.
    """
    check_executor(execution.executor)
    _need(Path(scenario))
    from ailb_gen.sim.scenario.load import load

    variants = load(Path(scenario), settings)
    folder = Path(scenario).parent
    return _simulate(variants, folder, out, charts, force, execution)


def simulate_collective(
    fabric: str | Path,
    artifacts: str | Path,
    size: str,
    collective: str = "all-reduce",
    settings: Sequence[str] = (),
    *,
    balancers: Sequence[str] = COMPARED,
    failures: Sequence[str] = (),
    queue_pairs: int | None = None,
    out: Path | None = None,
    charts: bool = False,
    force: bool = False,
    execution: Execution = DEFAULT,
) -> SimulationReport:
    """Simulate one collective over all NICs of generated files, of a size as nccl-tests counts it, such as `1G`.

    `failures` are links or switches with a time, such as `leaf1:et-0/0/0@2ms`; `queue_pairs` per connection, by default
    one per address of a NIC. The other arguments are those of `simulate`.
    """
    check_executor(execution.executor)
    _need(Path(fabric))
    from ailb_gen.sim.scenario.load import short_scenario, variants, with_settings

    source = short_scenario(Path(fabric), Path(artifacts), collective, size, balancers, failures, queue_pairs)
    found = variants(with_settings(source, settings))
    return _simulate(found, Path(), out, charts, force, execution)


def _need(path: Path) -> None:
    other = "name a scenario file, or a fabric file and then the directory"
    check_path(path, "file", other, "name a scenario, such as those in examples/simulate")


def _simulate(
    variants: Sequence[Variant],
    folder: Path,
    out: Path | None,
    charts: bool,
    force: bool,
    execution: Execution,
) -> SimulationReport:
    need_engine("simulate")
    from ailb_gen.sim.comparison import compared
    from ailb_gen.sim.digest import digest
    from ailb_gen.sim.results import PointRow, finish, held_name
    from ailb_gen.sim.scenario.fabrics import Fabrics, points_on
    from ailb_gen.sim.sweep import Options

    fabrics = Fabrics(folder)
    points = points_on(fabrics, variants)
    warnings = list(fabrics.warnings)
    left_out = fabrics.left_out(variant.scenario for variant in variants)
    for line in warnings:
        execution.warn(line)
    if not force:
        refuse_broken(files_of(variants, folder), execution.progress)
    options = Options(execution.executor, execution.processes, execution.cores, out is not None, charts)
    run = simulated(points, out, options, charts, execution)
    rows = [
        PointRow(item.point.variant, item.point.seed, item.digest, run.known.get(item.digest)) for item in run.prepared
    ]
    records = list(compared(rows))
    about = {
        "scenario": variants[0].scenario.name,
        "scenario_sha256": digest([(row.variant, row.digest) for row in rows]),
        "interrupted": run.interrupted,
    }
    if out is not None:
        former = held_name(out)
        if former not in (None, about["scenario"]):
            stays = "the files of its points stay in points/, and its scenario restores its results without simulating"
            execution.warn(f"{out} held the results of {former!r}: {stays}")
        finish(out, rows, about, records)
    return SimulationReport(variants, points, rows, records, run.profiles, about, warnings, left_out)


def _unfinished(rows: Sequence[PointRow]) -> Iterator[str]:
    """Yield a sentence about the points whose traffic did not end by itself."""
    from ailb_gen.wording import some

    open_ends = [row for row in rows if row.statistics is not None and row.statistics["stuck"]]
    names = [f"{row.variant} (seed {row.seed})" for row in open_ends]
    if names:
        least = min(row.statistics["ended"] / row.statistics["tasks"] for row in open_ends if row.statistics)
        yield f"traffic did not complete in {some(names)}; at worst {least:.1%} of its tasks did: check drops"
