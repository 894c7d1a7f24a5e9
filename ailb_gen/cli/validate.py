"""`ailb-gen validate`: prove a tree of files against the intent, report, and be a gate."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.cli.batfish import ask, open_service
from ailb_gen.cli.console import fabric_file, progress
from ailb_gen.cli.fleet import ARTIFACTS, FABRIC, REPORTS
from ailb_gen.cli.output import steady
from ailb_gen.errors import ExitCode, OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.report.verdict import Verdict

# A format, and the file it goes to; None is standard output.
Target = tuple[str, Path | None]


# The mildest severity that fails the gate.
FailOn = Literal["error", "warning", "note"]
CHECKS = Annotated[
    list[str] | None,
    typer.Option("--checks", help="Only these: ids, globs, families; ! takes away.", metavar="PATTERN"),
]
ABOUT = Annotated[
    list[str] | None,
    typer.Option("--limit", help="Only findings about these: names, globs or roles.", metavar="PATTERN"),
]
FAIL_ON = Annotated[FailOn, typer.Option("--fail-on", help="Exit 1 from this severity up.")]
WAIVERS = Annotated[Path | None, typer.Option("--waivers", help="Findings that are accepted.", metavar="FILE")]
ALL = Annotated[bool, typer.Option("--all", help="Show consequences in the table, too, and all findings.")]
YANG = Annotated[Path | None, typer.Option("--yang", help="Juniper's YANG models.", metavar="DIR", envvar="AILB_YANG")]
SEED = Annotated[int, typer.Option("--seed", min=0, help="For what is sampled.")]
EXECUTOR = Annotated[str, typer.Option("--executor", help="processes, serial or dask:ADDRESS.", metavar="HOW")]
PROCESSES = Annotated[int | None, typer.Option("-j", "--jobs", min=1, max=256, help="Processes; default: all cores.")]
BATFISH = Annotated[str | None, typer.Option("--batfish", help="Ask this Batfish service too.", metavar="HOST[:PORT]")]
BATFISH_S = Annotated[
    int, typer.Option("--batfish-timeout", min=1, max=86400, help="Seconds for each thing it is asked.")
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
) -> None:
    """Check the files of a fabric against its intent.

    Exit codes: 0 pass, 1 findings, 2 bad input, 3 the environment failed.
    """
    where = targets(reports or [], [path for path in (fabric, waivers) if path])
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
    picked = pick_checks(CATALOGUE, NAMES, checks or [], "" if service is not None else WITH_BATFISH)
    chosen = frozenset(check.id for check in picked)
    accepted = read_waivers(waivers, WAIVABLE) if waivers else ()
    intent = load(fabric_file(fabric))
    options = RunOptions(chosen, yang, seed, executor, jobs or len(os.sched_getaffinity(0)))

    # Imported when the input is known to be usable: it brings everything that computes.
    from ailb_gen.checks.run import examine
    from ailb_gen.checks.steps import STEPS
    from ailb_gen.report.judge import judge

    with progress("checking", STEPS) as advance:
        done, context = examine(intent, artifacts, options, advance, advance.step)
    opinion, trouble = ask(service, context, chosen)
    done = replace(done, results=(*done.results, *opinion), trouble=str(trouble or ""))
    verdict = judge(done, accepted, chosen, limit or [], fail_on)
    with steady():
        report(verdict, where, everything)
        if trouble is not None:
            raise trouble
        if verdict.failed:
            raise typer.Exit(ExitCode.FINDINGS)


def targets(words: Sequence[str], inputs: Sequence[Path]) -> list[Target]:
    """Return where which report goes. Raises UsageError before anything has run."""
    from ailb_gen.report.write import FORMATS
    from ailb_gen.wording import did_you_mean

    targets: list[Target] = []
    for word in words:
        kind, equals, name = word.partition("=")
        if kind not in FORMATS:
            hint = did_you_mean(kind, FORMATS) or f"formats: {', '.join(FORMATS)}"
            raise UsageError(f"--report {word!r}: there is no such format; {hint}")
        if equals and not name:
            raise UsageError(f"--report {word!r}: the name of the file is missing")
        targets.append((kind, Path(name) if equals and name != "-" else None))
    seen: set[Path | None] = {path.resolve() for path in inputs}
    for kind, path in targets:
        place = path.resolve() if path else None
        if place in seen:
            reason = "is written to, or read from, twice" if path else "takes one report; give the others a file"
            raise UsageError(f"--report {kind}: {path or 'standard output'} {reason}")
        seen.add(place)
    return targets if None in seen else [*targets, ("table", None)]


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
        raise UsageError(f"{what} {path}: there is no such directory; {hint}")


def report(verdict: Verdict, where: Sequence[Target], everything: bool = False) -> None:
    """Write every report; tables with consequences if `everything` is asked for.

    Raises OutputError for those that could not be written, when all others are.
    """
    from ailb_gen.report.table import table
    from ailb_gen.report.write import FORMATS, write

    failed = []
    for kind, path in sorted(where, key=lambda target: target[1] is None):
        text = table(verdict, everything) if kind == "table" else FORMATS[kind](verdict)
        if path is None:
            typer.echo(text, nl=False)
            continue
        try:
            write(path, text)
        except OutputError as error:
            failed.append(str(error))
    if failed:
        raise OutputError("\n".join(failed))
