"""What is made of recorded answers about the files themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ailb_gen.batfish.files import (
    JUDGES,
    judge_defined,
    judge_files,
    judge_parsed,
    judge_recognized,
    judge_used,
)
from ailb_gen.checks.model import Finding
from ailb_gen.errors import BatfishError
from tests.batfish.recorded import (
    FILES,
    SHADOWS,
    Recording,
    at,
    changed,
    examined,
    judged,
    network,
    ports,
    rows,
    with_communities,
)

if TYPE_CHECKING:
    from ailb_gen.batfish.model import Row
    from ailb_gen.checks.model import Findings
    from ailb_gen.network.fabric import Network

ALL = (*FILES, *SHADOWS)
JUDGE = dict(JUDGES)
FATAL = "FATAL: '{}' community contains no non-wildcard members in an add action"
RED = "(convert warning (redflag))"


def answer(name: str, question: str) -> list[Finding]:
    return judged(JUDGE[question], network(name), rows(name, question))


def parsed(file: str = "leaf1", **values: object) -> list[Finding]:
    """Judge the files of the clean fabric, the row of one of which is different."""
    found = rows("d_v6_clean", "fileParseStatus")
    for row in found:
        if row["File_Name"] == f"configs/{file}.cfg":
            row.update(values)
    return judged(judge_parsed, network("d_v6_clean"), found)


@pytest.mark.parametrize("name", ALL)
def test_every_recorded_file_is_read(name: str) -> None:
    assert answer(name, "fileParseStatus") == []
    count = len(network(name).switches)
    assert examined(judge_parsed, network(name), rows(name, "fileParseStatus")) == {"AILB801": count}


def test_a_status_that_is_neither_read_nor_partly_recognized() -> None:
    assert parsed(Status="PARTIALLY_UNRECOGNIZED") == []
    for status in ("FAILED", "EMPTY", "UNKNOWN", "ORPHANED", "IGNORED", None):
        message = f"Batfish could not read it: {status}"
        assert parsed(Status=status) == [Finding("AILB801", "leaf1", message, at(1))]


def test_a_file_in_another_format() -> None:
    for form in ("JUNIPER", "FLAT_JUNIPER", "JUNIPER_SWITCH"):
        assert parsed("spine2", File_Format=form) == []
    message = "Batfish takes it for CISCO_IOS, not for Junos"
    assert parsed("spine2", File_Format="CISCO_IOS") == [Finding("AILB801", "spine2", message, at(1, "spine2"))]


@pytest.mark.parametrize(
    ("nodes", "what"),
    [
        (["leaf2"], "leaf2"),
        (["leaf1", "leaf1-mgmt"], "leaf1, leaf1-mgmt"),
        (["LEAF1"], "LEAF1"),
        ([], "no device"),
        (None, "no device"),
    ],
)
def test_a_file_that_is_another_device(nodes: list[str] | None, what: str) -> None:
    assert parsed(Nodes=nodes) == [Finding("AILB801", "leaf1", f"Batfish makes of it {what}, not leaf1", at(1))]


def test_a_failed_status_is_told_before_the_format_and_the_device() -> None:
    message = "Batfish could not read it: FAILED"
    assert parsed(Status="FAILED", File_Format="UNKNOWN", Nodes=[]) == [Finding("AILB801", "leaf1", message, at(1))]


def test_files_that_batfish_does_not_mention() -> None:
    found = rows("d_v6_clean", "fileParseStatus")
    message = "Batfish does not mention this file"
    assert judged(judge_parsed, network("d_v6_clean"), found[1:]) == [Finding("AILB801", "leaf1", message, at(1))]
    assert judged(judge_parsed, network("d_v6_clean"), []) == [
        Finding("AILB801", name, message, at(1, name)) for name in ("leaf1", "leaf2", "spine1", "spine2")
    ]


def test_batfish_names_devices_after_host_names_in_small_letters() -> None:
    clean, found = network("d_v6_clean"), rows("d_v6_clean", "fileParseStatus")
    other = changed(clean, "leaf1", host_name="Leaf-One")
    message = "Batfish makes of it leaf1, not leaf-one"
    assert judged(judge_parsed, other, found) == [Finding("AILB801", "leaf1", message, at(1))]
    found[0]["Nodes"] = ["leaf-one"]
    assert judged(judge_parsed, other, found) == []
    # Without a host name, Batfish names it after the file.
    assert parsed(Nodes=["leaf1"]) == judged(
        judge_parsed, changed(clean, "leaf1", host_name=""), rows("d_v6_clean", "fileParseStatus")
    )


def test_of_ten_lines_that_are_not_recognized_one_is_new() -> None:
    message = (
        "Batfish: this syntax is unrecognized: 'set protocols bgp group spine2 family inet6 unicast extended-nexthop'"
    )
    assert len(rows("a_v6", "parseWarning")) == 10
    assert answer("a_v6", "parseWarning") == [Finding("AILB802", "leaf1", message, at(166))]
    assert examined(judge_recognized, network("a_v6"), rows("a_v6", "parseWarning")) == {"AILB802": 1}


@pytest.mark.parametrize("name", [name for name in ALL if name != "a_v6"])
def test_every_line_of_the_others_is_recognized(name: str) -> None:
    assert answer(name, "parseWarning") == []


def test_an_unknown_line_of_an_unknown_file() -> None:
    row: Row = {
        "Filename": "configs/leaf9.cfg",
        "Line": 3,
        "Text": 'set system login message "who\'s there"',
        "Parser_Context": "[s_system]",
        "Comment": "This feature is not currently supported",
    }
    message = "Batfish: this feature is not currently supported: 'set system login message \"who's there\"'"
    assert judged(judge_recognized, network("a_v6"), [row]) == [Finding("AILB802", "configs/leaf9.cfg", message)]
    row["Filename"] = "configs/leaf1.cfg"
    assert judged(judge_recognized, network("a_v6"), [row]) == [Finding("AILB802", "leaf1", message, at(3))]
    row["Line"] = None
    with pytest.raises(BatfishError, match=r"^Batfish answers 'None' where a number belongs; "):
        judged(judge_recognized, network("a_v6"), [row])


UNDEFINED = {
    "a_v6": (
        (36, "vlan vn9", "interface vlan"),
        (91, "prefix-list NO-SUCH-PL", "policy-statement prefix-list"),
        (92, "community no-such-comm", "policy-statement from community"),
        (169, "policy-statement NO-SUCH-POLICY", "bgp export policy-statement"),
        (188, "interface irb.3", "vlan l3-interface"),
    ),
    "d_v6_bad": (
        (8, "vlan vn999", "interface vlan"),
        (46, "policy-statement LEAF-OUT-TYPO", "bgp export policy-statement"),
    ),
    "d_v4la_bad": (
        (9, "vlan vn999", "interface vlan"),
        (48, "policy-statement LEAF-OUT-TYPO", "bgp export policy-statement"),
    ),
}


@pytest.mark.parametrize("name", ALL)
def test_undefined_references(name: str) -> None:
    assert answer(name, "undefinedReferences") == [
        Finding("AILB804", "leaf1", f"Batfish: {what} is not defined ({context})", at(line))
        for line, what, context in UNDEFINED.get(name, ())
    ]
    count = len(network(name).switches)
    assert examined(judge_defined, network(name), rows(name, "undefinedReferences")) == {"AILB804": count}


def reference(**values: object) -> list[Row]:
    return [{**rows("a_v6", "undefinedReferences")[0], **values}]


def test_classes_of_service_are_left_to_other_checks() -> None:
    for kind in ("class-of-service scheduler", "class-of-service"):
        assert judged(judge_defined, network("a_v6"), reference(Struct_Type=kind)) == []
    expected = "Batfish: scheduler class-of-service no-such-comm is not defined (policy-statement from community)"
    assert judged(judge_defined, network("a_v6"), reference(Struct_Type="scheduler class-of-service")) == [
        Finding("AILB804", "leaf1", expected, at(92))
    ]


def test_references_without_a_known_place() -> None:
    message = "Batfish: community no-such-comm is not defined (policy-statement from community)"
    for where in (None, "", "configs/leaf9.cfg:[92]"):
        found = judged(judge_defined, network("a_v6"), reference(Lines=where, File_Name="configs/leaf9.cfg"))
        assert found == [Finding("AILB804", "configs/leaf9.cfg", message)]
    assert judged(judge_defined, network("a_v6"), reference(Lines="configs/leaf1.cfg:[]")) == [
        Finding("AILB804", "leaf1", message, at(1))
    ]


def test_references_whose_names_have_quotes() -> None:
    message = 'Batfish: community "it\'s [green]" is not defined (policy-statement from community)'
    found = judged(judge_defined, network("a_v6"), reference(Ref_Name='"it\'s [green]"'))
    assert found == [Finding("AILB804", "leaf1", message, at(92))]


UNUSED = {
    "a_v6": (
        ("leaf1", 68, "prefix-list UNUSED-PFX"),
        ("leaf1", 106, "community green-plain"),
        ("leaf1", 186, "vlan vn3"),
    ),
    "d_v6_bad": (
        ("leaf1", 4, "vlan vn101"),
        ("leaf1", 16, "prefix-list UNUSED"),
        ("leaf1", 35, "policy-statement LEAF-OUT-2"),
    ),
    "d_v4la_bad": (
        ("leaf1", 5, "vlan vn101"),
        ("leaf1", 17, "prefix-list UNUSED"),
        ("leaf1", 37, "policy-statement LEAF-OUT-2"),
    ),
    "mut_m5_no_final_reject": (("leaf1", 7, "community BACKUP"), ("leaf2", 7, "community BACKUP")),
}


@pytest.mark.parametrize("name", ALL)
def test_unused_structures(name: str) -> None:
    assert answer(name, "unusedStructures") == [
        Finding("AILB805", switch, f"Batfish: {what} is defined and never used", at(line, switch))
        for switch, line, what in UNUSED.get(name, ())
    ]
    count = len(network(name).switches)
    assert examined(judge_used, network(name), rows(name, "unusedStructures")) == {"AILB805": count}


def structure(kind: str, name: str, lines: object = "configs/leaf1.cfg:[7]") -> list[Row]:
    return [{"Structure_Type": kind, "Structure_Name": name, "Source_Lines": lines}]


def unused(found: Network, kind: str, name: str) -> bool:
    expected = Finding("AILB805", "leaf1", f"Batfish: {kind} {name} is defined and never used", at(7))
    findings = judged(judge_used, found, structure(kind, name))
    assert findings in ([], [expected])
    return bool(findings)


def test_groups_that_discover_their_peers_are_used() -> None:
    found = network("a_v6")
    groups = {group.name: group for group in found.switches["leaf1"].groups}
    assert groups["spine1"].discoveries
    assert not unused(found, "bgp group", "spine1")
    # The other has a neighbor by address, which Batfish sees.
    assert unused(found, "bgp group", "spine2")
    assert unused(found, "bgp group", "spine9")
    assert unused(found, "policy-statement", "spine1")
    quoted = replace(groups["spine1"], name='it\'s "spine" 1')
    assert not unused(changed(found, "leaf1", groups=(quoted,)), "bgp group", quoted.name)
    alone = replace(groups["spine1"], discoveries=())
    assert unused(changed(found, "leaf1", groups=(alone,)), "bgp group", "spine1")


def test_colors_are_used() -> None:
    found = with_communities(network("a_v6"), "leaf1", green=("color:0:1",), plain=("65000:1",))
    assert not unused(found, "community", "green")
    assert unused(found, "community", "plain")
    assert unused(found, "community", "not-there")
    assert unused(found, "prefix-list", "green")


def test_structures_of_class_of_service_are_left_to_other_checks() -> None:
    assert not unused(network("a_v6"), "class-of-service scheduler-map", "green")
    assert judged(judge_used, network("a_v6"), structure("class-of-service queue", "x", None)) == []


def test_structures_without_a_known_place_are_told() -> None:
    message = "Batfish: bgp group spine1 is defined and never used"
    for where in (None, "", "configs/leaf9.cfg:[7]"):
        found = judged(judge_used, network("a_v6"), structure("bgp group", "spine1", where))
        assert found == [Finding("AILB805", "Batfish", message)]


@pytest.mark.parametrize(
    ("name", "expected"), [("d_v6_clean", []), ("d_v6_bad", [803, 804, 804, 805, 805, 805, 806, 807])]
)
def test_all_questions_about_the_files(name: str, expected: list[int]) -> None:
    batfish, steps = Recording(name), []

    def judge(found_in: Findings) -> None:
        judge_files(batfish, network(name), ports(name), found_in, lambda: steps.append(1))

    findings = judged(judge)
    assert batfish.asked == [
        ("fileParseStatus", "files", None, {}),
        ("parseWarning", "files", None, {}),
        ("initIssues", "files", None, {}),
        ("undefinedReferences", "files", None, {}),
        ("unusedStructures", "files", None, {}),
        ("interfaceProperties", "files", None, {"properties": "Active,MTU"}),
        ("switchedVlanProperties", "files", None, {}),
    ]
    assert steps == [1] * 7
    assert [finding.check for finding in findings] == [f"AILB{number}" for number in expected]
    assert {finding.scope.partition(" ")[0] for finding in findings} <= {"leaf1"}
