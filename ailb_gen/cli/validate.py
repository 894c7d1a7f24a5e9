"""`ailb-gen validate`: prove a tree of files against the intent, report, and be a gate."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.api.inputs import is_cluster
from ailb_gen.cli import options
from ailb_gen.cli.console import notify, prose_width, say, warn
from ailb_gen.cli.live import ProgressBar, minutes, progress, wanted
from ailb_gen.cli.reports import FORMATS, finding_targets, write_reports
from ailb_gen.cli.steady import steady
from ailb_gen.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ailb_gen.cli.reports import Target
    from ailb_gen.report.check_report import CheckReport

# A run of so many seconds is long; the family that takes so large a share of it is named.
LONG_S, SHARE = 10.0, 0.4
BATFISH = Annotated[
    str | None,
    typer.Option("--batfish", help="Also use this Batfish service.", metavar="HOST[:PORT]", envvar="AILB_BATFISH"),
]
FAILURES = Annotated[
    str | None,
    typer.Option(
        "--batfish-failures",
        help="Failures that Batfish computes.",
        metavar="all|N",
        show_default="as many as take a few minutes",
    ),
]
SINCE = Annotated[
    str | None,
    typer.Option(
        "--since", help="Take over what holds of these artifacts, or this git revision.", metavar="DIR|REVISION"
    ),
]


def validate(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    checks: options.CHECKS = None,
    limit: options.LIMIT = None,
    fail_on: options.FAIL_ON = "error",
    waivers: options.WAIVERS = None,
    reports: options.REPORTS = None,
    as_json: options.JSON = False,
    everything: options.ALL = False,
    yang: options.YANG = None,
    seed: options.SEED = 1,
    executor: options.EXECUTOR = "processes",
    jobs: options.PROCESSES = None,
    batfish: BATFISH = None,
    batfish_timeout: options.BATFISH_S = 600,
    batfish_failures: FAILURES = None,
    no_cache: options.NO_CACHE = False,
    since: SINCE = None,
) -> None:
    """Check the files of a fabric against its intent.

    FABRIC may be a cluster file: all its fabrics are checked, and then together.

    Exit codes: 0 pass, 1 findings, 2 bad input, 3 the environment failed.
    """
    from ailb_gen.api.validate import validate as check
    from ailb_gen.garbage import no_garbage_collection

    where = finding_targets(reports, as_json, [fabric, artifacts, waivers])
    bars: list[ProgressBar] = []

    @contextmanager
    def timed(what: str, total: int) -> Iterator[ProgressBar]:
        with progress(what, total) as bar:
            yield bar
            bar.step("")
            bars.append(bar)

    own = all(kind in FORMATS for kind, _ in where)
    if since is not None and not own:
        raise UsageError(f"--since {since}: report formats of extensions may need more than is taken over")
    if since is None and is_cluster(fabric):
        from ailb_gen.api.cluster import validate_cluster

        ask = partial(validate_cluster, batfish=batfish, batfish_failures=batfish_failures)
    else:
        ask = partial(
            check,
            batfish=batfish,
            batfish_timeout=batfish_timeout,
            batfish_failures=batfish_failures,
            # Formats of extensions may use what is not kept.
            remember=not no_cache and own,
            since=since,
            warn=warn,
        )
    # Between checks and reports the collector would only walk over a large fabric.
    with no_garbage_collection(last=True):
        report = ask(
            fabric,
            artifacts,
            checks=checks or (),
            limit=limit or (),
            fail_on=fail_on,
            waivers=waivers,
            yang=yang,
            seed=seed,
            executor=executor,
            jobs=jobs,
            html=any(kind == "html" for kind, _ in where),
            progress=timed,
        )
        if report.since is not None:
            notify("\n".join(report.since.lines()))
        elif report.proved:
            said = f"nothing has changed since the proof of {report.proved}, whose findings hold; or use --no-cache"
            notify(f"note: {said}")
        elif since is None and wanted() and (hint := slow_family(bars[0].spent_s)):
            say(hint)
        conclude(report, where, everything)


def slow_family(spent_s: Mapping[str, float]) -> str:
    """Return which family of checks took the time of a long run, by the seconds of its steps; nothing if none did."""
    from ailb_gen.checks.progress import NEEDED_BY

    taken, (longest, name) = sum(spent_s.values()), max((spent_s.get(name, 0.0), name) for name in NEEDED_BY)
    if taken < LONG_S or longest < taken * SHARE:
        return ""
    leave = f"--checks '!{NEEDED_BY[name]}' leaves that out"
    return f"note: the checks took {minutes(taken)}, {minutes(longest)} of it for {name}; {leave}"


def conclude(report: CheckReport, where: Sequence[Target], everything: bool = False) -> None:
    """Write every report, tables with consequences if `everything` is asked for; then end as the verdict says.

    Raises OutputError for reports that could not be written, when all others are; the report's trouble; or typer.Exit.
    """
    from ailb_gen.report.check_report import format_of
    from ailb_gen.report.table import table

    whole = partial(table, report.verdict, everything)
    made = {kind: partial(format_of(kind), report) for kind, _ in where}
    with steady():
        write_reports(where, {**made, "table": whole}, lambda paint: whole(paint, prose_width()))
        if report.trouble is not None:
            raise report.trouble
        if report.verdict.failed:
            raise typer.Exit(ExitCode.FINDINGS)
