"""The paths between two NICs, from left to right: a line per path through the devices that it passes.

A path that failures change has a second line: how it was before them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ailb_gen.network.fabric import Cable
from ailb_gen.picture.diagram import BOLD, SMALL, Area, Box, Diagram, DrawnWire, Label, width_of
from ailb_gen.picture.model import DrawnDevice, Overlay
from ailb_gen.picture.view import Scene

MARGIN, ROW, BETWEEN = 20.0, 40.0, 44.0
# From a line up to the name of its path: a cross in the line's middle has room.
ABOVE = 8.0
# Above and below the line in a box, so that its name has room beside nothing else.
AROUND = 5.0
# From the letter of a line to its load, or to the sign of its state.
VALUE = 14.0


@dataclass(frozen=True, slots=True)
class PathRow:
    """A path in a row of its own: the number of its mark, the devices in order, the links between them.

    Of the links so many are `taken`, the others only before failures; `label` and `problem` are texts beside them.
    """

    number: int
    devices: tuple[str, ...]
    links: tuple[Cable, ...]
    taken: int
    label: str
    problem: str = ""

    @property
    def hops(self) -> Iterator[tuple[Cable, str, str]]:
        """Every link with the devices that the path leaves and enters by it."""
        return zip(self.links, self.devices, self.devices[1:], strict=False)

    @property
    def color(self) -> str:
        """The color in which the path begins."""
        return next((link.color for link in self.links if link.color), "")


# Boxes by row and device: one that neighboring rows share is the same in all.
Areas = Mapping[tuple[int, str], Area]


def path_diagram(scene: Scene, overlay: Overlay, ends: tuple[str, str]) -> Diagram:
    """Lay out the devices of all paths in columns, by how far they are from the source."""
    devices, links = scene.devices, {link.name: link for link in (*scene.links, *scene.attachments)}
    path_rows = _sorted(path_rows_of(overlay, ends[0], links))
    columns = _columns(path_rows, ends)
    areas, boxes = _areas(columns, path_rows, devices)
    wires: list[DrawnWire] = []
    labels: list[Label] = []
    named: set[str] = set()
    right = max((area.right for area in areas.values()), default=MARGIN)
    for row, path_row in enumerate(path_rows):
        wires += _wires(path_row, row, areas)
        labels += _texts(path_row, row, areas, named)
        if path_row.problem:
            labels.append(Label((right + 8, _middle(row) + 4), f"FAILS: {path_row.problem}", "failure", "start"))
    longest = max((width_of(f"FAILS: {path_row.problem}") for path_row in path_rows if path_row.problem), default=0.0)
    right += BOLD * longest + 8 * bool(longest)
    bottom = max((area.bottom for area in areas.values()), default=MARGIN)
    return Diagram(right + MARGIN, bottom + MARGIN, (), (), tuple(wires), tuple(boxes), tuple(labels))


def path_rows_of(overlay: Overlay, source: str, links: Mapping[str, Cable]) -> list[PathRow]:
    """Return a row per path, and one as it was before failures; they share one if the path now ends on that way."""
    found = []
    for number, mark in enumerate(overlay.paths):
        taken = len(mark.links)
        cut = taken < len(mark.former) and mark.former[:taken] == mark.links
        devices, passed = _passed(source, mark.former if cut else mark.links, links)
        found.append(PathRow(number, devices, passed, taken, mark.label, mark.problem))
        if mark.former and not cut:
            devices, passed = _passed(source, mark.former, links)
            found.append(PathRow(number, devices, passed, 0, f"{mark.label} before"))
    return found


def _passed(source: str, names: Sequence[str], links: Mapping[str, Cable]) -> tuple[tuple[str, ...], tuple[Cable, ...]]:
    """Return the devices and the links that a path passes."""
    devices, passed = [source], []
    for name in names:
        link = links[name]
        devices.append(link.b.device if link.a.device == devices[-1] else link.a.device)
        passed.append(link)
    return tuple(devices), tuple(passed)


def _sorted(path_rows: Sequence[PathRow]) -> list[PathRow]:
    """Put paths through the same devices beside each other, those before failures last, else keep their order."""
    first: dict[tuple[str, ...], int] = {}
    for at, path_row in enumerate(path_rows):
        first.setdefault(path_row.devices, at)
    return sorted(path_rows, key=lambda row: (not row.taken and bool(row.links), first[row.devices], row.number))


def _columns(path_rows: Sequence[PathRow], ends: tuple[str, str]) -> dict[str, int]:
    """Return the column of every device: as far from the source as on the longest path, the target in the last."""
    found = {ends[0]: 0}
    for path_row in path_rows:
        for at, name in enumerate(path_row.devices):
            found[name] = max(found.get(name, 0), at)
    found[ends[1]] = max([1, *(column for name, column in found.items() if name != ends[1])]) + 1
    return found


def _rooms(path_rows: Sequence[PathRow]) -> tuple[float, float]:
    """Return the room behind the first column, where the names of the paths stand, and behind the others."""
    ports = [end.port for path_row in path_rows for link in path_row.links for end in (link.a, link.b)]
    room = 2 * max((width_of(port, SMALL) for port in ports), default=0.0) + BETWEEN
    return room + max((width_of(row.label) for row in path_rows), default=0.0), room


def _areas(
    columns: Mapping[str, int], path_rows: Sequence[PathRow], devices: Mapping[str, DrawnDevice]
) -> tuple[Areas, list[Box]]:
    """Return the boxes: a device has one for all neighboring rows that pass it."""
    widths: dict[int, float] = defaultdict(float)
    for name, column in columns.items():
        widths[column] = max(widths[column], width_of(name) + 20)
    last = max(columns.values())
    first, room = _rooms(path_rows)
    lefts = {
        column: MARGIN + sum(widths[before] + (room if before else first) for before in range(column))
        for column in range(last + 1)
    }
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
    for at, (link, here, there) in enumerate(path_row.hops):
        x1, x2 = areas[row, here].right, areas[row, there].x
        if x2 < x1:
            x1, x2 = areas[row, here].x, areas[row, there].right
        attachment = not link.color
        letter, value = (None, None) if attachment else (((x1 + x2) / 2, y + 3), ((x1 + x2) / 2 + VALUE, y + 3))
        paths = (path_row.number,) if at < path_row.taken else ()
        yield DrawnWire((link,), ((x1, y), (x2, y)), letter, value, "", attachment, paths)


def _texts(path_row: PathRow, row: int, areas: Areas, named: set[str]) -> Iterator[Label]:
    """Yield the ports at both ends of every link, once per link, and the name of the path."""
    y = _middle(row)
    for link, here, there in path_row.hops:
        ends = {link.a.device: link.a.port, link.b.device: link.b.port}
        x1, x2 = areas[row, here].right, areas[row, there].x
        if link.name not in named:
            yield Label((x1 + 5, y - 4), ends[here], "small soft halo", "start")
            yield Label((x2 - 5, y - 4), ends[there], "small soft halo", "end")
        named.add(link.name)
    start = areas[row, path_row.devices[0]].right
    if not path_row.links:
        yield Label((start + 8, y - ABOVE), path_row.label, "halo", "start")
        return
    end, color = areas[row, path_row.devices[1]].x, path_row.color if path_row.taken else ""
    yield Label(
        ((start + end) / 2, y - ABOVE), path_row.label, "halo" if path_row.taken else "halo soft", "middle", color
    )
