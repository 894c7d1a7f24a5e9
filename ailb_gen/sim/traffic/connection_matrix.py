"""The connection matrices (`.cm`) of csg-htsim: flows that start at a time, or when a trigger fires.

`Nodes N`, `Connections M` and `Triggers T` come first; then per flow `SOURCE->TARGET` and any of `id N`, `start PS`,
`size BYTES`, `trigger N` (starts then), `send_done_trigger N` and `recv_done_trigger N` (activates it; here both when
the last byte has arrived); then `trigger id N` with `oneshot`, `multishot` or `barrier count K`. Times are picoseconds.

A trigger becomes a dependency. What is not one is refused: a trigger that the first of several flows fires, a barrier
whose count is not the number of flows that activate it, priorities, `addon`, failures.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ailb_gen.errors import Place, Problem
from ailb_gen.sim.traffic.arrivals import random_ports
from ailb_gen.sim.traffic.builder import TaskBuilder
from ailb_gen.sim.traffic.flowlist import flow_file_text, flow_problems, numbered_lines, refuse
from ailb_gen.sim.workload import Workload
from ailb_gen.wording import did_you_mean

_HEADER = ("Nodes", "Connections", "Triggers", "Failures")
_KEYS = ("id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger")
_TYPES = ("oneshot", "multishot", "barrier")
_PAIR = re.compile(r"([0-9]{1,9})->([0-9]{1,9})")
_INTEGER = re.compile(r"-?[0-9]{1,18}")
# The start may be written with decimals, which must be zeros.
_START = re.compile(r"([0-9]{1,18})(?:\.0*)?")


@dataclass(slots=True)
class _Flow:
    line: int
    source: int
    target: int
    values: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Trigger:
    line: int
    kind: str = ""
    count: int = 0


@dataclass(slots=True)
class _File:
    """The contents of a file, and its problems."""

    name: str
    header: dict[str, int] = field(default_factory=dict)
    flows: list[_Flow] = field(default_factory=list)
    triggers: dict[int, _Trigger] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def wrong(self, code: str, line: int, path: str, reason: str, hint: str = "") -> None:
        """Note a problem."""
        self.problems.append(Problem(code, Place(self.name, line), path, reason, hint))

    def integer(self, line: int, key: str, word: str, least: int) -> int | None:
        """Return a whole number of at least `least`, or note what is wrong with it."""
        if _INTEGER.fullmatch(word) is None:
            self.wrong("wrong-type", line, key, f"{word[:40]!r} is not a whole number")
        elif int(word) < least:
            self.wrong("out-of-range", line, key, f"{word} must be at least {least}")
        else:
            return int(word)
        return None


def read_connection_matrix(path: Path, name: str, host_count: int, seed: int = 0) -> Workload:
    """Read a connection matrix; `name` is what messages call the file, hosts are 0 ... `host_count` - 1.

    Each flow has a queue pair of its own with a random UDP source port. Raises IntentError with all problems.
    """
    found = _File(name)
    for line, text in numbered_lines(flow_file_text(path, name)):
        words = text.split()
        if not words[0].startswith("#"):
            _read_line(found, line, words)
    _check_counts(found)
    waiting, activating = _by_trigger(found, "trigger"), _by_trigger(found, "send_done_trigger", "recv_done_trigger")
    _check_triggers(found, waiting, activating)
    columns = [
        (one.line, one.source, one.target, one.values.get("size", 1), one.values.get("start", 0)) for one in found.flows
    ]
    places, source, target, size, start = np.array(columns, dtype=np.int64).reshape(-1, 5).T
    hosts = min(host_count, found.header.get("Nodes", host_count))
    found.problems += flow_problems(name, places, source, target, size, hosts)
    refuse(found.problems, name)
    builder = TaskBuilder(seed)
    tasks = builder.flows(source, target, size, random_ports(len(source), seed), start)
    for trigger, flows in waiting.items():
        builder.wait(tasks[flows], builder.barrier(tasks[activating[trigger]]))
    return builder.finish()


def _read_line(found: _File, line: int, words: list[str]) -> None:
    if words[0] in _HEADER:
        _read_header(found, line, words)
    elif "->" in words[0]:
        _read_flow(found, line, words)
    elif words[0] == "trigger":
        _read_trigger(found, line, words[1:])
    elif words[0] == "failure":
        found.wrong("wrong-value", line, "failure", "failures are not supported here", "write them in the scenario")
    else:
        hint = did_you_mean(words[0], (*_HEADER, "trigger"))
        found.wrong("unknown-key", line, words[0][:40], "neither a header, a flow (`1->2 …`) nor a trigger", hint)


def _read_header(found: _File, line: int, words: list[str]) -> None:
    if words[0] in found.header:
        found.wrong("duplicate-key", line, words[0], "this number is used twice")
    value = found.integer(line, words[0], " ".join(words[1:]), 0)
    if value is not None:
        found.header[words[0]] = value


def _read_flow(found: _File, line: int, words: list[str]) -> None:
    ends = _PAIR.fullmatch(words[0])
    if ends is None:
        found.wrong("wrong-type", line, "", f"{words[0][:40]!r} is not a pair of hosts such as 3->17")
    flow = _Flow(line, *(map(int, ends.groups()) if ends else (0, 1)))
    found.flows.append(flow)
    for key, word in zip(words[1::2], [*words[2::2], ""], strict=False):
        if key not in _KEYS:
            hint = "" if key in ("prio", "addon") else did_you_mean(key, _KEYS)
            found.wrong(
                "unknown-key", line, key[:40], "flows cannot have this word here", hint or f"known: {', '.join(_KEYS)}"
            )
            return
        if key in flow.values:
            found.wrong("duplicate-key", line, key, "this is given twice")
        whole = _START.fullmatch(word) if key == "start" else None
        least = 0 if key in ("start", "size") else 1
        flow.values[key] = found.integer(line, key, whole[1] if whole else word, least) or 0
    if "size" not in flow.values:
        found.wrong("missing-key", line, "size", "a flow needs its size in bytes")
    if ("start" in flow.values) == ("trigger" in flow.values):
        found.wrong("conflict", line, "start", "a flow needs either a start or a trigger")


def _read_trigger(found: _File, line: int, words: list[str]) -> None:
    trigger, number = _Trigger(line), None
    rest = iter(words)
    for word in rest:
        if word == "id":
            number = found.integer(line, "id", next(rest, ""), 1)
        elif word == "count":
            trigger.count = found.integer(line, "count", next(rest, ""), 1) or 0
        elif word in _TYPES and not trigger.kind:
            trigger.kind = word
        else:
            hint = did_you_mean(word, ("id", "count", *_TYPES))
            found.wrong("unknown-key", line, word[:40], "triggers cannot have this word", hint)
    if number is None or not trigger.kind:
        found.wrong("missing-key", line, "trigger", f"a trigger needs an id and one of {', '.join(_TYPES)}")
    elif number in found.triggers:
        found.wrong("duplicate-key", line, "trigger", f"trigger {number} is defined twice")
    else:
        found.triggers[number] = trigger


def _check_counts(found: _File) -> None:
    """Compare the header with what follows. If lines are wrong, do not also report a wrong count."""
    counts = {"Nodes": None, "Connections": len(found.flows), "Triggers": len(found.triggers)}
    for key, count in counts.items():
        if key not in found.header:
            if key != "Triggers" or count:
                found.wrong("missing-key", 1, key, "the header must give their number")
        elif count is not None and found.header[key] != count and not found.problems:
            reason = f"the header announces {found.header[key]}, and {count} follow"
            found.wrong("wrong-count", 1, key, reason, "the file may be truncated")


def _by_trigger(found: _File, *keys: str) -> dict[int, list[int]]:
    """Return the numbers of the flows that name each trigger."""
    result: dict[int, list[int]] = {}
    for number, flow in enumerate(found.flows):
        for trigger in {flow.values[key] for key in keys if key in flow.values}:
            result.setdefault(trigger, []).append(number)
    return result


def _check_triggers(found: _File, waiting: dict[int, list[int]], activating: dict[int, list[int]]) -> None:
    if found.problems:
        return
    for number in sorted({*waiting, *activating} - set(found.triggers)):
        line = found.flows[(waiting.get(number) or activating[number])[0]].line
        found.wrong("wrong-value", line, "trigger", f"there is no trigger {number} in the file")
    for number, trigger in found.triggers.items():
        activators = len(activating.get(number, ()))
        if number in waiting and not activators:
            found.wrong(
                "wrong-value", trigger.line, "trigger", f"flows wait for trigger {number}, which none activates"
            )
        elif trigger.kind == "barrier" and trigger.count != activators:
            reason = f"barrier {number} counts {trigger.count}, and {activators} flows activate it"
            found.wrong("wrong-count", trigger.line, "count", reason)
        elif trigger.kind != "barrier" and activators > 1 and number in waiting:
            reason = (
                f"{activators} flows activate the {trigger.kind} trigger {number}: the first one would start the rest"
            )
            found.wrong("wrong-value", trigger.line, "trigger", reason, f"use `barrier count {activators}`")
    if not found.problems:
        _check_ends(found, waiting, activating)


def _check_ends(found: _File, waiting: dict[int, list[int]], activating: dict[int, list[int]]) -> None:
    """Note flows that never start, since they wait for one another."""
    awaited = {trigger: len(flows) for trigger, flows in activating.items()}
    activates: dict[int, list[int]] = {}
    for trigger, flows in activating.items():
        for flow in flows:
            activates.setdefault(flow, []).append(trigger)
    started = [number for number, flow in enumerate(found.flows) if "trigger" not in flow.values]
    for flow in started:
        for trigger in activates.get(flow, ()):
            awaited[trigger] -= 1
            if not awaited[trigger]:
                started += waiting.get(trigger, ())
    for number in sorted(set(range(len(found.flows))) - set(started)):
        line = found.flows[number].line
        found.wrong("conflict", line, "trigger", "the flow never starts: it waits for flows that wait for it")
