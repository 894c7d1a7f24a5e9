"""The checks of files, topology and cabling (AILB0xx): everything is there, readable, and says the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.checks import records
from ailb_gen.checks.descriptions import check_descriptions
from ailb_gen.checks.extra import check_extra
from ailb_gen.checks.file_checks import (
    CABLES,
    CABLING_AS_ASKED,
    CHECKS,
    HOST_NAME,
    KINDS,
    PRESENT,
    READABLE,
    STRAY,
    TOPOLOGY_AGREES,
)
from ailb_gen.checks.findings import Findings
from ailb_gen.checks.manifest import check_manifest
from ailb_gen.errors import Place
from ailb_gen.layout import CABLING, TOPOLOGY, switch_file
from ailb_gen.network.fabric import End
from ailb_gen.network.records import Record
from ailb_gen.network.topology import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.checks.expected_cabling import ExpectedCabling
    from ailb_gen.checks.model import Check, Result
    from ailb_gen.intent.load import Intent
    from ailb_gen.network.fabric import Network

__all__ = ["CHECKS", "run"]

ENDS = COLUMNS[:4]
# What a record of these kinds is about is a device, or a port of one; others are about the file.
OF_DEVICES = ("device", "link", "cable")


def run(
    intent: Intent,
    intended: ExpectedFabric,
    expected_cabling: ExpectedCabling,
    network: Network,
    found: Mapping[str, tuple[Record, ...]],
    root: Path,
) -> Iterator[Result]:
    """Run all checks of files below `root`; `found` are the records of topology and cabling, by file."""
    collected = Findings(CHECKS)
    for fault in network.faults:
        collected.add(KINDS[fault.kind], fault.scope, fault.message, fault.place)
    _check_switches(intended, network, collected)
    check_manifest(intent, network, root, collected)
    check_descriptions(intended, network, collected)
    check_extra(intended, network, collected)
    # A file with nothing in it is compared, too: everything is missing. One that is not there is a fault.
    listed = {file for file in (TOPOLOGY, CABLING) if found[file] or _is_read(network, root, file)}
    if TOPOLOGY in listed:
        _check_records(
            TOPOLOGY_AGREES, TOPOLOGY, records.topology(intended, expected_cabling), found[TOPOLOGY], collected
        )
    if CABLING in listed:
        _check_records(CABLING_AS_ASKED, CABLING, records.cabling(expected_cabling), found[CABLING], collected)
    elif TOPOLOGY not in listed:
        ends = (
            record._replace(fields={key: record.fields[key] for key in ENDS})
            for record in records.cabling(expected_cabling)
        )
        _check_records(CABLING_AS_ASKED, "", ends, _described(network), collected)
    collected.look(CABLES, len(network.links) + len(network.attachments))
    yield from collected.results()


def _is_read(network: Network, root: Path, file: str) -> bool:
    """Tell whether a file is there and could be read as what it is."""
    faulty = any(fault.kind == "unreadable" and fault.scope == file for fault in network.faults)
    return (root / file).is_file() and not faulty


def _check_switches(intended: ExpectedFabric, network: Network, collected: Findings) -> None:
    unreadable = {fault.scope for fault in network.faults if fault.kind == "unreadable"}
    for name in intended.speakers:
        collected.look(PRESENT)
        if name not in network.switches and name not in unreadable:
            collected.add(PRESENT, name, f"there is no {switch_file(name)} or .set")
    collected.look(READABLE, len(network.switches))
    for name, switch in network.switches.items():
        collected.look(STRAY)
        collected.look(HOST_NAME)
        if name not in intended.speakers:
            collected.add(STRAY, name, "the intent has no switch of this name", Place(switch.file))
        if switch.host_name != name:
            place = Place(switch.file, switch.host_name_line or 1)
            said = f"is {switch.host_name!r}" if switch.host_name else "is missing"
            collected.add(HOST_NAME, name, f"host-name {said}; it must be {name}", place, name, switch.host_name)


def _check_records(
    check: Check, file: str, intended: Iterable[Record], found: tuple[Record, ...], collected: Findings
) -> None:
    """Compare the records of a file, by its name, with those that must be there."""
    collected.look(check, len(found))
    for row in records.compare(intended, found):
        scope = row.key if row.kind in OF_DEVICES else f"{file} {row.key}"
        collected.add(check, scope, row.message, Place(file, row.line) if file else None, row.expected, row.found)


def _described(network: Network) -> tuple[Record, ...]:
    """Return the ends of the cables that descriptions tell of, for want of files that list cables."""
    rows = [(f"{cable.a.device} {cable.a.port}", cable.a, cable.b) for cable in network.links]
    rows += [(f"{server} {nic}", end, End(server, nic)) for (server, nic), end in network.attachments.items()]
    return tuple(
        Record("cable", key, dict(zip(ENDS, (a.device, a.port, b.device, b.port), strict=True))) for key, a, b in rows
    )
