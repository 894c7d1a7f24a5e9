"""The elements of a picture in SVG: frames, buses, wires, boxes, labels, with the marks of an overlay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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
    LOAD_NOTE,
    LOAD_TEXTS,
    SEVERITIES,
    TIMES,
    Counts,
    WireStatus,
    device_text,
    findings,
    findings_text,
    load_step,
    load_width,
    value_text,
    wire_status,
    wire_text,
)
from ailb_gen.wording import some

# Octagon, triangle and square around their middle.
SHAPES = {"error": "M-3.5-8.5h7l5 5v7l-5 5h-7l-5-5v-7z", "warning": "M0-10.5 10.5 8h-21z", "note": "M-8-8H8V8H-8z"}
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
        yield '<g class="buses" aria-hidden="true">'
        yield from (_bus(bus, styling) for bus in diagram.buses)
        yield "</g>"
    # Failed links and those on a path are above the rest.
    yield from (part for _, part in sorted((_wire(wire, styling) for wire in diagram.wires), key=lambda row: row[0]))
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


def badges(found: Counts, at: Point, size: float = 1.0) -> str:
    """Return a shape with a number for every severity that there is, the worst at the place, others left of it."""
    x, y = at
    parts = []
    for severity in SEVERITIES:
        if found[severity]:
            count = str(found[severity]) if found[severity] < 100 else "99+"
            place = f"translate({number(x)} {number(y)})" + (f" scale({size})" if size != 1 else "")
            parts.append(
                f'<g class="badge {severity}" transform="{place}"><path d="{SHAPES[severity]}"/>'
                f'<text y="{"6" if severity == "warning" else "3.2"}">{count}</text></g>'
            )
            x -= 19 * size
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


def _bus(bus: Bus, styling: Styling) -> str:
    style = styling.style(bus.color)
    dots = "".join(f'<circle class="dot {style}" cx="{number(x)}" cy="{number(y)}" r="2"/>' for x, y in bus.dots)
    return f'<path class="wire {style}" d="{_path(bus.points)}"/>{dots}'


def _wire(wire: DrawnWire, styling: Styling) -> tuple[bool, str]:
    """Return whether a wire is drawn above others, and the wire."""
    status = wire_status(styling.overlay, wire)
    label = wire_text(styling.overlay, wire, status)
    data = f"data-bundle={quoteattr(wire.name)}" if wire.name else f"data-link={quoteattr(wire.links[0].name)}"
    loaded = status.load is not None and not status.down
    width = f' stroke-width="{number(load_width(status.load or 0.0))}"' if loaded else ""
    path = _path(wire.points)
    inside = (
        f'<path class="wide" d="{path}"/><path class="wire"{width} d="{path}"/>'
        f"{_letter(wire, styling)}{_value(wire, status, styling)}{_sign(wire, status)}{_called(wire, status, styling)}"
        f"{badges(status.findings, _middle(wire), 0.8)}"
    )
    above = bool(status.down or status.paths or status.findings)
    return above, _button(" ".join(_classes(wire, status, styling)), data, label, inside)


def _classes(wire: DrawnWire, status: WireStatus, styling: Styling) -> Iterator[str]:
    yield "link"
    yield styling.style(wire.color)
    if wire.attachment:
        yield "attachment"
    if status.down:
        yield "down" if status.down == len(wire.links) else "degraded"
    elif status.drained == len(wire.links):
        yield "drained"
    elif status.load is not None:
        yield f"load{load_step(status.load)}"
    if status.findings:
        yield "has-findings"
    if status.paths:
        yield "on-path"
    elif styling.overlay.paths:
        yield "faded"


def _letter(wire: DrawnWire, styling: Styling) -> str:
    if wire.letter is None or wire.color not in styling.colors:
        return ""
    return text(wire.letter, styling.colors[wire.color].letter, "letter halo")


def _value(wire: DrawnWire, status: WireStatus, styling: Styling) -> str:
    words = value_text(wire, status, styling.uniform)
    style = "value halo failure" if status.down else "value halo"
    return text(wire.value, words, style) if wire.value is not None and words else ""


def _box(box: Box, styling: Styling) -> str:
    device, area, overlay = box.device, box.area, styling.overlay
    found = findings(overlay, [device.name])
    label = device_text(overlay, device)
    classes = ["device", device.role]
    if device.name in overlay.dead:
        classes.append("dead")
    if device.name in overlay.touched:
        classes.append("touched")
    middle = (area.middle, area.y + area.height / 2)
    dead = ""
    if device.name in overlay.dead:
        dead = _x(middle if box.cell else (area.x + 3, area.y + 3))
    if box.cell:
        worst = Counter(dict([(one, found[one]) for one in SEVERITIES if found[one]][:1]))
        marks = badges(worst, middle) if found else text((middle[0], middle[1] + 3.5), box.lines[0], "small")
    else:
        # Above leaves and servers there are letters and counts.
        corner = area.y if device.role == "spine" else area.bottom
        marks = _lines(box, _note(box, overlay)) + badges(found, (area.right - 4, corner))
    inside = f"{_rect('box', area, 3 if box.cell else 5)}{marks}{dead}"
    return _button(" ".join(classes), f"data-device={quoteattr(device.name)}", label, inside)


def _called(wire: DrawnWire, status: WireStatus, styling: Styling) -> str:
    """Return the names of the paths along a link between switches, where the view does not name them by itself."""
    if not status.paths or wire.paths is not None or wire.attachment:
        return ""
    x, y = _middle(wire)
    return text((x, y - 4), some(styling.overlay.paths[number].label for number in status.paths), "halo strong-label")


def _note(box: Box, overlay: Overlay) -> str:
    """Return the planned change of a device if it fits, or its beginning, else the box's own note."""
    words = overlay.touched.get(box.device.name, "")
    fits = (text for text in (words, words.split(",")[0]) if text and width_of(text, SMALL) <= box.area.width - 4)
    return next(fits, box.note)


