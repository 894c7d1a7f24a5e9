"""What a subscription sends when: samples, changes, heartbeats.

Source: gNMI specification 0.8.0, section 3.5.1.5; Junos, "gNMI Subscription" (an interval of 30 s where none is named).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

import grpc
from pygnmi.spec.v080 import gnmi_pb2

from ailb_gen.emulator.gnmi.encode import path_of
from ailb_gen.emulator.gnmi.errors import GnmiRefusedError
from ailb_gen.emulator.gnmi.paths import Steps, absolute, text_of
from ailb_gen.emulator.gnmi.selection import PathSelection, StateRow, selection
from ailb_gen.emulator.gnmi.view import DeviceView, Keys, Values

NANOSECOND = 10**9
# In seconds: the shortest interval, the one of TARGET_DEFINED where none is named, how often changes are looked for.
SHORTEST_S, DEFAULT_S, LOOK_S = 1.0, 30.0, 1.0


@dataclass(slots=True)
class Feed:
    """Paths that are sent in the same way: every `period_s` seconds, all or what has changed since.

    `counted` is whether counters, everything else, or (None) both are sent; after `heartbeat_s` seconds all is sent
    again even if nothing has changed, never if they are infinite.
    """

    selected: PathSelection
    period_s: float
    changes_only: bool = False
    counted: bool | None = None
    heartbeat_s: float = math.inf
    due_s: float = 0.0
    full_s: float = 0.0
    _sent: dict[tuple[int, Keys], Values] = field(default_factory=dict)

    def start(self, view: DeviceView, now_s: float, silent: bool) -> list[StateRow]:
        """Return the state now; with `silent` nothing, but it counts as sent."""
        self.due_s, self.full_s = now_s + self.period_s, now_s + self.heartbeat_s
        rows = list(self.selected.rows(view, self.counted))
        self._sent = {row[:2]: row.values for row in rows} if self.changes_only else {}
        return [] if silent else rows

    def collect(self, view: DeviceView, now_s: float) -> tuple[list[StateRow], list[Steps]]:
        """Return what is due, and the paths that are no more; what was missed while busy is left out."""
        self.due_s += self.period_s * max(1, math.ceil((now_s - self.due_s) / self.period_s))
        rows = list(self.selected.rows(view, self.counted))
        if not self.changes_only:
            return rows, []
        whole = now_s >= self.full_s
        if whole:
            self.full_s = now_s + self.heartbeat_s
        before, self._sent = self._sent, {row[:2]: row.values for row in rows}
        gone = [path_of(StateRow(*key, {})) for key in before.keys() - self._sent.keys()]
        return (rows if whole else list(_changed(before, rows))), gone


def _changed(before: dict[tuple[int, Keys], Values], rows: Iterable[StateRow]) -> Iterator[StateRow]:
    for row in rows:
        old = before.get(row[:2])
        if old is None:
            yield row
        elif old != row.values:
            new = {name: value for name, value in row.values.items() if old.get(name) != value}
            if new:
                yield row._replace(values=new)


def selected(request: gnmi_pb2.SubscriptionList) -> PathSelection:
    """Return what all paths of a request select. Raises GnmiRefusedError for paths that no device can have."""
    return selection(tuple(absolute(request.prefix, one.path) for one in request.subscription))


def feeds(request: gnmi_pb2.SubscriptionList) -> list[Feed]:
    """Return the feeds of a request for a stream. Raises GnmiRefusedError."""
    settings = [(_settings(one), absolute(request.prefix, one.path)) for one in request.subscription]
    settings.sort(key=lambda found: found[0])
    made = []
    for (mode, interval_ns, suppress, heartbeat_ns), rows in groupby(settings, key=lambda found: found[0]):
        paths = tuple(path for _, path in rows)
        heartbeat_s = heartbeat_ns / NANOSECOND or math.inf
        if mode == gnmi_pb2.SAMPLE:
            period_s = interval_ns / NANOSECOND or SHORTEST_S
            made.append(Feed(selection(paths), period_s, suppress, heartbeat_s=heartbeat_s))
            continue
        if mode == gnmi_pb2.TARGET_DEFINED:
            made.append(Feed(selection(paths), interval_ns / NANOSECOND or DEFAULT_S, counted=True))
        else:
            _check_events(paths)
        made.append(Feed(selection(paths), LOOK_S, True, False, heartbeat_s))
    return made


def _check_events(paths: Iterable[Steps]) -> None:
    for path in paths:
        if not selection((path,)).has(counted=False):
            raise GnmiRefusedError(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"{text_of(path)} has counters only, which are not sent on change; use SAMPLE or TARGET_DEFINED",
            )


def _settings(one: gnmi_pb2.Subscription) -> tuple[int, int, bool, int]:
    """Return mode, interval, whether what is the same is suppressed, and heartbeat. Raises GnmiRefusedError."""
    if one.mode not in gnmi_pb2.SubscriptionMode.values():
        raise GnmiRefusedError(grpc.StatusCode.INVALID_ARGUMENT, f"there is no mode {one.mode} of a subscription")
    for name in ("sample_interval", "heartbeat_interval"):
        value = getattr(one, name)
        if 0 < value < SHORTEST_S * NANOSECOND:
            raise GnmiRefusedError(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"{name} of {value} ns is too short; the shortest is {SHORTEST_S:g} s",
            )
    return one.mode, one.sample_interval, one.suppress_redundant, one.heartbeat_interval
