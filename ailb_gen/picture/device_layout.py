"""A device with its ports, and the devices cabled to them: servers on the left, switches on the right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.network.fabric import Cable
from ailb_gen.network.model import speed_text
from ailb_gen.network.rails import natural
from ailb_gen.picture.diagram import (
    BOLD,
    SMALL,
    Anchor,
    Area,
    Box,
    Diagram,
    DrawnWire,
    Frame,
    Label,
    facts_of,
    width_of,
)
from ailb_gen.picture.model import DrawnDevice
from ailb_gen.picture.view import Scene

MARGIN, ROW, GAP, ROOM = 20.0, 19.0, 5.0, 150.0
# Of the name in the middle: the room that it has, and the size of its letters.
TITLE, STRONG = 40.0, 13.0
# A side with more links than this shows the links to a stripe as one.
MOST = 72


@dataclass(frozen=True, slots=True)
class Neighbors:
    """A device next to the one in the middle, or several as one, and the links to it in the order of their ports."""

    name: str
    devices: tuple[DrawnDevice, ...]
    links: tuple[Cable, ...]
    merged: bool

    @property
    def height(self) -> float:
        """How high its box is."""
        return ROW * (1 if self.merged else len(self.links))


def device_diagram(scene: Scene, name: str, state: str = "") -> Diagram:
    """Lay out a device, whose `state` is written in it, in the middle, and all devices cabled to it."""
    devices = scene.devices
    links, attachments = (
        sorted((link for link in cables if name in (link.a.device, link.b.device)), key=lambda link: _order(link, name))
        for cables in (scene.links, scene.attachments)
    )
    server = devices[name].role == "server"
    right = _neighbors(devices, name, attachments if server else links)
    left = _neighbors(devices, name, [] if server else attachments)
    if not left and len(right) > MOST // 2:
        half = (len(right) + 1) // 2
        left, right = right[:half], right[half:]
    return _drawn(devices[name], state, left, right)


def _neighbors(devices: dict[str, DrawnDevice], name: str, links: Sequence[Cable]) -> list[Neighbors]:
    """Return the devices at the other ends, in the order of the first link; stripe by stripe if there are too many."""
    merged = len(links) > MOST
    found: dict[str, list[Cable]] = defaultdict(list)
    for link in links:
        other = devices[_other(link, name)]
        found[f"stripe {other.stripe}" if merged and other.stripe else other.name].append(link)
    return [
        Neighbors(key, tuple(dict.fromkeys(devices[_other(link, name)] for link in row)), tuple(row), merged)
        for key, row in found.items()
    ]


def _other(link: Cable, name: str) -> str:
    return link.b.device if link.a.device == name else link.a.device


def _port(link: Cable, name: str) -> str:
    return link.a.port if link.a.device == name else link.b.port


def _order(link: Cable, name: str) -> tuple[tuple[int, int | str], ...]:
    """Return what sorts the links of a device by its ports."""
    return natural(_port(link, name))


def _texts_of(links: Iterable[Cable], name: str) -> dict[str, str]:
    """Return the text at the port of every link, by the link's name: with its speed where ports differ in that."""
    rows = list(links)
    mixed = len({link.speed_bps for link in rows}) > 1
    return {
        link.name: f"{_port(link, name)}, {speed_text(link.speed_bps).upper()}"
        if mixed and link.speed_bps
        else _port(link, name)
        for link in rows
    }


def _drawn(device: DrawnDevice, state: str, left: Sequence[Neighbors], right: Sequence[Neighbors]) -> Diagram:
    heights = [sum(one.height + GAP for one in side) - GAP for side in (left, right) if side]
    height = max([TITLE, *heights])
    ports = _texts_of((link for one in (*left, *right) for link in one.links), device.name)
    port = max([width_of(text, SMALL) for text in ports.values()], default=0.0) + 12
    title, about = BOLD * width_of(device.name, STRONG) + 16, width_of(_about(device, state), SMALL) + 16
    inner = max(title, about, (2 if left and right else 1) * port + 60)
    outer = {True: _width(left, device.name), False: _width(right, device.name)}
    x = MARGIN + (outer[True] + ROOM if left else 0.0)
    area = Area(x, MARGIN, inner, height + 2 * GAP + TITLE)
    boxes, frames, wires, labels = [], [], [], []
    for side, is_left in ((left, True), (right, False)):
        y = MARGIN + TITLE + GAP + (height - sum(one.height + GAP for one in side) + GAP) / 2
        for one in side:
            at = Area(MARGIN if is_left else area.right + ROOM, y, outer[is_left], one.height)
            if one.merged:
                count = len(one.links)
                frames.append(Frame(one.name, at, f"{one.name}: {count} links", tuple(d.name for d in one.devices)))
            else:
                outside = at.x - 4 if is_left else at.right + 4
                boxes.append(Box(one.devices[0], at, (), badge=(outside, at.y + at.height / 2)))
                labels += [_beside(at, one.name, is_left)]
            wires_of, labels_of = _links(device.name, ports, one, at, area, is_left)
            wires += wires_of
            labels += labels_of
            y += one.height + GAP
    heading = Label((area.middle, MARGIN + 18), device.name, "strong")
    note = Label((area.middle, MARGIN + 32), _about(device, state), "small soft")
    right_edge = area.right + (ROOM + outer[False] if right else 0.0)
    own = Box(device, area, ())
    return Diagram(
        right_edge + MARGIN,
        area.bottom + MARGIN,
        tuple(frames),
        (),
        tuple(wires),
        (own, *boxes),
        (heading, note, *labels),
    )


def _about(device: DrawnDevice, state: str) -> str:
    return ", ".join(filter(None, (device.role, *facts_of(device), state)))


def _width(side: Sequence[Neighbors], name: str) -> float:
    texts = [f"{one.name}: {len(one.links)} links" if one.merged else one.name for one in side]
    ports = [_port(link, _other(link, name)) for one in side if not one.merged for link in one.links]
    return max(map(width_of, texts), default=0.0) + max((width_of(text, SMALL) for text in ports), default=0.0) + 26


def _beside(at: Area, name: str, is_left: bool) -> Label:
    anchor: Anchor = "start" if is_left else "end"
    return Label((at.x + 8 if is_left else at.right - 8, at.y + at.height / 2 + 4), name, "", anchor)


def _links(
    name: str, texts: Mapping[str, str], one: Neighbors, at: Area, area: Area, is_left: bool
) -> tuple[list[DrawnWire], list[Label]]:
    """Return the lines to a device, straight, with the ports at both ends."""
    near, far = (area.x, at.right) if is_left else (area.right, at.x)
    inward: Anchor = "start" if is_left else "end"
    outward: Anchor = "end" if is_left else "start"
    sign = 1 if is_left else -1
    rows = [one.links] if one.merged else [(link,) for link in one.links]
    wires, labels = [], []
    for number, row in enumerate(rows):
        y = at.y + ROW * (number + 0.5)
        title = f"{name} - {one.name}" if len(row) > 1 else ""
        attachment = any(device.role == "server" for device in one.devices) or not row[0].color
        middle = (near + far) / 2
        wires.append(
            DrawnWire(row, ((near, y), (far, y)), (middle, y + 3), (middle + sign * -36, y + 3), title, attachment)
        )
        ports = texts[row[0].name] + (" ..." if len(row) > 1 else "")
        labels.append(Label((near + sign * 6, y + 3.5), ports, "small", inward))
        if not one.merged:
            other = _port(row[0], _other(row[0], name))
            labels.append(Label((far - sign * 6, y + 3.5), other, "small soft", outward))
    return wires, labels
