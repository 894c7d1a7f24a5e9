"""`topology.json` and `cabling.csv`: what is cabled to what, and everything that they say, as records."""

from __future__ import annotations

import csv
import json
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from operator import itemgetter
from typing import Any

from ailb_gen.errors import Place
from ailb_gen.layout import CABLING, TOPOLOGY
from ailb_gen.network.fabric import Cable, Defect, End
from ailb_gen.network.json_lines import OtherLayoutError, WrittenEntries
from ailb_gen.network.model import read_speed
from ailb_gen.network.records import COLUMNS, LINK, NO_RECORDS, Record, Records, Row, Rows
from ailb_gen.textio import parse_json
from ailb_gen.wording import counted


def values(data: Mapping[str, object], lines: Sequence[str]) -> Iterator[Record]:
    """Iterate over the values of a JSON document that are neither lists nor objects."""
    for key, value in data.items():
        if not isinstance(value, list | dict):
            line = next((number for number, text in enumerate(lines, 1) if text.startswith(f' "{key}":')), 1)
            yield Record("value", key, {key: value}, line)


def entry_lines(data: Mapping[str, object], lines: Sequence[str]) -> dict[str, Sequence[int]]:
    """Return the lines of the entries of every list of a JSON document, by the list's name."""
    starts = [number for number, text in enumerate(lines, 1) if text.startswith("  {")]
    lists = {key: len(value) for key, value in data.items() if isinstance(value, list)}
    if len(starts) != sum(lists.values()):
        return {key: [1] * size for key, size in lists.items()}
    found: dict[str, Sequence[int]] = {}
    for key, size in lists.items():
        found[key], starts = starts[:size], starts[size:]
    return found


KINDS = ("fabric", "host")
# The lists of the topology.
LISTS = ("devices", "links", "colors")
RAIL = re.compile(r"[0-9]{1,3}")


