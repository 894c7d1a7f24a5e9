"""A small study with made-up numbers, and results for it; and studies that are simulated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ailb_gen.sim.point import simulate
from ailb_gen.study.model import (
    BarFigure,
    Calibrated,
    Case,
    CaseResults,
    Claim,
    ClaimVerdict,
    Figure,
    LineFigure,
    Published,
    Study,
)
from ailb_gen.study.points import folder_of, study_points
from ailb_gen.study.quantities import Quantity, Statistics
from ailb_gen.study.rows import checked

SCENARIO = {
    "fabric": {"clos": {"leaves": 2, "spines": 2, "hosts_per_leaf": 2}},
    "traffic": [{"collective": {"kind": "all-reduce", "bytes": "64KiB"}}],
    "seeds": 2,
}


def faster(results: CaseResults) -> ClaimVerdict:
    slow, fast = (results.mean(case, time) for case in ("ECMP", "adaptive"))
    return ClaimVerdict("holds" if fast < slow else "does not hold", f"{fast:g} against {slow:g} us")


def lasting(results: CaseResults) -> ClaimVerdict:
    found = results.mean("failed", time)
    return ClaimVerdict("holds" if found < 1 else "does not hold", f"{found:g} us", ["It costs something."])


time = Quantity("time, us", "end_us").of


def figures(results: CaseResults) -> Sequence[Figure]:
    spreads = {case: results.spread(case, time) for case in results.points}
    bars = {"x1": {case: found for case, found in spreads.items() if found is not None}}
    return [
        BarFigure("time", "Time by load", "time, us", bars),
        LineFigure("cdf", "Distribution of time", "time, us", "share", {"ECMP": [(1.0, 0.0), (2.0, 1.0)]}, log_x=True),
    ]


STUDY = Study(
    name="made-up",
    title="Made-up experiment",
    source="Nobody, Nothing, 2026",
    text="What is repeated.",
    cases=(Case("ECMP", {**SCENARIO, "balancer": "ecmp"}), Case("adaptive", {**SCENARIO, "balancer": "adaptive"})),
    quantities=(Quantity("time, us", "end_us"), Quantity("packets", "packets")),
    published=(
        Published("ECMP", "time, us", 20.0, "calibrated"),
        Published("ECMP", "packets", 12_345.0),
        Published("adaptive", "time, us", 8.0, "predicted"),
        Published("adaptive", "packets", None),
        Published("failed", "time, us", 9.0),
    ),
    claims=(
        Claim("Adaptive is faster than ECMP.", faster),
        Claim("A failure costs nothing | ever.", lasting, ["It costs something."]),
    ),
    calibrated=(Calibrated("start of a flow", "1 us", "the row of ECMP"),),
    figures=figures,
    notes="Nothing deviates.",
)
RESULTS = CaseResults(
    {
        "ECMP": [{"end_us": 19.0, "packets": 12_345.0}, {"end_us": 23.0, "packets": 12_345.0}],
        "adaptive": [{"end_us": 8.5, "packets": 0.25}, {"end_us": None, "packets": 0.25}],
    }
)


def simulated(study: Study) -> CaseResults:
    """The results of all cases."""
    found: dict[str, list[Statistics]] = defaultdict(list)
    with folder_of(study) as folder:
        points, _ = study_points(study, folder)
        for point in points:
            found[point.variant].append(simulate(point, tables=False).statistics)
    return CaseResults(found)


def holding(study: Study, results: CaseResults) -> set[str]:
    """The texts of the claims that hold."""
    return {one.text for one in checked(study, results) if one.verdict is not None and one.verdict.outcome == "holds"}


def failing(study: Study, results: CaseResults) -> set[int]:
    """The places of the claims that do not hold, or have no verdict."""
    held = holding(study, results)
    return {number for number, claim in enumerate(study.claims) if claim.text not in held}
