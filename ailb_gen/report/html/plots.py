"""The contents of charts: lines, bars and heat maps; each can be a table, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.report.html.scales import Axis, thinned
from ailb_gen.wording import shown

Point = tuple[float, float]
# Rows of the table beside a chart of lines: of all lines together at shared places, else of each.
SHARED_ROWS = 26
OWN_ROWS = 11

Table = list[list[str]]
# Of a chart that would compare nothing, such as flat lines: the unit, and the value by name.
Constants = tuple[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class PlotLine:
    """A line, and the least and most around it by x, such as the range over seeds."""

    name: str
    points: Sequence[Point]
    band: Sequence[tuple[float, float, float]] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines over one axis. `text` says in a sentence what is to be seen; `steps`: values last until the next one."""

    title: str
    x: Axis
    y: Axis
    lines: Sequence[PlotLine]
    text: str = ""
    steps: bool = False

    def constants(self) -> Constants | None:
        """Return the value of every line where each has only one; None where a line shows more."""
        found, unit = {}, ""
        for line in self.lines:
            xs, ys = {x for x, _ in line.points}, {y for _, y in line.points}
            if len(ys) > 1 < len(xs) or any(least != most for _, least, most in line.band):
                return None
            values, unit = (xs, self.x.title) if len(xs) == 1 else (ys, self.y.title)
            found[line.name] = ", ".join(map(shown, values)) or "-"
        return unit, found

    def table(self) -> Table:
        """Return rows by x where the lines share them, rows by y where they share those, else rows of each line."""
        xs = [[x for x, _ in line.points] for line in self.lines]
        ys = [[y for _, y in line.points] for line in self.lines]
        names = [line.name for line in self.lines]
        for axis, places, values in ((self.x, xs, ys), (self.y, ys, xs)):
            if len(places) > 1 and all(found == places[0] for found in places):
                rows = thinned(list(zip(places[0], *values, strict=True)), SHARED_ROWS)
                return [[axis.title, *names], *([shown(value) for value in row] for row in rows)]
        return [
            ["line", self.x.title, self.y.title],
            *(
                [line.name, shown(x), shown(y)]
                for line in self.lines
                for x, y in thinned(line.points, OWN_ROWS if len(self.lines) > 1 else SHARED_ROWS)
            ),
        ]


@dataclass(frozen=True, slots=True)
class Bar:
    """A value, and the range around it, such as that over seeds."""

    value: float
    least: float
    most: float

    def text(self) -> str:
        """Return the value, and the range where there is one."""
        least, most = shown(self.least), shown(self.most)
        return shown(self.value) if least == most else f"{shown(self.value)} ({least} to {most})"


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars side by side, by group and then by name; a group without a name has no heading. None: no value."""

    title: str
    axis: Axis
    bars: Mapping[str, Mapping[str, Bar | None]]
    text: str = ""

    def constants(self) -> Constants | None:
        """Return the value of a single bar, or the zero of all; None where there is more to compare."""
        bars = [(name, bar) for group in self.bars.values() for name, bar in group.items()]
        if len(bars) > 1 and any(bar is None or bar.most or bar.least for _, bar in bars):
            return None
        return self.axis.title, {name: "-" if bar is None else bar.text() for name, bar in bars}

    @property
    def names(self) -> list[str]:
        """The names of all groups, in their order."""
        return list(dict.fromkeys(name for group in self.bars.values() for name in group))

    def table(self) -> Table:
        """Return a row per group and name."""
        rows = [
            [group, name, bar.text() if bar is not None else "-"]
            for group, inside in self.bars.items()
            for name, bar in inside.items()
        ]
        if set(self.bars) == {""}:
            return [["", self.axis.title], *(row[1:] for row in rows)]
        return [["group", "", self.axis.title], *rows]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A field of values by row and column, None where there is none; `top` is the darkest, None: the largest."""

    title: str
    unit: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]
    text: str = ""
    top: float | None = None

    def constants(self) -> Constants | None:
        """Return nothing to list where all cells have the same value, which the chart of their distribution shows."""
        return None if len({value for row in self.values for value in row}) > 1 else ("", {})

    def table(self) -> Table:
        """Return the field with its names."""
        rows = zip(self.rows, self.values, strict=True)
        return [
            [self.unit, *self.columns],
            *([name, *("-" if value is None else shown(value) for value in values)] for name, values in rows),
        ]


Plot = Lines | Bars | HeatMap


def cdf(values: Sequence[float], points: int = 101) -> list[Point]:
    """Return the cumulative distribution of some values at a number of even ranks."""
    ordered = sorted(values)
    last = len(ordered) - 1
    if last < 1:
        return [(value, share) for value in ordered for share in (0.0, 1.0)]
    return [(ordered[round(number * last / (points - 1))], number / (points - 1)) for number in range(points)]
