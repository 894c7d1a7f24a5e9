"""The scale unit: published numbers, claims both ways, all scenarios, and the quick study for real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.sim.fabric import HOST
from ailb_gen.study.catalog import read_study
from ailb_gen.study.model import CaseResults, ClaimVerdict, StudyOptions
from ailb_gen.study.points import study_points
from ailb_gen.study.rows import checked, compared
from tests.sim.engine.cases import needs_compiler
from tests.study.made import simulated

HEAVY, TENSOR, PIPELINE = "heavy", "tp_heavy", "pp_dp"
STEPS = {HEAVY: 50, TENSOR: 100, PIPELINE: 200}
BALANCERS = ECMP, FLOWLET, ADAPTIVE = "ECMP", "flowlet", "adaptive"
HEAVY_LOADS = HEAVY_1, HEAVY_2, HEAVY_8, HEAVY_FAILED = "heavy x1", "heavy x2", "heavy x8", "heavy x8, 5 % failed"
MIXED_LOADS = MIXED_1, MIXED_2, MIXED_4, MIXED_FAILED = "mixed x1", "mixed x2", "mixed x4", "mixed x4, 5 % failed"
LOADS = (*HEAVY_LOADS, *MIXED_LOADS)
PACKETS, LONGEST, NODE_PEAK = "packets", "longest queue, packets", "mean over nodes of their longest queue, packets"
STUDY = read_study("scale-unit", StudyOptions())
STATEMENTS = [claim for claim in STUDY.claims if not claim.text.startswith("Ours: ")]
REPRODUCTION = [claim for claim in STUDY.claims if claim.text.startswith("Ours: ")]
QUANTITIES = {quantity.name: quantity for quantity in STUDY.quantities}
PUBLISHED: Mapping[str, dict[str, float]] = {
    case: {row.quantity: row.value for row in STUDY.published if row.case == case and row.value is not None}
    for case in (f"{load}, {name}" for load in LOADS for name in BALANCERS)
}
Change = tuple[str, str, str, float]


def step(job: str, kind: str) -> str:
    return f"{job}: step {kind}, ms"


def job_time(job: str) -> str:
    return f"{job}: job time, s"


def mice(kind: str) -> str:
    return f"mice: FCT {kind}, ms"


def jobs_of(load: str) -> tuple[str, ...]:
    return (HEAVY,) if load.startswith("heavy") else (TENSOR, PIPELINE)


def statistics(values: Mapping[str, float]) -> dict[str, Any]:
    """Statistics in which quantities have these values."""
    point: dict[str, Any] = {}
    for name, value in values.items():
        QUANTITIES[name].put(point, value)
    return point


def base() -> dict[str, dict[str, float]]:
    """The published numbers; steps that are not published are made up from job times."""
    found = {case: dict(values) for case, values in PUBLISHED.items()}
    for load in LOADS:
        for balancer in BALANCERS:
            values = found[f"{load}, {balancer}"]
            for job in jobs_of(load):
                mean = values[job_time(job)] * 1000 / STEPS[job]
                tail = 1.01 if balancer == ADAPTIVE else 1.3
                for kind, factor in (("mean", 1.0), ("p95", tail), ("p99", tail + 0.01)):
                    values.setdefault(step(job, kind), mean * factor)
    return found


def results(changes: Sequence[Change] = ()) -> CaseResults:
    values = base()
    for load, balancer, quantity, value in changes:
        values[f"{load}, {balancer}"][quantity] = value
    return CaseResults({case: [statistics(one)] for case, one in values.items()})


def everywhere(loads: Sequence[str], balancer: str, quantity: str, value: float) -> list[Change]:
    return [(load, balancer, quantity, value) for load in loads]


def jobs(load: str, balancer: str, seconds: float) -> list[Change]:
    return [(load, balancer, job_time(job), seconds) for job in jobs_of(load)]


# What turns the verdict on a statement around, by its place; most of them hold with the published numbers.
TURNED: Sequence[list[Change]] = (
    jobs(HEAVY_1, ADAPTIVE, 9.4),
    jobs(HEAVY_8, FLOWLET, 15.0),
    everywhere(HEAVY_LOADS, ADAPTIVE, job_time(HEAVY), 2.0),
    jobs(MIXED_1, ADAPTIVE, 5.2),
    jobs(MIXED_FAILED, ECMP, 25.0),
    [*jobs(MIXED_4, FLOWLET, 5.3), *jobs(MIXED_FAILED, FLOWLET, 5.9)],
    jobs(MIXED_FAILED, FLOWLET, 19.5),
    [change for load in MIXED_LOADS for change in jobs(load, ADAPTIVE, 2.0)],
    [(HEAVY_8, ECMP, step(HEAVY, "p95"), 1390.0)],
    [(MIXED_1, ECMP, step(PIPELINE, "p95"), 26.0)],
    [(MIXED_2, ADAPTIVE, step(TENSOR, "p95"), 22.0)],
    [(HEAVY_2, ADAPTIVE, mice("p95"), 11.0)],
    [(HEAVY_8, ADAPTIVE, mice("mean"), 10.0)],
    [(HEAVY_FAILED, FLOWLET, mice("p95"), 17.0)],
    [change for what in ("mean", "p95") for name in BALANCERS for change in [(MIXED_1, name, mice(what), 0.1)]],
    [(MIXED_2, FLOWLET, mice("mean"), 0.5), (MIXED_4, FLOWLET, mice("mean"), 1.0)],
    [(MIXED_4, ECMP, mice("p99"), 6.0)],
    [(MIXED_4, ECMP, NODE_PEAK, 2000)],
    [(MIXED_1, FLOWLET, NODE_PEAK, 1500)],
    [(MIXED_FAILED, ADAPTIVE, NODE_PEAK, 2500)],
    [(HEAVY_8, FLOWLET, NODE_PEAK, 1500)],
    [(HEAVY_FAILED, ADAPTIVE, NODE_PEAK, 300)],
    [(MIXED_4, ADAPTIVE, step(PIPELINE, "p99"), 90.0)],
    [*jobs(HEAVY_FAILED, ADAPTIVE, 7.6), *jobs(MIXED_FAILED, ADAPTIVE, 2.5)],
    jobs(HEAVY_FAILED, ADAPTIVE, 69.01),
)


def verdict(number: int, changes: Sequence[Change] = ()) -> ClaimVerdict:
    return STATEMENTS[number].check(results(changes))


def test_every_statement_has_numbers_that_turn_it() -> None:
    assert len(TURNED) == len(STATEMENTS)


@pytest.mark.parametrize("number", range(len(STATEMENTS)))
def test_the_verdict_on_a_statement_follows_the_numbers(number: int) -> None:
    outcomes = [verdict(number).outcome, verdict(number, TURNED[number]).outcome]
    assert sorted(outcomes) == ["does not hold", "holds"], STATEMENTS[number].text
    assert "With the published numbers " in verdict(number).shown


def test_claims_about_the_whole_run_give_the_reason_where_they_fail() -> None:
    found = [one for one in checked(STUDY, results()) if one.verdict and one.verdict.outcome != "holds"]
    assert sum("whole run" in one.reason for one in found) == 5


# A number that is out of what each claim of reproduction allows.
MISSES: Sequence[Change] = (
    (MIXED_4, ECMP, PACKETS, 38_732_324),
    (HEAVY_2, ADAPTIVE, job_time(HEAVY), 2.585 * 1.011),
    (MIXED_4, FLOWLET, job_time(PIPELINE), 10.394 * 1.06),
    (HEAVY_1, ADAPTIVE, step(HEAVY, "mean"), 34.87 / 1.06),
    (MIXED_1, ECMP, step(TENSOR, "p95"), 44.5 * 1.06),
    (HEAVY_1, ADAPTIVE, LONGEST, 28),
    (HEAVY_FAILED, ECMP, NODE_PEAK, 2300),
    (MIXED_1, ADAPTIVE, mice("mean"), 0.07),
    (MIXED_1, ADAPTIVE, mice("p95"), 0.05),
    (MIXED_1, ADAPTIVE, mice("p99"), 1.3),
)


@pytest.mark.parametrize("number", range(len(REPRODUCTION)))
def test_a_row_that_misses_is_named(number: int) -> None:
    claim, (load, balancer, quantity, _) = REPRODUCTION[number], MISSES[number]
    good = claim.check(results())
    assert good.outcome == "holds"
    count = good.shown.split(" of ")[1].removesuffix(".")
    missed = claim.check(results([MISSES[number]]))
    assert missed.outcome != "holds"
    assert missed.shown.startswith(f"{int(count) - 1} of {count}; {f'{load}, {balancer}'}, {quantity}: ")


def test_a_range_over_seeds_is_widened_at_both_ends() -> None:
    points = {name: list(one) for name, one in results().points.items()}
    name = f"{HEAVY_1}, {ECMP}"
    for seconds in (9.396 * 1.04, 9.396 * 1.2):
        values = {**base()[f"{HEAVY_1}, {ECMP}"], job_time(HEAVY): seconds}
        points[name] = [statistics(values), *points[name][:1]]
        assert REPRODUCTION[2].check(CaseResults(points)).outcome == "holds"
    points[name] = points[name][:1]
    assert REPRODUCTION[2].check(CaseResults(points)).outcome != "holds"


def test_published_packets_are_those_of_flows_and_mice() -> None:
    mice = 25_123
    for load in LOADS:
        if load.startswith("heavy"):
            expected = 50 * 8 * 1984 * 4 * int(load.split()[1].strip("x,"))
        else:
            tensor = 16 * 15 * 16 * 2 + 480 * 32
            pipeline = 96 * 64 + 480 * 64
            expected = (100 * tensor + 200 * pipeline) * int(load.split()[1].strip("x,"))
        for balancer in BALANCERS:
            assert PUBLISHED[f"{load}, {balancer}"][PACKETS] == expected + mice


def test_published_numbers_agree_with_each_other() -> None:
    for load in LOADS:
        for balancer in BALANCERS:
            values = PUBLISHED[f"{load}, {balancer}"]
            for job in jobs_of(load):
                mean = values.get(step(job, "mean"))
                if mean is not None:
                    # Three digits are published.
                    assert mean * STEPS[job] / 1000 == pytest.approx(values[job_time(job)], rel=0.003)
                    assert mean <= values[step(job, "p95")]
            assert values[mice("p95")] <= values[mice("p99")]
            assert values[NODE_PEAK] <= values[LONGEST]
    assert len([row for row in STUDY.published if row.value is not None]) == 24 * 7 + 12 * 2 + 12 + 8 + 6


def test_larger_loads_take_longer_in_the_published_table() -> None:
    for loads in (HEAVY_LOADS, MIXED_LOADS):
        for balancer in BALANCERS:
            for job in jobs_of(loads[0]):
                times = [PUBLISHED[f"{load}, {balancer}"][job_time(job)] for load in loads]
                # Flowlets and ECMP are one and the same in heavy: other seeds.
                assert times == sorted(times)


def test_the_fabric_is_the_source_s() -> None:
    points, _ = study_points(read_study("scale-unit", StudyOptions(seeds=1)), Path())
    assert len(points) == 24 + 7 + 24
    fabric = points[0].fabric
    assert fabric.link_count == 2 * 512
    assert int((fabric.tier == HOST).sum()) == 32


def test_seeds_are_those_of_the_notes() -> None:
    seeds = {case.name: case.scenario["seeds"] for case in STUDY.cases}
    assert [seeds[f"{load}, {ADAPTIVE}"] for load in LOADS] == [10, 2, 2, 3, 1, 1, 1, 1]
    assert [seeds[f"{load}, {ECMP}"] for load in LOADS] == [10] * 4 + [1] * 4


def test_figures_show_what_was_simulated() -> None:
    assert len(STUDY.figures(results())) == 12
    some = CaseResults({name: found for name, found in results().points.items() if name.startswith("heavy x1")})
    assert {figure.name for figure in STUDY.figures(some)} == {
        "figure-4",
        "figure-6a",
        "figure-7a",
        "figure-8-heavy",
        "figure-9-heavy",
    }


@needs_compiler
@pytest.mark.long
def test_the_quick_study_gives_the_published_numbers() -> None:
    study = read_study("scale-unit", StudyOptions(quick=True))
    found = simulated(study)
    rows = {(row.published.case, row.published.quantity): row for row in compared(study, found)}
    assert len(rows) == 3 * 11
    verdicts = {one.text: one.verdict for one in checked(study, found)}
    for claim in REPRODUCTION:
        of_claim = verdicts[claim.text]
        assert of_claim is not None
        # Tails of steps and mice differ more from seed to seed.
        if not any(word in claim.text for word in ("mice", "p95")):
            assert of_claim.outcome == "holds", of_claim.shown
    # The source's figures have the length of the run in place of the job's.
    same = verdicts[STATEMENTS[0].text]
    assert same is not None
    assert same.outcome != "holds"
    assert "whole runs: ECMP 10, flowlet 10, adaptive 10." in same.shown
    ecmp, flowlet = (rows[f"{HEAVY_1}, {name}", job_time(HEAVY)].ours for name in (ECMP, FLOWLET))
    assert ecmp == flowlet
    assert sum(one is None for one in verdicts.values()) == len(STUDY.claims) - len(REPRODUCTION) - 1
