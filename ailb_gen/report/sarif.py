"""The report for code scanning: SARIF 2.1.0 (OASIS), within what GitHub takes."""

from __future__ import annotations

import gzip
import json
import posixpath
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from ailb_gen.checks.layers import NAMES
from ailb_gen.checks.model import Check, Finding
from ailb_gen.report.text import detail, from_here
from ailb_gen.report.verdict import Verdict, fingerprints
from ailb_gen.version import __version__
from ailb_gen.wording import clean

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# GitHub refuses a file with more results in a run, or with more bytes once compressed.
MAX_RESULTS = 25_000
MAX_BYTES = 10_000_000


def sarif(verdict: Verdict, max_results: int = MAX_RESULTS, max_bytes: int = MAX_BYTES) -> str:
    """Return the report as SARIF, files relative to the current directory where that is possible.

    When there are more findings than the limits allow, the least severe are left out, and a notification says so.
    """
    results = list(_results(verdict))
    # Open findings before waived ones, worse before milder; the sort keeps the order of the catalogue.
    results.sort(key=lambda result: (bool(result["suppressions"]), -_RANK[result["level"]]))
    count = min(len(results), max_results)
    while True:
        text = json.dumps(_log(verdict, results[:count], len(results)), indent=1) + "\n"
        # What is small as it is needs no compressing to know that it fits.
        if count == 0 or len(text) <= max_bytes or len(gzip.compress(text.encode(), mtime=0)) <= max_bytes:
            return text
        count //= 2


_RANK = {"error": 3, "warning": 2, "note": 1}


def _log(verdict: Verdict, results: Sequence[dict[str, Any]], total: int) -> dict[str, Any]:
    rules = [_rule(result.check) for result in verdict.run.results]
    driver = {"name": "ailb-gen", "semanticVersion": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"ailb-gen validate/{clean(verdict.run.fabric)}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not verdict.run.trouble,
                # What the trouble makes of the exit code is not known here.
                **({} if verdict.run.trouble else {"exitCode": int(verdict.failed)}),
                "toolExecutionNotifications": list(_notifications(verdict, len(results), total)),
            }
        ],
        "results": list(results),
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "shortDescription": {"text": check.violation},
        "fullDescription": {"text": check.why},
        "help": {
            "text": f"{check.why}\n\nRepair: {check.repair}",
            "markdown": f"{check.why}\n\n**Repair:** {check.repair}",
        },
        "defaultConfiguration": {"level": str(check.severity)},
        "properties": {"tags": [NAMES[check.family]], "problem.severity": _PROBLEM[str(check.severity)]},
    }


# GitHub's names of severities for alerts that are not about security.
_PROBLEM = {"error": "error", "warning": "warning", "note": "recommendation"}


def _notifications(verdict: Verdict, shown: int, total: int) -> Iterator[dict[str, Any]]:
    if shown < total:
        text = f"{total - shown:,} of {total:,} findings, the least severe, are left out: the file would be too large"
        yield {"level": "warning", "message": {"text": f"{text}; --report json=FILE has all"}}
    for text in verdict.run.notes:
        yield {"level": "note", "message": {"text": clean(text)}}
    for number_, result in enumerate(verdict.run.results):
        if verdict.status(result) in ("skip", "empty"):
            reason = clean(result.skipped) or "not applicable: nothing to examine"
            rule = {"id": result.check.id, "index": number_}
            yield {"level": "note", "message": {"text": f"{result.check.id}: {reason}"}, "associatedRule": rule}


def _results(verdict: Verdict) -> Iterator[dict[str, Any]]:
    for index, result in enumerate(verdict.run.results):
        for finding, identity in zip(result.findings, fingerprints(result.findings), strict=True):
            waiver = verdict.accepted.get(finding)
            accepted = (
                {"kind": "external", "status": "accepted", "justification": clean(waiver.reason)} if waiver else {}
            )
            yield {
                "ruleId": result.check.id,
                "ruleIndex": index,
                "level": str(result.check.severity),
                "message": {"text": _message(finding)},
                "locations": [_location(verdict, finding)],
                "partialFingerprints": {"ailb/v1": identity},
                "suppressions": [accepted] if accepted else [],
                **_cause(verdict, finding),
            }


def _cause(verdict: Verdict, finding: Finding) -> dict[str, Any]:
    """Return the cause of a finding, nothing for a cause itself: its identity, and its place as a related one."""
    cause = verdict.causes.get(finding)
    if cause is None:
        return {}
    location = _location(verdict, cause) | {"message": {"text": _message(cause)}}
    return {"properties": {"cause": verdict.identity(cause)}, "relatedLocations": [location]}


def _message(finding: Finding) -> str:
    more = f" ({detail(finding)})" if detail(finding) else ""
    return clean(f"{finding.scope}: {finding.message}{more}")


def _location(verdict: Verdict, finding: Finding) -> dict[str, Any]:
    """Return where a finding is. One without a place is about the whole, and code scanning wants a file: the intent."""
    run, place = verdict.run, finding.place
    path = from_here(run, place.file) if place else posixpath.normpath(run.intent)
    location = {"uri": _uri(path)}
    if not path.startswith(("/", "../")):
        location["uriBaseId"] = "%SRCROOT%"
    region = {"startLine": place.line, "startColumn": place.column} if place else {"startLine": 1}
    return {
        "physicalLocation": {"artifactLocation": location, "region": region},
        "logicalLocations": [{"fullyQualifiedName": clean(finding.scope)}],
    }


def _uri(path: str) -> str:
    text = quote(path.encode("utf-8", "surrogateescape"))
    return f"file://{text}" if path.startswith("/") else text
