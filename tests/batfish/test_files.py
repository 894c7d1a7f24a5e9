"""What is made of recorded answers about the files themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ailb_gen.batfish.files import (
    QUESTIONS,
    check_converted,
    check_defined,
    check_files,
    check_parsed,
    check_recognized,
    check_used,
)
from ailb_gen.errors import BatfishError
from tests.batfish.recorded import (
    FILES,
    SHADOWS,
    Recording,
    changed,
    examined,
    judged,
    network,
    ports,
    rows,
    with_communities,
)

if TYPE_CHECKING:
    from ailb_gen.batfish.answers import Row
    from ailb_gen.checks.model import Findings
    from ailb_gen.network.fabric import Network

ALL = (*FILES, *SHADOWS)
CLEAN = "d_v6_clean"
FATAL = "FATAL: '{}' community contains no non-wildcard members in an add action"
RED = "(convert warning (redflag))"
NO_VLAN = "Batfish: Cannot assign access vlan to interface {}: no vlan-id is assigned to vlan {} " + RED
UNDEFINED = "AILB804 leaf1:{}: Batfish: {} is not defined ({})"
UNUSED = "AILB805 {}:{}: Batfish: {} is defined and never used"
# What is wrong with the recorded files, by recording and question.
WRONG: dict[tuple[str, str], list[str]] = {
    ("a_v6", "parseWarning"): [
        "AILB802 leaf1:166: Batfish: this syntax is unrecognized: "
        "'set protocols bgp group spine2 family inet6 unicast extended-nexthop'"
    ],
    ("a_v6", "initIssues"): ["AILB803 leaf1:1: " + NO_VLAN.format("et-0/0/9.0", "vn9")],
    ("d_v6_bad", "initIssues"): ["AILB803 leaf1:1: " + NO_VLAN.format("et-0/1/1.0", "vn999")],
    ("d_v4la_bad", "initIssues"): ["AILB803 leaf1:1: " + NO_VLAN.format("et-0/1/1.0", "vn999")],
    ("a_v6", "undefinedReferences"): [
        UNDEFINED.format(36, "vlan vn9", "interface vlan"),
        UNDEFINED.format(91, "prefix-list NO-SUCH-PL", "policy-statement prefix-list"),
        UNDEFINED.format(92, "community no-such-comm", "policy-statement from community"),
        UNDEFINED.format(169, "policy-statement NO-SUCH-POLICY", "bgp export policy-statement"),
        UNDEFINED.format(188, "interface irb.3", "vlan l3-interface"),
    ],
    ("d_v6_bad", "undefinedReferences"): [
        UNDEFINED.format(8, "vlan vn999", "interface vlan"),
        UNDEFINED.format(46, "policy-statement LEAF-OUT-TYPO", "bgp export policy-statement"),
    ],
    ("d_v4la_bad", "undefinedReferences"): [
        UNDEFINED.format(9, "vlan vn999", "interface vlan"),
        UNDEFINED.format(48, "policy-statement LEAF-OUT-TYPO", "bgp export policy-statement"),
    ],
    ("a_v6", "unusedStructures"): [
        UNUSED.format("leaf1", 68, "prefix-list UNUSED-PFX"),
        UNUSED.format("leaf1", 106, "community green-plain"),
        UNUSED.format("leaf1", 186, "vlan vn3"),
    ],
    ("d_v6_bad", "unusedStructures"): [
        UNUSED.format("leaf1", 4, "vlan vn101"),
        UNUSED.format("leaf1", 16, "prefix-list UNUSED"),
        UNUSED.format("leaf1", 35, "policy-statement LEAF-OUT-2"),
    ],
    ("d_v4la_bad", "unusedStructures"): [
        UNUSED.format("leaf1", 5, "vlan vn101"),
        UNUSED.format("leaf1", 17, "prefix-list UNUSED"),
        UNUSED.format("leaf1", 37, "policy-statement LEAF-OUT-2"),
    ],
    ("mut_m5_no_final_reject", "unusedStructures"): [
        UNUSED.format("leaf1", 7, "community BACKUP"),
        UNUSED.format("leaf2", 7, "community BACKUP"),
    ],
}


@pytest.mark.parametrize("name", ALL)
def test_recorded_answers(name: str) -> None:
    count = len(network(name).switches)
    for number, (question, check) in enumerate(QUESTIONS, 801):
        answer = rows(name, question)
        assert judged(check, network(name), answer) == WRONG.get((name, question), []), question
        assert examined(check, network(name), answer) == {f"AILB{number}": count}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"Status": "PARTIALLY_UNRECOGNIZED"}, ""),
        *(
            ({"Status": status}, f"Batfish could not read it: {status}")
            for status in ("FAILED", "EMPTY", "UNKNOWN", "ORPHANED", "IGNORED", None)
        ),
        *(({"File_Format": form}, "") for form in ("JUNIPER", "FLAT_JUNIPER", "JUNIPER_SWITCH")),
        ({"File_Format": "CISCO_IOS"}, "Batfish reads it as CISCO_IOS, not as Junos"),
        ({"Nodes": ["leaf1"]}, ""),
        ({"Nodes": ["leaf2"]}, "Batfish makes of it leaf2, not leaf1"),
        ({"Nodes": ["leaf1", "leaf1-mgmt"]}, "Batfish makes of it leaf1, leaf1-mgmt, not leaf1"),
        ({"Nodes": ["LEAF1"]}, "Batfish makes of it LEAF1, not leaf1"),
        ({"Nodes": []}, "Batfish makes of it no device, not leaf1"),
        ({"Nodes": None}, "Batfish makes of it no device, not leaf1"),
        ({"File_Name": "configs/leaf9.cfg"}, "Batfish does not mention this file"),
        # The status comes before the format and the device.
        ({"Status": "FAILED", "File_Format": "UNKNOWN", "Nodes": []}, "Batfish could not read it: FAILED"),
    ],
)
def test_a_file(values: dict[str, object], message: str) -> None:
    answer = rows(CLEAN, "fileParseStatus")
    assert answer[0]["File_Name"] == "configs/leaf1.cfg"
    answer[0].update(values)
    assert judged(check_parsed, network(CLEAN), answer) == ([f"AILB801 leaf1:1: {message}"] if message else [])


def test_batfish_names_devices_after_host_names_in_small_letters() -> None:
    clean, answer = network(CLEAN), rows(CLEAN, "fileParseStatus")
    other = changed(clean, "leaf1", host_name="Leaf-One")
    assert judged(check_parsed, other, answer) == ["AILB801 leaf1:1: Batfish makes of it leaf1, not leaf-one"]
    answer[0]["Nodes"] = ["leaf-one"]
    assert judged(check_parsed, other, answer) == []
    # Without a host name, Batfish names it after the file.
    assert judged(check_parsed, changed(clean, "leaf1", host_name=""), rows(CLEAN, "fileParseStatus")) == []


def test_an_unknown_line_of_an_unknown_file() -> None:
    row: Row = {
        "Filename": "configs/leaf9.cfg",
        "Line": 3,
        "Text": 'set system login message "who\'s there"',
        "Comment": "This feature is not currently supported",
    }
    message = "Batfish: this feature is not currently supported: 'set system login message \"who's there\"'"
    assert judged(check_recognized, network("a_v6"), [row]) == [f"AILB802 configs/leaf9.cfg: {message}"]
    row["Filename"] = "configs/leaf1.cfg"
    assert judged(check_recognized, network("a_v6"), [row]) == [f"AILB802 leaf1:3: {message}"]
    row["Line"] = None
    with pytest.raises(BatfishError, match=r"^Batfish answers 'None' where a number belongs; "):
        judged(check_recognized, network("a_v6"), [row])


# Issues


def test_the_parse_warnings_among_the_issues_are_checked_as_parse_warnings() -> None:
    among = sorted(str(row["Line_Text"]) for row in rows("a_v6", "initIssues") if row["Type"] == "Parse warning")
    assert among == sorted(str(row["Text"]) for row in rows("a_v6", "parseWarning"))


def issue(found: Network | None = None, **values: object) -> list[str]:
    row: Row = {"Nodes": None, "Source_Lines": None, "Type": "Convert warning (redflag)", "Details": "It is odd"}
    return judged(check_converted, found or network(CLEAN), [{**row, **values}])


@pytest.mark.parametrize("word", ["green", "it's green", "a b"])
def test_only_colors_are_no_wildcards(word: str) -> None:
    members = {word: ("color:0:1",), "plain": ("65000:*",), "none": ()}
    found = with_communities(network(CLEAN), "leaf1", **members)
    fatal = FATAL.format(word)
    assert issue(found, Nodes=["leaf1"], Details=fatal) == []
    # A color of one switch is none of another.
    assert issue(found, Nodes=["leaf1", "leaf2"], Details=fatal) == [f"AILB803 leaf2:1: Batfish: {fatal} {RED}"]
    for text in (*map(FATAL.format, ("plain", "none", "other")), f"{fatal} twice", fatal.replace("add", "set")):
        assert issue(found, Nodes=["leaf1"], Details=text) == [f"AILB803 leaf1:1: Batfish: {text} {RED}"]


@pytest.mark.parametrize(
    ("nodes", "lines", "devices"),
    [
        (None, ["configs/leaf2.cfg:[4, 5]"], ["leaf2:4"]),
        (["leaf2"], ["configs/leaf2.cfg:[4, 5]"], ["leaf2:4"]),
        (["leaf1", "leaf2", "spine1", "spine2"], None, ["leaf1:1", "leaf2:1", "spine1:1", "spine2:1"]),
        (["leaf8", "leaf9"], None, ["leaf8, leaf9"]),
        ([], None, ["Batfish"]),
        (None, None, ["Batfish"]),
        (None, ["configs/leaf9.cfg:[3]"], ["Batfish"]),
    ],
)
def test_whose_an_issue_is(nodes: list[str] | None, lines: list[str] | None, devices: list[str]) -> None:
    assert issue(Nodes=nodes, Source_Lines=lines) == [f"AILB803 {one}: Batfish: It is odd {RED}" for one in devices]


# References and structures


@pytest.mark.parametrize(
    ("values", "device", "words"),
    [
        ({"Struct_Type": "class-of-service scheduler"}, "", ""),
        ({"Struct_Type": "class-of-service"}, "", ""),
        ({"Struct_Type": "scheduler class-of-service"}, "leaf1:92", "scheduler class-of-service no-such-comm"),
        ({"Lines": None}, "configs/leaf9.cfg", "community no-such-comm"),
        ({"Lines": ""}, "configs/leaf9.cfg", "community no-such-comm"),
        ({"Lines": "configs/leaf9.cfg:[92]"}, "configs/leaf9.cfg", "community no-such-comm"),
        ({"Lines": "configs/leaf1.cfg:[]"}, "leaf1:1", "community no-such-comm"),
        ({"Ref_Name": '"it\'s [green]"'}, "leaf1:92", 'community "it\'s [green]"'),
    ],
)
def test_references(values: dict[str, object], device: str, words: str) -> None:
    row = {**rows("a_v6", "undefinedReferences")[0], "File_Name": "configs/leaf9.cfg", **values}
    expected = f"AILB804 {device}: Batfish: {words} is not defined (policy-statement from community)"
    assert judged(check_defined, network("a_v6"), [row]) == ([expected] if device else [])


def unused(found: Network, kind: str, name: str, lines: object = "configs/leaf1.cfg:[7]") -> bool:
    findings = judged(check_used, found, [{"Structure_Type": kind, "Structure_Name": name, "Source_Lines": lines}])
    assert findings in ([], [UNUSED.format("leaf1", 7, f"{kind} {name}")])
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
    assert unused(changed(found, "leaf1", groups=(replace(quoted, discoveries=()),)), "bgp group", quoted.name)


def test_colors_and_classes_of_service_are_used() -> None:
    found = with_communities(network("a_v6"), "leaf1", green=("color:0:1",), plain=("65000:1",))
    used = [("community", "green"), ("class-of-service scheduler-map", "green"), ("class-of-service queue", "x")]
    unused_ = [("community", "plain"), ("community", "not-there"), ("prefix-list", "green")]
    assert [pair for pair in [*used, *unused_] if unused(found, *pair)] == unused_


@pytest.mark.parametrize("where", [None, "", "configs/leaf9.cfg:[7]"])
def test_structures_without_a_known_place_are_reported(where: object) -> None:
    row = {"Structure_Type": "bgp group", "Structure_Name": "spine1", "Source_Lines": where}
    message = "AILB805 Batfish: Batfish: bgp group spine1 is defined and never used"
    assert judged(check_used, network("a_v6"), [row]) == [message]


@pytest.mark.parametrize(("name", "expected"), [(CLEAN, []), ("d_v6_bad", [803, 804, 804, 805, 805, 805, 806, 807])])
def test_all_questions_about_the_files(name: str, expected: list[int]) -> None:
    batfish, steps = Recording(name), []

    def check(findings: Findings) -> None:
        check_files(batfish, network(name), ports(name), findings, lambda: steps.append(1))

    findings = judged(check)
    assert batfish.asked == [
        *((question, "files", {}) for question, _ in QUESTIONS),
        ("interfaceProperties", "files", {"properties": "Active,MTU"}),
        ("switchedVlanProperties", "files", {}),
    ]
    assert steps == [1] * 7
    assert [int(finding[4:7]) for finding in findings] == expected
    assert {finding.split()[1].partition(":")[0] for finding in findings} <= {"leaf1"}
