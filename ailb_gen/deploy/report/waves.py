"""The waves as a section: what is planned, and of a run what each wave and each of its devices did when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_switches import outline
from ailb_gen.deploy.device_diff import ServerDiff, SwitchDiff
from ailb_gen.deploy.impact import PushImpact
from ailb_gen.deploy.planning import Plan
from ailb_gen.deploy.report.trace import PHASES, RunTrace, Span, Track, WaveTrace, timeline
from ailb_gen.deploy.run_history import DeviceOutcome
from ailb_gen.deploy.run_summary import UNSETTLED, device_ends
from ailb_gen.deploy.switch_driver import STEPS, Phase
from ailb_gen.deploy.switch_state import FabricModel
from ailb_gen.intent.models import Fabric
from ailb_gen.network.fabric import Cable, End
from ailb_gen.network.topology import Topology
from ailb_gen.picture.build import picture_from
from ailb_gen.picture.model import Overlay, Picture
from ailb_gen.picture.overlays import drained_in
from ailb_gen.report.html.fabric import fabric_section
from ailb_gen.report.html.page import Section
from ailb_gen.wording import clean, some

NO_CHART = Markup()
# Devices of larger waves have a table of times, no chart of their own.
DRAWN = 64


class TouchedLink(NamedTuple):
    """A link whose session a change touches: its name, its color, and the stripe of its leaf, 0 for none."""

    name: str
    color: str
    stripe: int


# By switch.
Links = Mapping[str, Sequence[TouchedLink]]


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """How a device ended: the seconds of its steps in the order of PHASES, and what verification found on it."""

    name: str
    outcome: str = ""
    style: str = ""
    reason: str = ""
    times: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WaveRow:
    """A wave as it is drawn; what is not known is empty."""

    number: int
    name: str
    devices: tuple[DeviceRow, ...]
    titles: str
    facts: tuple[tuple[str, str], ...]
    state: str = ""
    style: str = ""
    chart: Markup = NO_CHART

    @property
    def timed(self) -> bool:
        """Whether it has times of devices."""
        return any(device.times for device in self.devices)


# By outcome: first what is good, last what is worst.
STYLES: Mapping[str, str] = {
    DeviceOutcome.CONFIRMED: "pass",
    DeviceOutcome.AS_IS: "warn",
    DeviceOutcome.UNTOUCHED: "soft",
    DeviceOutcome.ROLLED_BACK: "fail",
    DeviceOutcome.ATTENTION: "fail",
}


def planned_section(plan: Plan, impact: PushImpact | None, links: Links) -> Section:
    """Return the section of the waves of a plan; `links` are those that the change of each switch touches."""
    waves = [(wave.name, wave.devices) for wave in plan.waves]
    return _section([*_planned(waves, plan, impact)], NO_CHART, links)


def _planned(
    waves: Iterable[tuple[str, tuple[str, ...]]],
    plan: Plan | None,
    impact: PushImpact | None,
    first: int = 1,
    state: tuple[str, str] = ("", ""),
) -> Iterator[WaveRow]:
    """Yield waves that did not begin, numbered from `first`."""
    for number, (name, devices) in enumerate(waves, first):
        facts = facts_of(plan, impact, name, devices) if plan is not None else ()
        yield WaveRow(number, name, tuple(map(DeviceRow, devices)), some(devices), facts, *state)


def facts_of(plan: Plan, impact: PushImpact | None, name: str, devices: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return what a wave affects; its pairs and its load are those while its spines are out of service."""
    changed = plan.changed
    names = [name for name in devices if name in changed]
    facts = [("commands", f"{sum(len(changed[name].commands) for name in names):,}")] if names else []
    if impact is None:
        return tuple(facts)
    touched = [impact.devices[name] for name in names if name in impact.devices]
    facts.append(("sessions", f"{sum(len(one.sessions) for one in touched):,}"))
    colors = sorted({color for one in touched for color in one.colors})
    if colors:
        facts.append(("colors", ", ".join(colors)))
    servers = {server for one in touched for server in one.servers}
    if servers:
        facts.append(("servers", f"{len(servers):,}"))
    if name in impact.traffic.waves:
        lost, load = impact.traffic.waves[name]
        facts += [("unreachable pairs", f"{lost:,}"), ("peak load", f"{load:.2f}")]
    return tuple(facts)


