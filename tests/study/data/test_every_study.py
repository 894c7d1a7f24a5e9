"""The data of all published experiments: scenarios, rows, seeds, and claims and figures without results."""

from __future__ import annotations

import pytest
import yaml

from ailb_gen.study.catalog import FOLDER, PUBLISHED, StudyFile, read_study
from ailb_gen.study.model import CaseResults, StudyOptions
from ailb_gen.study.points import folder_of, study_points
from ailb_gen.study.rows import checked

SCOPES = {"full": StudyOptions(), "quick": StudyOptions(quick=True), "seeds": StudyOptions(seeds=1)}
EVERY = pytest.mark.parametrize("name", PUBLISHED)


@EVERY
@pytest.mark.parametrize("scope", ["quick", "seeds"])
def test_all_scenarios_are_valid(name: str, scope: str) -> None:
    study = read_study(name, SCOPES[scope])
    with folder_of(study) as folder:
        points, warnings = study_points(study, folder)
    assert warnings == []
    assert list(dict.fromkeys(point.variant for point in points)) == [case.name for case in study.cases]
    assert len({case.name for case in study.cases}) == len(study.cases)


@EVERY
@pytest.mark.parametrize("scope", ["full", "quick"])
def test_every_row_names_a_case_and_a_quantity(name: str, scope: str) -> None:
    study = read_study(name, SCOPES[scope])
    assert {row.case for row in study.published} == {case.name for case in study.cases}
    quantities = [quantity.name for quantity in study.quantities]
    assert len(set(quantities)) == len(quantities)
    assert {row.quantity for row in study.published} <= set(quantities)
    rows = [(row.case, row.quantity, row.value) for row in study.published]
    assert len(set(rows)) == len(rows)


@EVERY
def test_every_published_number_has_a_row(name: str) -> None:
    """A name that is spelled otherwise in the table of numbers would be left out silently."""
    file = StudyFile.model_validate(yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")))
    given = {
        (case, quantity)
        for table in file.published
        for case, values in table.values.items()
        for quantity, value in zip(table.quantities, values, strict=True)
        if value is not None
    }
    shown = read_study(name, SCOPES["full"]).published
    assert given == {(row.case, row.quantity) for row in shown if row.value is not None}


@EVERY
def test_seeds_are_those_of_the_option(name: str) -> None:
    for options in (StudyOptions(seeds=4), StudyOptions(quick=True, seeds=4)):
        assert {case.scenario["seeds"] for case in read_study(name, options).cases} == {4}


@EVERY
def test_without_results_claims_are_open_and_only_published_numbers_are_drawn(name: str) -> None:
    study = read_study(name, SCOPES["full"])
    assert [one.verdict for one in checked(study, CaseResults({}))] == [None] * len(study.claims)
    figures = study.figures(CaseResults({}))
    assert {label for figure in figures for label in figure.lines} <= {"4 uplinks, published", "8 uplinks, published"}  # type: ignore[union-attr]
    assert len(figures) == (2 if name == "queue-pairs" else 0)
