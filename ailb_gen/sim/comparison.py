"""Variants of a scenario side by side: mean and spread over their seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ailb_gen.sim.results import Row
from ailb_gen.wording import aligned

Statistics = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over the seeds that have it."""

    seeds: int
    mean: float
    least: float
    most: float


def _largest(found: Statistics, kind: str, name: str, figure: str) -> float | None:
    """Return the largest figure of a distribution over labels or jobs."""
    values = [row[name][figure] for row in found[kind].values() if row[name][figure] is not None]
    return max(values, default=None)


def _job(found: Statistics, figure: str) -> float | None:
    values = [row[figure] for row in found["jobs"].values()]
    return None if None in values or not values else max(values)


def _bus(found: Statistics) -> float | None:
    values = [row["bus_bandwidth"] for row in found["jobs"].values() if row["bus_bandwidth"] is not None]
    return min(values, default=None)


def _total(found: Statistics, kind: str, name: str) -> float:
    return float(sum(row[name] for row in found[kind].values()))


# Figures of a point, by name: what a variant is compared by. Of several jobs or labels the worst counts.
FIGURES: dict[str, Callable[[Statistics], float | None]] = {
    "bus_bandwidth": _bus,
    "job_us": lambda found: _job(found, "time_us"),
    "fct_mean_us": lambda found: _largest(found, "flows", "fct_us", "mean"),
    "fct_p99_us": lambda found: _largest(found, "flows", "fct_us", "p99"),
    "slowdown_mean": lambda found: _largest(found, "flows", "slowdown", "mean"),
    "slowdown_p99": lambda found: _largest(found, "flows", "slowdown", "p99"),
    "peak_packets": lambda found: found["peak_packets"],
    "marks": lambda found: _total(found, "links", "marks"),
    "pauses": lambda found: _total(found, "links", "pauses"),
    "drops": lambda found: _total(found, "links", "drops"),
    "lost": lambda found: _total(found, "links", "lost"),
    "retransmitted": lambda found: _total(found, "flows", "retransmitted"),
    "out_of_order": lambda found: _total(found, "flows", "out_of_order"),
}


def compared(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Give a record per variant: its name, how many seeds were simulated, and every figure's spread, None without."""
    for variant in dict.fromkeys(row.variant for row in rows):
        found = [row.statistics for row in rows if row.variant == variant and row.statistics is not None]
        record: dict[str, Any] = {
            "variant": variant,
            "seeds": len(found),
            "complete": bool(found) and all(one["complete"] for one in found),
        }
        for name, figure in FIGURES.items():
            values = [value for one in found if (value := figure(one)) is not None]
            record[name] = asdict(_spread(values)) if values else None
        yield record


def _spread(values: Sequence[float]) -> Spread:
    return Spread(len(values), math.fsum(values) / len(values), min(values), max(values))


COLUMNS = (
    ("bus GB/s", "bus_bandwidth"),
    ("job us", "job_us"),
    ("FCT p99 us", "fct_p99_us"),
    ("slowdown p99", "slowdown_p99"),
    ("peak queue", "peak_packets"),
    ("marks", "marks"),
    ("pauses", "pauses"),
    ("drops", "drops"),
    ("out of order", "out_of_order"),
)


def comparison_table(records: Sequence[Mapping[str, Any]], first: str) -> str:
    """Return a line per variant with means over seeds, and their range where seeds differ; `first` names variants."""
    shown = [column for column in COLUMNS if any(record[column[1]] is not None for record in records)]
    head = [first, "seeds", *(title for title, _ in shown)]
    rows = [
        [
            record["variant"] + ("" if record["complete"] else " (partial)"),
            record["seeds"],
            *(_cell(record[name]) for _, name in shown),
        ]
        for record in records
    ]
    return "\n".join(aligned([head, *rows], numbers=True)) + "\n"


def _cell(spread: Mapping[str, Any] | None) -> str:
    if spread is None:
        return "-"
    mean = _number(spread["mean"])
    least, most = _number(spread["least"]), _number(spread["most"])
    return mean if least == most else f"{mean} ({least}-{most})"


def _number(value: float) -> str:
    """Return four digits, all of a whole number."""
    return f"{value:,.0f}" if value == int(value) or value >= 10_000 else f"{value:.4g}"
