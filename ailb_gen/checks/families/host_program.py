"""Check `ailb-host`: the program, and the file from which it knows the fabric."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from ailb_gen.addresses import Prefix, address_text
from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import deviations
from ailb_gen.checks.expected_hosts import ExpectedNic, HostGroup
from ailb_gen.checks.families.host_tables import prefix_of
from ailb_gen.checks.families.hosts import REGENERATE, HostFindings, per_group
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Severity
from ailb_gen.host_program import host_program
from ailb_gen.hosts.model import HostFileNic
from ailb_gen.layout import HOST_FILE, HOST_PROGRAM

# A NIC and a table of it, 0 for the NIC itself.
Key = tuple[str, int]


@per_group
def _check_file(group: HostGroup, findings: HostFindings) -> None:
    """Compare the colors and tables of `host.json` with the intent's, and their prefixes with netplan's."""
    profile = group.profile
    broken = any(defect.place.file.endswith(HOST_FILE) for defect in profile.defects)
    if HOST_FILE not in profile.files or not profile.nics or broken:
        return
    expected = {key: words for nic in group.expected.nics for key, words in _expected(group, nic).items()}
    rows = [(key, line, words) for nic in profile.host_nics for key, line, words in _observed(nic)]
    observed, lines = {key: words for key, _, words in rows}, {key: line for key, line, _ in rows}
    findings.look(FILE, len(expected))
    for one in deviations(expected, observed):
        nic, table = one.subject
        found, needed = (" ".join(words) if words is not None else "" for words in (one.observed, one.expected))
        reason = f"must be {needed}, not {found}" if found and needed else f"{found} must not be there"
        message = f"{f'table {table} of {nic}' if table else nic}: {reason if found else f'{needed} is missing'}"
        subjects = (about.table(findings.scope, str(table)),) if table else ()
        line = lines.get(one.subject, lines.get((nic, 0), 1))
        findings.about(*subjects).add(FILE, message, HOST_FILE, line, needed, found, nic)
    for key, line, _ in rows:
        if lines[key] != line:
            findings.add(FILE, f"{key[0]} is there twice, or a table of it is", HOST_FILE, line, "", "", key[0])


def _expected(group: HostGroup, expected: ExpectedNic) -> dict[Key, tuple[str, ...]]:
    nic = group.profile.nics.get(expected.name)
    if nic is None:
        return {}
    host = group.expected
    rail = host.first_nic + host.rails[host.nics.index(expected)]
    dscp = host.roce.dscp if host.roce is not None else None
    facts: dict[Key, tuple[str, ...]] = {
        (expected.name, 0): _of_nic(expected.rdma, rail, dscp, expected.mac, host.mtu),
    }
    for table in expected.tables:
        routes = [route for route in nic.routes if route.table == table.id]
        via = next((route.via for route in routes if route.to is not None and not route.to.length), None)
        facts[expected.name, table.id] = (table.color, *_words(prefix_of(routes), via), str(table.priority))
    return facts


def _observed(nic: HostFileNic) -> Iterator[tuple[Key, int, tuple[str, ...]]]:
    yield (nic.name, 0), nic.line, _of_nic(nic.rdma, nic.rail, nic.dscp, nic.mac, nic.mtu)
    for color in nic.colors:
        words = (color.name, *_words(color.prefix, color.gateway), str(color.priority))
        yield (nic.name, color.table), color.line, words


def _of_nic(rdma: str, rail: int, dscp: int | None, mac: str, mtu: int) -> tuple[str, ...]:
    return rdma, f"rail {rail}", f"DSCP {'-' if dscp is None else dscp}", mac or "-", str(mtu)


def _words(prefix: Prefix | None, gateway: int | None) -> tuple[str, str]:
    return str(prefix or "-"), address_text(gateway) if gateway is not None else "-"


@per_group
def _check_program(group: HostGroup, findings: HostFindings) -> None:
    found = group.profile.program
    if found is None:
        return
    findings.look(PROGRAM)
    shipped = sha256(host_program()).hexdigest()
    if found != shipped:
        message = f"{HOST_PROGRAM} is not the one of this version of ailb-gen"
        findings.add(PROGRAM, message, HOST_PROGRAM, 1, shipped, found)


FILE = Check(
    "AILB620",
    "ailb-host knows the NICs, colors and prefixes that netplan sets",
    "host.json and netplan, or host.json and the intent, differ",
    "ailb-host would name a wrong color, report addresses that are right, or pass over wrong ones.",
    REGENERATE,
    _check_file,
    layer=Layer.SCRIPTS,
)
PROGRAM = Check(
    "AILB621",
    "ailb-host is the program of this version of ailb-gen",
    "ailb-host is that of another version, or was edited",
    "It runs as root on every server; what another version reports may differ.",
    "Generate the files again, and review what changes.",
    _check_program,
    severity=Severity.WARNING,
    layer=Layer.PROGRAMS,
)