def run_section(trace: RunTrace, plan: Plan | None, impact: PushImpact | None, links: Links) -> Section:
    """Return the section of the waves of a run: as they went, and those that it did not come to.

    `links` are those that the change of each switch touches.
    """
    rows: list[WaveRow] = []
    for wave in trace.waves:
        facts = [("start", seconds(wave.start)), ("duration", seconds(wave.took) if wave.took is not None else "")]
        # The plan is that of the last part of the run.
        if plan is not None and wave.attempt == trace.attempt and not wave.settles:
            facts += facts_of(plan, impact, wave.name, wave.devices)
        state, style = _state(wave)
        rows.append(_wave_row(len(rows) + 1, wave, tuple(facts), state, style))
    rows += _planned(trace.ahead, plan, impact, len(rows) + 1, (_not_run(trace), "soft"))
    return _section(rows, _chart(trace), links)


def _not_run(trace: RunTrace) -> str:
    """Return the state of waves that did not run."""
    return "checked only" if trace.past.dry else "not started"


def _section(rows: Sequence[WaveRow], chart: Markup, links: Links) -> Section:
    steps = [(str(step.phase), step.text) for step in STEPS]
    touching = {row.number for row in rows if any(device.name in links for device in row.devices)}
    columns = dict.fromkeys(name for row in rows for name, value in row.facts if value)
    ran = any(row.state for row in rows)
    values = {"waves": rows, "chart": chart, "steps": steps, "touching": touching, "columns": columns, "ran": ran}
    return Section("waves", "Waves", values, _data(rows, links), uses=("push",))


def _data(rows: Sequence[WaveRow], links: Links) -> Mapping[str, object]:
    """Return the data that the script shows of a device: its steps in every wave, the links that its change affects."""
    devices: dict[str, list[tuple[object, ...]]] = {}
    for row in rows:
        for device in row.devices:
            devices.setdefault(device.name, []).append((row.number, device.outcome, device.reason, device.times))
    return {
        "waves": [(row.number, row.name) for row in rows],
        "devices": devices,
        "steps": list(map(str, PHASES)),
        "links": {name: links[name] for name in devices if name in links},
    }


def _state(wave: WaveTrace) -> tuple[str, str]:
    if wave.end is None:
        return "interrupted", "fail"
    counts = Counter(outcome for outcome, _ in wave.results.values())
    worst = max(counts, key=lambda one: list(STYLES).index(one) if one in STYLES else 0, default="")
    # A commit that failed leaves its device untouched; the wave failed with it.
    failed = any(outcome == DeviceOutcome.UNTOUCHED and reason for outcome, reason in wave.results.values())
    state = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    return state, "fail" if failed else STYLES.get(worst, "soft")


def _wave_row(number: int, wave: WaveTrace, facts: tuple[tuple[str, str], ...], state: str, style: str) -> WaveRow:
    devices = tuple(_device(name, wave) for name in wave.devices)
    chart = NO_CHART
    if wave.end is not None and 1 < len(wave.steps) <= DRAWN:
        tracks = [Track(name, wave.steps.get(name, ()), "no step") for name in wave.devices]
        chart = timeline(f"Steps by device, wave {wave.name}", tracks, wave.start, wave.end)
    return WaveRow(number, wave.title, devices, some(wave.devices), facts, state, style, chart)


def _device(name: str, wave: WaveTrace) -> DeviceRow:
    outcome, reason = wave.results.get(name, ("interrupted", ""))
    steps = wave.steps.get(name, ())
    times = tuple(_took(step, steps) for step in PHASES) if steps else ()
    why = clean(reason.removeprefix(f"{name}: "))
    return DeviceRow(name, outcome, _style(STYLES, outcome, why, "fail"), why, times)


def _style(styles: Mapping[str, str], outcome: str, reason: str, other: str) -> str:
    """Return the style of an outcome, `other` for one without; a device that is untouched for a reason failed."""
    return "fail" if reason and outcome == DeviceOutcome.UNTOUCHED else styles.get(outcome, other)


def _took(step: Phase, spans: Sequence[Span]) -> str:
    """Return how long a device took for a step, empty if it did not get there."""
    found = [span.end - span.start for span in spans if span.step == step]
    return seconds(sum(found)) if found else ""


