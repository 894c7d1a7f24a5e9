"""Buses of a large picture: a lane per color or rail above every row of boxes, and a trunk on the left joins them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.network.fabric import Cable
from ailb_gen.picture.diagram import Area, Bus, DrawnWire, Point

LANE = 7.0
# The distance of the drops at a box, at most: room for a load of three digits.
DROP = 21.0
# From the lowest lane down to the box: room for a letter and a count.
REACH = 34.0


@dataclass(frozen=True, slots=True)
class Drop:
    """A bundle from a lane down to a box: `lane` counts from 0; `name` is that of the bundle."""

    lane: int
    links: tuple[Cable, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lanes in order: the color of each, and where it begins above: points at the edges of boxes."""

    colors: tuple[str, ...]
    sources: tuple[tuple[Point, ...], ...]

    @property
    def height(self) -> float:
        """How much room the buses of a row need above its boxes."""
        return LANE * len(self.colors) + REACH


def trunk_width(lanes: int, rows: int) -> float:
    """Return how much room the trunk needs left of the boxes."""
    return LANE * lanes + 14 if rows > 1 else 0.0


def bus_wires(
    lanes: Lanes, left: float, rows: Sequence[Sequence[tuple[Area, Sequence[Drop]]]], attachment: bool = False
) -> tuple[list[Bus], list[DrawnWire]]:
    """Return the buses and the drops of rows of boxes, the first row being next to the sources."""
    wires: list[DrawnWire] = []
    ends: dict[tuple[int, int], list[float]] = {}
    for number, row in enumerate(rows):
        for area, drops in row:
            pitch = min(DROP, (area.width - 10) / max(1, len(drops)))
            for place, drop in enumerate(drops):
                x = area.middle + (place - (len(drops) - 1) / 2) * pitch
                ends.setdefault((number, drop.lane), []).append(x)
                points = ((x, _y(lanes, row, drop.lane)), (x, area.y))
                letter = (x, area.y - 4) if not attachment else None
                wires.append(DrawnWire(drop.links, points, letter, (x, area.y - 16), drop.name, attachment))
    buses = [bus for lane in range(len(lanes.colors)) for bus in _lane(lanes, lane, left, rows, ends)]
    return buses, wires


def _y(lanes: Lanes, row: Sequence[tuple[Area, Sequence[Drop]]], lane: int) -> float:
    return row[0][0].y - lanes.height + LANE * lane


def _lane(
    lanes: Lanes,
    lane: int,
    left: float,
    rows: Sequence[Sequence[tuple[Area, Sequence[Drop]]]],
    ends: Mapping[tuple[int, int], list[float]],
) -> list[Bus]:
    """Return the lines of a lane: from its sources to the first row's bus, the trunk, and the bus of every row."""
    color, trunk = lanes.colors[lane], left + LANE * lane + 4
    used = [number for number in range(len(rows)) if (number, lane) in ends]
    if not used:
        return []
    heights = {number: _y(lanes, rows[number], lane) for number in {0, *used}}
    found = [
        Bus(color, (source, (source[0], heights[0])), ((source[0], heights[0]),)) for source in lanes.sources[lane]
    ]
    joined = used[-1] > 0
    for number in sorted(heights):
        drops = ends.get((number, lane), [])
        stops = [*drops, *(x for x, _ in lanes.sources[lane] if number == 0), *([trunk] if joined else [])]
        y = heights[number]
        dots = tuple((x, y) for x in drops)
        if stops:
            found.append(Bus(color, ((min(stops), y), (max(stops), y)), dots))
    if joined:
        found.append(Bus(color, ((trunk, heights[0]), (trunk, heights[used[-1]]))))
    return found
