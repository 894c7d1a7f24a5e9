"""`ailb-gen study`: published experiments, repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import WIDTH, echo_json, room, say
from ailb_gen.cli.options import CORES, EXECUTOR, FORCE, JSON, LIST, PAGES, PROCESSES, SEEDS, output_option
from ailb_gen.cli.reports import PAGE_FORMATS, check_place, targets, write_reports
from ailb_gen.cli.simulate import stoppable
from ailb_gen.cli.steady import steady
from ailb_gen.cli.visible import painter, show
from ailb_gen.errors import UsageError

NAME = Annotated[
    str | None,
    typer.Argument(help="Name of the study; --list shows all.", metavar="NAME", autocompletion=complete.study),
]
FILE = Annotated[Path | None, typer.Argument(help="The what-if file.", metavar="FILE")]
QUICK = Annotated[
    bool, typer.Option("--quick", help="Run for seconds instead of minutes: fewer cases, seeds and flows.")
]


def study(
    name: NAME = None,
    file: FILE = None,
    out: Annotated[Path | None, output_option("results", "DIR")] = None,
    quick: QUICK = False,
    seeds: SEEDS = None,
    list_all: LIST = False,
    reports: PAGES = None,
    as_json: JSON = False,
    force: FORCE = False,
    executor: EXECUTOR = "processes",
    jobs: PROCESSES = None,
    cores: CORES = 1,
) -> None:
    """Repeat a published experiment.

    Shows published numbers next to ours, and whether its claims hold.

    Exit codes: 0 done, whether claims hold or not, 1 validation finds errors in the files of a what-if study, 2 bad
    input, 3 the environment failed, 130 interrupted (finished points are kept).
    """
    from ailb_gen.api.study import run_study
    from ailb_gen.study.catalog import STUDIES
    from ailb_gen.wording import aligned

    if list_all:
        texts = {key: entry.text for key, entry in STUDIES.items()}
        if as_json:
            echo_json(texts)
        else:
            typer.echo("\n".join(aligned([("study", "about"), *texts.items()])))
        return
    if name is None:
        raise UsageError(f"name a study: there are {', '.join(STUDIES)}")
    if out is not None:
        check_place("-o", out, [file])
    where = targets(reports or [], [file, out], PAGE_FORMATS)
    with stoppable(executor, jobs, cores) as execution:
        report = run_study(
            name, file, quick=quick, seeds=seeds, out=out, charts=bool(where), force=force, execution=execution
        )
        with steady():
            if as_json:
                from ailb_gen.study.rows import record

                echo_json(record(report.study, report.results, report.interrupted))
            else:
                show(report.table(painter(), room() or WIDTH))
            write_reports(where, {"html": report.html})
            if report.interrupted:
                kept = f"; {out} holds the finished points, and the same command continues from there" if out else ""
                say(f"this study is partial{kept}")
