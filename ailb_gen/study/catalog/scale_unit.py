"""ECMP, flowlet switching and adaptive routing under training traffic: Zeltser (2026)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ailb_gen.study.extras import EndedBy, UnusedCables
from ailb_gen.study.model import (
    Case,
    Options,
    Published,
    Quantity,
    Study,
)

SEEDS = 10
FABRIC = {
    "clos": {
        "leaves": 8,
        "spines": 4,
        "hosts_per_leaf": 4,
        "host_links": 8,
        "leaf_spine_links": 8,
        "host_rate": "4g",
        "uplink_rate": "4g",
    }
}
POLARIZED = {"same_seed": 1, "hash_start": 1}
BALANCERS: Mapping[str, Any] = {
    "ECMP": {"name": "ecmp", "parameters": POLARIZED},
    "flowlet": {"name": "flowlet", "parameters": POLARIZED},
    "adaptive": {"name": "adaptive"},
}
# The source takes its statistics of mice at 10 s.
EXTRAS = {"mice": EndedBy("mice", 10_000_000), "failed": UnusedCables()}
PAYLOAD = {"heavy": "32KiB", "mixed": "4KiB"}
# Workload, scale, share of failed links.
LOADS = (
    ("heavy", 1, 0.0),
    ("heavy", 2, 0.0),
    ("heavy", 8, 0.0),
    ("heavy", 8, 0.05),
    ("mixed", 1, 0.0),
    ("mixed", 2, 0.0),
    ("mixed", 4, 0.0),
    ("mixed", 4, 0.05),
)
PACKETS = {
    ("heavy", 1): 3_199_523,
    ("heavy", 2): 6_373_923,
    ("heavy", 8): 25_420_323,
    ("mixed", 1): 9_701_923,
    ("mixed", 2): 19_378_723,
    ("mixed", 4): 38_732_323,
}
# Job end s (heavy; tensor-parallel, pipeline-parallel), step mean and p95 ms, mice mean, p95 and p99 ms, longest queue,
# mean over nodes of their longest queue.
HEAVY = {
    (1, 0.0): {
        "ECMP": (9.396, 187.9, 206.1, 0.906, 5.21, 8.99, 372, 251),
        "flowlet": (9.462, 189.2, 208.9, 0.915, 5.34, 9.72, 372, 254),
        "adaptive": (1.744, 34.87, 35.02, 0.358, 1.15, 2.13, 31, 24.0),
    },
    (2, 0.0): {
        "ECMP": (17.98, 359.7, 398.5, 1.50, 10.6, 19.7, 744, 513),
        "flowlet": (17.74, 354.7, 390.6, 1.56, 10.6, 21.0, 620, 499),
        "adaptive": (2.585, 51.71, 51.93, 0.620, 3.22, 4.22, 62, 46.9),
    },
    (8, 0.0): {
        "ECMP": (69.02, 1380, 1562, 5.11, 42.7, 79.9, 2976, 2029),
        "flowlet": (69.00, 1380, 1524, 4.89, 40.3, 75.1, 2976, 2007),
        "adaptive": (7.562, 151.2, 151.9, 5.71, 15.5, 16.5, 248, 183),
    },
    (8, 0.05): {
        "ECMP": (71.49, 1430, 1578, 5.07, 40.7, 74.8, 3968, 2074),
        "flowlet": (71.95, 1439, 1693, 5.51, 45.4, 81.5, 3968, 2097),
        "adaptive": (9.590, 191.8, 193.2, 7.16, 17.7, 20.1, 331, 210),
    },
}


def _name(workload: str, scale: int, failed: float, balancer: str) -> str:
    return f"{workload} x{scale}{', 5 % failed' if failed else ''}, {balancer}"


def scale_unit(options: Options) -> Study:
    """Return the study; quick: heavy x1 with one seed."""
    loads = LOADS[:1] if options.quick else LOADS
    seeds = options.seeds or (1 if options.quick else SEEDS)
    cases = [
        Case(
            _name(workload, scale, failed, balancer),
            {
                "fabric": FABRIC,
                "traffic": [{"scale_unit": {"workload": workload, "scale": scale}}],
                "packets": {"payload": PAYLOAD[workload], "header": 0},
                "balancer": part,
                "transport": "raw",
                "failures": [{"random": failed}] if failed else [],
                "seeds": seeds,
            },
            EXTRAS,
        )
        for workload, scale, failed in loads
        for balancer, part in BALANCERS.items()
    ]
    return Study(
        name="scale-unit",
        title="Scale unit: ECMP, flowlets and adaptive routing",
        source="Alon Zeltser, Adaptive Packet Routing vs. Flowlet Switching, 2026",
        text="",
        cases=cases,
        quantities=(
            Quantity("packets", lambda point: float(point["totals"]["packets"])),
            Quantity("longest queue, packets", lambda point: float(point["peak_packets"])),
        ),
        published=[Published(_name(w, s, f, b), "packets", PACKETS[w, s]) for w, s, f in LOADS for b in BALANCERS],
    )
