"""Loads as a section: a heat map of leaves and spines, without failures and after the worst single one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ailb_gen.checks.context import Context
from ailb_gen.checks.failure_outcomes import FailureOutcomes
from ailb_gen.forwarding.loads import Indices, Volumes
from ailb_gen.forwarding.peaks import STEADY
from ailb_gen.report.html.devices import device_states
from ailb_gen.report.html.page import Section

# Loads in the data are whole numbers: so many make the highest load without failures.
UNIT = 10_000
# Links that are listed.
TOP = 10
UNCOLORED = "uncolored"


@dataclass(frozen=True, slots=True)
class _Loads:
    """By link (session) and direction, in multiples of the highest load without failures; `cause` as in Peaks."""

    steady: Volumes
    worst: Volumes
    cause: Indices


@dataclass(frozen=True, slots=True)
class LoadRow:
    """A line of a table: what it is about, texts of loads, the link that is meant and the failure that causes it."""

    name: str
    links: str = ""
    steady: str = ""
    worst: str = ""
    link: str = ""
    cause: str = ""


def loads_section(context: Context) -> Section:
    """Return the section; the names of links are those of the section of paths."""
    outcomes, graph = context.kept_outcomes, context.routing.graph
    loads = _loads(context, outcomes)
    examined = len(outcomes.single) if outcomes is not None else 0
    values = {
        "links": len(graph.sessions.up),
        "examined": examined,
        "colors": list(_by_color(context, loads, outcomes)),
        "top": list(_top(context, loads, outcomes)) if examined else [],
    }
    data = {
        "unit": UNIT,
        "steady": _whole(loads.steady),
        "worst": _whole(loads.worst) if examined else [],
        "cause": loads.cause.ravel().tolist() if examined else [],
        "spines": [graph.index[one.failure.name] for one in outcomes.spines] if outcomes is not None else [],
        "groups": list(_groups(context)),
        "out": list(_out(context)),
    }
    return Section("loads", "Loads", values, data if len(graph.sessions.up) else None)


def _loads(context: Context, outcomes: FailureOutcomes | None) -> _Loads:
    baseline = context.baseline
    highest = baseline.highest or 1.0
    steady = baseline.load.reshape(-1, 2) / highest
    if outcomes is None:
        return _Loads(steady, steady, np.full(steady.shape, STEADY, dtype=np.int64))
    return _Loads(steady, outcomes.peaks.load.reshape(-1, 2) / highest, outcomes.peaks.cause.reshape(-1, 2))


def _whole(loads: Volumes) -> list[int]:
    found: list[int] = np.rint(loads.ravel() * UNIT).astype(np.int64).tolist()
    return found


def _by_color(context: Context, loads: _Loads, outcomes: FailureOutcomes | None) -> Iterator[LoadRow]:
    """Give a row per color, as leaves, the first ends of links, have it; also where no session is up."""
    graph = context.routing.graph
    links: dict[str, list[int]] = {color.name: [] for color in context.expected.colors}
    for number, session in enumerate(graph.sessions.up):
        color = graph.switches[graph.index[session.a.device]].groups[session.a.group].color or ""
        links.setdefault(color, []).append(number)
    for color, numbers in links.items():
        if not numbers:
            yield LoadRow(color, "0", "no session up")
        else:
            busiest = numbers[int(loads.worst[numbers].max(axis=1).argmax())]
            steady, worst = loads.steady[numbers].max(axis=1), loads.worst[busiest].max()
            yield LoadRow(
                color or UNCOLORED,
                f"{len(numbers):,}",
                f"mean {steady.mean():.2f}, peak {steady.max():.2f}",
                f"{worst:.2f}",
                graph.link_name(busiest),
                _cause(context, loads, busiest, outcomes),
            )


def _top(context: Context, loads: _Loads, outcomes: FailureOutcomes | None) -> Iterator[LoadRow]:
    """Give the links that carry most after a failure; equal ones in the order of the cables."""
    graph, highest = context.routing.graph, loads.worst.max(axis=1)
    for number in np.argsort(-np.round(highest, 4), kind="stable")[:TOP].tolist():
        if highest[number] > 0:
            name = graph.link_name(number)
            steady = f"{loads.steady[number].max():.2f}"
            yield LoadRow(name, "", steady, f"{highest[number]:.2f}", name, _cause(context, loads, number, outcomes))


def _cause(context: Context, loads: _Loads, link: int, outcomes: FailureOutcomes | None) -> str:
    number = int(loads.cause[link, int(loads.worst[link].argmax())])
    return outcomes.single[number].failure.name if outcomes is not None and number != STEADY else ""


def _groups(context: Context) -> Iterator[tuple[str, list[int]]]:
    """Give the devices at the first ends of links, by stripe."""
    graph, asked = context.routing.graph, context.expected.switches
    rows: dict[int, list[int]] = defaultdict(list)
    for device in sorted({graph.index[session.a.device] for session in graph.sessions.up}):
        expected = asked.get(graph.names[device])
        rows[expected.stripe if expected is not None else 0].append(device)
    for stripe, devices in sorted(rows.items()):
        yield _group(stripe), devices


def _group(stripe: int) -> str:
    return f"stripe {stripe}" if stripe else "other switches"


def _out(context: Context) -> Iterator[Mapping[str, str]]:
    """Give the switches of the intent without a session, and why."""
    up, states = context.routing.graph.sessions.up, device_states(context)
    known = {side.device for session in up for side in (session.a, session.b)}
    for name, switch in context.expected.switches.items():
        if name not in known:
            state = states.get(name, "no session")
            yield {"name": name, "role": switch.role, "group": _group(switch.stripe), "state": state}
