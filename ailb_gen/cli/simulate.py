"""`ailb-gen simulate`: how fast jobs run on a fabric, by load balancer, packet by packet or as fluid."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import say
from ailb_gen.cli.fleet import PAGES
from ailb_gen.cli.output import steady
from ailb_gen.cli.plain import painter, show
from ailb_gen.cli.points import need_engine, simulated
from ailb_gen.errors import UsageError
from ailb_gen.paths import absent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ailb_gen.cli.reports import Target
    from ailb_gen.sim.point import Point
    from ailb_gen.sim.results import PointRow
    from ailb_gen.sim.scenario.load import Variant

SCENARIO = Annotated[
    Path, typer.Argument(help="A scenario file; with ARTIFACTS, the fabric file.", metavar="SCENARIO|FABRIC")
]
ARTIFACTS = Annotated[Path | None, typer.Argument(help="The directory of generated files.", metavar="ARTIFACTS")]
OUT = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Directory for results; default: print a table only.", metavar="DIR"),
]
SET = Annotated[
    list[str] | None, typer.Option("--set", help="Replace a value of the scenario; repeatable.", metavar="PATH=VALUE")
]
SEEDS = Annotated[int | None, typer.Option("--seeds", min=1, max=10_000, help="Simulate seeds 1 to this.")]
LEVEL = Annotated[
    Literal["packet", "flow"] | None, typer.Option("--level", help="Simulate packets, or flows as fluid.")
]
EXECUTOR = Annotated[str, typer.Option("--executor", help="processes, serial or dask:ADDRESS.", metavar="HOW")]
PROCESSES = Annotated[int | None, typer.Option("-j", "--jobs", min=1, max=256, help="Processes; default: all cores.")]
COLLECTIVE = Annotated[
    str | None, typer.Option("--collective", help="The collective, such as all-reduce or all-to-all.")
]
SIZE = Annotated[
    str | None,
    typer.Option("--bytes", help="Size of the collective as nccl-tests counts it, such as 1G.", metavar="SIZE"),
]
BALANCER = Annotated[str | None, typer.Option("--balancer", help="Load balancers to compare.", metavar="NAME,NAME,...")]
FAIL = Annotated[
    list[str] | None,
    typer.Option(
        "--fail",
        help="What fails, and when: DEVICE:PORT, DEVICE:DEVICE or a switch.",
        metavar="LINK[@TIME]",
        autocompletion=complete.device,
    ),
]
PAIRS = Annotated[
    int | None,
    typer.Option(
        "--queue-pairs", min=1, max=128, help="Queue pairs per connection; default: one per address of a NIC."
    ),
]
# What is compared without `--balancer`.
COMPARED = "rlb,dlb,glb,ecmp"
HTML = ("html",)
# What variants are where they differ in nothing else.
BALANCERS = "balancer"


def simulate(
    scenario: SCENARIO,
    artifacts: ARTIFACTS = None,
    out: OUT = None,
    settings: SET = None,
    seeds: SEEDS = None,
    level: LEVEL = None,
    collective: COLLECTIVE = None,
    size: SIZE = None,
    balancer: BALANCER = None,
    fail: FAIL = None,
    queue_pairs: PAIRS = None,
    reports: PAGES = None,
    executor: EXECUTOR = "processes",
    jobs: PROCESSES = None,
) -> None:
    """Simulate traffic on a fabric, packet by packet or as flows.

    Takes a scenario file, or one collective on the files of a fabric.

    Exit codes: 0 done, 2 bad input, 3 the environment failed, 130 interrupted (what is known is written).
    """
    from ailb_gen.cli.reports import check_place, targets
    from ailb_gen.cli.validate import check_executor

    check_executor(executor)
    if out is not None:
        check_place("-o", out, [scenario, artifacts])
    where = targets(reports or [], [scenario, artifacts, out], HTML)
    words = list(settings or [])
    words += [f"seeds={seeds}"] if seeds is not None else []
    words += [f"level={level}"] if level is not None else []
    given = {
        "--collective": collective,
        "--bytes": size,
        "--balancer": balancer,
        "--fail": fail,
        "--queue-pairs": queue_pairs,
    }
    if artifacts is None:
        _check_none(given)
        folder, variants = scenario.parent, _from_file(scenario, words)
    else:
        folder, variants = Path(), _from_options(scenario, artifacts, given, words)
    _simulate(variants, folder, out, where, executor, jobs or len(os.sched_getaffinity(0)))


def _check_none(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{name} goes with FABRIC and ARTIFACTS; a scenario file says it itself")


def _from_file(scenario: Path, words: Sequence[str]) -> list[Variant]:
    _need(scenario)
    from ailb_gen.sim.scenario.load import load

    return load(scenario, words)


def _from_options(fabric: Path, artifacts: Path, given: Mapping[str, Any], words: Sequence[str]) -> list[Variant]:
    if given["--bytes"] is None:
        raise UsageError("--bytes is missing: the size of the collective, such as 1G")
    _need(fabric)
    from ailb_gen.sim.scenario.load import variants
    from ailb_gen.sim.scenario.overrides import with_settings
    from ailb_gen.sim.scenario.short import short_scenario

    source = short_scenario(
        fabric,
        artifacts,
        given["--collective"] or "all-reduce",
        given["--bytes"],
        (given["--balancer"] or COMPARED).split(","),
        given["--fail"] or (),
        given["--queue-pairs"],
    )
    return variants(with_settings(source, words))


def _need(path: Path) -> None:
    """Refuse a missing file and a missing extra. Raises UsageError."""
    try:
        found = path.is_file()
    except OSError as error:
        raise UsageError(f"{str(path)[:200]}: not a usable file name: {error.strerror}") from error
    if path.is_dir():
        raise UsageError(f"{path}: this is a directory; name a scenario file, or a fabric file and then the directory")
    if not found:
        raise UsageError(f"{path}: {absent(path, 'file')}; name a scenario, such as those in examples/simulate")
    need_engine("simulate")


def _simulate(
    variants: Sequence[Variant], folder: Path, out: Path | None, where: Sequence[Target], executor: str, jobs: int
) -> None:
    """Simulate all points of a scenario, write and print. Raises typer.Exit when it was interrupted."""
    from ailb_gen.cli.reports import write_reports
    from ailb_gen.sim.comparison import WIDTH, compared, comparison_table
    from ailb_gen.sim.conclusions import comparable, tie
    from ailb_gen.sim.digest import digest
    from ailb_gen.sim.results import PointRow, finish, held_scenario
    from ailb_gen.sim.scenario.fabrics import points_of
    from ailb_gen.sim.sweep import Options

    points, warnings = points_of(variants, folder)
    for line in warnings:
        say(f"warning: {line}")
    run = simulated(points, out, Options(executor, jobs, tables=out is not None, profiled=bool(where)), bool(where))
    rows = [PointRow(one.point.variant, one.point.seed, one.digest, run.known.get(one.digest)) for one in run.prepared]
    records = list(compared(rows))
    about = {
        "scenario": variants[0].scenario.name,
        "scenario_sha256": digest([(row.variant, row.digest) for row in rows]),
        "interrupted": bool(run.caught),
    }
    with steady():
        if out is not None:
            held = held_scenario(out)
            if held not in (None, about["scenario"]):
                stays = "the files of its points stay in points/, and its own file makes them again without simulating"
                say(f"warning: {out} held the results of {held!r}: {stays}")
            finish(out, rows, about, records)
        title = _title(variants)
        show(comparison_table(records, title, painter()))
        if title == BALANCERS and (equal := tie(comparable(rows, {row.variant: row.variant for row in rows}))):
            show(textwrap.fill(equal, WIDTH) + "\n")
        for line in _doubts(rows):
            say(f"warning: {line}")
        doubts = [*warnings, *_doubts(rows)]
        write_reports(where, {"html": lambda: _page(variants, points, rows, records, run.profiles, about, doubts)})
        if run.caught:
            kept = f"; {out} holds the results so far; run the same command to continue" if out is not None else ""
            say(f"these results are partial: {_count(rows)} of {len(rows)} points are finished{kept}")
            raise typer.Exit(128 + run.caught[0])


def _page(
    variants: Sequence[Variant],
    points: Sequence[Point],
    rows: Sequence[PointRow],
    records: Sequence[Mapping[str, Any]],
    profiles: Mapping[str, Mapping[str, Any]],
    about: Mapping[str, Any],
    doubts: Sequence[str],
) -> str:
    """Return the report as HTML."""
    from ailb_gen.report.html.simulated import Simulation, simulated

    swept = {one.name: one.swept for one in variants}
    names = dict.fromkeys(point.variant for point in points)
    seeds = len({row.seed for row in rows})
    partial = f"{_count(rows)} of {len(rows)} points are finished" if about["interrupted"] else ""
    facts = (
        ("Command", "ailb-gen simulate"),
        ("Scenario", f"{variants[0].source.file}"),
        ("Level", ", ".join(dict.fromkeys(f"{point.level}s" for point in points))),
        ("Variants", f"{len(names)}"),
        ("Seeds", f"{seeds}"),
        ("Partial", partial),
        ("Digest", about["scenario_sha256"]),
    )
    return simulated(
        Simulation(
            f"{about['scenario'] or 'Simulation'}",
            tuple(fact for fact in facts if fact[1]),
            {name: (swept.get(name, ""), name.removesuffix(f", {swept.get(name)}")) for name in names},
            rows,
            records,
            profiles,
            variants[0].source.data,
            doubts,
        )
    )


def _title(variants: Sequence[Variant]) -> str:
    """Return what distinguishes variants: their load balancers alone, or more."""
    alone = all(one.name in ("", *(balancer.name for balancer in one.scenario.balancer)) for one in variants)
    return BALANCERS if alone else "variant"


def _count(rows: Sequence[PointRow]) -> int:
    return sum(row.statistics is not None and not row.statistics["interrupted"] for row in rows)


def _doubts(rows: Sequence[PointRow]) -> Iterator[str]:
    """Yield what makes results less than they seem: traffic that did not end by itself."""
    from ailb_gen.wording import some

    open_ends = [row for row in rows if row.statistics is not None and row.statistics["stuck"]]
    names = [f"{row.variant} (seed {row.seed})" for row in open_ends]
    if names:
        least = min(row.statistics["ended"] / row.statistics["tasks"] for row in open_ends if row.statistics)
        yield f"traffic could not end in {some(names)}; at worst {least:.1%} of its tasks did: look at drops and losses"
