"""Check Batfish's answers about the files: parsed, recognized, defined and used statements; ports and VLANs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from ailb_gen.batfish.model import Batfish, Row
from ailb_gen.batfish.places import by_file, by_node, integer_of, place, sharing
from ailb_gen.batfish.ports import ExpectedPorts, judge_ports, judge_vlans
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
# The properties of interfaces that are asked for: few, because there is a row for every unit.
PROPERTIES = "Active,MTU"


def judge_files(
    batfish: Batfish, network: Network, expected: ExpectedPorts, findings: Findings, advance: Callable[[], None]
) -> None:
    """Ask about the snapshot of the files, and add findings. Raises BatfishError."""
    # A leaf without servers has a VLAN with nothing but its IRB.
    bare = {key for key, members in expected.vlans.items() if len(members) == 1}
    judges = dict(JUDGES) | {"unusedStructures": partial(judge_used, bare=bare)}
    answers = {question: batfish.ask(question, SNAPSHOT) for question in judges}
    ports = batfish.ask("interfaceProperties", SNAPSHOT, properties=PROPERTIES)
    vlans = batfish.ask("switchedVlanProperties", SNAPSHOT)
    for question, judge in judges.items():
        judge(network, answers[question](), findings)
        advance()
    judge_ports(network, expected, ports(), findings)
    advance()
    judge_vlans(network, expected, vlans(), findings)
    advance()


def judge_parsed(network: Network, rows: Sequence[Row], findings: Findings) -> None:
    """Judge fileParseStatus: a row for every file, read as Junos, giving the device that the file says.

    Of files with one host name the one that is called so is right; Batfish tells none of them apart by it.
    """
    found = {str(row["File_Name"]): row for row in rows}
    shared = {node: mine for node, mine in sharing(network).items() if len(mine) > 1}
    for file, switch in by_file(network).items():
        findings.look(PARSED)
        row = found.get(file)
        message, line = "" if row is not None else "Batfish does not mention this file", 1
        if row is not None:
            nodes = row["Nodes"] if isinstance(row["Nodes"], list) else []
            expected = (switch.host_name or switch.named).lower()
            if row["Status"] not in READ:
                message = f"Batfish could not read it: {row['Status']}"
            elif row["File_Format"] not in FORMATS:
                message = f"Batfish takes it for {row['File_Format']}, not for Junos"
            elif expected in shared:
                if expected != switch.named.lower():
                    others = ", ".join(one.file for one in shared[expected] if one is not switch)
                    message = f"the host name {switch.host_name} is that of {others}, too: Batfish renames such devices"
                    line = switch.host_name_line
            elif nodes != [expected]:
                message = f"Batfish makes of it {', '.join(map(str, nodes)) or 'no device'}, not {expected}"
        if message:
            findings.at(PARSED, switch, message, line)


def judge_recognized(network: Network, rows: Sequence[Row], findings: Findings) -> None:
    """Judge parseWarning: only lines of the known kinds."""
    files = by_file(network)
    findings.look(RECOGNIZED, len(files))
    for row in rows:
        text = str(row["Text"])
        if unrecognized(text) is not None:
            continue
        switch = files.get(str(row["Filename"]))
        scope = switch.named if switch is not None else str(row["Filename"])
        where = Place(switch.file, integer_of(row["Line"])) if switch is not None else None
        findings.add(RECOGNIZED, scope, f"Batfish: {_lower(row['Comment'])}: '{text}'", where)


def judge_converted(network: Network, rows: Sequence[Row], findings: Findings) -> None:
    """Judge initIssues: none but parse warnings, which have a check of their own, and colors taken for wildcards."""
    nodes, files = by_node(network), by_file(network)
    findings.look(CONVERTED, len(files))
    for row in rows:
        if row["Type"] == PARSE_WARNING:
            continue
        switch, where = place(files, row["Source_Lines"])
        words = [str(node) for node in row["Nodes"]] if isinstance(row["Nodes"], list) else []
        named = [switch] if switch is not None else [nodes[word] for word in words if word in nodes]
        false = WILDCARD_ADD.fullmatch(str(row["Details"]))
        for one in named:
            if false is None or not _is_color(one, false[1]):
                at = where or Place(one.file)
                findings.add(CONVERTED, one.named, f"Batfish: {row['Details']} ({_lower(row['Type'])})", at)
        if not named:
            scope = ", ".join(words) or "Batfish"
            findings.add(CONVERTED, scope, f"Batfish: {row['Details']} ({_lower(row['Type'])})")


def judge_defined(network: Network, rows: Sequence[Row], findings: Findings) -> None:
    """Judge undefinedReferences; classes of service, which Batfish reads in part, have checks of their own."""
    files = by_file(network)
    findings.look(DEFINED, len(files))
    for row in rows:
        if str(row["Struct_Type"]).startswith(QOS):
            continue
        switch, where = place(files, row["Lines"])
        scope = switch.named if switch is not None else str(row["File_Name"])
        message = f"Batfish: {row['Struct_Type']} {row['Ref_Name']} is not defined ({row['Context']})"
        findings.add(DEFINED, scope, message, where)


def judge_used(
    network: Network, rows: Sequence[Row], findings: Findings, bare: Collection[tuple[str, int]] = frozenset()
) -> None:
    """Judge unusedStructures; `bare` are the switches and VLAN ids that the intent gives no port."""
    files = by_file(network)
    findings.look(USED, len(files))
    for row in rows:
        kind, name = str(row["Structure_Type"]), str(row["Structure_Name"])
        switch, where = place(files, row["Source_Lines"])
        if kind.startswith(QOS) or (switch is not None and _used_unseen(switch, kind, name, bare)):
            continue
        scope = switch.named if switch is not None else "Batfish"
        findings.add(USED, scope, f"Batfish: {kind} {name} is defined and never used", where)


def _used_unseen(switch: Switch, kind: str, name: str, bare: Collection[tuple[str, int]]) -> bool:
    """Return whether a structure is used by what Batfish does not count.

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


JUDGES = (
    ("fileParseStatus", judge_parsed),
    ("parseWarning", judge_recognized),
    ("initIssues", judge_converted),
    ("undefinedReferences", judge_defined),
    ("unusedStructures", judge_used),
)
