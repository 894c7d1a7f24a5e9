"""A small study with made-up numbers, and findings for it."""

from __future__ import annotations

from collections.abc import Sequence

from ailb_gen.study.model import (
    Bars,
    Calibrated,
    Case,
    Claim,
    Figure,
    Findings,
    Lines,
    Published,
    Quantity,
    Study,
    Verdict,
)

SCENARIO = {
    "fabric": {"clos": {"leaves": 2, "spines": 2, "hosts_per_leaf": 2}},
    "traffic": [{"collective": {"kind": "all-reduce", "bytes": "64KiB"}}],
    "seeds": 2,
}


def faster(findings: Findings) -> Verdict:
    slow, fast = (findings.mean(case, time) for case in ("ECMP", "adaptive"))
    return Verdict(fast < slow, f"{fast:g} against {slow:g} us")


def lasting(findings: Findings) -> Verdict:
    found = findings.mean("failed", time)
    return Verdict(found < 1, f"{found:g} us")


def time(point: object) -> float | None:
    assert isinstance(point, dict)
    found = point["end_us"]
    assert found is None or isinstance(found, float)
    return found


def figures(findings: Findings) -> Sequence[Figure]:
    spreads = {case: findings.spread(case, time) for case in findings.points}
    bars = {"x1": {case: found for case, found in spreads.items() if found is not None}}
    return [
        Bars("time", "Time by load", "time, us", bars),
        Lines("cdf", "Distribution of time", "time, us", "share", {"ECMP": [(1.0, 0.0), (2.0, 1.0)]}, log_x=True),
    ]


STUDY = Study(
    name="made-up",
    title="Made-up experiment",
    source="Nobody, Nothing, 2026",
    text="What is repeated.",
    cases=(Case("ECMP", {**SCENARIO, "balancer": "ecmp"}), Case("adaptive", {**SCENARIO, "balancer": "adaptive"})),
    quantities=(Quantity("time, us", time), Quantity("packets", lambda point: point["packets"])),
    published=(
        Published("ECMP", "time, us", 20.0, "calibrated"),
        Published("ECMP", "packets", 12_345.0),
        Published("adaptive", "time, us", 8.0, "predicted"),
        Published("adaptive", "packets", None),
        Published("failed", "time, us", 9.0),
    ),
    claims=(
        Claim("Adaptive is faster than ECMP.", faster),
        Claim("A failure costs nothing | ever.", lasting, "It costs something."),
    ),
    calibrated=(Calibrated("start of a flow", "1 us", "the row of ECMP"),),
    figures=figures,
    notes="Nothing deviates.",
)
FINDINGS = Findings(
    {
        "ECMP": [{"end_us": 19.0, "packets": 12_345.0}, {"end_us": 23.0, "packets": 12_345.0}],
        "adaptive": [{"end_us": 8.5, "packets": 0.25}, {"end_us": None, "packets": 0.25}],
    }
)
