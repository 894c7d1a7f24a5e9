"""The directory of a study: its page in Markdown, `study.md`, `study.json`, figures.

Finished points are below `points`. Importing this module raises UsageError where matplotlib is missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from ailb_gen.atomic import replace_file
from ailb_gen.sim.results import writing
from ailb_gen.study.figures import drawn
from ailb_gen.study.model import CaseResults, Figure, Study, Summary
from ailb_gen.study.rows import (
    OURS,
    Checked,
    ComparedRow,
    cells,
    checked,
    compared,
    outside,
    record,
    up_to,
    verdict_text,
)

RECORD = "study.json"


def page(study: Study, results: CaseResults, figures: Sequence[Figure], command: str, interrupted: bool = False) -> str:
    """Return a study with its results as Markdown; figures are in the same directory, as NAME.svg."""
    lines = [f"# {study.title}", "", f"Source: {study.source}.", "", study.text.strip(), ""]
    lines += [f"Repeat it with `{command}`.", "", *([study.scope, ""] if study.scope else [])]
    lines += ["Interrupted: only finished cases are included.", ""] if interrupted else []
    lines += _claims(list(checked(study, results)))
    if study.summary is not None:
        lines += _summary(study.summary(results))
    else:
        rows = list(compared(study, results))
        lines += [*_table(rows), *_outside(rows)]
        lines += _calibrated(study)
    for figure in figures:
        lines += [f"![{figure.title}]({figure.name}.svg)", ""]
    lines += ["## Deviations", "", study.notes.strip(), ""] if study.notes else []
    seeds = max((len(points) for points in results.points.values()), default=0)
    lines += [f"Seeds: {up_to(seeds)} per case. Digest of the scenarios: `{study.digest()}`", ""]
    return "\n".join(lines)


def _claims(claims: Sequence[Checked]) -> Iterator[str]:
    if not claims:
        return
    yield from ("## Claims", "", "| claim | here | numbers |", "|---|---|---|")
    for one in claims:
        shown = one.verdict.shown if one.verdict is not None else ""
        reason = f" {one.reason}" if one.reason else ""
        yield f"| {_cell(one.text)} | {verdict_text(one)} | {_cell(shown + reason)} |"
    yield ""


def _table(rows: Sequence[ComparedRow]) -> Iterator[str]:
    yield from ("## Numbers", "", OURS, "")
    yield from ("| case | quantity | published | ours | deviation | |", "|---|---|---:|---:|---:|---|")
    for row in rows:
        about = row.published
        yield f"| {_cell(about.case)} | {_cell(about.quantity)} | {' | '.join(cells(row))} | {row.role} |"
    yield ""


def _outside(rows: Sequence[ComparedRow]) -> Iterator[str]:
    found = outside(rows)
    if found:
        yield from ("## Rows outside their tolerance", "", "| reason | rows |", "|---|---|")
        yield from (_cells((reason, "; ".join(about))) for reason, about in found.items())
        yield ""


def _summary(summary: Summary) -> Iterator[str]:
    for title, table in (("Numbers", summary.table), *((part.title, part.table) for part in summary.more)):
        headings, *rows = table
        yield from (f"## {title}", "", _cells(headings), _cells(["---"] * len(headings)))
        yield from (_cells(row) for row in rows)
        yield ""
    if summary.conclusions:
        yield from ("## Conclusions", "", *(f"- {sentence}" for sentence in summary.conclusions), "")


def _cells(row: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, row))} |"


def _calibrated(study: Study) -> Iterator[str]:
    yield from ("## Calibrated parameters", "")
    if not study.calibrated:
        yield from ("None: nothing was tuned to the published numbers.", "")
        return
    yield from ("| parameter | value | set on |", "|---|---|---|")
    for one in study.calibrated:
        yield f"| {_cell(one.name)} | {_cell(one.value)} | {_cell(one.rows)} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def write(study: Study, results: CaseResults, out: Path, command: str, interrupted: bool) -> None:
    """Write page, record and figures of a study. Raises OutputError, UsageError without matplotlib."""
    figures = study.figures(results)
    files = {f"{figure.name}.{form}": data for figure in figures for form, data in drawn(figure).items()}
    files[RECORD] = (json.dumps(record(study, results, interrupted), indent=1) + "\n").encode()
    files["study.md"] = page(study, results, figures, command, interrupted).encode()
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            replace_file(out / name, data)