def seconds(value: float) -> str:
    """Return a time for people."""
    return f"{value:.0f} s" if value >= 100 else f"{value:.1f} s" if value >= 10 else f"{value:.2f} s"


def _chart(trace: RunTrace) -> Markup:
    tracks = [Track("check all devices", trace.checks)] if trace.checks else []
    tracks += [Track(f"{number}. {wave.title}", wave.spans, "no step") for number, wave in enumerate(trace.waves, 1)]
    ahead = enumerate(trace.ahead, len(trace.waves) + 1)
    tracks += [Track(f"{number}. {name}", (), _not_run(trace)) for number, (name, _) in ahead]
    return timeline("Timeline of the run: steps of every wave", tracks, 0.0, trace.total) if tracks else NO_CHART


# The most lines of a record that are shown, the first and the last ones.
LINES = 2_000
REFUSED = "refused"
ENDED = {**STYLES, REFUSED: "fail", UNSETTLED: "fail"}
# Outcomes of devices that did nothing wrong unless there is a reason; and those that are too long for a box.
HARMLESS = (DeviceOutcome.ROLLED_BACK, DeviceOutcome.UNTOUCHED)
ACCEPTS = "accepts the change"
SHORT: Mapping[str, str] = {DeviceOutcome.ATTENTION: "attention", ACCEPTS: "accepts"}
# What comes first in the table of outcomes.
ORDER = (
    DeviceOutcome.ATTENTION,
    UNSETTLED,
    DeviceOutcome.ROLLED_BACK,
    REFUSED,
    DeviceOutcome.AS_IS,
    DeviceOutcome.CONFIRMED,
    DeviceOutcome.UNTOUCHED,
)


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning: a title, and lines by device."""

    title: str
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    style: str = "warn"


def notices_section(plan: Plan, mask: Callable[[str], str], drawn: bool) -> Section | None:
    """Return the section of warnings; None without any. `drawn` is whether the page has devices."""
    errors = {name: (str(error).removeprefix(f"{name}: "),) for name, error in plan.errors.items()}
    besides = {name: look.unmanaged for name, look in plan.switches.items() if look.unmanaged}
    warned = {name: look.warnings for name, look in plan.switches.items() if look.warnings}
    notices = [
        Notice("Devices that could not be read", _rows(errors, mask), "fail"),
        Notice("Switches without a commit of ailb-gen: statements configured by others would be removed",
               _rows(plan.foreign, mask)),
        Notice("Switches with unmanaged statements that affect the fabric; a push does not change them",
               _rows(besides, mask)),
        Notice("Switches that may be unreachable after this push", _rows(warned, mask)),
    ]  # fmt: skip
    found = [notice for notice in notices if notice.rows]
    return Section("notices", "Warnings", {"notices": found, "drawn": drawn}, uses=("push",)) if found else None


def _rows(texts: Mapping[str, Iterable[str]], mask: Callable[[str], str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, tuple(clean(mask(text)) for text in lines)) for name, lines in texts.items())


def impact_section(plan: Plan, impact: PushImpact) -> Section:
    """Return the section of metrics before and after, by wave and by switch."""
    traffic = impact.traffic
    pairs = (f"{some:,} of {every:,}" for some, every in zip(traffic.arriving, traffic.pairs, strict=True))
    figures = [
        ("BGP sessions up", *(f"{count:,}" for count in traffic.up)),
        ("reachable pairs (leaf, prefix)", *pairs),
    ]
    touched = [
        (name, len(one.sessions), ", ".join(one.colors), len(one.servers))
        for name, one in impact.devices.items()
        if one.sessions or one.colors or one.servers
    ]
    waves = [
        (wave.name, len(wave.devices), lost, f"{load:.2f}")
        for wave in plan.waves
        if wave.name in traffic.waves
        for lost, load in (traffic.waves[wave.name],)
    ]
    values = {"figures": figures, "touched": touched, "waves": waves}
    return Section("impact", "Impact", values, uses=("push",))


def outcomes_section(ended: Iterable[DeviceRow]) -> Section:
    """Return the section of how every device ended."""
    rows = sorted(ended, key=_rank)
    counts = Counter(row.outcome for row in rows)
    values = {"rows": rows, "counts": list(counts.items())}
    return Section("outcomes", "Devices", values, uses=("push",))


def _rank(row: DeviceRow) -> tuple[bool, int, bool]:
    """Return where a device stands: first those that failed, and of the same outcome those with a reason."""
    return row.style != "fail", ORDER.index(row.outcome) if row.outcome in ORDER else len(ORDER), not row.reason


def endings(trace: RunTrace, refused: Mapping[str, str], mask: Callable[[str], str]) -> Iterator[DeviceRow]:
    """Give how every device ended; `refused` are those that the first check found."""
    ended = device_ends(trace.past)
    for name in dict.fromkeys((*trace.devices, *refused)):
        end = ended.get(name)
        outcome, reason = (end.outcome, end.reason) if end is not None else (str(DeviceOutcome.UNTOUCHED), "")
        if name in refused:
            outcome, reason = REFUSED, refused[name]
        elif trace.past.dry and trace.checks:
            outcome = ACCEPTS
        differences = tuple(clean(mask(text)) for text in trace.differences.get(name, ()))
        why = clean(mask(reason.removeprefix(f"{name}: ")))
        yield DeviceRow(name, outcome, _style(ENDED, outcome, why, "pass"), why, differences=differences)


def utc(time: str) -> str:
    """Return a time of the record without its zone, which is UTC; date and time may stand below each other."""
    return time.replace("T", " ").removesuffix("Z").removesuffix("+00:00")


def record_section(trace: RunTrace, file: str, mask: Callable[[str], str]) -> Section:
    """Return the section of the record: what happened when."""
    lines = trace.lines
    left_out = max(0, len(lines) - LINES)
    kept = lines if not left_out else (*lines[: LINES // 2], *lines[-LINES // 2 :])
    rows = [(seconds(line.at), utc(line.time), clean(line.wave), clean(mask(line.text)), line.style) for line in kept]
    return Section("record", "Record", {"rows": rows, "left_out": left_out, "file": clean(file)}, uses=("push",))


def picture_of(fabric: Fabric, model: FabricModel) -> Picture:
    """Return the picture of the fabric that is pushed to, with its cables."""
    attachments = tuple(Cable(leaf, End(*seat), "") for seat, leaf in model.attachments.items())
    return picture_from(outline(fabric), Topology(model.roles, model.links, attachments))


def touched_section(intent: Fabric, picture: Picture, plan: Plan, ended: Mapping[str, DeviceRow]) -> Section:
    """Return the section of the picture: devices that change, of a run how they ended, and links that are drained."""
    touched = {name: _change(look) for name, look in plan.changed.items()} | {
        name: SHORT.get(row.outcome, row.outcome) for name, row in ended.items()
    }
    # A device that is rolled back with its wave did nothing wrong.
    failed = (row for row in ended.values() if row.style == "fail" and (row.reason or row.outcome not in HARMLESS))
    marks = {row.name: {"error": 1} for row in failed}
    marks |= {name: {"error": 1} for name in plan.errors}
    marks |= {name: {"warning": 1} for name, look in plan.switches.items() if look.foreign and name not in marks}
    drained = drained_in(picture, expected_fabric(intent).drained)
    return fabric_section(picture, Overlay(drained=drained, findings=marks, touched=touched), title="Blast radius")


def _change(look: SwitchDiff | ServerDiff) -> str:
    if isinstance(look, ServerDiff):
        return "files"
    added, removed = look.counts
    return f"+{added} \N{MINUS SIGN}{removed}"


def touched_links(picture: Picture, impact: PushImpact) -> dict[str, tuple[TouchedLink, ...]]:
    """Return, by switch, the links whose sessions its change touches."""
    stripes = {device.name: device.stripe for device in picture.devices}
    at = {(end.device, end.port): link for link in picture.links for end in (link.a, link.b)}
    found = {}
    for name, one in impact.devices.items():
        links = (at.get((name, session.rpartition(".")[0])) for session in one.sessions)
        found[name] = tuple(
            TouchedLink(link.name, link.color, stripes.get(link.a.device, 0)) for link in links if link is not None
        )
    return {name: links for name, links in found.items() if links}
