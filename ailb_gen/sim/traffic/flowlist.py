"""Flows from a file: flow lists as conweave-ns3 has them, and the connection matrices of csg-htsim; plain or gzip.

A flow list has the number of flows in its first line, then per flow `source destination priority bytes start`, the
start in seconds. Times are read as decimal numbers, so that picoseconds are exact.
"""

import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ailb_gen.errors import IntentError, Place, Problem
from ailb_gen.sim.fabric import PS_PER_S, Int64
from ailb_gen.sim.traffic.arrivals import flows
from ailb_gen.sim.workload import Workload
from ailb_gen.textio import MAX_BYTES, read_bytes, text_of, text_problem

# Of a cut or mistaken file every line may be wrong: this many problems are listed, the rest is counted.
SHOWN = 20
# What fits into 63 bits as picoseconds.
MAX_SECONDS = 9_000_000
_FIELDS = ("source", "destination", "priority", "bytes", "start")
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"[0-9]{1,9}")
# Zeros may follow the twelve decimals of a picosecond.
_SECONDS = re.compile(r"([0-9]{1,9})(?:\.([0-9]{0,12})0*)?")
_FORMS = (_NUMBER, _NUMBER, _NUMBER, _INTEGER, _SECONDS)
_ROW = re.compile(r"\s*" + r"\s+".join(f"({form.pattern})" for form in _FORMS[:4]) + rf"\s+{_SECONDS.pattern}\s*")


def read_flow_list(path: Path, name: str, host_count: int, seed: int = 0) -> Workload:
    """Read a flow list; `name` is what messages call the file, hosts are 0 ... `host_count` - 1.

    Each flow has a queue pair of its own with a random UDP source port. Raises IntentError with all problems.
    """
    lines = list(numbered_lines(flow_file_text(path, name)))
    if not lines:
        raise text_problem(name, "missing-key", "the file is empty; its first line must be the number of flows")
    count = _count(lines[0], name)
    problems: list[Problem] = []
    rows: list[tuple[int, int, int, int, int, int]] = []
    for number, line in lines[1:]:
        found = _ROW.fullmatch(line)
        if found is None:
            problems.append(_bad_row(Place(name, number), line))
            continue
        source, target, priority, size, seconds = map(int, found.groups()[:5])
        start = seconds * PS_PER_S + int((found[6] or "").ljust(12, "0"))
        rows.append((number, source, target, priority, size, min(start, (MAX_SECONDS + 1) * PS_PER_S)))
    if len(lines) - 1 != count:
        reason = f"the first line announces {count} flows, and {len(lines) - 1} follow"
        problems.append(Problem("wrong-count", Place(name), "", reason, "the file may be truncated"))
    table = np.array(rows, dtype=np.int64).reshape(-1, 6)
    places, sources, targets, priorities, sizes, starts = table.T
    problems += flow_problems(name, places, sources, targets, sizes, host_count)
    problems += [
        Problem("out-of-range", Place(name, int(number)), "start", f"more than {MAX_SECONDS} seconds")
        for number in places[starts > MAX_SECONDS * PS_PER_S]
    ]
    other = np.flatnonzero(priorities != priorities[:1])
    if len(other):
        reason = f"priority {priorities[other[0]]}, and flows before it have {priorities[0]}: all must have the same"
        problems.append(Problem("wrong-value", Place(name, int(places[other[0]])), "priority", reason))
    refuse(problems, name)
    return flows(sources, targets, sizes, starts, seed, "flow")


def flow_file_text(path: Path, name: str) -> str:
    """Return the text of a plain or compressed file; raises IntentError if it cannot be read."""
    data = read_bytes(path, name)
    if data[:2] == b"\x1f\x8b":
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = packed.read(MAX_BYTES + 1)
        except (EOFError, OSError, zlib.error) as error:
            raise text_problem(name, "unreadable", f"the compressed file is truncated or damaged: {error}") from error
        if len(data) > MAX_BYTES:
            raise text_problem(name, "too-large", f"the file is larger than {MAX_BYTES >> 20} MiB")
    return text_of(data, name)


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers from 1 on."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line


def flow_problems(
    name: str,
    line: Int64,
    source: Int64,
    target: Int64,
    size: Int64,
    host_count: int,
) -> Iterator[Problem]:
    """Yield the problems of flows from a file: unknown hosts, flows to oneself, sizes below 1 byte."""
    for field, hosts in (("source", source), ("destination", target)):
        for at in np.flatnonzero(hosts >= host_count):
            reason = f"there is no host {hosts[at]}: the fabric has hosts 0 to {host_count - 1}"
            yield Problem("out-of-range", Place(name, int(line[at])), field, reason)
    for at in np.flatnonzero(source == target):
        yield Problem("wrong-value", Place(name, int(line[at])), "destination", f"host {source[at]} sends to itself")
    for at in np.flatnonzero(size < 1):
        yield Problem("out-of-range", Place(name, int(line[at])), "bytes", f"{size[at]}: a flow has at least 1 byte")


def refuse(problems: Iterable[Problem], name: str) -> None:
    """Raise IntentError if there are problems, the first ones by line and how many more there are."""
    ordered = sorted(problems, key=lambda one: (one.place, one.path, one.code))
    if len(ordered) > SHOWN:
        rest = ordered[SHOWN:]
        more = f"and {len(rest)} more problems from here on"
        ordered = [*ordered[:SHOWN], Problem(rest[0].code, rest[0].place, "", more)]
    if ordered:
        raise IntentError(ordered)


def _count(first: tuple[int, str], name: str) -> int:
    number, line = first
    word = line.strip()
    if _INTEGER.fullmatch(word) is None or int(word) < 0:
        raise text_problem(
            name, "wrong-type", f"{word[:40]!r} is not the number of flows, which must come first", number
        )
    return int(word)


def _bad_row(place: Place, line: str) -> Problem:
    words = line.split()
    if len(words) != len(_FIELDS):
        reason = f"the row has {len(words)} fields, not {len(_FIELDS)}: {', '.join(_FIELDS)}"
        return Problem("wrong-count", place, "", reason)
    for field, form, word in zip(_FIELDS, _FORMS, words, strict=True):
        if form.fullmatch(word) is None:
            wanted = "a whole number" if field != "start" else "a time in seconds with up to 12 decimals"
            return Problem("wrong-type", place, field, f"{word[:40]!r} is not {wanted}")
    raise AssertionError(line)
