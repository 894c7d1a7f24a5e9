"""The study of DLB, GLB and RLB: its data, and every claim both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import yaml

from ailb_gen.study.catalog import read_study
from ailb_gen.study.model import CaseResults, Claim, Study, StudyOptions
from ailb_gen.study.points import folder_of, study_points
from tests.conftest import ROOT
from tests.study.made import holding, simulated

GLB = "GLB, quantization 20/50/80"
ONE, SEVERAL = "one queue pair", "four queue pairs"
NOWHERE, ONE_LINK, SPINE = "no link", "one link", "all links of a spine"
BACKGROUNDS = (0, 20, 40)
MODES = ("ECMP", "DLB flowlet", "DLB per packet")
STUDY = read_study("balancers", StudyOptions())
CLAIMS = STUDY.claims


def point(
    gbytes: float | None = 388.0, time_us: float | None = 1000.0, marks: int = 0, pauses: int = 0, unordered: int = 0
) -> dict[str, Any]:
    return {
        "jobs": {"all-reduce": {"bus_bandwidth": gbytes, "time_us": time_us}},
        "flows": {
            "all-reduce": {"marked": marks, "out_of_order": unordered},
            "background": {"marked": 99, "out_of_order": 99},
        },
        "links": {"leaf to spine": {"pauses": pauses}, "spine to leaf": {"pauses": 0}},
        "extras": {},
    }


def runs(*values: float) -> list[dict[str, Any]]:
    return [point(value) for value in values]


def with_extra(pattern: str, links: str, **loaded: float) -> CaseResults:
    """CaseResults of figure 8: 400 GB/s without extra traffic, and these with it."""
    names = {"ecmp": "ECMP", "dlb": "DLB flowlet", "plain": "GLB", "tuned": GLB}
    found = {f"30 % extra on {NOWHERE}, {pattern}, {name}": runs(400.0) for name in names.values()}
    return CaseResults(
        found | {f"30 % extra on {links}, {pattern}, {names[key]}": runs(value) for key, value in loaded.items()}
    )


def jobs(*rows: Sequence[float]) -> CaseResults:
    """CaseResults of figure 4: job times in us by background load and mode."""
    return CaseResults(
        {
            f"DLRM, background {percent} %, {mode}": [point(time_us=time)]
            for percent, row in zip(BACKGROUNDS, rows, strict=False)
            for mode, time in zip(MODES, row, strict=True)
        }
    )


def under_load(*rows: Sequence[float]) -> CaseResults:
    return CaseResults(
        {
            f"background {percent} %, {mode}": runs(value)
            for percent, row in zip(BACKGROUNDS, rows, strict=True)
            for mode, value in zip(MODES, row, strict=True)
        }
    )


def uplinks(ecmp: Sequence[float], dlb: Sequence[float]) -> CaseResults:
    def of(sent: Sequence[float]) -> list[dict[str, Any]]:
        rates = {f"stripe1-leaf1:et-0/0/{port}:0": [0.0, rate] for port, rate in enumerate(sent)}
        return [point() | {"extras": {"uplinks": rates}}]

    return CaseResults({"DLRM, background 0 %, ECMP": of(ecmp), "DLRM, background 0 %, DLB flowlet": of(dlb)})


def steps(*times: float) -> CaseResults:
    ends = [[sum(times[: number + 1]), time] for number, time in enumerate(times)]
    return CaseResults({"failure, RLB": [point() | {"extras": {"steps": ends}}]})


def spread(**found: Sequence[Mapping[str, Any]]) -> CaseResults:
    names = {"ecmp": "ECMP", "dlb": "DLB flowlet", "rlb": "RLB"}
    return CaseResults({f"all-reduce, {names[key]}": points for key, points in found.items()})


# By a part of the text: results with which the claim holds, and some with which it does not.
BOTH: dict[str, tuple[CaseResults, list[CaseResults]]] = {
    "DLB in packet mode": (jobs([900, 504, 500]), [jobs([900, 506, 500]), jobs([900, 500, 500], [950, 520, 500])]),
    "Under ECMP the DLRM job": (
        jobs([9, 6, 5], [10, 6, 5], [12, 7, 6]),
        [jobs([9, 6, 5], [9, 6, 5], [12, 7, 6]), jobs([9, 6, 5], [10, 11, 5], [12, 7, 6])],
    ),
    "With background load": (
        under_load([200, 350, 380], [200, 340, 380], [150, 280, 380]),
        [under_load([200, 350, 380], [200, 340, 190], [150, 280, 380])],
    ),
    "DLB uses the uplinks": (uplinks([400, 100, 0, 300], [200, 200, 220, 180]), [uplinks([1, 1, 1, 1], [2, 1, 1, 0])]),
    f"{SPINE}, GLB keeps 95 %": (
        with_extra(ONE, SPINE, ecmp=200, dlb=350, plain=380),
        [with_extra(ONE, SPINE, ecmp=200, dlb=370, plain=380), with_extra(ONE, SPINE, ecmp=200, dlb=350, plain=370)],
    ),
    f"{SPINE}, {GLB} keeps 95 % of its bandwidth, and DLB and ECMP lose 10 % or more ({ONE}": (
        with_extra(ONE, SPINE, ecmp=200, dlb=350, tuned=380),
        [with_extra(ONE, SPINE, ecmp=390, dlb=350, tuned=380)],
    ),
    ONE_LINK: (
        with_extra(ONE, ONE_LINK, ecmp=200, dlb=350, tuned=380),
        [with_extra(ONE, ONE_LINK, ecmp=200, dlb=400, tuned=400)],
    ),
    SEVERAL: (
        with_extra(SEVERAL, SPINE, ecmp=200, dlb=350, tuned=380),
        [with_extra(SEVERAL, SPINE, ecmp=410, dlb=350, tuned=380)],
    ),
    "RLB: the same bus bandwidth": (
        spread(rlb=runs(388, 388)),
        [spread(rlb=runs(388, 387.9)), spread(rlb=runs(388)), spread(rlb=[point(None)])],
    ),
    "RLB: no congestion": (
        spread(rlb=runs(388, 388)),
        [spread(rlb=[point(marks=1)]), spread(rlb=[point(pauses=1)]), spread(rlb=[point(), point(unordered=1)])],
    ),
    "ECMP's runs differ": (spread(ecmp=runs(200, 250, 300)), [spread(ecmp=runs(201, 300))]),
    "DLB's runs are inside": (
        spread(ecmp=runs(200, 388), dlb=runs(350, 388)),
        [spread(ecmp=runs(200, 300), dlb=runs(250, 388)), spread(ecmp=runs(200, 388), dlb=runs(199, 388))],
    ),
    "DLB's bus bandwidth is below": (
        spread(rlb=runs(388, 388), dlb=runs(350, 388)),
        [spread(rlb=runs(388), dlb=runs(388, 388)), spread(rlb=runs(380), dlb=runs(300, 388))],
    ),
    "DLB gets a few": (
        spread(dlb=[point(marks=3), point(unordered=2)]),
        [spread(dlb=[point(marks=3)]), spread(dlb=[point(unordered=2)])],
    ),
    "When a link fails": (steps(10, 50, 10), [steps(10, 50, 11), steps(10, 10, 10)]),
}


def claim_of(part: str) -> Claim:
    (found,) = [one for one in CLAIMS if part in one.text]
    return found


def test_every_claim_is_tried() -> None:
    assert {claim_of(part).text for part in BOTH} == {one.text for one in CLAIMS}


@pytest.mark.parametrize("part", BOTH)
def test_a_claim_holds_or_does_not(part: str) -> None:
    claim, (good, bad) = claim_of(part), BOTH[part]
    assert claim.check(good).outcome == "holds"
    assert claim.check(good).shown
    for results in bad:
        assert claim.check(results).outcome != "holds"


def test_the_fabric_is_the_example() -> None:
    text = (ROOT / "examples" / "jvd" / "fabric.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(str(STUDY.intents["jvd"])) == yaml.safe_load(text)


@pytest.mark.parametrize("quick", [False, True])
def test_load_balancers_have_the_parameters_of_the_files(quick: bool) -> None:
    study = read_study("balancers", StudyOptions(quick=quick))
    with folder_of(study) as folder:
        points, _ = study_points(study, folder)
    for one in points:
        assert one.settings.switches.pfc
        assert one.settings.switches.ecn_min_bytes is not None
        if "inactivity" not in one.variant and one.settings.balancer.name in ("dlb", "glb", "rlb"):
            assert one.settings.balancer.parameters["inactivity_us"] == 128
            assert one.settings.balancer.parameters["quality_delta"] == 6


def test_published_numbers_are_the_source_s() -> None:
    found: dict[str, list[float]] = {}
    for row in STUDY.published:
        if row.value:
            found.setdefault(row.case, []).append(row.value)
    assert found == {
        "all-reduce, ECMP": [196, 263, 373],
        "all-reduce, DLB flowlet": [353, 373],
        "all-reduce, RLB": [373],
    }
    assert [row.case for row in STUDY.published if row.value == 0] == ["all-reduce, RLB"] * 3


def test_transport_and_congestion_control_are_the_same_but_for_packet_mode() -> None:
    for case in STUDY.cases:
        transport: dict[str, object] = {"timeout": "4ms"}
        if case.name.endswith("DLB per packet"):
            transport |= {"name": "selective-repeat", "reordering": 256}
        assert case.scenario["transport"] == transport
    assert {case.scenario["congestion"] for case in STUDY.cases} == {"dcqcn"}


def test_figures_are_of_what_was_simulated() -> None:
    assert STUDY.figures(CaseResults({})) == []
    found = {figure.name for figure in STUDY.figures(steps(10, 50, 10))}
    assert found == {"failure"}
    names = {figure.name for figure in STUDY.figures(uplinks([4, 1, 0, 3], [2, 2, 2, 2]))}
    assert names == {"dlrm", "uplinks-ecmp", "uplinks-dlb"}
    assert {figure.name for figure in STUDY.figures(spread(ecmp=runs(200, 388)))} == {"runs"}


@pytest.mark.long
def test_the_quick_study_for_real() -> None:
    study: Study = read_study("balancers", StudyOptions(quick=True))
    holding_here = holding(study, simulated(study))
    for part in (
        "DLB uses the uplinks",
        f"{SPINE}, {GLB} keeps 95 % of its bandwidth, and DLB and ECMP lose 10 % or more ({ONE}",
        "RLB: the same bus bandwidth",
        "RLB: no congestion",
        "When a link fails",
    ):
        assert claim_of(part).text in holding_here
