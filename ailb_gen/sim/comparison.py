"""Variants of a scenario side by side: mean and spread over their seeds, as records and as a table."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import Any

from ailb_gen.paint import Paint, Style, unpainted
from ailb_gen.sim.results import PointRow
from ailb_gen.wording import clean, shown

Statistics = Mapping[str, Any]


def _known(found: Statistics, kind: str, *steps: str) -> list[float]:
    """Return a figure of all labels or jobs that have it."""
    values = (reduce(getitem, steps, row) for row in found[kind].values())
    return [value for value in values if value is not None]


def _job(found: Statistics, figure: str) -> float | None:
    values = _known(found, "jobs", figure)
    return max(values, default=None) if len(values) == len(found["jobs"]) else None


# Figures of a point, by name: what a variant is compared by. Of several jobs or labels the worst counts.
FIGURES: dict[str, Callable[[Statistics], float | None]] = {
    "bus_bandwidth": lambda found: min(_known(found, "jobs", "bus_bandwidth"), default=None),
    "job_us": lambda found: _job(found, "time_us"),
    "fct_mean_us": lambda found: max(_known(found, "flows", "fct_us", "mean"), default=None),
    "fct_p99_us": lambda found: max(_known(found, "flows", "fct_us", "p99"), default=None),
    "slowdown_mean": lambda found: max(_known(found, "flows", "slowdown", "mean"), default=None),
    "slowdown_p99": lambda found: max(_known(found, "flows", "slowdown", "p99"), default=None),
    "peak_packets": lambda found: found["peak_packets"],
    "marks": lambda found: float(sum(_known(found, "links", "marks"))),
    "pauses": lambda found: float(sum(_known(found, "links", "pauses"))),
    "drops": lambda found: float(sum(_known(found, "links", "drops"))),
    "lost": lambda found: float(sum(_known(found, "links", "lost"))),
    "retransmitted": lambda found: float(sum(_known(found, "flows", "retransmitted"))),
    "out_of_order": lambda found: float(sum(_known(found, "flows", "out_of_order"))),
}


def compared(rows: Sequence[PointRow]) -> Iterator[dict[str, Any]]:
    """Yield a record per variant: its name, how many seeds were simulated, and every figure's spread, None without.

    A spread is over the seeds that have the figure: their number, `mean`, `least` and `most`.
    """
    for variant in dict.fromkeys(row.variant for row in rows):
        found = [row.statistics for row in rows if row.variant == variant and row.statistics is not None]
        record: dict[str, Any] = {
            "variant": variant,
            "seeds": len(found),
            "complete": bool(found) and all(one["complete"] for one in found),
        }
        for name, figure in FIGURES.items():
            values = [value for one in found if (value := figure(one)) is not None]
            record[name] = _spread(values) if values else None
        yield record


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "seeds": len(values),
        "mean": math.fsum(values) / len(values),
        "least": min(values),
        "most": max(values),
    }


WIDTH = 80
# Longer names of variants stand on lines of their own.
LONGEST_NAME = 30
INDENT, GAP = "  ", "  "
# Heading, unit, figure of a record.
COLUMNS = (
    ("bus", "GB/s", "bus_bandwidth"),
    ("job", "us", "job_us"),
    ("FCT", "p99 us", "fct_p99_us"),
    ("slowdown", "p99", "slowdown_p99"),
    ("peak", "queue", "peak_packets"),
    ("marks", "", "marks"),
    ("pauses", "", "pauses"),
    ("drops", "", "drops"),
    ("out of", "order", "out_of_order"),
)
# Figures that are worth a look unless they are 0.
DOUBTFUL = ("drops",)
PARTIAL = " (partial)"


@dataclass(frozen=True, slots=True)
class _Column:
    """Two lines of heading, and per variant the mean over the seeds and their range, empty where they agree."""

    head: tuple[str, str]
    cells: tuple[tuple[str, str], ...]
    doubtful: bool = False

    @property
    def width(self) -> int:
        return max(len(text) for pair in (self.head, *self.cells) for text in pair)


def comparison_table(
    records: Sequence[Mapping[str, Any]], first: str, paint: Paint = unpainted, width: int = WIDTH
) -> str:
    """Return means over the seeds by variant, their range below where seeds differ; `first` is what variants are.

    No line is longer than `width`.
    """
    columns = [
        _Column((title, unit), tuple(_cell(record[figure]) for record in records), figure in DOUBTFUL)
        for title, unit, figure in COLUMNS
        if any(record[figure] is not None for record in records)
    ]
    if any(record["seeds"] != 1 for record in records):
        columns.insert(0, _Column(("seeds", ""), tuple((f"{record['seeds']:,}", "") for record in records)))
    names = [clean(record["variant"]) + ("" if record["complete"] else PARTIAL) for record in records]
    own_lines = max(map(len, names)) > LONGEST_NAME
    label = len(first) if own_lines else max(map(len, [first, *names]))
    above = [textwrap.wrap(name, width, subsequent_indent=INDENT) if own_lines else [] for name in names]
    rows = list(zip(names, above, strict=True))
    blocks = (_lines(first, rows, block, label, paint) for block in _blocks(columns, width - label))
    return "\n".join("".join(f"{line.rstrip()}\n" for line in lines) for lines in blocks)


def _blocks(columns: Sequence[_Column], room: int) -> list[list[_Column]]:
    """Return columns in as few blocks as fit into `room` characters, and about equally wide ones."""
    blocks = _filled(columns, room)
    narrower = (_filled(columns, width) for width in range(1, room))
    return next((found for found in narrower if len(found) == len(blocks)), blocks)


def _filled(columns: Sequence[_Column], room: int) -> list[list[_Column]]:
    """Return columns in blocks that are filled one after the other."""
    blocks: list[list[_Column]] = [[]]
    for column in columns:
        if blocks[-1] and sum(len(GAP) + one.width for one in (*blocks[-1], column)) > room:
            blocks.append([])
        blocks[-1].append(column)
    return blocks


def _lines(
    first: str, rows: Sequence[tuple[str, Sequence[str]]], columns: Sequence[_Column], label: int, paint: Paint
) -> Iterator[str]:
    """Yield the lines of a block; `rows` are names, each with its lines above the numbers where it is too long."""

    def line(start: str, cells: Sequence[str], style: Style | None = None) -> str:
        """Return a line; the style is that of its start, and for headings and rules of everything."""
        shown = [paint(start.ljust(label), style) if style is not None else start.ljust(label)]
        for column, cell in zip(columns, cells, strict=True):
            doubtful = column.doubtful and cell not in ("0", "-", "")
            own = style if style in (Style.HEAD, Style.DIM) else Style.WARN if doubtful else None
            shown.append(cell.rjust(column.width) if own is None else paint(cell.rjust(column.width), own))
        return GAP.join(shown)

    yield line(first, [column.head[0] for column in columns], Style.HEAD)
    yield line("", [column.head[1] for column in columns], Style.HEAD)
    yield line("-" * label, ["-" * column.width for column in columns], Style.DIM)
    for number, (name, above) in enumerate(rows):
        broken = Style.FAIL if name.endswith(PARTIAL) else None
        yield from (paint(part, broken) if broken is not None else part for part in above)
        means, ranges = zip(*(column.cells[number] for column in columns), strict=True)
        yield line("" if above else name, means, broken)
        if any(ranges):
            yield line("", ranges)


def _cell(spread: Mapping[str, Any] | None) -> tuple[str, str]:
    if spread is None:
        return "-", ""
    least, most = shown(spread["least"]), shown(spread["most"])
    return shown(spread["mean"]), "" if least == most else f"{least}-{most}"
