"""Judge a run: apply waivers first, then the limit to some devices."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from dataclasses import replace

from ailb_gen.checks.model import Finding, Result, Run, Severity
from ailb_gen.checks.select import limited
from ailb_gen.checks.waivers import Waiver, accept, review
from ailb_gen.report.verdict import Verdict
from ailb_gen.selection import pick_devices


def today() -> datetime.date:
    """Return the date in UTC: a pipeline gives the same verdict wherever it runs."""
    return datetime.datetime.now(datetime.UTC).date()


def judge(
    run: Run,
    waivers: Sequence[Waiver],
    chosen: Collection[str],
    limit: Sequence[str],
    fail_on: str,
    day: datetime.date | None = None,
) -> Verdict:
    """Return the verdict on a run, by default as of today.

    Waivers and causes are judged on all findings, so that `limit` makes neither look otherwise. Raises UsageError for
    a pattern of `limit` that picks no device.
    """
    day = day or today()
    accepted = accept(run.results, waivers, day)
    roots = _causes(run.results)
    results = limited(run.results, pick_devices(dict(run.roles), limit), run.folders)
    own = review(run.results, waivers, day, run.artifacts)
    results = (*results, *(result for result in own if result.check.id in chosen))
    results = tuple(sorted(results, key=lambda result: result.check.id))
    return Verdict(replace(run, results=results), accepted, Severity[fail_on.upper()], roots)


def _causes(results: Sequence[Result]) -> dict[Finding, Finding]:
    if not any(result.findings for result in results):
        return {}
    from ailb_gen.checks.causes import causes  # noqa: PLC0415 - most runs find nothing

    return causes(results)
