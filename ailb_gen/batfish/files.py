"""What Batfish says of the files themselves: parsed, recognized, defined, used; ports and VLANs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.batfish.known import QOS, WILDCARD_ADD, unrecognized
from ailb_gen.batfish.places import by_file, by_node, integer_of, place
from ailb_gen.batfish.ports import judge_ports, judge_vlans
from ailb_gen.checks.batfish_checks import CONVERTED, DEFINED, PARSED, RECOGNIZED, USED
from ailb_gen.errors import Place
from ailb_gen.routing.route import COLOR

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ailb_gen.batfish.model import Batfish, Row
    from ailb_gen.batfish.ports import Asked
    from ailb_gen.checks.tally import Tally
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.model import Switch

SNAPSHOT = "files"
READ = ("PASSED", "PARTIALLY_UNRECOGNIZED")
FORMATS = ("JUNIPER", "FLAT_JUNIPER", "JUNIPER_SWITCH")
PARSE_WARNING = "Parse warning"
# The properties of interfaces that are asked for: few, because there is a row for every unit.
PROPERTIES = "Active,MTU"


def judge_files(batfish: Batfish, network: Network, asked: Asked, tally: Tally, advance: Callable[[], None]) -> None:
    """Ask about the snapshot of the files, and note what is wrong. Raises BatfishError."""
    for question, judge in JUDGES:
        judge(network, batfish.ask(question, SNAPSHOT), tally)
        advance()
    judge_ports(network, asked, batfish.ask("interfaceProperties", SNAPSHOT, properties=PROPERTIES), tally)
    advance()
    judge_vlans(network, asked, batfish.ask("switchedVlanProperties", SNAPSHOT), tally)
    advance()


def judge_parsed(network: Network, rows: Sequence[Row], tally: Tally) -> None:
    """Judge fileParseStatus: a row for every file, read as Junos, giving the device that the file says."""
    found = {str(row["File_Name"]): row for row in rows}
    for file, switch in by_file(network).items():
        tally.look(PARSED)
        row = found.get(file)
        message = "" if row is not None else "Batfish does not mention this file"
        if row is not None:
            nodes = row["Nodes"] if isinstance(row["Nodes"], list) else []
            expected = (switch.host_name or switch.named).lower()
            if row["Status"] not in READ:
                message = f"Batfish could not read it: {row['Status']}"
            elif row["File_Format"] not in FORMATS:
                message = f"Batfish takes it for {row['File_Format']}, not for Junos"
            elif nodes != [expected]:
                message = f"Batfish makes of it {', '.join(map(str, nodes)) or 'no device'}, not {expected}"
        if message:
            tally.add(PARSED, switch.named, message, Place(switch.file))


def judge_recognized(network: Network, rows: Sequence[Row], tally: Tally) -> None:
    """Judge parseWarning: only lines of the known kinds."""
    files = by_file(network)
    tally.look(RECOGNIZED, len(files))
    for row in rows:
        text = str(row["Text"])
        if unrecognized(text) is not None:
            continue
        switch = files.get(str(row["Filename"]))
        scope = switch.named if switch is not None else str(row["Filename"])
        where = Place(switch.file, integer_of(row["Line"])) if switch is not None else None
        tally.add(RECOGNIZED, scope, f"Batfish: {_lower(row['Comment'])}: '{text}'", where)


def judge_converted(network: Network, rows: Sequence[Row], tally: Tally) -> None:
    """Judge initIssues: none but parse warnings, which have a check of their own, and colors taken for wildcards."""
    nodes, files = by_node(network), by_file(network)
    tally.look(CONVERTED, len(files))
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
                tally.add(CONVERTED, one.named, f"Batfish: {row['Details']} ({_lower(row['Type'])})", at)
        if not named:
            scope = ", ".join(words) or "Batfish"
            tally.add(CONVERTED, scope, f"Batfish: {row['Details']} ({_lower(row['Type'])})")


def judge_defined(network: Network, rows: Sequence[Row], tally: Tally) -> None:
    """Judge undefinedReferences; classes of service, which Batfish reads in part, have checks of their own."""
    files = by_file(network)
    tally.look(DEFINED, len(files))
    for row in rows:
        if str(row["Struct_Type"]).startswith(QOS):
            continue
        switch, where = place(files, row["Lines"])
        scope = switch.named if switch is not None else str(row["File_Name"])
        message = f"Batfish: {row['Struct_Type']} {row['Ref_Name']} is not defined ({row['Context']})"
        tally.add(DEFINED, scope, message, where)


def judge_used(network: Network, rows: Sequence[Row], tally: Tally) -> None:
    """Judge unusedStructures: groups that discover their peers, and colors, look unused to Batfish."""
    files = by_file(network)
    tally.look(USED, len(files))
    for row in rows:
        kind, name = str(row["Structure_Type"]), str(row["Structure_Name"])
        switch, where = place(files, row["Source_Lines"])
        if kind.startswith(QOS) or (switch is not None and _used_unseen(switch, kind, name)):
            continue
        scope = switch.named if switch is not None else "Batfish"
        tally.add(USED, scope, f"Batfish: {kind} {name} is defined and never used", where)


def _used_unseen(switch: Switch, kind: str, name: str) -> bool:
    """Tell whether a structure is used by a statement that Batfish does not recognize."""
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
