"""Compute from the intent the records that `topology.json` and `cabling.csv` must have, and compare records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ailb_gen.addresses import Prefix, address_text, eui64
from ailb_gen.checks import subjects as about
from ailb_gen.checks.expected import ExpectedFabric
from ailb_gen.checks.expected_cabling import ExpectedCable, ExpectedCabling
from ailb_gen.checks.expected_hosts import ExpectedHost, ExpectedNic, places
from ailb_gen.checks.expected_switches import LEAF, ExpectedSwitch, management_address
from ailb_gen.checks.subjects import Subject
from ailb_gen.network.records import Record, Records, Rows

# Keys and, in lists, numbers from 1 that lead to a value of a record.
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A record, or a field of it, that is not as it must be; one that is missing has the line of the one before it.

    `involves` is the port that a cable leads to instead of its own.
    """

    kind: str
    key: str
    line: int
    message: str
    expected: str = ""
    found: str = ""
    involves: tuple[Subject, ...] = ()
    subjects: tuple[Subject, ...] = ()


def compare(expected: Iterable[Record], found: Iterable[Record]) -> Iterator[Difference]:
    """Iterate over all differences between records as they must be and as they are; their order does not count."""
    expected = list(expected)
    right = {record[:2]: record.fields for record in expected}
    there: dict[tuple[str, str], Record] = {}
    # Of two with one name, the one that is as it must be comes first.
    for record in sorted(found, key=lambda record: right.get(record[:2]) != record.fields):
        if there.setdefault(record[:2], record) is not record:
            message = f"the {record.kind} is there twice"
            yield _whole(record, record.line, message, is_there=True)
    before: dict[str, int] = {}
    for record in expected:
        other = there.pop(record[:2], None)
        if other is not None:
            before[record.kind] = other.line
        if other is None:
            message, line = f"the {record.kind} is missing", before.get(record.kind, 1)
            yield _whole(record, line, message, is_there=False)
        elif other.fields != record.fields:
            involves = tuple(sorted({*_of(other)} - {*_of(record)})) if record.kind == "cable" else ()
            for path, message, value, seen in _differing(record.fields, other.fields):
                subjects = _of_nic(record.key, record.fields["nics"], path) if path[:1] == ("nics",) else _of(record)
                yield Difference(record.kind, record.key, other.line, message, value, seen, involves, subjects)
    for record in there.values():
        message = f"the intent has no such {record.kind}"
        yield _whole(record, record.line, message, is_there=True)


def unequal(expected: Records, found: Records) -> tuple[list[Record], list[Record]]:
    """Return the records by which two files differ: `compare` finds the same in them as in all records."""
    parts = [_unequal(rows, found.of(rows.kind)) for rows in expected.parts]
    wanted = {rows.kind for rows in expected.parts}
    rest = {rows.kind: list(rows) for rows in found.parts if rows.kind not in wanted}
    rest |= {rows.kind: have for rows, (_, have) in zip(expected.parts, parts, strict=True)}
    return (
        [record for want, _ in parts for record in want],
        [record for rows in found.parts for record in rest[rows.kind]],
    )


def _unequal(expected: Rows, found: Rows) -> tuple[list[Record], list[Record]]:
    """Leave out what both have, but the record before one that is missing: its line is told."""
    start = next(
        (n for n, (row, other) in enumerate(zip(expected.values, found.values, strict=False)) if row != other), None
    )
    if start is None:
        start = min(len(expected.values), len(found.values))
    want, have = expected.values[start:], found.values[start:]
    there = {expected.identity(row): row for row in have}
    both = {expected.identity(row) for row in want if there.get(expected.identity(row)) == row}
    if len(both) == len(want) == len(have):
        return [], []
    odd = [start + number for number, row in enumerate(want) if expected.identity(row) not in both]
    wanted = sorted({number - before for number in odd for before in (0, 1) if number >= before})
    told = {expected.identity(expected.values[number]) for number in wanted}
    rest = [start - 1] if start - 1 in wanted else []
    rest += [
        start + n for n, row in enumerate(have) if expected.identity(row) not in both or expected.identity(row) in told
    ]
    kept = [expected.record(number) for number in wanted], [found.record(number) for number in rest]
    left = [found.record(number).key for number in sorted({*range(len(found.values))}.difference(rest))]
    left += {record.key for records in kept for record in records}
    # What has a name that is there again is compared as a whole.
    return kept if len(left) == len({*left}) else (list(expected), list(found))


def _whole(record: Record, line: int, message: str, *, is_there: bool) -> Difference:
    """Return the difference that a record is there, or is not there, as a whole."""
    texts = ("", _summary(record.fields)) if is_there else (_summary(record.fields), "")
    return Difference(record.kind, record.key, line, message, *texts, subjects=_of(record))


# The fields that name the ends of a link or of a cable.
ENDS = (("a_device", "a_port"), ("b_device", "b_port"), ("leaf", "leaf_port"), ("spine", "spine_port"))


