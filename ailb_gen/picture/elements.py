"""The elements of a picture in SVG: frames, buses, wires, boxes, labels, with the marks of an overlay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import dist

from ailb_gen.picture.diagram import (
    SMALL,
    Area,
    Box,
    Bus,
    Diagram,
    DrawnWire,
    Frame,
    Label,
    Point,
    escape,
    quoteattr,
    width_of,
)
from ailb_gen.picture.model import Overlay
from ailb_gen.picture.palette import Coloring
from ailb_gen.picture.status import (
    SEVERITIES,
    Counts,
    WireStatus,
    device_text,
    findings,
    findings_text,
    is_down,
    load_step,
    load_width,
    lost_text,
    state_of,
    value_text,
    wire_status,
    wire_text,
)
from ailb_gen.wording import some

# Octagon, triangle and square around their middle.
SHAPES = {"error": "M-3.5-8.5h7l5 5v7l-5 5h-7l-5-5v-7z", "warning": "M0-10.5 10.5 8h-21z", "note": "M-8-8H8V8H-8z"}
# Of states, around their middle: a cross, an empty page, the bars of a pause.
SIGNS = {
    "failed": ("sign", "M-5-5 5 5M5-5-5 5"),
    "no file": ("page", "M-4-6h5l3 3v9h-8z"),
    "drained": ("sign", "M-3-5v10M3-5v10"),
}
# Hides what is below a sign, whose middle needs so much room.
CLEAR = '<circle class="clear" r="7"/>'
NEAR = 10.0
# From a value up to the number of links that are lost.
ABOVE = 11.0
# From a badge to the next, and where along a wire they may stand, best first.
BADGE = 19.0
SHARES = (0.5, 0.35, 0.65, 0.2, 0.8, 0.43, 0.57, 0.28, 0.72)
STRIPE = re.compile(r"stripe \d+")
BUTTON = 'tabindex="0" role="button"'


@dataclass(frozen=True, slots=True)
class Styling:
    """The style of elements: how each color is drawn, and the marks.

    `uniform` is the number of links that all bundles have, and none then shows; 1 where they differ.
    """

    colors: Mapping[str, Coloring]
    overlay: Overlay
    uniform: int = 1

    def style(self, color: str) -> str:
        """Return the class of a color's lines."""
        return self.colors[color].style if color in self.colors else "plain"


def elements(diagram: Diagram, styling: Styling) -> Iterator[str]:
    """Yield every element, lowest first."""
    frames = [frame for frame in diagram.frames if not frame.members]
    yield from (_frame(frame, len(frames) > 1 and STRIPE.fullmatch(frame.name) is not None) for frame in frames)
    if diagram.buses:
        states = _bus_states(diagram.wires, styling.overlay)
        yield '<g class="buses" aria-hidden="true">'
        yield from (_bus(bus, styling, states.get(bus.color, "")) for bus in diagram.buses)
        yield "</g>"
    # Failed links and those on a path are above the rest.
    yield from (part for _, part in sorted((_wire(wire, styling) for wire in diagram.wires), key=lambda row: row[0]))
    # Other wires would hide badges: these are above all.
    marks = "".join(_wire_badges(diagram.wires, styling))
    if marks:
        yield f'<g class="badges" pointer-events="none" aria-hidden="true">{marks}</g>'
    yield from (_group(frame, styling) for frame in diagram.frames if frame.members)
    yield from (_box(box, styling) for box in diagram.boxes)
    yield from (_label(label, styling) for label in diagram.labels)


def number(value: float) -> str:
    """Return a coordinate, to a tenth."""
    return f"{value:.1f}".removesuffix(".0")


def text(at: Point, words: str, style: str = "", anchor: str = "middle") -> str:
    """Return a text."""
    names = f' class="{style}"' if style else ""
    return f'<text{names} x="{number(at[0])}" y="{number(at[1])}" text-anchor="{anchor}">{escape(words)}</text>'


def badges(found: Counts, at: Point) -> str:
    """Return a shape with a number for every severity that there is, the worst at the place, others left of it."""
    x, y = at
    parts = []
    for severity in SEVERITIES:
        if found[severity]:
            count = str(found[severity]) if found[severity] < 100 else "99+"
            parts.append(
                f'<g class="badge {severity}" transform="translate({number(x)} {number(y)})">'
                f'<path d="{SHAPES[severity]}"/>'
                f'<text y="{"6" if severity == "warning" else "3.2"}">{count}</text></g>'
            )
            x -= BADGE
    return "".join(parts)


def _rect(style: str, area: Area, radius: int = 5) -> str:
    return (
        f'<rect class="{style}" x="{number(area.x)}" y="{number(area.y)}" rx="{radius}"'
        f' width="{number(area.width)}" height="{number(area.height)}"/>'
    )


