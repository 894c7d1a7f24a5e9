"""The legend of a picture in SVG: a sample of every mark in it, with its meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ailb_gen.picture.diagram import Diagram, width_of
from ailb_gen.picture.elements import Styling, badges, number, sign, text
from ailb_gen.picture.model import Overlay
from ailb_gen.picture.status import (
    LOAD_NOTE,
    LOAD_TEXTS,
    SEVERITIES,
    STATES,
    TIMES,
    is_down,
    load_width,
    lost_text,
    state_of,
    wire_status,
)
from ailb_gen.wording import some

LINE, LEFT, SAMPLE, APART = 22.0, 20.0, 36.0, 18.0


# In a legend, a sample of a mark (SVG, or nothing) and its meaning.
Entry = tuple[str, str]


def widest(entries: Iterable[Entry]) -> float:
    """Return how wide a picture must be for its legend."""
    return max((SAMPLE + 6 + width_of(words) + 2 * LEFT for _, words in entries), default=0.0)


def legend(entries: Iterable[Entry], width: float, y: float) -> tuple[str, float]:
    """Return the entries, in as many lines as the width needs, and how much room they take."""
    x, line, parts = LEFT, y + 14, []
    for sample, words in entries:
        left = SAMPLE + 6 if sample else 0.0
        wide = left + width_of(words) + APART
        if x > LEFT and x + wide - APART > width - LEFT:
            x, line = LEFT, line + LINE
        place = f'transform="translate({number(x)} {number(line)})"'
        parts.append(f"<g {place}>{sample}{text((left, 0), words, '', 'start')}</g>")
        x += wide
    if not parts:
        return "", 0.0
    inside = "\n".join(parts)
    return f'<g class="legend">\n{inside}\n</g>', line + 14 - y


def legend_entries(diagram: Diagram, styling: Styling) -> Iterator[Entry]:
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
        count = text((SAMPLE / 2, -1), f"{TIMES}N", "value halo")
        yield f'<path class="wire" d="M0-4h{SAMPLE:.0f}"/>{count}', "N links"
    if any(not box.device.gpus for box in diagram.boxes):
        yield '<g class="no-gpus"><rect class="box" x="8" y="-12" width="24" height="16" rx="3"/></g>', "no GPUs"
    yield from _states(diagram, overlay)
    if overlay.loads:
        for step, words in enumerate(LOAD_TEXTS):
            wide = number(load_width(step / 2))
            yield f'<g class="load{step}"><path class="wire" stroke-width="{wide}" d="M0-4h{SAMPLE:.0f}"/></g>', words
        yield "", f"({LOAD_NOTE})"
    for severity in SEVERITIES:
        if any(row.get(severity) for row in overlay.findings.values()):
            yield badges(Counter({severity: 1}), (SAMPLE - 12, -4)), f"number of {severity}s"
    if overlay.touched:
        yield '<g class="touched leaf"><rect class="box" x="8" y="-12" width="24" height="16" rx="3"/></g>', "changed"


def _states(diagram: Diagram, overlay: Overlay) -> Iterator[Entry]:
    """Yield a sample of every state that a device or a link in the diagram has."""
    links = [link for wire in diagram.wires for link in wire.links]
    down = any(is_down(overlay, link) for link in links)
    drained = not overlay.drained.isdisjoint(link.name for link in links)
    lines = {"failed": ("down", down), "drained": ("drained", drained)}
    states = {state_of(overlay, box.device.name) for box in diagram.boxes}
    line, middle = f'<path class="wire" d="M0-4h{SAMPLE:.0f}"/>', (SAMPLE / 2, -4)
    box = '<rect class="box" x="8" y="-11" width="24" height="14" rx="3"/>'
    for state, words in STATES.items():
        style, is_there = lines.get(state, ("", False))
        if is_there:
            yield f'<g class="{style}">{line}{sign(middle, state)}</g>', words
        elif state in states:
            yield f'<g class="out">{box}{sign((8, -11), state)}</g>', words
    rows = [(wire, wire_status(overlay, wire)) for wire in diagram.wires if len(wire.links) > 1]
    lost = {"failed" if status.down else "drained" for wire, status in rows if lost_text(wire, status)}
    if lost:
        yield text((SAMPLE - 8, 0), "-N", "value failure"), f"N links of a line {' or '.join(sorted(lost)[::-1])}"
    if any(wire.paths == () for wire in diagram.wires):
        yield f'<g class="former">{line}</g>', "not taken"
    absent = {*overlay.down, *overlay.dead} - {link.name for link in links} - {box.device.name for box in diagram.boxes}
    if absent and overlay.paths:
        yield "", f"failed, but on none of these paths: {some(sorted(absent))}"
