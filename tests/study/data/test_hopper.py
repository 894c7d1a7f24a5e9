"""Hopper: claims both ways, flow sizes against the shared ones, all scenarios, and the quick study for real."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from ailb_gen.sim.traffic.arrivals import read_size_distribution
from ailb_gen.study.catalog import FOLDER, read_study
from ailb_gen.study.model import CaseResults, StudyOptions
from ailb_gen.study.points import study_points
from ailb_gen.study.rows import checked
from tests.conftest import need_shared
from tests.sim.engine.cases import needs_compiler
from tests.study.made import simulated

STUDY = read_study("hopper", StudyOptions())
CLAIMS = STUDY.claims
FILE = FOLDER / "flow-sizes.json"
TRAFFIC = ("AliStorage", "Hadoop", "ML training")
LOADS = (50, 80)
BALANCERS = ("ECMP", "FlowBender", "Hopper", "CONGA", "ConWeave", "random spray")
BDP = 104_000
EDGES = (2_000, 4_000, 8_000, 16_000, 49_000, BDP, 266_000, 1_000_000, 2_000_000, 5_000_000)
# Slowdowns in relation to Hopper's, mean and p99, as the source has them: by load balancer, traffic and load.
FACTORS: dict[tuple[str, str, int], tuple[float, float]] = {
    **{("FlowBender", "Hadoop", load): (1 / 0.922, 1 / 0.804) for load in LOADS},
    **{("FlowBender", "ML training", load): (1 / 0.8, 1 / 0.86) for load in LOADS},
    ("FlowBender", "AliStorage", 50): (1 / 0.81, 1 / 0.92),
    ("FlowBender", "AliStorage", 80): (1 / 0.9, 1.03),
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
    edges = (*EDGES, None)
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
            row["mean"] = 2 / (0.94 if row["edge"] is not None and row["edge"] <= BDP else 0.81)
    return found


def turned_around(balancer: str, traffic: str, load: int) -> dict[str, Any]:
    if balancer == "Hopper":
        return about(2, 5, 10_000)
    ahead = traffic == "ML training" and load == 80 and balancer == "CONGA"
    return about(4 if ahead else 1, 2.5, OUT_OF_ORDER.get(balancer, 0))


def results(
    slow: Callable[[str, str, int], dict[str, Any]],
    testbed: Mapping[tuple[str, int], tuple[float, float, float, tuple[float, float, float]]],
    swept: float,
) -> CaseResults:
    found = {
        f"{traffic} {load} %, {balancer}": [slow(balancer, traffic, load)]
        for traffic in TRAFFIC
        for load in LOADS
        for balancer in BALANCERS
    }
    found |= {case.name: [about(swept, swept)] for case in STUDY.cases if case.name.startswith("Hopper, ")}
    found["Hopper, Table 1"] = [about(2, 2)]
    found |= {
        f"testbed, chunks of {chunk} MB, {name}": [on_testbed(*values)] for (name, chunk), values in testbed.items()
    }
    return CaseResults(found)


PUBLISHED = results(as_published, TESTBED, 2.0)
TURNED = results(turned_around, REVERSED, 1.0)


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.text for claim in CLAIMS])
def test_a_claim_holds_with_the_published_numbers_and_not_with_others(claim: Any) -> None:
    assert claim.check(PUBLISHED).outcome == "holds", claim.check(PUBLISHED).shown
    assert claim.check(TURNED).outcome != "holds", claim.check(TURNED).shown


def test_bins_with_few_flows_do_not_count() -> None:
    changed = {name: json.loads(json.dumps(points)) for name, points in PUBLISHED.points.items()}
    case = "Hadoop 80 %, Hopper"
    changed[case][0]["extras"]["sizes"][0] |= {"flows": 99, "p99": 1e9}
    (claim,) = [
        claim for claim in CLAIMS if claim.text.startswith("Hadoop: Hopper outperforms FlowBender in every bin")
    ]
    assert claim.check(CaseResults(changed)).outcome == "holds"
    changed[case][0]["extras"]["sizes"][0]["flows"] = 100
    assert claim.check(CaseResults(changed)).outcome != "holds"


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


def test_fabrics_are_those_of_the_source() -> None:
    points, _ = study_points(read_study("hopper", StudyOptions(seeds=1)), FOLDER)
    assert len(points) == 36 + 3 + 22 + 6
    large = points[0].fabric
    assert (large.host_count, large.link_count) == (128, 2 * (128 + 64))
    assert points[-1].fabric.host_count == 8


def test_loads_are_of_uplinks_with_half_the_rate_of_the_nics() -> None:
    for load in LOADS:
        scenario = next(case.scenario for case in STUDY.cases if case.name == f"Hadoop {load} %, ECMP")
        share, clos = scenario["traffic"][0]["arrivals"]["load"], scenario["fabric"]["clos"]
        assert float(share.rstrip("%")) * clos["hosts_per_leaf"] / clos["spines"] == load


def test_of_the_platform_ecmp_is_worst_and_conweave_best() -> None:
    known = [row.value for row in STUDY.published if row.value is not None]
    ecmp, conga, conweave = zip(known[::2], known[1::2], strict=True)
    assert ecmp > conga > conweave
    assert all(mean < p99 for mean, p99 in (ecmp, conga, conweave))


def test_figures_show_what_was_simulated() -> None:
    names = {figure.name for figure in STUDY.figures(PUBLISHED)}
    assert len(names) == 12 + 8 + 2
    some = CaseResults({name: found for name, found in PUBLISHED.points.items() if name.startswith("Hadoop 80")})
    assert {figure.name for figure in STUDY.figures(some)} == {"hadoop-80-mean", "hadoop-80-p99"}
    assert STUDY.figures(CaseResults({})) == []


@needs_compiler
@pytest.mark.long
def test_the_quick_study_confirms_what_it_is_about() -> None:
    study = read_study("hopper", StudyOptions(quick=True))
    verdicts = {one.text: one.verdict for one in checked(study, simulated(study))}
    for text in (
        "AliStorage, 50 %: Hopper is between ECMP and ConWeave above one BDP, in mean and p99",
        "Testbed, 1 MB: Hopper uses the slow links less than FlowBender",
        "Testbed, 1 MB: Hopper is faster than FlowBender in mean, p95 and p99",
        "Testbed, 1 MB: training takes 715 s with Hopper in place of 1080 s with FlowBender",
        "Testbed, 1 MB: Hopper trains faster than FlowBender, and that faster than ECMP",
    ):
        verdict = verdicts[text]
        assert verdict is not None
        assert verdict.outcome == "holds", f"{text}: {verdict.shown}"
