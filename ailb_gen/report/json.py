"""The report for programs: everything, in the form of `docs/report.schema.json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ailb_gen.checks.layers import NAMES
from ailb_gen.checks.model import Finding, Result, Severity
from ailb_gen.report.verdict import STATUSES, Verdict, fingerprints
from ailb_gen.version import __version__

if TYPE_CHECKING:
    from ailb_gen.kept.since import Since

# Keys may be added under one number; a key that goes, or changes its meaning, needs the next.
VERSION = 1


def as_json(verdict: Verdict, since: Since | None = None) -> str:
    """Return the report as JSON, one finding a line. Files are relative to `artifacts`; lines count from 1."""
    run, counts, headlines = verdict.run, verdict.counts(), verdict.headlines()
    head: dict[str, object] = {
        "version": VERSION,
        "tool": {"name": "ailb-gen", "version": __version__},
        "fabric": run.fabric,
        "intent": run.intent,
        "artifacts": run.artifacts,
        "devices": dict(run.roles),
        "fail_on": str(verdict.fail_on),
        "passed": verdict.passed,
        "verdict": verdict.sentence(),
        "findings": {str(severity): counts[str(severity)] for severity in reversed(Severity)},
        "waived": counts["waived"],
        "causes": len(headlines),
        "consequences": sum(len(row.consequences) for row in headlines),
        "notes": list(run.notes),
        "statuses": {status: counts[status] for status in STATUSES},
    }
    if since is not None:
        head["since"] = {
            "base": since.base,
            "files": {"changed": since.changed, "all": since.files},
            "taken_over": since.taken_over,
            "checked": since.checked,
        }
    lines = json.dumps(head, indent=1)[:-2]
    checks = ",\n".join(_check(verdict, result) for result in run.results)
    return f'{lines},\n "checks": [\n{checks}\n ]\n}}\n'


def _check(verdict: Verdict, result: Result) -> str:
    check = result.check
    body = {
        "id": check.id,
        "family": NAMES[check.family],
        "severity": str(check.severity),
        "meaning": check.meaning,
        "violation": check.violation,
        "why": check.why,
        "repair": check.repair,
        "status": verdict.status(result),
        "skipped": result.skipped,
        "examined": result.examined,
        "figures": [{"name": name, "value": value} for name, value in result.figures],
    }
    findings = ",\n".join(
        f"   {json.dumps(_finding(verdict, finding, identity))}"
        for finding, identity in zip(result.findings, fingerprints(result.findings), strict=True)
    )
    return f'  {json.dumps(body)[:-1]}, "findings": [{f"{chr(10)}{findings}" if findings else ""}]}}'


def _finding(verdict: Verdict, finding: Finding, identity: str) -> dict[str, object]:
    place, waiver, cause = finding.place, verdict.accepted.get(finding), verdict.causes.get(finding)
    return {
        "fingerprint": identity,
        "scope": finding.scope,
        "subjects": [subject._asdict() for subject in finding.subjects],
        "message": finding.message,
        "place": {"file": place.file, "line": place.line, "column": place.column} if place else None,
        "expected": finding.expected,
        "found": finding.found,
        "cause": verdict.identity(cause) if cause is not None else None,
        "waiver": waiver
        and {
            "scope": waiver.scope,
            "reason": waiver.reason,
            "expires": str(waiver.expires),
            "place": str(waiver.place),
        },
    }
