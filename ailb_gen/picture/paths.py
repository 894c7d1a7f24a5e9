"""The paths between two NICs, from left to right: a line per path through the devices that it passes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.picture.diagram import Area, Box, Diagram, Label, Wire
from ailb_gen.picture.model import Device, Link, Overlay
from ailb_gen.picture.scene import Scene
from ailb_gen.picture.text import SMALL, width_of

MARGIN, ROW, BETWEEN = 20.0, 36.0, 40.0
# Above and below the line in a box, so that its name has room beside nothing else.
AROUND = 5.0


@dataclass(frozen=True, slots=True)
class Strand:
    """A path in a row of its own: the number of its mark, the devices in order, the links between them."""

    number: int
    devices: tuple[str, ...]
    links: tuple[Link, ...]

    @property
    def color(self) -> str:
        """The color in which the path begins."""
        return next((link.color for link in self.links if link.color), "")


# Boxes by row and device: one that neighboring rows share is the same in all.
Areas = Mapping[tuple[int, str], Area]


def paths_drawn(scene: Scene, overlay: Overlay, ends: tuple[str, str]) -> Diagram:
    """Lay out the devices of all paths in columns, by how far they are from the source."""
    devices, links = scene.devices, {link.name: link for link in (*scene.links, *scene.attachments)}
    strands = _sorted([_strand(at, ends[0], mark.links, links) for at, mark in enumerate(overlay.paths)])
    columns = _columns(strands, ends)
    areas, boxes = _areas(columns, strands, devices, _room(strands, overlay))
    wires: list[Wire] = []
    labels: list[Label] = []
    named: set[tuple[str, str]] = set()
    for row, strand in enumerate(strands):
        wires += _wires(strand, row, areas)
        labels += _texts(strand, row, areas, overlay, named)
    right = max((area.right for area in areas.values()), default=MARGIN)
    right = max(right, *(label.at[0] + width_of(label.text) for label in labels), 0.0)
    bottom = max((area.bottom for area in areas.values()), default=MARGIN)
    return Diagram(right + MARGIN, bottom + MARGIN, (), (), tuple(wires), tuple(boxes), tuple(labels))


def _strand(number: int, source: str, names: Sequence[str], links: Mapping[str, Link]) -> Strand:
    devices, passed = [source], []
    for name in names:
        link = links[name]
        devices.append(link.b.device if link.a.device == devices[-1] else link.a.device)
        passed.append(link)
    return Strand(number, tuple(devices), tuple(passed))


def _sorted(strands: Sequence[Strand]) -> list[Strand]:
    """Put paths through the same devices beside each other, else keep their order."""
    first: dict[tuple[str, ...], int] = {}
    for at, strand in enumerate(strands):
        first.setdefault(strand.devices, at)
    return sorted(strands, key=lambda strand: (first[strand.devices], strand.number))


def _columns(strands: Sequence[Strand], ends: tuple[str, str]) -> dict[str, int]:
    """Return the column of every device: as far from the source as on the longest path, the target in the last."""
    found = {ends[0]: 0}
    for strand in strands:
        for at, name in enumerate(strand.devices):
            found[name] = max(found.get(name, 0), at)
    found[ends[1]] = max([*found.values(), 2])
    return found


def _room(strands: Sequence[Strand], overlay: Overlay) -> float:
    """Return how much room there must be between columns for the ports and what is written between them."""
    ports = [end.port for strand in strands for link in strand.links for end in (link.a, link.b)]
    widest = max((width_of(port, SMALL) for port in ports), default=0.0)
    return 2 * widest + max((width_of(mark.label) for mark in overlay.paths), default=0.0) + BETWEEN


def _areas(
    columns: Mapping[str, int], strands: Sequence[Strand], devices: Mapping[str, Device], room: float
) -> tuple[Areas, list[Box]]:
    """Return the boxes: a device has one for all neighboring rows that pass it."""
    widths: dict[int, float] = defaultdict(float)
    for name, column in columns.items():
        widths[column] = max(widths[column], width_of(name) + 20)
    last = max(columns.values())
    lefts = {column: MARGIN + sum(widths[before] + room for before in range(column)) for column in range(last + 1)}
    everywhere = [name for name, column in columns.items() if column in (0, last)]
    areas: dict[tuple[int, str], Area] = {}
    boxes: list[Box] = []
    for name, column in columns.items():
        rows = [row for row, strand in enumerate(strands) if name in strand.devices]
        rows = list(range(max(1, len(strands)))) if name in everywhere else rows
        for start, end in _runs(rows):
            y, height = MARGIN + ROW * start + AROUND, ROW * (end - start + 1) - 2 * AROUND
            area = Area(lefts[column], y, widths[column], height)
            areas |= {(row, name): area for row in range(start, end + 1)}
            if name in devices:
                boxes.append(Box(devices[name], area, (name,)))
    return areas, boxes


def _runs(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give the first and the last of every run of numbers without a gap."""
    for row in rows:
        if row - 1 not in rows:
            end = row
            while end + 1 in rows:
                end += 1
            yield row, end


def _middle(row: int) -> float:
    return MARGIN + ROW * (row + 0.5)


def _wires(strand: Strand, row: int, areas: Areas) -> Iterator[Wire]:
    y = _middle(row)
    for link, here, there in zip(strand.links, strand.devices, strand.devices[1:], strict=False):
        x1, x2 = areas[row, here].right, areas[row, there].x
        if x2 < x1:
            x1, x2 = areas[row, here].x, areas[row, there].right
        attachment = not link.color
        letter = None if attachment else ((x1 + x2) / 2, y + 3)
        yield Wire((link,), ((x1, y), (x2, y)), letter, None, "", attachment, (strand.number,))


def _texts(strand: Strand, row: int, areas: Areas, overlay: Overlay, named: set[tuple[str, str]]) -> Iterator[Label]:
    """Give the ports at both ends of every link, once per link, what the path is called, and why it fails."""
    y, mark = _middle(row), overlay.paths[strand.number]
    for link, here, there in zip(strand.links, strand.devices, strand.devices[1:], strict=False):
        ends = {link.a.device: link.a.port, link.b.device: link.b.port}
        x1, x2 = areas[row, here].right, areas[row, there].x
        if link.name not in {name for name, _ in named}:
            yield Label((x1 + 5, y - 4), ends[here], "small soft halo", "start")
            yield Label((x2 - 5, y - 4), ends[there], "small soft halo", "end")
        named.add((link.name, here))
    start = areas[row, strand.devices[0]].right
    if strand.links:
        end = areas[row, strand.devices[1]].x
        yield Label(((start + end) / 2, y - 5), mark.label, "halo", "middle", strand.color)
    else:
        yield Label((start + 8, y - 5), mark.label, "halo", "start")
    if mark.problem:
        right = areas[row, strand.devices[-1]].right
        yield Label((right + 8, y + (12 if not strand.links else 4)), f"FAILS: {mark.problem}", "failure", "start")
