"""The published numbers of Zeltser (2026), by load, load balancer and quantity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ailb_gen.study.model import Findings, Quantity, Statistics

US_PER_MS, US_PER_S, PERCENT = 1000, 1_000_000, 100
BALANCERS = ("ECMP", "flowlet", "adaptive")
HEAVY, TENSOR, PIPELINE = "heavy", "tp_heavy", "pp_dp"
# The run lasts until the last mouse has arrived, or a job has ended.
RUN_S = 10.001


@dataclass(frozen=True, slots=True)
class Load:
    """A workload, how much larger its messages are, and the share of cables that are down."""

    workload: str
    scale: int
    failed: float = 0.0

    @property
    def name(self) -> str:
        """Name in cases and figures."""
        return f"{self.workload} x{self.scale}{', 5 % failed' if self.failed else ''}"


LOADS = (
    Load("heavy", 1),
    Load("heavy", 2),
    Load("heavy", 8),
    Load("heavy", 8, 0.05),
    Load("mixed", 1),
    Load("mixed", 2),
    Load("mixed", 4),
    Load("mixed", 4, 0.05),
)
HEAVY_1, HEAVY_2, HEAVY_8, HEAVY_FAILED, MIXED_1, MIXED_2, MIXED_4, MIXED_FAILED = LOADS
HEAVY_LOADS, MIXED_LOADS = LOADS[:4], LOADS[4:]


def case_name(load: Load, balancer: str) -> str:
    """Return the name of a published row."""
    return f"{load.name}, {balancer}"


def jobs_of(load: Load) -> tuple[str, ...]:
    """Return the jobs of a load."""
    return (HEAVY,) if load.workload == "heavy" else (TENSOR, PIPELINE)


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else value / unit


def _job_time(job: str) -> Quantity:
    def of(point: Statistics) -> float | None:
        return _scaled(point["jobs"][job]["time_us"], US_PER_S) if job in point["jobs"] else None

    return Quantity(f"{job}: job time, s", of)


def _step(job: str, what: str) -> Quantity:
    def of(point: Statistics) -> float | None:
        return _scaled(point["jobs"][job]["step_us"][what], US_PER_MS) if job in point["jobs"] else None

    return Quantity(f"{job}: step {what}, ms", of)


def _mice(what: str) -> Quantity:
    return Quantity(f"mice: FCT {what}, ms", lambda point: _scaled(point["extras"]["mice"][what], US_PER_MS))


def _mean_load(point: Statistics) -> float | None:
    rows = point["links"].values()
    links = sum(row["links"] for row in rows)
    return PERCENT * math.fsum(row["links"] * row["mean_load"] for row in rows) / links if links else None


PACKETS = Quantity("packets", lambda point: float(point["totals"]["packets"]))
JOB_TIME = {job: _job_time(job) for job in (HEAVY, TENSOR, PIPELINE)}
STEP = {(job, what): _step(job, what) for job in JOB_TIME for what in ("mean", "p95", "p99")}
MICE = {what: _mice(what) for what in ("mean", "p95", "p99")}
LONGEST = Quantity("longest queue, packets", lambda point: float(point["peak_packets"]))
NODE_PEAK = Quantity("mean over nodes of their longest queue, packets", lambda point: float(point["mean_node_peak"]))
MEAN_LOAD = Quantity("mean load of all links over the whole run, %", _mean_load)
FAILED = Quantity("failed cables", lambda point: float(point["extras"]["failed"]))
RUN = Quantity("length of the whole run, s", lambda point: point["end_us"] / US_PER_S)
QUANTITIES = (PACKETS, *JOB_TIME.values(), *STEP.values(), *MICE.values(), LONGEST, NODE_PEAK, MEAN_LOAD, FAILED, RUN)

_PACKETS = {
    ("heavy", 1): 3_199_523,
    ("heavy", 2): 6_373_923,
    ("heavy", 8): 25_420_323,
    ("mixed", 1): 9_701_923,
    ("mixed", 2): 19_378_723,
    ("mixed", 4): 38_732_323,
}
_END = (MICE["mean"], MICE["p95"], MICE["p99"], LONGEST, NODE_PEAK)
_COLUMNS = {
    "heavy": (JOB_TIME[HEAVY], STEP[HEAVY, "mean"], STEP[HEAVY, "p95"], *_END),
    "mixed": (JOB_TIME[TENSOR], JOB_TIME[PIPELINE], *_END),
}
# In the order of LOADS and BALANCERS.
_NUMBERS: tuple[tuple[tuple[float, ...], ...], ...] = (
    (
        (9.396, 187.9, 206.1, 0.906, 5.21, 8.99, 372, 251),
        (9.462, 189.2, 208.9, 0.915, 5.34, 9.72, 372, 254),
        (1.744, 34.87, 35.02, 0.358, 1.15, 2.13, 31, 24.0),
    ),
    (
        (17.98, 359.7, 398.5, 1.50, 10.6, 19.7, 744, 513),
        (17.74, 354.7, 390.6, 1.56, 10.6, 21.0, 620, 499),
        (2.585, 51.71, 51.93, 0.620, 3.22, 4.22, 62, 46.9),
    ),
    (
        (69.02, 1380, 1562, 5.11, 42.7, 79.9, 2976, 2029),
        (69.00, 1380, 1524, 4.89, 40.3, 75.1, 2976, 2007),
        (7.562, 151.2, 151.9, 5.71, 15.5, 16.5, 248, 183),
    ),
    (
        (71.49, 1430, 1578, 5.07, 40.7, 74.8, 3968, 2074),
        (71.95, 1439, 1693, 5.51, 45.4, 81.5, 3968, 2097),
        (9.590, 191.8, 193.2, 7.16, 17.7, 20.1, 331, 210),
    ),
    (
        (3.501, 5.172, 0.186, 0.088, 5.43, 2084, 1419),
        (3.537, 5.197, 0.173, 0.087, 4.78, 1920, 1398),
        (1.715, 1.124, 0.062, 0.041, 1.14, 240, 135),
    ),
    (
        (5.655, 9.695, 0.572, 2.39, 14.2, 3840, 2890),
        (5.505, 7.568, 0.386, 1.99, 8.08, 3840, 2595),
        (1.885, 1.633, 0.129, 0.305, 3.01, 480, 271),
    ),
    (
        (9.566, 18.725, 1.22, 8.67, 26.7, 7680, 5558),
        (8.037, 10.394, 0.949, 6.70, 15.2, 7650, 3731),
        (2.221, 2.657, 0.412, 3.49, 6.92, 960, 547),
    ),
    (
        (10.03, 19.17, 1.28, 8.32, 28.5, 7800, 5890),
        (8.429, 10.846, 1.10, 7.46, 15.8, 5760, 4152),
        (2.510, 2.928, 0.466, 3.89, 7.47, 1098, 598),
    ),
)
_STEPS_MIXED_1 = {
    "ECMP": {TENSOR: (35.0, 44.5), PIPELINE: (25.9, 33.0)},
    "adaptive": {TENSOR: (17.15, 17.27), PIPELINE: (5.62, 5.72)},
}
_FAILED = {HEAVY_FAILED: (21, 21, 30), MIXED_FAILED: (16, 30, 21)}


def _of(load: Load, number: int) -> Iterator[tuple[Quantity, float]]:
    yield PACKETS, _PACKETS[load.workload, load.scale]
    yield from zip(_COLUMNS[load.workload], _NUMBERS[LOADS.index(load)][number], strict=True)
    if load == MIXED_1:
        for job, found in _STEPS_MIXED_1.get(BALANCERS[number], {}).items():
            yield STEP[job, "mean"], found[0]
            yield STEP[job, "p95"], found[1]
    if load in _FAILED:
        yield FAILED, _FAILED[load][number]


def published_values(load: Load, balancer: str) -> dict[str, float]:
    """Return what is published of a row, by the name of the quantity."""
    return {quantity.name: value for quantity, value in _of(load, BALANCERS.index(balancer))}


def rows_of(load: Load) -> tuple[Quantity, ...]:
    """Return what a row shows, published or not, in order."""
    jobs = jobs_of(load)
    steps = [part for job in jobs for part in (JOB_TIME[job], *(STEP[job, what] for what in ("mean", "p95", "p99")))]
    failed = (FAILED,) if load.failed else ()
    return (PACKETS, *failed, *steps, *MICE.values(), LONGEST, NODE_PEAK, MEAN_LOAD)


def statistics_of(load: Load, values: Mapping[str, float]) -> Statistics:
    """Return statistics in which quantities have the given values, and others none."""
    get: Callable[[str], float | None] = values.get

    def times(quantity: Quantity, unit: int) -> float | None:
        value = get(quantity.name)
        return None if value is None else value * unit

    jobs: dict[str, Any] = {
        job: {
            "time_us": times(JOB_TIME[job], US_PER_S),
            "step_us": {what: times(STEP[job, what], US_PER_MS) for what in ("mean", "p95", "p99")},
        }
        for job in jobs_of(load)
    }
    ends = [body["time_us"] for body in jobs.values() if body["time_us"] is not None]
    return {
        "jobs": jobs,
        "extras": {
            "mice": {what: times(MICE[what], US_PER_MS) for what in MICE},
            "failed": get(FAILED.name) or 0,
        },
        "peak_packets": get(LONGEST.name),
        "mean_node_peak": get(NODE_PEAK.name),
        "totals": {"packets": get(PACKETS.name)},
        "links": {},
        "end_us": max(RUN_S * US_PER_S, *ends),
    }


def published_findings() -> Findings:
    """Return the published numbers as if they had been simulated with one seed."""
    return Findings(
        {
            case_name(load, balancer): [statistics_of(load, published_values(load, balancer))]
            for load in LOADS
            for balancer in BALANCERS
        }
    )
