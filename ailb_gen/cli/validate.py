"""`ailb-gen validate`: prove a tree of files against the intent, report, and be a gate."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.batfish import ask, most_failures, open_service
from ailb_gen.cli.console import fabric_file
from ailb_gen.cli.fleet import ARTIFACTS, FABRIC, REPORTS
from ailb_gen.cli.live import progress
from ailb_gen.cli.output import steady
from ailb_gen.cli.reports import targets, write_reports
from ailb_gen.errors import AilbError, ExitCode, UsageError
from ailb_gen.paths import absent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.checks.context import Context as CheckContext
    from ailb_gen.cli.reports import Target
    from ailb_gen.report.verdict import Verdict

# The mildest severity that fails the gate.
FailOn = Literal["error", "warning", "note"]
CHECKS = Annotated[
    list[str] | None,
    typer.Option(
        "--checks",
        help="Only these checks: IDs, globs or families; ! excludes.",
        metavar="PATTERN",
        autocompletion=complete.check,
    ),
]
ABOUT = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        help="Only findings about these devices: names, globs or roles.",
        metavar="PATTERN",
        autocompletion=complete.limit,
    ),
]
FAIL_ON = Annotated[FailOn, typer.Option("--fail-on", help="Lowest severity that exits with 1.")]
WAIVERS = Annotated[Path | None, typer.Option("--waivers", help="File of accepted findings.", metavar="FILE")]
ALL = Annotated[bool, typer.Option("--all", help="Show all findings in the table, with their consequences.")]
YANG = Annotated[Path | None, typer.Option("--yang", help="Juniper's YANG models.", metavar="DIR", envvar="AILB_YANG")]
SEED = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that is sampled.")]
EXECUTOR = Annotated[str, typer.Option("--executor", help="processes, serial or dask:ADDRESS.", metavar="HOW")]
PROCESSES = Annotated[int | None, typer.Option("-j", "--jobs", min=1, max=256, help="Processes; default: all cores.")]
BATFISH = Annotated[str | None, typer.Option("--batfish", help="Also use this Batfish service.", metavar="HOST[:PORT]")]
BATFISH_S = Annotated[
    int, typer.Option("--batfish-timeout", min=1, max=86400, help="Seconds for each request to Batfish.")
]

FAILURES = Annotated[
    str | None,
    typer.Option(
        "--batfish-failures",
        help="Failures that Batfish computes: all, or so many; default: as many as take a few minutes.",
        metavar="all|N",
    ),
]


def validate(
    fabric: FABRIC,
    artifacts: ARTIFACTS,
    checks: CHECKS = None,
    limit: ABOUT = None,
    fail_on: FAIL_ON = "error",
    waivers: WAIVERS = None,
    reports: REPORTS = None,
    everything: ALL = False,
    yang: YANG = None,
    seed: SEED = 1,
    executor: EXECUTOR = "processes",
    jobs: PROCESSES = None,
    batfish: BATFISH = None,
    batfish_timeout: BATFISH_S = 600,
    batfish_failures: FAILURES = None,
) -> None:
    """Check the files of a fabric against its intent.

    Exit codes: 0 pass, 1 findings, 2 bad input, 3 the environment failed.
    """
    where = targets(reports or [], [fabric, artifacts, waivers], formats())
    check_executor(executor)
    _check_folder("ARTIFACTS", artifacts, "'ailb-gen generate' writes one")
    if yang:
        _check_folder("--yang", yang, "clone github.com/Juniper/yang and name the folder of a release")

    from ailb_gen.checks.catalogue import CATALOGUE, NAMES, WAIVABLE, WITH_BATFISH
    from ailb_gen.checks.model import RunOptions
    from ailb_gen.checks.select import pick_checks
    from ailb_gen.checks.waivers import read_waivers
    from ailb_gen.intent.load import load

    service = open_service(batfish, batfish_timeout) if batfish is not None else None
    most = most_failures(batfish_failures, service is not None)
    picked = pick_checks(CATALOGUE, NAMES, checks or [], "" if service is not None else WITH_BATFISH)
    chosen = frozenset(check.id for check in picked)
    accepted = read_waivers(waivers, WAIVABLE) if waivers else ()
    intent = load(fabric_file(fabric))
    traced = any(kind == "html" for kind, _ in where)
    options = RunOptions(chosen, yang, seed, executor, jobs or len(os.sched_getaffinity(0)), traced)

    # Imported when the input is known to be usable: it brings everything that computes.
    from ailb_gen.checks.progress import STEPS
    from ailb_gen.checks.run import examine
    from ailb_gen.report.judge import judge

    with progress("checking", STEPS) as advance:
        done, context = examine(intent, artifacts, options, advance, advance.step)
    opinion, trouble = ask(service, context, chosen, most)
    done = replace(done, results=(*done.results, *opinion), trouble=str(trouble or ""))
    verdict = judge(done, accepted, chosen, limit or [], fail_on)
    conclude(verdict, where, "validate", everything, context, trouble)


def check_executor(executor: str) -> None:
    """Refuse what is no executor. Raises UsageError."""
    kind, _, address = executor.partition(":")
    if not (executor in ("processes", "serial") or (kind == "dask" and address)):
        raise UsageError(f"--executor {executor!r}: must be processes, serial, or dask:ADDRESS")


def _check_folder(what: str, path: Path, hint: str) -> None:
    try:
        found = path.is_dir()
    except OSError as error:
        raise UsageError(f"{what} {str(path)[:200]}: not a usable directory name: {error.strerror}") from error
    if not found:
        reason = "this is a file; name a directory" if path.exists() else absent(path, "directory")
        raise UsageError(f"{what} {path}: {reason}; {hint}")


def conclude(
    verdict: Verdict,
    where: Sequence[Target],
    command: str,
    everything: bool = False,
    context: CheckContext | None = None,
    trouble: AilbError | None = None,
) -> None:
    """Write every report, tables with consequences if `everything` is asked for; then end as the verdict says.

    `command` is the verb, `trouble` what kept its checks from being complete. HTML shows the fabric of `context`.
    Raises OutputError for reports that could not be written, when all others are; `trouble`; or typer.Exit.
    """
    from ailb_gen.report.table import table
    from ailb_gen.report.write import FORMATS

    def page() -> str:
        from ailb_gen.report.html.verdict_page import verdict_html

        return verdict_html(verdict, context, command)

    whole = partial(table, verdict, everything)
    made = {kind: partial(render, verdict) for kind, render in FORMATS.items()}
    with steady():
        write_reports(where, {**made, "table": whole, "html": page}, whole)
        if trouble is not None:
            raise trouble
        if verdict.failed:
            raise typer.Exit(ExitCode.FINDINGS)


def formats() -> list[str]:
    """Return the formats of reports about findings."""
    from ailb_gen.report.write import FORMATS

    return [*FORMATS, "html"]
