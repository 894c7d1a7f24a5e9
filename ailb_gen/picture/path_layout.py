"""The paths between two NICs, from left to right: a line per path through the devices that it passes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ailb_gen.network.fabric import Cable
from ailb_gen.picture.diagram import SMALL, Area, Box, Diagram, DrawnWire, Label, width_of
from ailb_gen.picture.model import DrawnDevice, Overlay
from ailb_gen.picture.view import Scene

MARGIN, ROW, BETWEEN = 20.0, 36.0, 40.0
# Above and below the line in a box, so that its name has room beside nothing else.
AROUND = 5.0


@dataclass(frozen=True, slots=True)
class PathRow:
    """A path in a row of its own: the number of its mark, the devices in order, the links between them."""

    number: int
    devices: tuple[str, ...]
    links: tuple[Cable, ...]

    @property
    def color(self) -> str:
        """The color in which the path begins."""
        return next((link.color for link in self.links if link.color), "")


# Boxes by row and device: one that neighboring rows share is the same in all.
Areas = Mapping[tuple[int, str], Area]


def path_diagram(scene: Scene, overlay: Overlay, ends: tuple[str, str]) -> Diagram:
    """Lay out the devices of all paths in columns, by how far they are from the source."""
    devices, links = scene.devices, {link.name: link for link in (*scene.links, *scene.attachments)}
    path_rows = _sorted([_path_row(at, ends[0], mark.links, links) for at, mark in enumerate(overlay.paths)])
    columns = _columns(path_rows, ends)
    areas, boxes = _areas(columns, path_rows, devices, _room(path_rows, overlay))
    wires: list[DrawnWire] = []
    labels: list[Label] = []
    named: set[tuple[str, str]] = set()
    for row, path_row in enumerate(path_rows):
        wires += _wires(path_row, row, areas)
        labels += _texts(path_row, row, areas, overlay, named)
    right = max((area.right for area in areas.values()), default=MARGIN)
    right = max(right, *(label.at[0] + width_of(label.text) for label in labels), 0.0)
    bottom = max((area.bottom for area in areas.values()), default=MARGIN)
    return Diagram(right + MARGIN, bottom + MARGIN, (), (), tuple(wires), tuple(boxes), tuple(labels))


def _path_row(number: int, source: str, names: Sequence[str], links: Mapping[str, Cable]) -> PathRow:
    devices, passed = [source], []
    for name in names:
        link = links[name]
        devices.append(link.b.device if link.a.device == devices[-1] else link.a.device)
        passed.append(link)
    return PathRow(number, tuple(devices), tuple(passed))


def _sorted(path_rows: Sequence[PathRow]) -> list[PathRow]:
    """Put paths through the same devices beside each other, else keep their order."""
    first: dict[tuple[str, ...], int] = {}
    for at, path_row in enumerate(path_rows):
        first.setdefault(path_row.devices, at)
    return sorted(path_rows, key=lambda path_row: (first[path_row.devices], path_row.number))


def _columns(path_rows: Sequence[PathRow], ends: tuple[str, str]) -> dict[str, int]:
    """Return the column of every device: as far from the source as on the longest path, the target in the last."""
    found = {ends[0]: 0}
    for path_row in path_rows:
        for at, name in enumerate(path_row.devices):
            found[name] = max(found.get(name, 0), at)
    found[ends[1]] = max([*found.values(), 2])
    return found


def _room(path_rows: Sequence[PathRow], overlay: Overlay) -> float:
    ports = [end.port for path_row in path_rows for link in path_row.links for end in (link.a, link.b)]
    widest = max((width_of(port, SMALL) for port in ports), default=0.0)
    return 2 * widest + max((width_of(mark.label) for mark in overlay.paths), default=0.0) + BETWEEN


def _areas(
    columns: Mapping[str, int], path_rows: Sequence[PathRow], devices: Mapping[str, DrawnDevice], room: float
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
        rows = [row for row, path_row in enumerate(path_rows) if name in path_row.devices]
        rows = list(range(max(1, len(path_rows)))) if name in everywhere else rows
        for start, end in _runs(rows):
            y, height = MARGIN + ROW * start + AROUND, ROW * (end - start + 1) - 2 * AROUND
            area = Area(lefts[column], y, widths[column], height)
            areas |= {(row, name): area for row in range(start, end + 1)}
            if name in devices:
                boxes.append(Box(devices[name], area, (name,)))
    return areas, boxes


def _runs(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of every run of numbers without a gap."""
    for _, pairs in groupby(enumerate(rows), lambda pair: pair[1] - pair[0]):
        run = [row for _, row in pairs]
        yield run[0], run[-1]


def _middle(row: int) -> float:
    return MARGIN + ROW * (row + 0.5)


def _wires(path_row: PathRow, row: int, areas: Areas) -> Iterator[DrawnWire]:
    y = _middle(row)
    for link, here, there in zip(path_row.links, path_row.devices, path_row.devices[1:], strict=False):
        x1, x2 = areas[row, here].right, areas[row, there].x
        if x2 < x1:
            x1, x2 = areas[row, here].x, areas[row, there].right
        attachment = not link.color
        letter = None if attachment else ((x1 + x2) / 2, y + 3)
        yield DrawnWire((link,), ((x1, y), (x2, y)), letter, None, "", attachment, (path_row.number,))


def _texts(path_row: PathRow, row: int, areas: Areas, overlay: Overlay, named: set[tuple[str, str]]) -> Iterator[Label]:
    """Yield the ports at both ends of every link, once per link, the name of the path, and why it fails."""
    y, mark = _middle(row), overlay.paths[path_row.number]
    for link, here, there in zip(path_row.links, path_row.devices, path_row.devices[1:], strict=False):
        ends = {link.a.device: link.a.port, link.b.device: link.b.port}
        x1, x2 = areas[row, here].right, areas[row, there].x
        if link.name not in {name for name, _ in named}:
            yield Label((x1 + 5, y - 4), ends[here], "small soft halo", "start")
            yield Label((x2 - 5, y - 4), ends[there], "small soft halo", "end")
        named.add((link.name, here))
    start = areas[row, path_row.devices[0]].right
    if path_row.links:
        end = areas[row, path_row.devices[1]].x
        yield Label(((start + end) / 2, y - 5), mark.label, "halo", "middle", path_row.color)
    else:
        yield Label((start + 8, y - 5), mark.label, "halo", "start")
    if mark.problem:
        right = areas[row, path_row.devices[-1]].right
        yield Label((right + 8, y + (12 if not path_row.links else 4)), f"FAILS: {mark.problem}", "failure", "start")
