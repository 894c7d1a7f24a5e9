"""Check files, topology and cabling (AILB0xx): everything is there, readable, and agrees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from ailb_gen.checks import records
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_switches import LEAF, ExpectedSwitch
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import EVERYTHING, Check, Details, Findings
from ailb_gen.errors import Place
from ailb_gen.junos.grammar import TOP
from ailb_gen.layout import CABLING, TOPOLOGY, switch_file
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.model import Switch, Unmodeled
from ailb_gen.network.records import COLUMNS, Record

ENDS = COLUMNS[:4]
# A record of these kinds is about a device, or a port of one; others are about the file.
OF_DEVICES = ("device", "link", "cable")
# What a difference of these values means.
MEANINGS = {"input_sha256": "the fabric file, or a CSV file of it, has changed since everything was generated: "}


def _check_present(context: Context, findings: Findings) -> None:
    network = context.network
    unreadable = {defect.scope for defect in network.defects if defect.kind == "unreadable"}
    for name in context.expected.switches:
        findings.look(PRESENT)
        if name not in network.switches and name not in unreadable:
            findings.add(PRESENT, name, f"there is no {switch_file(name)} or .set")


def _add_faults(check: Check, kinds: tuple[str, ...], context: Context, findings: Findings) -> None:
    """Add the defects that the reader of the files reported."""
    for defect in context.network.defects:
        if defect.kind in kinds:
            device, _, part = defect.scope.partition(" ")
            subject = about.nic(device, part) if device in context.hosts else about.port(device, part)
            subjects = (subject,) if part else ()
            findings.add(check, device, defect.message, defect.place, part=part, subjects=subjects)


def _check_readable(context: Context, findings: Findings) -> None:
    findings.look(READABLE, len(context.network.switches))
    _add_faults(READABLE, ("unreadable", "host-folder"), context, findings)


def _check_stray(context: Context, findings: Findings) -> None:
    _add_faults(STRAY, ("stray-file",), context, findings)
    for name, switch in context.network.switches.items():
        findings.look(STRAY)
        if name not in context.expected.switches:
            findings.at(STRAY, switch, "the intent has no switch of this name")


def _check_host_names(context: Context, findings: Findings) -> None:
    for name, switch in context.network.switches.items():
        findings.look(HOST_NAME)
        # Without any `system`, that is what is told (AILB011).
        if switch.host_name != name and "system" in switch.sections:
            found = f"is {switch.host_name!r}" if switch.host_name else "is missing"
            message = f"host-name {found}; it must be {name}"
            line, statement = switch.host_name_line, "system host-name"
            findings.at(HOST_NAME, switch, message, line, name, switch.host_name, statement=statement)


def _check_sections(context: Context, findings: Findings) -> None:
    """Find switches that lack whole sections of what every switch of their role has."""
    for switch, expected in context.switches:
        needed = list(_sections(expected, context.fabric.bgp.neighbors == "discovered"))
        findings.look(SECTIONS, len(needed))
        missing = [name for name in needed if name not in switch.sections]
        whole = [name for name in missing if not {name.partition(" ")[0]} & {*missing} - {name}]
        for name in whole:
            message = f"there is no `{name}`"
            if len(whole) > 1:
                message = f"there is no {', '.join(f'`{one}`' for one in whole)}: the file may have been cut off"
            same_cause = switch.named if len(whole) > 1 else ""
            instead = _misspelled(switch, name)
            if instead is not None:
                message = f"{message}, but there is {instead.statement!r}, which Junos does not have"
            line = instead.line if instead is not None else switch.last_line if same_cause else 1
            subjects = (about.device(switch.named),)
            findings.at(
                SECTIONS,
                switch,
                message,
                line,
                name,
                same_cause=same_cause,
                part=name,
                statement=name,
                subjects=subjects,
            )


def _misspelled(switch: Switch, section: str) -> Unmodeled | None:
    """Return the misspelled heading of a section of the highest level, or of protocols."""
    above, _, word = section.rpartition(" ")
    there = {
        words[-1]: entry
        for entry in switch.unmodeled
        for words in (entry.statement.split(" "),)
        if " ".join(words[:-1]) == above and (above or words[0] not in TOP)
    }
    close = get_close_matches(word.lower(), [name.lower() for name in there], 1, 0.6)
    return next((entry for name, entry in there.items() if name.lower() in close), None)


def _sections(expected: ExpectedSwitch, discovers: bool) -> Iterator[str]:
    yield from ("system", "interfaces", "policy-options", "routing-options", "protocols")
    yield from ("protocols bgp", "protocols lldp")
    # Leaves send advertisements to servers; on links neighbor discovery alone needs them.
    if discovers or expected.role == LEAF:
        yield "protocols router-advertisement"
    if expected.role == LEAF:
        yield "vlans"
    if expected.roce is not None:
        yield "class-of-service"
    if expected.settings.load_balancing.dlb.mode != "off":
        yield "forwarding-options"


def _check_cables(context: Context, findings: Findings) -> None:
    findings.look(CABLES, len(context.network.links) + len(context.network.attachments))
    _add_faults(CABLES, ("cabling",), context, findings)


def _check_topology(context: Context, findings: Findings) -> None:
    if _is_listed(context, TOPOLOGY):
        found = context.records[TOPOLOGY]
        findings.look(TOPOLOGY_AGREES, len(found))
        rest = records.unequal(records.topology(context.expected, context.cabling, context.hosts), found)
        compare_records(TOPOLOGY_AGREES, TOPOLOGY, *rest, findings, context.other_fabric)


def _check_cabling(context: Context, findings: Findings) -> None:
    expected = records.cables(context.cabling)
    if _is_listed(context, CABLING):
        listed = context.records[CABLING]
        findings.look(CABLING_AS_ASKED, len(listed))
        compare_records(CABLING_AS_ASKED, CABLING, *records.unequal(expected, listed), findings)
    elif not _is_listed(context, TOPOLOGY):
        ends = (record._replace(fields={key: record.fields[key] for key in ENDS}) for record in expected)
        described = _described(context.network)
        findings.look(CABLING_AS_ASKED, len(described))
        compare_records(CABLING_AS_ASKED, "", ends, described, findings)


def _is_listed(context: Context, file: str) -> bool:
    """Return whether a file is there and could be read; one without records lacks everything, and is compared."""
    faulty = any(defect.kind == "unreadable" and defect.scope == file for defect in context.network.defects)
    return bool(context.records.get(file)) or ((context.root / file).is_file() and not faulty)


def compare_records(
    check: Check,
    file: str,
    expected: Iterable[Record],
    found: Iterable[Record],
    findings: Findings,
    other: str = "",
    meanings: Mapping[str, str] = MEANINGS,
) -> None:
    """Compare the records of a file, by its name, with those that must be there; `other` is `Context.other_fabric`.

    `meanings` begin the messages about values, by key.
    """
    for row in records.compare(expected, found):
        device, _, part = (row.key if row.kind in OF_DEVICES else f"{file} {row.key}").partition(" ")
        foreign = other if row.key == "fabric" else ""
        details: Details = {
            "involves": row.involves,
            "same_cause": EVERYTHING if foreign else "",
            "part": part,
            "subjects": row.subjects or (about.file(file),),
        }
        message = foreign or f"{meanings.get(row.key, '')}{row.message}"
        place = Place(file, row.line) if file else None
        findings.add(check, device, message, place, row.expected, row.found, **details)


def _described(network: Network) -> tuple[Record, ...]:
    """Return the ends of the cables that descriptions name, where no file lists cables."""
    rows = [(f"{cable.a.device} {cable.a.port}", cable.a, cable.b) for cable in network.links]
    rows += [(f"{server} {nic}", end, End(server, nic)) for (server, nic), end in network.attachments.items()]
    return tuple(
        Record("cable", key, dict(zip(ENDS, (a.device, a.port, b.device, b.port), strict=True))) for key, a, b in rows
    )


AGAIN = "Generate the fabric again, and review the difference before you commit it."
PRESENT = Check(
    "AILB001",
    "every switch of the intent has a file",
    "a switch of the intent has no file",
    "A switch without a file keeps its old configuration, or none.",
    AGAIN,
    _check_present,
    layer=Layer.FILES,
)
READABLE = Check(
    "AILB002",
    "every file can be read and matches its name",
    "a file cannot be read or does not match its name",
    "A file that cannot be read cannot be pushed, and was not checked.",
    "Correct the syntax at the place given, or generate the file again.",
    _check_readable,
    layer=Layer.FILES,
)
STRAY = Check(
    "AILB003",
    "every switch file belongs to one switch of the intent",
    "a switch file belongs to no switch of the intent",
    "A stale file of a switch that was renamed or removed may be pushed to another one later.",
    "Delete the file, or add the switch to the intent.",
    _check_stray,
    layer=Layer.FILES,
)
HOST_NAME = Check(
    "AILB004",
    "host-name is the name of the file",
    "a host-name is not the name of the file",
    "The switch would get the name of another, and LLDP would show wrong neighbors.",
    "Correct system host-name.",
    _check_host_names,
)
SECTIONS = Check(
    "AILB011",
    "every switch has all sections of the configuration that its role in the fabric needs",
    "a switch lacks a whole section of its configuration",
    "A file that was cut off, or lost a section, leaves a switch without sessions, ports or classes.",
    AGAIN,
    _check_sections,
    layer=Layer.SYNTAX,
)
CABLES = Check(
    "AILB006",
    "cabling.csv and topology.json have the same cables, and no port has two",
    "cabling.csv and topology.json differ, or a port has two cables",
    "Technicians cable by one file, and the checks use the other.",
    AGAIN,
    _check_cables,
    layer=Layer.AGREEMENT,
)
TOPOLOGY_AGREES = Check(
    "AILB008",
    "topology.json matches the intent: the fabric, and every device, color and link",
    "topology.json differs from the intent",
    "Other tools read the topology and repeat its errors.",
    AGAIN,
    _check_topology,
    layer=Layer.TOPOLOGY,
)
CABLING_AS_ASKED = Check(
    "AILB009",
    "every leaf is cabled to every spine, and every NIC to the leaf of its rail, at the ports and speeds of the intent",
    "a cable is missing, unexpected, or at another port or speed than in the intent",
    "A missing or moved cable leaves a color without a path, or puts a GPU on another rail.",
    "Generate the fabric again. If the cables stay as they are, name their ports in the intent.",
    _check_cabling,
    layer=Layer.CABLES,
)
