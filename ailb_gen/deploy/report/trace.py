"""The waves of a run in time, as SVG: which step of which wave, or of which device, lasted from when to when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from markupsafe import Markup

from ailb_gen.deploy.run_history import Event, RecordedRun
from ailb_gen.deploy.switch_driver import STEPS, Phase
from ailb_gen.report.html.markup import tag
from ailb_gen.report.html.scales import Axis, Scale, scale_of
from ailb_gen.wording import clean, counted

SPAN, ROW, BAR, AXIS = 760.0, 26.0, 18.0, 34.0
# Pixels of a letter, to know what fits into a bar; the narrowest bar that can be seen.
LETTER, NARROWEST = 6.6, 2.0
# The letters that a label before the bars has room for: of short names, and at most.
LABELS, LONGEST = 36, 80


@dataclass(frozen=True, slots=True)
class Track:
    """A row: its name, its steps, and what is written where it has none."""

    name: str
    spans: tuple[Span, ...]
    note: str = ""


def timeline(title: str, tracks: Sequence[Track], start: float, end: float) -> Markup:
    """Return the rows as an SVG element between two moments, in seconds since the run began."""
    left = LETTER * min(max(LABELS, *(len(clean(track.name)) for track in tracks)), LONGEST)
    width = left + SPAN
    scale = scale_of((start, max(end, start + 0.001)), Axis("seconds"), left, width - 24, zero=start == 0)
    bottom = ROW * len(tracks)
    parts = [*_axis(scale, bottom), *(part for at, track in enumerate(tracks) for part in _track(track, at, scale))]
    return tag(
        "svg",
        tag("title", clean(title)),
        *parts,
        class_="timeline",
        role="img",
        aria_label=clean(title),
        viewBox=f"0 0 {width:.0f} {bottom + AXIS:.0f}",
        width=width,
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
    label = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    yield tag("text", tag("title", name), label, x=0.0, y=y + ROW - 9)
    if not track.spans:
        yield tag("text", track.note, x=scale.start + 4, y=y + ROW - 9, class_="note")
    for span in track.spans:
        x = scale.place(span.start)
        width = max(NARROWEST, scale.place(span.end) - x)
        inner = span.step if len(span.step) * LETTER + 4 <= width else ""
        words = tag("text", inner, x=x + width / 2, y=y + ROW - 9, text_anchor="middle") if inner else ""
        about = tag("title", f"{name}: {span.step} from {span.start:.2f} s to {span.end:.2f} s")
        bar = tag("rect", x=x, y=y + (ROW - BAR) / 2, width=width, height=BAR)
        yield tag("g", about, bar, words, class_=f"step step-{span.step if span.step in PHASES else 'other'}")


# A line of the record names no more devices than this.
NAMED = 8
PHASES = tuple(step.phase for step in STEPS)
# The step from an event on, where a record has no steps: in older ones, and where a crash cut one off.
FROM_EVENT = {**{step.event: step.phase for step in STEPS}, "verified": None}


@dataclass(frozen=True, slots=True)
class Span:
    """A step, from when to when, in seconds since the run began."""

    step: str
    start: float
    end: float


@dataclass(slots=True)
class WaveTrace:
    """A wave as it was pushed, rolled back or settled; `end` is None where the record breaks off.

    `steps` are those of every device, `spans` those of the wave. `results` are outcome and reason by device. `settles`:
    nothing new is pushed; devices are brought to their old or their new configuration. `attempt` counts how often the
    run had been resumed.
    """

    name: str
    devices: tuple[str, ...]
    start: float
    end: float | None = None
    steps: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    results: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    settles: bool = False
    attempt: int = 0

    @property
    def title(self) -> str:
        """Its name; what was pushed before and is brought back says so."""
        return f"{self.name} (settled)" if self.settles else self.name

    @property
    def took(self) -> float | None:
        """How long it took, None where that is not known."""
        return None if self.end is None else self.end - self.start


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A line of the record for people: seconds since the beginning, the time, the wave, what happened.

    `style` is `fail` or `warn` of what is not as it should be.
    """

    at: float
    time: str
    wave: str
    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class RunTrace:
    """A run: `planned` are its waves, after a resume those that were left; `checks` are the first ones, everywhere.

    `differences` are what verification found on each device, `reasons` the last error of each; `total` is the time from
    the first to the last line.
    """

    past: RecordedRun
    planned: tuple[tuple[str, tuple[str, ...]], ...]
    checks: tuple[Span, ...]
    waves: tuple[WaveTrace, ...]
    outcomes: Mapping[str, tuple[str, str]]
    differences: Mapping[str, tuple[str, ...]]
    reasons: Mapping[str, str]
    lines: tuple[RecordLine, ...]
    total: float
    attempt: int

    @property
    def devices(self) -> tuple[str, ...]:
        """All devices that it was about, in the order of the waves."""
        return tuple(dict.fromkeys([*self.past.devices, *(name for wave in self.waves for name in wave.devices)]))

    @property
    def ahead(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The planned waves that were not begun."""
        begun = {wave.name for wave in self.waves if wave.attempt == self.attempt and not wave.settles}
        return tuple((name, devices) for name, devices in self.planned if name not in begun)


def trace_of(past: RecordedRun) -> RunTrace:
    """Read the record of a run."""
    events = past.events
    times = _times(events)
    planned: dict[str, tuple[str, ...]] = {}
    checks: list[Span] = []
    began: float | None = None
    attempt = 0
    outcomes: dict[str, tuple[str, str]] = {}
    differences: dict[str, tuple[str, ...]] = {}
    reasons: dict[str, str] = {}
    for at, event in zip(times, events, strict=True):
        match event["event"]:
            case "run":
                planned = {name: tuple(names) for name, names in event["waves"]}
                began, attempt = at, event["leg"]
            case "checked" if "wave" not in event and began is not None:
                checks.append(Span(Phase.CHECK, began, at))
            case "verified":
                differences |= {name: tuple(texts) for name, texts in event.get("differences", {}).items()}
            case "error":
                reasons[event["device"]] = event["error"]
            case "results":
                outcomes |= {name: (row[0], _reason(row)) for name, row in event["devices"].items()}
                reasons |= {name: row[1] for name, row in event["devices"].items() if _reason(row)}
    return RunTrace(
        past,
        tuple(planned.items()),
        tuple(checks),
        tuple(_waves(events, times)),
        outcomes,
        differences,
        reasons,
        tuple(_lines(events, times)),
        times[-1] if times else 0.0,
        attempt,
    )


def _reason(row: Sequence[str]) -> str:
    return row[1] if len(row) > 1 else ""


def _times(events: Sequence[Event]) -> list[float]:
    """Return when each event was, in seconds since the first; a clock that goes back stands still."""
    found: list[float] = []
    for event in events:
        try:
            seconds = datetime.fromisoformat(str(event.get("time", ""))).timestamp()
        except ValueError:
            seconds = found[-1] if found else 0.0
        found.append(max(seconds, found[-1]) if found else seconds)
    return [one - found[0] for one in found]


def _waves(events: Sequence[Event], times: Sequence[float]) -> list[WaveTrace]:
    """Read the waves, one after the other: each ends with its results, unless a crash cut it off."""
    found: list[WaveTrace] = []
    marks: list[tuple[float, Phase | None]] = []
    open_ = ""
    last, attempt = 0.0, 0
    for at, event in zip(times, events, strict=True):
        name, kind = event.get("wave", ""), event["event"]
        attempt = event["leg"] if kind == "run" else attempt
        if name and (kind in FROM_EVENT or kind == "results"):
            if kind == "wave" or name != open_:
                if open_:
                    found[-1].spans = tuple(_between([*marks, (last, None)]))
                # What settles devices begins without a line of its own.
                start = at - event["seconds"] if kind == "results" and "seconds" in event else at
                found.append(
                    WaveTrace(name, tuple(event["devices"]), max(0.0, start), settles=kind != "wave", attempt=attempt)
                )
                open_, marks = name, []
            if kind == "results":
                _end(found[-1], event, at, marks)
                open_ = ""
            else:
                marks.append((at, FROM_EVENT[kind]))
        last = at
    if open_:
        found[-1].spans = tuple(_between([*marks, (last, None)]))
    return found


def _end(wave: WaveTrace, event: Event, at: float, marks: Sequence[tuple[float, Phase | None]]) -> None:
    wave.end = at
    wave.results = {name: (row[0], _reason(row)) for name, row in event["devices"].items()}
    wave.devices = wave.devices if len(wave.devices) == len(wave.results) else tuple(wave.results)
    if "steps" in event:
        start = max(0.0, at - event["seconds"])
        wave.start = min(wave.start, start)
        wave.steps = {
            name: tuple(Span(row[0], start + row[1], start + row[2]) for row in rows if row[0] in PHASES)
            for name, rows in event["steps"].items()
        }
        wave.spans = tuple(_together(wave.steps.values()))
    else:
        wave.spans = tuple(_between([*marks, (at, None)]))


def _between(marks: Sequence[tuple[float, Phase | None]]) -> list[Span]:
    return [Span(step, start, end) for (start, step), (end, _) in pairwise(marks) if step is not None]


def _together(steps: Iterable[Sequence[Span]]) -> list[Span]:
    """Return from when to when any device did each step."""
    found: dict[str, Span] = {}
    for span in (span for row in steps for span in row):
        known = found.get(span.step, span)
        found[span.step] = Span(span.step, min(known.start, span.start), max(known.end, span.end))
    return [found[phase] for phase in PHASES if phase in found]


def _lines(events: Sequence[Event], times: Sequence[float]) -> list[RecordLine]:
    found = []
    for at, event in zip(times, events, strict=True):
        text, style = _words(event)
        if text:
            found.append(RecordLine(at, str(event.get("time", "")), str(event.get("wave", "")), text, style))
    return found


def _words(event: Event) -> tuple[str, str]:
    kind = event["event"]
    says = TEXTS.get(kind)
    wrong = kind in ("reverting", "error") or bool(event.get("differences"))
    style = "fail" if wrong else "warn" if kind == "warning" else ""
    return (says(event) if says is not None else kind), style


def _begins(event: Event) -> str:
    approved = event.get("approved", {})
    return f"run started: approved by {approved.get('by', '?')} ({approved.get('how', '?')})"


def _planned(event: Event) -> str:
    return f"{counted(len(event['waves']), 'wave')} planned{', resuming the run' if event['leg'] else ''}"


def _ended(event: Event) -> str:
    outcomes = [row[0] for row in event["devices"].values()]
    return "ended: " + ", ".join(f"{outcomes.count(one)} {one}" for one in dict.fromkeys(outcomes))


def _verified(event: Event) -> str:
    wrong = {"devices": [*event.get("differences", ())]}
    told = [_about("verified")(event)] if event["devices"] else []
    return "; ".join([*told, *([_about("verification failed")(wrong)] if wrong["devices"] else [])])


def _about(words: str) -> Callable[[Event], str]:
    def text(event: Event) -> str:
        names = event["devices"]
        return f"{words}: {', '.join(names) if len(names) <= NAMED else f'{len(names)} devices'}"

    return text


TEXTS: Mapping[str, Callable[[Event], str]] = {
    "begin": _begins,
    "run": _planned,
    **{step.event: _about(step.event_text) for step in STEPS},
    "checked": _about("change accepted"),
    "verified": _verified,
    "results": _ended,
    "error": lambda event: str(event["error"]),
    "warning": lambda event: f"{event['device']}: warning: {event['text']}",
    "settling": lambda event: f"settling started: {event.get('verb', '?')} by {event.get('user', '?')}",
    "done": lambda event: "run finished",
}
