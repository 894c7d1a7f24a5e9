"""A diagram before it is drawn, in user units of SVG: its parts, how boxes are sized, and how they stand in rows."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from typing import Literal
from xml.sax import saxutils

from ailb_gen.network.fabric import Cable
from ailb_gen.picture.model import DrawnDevice
from ailb_gen.wording import clean, counted

# The average width of a character of a sans-serif font, in parts of its size.
WIDTH = 0.58
SIZE, SMALL = 11.0, 9.0
# How much wider bold text is.
BOLD = 1.15
# Longer names are broken into two lines.
ONE_LINE = 9
PARTS = re.compile(r"[^-_.]*[-_.]?")
SIGNS = "-_."
WORDS = re.compile(r"[0-9]+|[^\W\d_]+|[\W_]+")


def width_of(text: str, size: float = SIZE) -> float:
    """Return about how wide a text is."""
    return len(text) * size * WIDTH


def lines_of(name: str) -> tuple[str, ...]:
    """Break a long name behind one of its signs, into two lines of about the same length."""
    parts = [part for part in PARTS.findall(name) if part]
    if len(name) <= ONE_LINE or len(parts) < 2:
        return (name,)
    cuts = ["".join(parts[:number]) for number in range(1, len(parts))]
    first = min(cuts, key=lambda cut: abs(2 * len(cut) - len(name)))
    return (first, name[len(first) :])


def labels_of(names: Sequence[str]) -> list[str]:
    """Return a short label of every name that distinguishes it: the last part in which all differ, or several.

    Parts are runs of digits and of letters. Names of another form lose their common beginning and end.
    """
    parts = [WORDS.findall(name) for name in names]
    columns = list(zip(*parts, strict=False))
    varying = [column for column in columns if len(set(column)) > 1]
    if len({len(row) for row in parts}) == 1 and all(part.isalnum() for column in varying for part in column):
        for column in tuple(varying):
            others = [other for other in varying if other is not column]
            if len(set(zip(*others, strict=True))) == len(names):
                varying = others
        found = [".".join(row) for row in zip(*varying, strict=True)]
    else:
        first, last = _common_length(parts), _common_length([row[::-1] for row in parts])
        found = ["".join(row[first : len(row) - last]).strip(SIGNS) for row in parts]
    return found if len(set(found)) == len(names) and all(found) else list(names)


def _common_length(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of equal parts with which all rows begin."""
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False)))


def escape(text: str) -> str:
    """Return a text as the content of an element; characters that XML cannot hold (XML 1.0, 2.2) are escaped."""
    return saxutils.escape(clean(text))


def quoteattr(text: str) -> str:
    """Return a text as the value of an attribute, in quotes; characters that XML cannot hold are escaped."""
    return saxutils.quoteattr(clean(text))


GAP, HEIGHT = 10.0, 46.0
# The distance of lines that end side by side at a box: room for a letter.
PITCH = 15.0
NARROWEST = 56.0
# How many names of colors are written in a spine.
COLORS = 3
Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The horizontal middle."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width


