"""`ailb-gen study`: published experiments, repeated."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import say
from ailb_gen.cli.fleet import PAGES
from ailb_gen.cli.output import steady
from ailb_gen.cli.plain import painter, show
from ailb_gen.cli.points import need_engine, simulated
from ailb_gen.cli.simulate import EXECUTOR, HTML, PROCESSES, SEEDS
from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ailb_gen.cli.points import Simulated
    from ailb_gen.cli.reports import Target
    from ailb_gen.study.model import CaseResults, Study
    from ailb_gen.study.quantities import Statistics

NAME = Annotated[
    str | None,
    typer.Argument(help="Name of the study; --list shows all.", metavar="NAME", autocompletion=complete.study),
]
FILE = Annotated[Path | None, typer.Argument(help="The file of 'what-if'.", metavar="FILE")]
OUT = Annotated[
    Path | None, typer.Option("-o", "--output", help="Directory for page, figures and finished points.", metavar="DIR")
]
QUICK = Annotated[
    bool, typer.Option("--quick", help="Run for seconds instead of minutes: fewer cases, seeds and flows.")
]
LIST = Annotated[bool, typer.Option("--list", help="List the studies.")]


def study(
    name: NAME = None,
    file: FILE = None,
    out: OUT = None,
    quick: QUICK = False,
    seeds: SEEDS = None,
    list_all: LIST = False,
    reports: PAGES = None,
    executor: EXECUTOR = "processes",
    jobs: PROCESSES = None,
) -> None:
    """Repeat a published experiment.

    Shows published numbers next to ours, and whether its claims hold.

    Exit codes: 0 done, whether claims hold or not, 2 bad input, 3 the environment failed, 130 interrupted (finished
    points are kept).
    """
    from ailb_gen.cli.reports import check_place, targets
    from ailb_gen.cli.validate import check_executor
    from ailb_gen.study.catalog import STUDIES
    from ailb_gen.wording import aligned, did_you_mean

    if list_all:
        typer.echo("\n".join(aligned([("study", "what"), *((key, entry.text) for key, entry in STUDIES.items())])))
        return
    check_executor(executor)
    if name is None or name not in STUDIES:
        what = "which study?" if name is None else f"there is no study {name[:40]!r};"
        raise UsageError(f"{what} {did_you_mean(name, STUDIES) or 'there are ' + ', '.join(STUDIES)}")
    if out is not None:
        check_place("-o", out, [file])
    where = targets(reports or [], [file, out], HTML)
    entry = STUDIES[name]
    if file is not None and not entry.needs_file:
        raise UsageError(f"{name} reads no file; {file} is not needed")
    need_engine("study")
    if out is not None:
        # Said before minutes of work: importing it fails without matplotlib.
        from ailb_gen.study import figures  # noqa: F401
    from ailb_gen.study.model import StudyOptions

    words = ["ailb-gen study", name, *([str(file)] if file else []), *(["--quick"] if quick else [])]
    words += [f"--seeds {seeds}"] if seeds is not None else []
    _run(entry.make(StudyOptions(quick, seeds, file)), out, where, executor, jobs, " ".join(words))


def _run(
    study: Study, out: Path | None, where: Sequence[Target], executor: str, jobs: int | None, command: str
) -> None:
    """Simulate, write and print a study. Raises typer.Exit when it was interrupted."""
    from ailb_gen.cli.reports import write_reports
    from ailb_gen.sim.sweep import Options
    from ailb_gen.study.points import folder_of, study_points
    from ailb_gen.study.rows import study_table

    with folder_of(study) as folder:
        points, warnings = study_points(study, folder)
        for line in warnings:
            say(f"warning: {line}")
        processes = jobs or len(os.sched_getaffinity(0))
        # What is kept has what charts need: a later report then simulates nothing again.
        options = Options(executor, processes, tables=False, profiled=bool(where) or out is not None)
        run = simulated(points, out, options, bool(where))
    results = _results(run)
    with steady():
        if out is not None:
            from ailb_gen.study.write import held, write

            former = held(out)
            if former not in (None, study.name):
                say(f"warning: {out} held the study {former!r}: its figures and points stay")
            write(study, results, out, command, bool(run.caught))
        show(study_table(study, results, painter()))
        write_reports(where, {"html": lambda: _page(study, results, run, command)})
        if run.caught:
            kept = f"; {out} holds the finished points, and the same command continues from there" if out else ""
            say(f"this study is partial{kept}")
            raise typer.Exit(128 + run.caught[0])


def _page(study: Study, results: CaseResults, run: Simulated, command: str) -> str:
    """Return the report as HTML."""
    from ailb_gen.study.report import study_page

    profiles: dict[str, list[Mapping[str, Any]]] = {}
    for one in run.prepared:
        if one.digest in run.profiles:
            profiles.setdefault(one.point.variant, []).append(run.profiles[one.digest])
    return study_page(study, results, profiles, command, bool(run.caught))


def _results(run: Simulated) -> CaseResults:
    """Return the statistics by case; cut and missing points do not count."""
    from ailb_gen.study.model import CaseResults

    points: dict[str, list[Statistics]] = {}
    for one in run.prepared:
        found = run.known.get(one.digest)
        if found is not None and not found["interrupted"]:
            points.setdefault(one.point.variant, []).append(found)
    return CaseResults(points)
