"""Boxes of devices: how large they are, in rows, and where lines end at their edges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from ailb_gen.picture.diagram import Area, Box, moved
from ailb_gen.picture.model import Device, Link
from ailb_gen.picture.text import SMALL, lines_of, width_of

GAP, HEIGHT = 10.0, 46.0
# The distance of lines that end side by side at a box: room for a letter, and for a load of three digits.
PITCH, LOADED = 15.0, 18.0
NARROWEST = 56.0
# How many names of colors are written in a spine.
COLORS = 3


def box_of(device: Device, x: float, y: float, wires: int = 0, pitch: float = PITCH) -> Box:
    """Return a box that is wide enough for its name and for the lines that end at it."""
    lines, note = lines_of(device.name), note_of(device)
    width = max(NARROWEST, *(width_of(line) + 12 for line in lines), width_of(note, SMALL) + 12, wires * pitch + 6)
    return Box(device, Area(x, y, width, HEIGHT), lines, note)


def note_of(device: Device) -> str:
    """Return what is worth writing below the name of a device: the rail of a leaf, the colors of a spine."""
    if device.role == "spine":
        more = len(device.colors) - COLORS
        return ", ".join(device.colors[:COLORS]) + (f" +{more}" if more > 0 else "")
    return f"rail {device.rail}" if device.rail is not None else ""


def row_of(
    devices: Iterable[Device], x: float, y: float, counts: Mapping[str, int], pitch: float = PITCH
) -> Iterator[Box]:
    """Give boxes side by side; `counts` says how many lines end at each."""
    for device in devices:
        box = box_of(device, x, y, counts.get(device.name, 0), pitch)
        yield box
        x = box.area.right + GAP


def spread(boxes: Sequence[Box], x: float, width: float) -> list[Box]:
    """Give every box an equal share of the width, and put it in the middle of it; wide boxes get an equal gap."""
    share = width / max(1, len(boxes))
    gap = (width - sum(box.area.width for box in boxes)) / max(1, len(boxes))
    equal = all(a.area.width + b.area.width <= 2 * share for a, b in pairwise(boxes))
    found = []
    for box in boxes:
        own = share if equal else box.area.width + gap
        found.append(replace(box, area=moved(box.area, x + own / 2 - box.area.middle)))
        x += own
    return found


def bundled(links: Iterable[Link]) -> list[tuple[Link, ...]]:
    """Return the links between the same devices in the same color as one."""
    found: dict[tuple[str, str, str], list[Link]] = defaultdict(list)
    for link in links:
        found[link.a.device, link.b.device, link.color].append(link)
    return [tuple(row) for row in found.values()]


def places(pairs: Sequence[tuple[str, str]], areas: Mapping[str, Area], widest: float = PITCH) -> list[float]:
    """Return where on the edge of its first device every line ends, in the order of where the other ends are."""
    by_device: dict[str, list[int]] = defaultdict(list)
    for number, (here, _) in enumerate(pairs):
        by_device[here].append(number)
    found = [0.0] * len(pairs)
    for name, numbers in by_device.items():
        area = areas[name]
        numbers.sort(key=lambda number: areas[pairs[number][1]].middle)
        pitch = min(widest, (area.width - 8) / max(1, len(numbers)))
        for place, number in enumerate(numbers):
            found[number] = area.middle + (place - (len(numbers) - 1) / 2) * pitch
    return found