@dataclass(frozen=True, slots=True)
class Topology:
    """The contents of one of the files: roles by device, fabric cables, server cables, and its entries as written.

    `defects` are those of the text itself; `rails` number the leaves of a stripe from 0.
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    links: tuple[Cable, ...] = ()
    attachments: tuple[Cable, ...] = ()
    records: Records = NO_RECORDS
    defects: tuple[Defect, ...] = ()
    rails: Mapping[str, int] = field(default_factory=dict)

    def completed(self, other: Topology) -> Topology:
        """Return this with the cables and the rails of another one where it has none."""
        links, attachments = self.links or other.links, self.attachments or other.attachments
        return replace(self, links=links, attachments=attachments, rails=self.rails or other.rails)


def read_topology(text: str) -> Topology:
    """Read `topology.json`. What is not of the expected shape becomes a defect."""
    try:
        # Entry by entry as it is written: the document as a whole takes ten times as much memory.
        return _topology(WrittenEntries(text, LISTS))
    except (OtherLayoutError, KeyError, TypeError, ValueError, AttributeError):
        return whole_topology(text)


def whole_topology(text: str) -> Topology:
    """Read a topology of any layout, or find what is wrong with it."""
    try:
        data = parse_json(text)
    except (ValueError, RecursionError) as error:
        line, reason = 1, "nested too deeply" if isinstance(error, RecursionError) else str(error)
        if isinstance(error, json.JSONDecodeError):
            line, reason = error.lineno, error.msg
        defect = Defect("unreadable", TOPOLOGY, f"not JSON: {reason}; generate it again", Place(TOPOLOGY, line))
        return Topology(defects=(defect,))
    entries = _Entries(data if isinstance(data, dict) else {}, text.split("\n"))
    try:
        return _topology(entries)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        detail = f"{type(error).__name__}: {error}"
        message = f"an entry lacks a key or has a value of the wrong type ({detail}); generate it again"
        return Topology(defects=(Defect("unreadable", TOPOLOGY, message, Place(TOPOLOGY, entries.line)),))


class _Entries:
    """The lists of a document; `line` is that of the entry being read, to name it when it cannot be used."""

    __slots__ = ("data", "line", "starts", "values")

    def __init__(self, data: dict[str, Any], lines: Sequence[str]) -> None:
        self.data, self.line = data, 1
        self.starts = entry_lines(data, lines)
        self.values = [(record.fields, record.line) for record in values(data, lines)]

    def of(self, key: str) -> Iterator[Any]:
        """Iterate over the entries of a list. Raises TypeError when it is none."""
        entries = self.data[key]
        if not isinstance(entries, list):
            raise TypeError(f"{key} is not a list")
        for entry, line in zip(entries, self.starts[key], strict=True):
            self.line = line
            yield entry


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _whole(entry: Mapping[str, object]) -> Mapping[str, object]:
    """Return a device. Raises TypeError for what Python takes for a number and others do not."""
    for value in entry.values():
        if isinstance(value, bool | float):
            raise TypeError(f"{value!r} is neither text nor a whole number")
    return entry


def _topology(entries: _Entries | WrittenEntries) -> Topology:
    devices, links, colors = _Collected("device"), _Collected("link"), _Collected("color")
    roles, rails, attachments, cables, speed_of = {}, {}, [], [], cache(read_speed)
    for entry in entries.of("devices"):
        name, role = _text(entry["name"]), _text(entry["role"])
        devices.add(_whole(entry), entries.line)
        roles[name] = role
        if isinstance(rail := entry.get("rail"), int):
            rails[name] = rail
        for nic in entry.get("nics", ()):
            leaf = End(_text(nic["leaf"]), _text(nic["leaf_port"]))
            attachments.append(Cable(leaf, End(name, _text(nic["name"])), line=entries.line))
    for entry in entries.of("links"):
        leaf = End(_text(entry["leaf"]), _text(entry["leaf_port"]))
        spine = End(_text(entry["spine"]), _text(entry["spine_port"]))
        cables.append(Cable(leaf, spine, _text(entry["color"]), speed_of(_text(entry["speed"])), entries.line))
        links.add(tuple(entry.values()) if tuple(entry) == LINK else entry, entries.line)
    for entry in entries.of("colors"):
        _text(entry["name"])
        colors.add(entry, entries.line)
    alone = _Collected("value")
    for fields, line in entries.values:
        alone.add(fields, line)
    records = Records(tuple(part.rows for part in (alone, devices, links, colors)))
    return Topology(roles, tuple(cables), tuple(attachments), records, rails=rails)


class _Collected:
    """The entries of a kind that were read so far; their lines take four bytes each."""

    __slots__ = ("kind", "lines", "values")

    def __init__(self, kind: str) -> None:
        self.kind, self.lines = kind, array("I")
        self.values: list[Row] = []

    def add(self, row: Row, line: int) -> None:
        """Add an entry."""
        self.values.append(row)
        self.lines.append(line)

    @property
    def rows(self) -> Rows:
        """What was collected."""
        return Rows(self.kind, self.values, self.lines)


def read_cabling(text: str) -> Topology:
    """Read `cabling.csv`: one cable per line, written from either end; what is returned has the leaf first."""
    links: list[Cable] = []
    attachments: list[Cable] = []
    records, speed_of = _Collected("cable"), cache(read_speed)
    defects: list[Defect] = []
    rails: dict[str, int] = {}
    for line, row in _leaf_first(text, defects):
        cable = Cable(End(row[0], row[1]), End(row[2], row[3]), row[6], speed_of(row[4]), line)
        if row[5] == "fabric":
            links.append(cable)
        elif row[5] == "host":
            attachments.append(cable)
            if RAIL.fullmatch(row[7]):
                rails.setdefault(row[0], int(row[7]))
        else:
            message = f"{row[5]!r} is not a kind of cable; it must be fabric or host"
            defects.append(Defect("unreadable", CABLING, message, Place(CABLING, line)))
            continue
        records.add(row, line)
    return Topology({}, tuple(links), tuple(attachments), Records((records.rows,)), tuple(defects), rails)


def _leaf_first(text: str, defects: list[Defect]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Turn the rows that are written from the end of a spine or of a server: leaves alone have cables of both kinds."""
    lines = array("I")
    rows = list(_rows(text, lines, defects))
    named = {*map(itemgetter(0, 5), rows), *map(itemgetter(2, 5), rows)}
    leaves = set.intersection(*({name for name, own in named if own == kind} for kind in KINDS))
    for line, row in zip(lines, rows, strict=True):
        turned = row[5] in KINDS and row[0] not in leaves and row[2] in leaves
        yield line, (*row[2:4], *row[:2], *row[4:]) if turned else row


def _rows(text: str, lines: array[int], defects: list[Defect]) -> Iterator[tuple[str, ...]]:
    """Iterate over the rows, and add the line of each to `lines`."""
    reader = csv.reader(_lines(text), strict=True)
    # A quote that is not closed takes the lines behind it, too.
    last = 0
    # Names, speeds and colors recur in thousands of rows.
    known = dict[str, str]().setdefault
    try:
        head = next(reader, [])
        if tuple(head) != COLUMNS:
            message = f"the first line must name the columns {','.join(COLUMNS)}"
            defects.append(Defect("unreadable", CABLING, message, Place(CABLING, 1)))
            return
        last = reader.line_num
        for row in reader:
            last = reader.line_num
            if len(row) == len(COLUMNS):
                lines.append(last)
                yield tuple(map(known, row, row))
            elif row:
                message = f"{counted(len(row), 'cell')} instead of {len(COLUMNS)}"
                defects.append(Defect("unreadable", CABLING, message, Place(CABLING, reader.line_num)))
    except csv.Error as error:
        defects.append(Defect("unreadable", CABLING, f"not CSV: {error}", Place(CABLING, last + 1)))


def _lines(text: str) -> Iterator[str]:
    """Iterate over the lines of a text with their ends: a StringIO would hold four bytes of each character."""
    start = 0
    while end := text.find("\n", start) + 1:
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]
