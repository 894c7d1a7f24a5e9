"""A large fabric in groups: spines by color, stripes or leaves in rows, servers as one or in rows of their own.

A bus per lane (a color, or a rail) above every row, and a trunk on the left that joins rows, keep lines off boxes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import TypeVar

from ailb_gen.network.fabric import Cable
from ailb_gen.picture.buses import DROP, Drop, Lanes, bus_wires, trunk_width
from ailb_gen.picture.diagram import (
    GAP,
    HEIGHT,
    SMALL,
    Area,
    Box,
    Diagram,
    DrawnWire,
    Frame,
    box_of,
    labels_of,
    lines_of,
    moved,
    note_of,
    servers_text,
    width_of,
)
from ailb_gen.picture.model import DrawnDevice
from ailb_gen.picture.view import Scene
from ailb_gen.wording import counted

K = TypeVar("K", int, str)
MARGIN, PADDING, TITLE, BETWEEN = 20.0, 8.0, 18.0, 16.0
CELL, CELL_GAP, ACROSS = 20.0, 3.0, 8
Points = dict[str, list[tuple[float, float]]]
# Width to height of the whole, about that of a slide.
ASPECT = 1.7
SERVERS, SERVER = 24.0, 34.0
# From the spines down to the first bus, and from leaves down to the buses of the rails.
BELOW = 16.0
# With more leaves in a stripe than this, their servers are not drawn one by one.
RAILS = 16
# Servers of a stripe in one row, and how many rows are drawn.
SERVERS_ACROSS, SERVER_ROWS = 16, 4


@dataclass(frozen=True, slots=True)
class PlacedGroup:
    """A stripe or a leaf, drawn as if its upper left corner were at (0, 0); `area` is where its drops end."""

    area: Area
    drops: tuple[Drop, ...]
    frames: tuple[Frame, ...] = ()
    boxes: tuple[Box, ...] = ()
    wires: tuple[DrawnWire, ...] = ()

    @property
    def height(self) -> float:
        """How far down it reaches."""
        return max(area.bottom for area in (*(box.area for box in self.boxes), *(one.area for one in self.frames)))

    def at(self, x: float, y: float) -> PlacedGroup:
        """Return it at a place."""
        return PlacedGroup(
            moved(self.area, x, y),
            self.drops,
            tuple(replace(frame, area=moved(frame.area, x, y)) for frame in self.frames),
            tuple(replace(box, area=moved(box.area, x, y)) for box in self.boxes),
            tuple(replace(wire, points=tuple((a + x, b + y) for a, b in wire.points)) for wire in self.wires),
        )


def by_stripe(scene: Scene, colors: Sequence[str]) -> Diagram:
    """Lay out spines by color, and every stripe as a group."""
    lanes = _lane_colors(scene, colors)
    stripe_of = {leaf.name: stripe for stripe, row in scene.leaves.items() for leaf in row}
    links = _split(scene.links, lambda link: stripe_of[link.a.device])
    nodes = [_stripe(scene, stripe, _drops(_title(stripe), links.get(stripe, {}), lanes)) for stripe in scene.stripes]
    return _assembled(scene, lanes, nodes)


def by_leaf(scene: Scene, colors: Sequence[str]) -> Diagram:
    """Lay out spines by color, and every leaf; servers in rows of their own where there is one stripe."""
    lanes = _lane_colors(scene, colors)
    links = _split(scene.links, lambda link: link.a.device)
    leaves = [leaf for stripe in scene.stripes for leaf in scene.leaves.get(stripe, [])]
    together = len(scene.stripes) > 1 or len(leaves) > RAILS
    servers = _split(scene.attachments, lambda link: link.a.device) if together else {}
    devices = scene.devices
    nodes = [
        _leaf(leaf, _drops(leaf.name, links.get(leaf.name, {}), lanes), servers.get(leaf.name, {}).get("", []), devices)
        for leaf in leaves
    ]
    # Lines from leaves down to servers must not pass through other leaves.
    diagram = _assembled(scene, lanes, nodes, None if together else len(nodes))
    return diagram if together else _with_servers(diagram, scene)


def _title(stripe: int) -> str:
    return f"stripe {stripe}" if stripe else "in no stripe"


def _lane_colors(scene: Scene, colors: Sequence[str]) -> list[str]:
    """Return the colors of the links in the view, in the order of the fabric; links without one come last."""
    found = {link.color for link in scene.links}
    return [*(color for color in colors if color in found), *([""] if "" in found else [])]


def _split(links: Iterable[Cable], key: Callable[[Cable], K]) -> Mapping[K, Mapping[str, list[Cable]]]:
    found: dict[K, dict[str, list[Cable]]] = defaultdict(lambda: defaultdict(list))
    for link in links:
        found[key(link)][link.color].append(link)
    return found


def _drops(name: str, links: Mapping[str, list[Cable]], lanes: Sequence[str]) -> tuple[Drop, ...]:
    return tuple(
        Drop(lane, tuple(links[color]), f"{name} - {color or 'uncolored'}" if len(links[color]) > 1 else "")
        for lane, color in enumerate(lanes)
        if links.get(color)
    )


def _cells(devices: Sequence[DrawnDevice], labels: Sequence[str], x: float, y: float) -> list[Box]:
    """Return devices as small boxes with a label each, all as wide as the longest label needs."""
    width = max([CELL, *(width_of(label, SMALL) + 6 for label in labels)])
    return [
        Box(
            device,
            Area(x + at % ACROSS * (width + CELL_GAP), y + at // ACROSS * (CELL + CELL_GAP), width, CELL),
            (label,),
            "",
            True,
        )
        for at, (device, label) in enumerate(zip(devices, labels, strict=True))
    ]


def _stripe(scene: Scene, stripe: int, drops: tuple[Drop, ...]) -> PlacedGroup:
    leaves, servers, title = scene.leaves.get(stripe, []), scene.servers.get(stripe, []), _title(stripe)
    rails = [str(leaf.rail) for leaf in leaves if leaf.rail is not None]
    labels = rails if len(set(rails)) == len(leaves) else labels_of([leaf.name for leaf in leaves])
    cells = _cells(leaves, labels, PADDING, TITLE + 6)
    words = servers_text(servers)
    right = max([box.area.right for box in cells] + [len(drops) * DROP + 2, width_of(title) + 16, width_of(words) + 24])
    bottom = max([box.area.bottom for box in cells] + [TITLE + 6])
    frames = []
    if servers:
        area = Area(PADDING, bottom + 6, right - PADDING, SERVERS)
        names = tuple(server.name for server in servers)
        frames.append(Frame(f"{title} servers", area, words, names))
        bottom = area.bottom
    whole = Area(0, 0, right + PADDING, bottom + PADDING)
    return PlacedGroup(whole, drops, (Frame(title, whole, title), *frames), tuple(cells))


def _leaf(
    leaf: DrawnDevice, drops: tuple[Drop, ...], attachments: Sequence[Cable], devices: Mapping[str, DrawnDevice]
) -> PlacedGroup:
    box, names = box_of(leaf, 0, 0), tuple(dict.fromkeys(link.b.device for link in attachments))
    words = servers_text([devices[name] for name in names])
    wide = max(box.area.width, len(drops) * DROP + 8, width_of(words) + 12 if names else 0.0)
    box = replace(box, area=replace(box.area, width=wide))
    if not names:
        return PlacedGroup(box.area, drops, (), (box,))
    area = Area(0, HEIGHT + 20, box.area.width, SERVERS)
    frame = Frame(f"servers of {leaf.name}", area, words, names)
    name = f"{leaf.name} - servers" if len(attachments) > 1 else ""
    points = ((area.middle, HEIGHT), (area.middle, area.y))
    return PlacedGroup(
        box.area, drops, (frame,), (box,), (DrawnWire(tuple(attachments), points, None, None, name, True),)
    )


def _assembled(scene: Scene, lanes: Sequence[str], nodes: Sequence[PlacedGroup], across: int | None = None) -> Diagram:
    """Put groups of spines above rows of nodes, with buses in between."""
    across = across or _across(nodes, len(lanes))
    rows = [nodes[start : start + across] for start in range(0, len(nodes), across)]
    widths = [sum(node.area.width + BETWEEN for node in row) - BETWEEN for row in rows] or [0.0]
    left = MARGIN + trunk_width(len(lanes), len(rows))
    groups = _groups(scene.spines)
    inner = max(*widths, sum(area.width + BETWEEN for area, _, _ in groups))
    frames, boxes, sources, bottom = _top(groups, lanes, left, inner)
    paths = Lanes(tuple(lanes), tuple(tuple(sources.get(color, ())) for color in lanes))
    y, placed, spare = bottom + BELOW, [], (inner - widths[0]) / across
    for row in rows:
        x, line = left, []
        y += paths.height
        for node in row:
            line.append(node.at(x + spare / 2, y))
            x += node.area.width + BETWEEN + spare
        y += max(node.height for node in row) + BETWEEN
        placed.append(line)
    buses, wires = bus_wires(paths, MARGIN, [[(node.area, node.drops) for node in line] for line in placed])
    every = [node for line in placed for node in line]
    return Diagram(
        left + inner + MARGIN,
        y,
        (*frames, *(frame for node in every for frame in node.frames)),
        tuple(buses),
        (*wires, *(wire for node in every for wire in node.wires)),
        (*boxes, *(box for node in every for box in node.boxes)),
    )


def _across(nodes: Sequence[PlacedGroup], lanes: int) -> int:
    """Return how many nodes make a row, so that the whole is about as wide as a slide."""
    if not nodes:
        return 1
    width = max(node.area.width for node in nodes) + BETWEEN
    height = max(node.height for node in nodes) + Lanes(("",) * lanes, ()).height + BETWEEN
    ideal = sqrt(len(nodes) * ASPECT * height / width)
    near = range(max(1, ceil(ideal * 0.7)), ceil(ideal * 1.3) + 1)
    most = min(len(nodes), max(near))
    # Full rows look best: stripes are often a power of two.
    return min((count for count in near if count <= most), key=lambda count: (-len(nodes) % count, abs(count - ideal)))


def _groups(spines: Sequence[DrawnDevice]) -> list[tuple[Area, tuple[str, ...], list[Box]]]:
    """Return the spines by the colors that they carry: how large each group is, the colors, and its cells."""
    found: dict[tuple[str, ...], list[DrawnDevice]] = defaultdict(list)
    for spine in spines:
        found[spine.colors].append(spine)
    labels = dict(zip(spines, labels_of([spine.name for spine in spines]), strict=True))
    groups = []
    for colors, members in found.items():
        cells = _cells(members, [labels[spine] for spine in members], PADDING, TITLE + 6)
        right = max(*(box.area.right for box in cells), width_of(_heading(colors, members)) + PADDING)
        groups.append((Area(0, 0, right + PADDING, cells[-1].area.bottom + PADDING), colors, cells))
    return groups


def _heading(colors: tuple[str, ...], members: Sequence[object]) -> str:
    return f"{', '.join(colors) or 'uncolored'}: {counted(len(members), 'spine')}"


def _top(
    groups: Sequence[tuple[Area, tuple[str, ...], list[Box]]], lanes: Sequence[str], left: float, inner: float
) -> tuple[list[Frame], list[Box], Points, float]:
    """Spread the groups of spines over the width; returns frames, cells, where lanes begin, and the lower edge."""
    frames: list[Frame] = []
    boxes: list[Box] = []
    sources: Points = defaultdict(list)
    share, bottom = inner / max(1, len(groups)), max((area.bottom for area, _, _ in groups), default=0.0) + MARGIN
    for number, (size, colors, cells) in enumerate(groups):
        area = moved(size, left + share * (number + 0.5) - size.middle, bottom - size.bottom)
        title = _heading(colors, cells)
        frames.append(Frame(f"spines {', '.join(colors) or 'uncolored'}", area, title))
        boxes += [replace(box, area=moved(box.area, area.x, area.y)) for box in cells]
        carried = [color for color in lanes if color in colors] or [color for color in lanes if not color]
        for place, color in enumerate(carried):
            sources[color].append((area.middle + (place - (len(carried) - 1) / 2) * DROP, area.bottom))
    return frames, boxes, sources, bottom


def _server_drops(
    scene: Scene, leaves: Sequence[str], boxes: Sequence[Box], frames: Sequence[Frame]
) -> list[list[tuple[Area, list[Drop]]]]:
    """Return the rows of servers, or of several as one, with the cables of each from the leaves."""
    ends = {box.device.name: box.area for box in boxes} | {name: one.area for one in frames for name in one.members}
    found: dict[Area, dict[str, list[Cable]]] = {area: defaultdict(list) for area in ends.values()}
    for link in scene.attachments:
        found[ends[link.b.device]][link.a.device].append(link)
    rows: dict[float, list[tuple[Area, list[Drop]]]] = defaultdict(list)
    for area, cables in found.items():
        drops = [
            Drop(lane, tuple(cables[leaf]), f"{leaf} - {len(cables[leaf])} servers" if len(cables[leaf]) > 1 else "")
            for lane, leaf in enumerate(leaves)
            if leaf in cables
        ]
        rows[area.y].append((area, drops))
    return list(rows.values())


def _with_servers(diagram: Diagram, scene: Scene) -> Diagram:
    """Put the servers of one stripe below its leaves, with a bus per leaf."""
    leaves = {box.device.name: box.area for box in diagram.boxes if box.device.role == "leaf"}
    servers = [server for row in scene.servers.values() for server in row]
    if not servers or not leaves:
        return diagram
    lanes = Lanes(("",) * len(leaves), tuple(((area.middle, area.bottom),) for area in leaves.values()))
    alone, rest = servers[: SERVER_ROWS * SERVERS_ACROSS], servers[SERVER_ROWS * SERVERS_ACROSS :]
    rows = [alone[start : start + SERVERS_ACROSS] for start in range(0, len(alone), SERVERS_ACROSS)]
    left = MARGIN + trunk_width(len(leaves), len(rows) + bool(rest))
    names = {server.name: lines_of(server.name) for server in alone}
    notes = {server.name: note_of(server) for server in alone}
    height = HEIGHT if any(notes.values()) else SERVER
    texts = [width_of(line) for lines in names.values() for line in lines]
    width = max(len(leaves) * 9.0 + 4, *(wide + 8 for wide in (*texts, *(width_of(n, SMALL) for n in notes.values()))))
    y, boxes, frames = max(area.bottom for area in leaves.values()) + BELOW, [], []
    step = max(width + GAP, (diagram.width - MARGIN - left - width) / max(1, len(rows[0]) - 1))
    for row in rows:
        # The lanes of a row begin below the boxes of the row above.
        y += GAP + lanes.height
        boxes += [
            Box(one, Area(left + at * step, y, width, height), names[one.name], notes[one.name])
            for at, one in enumerate(row)
        ]
        y += height
    if rest:
        y += GAP + lanes.height
        words = servers_text(rest, more=True)
        area = Area(left, y, max(width, width_of(words) + 12, len(leaves) * DROP + 10), SERVER)
        frames.append(Frame(f"more servers of {_title(rest[0].stripe)}", area, words, tuple(one.name for one in rest)))
        y += SERVER
    buses, wires = bus_wires(lanes, MARGIN, _server_drops(scene, tuple(leaves), boxes, frames), attachment=True)
    right = max(diagram.width, *(box.area.right + MARGIN for box in boxes))
    return replace(
        diagram,
        width=right,
        height=y + MARGIN,
        frames=(*diagram.frames, *frames),
        buses=(*diagram.buses, *buses),
        wires=(*diagram.wires, *wires),
        boxes=(*diagram.boxes, *boxes),
    )
