"""Hopper: claims both ways, flow sizes against the shared ones, all scenarios, and the quick study for real."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ailb_gen.sim.point import simulate
from ailb_gen.sim.traffic.arrivals import read_size_distribution
from ailb_gen.study.catalog import hopper_cases as cases
from ailb_gen.study.catalog.hopper import PLATFORM, hopper
from ailb_gen.study.catalog.hopper_claims import claims
from ailb_gen.study.catalog.hopper_figures import figures
from ailb_gen.study.catalog.hopper_testbed import claims as claims_of_testbed
from ailb_gen.study.catalog.hopper_text import REASONS
from ailb_gen.study.model import Findings, Options
from ailb_gen.study.points import study_points
from ailb_gen.study.rows import checked
from tests.conftest import need_shared
from tests.sim.engine.cases import needs_compiler

CLAIMS = (*claims(), *claims_of_testbed())
FILE = Path(cases.__file__).parent / cases.SIZES_FILE
# Slowdowns in relation to Hopper's, mean and p99, as the source has them: by load balancer, traffic and load.
FACTORS: dict[tuple[str, str, int], tuple[float, float]] = {
    **{("FlowBender", "Hadoop", load): (1 / 0.922, 1 / 0.804) for load in cases.LOADS},
    **{("FlowBender", "ML training", load): (1 / 0.8, 1 / 0.86) for load in cases.LOADS},
    ("FlowBender", "AliStorage", 50): (1 / 0.81, 1 / 0.92),
    ("FlowBender", "AliStorage", 80): (1 / 0.9, 1.01),
    ("CONGA", "Hadoop", 50): (1.05, 1.05),
    ("CONGA", "Hadoop", 80): (1.0, 1.05),
    ("CONGA", "ML training", 50): (1 / 0.9, 1 / 0.77),
    ("CONGA", "ML training", 80): (0.9, 0.9),
    ("CONGA", "AliStorage", 50): (1.05, 1 / 0.84),
    ("CONGA", "AliStorage", 80): (1.05, 1.05),
}
USUAL = {"ECMP": (1.5, 1.5), "Hopper": (1.0, 1.0), "ConWeave": (0.97, 0.97), "random spray": (0.9, 0.9)}
OUT_OF_ORDER = {"Hopper": 10, "FlowBender": 100, "random spray": 1000}
# Testbed, by load balancer and chunk: load of slow and fast links, training time, flow times.
TESTBED = {
    ("Hopper", 1): (0.10, 0.54, 715, (55.0, 38.1, 22.8)),
    ("FlowBender", 1): (0.20, 0.40, 1080, (100.0, 100.0, 100.0)),
    ("ECMP", 1): (0.4, 0.1, 3000, (400.0, 400.0, 400.0)),
    ("Hopper", 10): (0.15, 0.45, 890, (80.0, 80.0, 100.0)),
    ("FlowBender", 10): (0.30, 0.40, 1320, (100.0, 100.0, 100.0)),
    ("ECMP", 10): (0.4, 0.1, 2900, (300.0, 300.0, 300.0)),
}
REVERSED = {
    ("Hopper", 1): (0.30, 0.40, 1080, (100.0, 100.0, 100.0)),
    ("FlowBender", 1): (0.20, 0.50, 715, (55.0, 38.0, 22.0)),
    ("ECMP", 1): (0.4, 0.1, 100, (400.0, 400.0, 400.0)),
    ("Hopper", 10): (0.25, 0.30, 1320, (60.0, 60.0, 50.0)),
    ("FlowBender", 10): (0.15, 0.50, 890, (100.0, 100.0, 100.0)),
    ("ECMP", 10): (0.4, 0.1, 100, (400.0, 400.0, 400.0)),
}


def about(mean: float, p99: float, late: int = 0, moves: int = 10) -> dict[str, Any]:
    """The statistics of a point on 128 servers, the same for all sizes."""
    both = {"flows": 1000, "mean": mean, "p99": p99}
    edges = (*cases.EDGES, None)
    return {
        "flows": {"poisson": {"slowdown": both, "out_of_order": late, "rerouted": moves}},
        "jobs": {},
        "extras": {"bdp": [both, both], "sizes": [{"edge": edge, **both} for edge in edges]},
    }


def on_testbed(slow: float, fast: float, seconds: float, times: tuple[float, float, float]) -> dict[str, Any]:
    return {
        "flows": {"permutation": {"fct_us": dict(zip(("mean", "p95", "p99"), times, strict=True))}},
        "jobs": {"permutation": {"time_us": seconds * 1e6}},
        "extras": {"uplinks": {"1": slow, "10": fast}, "cdf": [1.0, 2.0, 3.0]},
    }


def as_published(balancer: str, traffic: str, load: int) -> dict[str, Any]:
    factors = FACTORS.get((balancer, traffic, load)) or USUAL[balancer]
    found = about(2 * factors[0], 5 * factors[1], OUT_OF_ORDER.get(balancer, 0))
    if (balancer, traffic, load) == ("FlowBender", "AliStorage", 50):
        for row in found["extras"]["sizes"]:
            row["mean"] = 2 / (0.94 if row["edge"] is not None and row["edge"] <= cases.BDP else 0.81)
    return found


def turned_around(balancer: str, traffic: str, load: int) -> dict[str, Any]:
    if balancer == "Hopper":
        return about(2, 5, 10_000)
    ahead = traffic == "ML training" and load == 80 and balancer == "CONGA"
    return about(4 if ahead else 1, 2.5, OUT_OF_ORDER.get(balancer, 0))


def findings(
    slow: Callable[[str, str, int], dict[str, Any]],
    testbed: Mapping[tuple[str, int], tuple[float, float, float, tuple[float, float, float]]],
    swept: float,
) -> Findings:
    found = {
        cases.case_name(traffic, load, balancer): [slow(balancer, traffic, load)]
        for traffic in cases.TRAFFIC
        for load in cases.LOADS
        for balancer in cases.BALANCERS
    }
    found |= {case.name: [about(swept, swept)] for case in cases.sweep(1)}
    found[f"Hopper, {cases.TABLE_1}"] = [about(2, 2)]
    found |= {cases.testbed_name(*key): [on_testbed(*values)] for key, values in testbed.items()}
    return Findings(found)


PUBLISHED = findings(as_published, TESTBED, 2.0)
TURNED = findings(turned_around, REVERSED, 1.0)


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.text for claim in CLAIMS])
def test_a_claim_holds_with_the_published_numbers_and_not_with_others(claim: Any) -> None:
    assert claim.check(PUBLISHED).holds, claim.check(PUBLISHED).shown
    assert not claim.check(TURNED).holds, claim.check(TURNED).shown


def test_reasons_are_of_claims() -> None:
    assert REASONS.keys() <= {claim.text for claim in CLAIMS}
    assert {claim.text: claim.reason for claim in hopper(Options()).claims if claim.reason} == REASONS


def test_bins_with_few_flows_do_not_count() -> None:
    changed = {name: json.loads(json.dumps(points)) for name, points in PUBLISHED.points.items()}
    case = cases.case_name("Hadoop", 80, "Hopper")
    changed[case][0]["extras"]["sizes"][0] |= {"flows": 99, "p99": 1e9}
    (claim,) = [
        claim for claim in CLAIMS if claim.text.startswith("Hadoop: Hopper outperforms FlowBender in every bin")
    ]
    assert claim.check(Findings(changed)).holds
    changed[case][0]["extras"]["sizes"][0]["flows"] = 100
    assert not claim.check(Findings(changed)).holds


def test_flow_sizes_are_those_of_the_public_simulator() -> None:
    shared = json.loads(need_shared("sim/flow-size-cdfs.json").read_text())
    ours = json.loads(FILE.read_text())
    for name in ("AliStorage2019", "FbHdp2015"):
        assert ours[name] == shared[name]
    assert ours["sources"].keys() == ours.keys() - {"sources"}


def test_sizes_of_ml_training_are_the_assumed_ones_over_16() -> None:
    sizes = read_size_distribution(FILE, FILE.name, "MlTraining16th")
    drawn, counts = np.unique(sizes.draw(100_000, np.random.default_rng(1)), return_counts=True)
    assert (drawn * 16).tolist() == [8_000_000, 32_000_000, 128_000_000, 256_000_000]
    assert counts / 100_000 == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=0.01)
    assert sizes.mean_bytes() * 16 == 64_000_000


def test_shares_that_the_source_tells_of_its_hadoop_sizes() -> None:
    sizes = read_size_distribution(FILE, FILE.name, "FbHdp2015")
    at = np.interp([2_000, 49_000, 266_000], sizes.size_bytes, sizes.percent)
    assert at[1] - at[0] < 15
    assert 100 - at[2] < 5.1


def test_all_scenarios_of_the_full_study_are_valid() -> None:
    study = hopper(Options(seeds=1))
    points, warnings = study_points(study, study.folder)
    assert [point.variant for point in points] == [case.name for case in study.cases]
    assert warnings == []
    assert len(points) == len({case.name for case in study.cases}) == 36 + 3 + 22 + 6
    large = points[0].fabric
    assert (large.host_count, large.link_count) == (128, 2 * (128 + 64))
    assert points[-1].fabric.host_count == 8


def test_loads_are_of_uplinks_with_half_the_rate_of_the_nics() -> None:
    scenario = cases.comparison(1)[0].scenario
    clos = scenario["fabric"]["clos"]
    for load, share in cases.LOADS.items():
        offered = float(share.rstrip("%")) * clos["hosts_per_leaf"] / clos["spines"]
        assert offered == load


def test_every_row_names_a_case_and_a_quantity() -> None:
    study = hopper(Options())
    assert {row.case for row in study.published} == {case.name for case in study.cases}
    assert {row.quantity for row in study.published} == {one.name for one in study.quantities}
    assert len({(row.case, row.quantity) for row in study.published}) == len(study.published)
    known = [row for row in study.published if row.value is not None]
    assert len(known) == 2 * len(PLATFORM)
    # ECMP is worst and ConWeave best, and a p99 is more than a mean.
    assert PLATFORM["ECMP"] > PLATFORM["CONGA"] > PLATFORM["ConWeave"]
    assert all(mean < p99 for mean, p99 in PLATFORM.values())


def test_seeds_are_those_of_the_option() -> None:
    assert {case.scenario["seeds"] for case in hopper(Options(seeds=4)).cases} == {4}
    assert {case.scenario["seeds"] for case in hopper(Options(quick=True)).cases} == {1}


def test_figures_show_what_was_simulated() -> None:
    names = {figure.name for figure in figures(PUBLISHED)}
    assert len(names) == 12 + 8 + 2
    some = Findings({name: found for name, found in PUBLISHED.points.items() if name.startswith("Hadoop 80")})
    assert {figure.name for figure in figures(some)} == {"hadoop-80-mean", "hadoop-80-p99"}
    assert figures(Findings({})) == []


@needs_compiler
@pytest.mark.long
def test_the_quick_study_confirms_what_it_is_about() -> None:
    study = hopper(Options(quick=True))
    points, _ = study_points(study, study.folder)
    found = Findings({point.variant: [simulate(point, tables=False).statistics] for point in points})
    verdicts = {one.text: one.verdict for one in checked(study, found)}
    for text in (
        "AliStorage, 50 %: Hopper is better than FlowBender above one BDP, in mean and p99",
        "AliStorage, 50 %: Hopper is between ECMP and ConWeave above one BDP, in mean and p99",
        "Testbed, 1 MB: Hopper uses the slow links less than FlowBender",
        "Testbed, 1 MB: Hopper is faster than FlowBender in mean, p95 and p99",
        "Testbed, 1 MB: training takes 715 s with Hopper in place of 1080 s with FlowBender",
        "Testbed, 1 MB: Hopper trains faster than FlowBender, and that faster than ECMP",
    ):
        verdict = verdicts[text]
        assert verdict is not None
        assert verdict.holds, f"{text}: {verdict.shown}"
