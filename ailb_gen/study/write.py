"""The directory of a study: `study.md`, `study.json`, figures; finished points are below `points`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ailb_gen.atomic import replace_file
from ailb_gen.errors import OutputError
from ailb_gen.sim.results import PROGRAM
from ailb_gen.study.figures import drawn
from ailb_gen.study.model import CaseResults, Study
from ailb_gen.study.page import page
from ailb_gen.study.rows import checked, compared

RECORD = "study.json"


def record(study: Study, results: CaseResults, interrupted: bool) -> dict[str, Any]:
    """Return the content of `study.json`: rows, claims, calibration, and the statistics of every point."""
    return {
        "program": PROGRAM,
        "study": study.name,
        "digest": study.digest(),
        "interrupted": interrupted,
        "rows": [asdict(row) for row in compared(study, results)],
        "claims": [asdict(one) for one in checked(study, results)],
        "calibrated": [asdict(one) for one in study.calibrated],
        "summary": None if study.summary is None else asdict(study.summary(results)),
        "points": {case: list(points) for case, points in results.points.items()},
    }


def held(out: Path) -> str | None:
    """Return the name of the study whose page is in a directory; None without one."""
    try:
        found = json.loads((out / RECORD).read_bytes())
    except (OSError, ValueError):
        return None
    return str(found.get("study")) if isinstance(found, dict) else None


def write(study: Study, results: CaseResults, out: Path, command: str, interrupted: bool) -> None:
    """Write page, record and figures of a study. Raises OutputError, UsageError without matplotlib."""
    figures = study.figures(results)
    files = {f"{figure.name}.{form}": data for figure in figures for form, data in drawn(figure).items()}
    files[RECORD] = (json.dumps(record(study, results, interrupted), indent=1) + "\n").encode()
    files["study.md"] = page(study, results, figures, command).encode()
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            replace_file(out / name, data)
    except OSError as error:
        raise OutputError(f"{error.filename or out}: cannot be written: {error.strerror}") from error
