"""Check Batfish's answers about the files: parsed, recognized, defined and used statements; ports and VLANs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from ailb_gen.batfish.answers import (
    Batfish,
    Row,
    first_place,
    listed,
    parse_integer,
    switches_by_file,
    switches_by_host_name,
    switches_by_node,
)
from ailb_gen.batfish.ports import ExpectedPorts, check_ports, check_vlans
from ailb_gen.batfish.unsupported import QOS, WILDCARD_ADD, unrecognized
from ailb_gen.checks.families.batfish import CONVERTED, DEFINED, PARSED, RECOGNIZED, USED
from ailb_gen.checks.model import Findings
from ailb_gen.errors import Place
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch
from ailb_gen.routing.route import COLOR

SNAPSHOT = "files"
READ = ("PASSED", "PARTIALLY_UNRECOGNIZED")
FORMATS = ("JUNIPER", "FLAT_JUNIPER", "JUNIPER_SWITCH")
PARSE_WARNING = "Parse warning"
# The chosen properties of interfaces: few, because there is a row for every unit.
PROPERTIES = "Active,MTU"


def check_files(
    batfish: Batfish, network: Network, expected: ExpectedPorts, findings: Findings, advance: Callable[[], None]
) -> None:
    """Ask about the snapshot of the files, and add findings. Raises BatfishError."""
    # A leaf without servers has a VLAN with nothing but its IRB.
    bare = {key for key, members in expected.vlans.items() if len(members) == 1}
    checks = dict(QUESTIONS) | {"unusedStructures": partial(check_used, bare=bare)}
    answers = {question: batfish.ask(question, SNAPSHOT) for question in checks}
    ports = batfish.ask("interfaceProperties", SNAPSHOT, properties=PROPERTIES)
    vlans = batfish.ask("switchedVlanProperties", SNAPSHOT)
    for question, check in checks.items():
        check(network, answers[question](), findings)
        advance()
    check_ports(network, expected, ports(), findings)
    advance()
    check_vlans(network, expected, vlans(), findings)
    advance()


def check_parsed(network: Network, rows: Sequence[Row], findings: Findings) -> None:
    """Check fileParseStatus: a row for every file, read as Junos, giving the device that the file says.

    Of files with one host name the one that is called so is right; Batfish distinguishes none of them by it.
    """
    by_file = {str(row["File_Name"]): row for row in rows}
    shared = {node: mine for node, mine in switches_by_host_name(network).items() if len(mine) > 1}
    for file, switch in switches_by_file(network).items():
        findings.look(PARSED)
        row, line = by_file.get(file), 1
        expected = (switch.host_name or switch.named).lower()
        if row is None:
            message = "Batfish does not mention this file"
        elif row["Status"] not in READ:
            message = f"Batfish could not read it: {row['Status']}"
        elif row["File_Format"] not in FORMATS:
            message = f"Batfish reads it as {row['File_Format']}, not as Junos"
        elif expected in shared and expected != switch.named.lower():
            others = ", ".join(other.file for other in shared[expected] if other is not switch)
            message = f"the host name {switch.host_name} is that of {others}, too: Batfish renames such devices"
            line = switch.host_name_line
        elif expected not in shared and listed(row["Nodes"]) != [expected]:
            message = f"Batfish makes of it {', '.join(listed(row['Nodes'])) or 'no device'}, not {expected}"
        else:
            continue
        findings.at(PARSED, switch, message, line)


def check_recognized(network: Network, rows: Sequence[Row], findings: Findings) -> None:
    """Check parseWarning: only lines of the known kinds."""
    files = switches_by_file(network)
    findings.look(RECOGNIZED, len(files))
    for row in rows:
        text = str(row["Text"])
        if unrecognized(text) is not None:
            continue
        switch = files.get(str(row["Filename"]))
        scope = switch.named if switch is not None else str(row["Filename"])
        where = Place(switch.file, parse_integer(row["Line"])) if switch is not None else None
        findings.add(RECOGNIZED, scope, f"Batfish: {_lower(row['Comment'])}: '{text}'", where)


def check_converted(network: Network, rows: Sequence[Row], findings: Findings) -> None:
    """Check initIssues: none but parse warnings, which have a check of their own, and colors taken for wildcards."""
    nodes, files = switches_by_node(network), switches_by_file(network)
    findings.look(CONVERTED, len(files))
    for row in rows:
        if row["Type"] == PARSE_WARNING:
            continue
        switch, where = first_place(files, row["Source_Lines"])
        names = listed(row["Nodes"])
        switches = [switch] if switch is not None else [nodes[name] for name in names if name in nodes]
        message = f"Batfish: {row['Details']} ({_lower(row['Type'])})"
        wildcard = WILDCARD_ADD.fullmatch(str(row["Details"]))
        for switch in switches:
            if wildcard is None or not _is_color(switch, wildcard[1]):
                findings.add(CONVERTED, switch.named, message, where or Place(switch.file))
        if not switches:
            findings.add(CONVERTED, ", ".join(names) or "Batfish", message)


def check_defined(network: Network, rows: Sequence[Row], findings: Findings) -> None:
    """Check undefinedReferences; classes of service, which Batfish reads in part, have checks of their own."""
    files = switches_by_file(network)
    findings.look(DEFINED, len(files))
    for row in rows:
        if str(row["Struct_Type"]).startswith(QOS):
            continue
        switch, where = first_place(files, row["Lines"])
        scope = switch.named if switch is not None else str(row["File_Name"])
        message = f"Batfish: {row['Struct_Type']} {row['Ref_Name']} is not defined ({row['Context']})"
        findings.add(DEFINED, scope, message, where)


def check_used(
    network: Network, rows: Sequence[Row], findings: Findings, bare: Collection[tuple[str, int]] = frozenset()
) -> None:
    """Check unusedStructures; `bare` are the switches and VLAN ids that the intent gives no port."""
    files = switches_by_file(network)
    findings.look(USED, len(files))
    for row in rows:
        kind, name = str(row["Structure_Type"]), str(row["Structure_Name"])
        switch, where = first_place(files, row["Source_Lines"])
        if kind.startswith(QOS) or (switch is not None and _used_unseen(switch, kind, name, bare)):
            continue
        scope = switch.named if switch is not None else "Batfish"
        findings.add(USED, scope, f"Batfish: {kind} {name} is defined and never used", where)


def _used_unseen(switch: Switch, kind: str, name: str, bare: Collection[tuple[str, int]]) -> bool:
    """Return whether a statement that Batfish does not count uses a structure.

    A group may discover its peers, a color stands in statements that are not recognized, and a VLAN without ports
    waits for servers.
    """
    if kind == "vlan":
        return any(vlan.name == name and (switch.named, vlan.vlan_id) in bare for vlan in switch.vlans)
    if kind == "bgp group":
        return any(group.name == name and group.discoveries for group in switch.groups)
    return kind == "community" and _is_color(switch, name)


def _is_color(switch: Switch, name: str) -> bool:
    community = switch.communities.get(name)
    return community is not None and any(member.startswith(COLOR) for member in community.members)


def _lower(text: object) -> str:
    words = str(text)
    return words[:1].lower() + words[1:]


QUESTIONS = (
    ("fileParseStatus", check_parsed),
    ("parseWarning", check_recognized),
    ("initIssues", check_converted),
    ("undefinedReferences", check_defined),
    ("unusedStructures", check_used),
)
