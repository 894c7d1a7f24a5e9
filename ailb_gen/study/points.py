"""The points of a study: its cases as checked scenarios, on fabrics that are generated for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ailb_gen.design.build import build
from ailb_gen.errors import Place, UsageError
from ailb_gen.intent.load import Intent, load
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from ailb_gen.sim.point import Point
from ailb_gen.sim.scenario.fabrics import points_of
from ailb_gen.sim.scenario.load import Variant, variants
from ailb_gen.study.model import Case, Study
from ailb_gen.yamlio import Source


@contextmanager
def folder_of(study: Study) -> Iterator[Path]:
    """Yield the folder at which the paths of a study's scenarios start, with its fabrics generated.

    Raises IntentError, OutputError.
    """
    if not study.intents:
        yield study.folder
        return
    with TemporaryDirectory(prefix="ailb-gen-study-") as name:
        folder = Path(name)
        for fabric, intent in study.intents.items():
            _generate(folder / fabric, intent)
        yield folder


def _generate(folder: Path, intent: str | Path | Intent) -> None:
    folder.mkdir()
    if isinstance(intent, str):
        text, intent = intent, folder / "fabric.yaml"
        intent.write_text(text)
    design, _ = build(load(intent) if isinstance(intent, Path) else intent)
    write_rendering(rendering(design, folder / "files", RenderOptions()))


def study_points(study: Study, folder: Path) -> tuple[list[Point], list[str]]:
    """Return a point for every case and seed, named by the case, and warnings. Raises UsageError, IntentError."""
    cases: Mapping[str, Case] = {case.name: case for case in study.cases}
    found, warnings = points_of(study_variants(study), folder)
    made = [(point, cases[point.variant]) for point in found]
    return [replace(point, extras=case.extras, may_be_cut=case.may_be_cut) for point, case in made], warnings


def study_variants(study: Study) -> list[Variant]:
    """Return the scenarios of a study, named by their cases. Raises UsageError, IntentError."""
    return [_variant(study, case) for case in study.cases]


def _variant(study: Study, case: Case) -> Variant:
    name = f"study {study.name}: {case.name}"
    source = Source(name, dict(case.scenario), {(): Place(name, 0)})
    found: Sequence[Variant] = variants(source)
    if len(found) != 1:
        raise UsageError(f"study {study.name}: {case.name}: a case is one scenario, without a sweep")
    return replace(found[0], name=case.name)
