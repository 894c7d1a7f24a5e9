"""The scale unit: published numbers, claims both ways, all scenarios, and the quick study for real."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ailb_gen.sim.fabric import HOST
from ailb_gen.sim.point import simulate
from ailb_gen.study.catalog.scale_unit import scale_unit
from ailb_gen.study.catalog.scale_unit_checks import ADAPTIVE, ECMP, FLOWLET
from ailb_gen.study.catalog.scale_unit_claims import CLAIMS, REPRODUCTION, STATEMENTS
from ailb_gen.study.catalog.scale_unit_figures import figures
from ailb_gen.study.catalog.scale_unit_later import later_cases
from ailb_gen.study.catalog.scale_unit_published import (
    BALANCERS,
    HEAVY,
    HEAVY_1,
    HEAVY_2,
    HEAVY_8,
    HEAVY_FAILED,
    HEAVY_LOADS,
    JOB_TIME,
    LOADS,
    LONGEST,
    MICE,
    MIXED_1,
    MIXED_2,
    MIXED_4,
    MIXED_FAILED,
    MIXED_LOADS,
    NODE_PEAK,
    PACKETS,
    PIPELINE,
    STEP,
    TENSOR,
    Load,
    case_name,
    jobs_of,
    published_values,
    statistics_of,
)
from ailb_gen.study.model import Findings, Options, Quantity, Verdict
from ailb_gen.study.points import study_points
from ailb_gen.study.rows import checked, compared
from tests.sim.engine.cases import needs_compiler

STEPS = {HEAVY: 50, TENSOR: 100, PIPELINE: 200}
Change = tuple[Load, str, Quantity, float]
Values = dict[tuple[Load, str], dict[str, float]]


def base() -> Values:
    """The published numbers; steps that are not published are made up from job times."""
    found: Values = {}
    for load in LOADS:
        for balancer in BALANCERS:
            values = dict(published_values(load, balancer))
            for job in jobs_of(load):
                mean = values[JOB_TIME[job].name] * 1000 / STEPS[job]
                tail = 1.01 if balancer == ADAPTIVE else 1.3
                for what, factor in (("mean", 1.0), ("p95", tail), ("p99", tail + 0.01)):
                    values.setdefault(STEP[job, what].name, mean * factor)
            found[load, balancer] = values
    return found


def findings(changes: Sequence[Change] = ()) -> Findings:
    values = base()
    for load, balancer, quantity, value in changes:
        values[load, balancer][quantity.name] = value
    return Findings({case_name(*key): [statistics_of(key[0], one)] for key, one in values.items()})


def everywhere(loads: Sequence[Load], balancer: str, quantity: Quantity, value: float) -> list[Change]:
    return [(load, balancer, quantity, value) for load in loads]


def jobs(load: Load, balancer: str, seconds: float) -> list[Change]:
    return [(load, balancer, JOB_TIME[job], seconds) for job in jobs_of(load)]


# What turns the verdict on a statement around, by its place; most of them hold with the published numbers.
TURNED: Sequence[list[Change]] = (
    jobs(HEAVY_1, ADAPTIVE, 9.4),
    jobs(HEAVY_8, FLOWLET, 15.0),
    everywhere(HEAVY_LOADS, ADAPTIVE, JOB_TIME[HEAVY], 2.0),
    jobs(MIXED_1, ADAPTIVE, 5.2),
    jobs(MIXED_FAILED, ECMP, 25.0),
    [*jobs(MIXED_4, FLOWLET, 5.3), *jobs(MIXED_FAILED, FLOWLET, 5.9)],
    jobs(MIXED_FAILED, FLOWLET, 19.5),
    [change for load in MIXED_LOADS for change in jobs(load, ADAPTIVE, 2.0)],
    [(HEAVY_8, ECMP, STEP[HEAVY, "p95"], 1390.0)],
    [(MIXED_1, ECMP, STEP[PIPELINE, "p95"], 26.0)],
    [(MIXED_2, ADAPTIVE, STEP[TENSOR, "p95"], 22.0)],
    [(HEAVY_2, ADAPTIVE, MICE["p95"], 11.0)],
    [(HEAVY_8, ADAPTIVE, MICE["mean"], 10.0)],
    [(HEAVY_FAILED, FLOWLET, MICE["p95"], 17.0)],
    [change for what in ("mean", "p95") for name in BALANCERS for change in [(MIXED_1, name, MICE[what], 0.1)]],
    [(MIXED_2, FLOWLET, MICE["mean"], 0.5), (MIXED_4, FLOWLET, MICE["mean"], 1.0)],
    [(MIXED_4, ECMP, MICE["p99"], 6.0)],
    [(MIXED_4, ECMP, NODE_PEAK, 2000)],
    [(MIXED_1, FLOWLET, NODE_PEAK, 1500)],
    [(MIXED_FAILED, ADAPTIVE, NODE_PEAK, 2500)],
    [(HEAVY_8, FLOWLET, NODE_PEAK, 1500)],
    [(HEAVY_FAILED, ADAPTIVE, NODE_PEAK, 300)],
    [(MIXED_4, ADAPTIVE, STEP[PIPELINE, "p99"], 90.0)],
    [*jobs(HEAVY_FAILED, ADAPTIVE, 7.6), *jobs(MIXED_FAILED, ADAPTIVE, 2.5)],
    jobs(HEAVY_FAILED, ADAPTIVE, 69.01),
)


def verdict(number: int, changes: Sequence[Change] = ()) -> Verdict:
    return STATEMENTS[number].check(findings(changes))


def test_every_statement_has_numbers_that_turn_it() -> None:
    assert len(TURNED) == len(STATEMENTS)


@pytest.mark.parametrize("number", range(len(STATEMENTS)))
def test_the_verdict_on_a_statement_follows_the_numbers(number: int) -> None:
    assert verdict(number).holds is not verdict(number, TURNED[number]).holds, STATEMENTS[number].text
    assert "With the published numbers " in verdict(number).shown


def test_claims_about_the_whole_run_give_the_reason_where_they_fail() -> None:
    found = [one for one in checked(scale_unit(Options()), findings()) if one.verdict and not one.verdict.holds]
    assert sum("whole run" in one.reason for one in found) == 5


# A number that is out of what each claim of reproduction allows.
MISSES: Sequence[Change] = (
    (MIXED_4, ECMP, PACKETS, 38_732_324),
    (HEAVY_2, ADAPTIVE, JOB_TIME[HEAVY], 2.585 * 1.011),
    (MIXED_4, FLOWLET, JOB_TIME[PIPELINE], 10.394 * 1.06),
    (HEAVY_1, ADAPTIVE, STEP[HEAVY, "mean"], 34.87 / 1.06),
    (MIXED_1, ECMP, STEP[TENSOR, "p95"], 44.5 * 1.06),
    (HEAVY_1, ADAPTIVE, LONGEST, 28),
    (HEAVY_FAILED, ECMP, NODE_PEAK, 2300),
    (MIXED_1, ADAPTIVE, MICE["mean"], 0.07),
    (MIXED_1, ADAPTIVE, MICE["p95"], 0.05),
    (MIXED_1, ADAPTIVE, MICE["p99"], 1.3),
)


@pytest.mark.parametrize("number", range(len(REPRODUCTION)))
def test_a_row_that_misses_is_named(number: int) -> None:
    claim, (load, balancer, quantity, _) = REPRODUCTION[number], MISSES[number]
    good = claim.check(findings())
    assert good.holds
    count = good.shown.split(" of ")[1].removesuffix(".")
    missed = claim.check(findings([MISSES[number]]))
    assert not missed.holds
    assert missed.shown.startswith(f"{int(count) - 1} of {count}; {case_name(load, balancer)}, {quantity.name}: ")


def test_a_range_over_seeds_is_widened_at_both_ends() -> None:
    points = {name: list(one) for name, one in findings().points.items()}
    name = case_name(HEAVY_1, ECMP)
    for seconds in (9.396 * 1.04, 9.396 * 1.2):
        values = {**base()[HEAVY_1, ECMP], JOB_TIME[HEAVY].name: seconds}
        points[name] = [statistics_of(HEAVY_1, values), *points[name][:1]]
        assert REPRODUCTION[2].check(Findings(points)).holds
    points[name] = points[name][:1]
    assert not REPRODUCTION[2].check(Findings(points)).holds


def test_published_packets_are_those_of_flows_and_mice() -> None:
    mice = 25_123
    for load in LOADS:
        if load.workload == "heavy":
            expected = 50 * 8 * 1984 * 4 * load.scale
        else:
            tensor = 16 * 15 * 16 * 2 + 480 * 32
            pipeline = 96 * 64 + 480 * 64
            expected = (100 * tensor + 200 * pipeline) * load.scale
        for balancer in BALANCERS:
            assert published_values(load, balancer)[PACKETS.name] == expected + mice


def test_published_numbers_agree_with_each_other() -> None:
    for load in LOADS:
        for balancer in BALANCERS:
            values = published_values(load, balancer)
            for job in jobs_of(load):
                mean = values.get(STEP[job, "mean"].name)
                if mean is not None:
                    # Three digits are published.
                    assert mean * STEPS[job] / 1000 == pytest.approx(values[JOB_TIME[job].name], rel=0.003)
                    assert mean <= values[STEP[job, "p95"].name]
            assert values[MICE["p95"].name] <= values[MICE["p99"].name]
            assert values[NODE_PEAK.name] <= values[LONGEST.name]
    assert (
        len([row for row in scale_unit(Options()).published if row.value is not None]) == 24 * 7 + 12 * 2 + 12 + 8 + 6
    )


def test_larger_loads_take_longer_in_the_published_table() -> None:
    for loads in (HEAVY_LOADS, MIXED_LOADS):
        for balancer in BALANCERS:
            for job in jobs_of(loads[0]):
                times = [published_values(load, balancer)[JOB_TIME[job].name] for load in loads]
                # Flowlets and ECMP are one and the same in heavy: other seeds.
                assert times == sorted(times)


def test_all_scenarios_of_the_full_study_are_valid() -> None:
    study = scale_unit(Options(seeds=1))
    points, warnings = study_points(study, Path())
    assert [point.variant for point in points] == [case.name for case in study.cases]
    assert len(study.cases) == 24 + len(later_cases(1))
    assert warnings == []
    published = points[0].fabric
    assert published.link_count == 2 * 512
    assert int((published.tier == HOST).sum()) == 32


def test_seeds_are_those_of_the_table_or_of_the_option() -> None:
    seeds = {case.name: case.scenario["seeds"] for case in scale_unit(Options()).cases}
    assert seeds[case_name(HEAVY_1, ECMP)] == 10
    assert all(isinstance(count, int) and count >= 1 for count in seeds.values())
    assert {case.scenario["seeds"] for case in scale_unit(Options(seeds=2)).cases} == {2}


def test_every_row_names_a_case_and_a_quantity() -> None:
    study = scale_unit(Options())
    cases, quantities = {case.name for case in study.cases}, {one.name for one in study.quantities}
    assert {row.case for row in study.published} == cases
    assert {row.quantity for row in study.published} <= quantities
    assert len(quantities) == len(study.quantities)
    rows: Mapping[str, list[str]] = defaultdict(list)
    for row in study.published:
        rows[row.case].append(row.quantity)
    assert all(len(found) == len(set(found)) for found in rows.values())


def test_figures_show_what_was_simulated() -> None:
    assert len(figures(findings())) == 12
    some = Findings({name: found for name, found in findings().points.items() if name.startswith("heavy x1")})
    assert {figure.name for figure in figures(some)} == {
        "figure-4",
        "figure-6a",
        "figure-7a",
        "figure-8-heavy",
        "figure-9-heavy",
    }


@needs_compiler
@pytest.mark.long
def test_the_quick_study_gives_the_published_numbers() -> None:
    study = scale_unit(Options(quick=True))
    points, _ = study_points(study, Path())
    found = Findings({point.variant: [simulate(point, tables=False).statistics] for point in points})
    rows = {(row.published.case, row.published.quantity): row for row in compared(study, found)}
    assert len(rows) == 3 * 11
    verdicts = {one.text: one.verdict for one in checked(study, found)}
    for claim in REPRODUCTION:
        of_claim = verdicts[claim.text]
        assert of_claim is not None
        # Tails of steps and mice differ more from seed to seed.
        if not any(word in claim.text for word in ("mice", "p95")):
            assert of_claim.holds, of_claim.shown
    # The source's figures have the length of the run in place of the job's.
    same = verdicts[STATEMENTS[0].text]
    assert same is not None
    assert not same.holds
    assert "whole runs: ECMP 10, flowlet 10, adaptive 10." in same.shown
    ecmp, flowlet = (rows[case_name(HEAVY_1, name), JOB_TIME[HEAVY].name].ours for name in (ECMP, FLOWLET))
    assert ecmp == flowlet
    assert sum(one is None for one in verdicts.values()) == len(CLAIMS) - len(REPRODUCTION) - 1
