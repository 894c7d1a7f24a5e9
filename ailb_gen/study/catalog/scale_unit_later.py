"""Future work of Zeltser (2026): flowlet thresholds, load balancers of switches, congestion control and PFC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ailb_gen.study.catalog.scale_unit_published import HEAVY, LONGEST, NODE_PEAK, PIPELINE, STEP, TENSOR
from ailb_gen.study.model import Bars, Case, Figure, Findings, Lines, Published, Quantity, Spread, Statistics

FABRIC: Mapping[str, Any] = {
    "leaves": 8,
    "spines": 4,
    "hosts_per_leaf": 4,
    "host_links": 8,
    "leaf_spine_links": 8,
    "host_rate": "4g",
    "uplink_rate": "4g",
}
POLARIZED = {"same_seed": 1, "hash_start": 1}
THRESHOLDS = (4, 8, 16, 32, 64, 128, 256)
THRESHOLD_STEPS = 10
QUEUE_PAIRS = (4, 16)
IN_SWITCHES = {
    "ECMP": "ecmp",
    "DLB flowlet": "dlb",
    "DLB per packet": "dlb-per-packet",
    "GLB": "glb",
    "RLB": "rlb",
    "adaptive": "adaptive",
}
# Heavy x1: with a transport a step takes 8 times the packets, and their acknowledgements.
STEPS = {"raw": 10, "go-back-N": 2}
RAW = {"packets": {"payload": "32KiB", "header": 0}, "transport": "raw"}
RDMA = {
    "transport": "go-back-n",
    "congestion": "dcqcn",
    "switches": {
        "shared_buffer": "825kB",
        "pfc": True,
        "headroom": "16KiB",
        "resume_offset": "4KiB",
        "ecn": {"min": "16KiB", "max": "64KiB", "probability": 0.2},
    },
}
TRANSPORTS = {"raw": RAW, "go-back-N": RDMA}


def _total(name: str) -> Quantity:
    return Quantity(name, lambda point: float(point["totals"][name]))


def _of_links(name: str) -> Quantity:
    def of(point: Statistics) -> float:
        return float(sum(row[name] for row in point["links"].values()))

    return Quantity(f"{name} on all links", of)


def _out_of_order(point: Statistics) -> float:
    return float(sum(row["out_of_order"] for row in point["flows"].values()))


OUT_OF_ORDER = Quantity("packets out of order", _out_of_order)
TRANSPORT_QUANTITIES = (
    OUT_OF_ORDER,
    _total("retransmissions"),
    _of_links("marks"),
    _of_links("pauses"),
    _total("drops"),
)


def threshold_name(packets: int) -> str:
    """Return the name of the case of a flowlet threshold."""
    return f"mixed x4, {THRESHOLD_STEPS} steps, flowlets of {packets} packets"


def _threshold_case(packets: int, seeds: int) -> Case:
    return Case(
        threshold_name(packets),
        {
            "fabric": {"clos": FABRIC},
            "traffic": [
                {"scale_unit": {"workload": "mixed", "scale": 4, "steps": THRESHOLD_STEPS, "mice": False}},
            ],
            "packets": {"payload": "4KiB", "header": 0},
            "balancer": {"name": "flowlet", "parameters": {**POLARIZED, "packets": packets}},
            "transport": "raw",
            "seeds": seeds,
        },
    )


def later_name(transport: str, queue_pairs: int, balancer: str) -> str:
    """Return the name of the case of a load balancer of switches."""
    return f"heavy x1, {STEPS[transport]} steps, {transport}, {queue_pairs} queue pairs, {balancer}"


def _later_case(transport: str, queue_pairs: int, balancer: str, seeds: int) -> Case:
    traffic = {"workload": "heavy", "steps": STEPS[transport], "mice": False, "queue_pairs": queue_pairs}
    scenario = {
        "fabric": {"clos": {**FABRIC, "colors": FABRIC["spines"]}},
        "traffic": [{"scale_unit": traffic}],
        "balancer": IN_SWITCHES[balancer],
        "seeds": seeds,
        **TRANSPORTS[transport],
    }
    return Case(later_name(transport, queue_pairs, balancer), scenario)


def later_cases(seeds: int) -> list[Case]:
    """Return the cases without published numbers."""
    found = [_threshold_case(packets, seeds) for packets in THRESHOLDS]
    return found + [
        _later_case(transport, queue_pairs, balancer, seeds)
        for transport in TRANSPORTS
        for queue_pairs in QUEUE_PAIRS
        for balancer in IN_SWITCHES
    ]


def later_rows() -> list[Published]:
    """Return what is shown of them; nothing is published."""
    rows: list[tuple[str, Quantity]] = []
    for packets in THRESHOLDS:
        shown = (STEP[TENSOR, "mean"], STEP[TENSOR, "p95"], STEP[PIPELINE, "mean"], STEP[PIPELINE, "p95"])
        rows += [(threshold_name(packets), quantity) for quantity in (*shown, LONGEST, NODE_PEAK, OUT_OF_ORDER)]
    for transport in TRANSPORTS:
        more = TRANSPORT_QUANTITIES if transport != "raw" else (OUT_OF_ORDER,)
        for queue_pairs in QUEUE_PAIRS:
            for balancer in IN_SWITCHES:
                name = later_name(transport, queue_pairs, balancer)
                rows += [(name, quantity) for quantity in (STEP[HEAVY, "mean"], LONGEST, NODE_PEAK, *more)]
    return [Published(name, quantity.name, None) for name, quantity in rows]


def later_figures(findings: Findings) -> list[Figure]:
    """Return steps by flowlet threshold, and by load balancer, transport and queue pairs; only what was simulated."""
    simulated = [packets for packets in THRESHOLDS if threshold_name(packets) in findings.points]
    found: list[Figure] = []
    if simulated:
        lines = {
            f"{job}, {what}": [
                (float(packets), findings.mean(threshold_name(packets), STEP[job, what].of)) for packets in simulated
            ]
            for job in (TENSOR, PIPELINE)
            for what in ("mean", "p95")
        }
        title = "Mixed x4: step time by flowlet threshold"
        found.append(Lines("flowlet-threshold", title, "packets of a flowlet", "ms", lines, log_x=True))
    bars = {name: group for name, group in _groups(findings).items() if group}
    if bars:
        found.append(Bars("in-switches", "Heavy x1: mean step time, load balancers of switches", "ms", bars))
    return found


def _groups(findings: Findings) -> dict[str, dict[str, Spread]]:
    mean = STEP[HEAVY, "mean"].of
    return {
        f"{transport},\n{queue_pairs} queue pairs": {
            balancer: found
            for balancer in IN_SWITCHES
            if (name := later_name(transport, queue_pairs, balancer)) in findings.points
            and (found := findings.spread(name, mean)) is not None
        }
        for transport in TRANSPORTS
        for queue_pairs in QUEUE_PAIRS
    }