def _frame(frame: Frame, unfolds: bool) -> str:
    """Return the frame around a group; a stripe among several `unfolds`: it has a view of its own."""
    area = frame.area
    at, anchor = ((area.middle, area.bottom - 8), "middle") if frame.foot else ((area.x + 8, area.y + 15), "start")
    name, title = quoteattr(frame.name), text(at, frame.title, "soft", anchor)
    button = f' class="group" {BUTTON} aria-label={name}><title>{escape(frame.name)}</title>' if unfolds else ">"
    return f"<g data-group={name}{button}{_rect('frame', area, 7)}{title}</g>"


def _group(frame: Frame, styling: Styling) -> str:
    area, found = frame.area, findings(styling.overlay, frame.members)
    label = ", ".join(part for part in (frame.name, frame.title, findings_text(found)) if part)
    title = text((area.middle, area.y + area.height / 2 + 4), frame.title)
    inside = f"{_rect('box', area)}{title}{badges(found, (area.right, area.y))}"
    return _button("group", f"data-group={quoteattr(frame.name)}", label, inside)


def _button(style: str, data: str, label: str, inside: str) -> str:
    """Return a part of the picture that can be chosen."""
    head = f'<g class="{style}" {data} {BUTTON} aria-label={quoteattr(label)}>'
    return f"{head}<title>{escape(label)}</title>{inside}</g>"


def _bus_states(wires: Iterable[DrawnWire], overlay: Overlay) -> dict[str, str]:
    """Return the class of every color of which no link is in service."""
    links = {link.name: link for wire in wires if not wire.attachment for link in wire.links}.values()
    up = {link.color for link in links if not is_down(overlay, link) and link.name not in overlay.drained}
    return {link.color: "down" if is_down(overlay, link) else "drained" for link in links if link.color not in up}


def _bus(bus: Bus, styling: Styling, state: str) -> str:
    style = styling.style(bus.color) if not state else "plain"
    dots = "".join(f'<circle class="dot {style}" cx="{number(x)}" cy="{number(y)}" r="2"/>' for x, y in bus.dots)
    line = f'<path class="wire {style}" d="{_path(bus.points)}"/>{dots}'
    return f'<g class="{state}">{line}</g>' if state else line


def _wire(wire: DrawnWire, styling: Styling) -> tuple[bool, str]:
    """Return whether a wire is drawn above others, and the wire."""
    status = wire_status(styling.overlay, wire)
    label = wire_text(styling.overlay, wire, status)
    data = f"data-bundle={quoteattr(wire.name)}" if wire.name else f"data-link={quoteattr(wire.links[0].name)}"
    loaded = status.load is not None and status.down < len(wire.links)
    width = f' stroke-width="{number(load_width(status.load or 0.0))}"' if loaded else ""
    path = _path(wire.points)
    inside = (
        f'<path class="wide" d="{path}"/><path class="wire"{width} d="{path}"/>'
        f"{_letter(wire, status, styling)}{_value(wire, status, styling)}"
        f"{_lost(wire, status, styling)}{_sign_of(wire, status)}{_called(wire, status, styling)}"
    )
    above = bool(status.down or status.paths or status.findings)
    return above, _button(" ".join(_classes(wire, status, styling)), data, label, inside)


def _classes(wire: DrawnWire, status: WireStatus, styling: Styling) -> Iterator[str]:
    yield "link"
    yield styling.style(wire.color)
    if wire.attachment:
        yield "attachment"
    if status.down == len(wire.links):
        yield "down"
    elif status.drained == len(wire.links):
        yield "drained"
    elif status.load is not None:
        yield f"load{load_step(status.load)}"
    if status.findings:
        yield "has-findings"
    if status.paths:
        yield "on-path"
    elif wire.paths is not None:
        yield "former"
    elif styling.overlay.paths:
        yield "faded"


def _letter(wire: DrawnWire, status: WireStatus, styling: Styling) -> str:
    if wire.letter is None or wire.color not in styling.colors:
        return ""
    return text(wire.letter, styling.colors[wire.color].letter, "letter halo")


def _value(wire: DrawnWire, status: WireStatus, styling: Styling) -> str:
    words = value_text(wire, status, styling.uniform)
    return text(wire.value, words, "value halo") if wire.value is not None and words else ""


def _lost(wire: DrawnWire, status: WireStatus, styling: Styling) -> str:
    """Return how many links of a bundle carry nothing, above its load."""
    words, load = lost_text(wire, status), value_text(wire, status, styling.uniform)
    if wire.value is None or not words:
        return ""
    x, y = wire.value
    return text((x, y - ABOVE * bool(load)), words, "value halo failure")


def _box(box: Box, styling: Styling) -> str:
    device, area, overlay = box.device, box.area, styling.overlay
    found = findings(overlay, [device.name])
    label = device_text(overlay, device)
    classes, state = ["device", device.role], state_of(overlay, device.name)
    if state:
        classes.append("out")
    if device.name in overlay.touched:
        classes.append("touched")
    if not device.gpus:
        classes.append("no-gpus")
    middle = (area.middle, area.y + area.height / 2)
    worst = Counter(dict([(one, found[one]) for one in SEVERITIES if found[one]][:1]))
    if box.cell:
        marks = badges(worst, middle) if found else text((middle[0], middle[1] + 3.5), box.lines[0], "small")
    elif box.badge is not None:
        marks = badges(worst, box.badge)
    else:
        # Above leaves and servers there are letters and counts.
        corner = area.y if device.role == "spine" else area.bottom
        marks = _lines(box, _note(box, overlay)) + badges(found, (area.right - 4, corner))
    cross = sign((area.x, area.y), state, "" if box.cell else CLEAR) if state else ""
    inside = f"{_rect('box', area, 3 if box.cell else 5)}{marks}{cross}"
    return _button(" ".join(classes), f"data-device={quoteattr(device.name)}", label, inside)


