"""`ailb-gen review`: compare the files of a fabric with those before a change, for a merge request."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ailb_gen.cli import options
from ailb_gen.cli.console import prose_width, say_verbose
from ailb_gen.cli.live import progress
from ailb_gen.cli.reports import finding_targets, write_reports
from ailb_gen.cli.steady import steady
from ailb_gen.errors import ExitCode


def review(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    base: Annotated[
        str | None, typer.Option("--base", help="Compare with the files of this git revision.", metavar="REVISION")
    ] = None,
    before: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--before", help="Compare with this fabric file and directory.", metavar="FABRIC ARTIFACTS"),
    ] = None,
    checks: options.CHECKS = None,
    fail_on: options.FAIL_ON = "error",
    waivers: options.WAIVERS = None,
    reports: options.REPORTS = None,
    as_json: options.JSON = False,
    yang: options.YANG = None,
    executor: options.EXECUTOR = "processes",
    jobs: options.PROCESSES = None,
) -> None:
    """Show what a change does to a fabric, from files alone.

    Changed statements by device, new findings, the impact of a push, and loads of links. The formats 'table', 'md' and
    'json' show the review, the others the verdict on the files after the change.

    Exit codes: 0 pass, 1 findings, 2 bad input, 3 the environment failed.
    """
    from ailb_gen.api.review import review as compare

    where = finding_targets(reports, as_json, [fabric, artifacts, waivers, *(before or ())])
    found = compare(
        fabric,
        artifacts,
        base=base,
        before=before,
        checks=checks or (),
        fail_on=fail_on,
        waivers=waivers,
        yang=yang,
        executor=executor,
        jobs=jobs,
        html=any(kind == "html" for kind, _ in where),
        progress=progress,
    )
    read, every = found.reread
    say_verbose(f"review: of {every:,} switch files before the change, {read:,} differ and were read")

    from ailb_gen.report.check_report import format_of
    from ailb_gen.review.comment import comment
    from ailb_gen.review.json import review_json
    from ailb_gen.review.text import text

    own = {"md": partial(comment, found), "json": partial(review_json, found), "table": partial(text, found)}
    made = {kind: own.get(kind) or partial(format_of(kind), found.report) for kind, _ in where}
    with steady():
        write_reports(where, made, lambda paint: text(found, paint, prose_width()))
        if found.report.trouble is not None:
            raise found.report.trouble
        if found.report.verdict.failed:
            raise typer.Exit(ExitCode.FINDINGS)
