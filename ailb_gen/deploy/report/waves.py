"""The waves as a section: what is planned, and of a run what each wave and each of its devices did when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from ailb_gen.deploy.impact import Impact
from ailb_gen.deploy.planning import Plan
from ailb_gen.deploy.report.timeline import Track, timeline
from ailb_gen.deploy.report.trace import STEPS, Span, Trace, WaveTrace
from ailb_gen.deploy.switch import Phase
from ailb_gen.deploy.wave import Outcome
from ailb_gen.report.html.page import Section
from ailb_gen.wording import clean, some

NO_CHART = Markup()
# Devices of larger waves have a table of times, no chart of their own.
DRAWN = 64
STEP_TEXTS = {
    Phase.CHECK: "load, read back, commit check",
    Phase.COMMIT: "commit with a timer",
    Phase.VERIFY: "sessions, colors, AIGP, alarms",
    Phase.CONFIRM: "keep it",
    Phase.ROLLBACK: "bring the old configuration back",
}


class TouchedLink(NamedTuple):
    """A link whose session a change touches: its name, its color, and the stripe of its leaf, 0 for none."""

    name: str
    color: str
    stripe: int


# By switch.
Links = Mapping[str, Sequence[TouchedLink]]


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A device of a wave: how it ended, and the seconds of its steps in the order of STEPS."""

    name: str
    outcome: str = ""
    style: str = ""
    reason: str = ""
    times: tuple[str, ...] = ()


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
    Outcome.CONFIRMED: "pass",
    Outcome.AS_IS: "warn",
    Outcome.UNTOUCHED: "soft",
    Outcome.ROLLED_BACK: "fail",
    Outcome.ATTENTION: "fail",
}


def planned_section(plan: Plan, impact: Impact | None, links: Links) -> Section:
    """Return the section of the waves of a plan; `links` are those that the change of each switch touches."""
    rows = [
        WaveRow(
            number,
            wave.name,
            tuple(DeviceRow(name) for name in wave.devices),
            some(wave.devices),
            facts_of(plan, impact, wave.name, wave.devices),
        )
        for number, wave in enumerate(plan.waves, 1)
    ]
    return _section(rows, NO_CHART, links)


def facts_of(plan: Plan, impact: Impact | None, name: str, devices: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return what a wave touches, in words."""
    changed = plan.changed
    names = [name for name in devices if name in changed]
    facts = [("commands", f"{sum(len(changed[name].commands) for name in names):,}")] if names else []
    if impact is None:
        return tuple(facts)
    touched = [impact.devices[name] for name in names if name in impact.devices]
    facts.append(("sessions touched", f"{sum(len(one.sessions) for one in touched):,}"))
    colors = sorted({color for one in touched for color in one.colors})
    if colors:
        facts.append(("colors", ", ".join(colors)))
    servers = {server for one in touched for server in one.servers}
    if servers:
        facts.append(("servers", f"{len(servers):,}"))
    if name in impact.traffic.waves:
        lost, load = impact.traffic.waves[name]
        facts.append(("while its spines are away", f"{lost} pairs lost, links carry up to {load:.2f} times as much"))
    return tuple(facts)


def run_section(trace: Trace, plan: Plan | None, impact: Impact | None, links: Links) -> Section:
    """Return the section of the waves of a run: as they went, and those that it did not come to.

    `links` are those that the change of each switch touches.
    """
    rows: list[WaveRow] = []
    for wave in trace.waves:
        facts = [("began after", seconds(wave.start)), ("took", seconds(wave.took) if wave.took is not None else "")]
        # The plan is that of the last part of the run.
        if plan is not None and wave.leg == trace.leg and not wave.settles:
            facts += facts_of(plan, impact, wave.name, wave.devices)
        state, style = _state(wave)
        rows.append(_wave_row(len(rows) + 1, wave, tuple(facts), state, style))
    for name, devices in trace.ahead:
        left = facts_of(plan, impact, name, devices) if plan is not None else ()
        names = tuple(DeviceRow(device) for device in devices)
        state = "checked only" if trace.past.dry else "not begun"
        rows.append(WaveRow(len(rows) + 1, name, names, some(devices), left, state, "soft"))
    return _section(rows, _chart(trace), links)


def _section(rows: Sequence[WaveRow], chart: Markup, links: Links) -> Section:
    steps = [(str(step), STEP_TEXTS[step]) for step in STEPS]
    touching = {row.number for row in rows if any(device.name in links for device in row.devices)}
    values = {"waves": rows, "chart": chart, "steps": steps, "touching": touching}
    return Section("waves", "Waves", values, _data(rows, links), uses=("push",))


def _data(rows: Sequence[WaveRow], links: Links) -> Mapping[str, object]:
    """Return what the script shows of a device: what it did in every wave, and the links that its change touches."""
    devices: dict[str, list[tuple[object, ...]]] = {}
    for row in rows:
        for device in row.devices:
            devices.setdefault(device.name, []).append((row.number, device.outcome, device.reason, device.times))
    return {
        "waves": [(row.number, row.name) for row in rows],
        "devices": devices,
        "steps": list(map(str, STEPS)),
        "links": {name: links[name] for name in devices if name in links},
    }


def _state(wave: WaveTrace) -> tuple[str, str]:
    """Return how a wave ended, and whether that is good."""
    if wave.end is None:
        return "broken off", "fail"
    counts = Counter(outcome for outcome, _ in wave.results.values())
    worst = max(counts, key=lambda one: list(STYLES).index(one) if one in STYLES else 0, default="")
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items()), STYLES.get(worst, "soft")


def _wave_row(number: int, wave: WaveTrace, facts: tuple[tuple[str, str], ...], state: str, style: str) -> WaveRow:
    devices = tuple(_device(name, wave) for name in wave.devices)
    chart = NO_CHART
    if wave.end is not None and 1 < len(wave.steps) <= DRAWN:
        tracks = [Track(name, wave.steps.get(name, ()), "no step") for name in wave.devices]
        chart = timeline(f"Steps of the devices of the wave {wave.name}", tracks, wave.start, wave.end)
    return WaveRow(number, wave.title, devices, some(wave.devices), facts, state, style, chart)


def _device(name: str, wave: WaveTrace) -> DeviceRow:
    outcome, reason = wave.results.get(name, ("broken off", ""))
    steps = wave.steps.get(name, ())
    times = tuple(_took(step, steps) for step in STEPS) if steps else ()
    return DeviceRow(name, outcome, STYLES.get(outcome, "fail"), clean(reason), times)


def _took(step: Phase, spans: Sequence[Span]) -> str:
    """Return how long a device took for a step, empty if it did not get there."""
    found = [span.end - span.start for span in spans if span.step == step]
    return seconds(sum(found)) if found else ""


def seconds(value: float) -> str:
    """Return a time for people."""
    return f"{value:.0f} s" if value >= 100 else f"{value:.1f} s" if value >= 10 else f"{value:.2f} s"


def _chart(trace: Trace) -> Markup:
    tracks = [Track("check everywhere", trace.checks)] if trace.checks else []
    tracks += [Track(f"{number}. {wave.title}", wave.spans, "no step") for number, wave in enumerate(trace.waves, 1)]
    note = "checked only" if trace.past.dry else "not begun"
    tracks += [Track(f"{len(trace.waves) + at}. {name}", (), note) for at, (name, _) in enumerate(trace.ahead, 1)]
    return timeline("The run in time: steps of every wave", tracks, 0.0, trace.total) if tracks else NO_CHART
