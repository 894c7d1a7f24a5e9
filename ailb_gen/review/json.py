"""A review for programs: everything, in the form of `docs/review.schema.json`."""

from __future__ import annotations

import json
from typing import Any

from ailb_gen.checks.model import Finding
from ailb_gen.deploy.device_diff import edit_row
from ailb_gen.deploy.plan_file import impact_row
from ailb_gen.report.verdict import Verdict, fingerprints
from ailb_gen.review.changes import DeviceChange
from ailb_gen.review.impact import ChangeImpact
from ailb_gen.review.model import Review, open_findings
from ailb_gen.version import __version__

# Keys may be added under one number; a key that goes, or changes its meaning, needs the next.
VERSION = 1


def review_json(review: Review) -> str:
    """Return a review as JSON."""
    impact, verdict = review.impact, review.report.verdict
    body = {
        "version": VERSION,
        "tool": {"name": "ailb-gen", "version": __version__},
        "fabric": review.fabric,
        "base": review.base,
        "missing": review.missing,
        "passed": verdict.passed,
        "verdict": verdict.sentence(),
        "verdict_before": review.before.sentence() if review.before is not None else None,
        "findings": {
            "new": _findings(review.new),
            "gone": _findings(review.gone) if review.gone is not None else [],
            "kept": review.kept,
        },
        "devices": {change.name: _device(change, impact) for change in review.changes},
        "groups": [{"devices": [one.name for one in group.changes], "same": group.same} for group in review.groups],
        "cables": dict(zip(("added", "removed"), map(list, review.cables), strict=True)),
        "impact": _impact(impact) if impact is not None else None,
    }
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def _findings(verdict: Verdict) -> list[dict[str, Any]]:
    rows = open_findings(verdict)
    return [_finding(row, identity) for row, identity in zip(rows, fingerprints(rows), strict=True)]


def _finding(finding: Finding, identity: str) -> dict[str, Any]:
    place = {"file": finding.place.file, "line": finding.place.line} if finding.place is not None else None
    return {
        "check": finding.check,
        "scope": finding.scope,
        "message": finding.message,
        "place": place,
        "fingerprint": identity,
    }


def _device(change: DeviceChange, impact: ChangeImpact | None) -> dict[str, Any]:
    added, removed = change.counts
    row: dict[str, Any] = {"role": change.role, "kind": change.kind, "added": added, "removed": removed}
    row |= {"edits": [edit_row(edit) for edit in change.edits]} if change.edits else {}
    row |= (
        {"files": [dict(zip(("file", "added", "removed"), one, strict=True)) for one in change.files]}
        if change.files
        else {}
    )
    touched = impact.switches.get(change.name) if impact is not None else None
    return row | (impact_row(touched) if touched is not None else {})


def _impact(impact: ChangeImpact) -> dict[str, Any]:
    traffic, times = impact.traffic, ("before", "after")
    return {
        "sessions_touched": impact.sessions,
        "sessions_up": dict(zip(times, traffic.up, strict=True)),
        "pairs_arriving": dict(zip(times, traffic.arriving, strict=True)),
        "pairs": dict(zip(times, traffic.pairs, strict=True)),
        "trouble": impact.trouble,
        "waves": [
            {
                "name": row.wave.name,
                "devices": list(row.wave.devices),
                "sessions": row.sessions,
                "colors": list(row.colors_touched),
                "servers": row.servers,
                "paths_left": list(row.paths),
                "colors_left": list(row.colors),
                "no_path": list(row.cut),
                **_away(impact, row.wave.name),
            }
            for row in impact.waves
        ],
        "highest_load": dict(zip(times, (round(load, 3) for load in impact.highest), strict=True)),
        "loads": [{"before": row.before, "after": row.after, "links": list(row.links)} for row in impact.loads],
    }


def _away(impact: ChangeImpact, wave: str) -> dict[str, Any]:
    if wave not in impact.traffic.waves:
        return {}
    lost, load = impact.traffic.waves[wave]
    return {"pairs_lost": lost, "load": round(load, 3)}
