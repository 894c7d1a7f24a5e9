"""Failures over months in what-if files: the cases, the fabrics, and what comes out of made-up results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from ailb_gen.errors import IntentError, NoPathError
from ailb_gen.progress import Advance, Silent
from ailb_gen.sim.sweep import pending, prepare
from ailb_gen.study.model import CaseResults, Study, StudyOptions
from ailb_gen.study.points import folder_of, study_points
from ailb_gen.study.reliability.outlook import PricedFabric, TimeShares, share_of
from ailb_gen.study.report import study_page
from ailb_gen.study.rows import study_table
from ailb_gen.study.what_if.load import parse
from ailb_gen.study.what_if.months import period_of
from ailb_gen.study.what_if.study import study_of, what_if
from tests.conftest import EXAMPLES

LAB = """\
fabric: lab/fabric.yaml
job: {data: 3, tensor: 2, gradient_bytes: 1MB, forward: 10ms, backward: 20ms, tensor_bytes: 0}
balancers: [rlb, ecmp]
reliability: {mttr: 8h, checkpoints: {write: 36s, restart: 10min}, spines: [4, 8], draws: 2}
"""


def study(text: str = LAB) -> Study:
    question = parse(text, "file.yaml", EXAMPLES)
    return study_of(question, list(question.what_if.seeds))


def test_a_case_for_every_fabric_and_number_of_failures() -> None:
    found = study()
    assert [case.name for case in found.cases if case.name.startswith("rlb")] == [
        "rlb, none",
        "rlb, 4 spines, 1 link down",
        "rlb, 4 spines, 1 spine down",
        "rlb, 8 spines, none down",
        "rlb, 8 spines, 1 link down",
        "rlb, 8 spines, 1 spine down",
    ]
    scenarios = {case.name: case.scenario for case in found.cases}
    assert scenarios["ecmp, 4 spines, 1 link down"]["failures"] == [{"random": "1 links"}]
    assert scenarios["ecmp, 8 spines, 1 spine down"]["failures"] == [{"name": "spine1"}]
    assert scenarios["ecmp, 8 spines, none down"]["fabric"]["files"]["artifacts"] == "fabric-8/files"
    assert list(found.intents) == ["fabric", "fabric-8"]


def test_many_failures_are_spread_over_the_spines() -> None:
    often = LAB.replace("draws: 2", "elements: {spines: {mtbf: 20h}}").replace("[4, 8]", "[4]")
    down = [case.scenario["failures"] for case in study(often).cases if case.name.startswith("rlb, 4 spines")]
    assert [[one["name"] for one in failures] for failures in down if "name" in failures[0]] == [
        ["spine1"],
        ["spine1", "spine3"],
        ["spine1", "spine2", "spine3", "spine4"],
    ]


@pytest.mark.long
def test_points_are_those_of_fabrics_with_as_many_spines() -> None:
    found = study()
    with folder_of(found) as folder:
        points, _ = study_points(found, folder)
    spines = {
        point.variant: sum(name.startswith("spine") for name in point.fabric.names)
        for point in points
        if point.variant.startswith("rlb")
    }
    assert [spines[name] for name in ("rlb, none", "rlb, 8 spines, none down")] == [4, 8]


def point(step_us: float | None) -> dict[str, Any]:
    """The job computes for 30 ms."""
    counters = {"flows": {"x": {"out_of_order": 0}}, "links": {"x": {"pauses": 0}}}
    return {"jobs": {"training": {"time_us": step_us, "step_us": {"mean": step_us}}}, **counters}


def test_slower_steps_are_less_goodput() -> None:
    found = study()
    assert found.summary is not None
    steps = {"none": 40_000, "8 spines, none down": 30_000}
    points = {
        case.name: [point(steps.get(case.name.partition(", ")[2], 60_000))]
        for case in found.cases
        if case.name.startswith("rlb")
    }
    summary = found.summary(CaseResults(points))
    goodput, failures, costs = (part.table for part in summary.more)
    assert [(row[0], row[1], row[4]) for row in goodput[1:]] == [("4", "rlb", "25.00"), ("8", "rlb", "0.00")]
    assert failures[0][-2:] == ("4 spines", "8 spines")
    assert [row[:1] for row in costs[1:]] == [("4",), ("8",)]
    assert any(line.startswith("8 spines: ") for line in summary.conclusions)
    text, html = study_table(found, CaseResults(points)), study_page(found, CaseResults(points), {}, "x", False)
    for part in summary.more:
        assert part.title in text.replace("\n  ", " ") and part.title in html
    assert [figure.name for figure in found.figures(CaseResults(points))] == ["step-time", "goodput"]


def test_an_interrupted_study_has_no_goodput_of_what_it_lacks() -> None:
    found = study()
    assert found.summary is not None
    points = {case.name: [point(40_000)] for case in found.cases}
    for name in ("rlb, 8 spines, 1 spine down", "ecmp, 4 spines, 1 link down"):
        del points[name]
    results = CaseResults(points)
    assert [row[:2] for row in found.summary(results).more[0].table[1:]] == [["4", "rlb"], ["8", "ecmp"]]
    none = CaseResults({name: points[name] for name in ("rlb, none", "ecmp, none")})
    assert [figure.name for figure in found.figures(none)] == ["step-time"]
    assert "no results" in study_table(found, none)
    assert "Goodput over 12 months" in study_page(found, none, {}, "x", True)


def test_the_months_are_drawn_once_for_all_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(fabric: PricedFabric, *more: Any) -> TimeShares:
        calls.append(fabric.spines)
        return share_of(fabric, *more)

    monkeypatch.setattr("ailb_gen.study.what_if.months.share_of", counted)
    found = study()
    assert found.summary is not None
    results = CaseResults({case.name: [point(40_000)] for case in found.cases})
    assert found.summary(results) == found.summary(results)
    found.figures(results)
    assert calls == [4, 4, 8, 8]


def test_progress_counts_the_draws_of_every_fabric() -> None:
    counted: list[int] = []

    class Counting(Silent):
        def __call__(self, count: int) -> None:
            counted.append(count)

    @contextmanager
    def progress(what: str, total: int) -> Iterator[Advance]:
        assert (what, total) == ("drawing months", 4)
        yield Counting()

    question = parse(LAB, "file.yaml", EXAMPLES)
    found = study_of(question, list(question.what_if.seeds), progress)
    assert found.summary is not None
    found.summary(CaseResults({case.name: [point(40_000)] for case in found.cases}))
    assert counted == [1, 1, 1, 1]


def test_a_job_that_does_not_complete_has_no_goodput() -> None:
    found = study(LAB.replace("[4, 8]", "[4]"))
    assert found.summary is not None
    points = {case.name: [point(None)] for case in found.cases}
    table = found.summary(CaseResults(points)).more[0].table
    assert [row[2] for row in table[1:]] == ["0.00", "0.00"]


def test_a_job_that_is_cut_off_does_not_complete() -> None:
    """With its only spine down no packet arrives: a result, where the failure of a user is an error."""
    text = LAB.replace("lab/", "study/months/").replace("tensor: 2", "tensor: 8, placement: strided, stride: 4")
    found = study(text.replace("[4, 8]", "[1]").replace("[rlb, ecmp]", "ecmp"))
    with folder_of(found) as folder:
        points, _ = study_points(found, folder)
        prepared = prepare(points)
        with pytest.raises(NoPathError, match="have no path"):
            prepare([replace(point, may_be_cut=False) for point in points])
    assert {one.point.variant: one.cut for one in prepared} == {
        "ecmp, none": False,
        "ecmp, 1 spine, none down": False,
        "ecmp, 1 spine, 1 link down": True,
        "ecmp, 1 spine, 1 spine down": True,
    }
    assert [one.cut for one in pending(prepared, {})] == [False, False]
    assert found.summary is not None
    whole = {case.name: [point(40_000)] for case in found.cases}
    cut = {case.name: [{"interrupted": False, "jobs": {}}] for case in found.cases[2:]}
    before, after = (found.summary(CaseResults(one)).more[0].table[1] for one in (whole, whole | cut))
    assert (before[5], after[5]) == ("0.00", "0.02")


def test_checkpoints_are_written_as_young_says_unless_given() -> None:
    question = parse(LAB, "file.yaml", EXAMPLES)
    asked, inventory = question.what_if.reliability, question.compared[0].fabric.inventory
    assert asked is not None
    every = period_of(asked, inventory).checkpoints.every_h
    assert every == pytest.approx((2 * 0.01 / inventory.kills_per_h) ** 0.5)
    given = parse(LAB.replace("{write", "{every: 3h, write"), "file.yaml", EXAMPLES).what_if.reliability
    assert given is not None
    assert period_of(given, inventory).checkpoints.every_h == 3


def test_the_page_says_what_is_assumed() -> None:
    text = study().text
    for words in (
        "here up to 1 link and 1 spine",
        "1 of the 4 servers are not the job's",
        "Rates from reports: links, nics: Grattafiori et al. 2024; leaves, spines: Singh et al. 2021.",
    ):
        assert words in text


def test_files_that_exist_have_their_own_number_of_spines() -> None:
    text = LAB.replace("job:", "artifacts: ../tests\njob:")
    with pytest.raises(
        IntentError, match=r"spines\[1\]: the files in 'artifacts' have 4 spines; leave 'artifacts' out"
    ):
        parse(text, "file.yaml", EXAMPLES)


def test_media_that_do_not_fit_are_refused() -> None:
    text = LAB.replace("lab/", "study/months/").replace("[4, 8]", "[4], media: dac").replace("tensor: 2", "tensor: 8")
    with pytest.raises(IntentError, match=r"reliability\.media: .* no DAC cable has two split ends"):
        parse(text, "file.yaml", EXAMPLES)


def test_quick_leaves_months_out() -> None:
    path = EXAMPLES / "study" / "months.yaml"
    assert all("down" not in case.name for case in what_if(StudyOptions(quick=True, file=path)).cases)
