"""Repeat a published experiment, or run a what-if study of a training job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ailb_gen.api.broken import files_of, refuse_broken
from ailb_gen.api.inputs import check_executor
from ailb_gen.api.points import Execution, Simulated, need_engine, simulated
from ailb_gen.errors import UsageError
from ailb_gen.paint import Paint, unpainted

if TYPE_CHECKING:
    from ailb_gen.study.model import CaseResults, Study
    from ailb_gen.study.quantities import Statistics


DEFAULT = Execution()


@dataclass(frozen=True, slots=True)
class StudyReport:
    """A study with its simulated results; `command` repeats it, `interrupted`: some points are not finished."""

    study: Study
    results: CaseResults
    profiles: Mapping[str, Sequence[Mapping[str, Any]]]
    command: str
    interrupted: bool

    def table(self, paint: Paint = unpainted, width: int = 80) -> str:
        """Return published figures beside ours, and whether the claims hold, as text."""
        from ailb_gen.study.rows import study_table

        return study_table(self.study, self.results, paint, width)

    def html(self) -> str:
        """Return the report as HTML; it has charts if the study was asked for them."""
        from ailb_gen.study.report import study_page

        return study_page(self.study, self.results, self.profiles, self.command, self.interrupted)


def run_study(
    name: str,
    file: Path | None = None,
    *,
    quick: bool = False,
    seeds: int | None = None,
    out: Path | None = None,
    charts: bool = False,
    force: bool = False,
    execution: Execution = DEFAULT,
) -> StudyReport:
    """Run the study called `name`; `file` is that of `what-if`. With `quick` it takes seconds instead of minutes.

    Page, figures and finished points are written to `out`. Files in which validation finds errors that decide how
    packets fare are only simulated with `force`. Raises BrokenFabricError without, UsageError, IntentError,
    OutputError, WorkerError.
    """
    check_executor(execution.executor)
    from ailb_gen.study.catalog import STUDIES
    from ailb_gen.wording import did_you_mean

    if name not in STUDIES:
        hint = did_you_mean(name, STUDIES) or "there are " + ", ".join(STUDIES)
        raise UsageError(f"there is no study {name[:40]!r}; {hint}")
    entry = STUDIES[name]
    if file is not None and not entry.needs_file:
        raise UsageError(f"{name} reads no file; {file} is not needed")
    from ailb_gen.study.model import StudyOptions

    study = entry.make(StudyOptions(quick, seeds, file, execution.progress))
    need_engine("study", "study", ["matplotlib"] if out is not None else [])
    from ailb_gen.sim.scenario.fabrics import reordering
    from ailb_gen.sim.sweep import Options
    from ailb_gen.study.points import folder_of, study_points, study_variants
    from ailb_gen.study.rows import quick_scope

    words = ["ailb-gen study", name, *([str(file)] if file else []), *(["--quick"] if quick else [])]
    words += [f"--seeds {seeds}"] if seeds is not None else []
    if quick:
        study = replace(study, scope=quick_scope(study, entry.make(StudyOptions(False, seeds, file))))
    with folder_of(study) as folder:
        points, warnings = study_points(study, folder)
        # Published experiments are as they were.
        for line in [*warnings, *(reordering(points) if entry.needs_file else ())]:
            execution.warn(line)
        if not force and not study.intents:
            # What was just generated is as the intent specifies.
            refuse_broken(files_of(study_variants(study), folder), execution.progress)
        # What is kept has what charts need: a later report then simulates nothing again.
        profiled = charts or out is not None
        options = Options(execution.executor, execution.processes, execution.cores, tables=False, profiled=profiled)
        run = simulated(points, out, options, charts, execution)
    report = StudyReport(study, _results(run), _profiles(run), " ".join(words), run.interrupted)
    if study.summary is not None:
        # It may take half a minute, and is kept for all that is written and printed of it.
        study.summary(report.results)
    if out is not None:
        from ailb_gen.sim.results import held_name
        from ailb_gen.study.page import RECORD, write

        former = held_name(out, RECORD, "study")
        if former not in (None, study.name):
            execution.warn(f"{out} held the study {former!r}: its figures and points stay")
        write(study, report.results, out, report.command, report.interrupted)
    return report


def _profiles(run: Simulated) -> dict[str, list[Mapping[str, Any]]]:
    profiles: dict[str, list[Mapping[str, Any]]] = {}
    for item in run.prepared:
        if item.digest in run.profiles:
            profiles.setdefault(item.point.variant, []).append(run.profiles[item.digest])
    return profiles


def _results(run: Simulated) -> CaseResults:
    """Return the statistics by case; cut and missing points do not count."""
    from ailb_gen.study.model import CaseResults

    points: dict[str, list[Statistics]] = {}
    for item in run.prepared:
        statistics = run.known.get(item.digest)
        if statistics is not None and not statistics["interrupted"]:
            points.setdefault(item.point.variant, []).append(statistics)
    return CaseResults(points)
