"""The legend: the letter, pattern and hue of every color, and the meaning of the marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ailb_gen.picture.diagram import Diagram
from ailb_gen.picture.elements import Styling, badges, number, text
from ailb_gen.picture.status import LOAD_NOTE, LOAD_TEXTS, SEVERITIES, TIMES, load_width
from ailb_gen.picture.text import width_of

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
    """Return whether anything that has failed is in the diagram."""
    down, dead = styling.overlay.down, styling.overlay.dead
    links = (link.name for wire in diagram.wires for link in wire.links) if down else ()
    return any(box.device.name in dead for box in diagram.boxes) or not down.isdisjoint(links)