def _of(record: Record) -> tuple[Subject, ...]:
    """Return the subjects of a record: a color, a device with its NICs, or both ends of a cable; none for a value."""
    fields = record.fields
    if record.kind == "color":
        return (about.color("", record.key),)
    if record.kind == "device":
        return (about.device(record.key), *_of_nic(record.key, fields.get("nics", ()), ()))
    ends = [(str(fields[device]), str(fields[port])) for device, port in ENDS if device in fields and port in fields]
    # A cable to a server has the key of its NIC.
    return tuple(
        about.nic(*end) if at and record.key == " ".join(end) else about.port(*end) for at, end in enumerate(ends)
    )


def _of_nic(server: str, nics: object, path: Path) -> tuple[Subject, ...]:
    """Return the NIC of a server that a path such as `("nics", 2, "leaf")` leads to, with its cable; else all NICs."""
    rows = [row for row in nics if isinstance(row, dict)] if isinstance(nics, list | tuple) else []
    number = path[1] if len(path) > 1 else None
    chosen = rows[number - 1 : number] if isinstance(number, int) else rows
    ports = (about.port(str(row.get("leaf")), str(row.get("leaf_port"))) for row in chosen)
    return (*(about.nic(server, str(row.get("name"))) for row in chosen), *ports)


def _differing(expected: object, found: object, path: Path = ()) -> Iterator[tuple[Path, str, str, str]]:
    """Iterate over (path, message, expected, found) of the values that differ, those inside lists and objects too."""
    what = " ".join(map(str, path))
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected | found:
            below = (*path, key)
            what = " ".join(map(str, below))
            if key not in found:
                right = _shown(expected[key])
                yield below, f"{what} is missing; it must be {right}", right, ""
            elif key not in expected:
                yield below, f"{what} does not belong there", "", _shown(found[key])
            else:
                yield from _differing(expected[key], found[key], below)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True), 1):
            yield from _differing(one, other, (*path, number))
    elif expected != found:
        right, value = _shown(expected), _shown(found)
        yield path, f"{what} is {value}; it must be {right}", right, value


def _shown(value: object) -> str:
    return value if isinstance(value, str) and value else json.dumps(value)


def _summary(fields: Mapping[str, object]) -> str:
    return " ".join(str(value) for value in fields.values() if value and not isinstance(value, list))


def topology(expected: ExpectedFabric, cabling: ExpectedCabling, hosts: Mapping[str, ExpectedHost]) -> Records:
    """Return the records that `topology.json` must have."""
    names = [color.name for color in expected.colors]
    values = {"fabric": expected.fabric.name, "pool": str(expected.pool)}
    colors = [
        {"name": color.name, "community": color.value, "backup": color.backup or None} for color in expected.colors
    ]
    devices = [*(_switch(switch, names) for switch in expected.switches.values()), *_servers(expected, cabling, hosts)]
    links = [(*cable[:4], cable.color, cable.speed) for cable in cabling.links]
    return Records(
        (
            Rows("value", [{key: value} for key, value in values.items()]),
            Rows("color", colors),
            Rows("device", devices),
            Rows("link", links),
        )
    )


def _switch(switch: ExpectedSwitch, colors: Iterable[str]) -> dict[str, object]:
    row: dict[str, object] = {
        "name": switch.name,
        "role": switch.role,
        "platform": switch.platform,
        "asn": switch.asn,
        "router_id": switch.router_id,
    }
    if switch.loopback:
        row["loopback"] = switch.loopback
    if switch.management:
        row["management"] = switch.management
    if switch.role == LEAF:
        row |= {"stripe": switch.stripe, "rail": switch.rail, "vlan": switch.vlan}
        row["prefixes"] = [
            {"prefix": str(prefix), "gateway": address_text(gateway), "color": color}
            for prefix, gateway, color in zip(switch.prefixes, switch.gateways, colors, strict=True)
        ]
    return row


def _servers(
    expected: ExpectedFabric, cabling: ExpectedCabling, hosts: Mapping[str, ExpectedHost]
) -> Iterator[dict[str, object]]:
    fabric = expected.fabric
    own: dict[str, list[ExpectedCable]] = {}
    for cable in cabling.hosts:
        own.setdefault(cable.b_device, []).append(cable)
    prefixes = {leaf.name: leaf.prefixes for leaf in expected.leaves}
    for number, place in enumerate(places(fabric)):
        row: dict[str, object] = {"name": place.name, "role": "server", "stripe": place.stripe}
        management = management_address(place.given.management, fabric.management.servers, number)
        if management:
            row["management"] = management
        row["nics"] = [
            _nic(nic, cable, prefixes[cable.a_device])
            for nic, cable in zip(hosts[place.name].nics, own.get(place.name, ()), strict=False)
        ]
        yield row


def _nic(nic: ExpectedNic, cable: ExpectedCable, prefixes: Iterable[Prefix]) -> dict[str, Any]:
    """Return a NIC; the addresses that it forms are known with its MAC alone (RFC 4291, appendix A)."""
    row: dict[str, Any] = {"name": nic.name, "rdma": nic.rdma, "leaf": cable.a_device, "leaf_port": cable.a_port}
    if nic.mac:
        suffix = eui64(nic.mac)
        row |= {"mac": nic.mac, "addresses": [address_text(prefix.value | suffix) for prefix in prefixes]}
    return row


def cables(cabling: ExpectedCabling) -> Records:
    """Return the records that `cabling.csv` must have."""
    return Records((Rows("cable", (*cabling.links, *cabling.hosts)),))