def _wire_badges(wires: Iterable[DrawnWire], styling: Styling) -> Iterator[str]:
    """Yield the badges of wires, clear of those before: in the middle of their wire, else nearer to an end.

    Wires cross, and many have their middle at the same height; in the middle alone badges would cover each other.
    """
    rows = [(wire, wire_status(styling.overlay, wire)) for wire in wires]
    # The names of paths stand in the middle of their wires.
    named = [_middle(wire) for wire, status in rows if _called(wire, status, styling)]
    taken: list[Point] = [(x + BADGE * at, y) for x, y in named for at in (-1, 0, 1)]
    for wire, status in rows:
        found = status.findings
        if not found:
            continue
        places = [_beside(wire, status, share) for share in SHARES]
        ways = [[(x - BADGE * at, y) for at in range(len(found))] for x, y in places]
        clear = (way for way in ways if all(dist(one, other) >= BADGE for one in way for other in taken))
        chosen = next(clear, ways[0])
        taken += chosen
        yield badges(found, chosen[0])


def _beside(wire: DrawnWire, status: WireStatus, share: float) -> Point:
    """Return a place for badges at a share of a wire's longest part: on it, or right of the letter or sign there."""
    x, y = _middle(wire, share)
    taken = (wire.letter, _sign_at(wire) if _sign_of(wire, status) else None)
    beside = any(place is not None and dist(place, (x, y)) < NEAR for place in taken)
    return (x + BADGE * len(status.findings) if beside else x, y)


def _called(wire: DrawnWire, status: WireStatus, styling: Styling) -> str:
    """Return the names of the paths along a link between switches, where the view does not name them by itself."""
    if not status.paths or wire.paths is not None or wire.attachment:
        return ""
    x, y = _middle(wire)
    return text((x, y - 7), some(styling.overlay.paths[number].label for number in status.paths), "halo strong-label")


def _note(box: Box, overlay: Overlay) -> str:
    """Return what fits of the state of a device and its planned change, else the box's own note."""
    words, state = overlay.touched.get(box.device.name, ""), state_of(overlay, box.device.name)
    ways = [", ".join(filter(None, parts)) for parts in ((words or box.note, state), (words or state,))]
    ways += [words.split(",")[0]]
    fits = (text for text in ways if text and width_of(text, SMALL) <= box.area.width - 4)
    return next(fits, box.note)


def _lines(box: Box, note: str) -> str:
    area = box.area
    if not box.lines:
        return ""
    name = "".join(box.lines)
    lines = [name] if width_of(name) + 12 <= area.width else [*box.lines]
    heights = [13.0] * len(lines) + [11.0] * bool(note)
    y = area.y + (area.height - sum(heights)) / 2 - 3
    parts = []
    for at, line in enumerate([*lines, *([note] if note else [])]):
        y += heights[at]
        parts.append(text((area.middle, y), line, "small soft" if at == len(lines) else ""))
    return "".join(parts)


def _path(points: tuple[Point, ...]) -> str:
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def _middle(wire: DrawnWire, share: float = 0.5) -> Point:
    """Return the middle of the longest part of a wire, or another share of the way along it."""
    parts = list(zip(wire.points, wire.points[1:], strict=False))
    (x1, y1), (x2, y2) = max(parts, key=lambda part: abs(part[0][0] - part[1][0]) + abs(part[0][1] - part[1][1]))
    return ((1 - share) * x1 + share * x2, (1 - share) * y1 + share * y2)


def _sign_of(wire: DrawnWire, status: WireStatus) -> str:
    """Return the sign of a wire all of whose links have failed or are drained."""
    if status.down == len(wire.links):
        return sign(_sign_at(wire), "failed")
    return sign(_sign_at(wire), "drained") if status.drained == len(wire.links) and not status.down else ""


def _sign_at(wire: DrawnWire) -> Point:
    """Return the place of a wire's sign: that of its value, where no other line is near, else its middle."""
    if wire.value is None or wire.attachment:
        return _middle(wire)
    return wire.value[0], wire.value[1] - 4


def sign(at: Point, state: str, below: str = CLEAR) -> str:
    """Return a sign; nothing `below` it is to be mistaken for a part of it."""
    style, shape = SIGNS[state]
    place = f"translate({number(at[0])} {number(at[1])})"
    return f'<g transform="{place}">{below}<path class="{style}" d="{shape}"/></g>'


def _label(label: Label, styling: Styling) -> str:
    style = f"{label.style} {styling.style(label.color)}" if label.color else label.style
    return text(label.at, label.text, style, label.anchor)