def _lines(box: Box, note: str) -> str:
    area = box.area
    heights = [13.0] * len(box.lines) + [11.0] * bool(note)
    y = area.y + (area.height - sum(heights)) / 2 - 3
    parts = []
    if not box.lines:
        return ""
    for at, line in enumerate([*box.lines, *([note] if note else [])]):
        y += heights[at]
        parts.append(text((area.middle, y), line, "small soft" if at == len(box.lines) else ""))
    return "".join(parts)


def _path(points: tuple[Point, ...]) -> str:
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def _middle(wire: DrawnWire) -> Point:
    parts = list(zip(wire.points, wire.points[1:], strict=False))
    (x1, y1), (x2, y2) = max(parts, key=lambda part: abs(part[0][0] - part[1][0]) + abs(part[0][1] - part[1][1]))
    return ((x1 + x2) / 2, (y1 + y2) / 2)


def _sign(wire: DrawnWire, status: WireStatus) -> str:
    """Return a cross where all links have failed, the sign of a pause where all are drained."""
    if status.down == len(wire.links):
        return _x(_middle(wire))
    if status.drained == len(wire.links) and not status.down:
        x, y = _middle(wire)
        return f'<path class="bars" d="M{number(x - 3)} {number(y - 6)}v12m6-12v12"/>'
    return ""


def _x(at: Point) -> str:
    return f'<path class="cross" d="M{number(at[0] - 6)} {number(at[1] - 6)}l12 12m0-12l-12 12"/>'


def _label(label: Label, styling: Styling) -> str:
    style = f"{label.style} {styling.style(label.color)}" if label.color else label.style
    return text(label.at, label.text, style, label.anchor)


LINE, LEFT, SAMPLE = 22.0, 20.0, 36.0


def legend(diagram: Diagram, styling: Styling, width: float, y: float) -> tuple[str, float]:
    """Return the entries, in as many lines as the width needs, and how much room they take."""
    x, line, parts = LEFT, y + 14, []
    for sample, words in _entries(diagram, styling):
        left = SAMPLE + 6 if sample else 0.0
        wide = left + width_of(words) + 18
        if x > LEFT and x + wide > width - LEFT:
            x, line = LEFT, line + LINE
        place = f'transform="translate({number(x)} {number(line)})"'
        parts.append(f"<g {place}>{sample}{text((left, 0), words, '', 'start')}</g>")
        x += wide
    inside = "\n".join(parts)
    return f'<g class="legend">\n{inside}\n</g>', line + 14 - y


def _entries(diagram: Diagram, styling: Styling) -> Iterator[tuple[str, str]]:
    """Yield a sample of every mark in the diagram, and its meaning."""
    overlay = styling.overlay
    drawn = {link.color for wire in diagram.wires for link in wire.links}
    for color, how in styling.colors.items():
        if color in drawn:
            letter = text((SAMPLE / 2, -1), how.letter, f"letter halo {how.style}")
            yield f'<path class="wire {how.style}" d="M0-4h{SAMPLE:.0f}"/>{letter}', color
    if styling.uniform > 1:
        yield f'<path class="wire" d="M0-4h{SAMPLE:.0f}"/>', f"each line: {styling.uniform} links"
    elif any(len(wire.links) > 1 for wire in diagram.wires):
        count = text((SAMPLE / 2, -1), f"{TIMES}8", "value halo")
        yield f'<path class="wire" d="M0-4h{SAMPLE:.0f}"/>{count}', "8 links"
    if _fails(diagram, styling):
        middle = SAMPLE / 2
        cross = f'<path class="cross" d="M{middle - 5:.0f}-9l10 10m0-10l-10 10"/>'
        yield f'<g class="down"><path class="wire" d="M0-4h{SAMPLE:.0f}"/>{cross}</g>', "failed"
        if any(len(wire.links) > 1 for wire in diagram.wires):
            yield text((SAMPLE - 8, 0), "-2", "value failure"), "2 links of a line failed"
    if not overlay.drained.isdisjoint(link.name for wire in diagram.wires for link in wire.links):
        bars = f'<path class="bars" d="M{SAMPLE / 2 - 3:.0f}-10v12m6-12v12"/>'
        yield f'<g class="drained"><path class="wire" d="M0-4h{SAMPLE:.0f}"/>{bars}</g>', "drained"
    if overlay.loads:
        for step, words in enumerate(LOAD_TEXTS):
            wide = number(load_width(step / 2))
            yield f'<g class="load{step}"><path class="wire" stroke-width="{wide}" d="M0-4h{SAMPLE:.0f}"/></g>', words
        yield "", LOAD_NOTE
    for severity in SEVERITIES:
        if any(row.get(severity) for row in overlay.findings.values()):
            yield badges(Counter({severity: 1}), (SAMPLE - 12, -4)), f"number of {severity}s"
    if overlay.touched:
        yield '<g class="touched leaf"><rect class="box" x="8" y="-12" width="24" height="16" rx="3"/></g>', "changed"


def _fails(diagram: Diagram, styling: Styling) -> bool:
    down, dead = styling.overlay.down, styling.overlay.dead
    links = (link.name for wire in diagram.wires for link in wire.links) if down else ()
    return any(box.device.name in dead for box in diagram.boxes) or not down.isdisjoint(links)
