"""The waves of a run in time, as SVG: which step of which wave, or of which device, lasted from when to when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ailb_gen.deploy.report.trace import STEPS, Span
from ailb_gen.report.html.markup import tag
from ailb_gen.report.html.scales import Axis, Scale, scale_of
from ailb_gen.wording import clean

WIDTH, LABELS, ROW, BAR, AXIS = 1000.0, 240.0, 26.0, 18.0, 34.0
# Pixels of a letter, to know what fits into a bar; the narrowest bar that can be seen.
LETTER, NARROWEST = 6.6, 2.0
# So many letters of a label fit in front of the bars.
LABEL = 36


@dataclass(frozen=True, slots=True)
class Track:
    """A row: its name, its steps, and what is written where it has none."""

    name: str
    spans: tuple[Span, ...]
    note: str = ""


def timeline(title: str, tracks: Sequence[Track], start: float, end: float) -> Markup:
    """Return the rows as an SVG element between two moments, in seconds since the run began."""
    scale = scale_of((start, max(end, start + 0.001)), Axis("seconds"), LABELS, WIDTH - 24, zero=start == 0)
    bottom = ROW * len(tracks)
    parts = [*_axis(scale, bottom), *(part for at, track in enumerate(tracks) for part in _track(track, at, scale))]
    return tag(
        "svg",
        tag("title", clean(title)),
        *parts,
        class_="timeline",
        role="img",
        aria_label=clean(title),
        viewBox=f"0 0 {WIDTH:.0f} {bottom + AXIS:.0f}",
        width=WIDTH,
        height=bottom + AXIS,
    )


def _axis(scale: Scale, bottom: float) -> Iterator[Markup]:
    for value in scale.ticks():
        x = scale.place(value)
        yield tag("line", class_="grid", x1=x, x2=x, y1=0.0, y2=bottom)
        yield tag("text", f"{value:g} s", x=x, y=bottom + 16, text_anchor="middle", class_="tick")


def _track(track: Track, at: int, scale: Scale) -> Iterator[Markup]:
    y = at * ROW
    name = clean(track.name)
    label = name if len(name) <= LABEL else f"{name[: LABEL - 1]}…"
    yield tag("text", tag("title", name), label, x=0.0, y=y + ROW - 9)
    if not track.spans:
        yield tag("text", track.note, x=LABELS + 4, y=y + ROW - 9, class_="note")
    for span in track.spans:
        x = scale.place(span.start)
        width = max(NARROWEST, scale.place(span.end) - x)
        inner = _fitting(span.step, width)
        words = tag("text", inner, x=x + width / 2, y=y + ROW - 9, text_anchor="middle") if inner else ""
        about = tag("title", f"{name}: {span.step} from {span.start:.2f} s to {span.end:.2f} s")
        bar = tag("rect", x=x, y=y + (ROW - BAR) / 2, width=width, height=BAR)
        yield tag("g", about, bar, words, class_=f"step step-{step_class(span.step)}")


def _fitting(step: str, width: float) -> str:
    """Return the name of a step if it fits."""
    return step if len(step) * LETTER + 4 <= width else ""


def step_class(step: str) -> str:
    """Return by which name the style sheet knows a step."""
    return step if step in STEPS else "other"