@dataclass(frozen=True, slots=True)
class Box:
    """A device; `lines` is the text in it, `note` the text below in small letters.

    A `cell` is a device in a group: small, without room for its name. `badge` is where the worst of its findings
    stands, where its corner has no room for all.
    """

    device: DrawnDevice
    area: Area
    lines: tuple[str, ...]
    note: str = ""
    cell: bool = False
    badge: Point | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame around several devices, or one box in their place: that of its `members`.

    `name` is that of the group, such as `stripe 3`; `title` is written in it, at its lower edge if it has the `foot`.
    """

    name: str
    area: Area
    title: str
    members: tuple[str, ...] = ()
    foot: bool = False


@dataclass(frozen=True, slots=True)
class DrawnWire:
    """A link, or several as one bundle, whose `name` is empty for one link.

    `letter` is where the letter of its color stands, `value` where its count or its load does. `attachment` marks a
    cable to a server. `paths` are the numbers of the only paths that this line stands for; None for all along it.
    """

    links: tuple[Cable, ...]
    points: tuple[Point, ...]
    letter: Point | None = None
    value: Point | None = None
    name: str = ""
    attachment: bool = False
    paths: tuple[int, ...] | None = None

    @property
    def color(self) -> str:
        """The color of all links, empty for none or several."""
        found = {link.color for link in self.links}
        return found.pop() if len(found) == 1 else ""


@dataclass(frozen=True, slots=True)
class Bus:
    """A line that bundles branch off, with dots where they do: decoration, for wires show the connections."""

    color: str
    points: tuple[Point, ...]
    dots: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class Label:
    """A text; `style` are classes of the style sheet, `color` is that of the fabric that it is about."""

    at: Point
    text: str
    style: str = ""
    anchor: Anchor = "middle"
    color: str = ""


@dataclass(frozen=True, slots=True)
class Diagram:
    """Everything that is drawn, lowest first: frames, buses, wires, boxes, labels."""

    width: float
    height: float
    frames: tuple[Frame, ...] = ()
    buses: tuple[Bus, ...] = ()
    wires: tuple[DrawnWire, ...] = ()
    boxes: tuple[Box, ...] = ()
    labels: tuple[Label, ...] = ()


def moved(area: Area, right: float, down: float = 0.0) -> Area:
    """Return an area that is shifted."""
    return Area(area.x + right, area.y + down, area.width, area.height)


def box_of(device: DrawnDevice, x: float, y: float, wires: int = 0, pitch: float = PITCH) -> Box:
    """Return a box that is wide enough for its name and for the lines that end at it."""
    lines, note = lines_of(device.name), note_of(device)
    width = max(NARROWEST, *(width_of(line) + 12 for line in lines), width_of(note, SMALL) + 12, wires * pitch + 6)
    return Box(device, Area(x, y, width, HEIGHT), lines, note)


def note_of(device: DrawnDevice) -> str:
    """Return the note below a device's name: a leaf's rail, a spine's colors, the kind and NIC speed of a server."""
    if device.role == "spine":
        more = len(device.colors) - COLORS
        return ", ".join(device.colors[:COLORS]) + (f" +{more}" if more > 0 else "")
    if device.role == "server":
        return ", ".join(filter(None, (device.kind, device.speeds)))
    return f"rail {device.rail}" if device.rail is not None else ""


def facts_of(device: DrawnDevice) -> tuple[str, ...]:
    """Return everything about a device but its name and role."""
    stripe = f"stripe {device.stripe}" if device.stripe else ""
    rail = f"rail {device.rail}" if device.rail is not None else ""
    return tuple(filter(None, (stripe, rail, *device.colors, device.kind, device.speeds)))


def servers_text(servers: Sequence[DrawnDevice], more: bool = False) -> str:
    """Return the title of servers that are drawn as one, such as `16 servers (2 storage)`; `more` besides others."""
    kinds = Counter(server.kind for server in servers if server.kind)
    words = f"… {counted(len(servers), 'more server')}" if more else counted(len(servers), "server")
    return words + (f" ({', '.join(f'{count} {kind}' for kind, count in kinds.items())})" if kinds else "")


def row_of(
    devices: Iterable[DrawnDevice], x: float, y: float, counts: Mapping[str, int], pitch: float = PITCH
) -> Iterator[Box]:
    """Yield boxes side by side; `counts` says how many lines end at each."""
    for device in devices:
        box = box_of(device, x, y, counts.get(device.name, 0), pitch)
        yield box
        x = box.area.right + GAP


def spread(boxes: Sequence[Box], x: float, width: float) -> list[Box]:
    """Give every box an equal share of the width, and put it in the middle of it; wide boxes get an equal gap."""
    share = width / max(1, len(boxes))
    gap = (width - sum(box.area.width for box in boxes)) / max(1, len(boxes))
    equal = all(a.area.width + b.area.width + GAP <= 2 * share for a, b in pairwise(boxes))
    found = []
    for box in boxes:
        own = share if equal else box.area.width + gap
        found.append(replace(box, area=moved(box.area, x + own / 2 - box.area.middle)))
        x += own
    return found


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
