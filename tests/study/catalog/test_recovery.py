"""The study of recovery: published numbers, claims both ways, all scenarios, and the quick study for real."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.sim.point import simulate
from ailb_gen.study.catalog.recovery import AR, CDF, GBN, LOSSLESS, LOSSLESS_MS, P99, PUBLISHED_MS, SR, recovery
from ailb_gen.study.model import Findings, Options
from ailb_gen.study.points import study_points
from ailb_gen.study.rows import checked, compared
from tests.sim.engine.cases import needs_compiler


def point(p99_ms: float) -> dict[str, Any]:
    flows = {"flows": 10, "fct_us": {"p99": p99_ms * 1000, "p50": p99_ms * 900}}
    return {"flows": {"broadcast": flows}, "totals": {"timeouts": 5}, "extras": {CDF: [1000.0, 2000.0, 3000.0]}}


def findings(changes: Mapping[str, float] | None = None) -> Findings:
    """The published numbers, but for some."""
    values = {f"{way}, {rate:g} %": value for rate, row in PUBLISHED_MS.items() for way, value in row.items()}
    values |= {LOSSLESS: LOSSLESS_MS, **(changes or {})}
    return Findings({case: [point(value)] for case, value in values.items()})


def holds(found: Findings) -> list[bool]:
    return [one.verdict is not None and one.verdict.holds for one in checked(recovery(Options()), found)]


def test_the_percentages_of_the_source_follow_from_its_times() -> None:
    """Its table says by how much adaptive routing is above the others."""
    excess = {0.02: (11.4, 11.9), 0.05: (30.6, 33.5), 0.1: (34.5, 54.5)}
    for rate, (over_gbn, over_sr) in excess.items():
        row = PUBLISHED_MS[rate]
        assert (row[AR] / row[GBN] - 1) * 100 == pytest.approx(over_gbn, abs=0.1)
        assert (row[AR] / row[SR] - 1) * 100 == pytest.approx(over_sr, abs=0.1)


def test_all_claims_hold_for_the_published_numbers() -> None:
    assert all(holds(findings()))


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
    assert {number for number, held in enumerate(holds(findings(changes))) if not held} == fails


def test_rows_and_figure_of_the_published_numbers() -> None:
    study = recovery(Options())
    rows = [row for row in compared(study, findings()) if row.published.quantity == P99]
    assert [row.deviation for row in rows] == pytest.approx([0.0] * 10)
    assert [row.published.role for row in rows] == ["calibrated"] * 4 + ["predicted"] * 6
    (figure,) = study.figures(findings())
    assert len(figure.lines) == 4  # type: ignore[union-attr]


def test_all_scenarios_are_valid_and_differ_as_they_should() -> None:
    points, warnings = study_points(recovery(Options()), Path())
    assert not warnings
    losses = {one.variant: one.settings.switches.loss_probability for one in points}
    assert losses[LOSSLESS] is None
    lossy = losses[f"{SR}, 0.05 %"]
    assert lossy is not None
    assert lossy.max() == 0.0005
    assert {one.settings.transport.name for one in points} == {"go-back-n", "selective-repeat", "timeout-only"}


@pytest.mark.long
@needs_compiler
def test_quick() -> None:
    study = recovery(Options(quick=True))
    points, _ = study_points(study, Path())
    found = Findings({one.variant: [simulate(one, tables=False).statistics] for one in points})
    verdicts = [one.verdict for one in checked(study, found)]
    assert [verdict and verdict.holds for verdict in verdicts] == [None, True, True, None, None]
    rows = [row for row in compared(study, found) if row.published.value is not None]
    assert len(rows) == 7
    assert max(abs(row.deviation or 0.0) for row in rows) < 0.12
