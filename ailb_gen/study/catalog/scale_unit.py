"""ECMP, flowlet switching and adaptive routing under training traffic: Zeltser (2026)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ailb_gen.sim.point import ExtraMeasurement
from ailb_gen.study.catalog.scale_unit_checks import ADAPTIVE
from ailb_gen.study.catalog.scale_unit_claims import CLAIMS
from ailb_gen.study.catalog.scale_unit_figures import figures
from ailb_gen.study.catalog.scale_unit_later import (
    FABRIC,
    POLARIZED,
    TRANSPORT_QUANTITIES,
    later_cases,
    later_rows,
)
from ailb_gen.study.catalog.scale_unit_published import (
    BALANCERS,
    HEAVY_1,
    LOADS,
    QUANTITIES,
    Load,
    case_name,
    published_values,
    rows_of,
)
from ailb_gen.study.catalog.scale_unit_text import NOTES, TEXT
from ailb_gen.study.extras import EndedBy, UnusedCables
from ailb_gen.study.model import Case, Options, Published, Study

# Of heavy loads; adaptive routing differs little between seeds, but for which cables fail.
SEEDS, ADAPTIVE_SEEDS, ADAPTIVE_FAILED_SEEDS = 10, 2, 3
SETTINGS: Mapping[str, Any] = {
    "ECMP": {"name": "ecmp", "parameters": POLARIZED},
    "flowlet": {"name": "flowlet", "parameters": POLARIZED},
    "adaptive": {"name": "adaptive"},
}
PAYLOAD = {"heavy": "32KiB", "mixed": "4KiB"}
# The source takes its statistics of mice at 10 s.
EXTRAS: Mapping[str, ExtraMeasurement] = {"mice": EndedBy("mice", 10_000_000), "failed": UnusedCables()}


def _case(load: Load, balancer: str, seeds: int) -> Case:
    scenario = {
        "fabric": {"clos": FABRIC},
        "traffic": [{"scale_unit": {"workload": load.workload, "scale": load.scale}}],
        "packets": {"payload": PAYLOAD[load.workload], "header": 0},
        "balancer": SETTINGS[balancer],
        "transport": "raw",
        "failures": [{"random": load.failed}] if load.failed else [],
        "seeds": seeds,
    }
    return Case(case_name(load, balancer), scenario, EXTRAS)


def _seeds(load: Load, balancer: str) -> int:
    """Return the seeds of a case of the full study: one of mixed loads, which take most of its time."""
    if load.workload == "mixed":
        return 1
    if balancer != ADAPTIVE or load == HEAVY_1:
        return SEEDS
    return ADAPTIVE_FAILED_SEEDS if load.failed else ADAPTIVE_SEEDS


def _published() -> list[Published]:
    return [
        Published(case_name(load, balancer), quantity.name, published_values(load, balancer).get(quantity.name))
        for load in LOADS
        for balancer in BALANCERS
        for quantity in rows_of(load)
    ]


def scale_unit(options: Options) -> Study:
    """Return the study; quick: heavy x1 with one seed."""
    loads: Sequence[Load] = LOADS[:1] if options.quick else LOADS
    cases = [
        _case(load, balancer, options.seeds or (1 if options.quick else _seeds(load, balancer)))
        for load in loads
        for balancer in BALANCERS
    ]
    return Study(
        name="scale-unit",
        title="Scale unit: ECMP, flowlets and adaptive routing",
        source="Alon Zeltser, Adaptive Packet Routing vs. Flowlet Switching for Distributed Training Under Link "
        "Failures, 2026",
        text=TEXT,
        cases=cases + ([] if options.quick else later_cases(options.seeds or 1)),
        quantities=(*QUANTITIES, *TRANSPORT_QUANTITIES),
        published=_published() + later_rows(),
        claims=CLAIMS,
        figures=figures,
        notes=NOTES,
    )
