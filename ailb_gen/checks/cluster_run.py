"""One run of the checks out of those of a cluster's fabrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ailb_gen.checks.model import Finding, Result, Run, by_place
from ailb_gen.errors import Place
from ailb_gen.layout import PROFILES, SERVERS

OF_CLUSTER = (f"{SERVERS}/", f"{PROFILES}/")


def in_cluster(run: Run, fabric: str) -> Run:
    """Return the run of a fabric with places that are relative to the cluster's directory."""
    # A server may be a link to any folder of the cluster's directory.
    folders = {f"{folder}/" for _, folder in run.folders if not folder.startswith(OF_CLUSTER)}
    move = partial(_moved, fabric=fabric, outside=(*OF_CLUSTER, *folders))
    results = (replace(row, findings=by_place(map(move, row.findings))) for row in run.results)
    return replace(run, results=tuple(results))


def _moved(finding: Finding, fabric: str, outside: tuple[str, ...]) -> Finding:
    place = finding.place
    if place is None or place.file.startswith(outside):
        return finding
    # Its own manifest and topology are files, not devices, and every fabric has them.
    device = f"{fabric}/{finding.device}" if finding.device == place.file else finding.device
    return replace(finding, device=device, place=Place(f"{fabric}/{place.file}", place.line, place.column))


def joined(name: str, file: Path, artifacts: Path, runs: Sequence[Run], together: Iterable[Result]) -> Run:
    """Return the run of a cluster: the results of its fabrics by check, then those about all `together`."""
    rows: dict[str, list[tuple[str, Result]]] = {}
    for run in runs:
        for result in run.results:
            rows.setdefault(result.check.id, []).append((run.fabric, result))
    return Run(
        fabric=name,
        intent=str(file),
        artifacts=str(artifacts),
        roles=tuple(dict(role for run in runs for role in run.roles).items()),
        results=(*map(_joined, rows.values()), *together),
        folders=tuple(dict(folder for run in runs for folder in run.folders).items()),
        trouble="\n".join(dict.fromkeys(run.trouble for run in runs if run.trouble)),
        notes=tuple(f"{run.fabric}: {note}" for run in runs for note in run.notes),
        is_cluster=True,
    )


def _joined(rows: Sequence[tuple[str, Result]]) -> Result:
    results = [result for _, result in rows]
    skipped = [result.skipped for result in results]
    return Result(
        results[0].check,
        by_place(finding for result in results for finding in result.findings),
        sum(result.examined for result in results),
        tuple((f"{fabric}: {name}", value) for fabric, result in rows for name, value in result.figures),
        "; ".join(dict.fromkeys(filter(None, skipped))) if any(skipped) else "",
    )
