"""A small fabric: spines on top, leaves by stripe, servers below; every link is a line of its own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ailb_gen.network.fabric import Cable
from ailb_gen.picture.diagram import (
    GAP,
    HEIGHT,
    PITCH,
    Area,
    Box,
    Diagram,
    DrawnWire,
    Frame,
    moved,
    places,
    row_of,
    servers_text,
    spread,
    width_of,
)
from ailb_gen.picture.view import Scene, bundled

MARGIN, PADDING, BETWEEN = 20.0, 12.0, 26.0
ROOM_BELOW, TITLE = 90.0, 14.0
# Lines end vertically at boxes, where the letter of the color and a value stand beside each other.
STUB_BELOW, STUB_ABOVE = 26.0, 10.0


def small_diagram(scene: Scene, servers: Mapping[int, int], pitch: float = PITCH) -> Diagram:
    """Lay out every device and link; `pitch` is the distance of lines at a leaf.

    Of the servers of each stripe so many as `servers` says are boxes, the others one box.
    """
    leaves = sum(len(row) for row in scene.leaves.values())
    above = min(320.0, 130.0 + 14.0 * leaves) if scene.spines else 0.0
    y = MARGIN + (HEIGHT + above if scene.spines else 0.0)
    frames, boxes, right = _stripes(scene, servers, y, pitch)
    bundles = bundled(scene.links)
    down = Counter(row[0].b.device for row in bundles)
    most = (right - MARGIN) / max(1, len(scene.spines)) * 0.75
    spines = [_at_most(box, most) for box in row_of(scene.spines, MARGIN, MARGIN, down)]
    inner = max(right - MARGIN, sum(box.area.width + GAP for box in spines))
    spines = spread(spines, MARGIN, inner)
    shift = (inner - (right - MARGIN)) / 2
    boxes = [replace(box, area=moved(box.area, shift)) for box in boxes]
    frames = [replace(frame, area=moved(frame.area, shift)) for frame in frames]
    areas = {box.device.name: box.area for box in (*spines, *boxes)}
    grouped = {member: frame.area for frame in frames for member in frame.members}
    wires = (*_above(bundles, areas, pitch), *_below(scene.attachments, areas, grouped))
    ends = [area.bottom for area in (*areas.values(), *(frame.area for frame in frames))]
    bottom = max(ends, default=MARGIN)
    return Diagram(inner + 2 * MARGIN, bottom + MARGIN, tuple(frames), (), wires, (*spines, *boxes))


def _at_most(box: Box, width: float) -> Box:
    """Return a box that is no wider than it may be, but for its name."""
    plain = next(row_of([box.device], 0, 0, {})).area.width
    return replace(box, area=replace(box.area, width=max(plain, min(width, box.area.width))))


def _stripes(scene: Scene, shown: Mapping[int, int], y: float, pitch: float) -> tuple[list[Frame], list[Box], float]:
    """Lay out the stripes side by side; returns their frames, their boxes and where they end."""
    frames: list[Frame] = []
    groups: list[Frame] = []
    boxes: list[Box] = []
    x, up = MARGIN, Counter(row[0].a.device for row in bundled(scene.links))
    for stripe in scene.stripes:
        start, below = x + PADDING, y + HEIGHT + ROOM_BELOW
        leaves, servers = scene.leaves.get(stripe, []), scene.servers.get(stripe, [])
        upper = list(row_of(leaves, start, y, up, pitch))
        alone, rest = servers[: shown.get(stripe, 0)], servers[shown.get(stripe, 0) :]
        lower = list(row_of(alone, start, below, {}))
        words = servers_text(rest, more=bool(alone)) if rest else ""
        more = width_of(words) + 12 + GAP if rest else 0.0
        needed = (sum(box.area.width + GAP for box in row) - GAP for row in (upper, lower))
        inner = max(2 * HEIGHT, *(width + room for width, room in zip(needed, (0.0, more), strict=True)))
        title = f"stripe {stripe}" if stripe else "in no stripe"
        if rest:
            left = start + inner - more + GAP if alone else start
            area = Area(left, below, start + inner - left, HEIGHT)
            groups.append(Frame(f"{title} servers", area, words, tuple(server.name for server in rest)))
        # Half a gap stands on either side of a box.
        boxes += [*spread(upper, start - GAP / 2, inner + GAP), *spread(lower, start - GAP / 2, inner - more + GAP)]
        bottom = (below if servers else y) + HEIGHT
        area = Area(x, y - PADDING, inner + 2 * PADDING, bottom - y + 2 * PADDING + TITLE)
        frames.append(Frame(title, area, title, foot=True))
        x = area.right + BETWEEN
    return [*frames, *groups], boxes, max(MARGIN, x - BETWEEN)


def _above(bundles: list[tuple[Cable, ...]], areas: Mapping[str, Area], pitch: float) -> Iterator[DrawnWire]:
    """Yield a line per bundle from a leaf up to a spine; those of a box end in the order of where they lead."""
    pairs = [(row[0].a.device, row[0].b.device) for row in bundles]
    lower, upper = places(pairs, areas, pitch), places([(there, here) for here, there in pairs], areas)
    for number, row in enumerate(bundles):
        (here, there), x1, x2 = pairs[number], lower[number], upper[number]
        y1, y2 = areas[here].y, areas[there].bottom
        points = ((x1, y1), (x1, y1 - STUB_BELOW), (x2, y2 + STUB_ABOVE), (x2, y2))
        name = f"{here} - {there} {row[0].color}".strip() if len(row) > 1 else ""
        yield DrawnWire(row, points, (x1, y1 - 4), (x1, y1 - 15), name)


def _below(attachments: Iterable[Cable], areas: Mapping[str, Area], grouped: Mapping[str, Area]) -> Iterator[DrawnWire]:
    """Yield the lines from the leaves down to the servers; those to servers that are shown as one are bundles."""
    bundles: dict[tuple[str, object], list[Cable]] = defaultdict(list)
    for link in attachments:
        bundles[link.a.device, grouped.get(link.b.device, link.b)].append(link)
    rows = [tuple(row) for row in bundles.values()]
    pairs = [(row[0].a.device, row[0].b.device) for row in rows]
    both = {**grouped, **areas}
    upper, lower = places(pairs, both), places([(there, here) for here, there in pairs], both)
    for number, row in enumerate(rows):
        here, there = pairs[number]
        points = ((upper[number], both[here].bottom), (lower[number], both[there].y))
        value = ((points[0][0] + points[1][0]) / 2, (points[0][1] + points[1][1]) / 2)
        name = f"{here} - {len(row)} servers" if len(row) > 1 else ""
        yield DrawnWire(row, points, None, value if name else None, name, attachment=True)
