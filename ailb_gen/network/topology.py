"""`topology.json` and `cabling.csv`: what is cabled to what, and what every device is."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

from ailb_gen.errors import Place
from ailb_gen.network.fabric import Cable, End, Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

TOPOLOGY = "topology.json"
CABLING = "cabling.csv"
COLUMNS = ("a_device", "a_port", "b_device", "b_port", "speed", "kind", "color", "rail")


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What `topology.json` says of a device; None and empty where it does not apply to its role."""

    name: str
    role: str
    line: int
    stripe: int | None = None
    rail: int | None = None
    asn: int | None = None
    router_id: str = ""
    vlan: int | None = None
    # (prefix, gateway, color)
    prefixes: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Topology:
    """What the two files say: devices, fabric cables, server cables; `faults` is what is wrong with the text itself."""

    devices: tuple[DeviceFacts, ...] = ()
    colors: tuple[tuple[str, str], ...] = ()
    links: tuple[Cable, ...] = ()
    attachments: tuple[Cable, ...] = ()
    faults: tuple[Fault, ...] = ()


def _lines(text: str) -> dict[str, int]:
    """Map every line's stripped text to its number: rows of devices and links are one line each."""
    return {line.strip().rstrip(","): number for number, line in reversed(list(enumerate(text.splitlines(), 1)))}


def read_topology(text: str) -> Topology:
    """Read `topology.json`. What is not of the expected shape becomes a fault."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply or numbers too long"
        fault = Fault("unreadable", TOPOLOGY, f"not JSON: {reason}; generate it again", Place(TOPOLOGY, line))
        return Topology(faults=(fault,))
    where = _Rows(_lines(text))
    try:
        return _topology(data, where)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        detail = f"{type(error).__name__}: {error}"
        message = f"an entry lacks a key or has a value of the wrong type ({detail}); generate it again"
        return Topology(faults=(Fault("unreadable", TOPOLOGY, message, Place(TOPOLOGY, where.last)),))


class _Rows:
    """Finds the line of an entry; `last` is the one that was looked for last, to name it when it cannot be used."""

    def __init__(self, lines: dict[str, int]) -> None:
        self.lines = lines
        self.last = 1

    def line(self, entry: object) -> int:
        self.last = self.lines.get(json.dumps(entry), self.last)
        return self.last


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _number(value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError(f"{value!r} is not a number")
    return value


def _topology(data: dict[str, Any], where: _Rows) -> Topology:
    devices, attachments = [], []
    for entry in data["devices"]:
        line = where.line(entry)
        prefixes = tuple(
            (_text(p["prefix"]), _text(p["gateway"]), _text(p["color"])) for p in entry.get("prefixes", ())
        )
        facts = (_number(entry.get("stripe")), _number(entry.get("rail")), _number(entry.get("asn")))
        ids = (_text(entry.get("router_id", "")), _number(entry.get("vlan")))
        devices.append(DeviceFacts(_text(entry["name"]), _text(entry["role"]), line, *facts, *ids, prefixes))
        for nic in entry.get("nics", ()):
            leaf = End(_text(nic["leaf"]), _text(nic["leaf_port"]))
            attachments.append(Cable(leaf, End(entry["name"], _text(nic["name"])), line=line))
    links = []
    for entry in data["links"]:
        line = where.line(entry)
        leaf = End(_text(entry["leaf"]), _text(entry["leaf_port"]))
        spine = End(_text(entry["spine"]), _text(entry["spine_port"]))
        links.append(Cable(leaf, spine, _text(entry["color"]), _text(entry["speed"]), line))
    colors = tuple((_text(entry["name"]), _text(entry["community"])) for entry in data["colors"])
    return Topology(tuple(devices), colors, tuple(links), tuple(attachments))


def read_cabling(text: str) -> Topology:
    """Read `cabling.csv`: one cable per line, the leaf or switch first."""
    links: list[Cable] = []
    attachments: list[Cable] = []
    faults: list[Fault] = []
    for line, row in _rows(text, faults):
        cable = Cable(End(row[0], row[1]), End(row[2], row[3]), row[6], row[4], line)
        if row[5] == "fabric":
            links.append(cable)
        elif row[5] == "host":
            attachments.append(cable)
        else:
            message = f"{row[5]!r} is no kind of cable; it must be fabric or host"
            faults.append(Fault("unreadable", CABLING, message, Place(CABLING, line)))
    return Topology(links=tuple(links), attachments=tuple(attachments), faults=tuple(faults))


def _rows(text: str, faults: list[Fault]) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(StringIO(text), strict=True)
    try:
        head = next(reader, [])
        if tuple(head) != COLUMNS:
            message = f"the first line must name the columns {','.join(COLUMNS)}"
            faults.append(Fault("unreadable", CABLING, message, Place(CABLING, 1)))
            return
        for row in reader:
            if len(row) == len(COLUMNS):
                yield reader.line_num, row
            elif row:
                message = f"{len(row)} cells where {len(COLUMNS)} belong"
                faults.append(Fault("unreadable", CABLING, message, Place(CABLING, reader.line_num)))
    except csv.Error as error:
        faults.append(Fault("unreadable", CABLING, f"not CSV: {error}", Place(CABLING, reader.line_num)))
