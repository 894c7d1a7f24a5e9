"""The study of recovery: published numbers, claims both ways, all scenarios, and the quick study for real."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.study.catalog import read_study
from ailb_gen.study.model import CaseResults, StudyOptions
from ailb_gen.study.points import study_points
from ailb_gen.study.rows import checked, compared
from tests.sim.engine.cases import needs_compiler
from tests.study.made import failing, simulated

GBN, SR, AR, LOSSLESS, P99 = "go-back-N", "selective repeat", "adaptive routing", "no loss", "P99 of FCT, ms"
STUDY = read_study("recovery", StudyOptions())
PUBLISHED = {row.case: row.value for row in STUDY.published if row.value is not None}


def point(p99_ms: float) -> dict[str, Any]:
    flows = {"flows": 10, "fct_us": {"p99": p99_ms * 1000, "p50": p99_ms * 900}}
    return {"flows": {"broadcast": flows}, "totals": {"timeouts": 5}, "extras": {"cdf": [1000.0, 2000.0, 3000.0]}}


def results(changes: Mapping[str, float] | None = None) -> CaseResults:
    """The published numbers, but for some."""
    values = {**PUBLISHED, **(changes or {})}
    return CaseResults({case: [point(value)] for case, value in values.items()})


def test_the_percentages_of_the_source_follow_from_its_times() -> None:
    """Its table says by how much adaptive routing is above the others."""
    excess = {0.02: (11.4, 11.9), 0.05: (30.6, 33.5), 0.1: (34.5, 54.5)}
    for rate, (over_gbn, over_sr) in excess.items():
        adaptive, gbn, sr = (PUBLISHED[f"{way}, {rate} %"] for way in (AR, GBN, SR))
        assert (adaptive / gbn - 1) * 100 == pytest.approx(over_gbn, abs=0.1)
        assert (adaptive / sr - 1) * 100 == pytest.approx(over_sr, abs=0.1)


def test_all_claims_hold_for_the_published_numbers() -> None:
    assert failing(STUDY, results()) == set()


@pytest.mark.parametrize(
    ("changes", "fails"),
    [
        ({f"{SR}, 0.02 %": 4.9}, {0}),
        ({f"{GBN}, 0.05 %": 6.7}, {1, 3}),
        ({f"{AR}, 0.1 %": 5.9}, {3, 4}),
        ({f"{AR}, 0.02 %": 5.3}, {3}),
        ({f"{SR}, 0.02 %": 4.0}, {4}),
    ],
)
def test_claims_fail_for_other_numbers(changes: dict[str, float], fails: set[int]) -> None:
    assert failing(STUDY, results(changes)) == fails


def test_rows_and_figure_of_the_published_numbers() -> None:
    study = STUDY
    rows = [row for row in compared(study, results()) if row.published.quantity == P99]
    assert [row.deviation for row in rows] == pytest.approx([0.0] * 10)
    assert [row.published.role for row in rows] == ["calibrated"] * 4 + ["predicted"] * 6
    (figure,) = study.figures(results())
    assert len(figure.lines) == 4  # type: ignore[union-attr]


def test_scenarios_differ_by_loss_and_transport() -> None:
    points, _ = study_points(STUDY, Path())
    losses = {one.variant: one.settings.switches.loss_probability for one in points}
    assert losses[LOSSLESS] is None
    lossy = losses[f"{SR}, 0.05 %"]
    assert lossy is not None
    assert lossy.max() == 0.0005
    assert {one.settings.transport.name for one in points} == {"go-back-n", "selective-repeat", "timeout-only"}


@pytest.mark.long
@needs_compiler
def test_quick() -> None:
    study = read_study("recovery", StudyOptions(quick=True))
    found = simulated(study)
    verdicts = [one.verdict for one in checked(study, found)]
    assert [verdict and verdict.outcome == "holds" for verdict in verdicts] == [True, True, None, None, None]
    rows = [row for row in compared(study, found) if row.published.value is not None]
    assert len(rows) == 7
    assert max(abs(row.deviation or 0.0) for row in rows) < 0.12
