"""What is made of the issues that Batfish has with the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ailb_gen.batfish.files import judge_converted
from ailb_gen.checks.model import Finding
from tests.batfish.recorded import at, examined, judged, network, rows, with_communities

if TYPE_CHECKING:
    from ailb_gen.batfish.model import Row

FATAL = "FATAL: '{}' community contains no non-wildcard members in an add action"
RED = "(convert warning (redflag))"


def answer(name: str) -> list[Finding]:
    return judged(judge_converted, network(name), rows(name, "initIssues"))


@pytest.mark.parametrize(
    ("name", "interface", "vlan"),
    [
        ("a_v6", "et-0/0/9.0", "vn9"),
        ("d_v6_bad", "et-0/1/1.0", "vn999"),
        ("d_v4la_bad", "et-0/1/1.0", "vn999"),
    ],
)
def test_of_the_issues_a_vlan_without_number_counts(name: str, interface: str, vlan: str) -> None:
    message = (
        f"Batfish: Cannot assign access vlan to interface {interface}: no vlan-id is assigned to vlan {vlan} {RED}"
    )
    assert answer(name) == [Finding("AILB803", "leaf1", message, at(1))]


@pytest.mark.parametrize("name", ["d_v6_clean", "c_2x4_lp", "d_v4_clean", "mut_m5_no_final_reject"])
def test_the_others_have_no_issues(name: str) -> None:
    assert answer(name) == []
    assert examined(judge_converted, network(name), []) == {"AILB803": len(network(name).switches)}


def test_the_parse_warnings_among_the_issues_are_judged_as_parse_warnings() -> None:
    issues = rows("a_v6", "initIssues")
    assert len(issues) == 12
    among = sorted(str(row["Line_Text"]) for row in issues if row["Type"] == "Parse warning")
    assert among == sorted(str(row["Text"]) for row in rows("a_v6", "parseWarning"))


def issue(**values: object) -> list[Row]:
    row: Row = {
        "Nodes": None,
        "Source_Lines": None,
        "Type": "Convert warning (redflag)",
        "Details": "Something is odd",
        "Line_Text": None,
        "Parser_Context": None,
    }
    return [{**row, **values}]


def test_only_colors_are_no_wildcards() -> None:
    found = with_communities(network("d_v6_clean"), "leaf1", green=("color:0:1",), plain=("65000:*",), none=())
    for word in ("plain", "none", "not-there"):
        message = f"Batfish: {FATAL.format(word)} {RED}"
        rows_ = issue(Nodes=["leaf1"], Details=FATAL.format(word))
        assert judged(judge_converted, found, rows_) == [Finding("AILB803", "leaf1", message, at(1))]
    assert judged(judge_converted, found, issue(Nodes=["leaf1"], Details=FATAL.format("green"))) == []


def test_a_color_of_one_switch_is_none_of_another() -> None:
    found = with_communities(network("d_v6_clean"), "leaf1", green=("color:0:1",))
    message = f"Batfish: {FATAL.format('green')} {RED}"
    assert judged(judge_converted, found, issue(Nodes=["leaf1", "leaf2"], Details=FATAL.format("green"))) == [
        Finding("AILB803", "leaf2", message, at(1, "leaf2"))
    ]


def test_a_fatal_issue_of_a_color_that_says_something_else() -> None:
    found = with_communities(network("d_v6_clean"), "leaf1", green=("color:0:1",))
    for text in (FATAL.format("green") + " twice", FATAL.format("green").replace("add", "set"), "FATAL: 'green'"):
        message = f"Batfish: {text} {RED}"
        assert judged(judge_converted, found, issue(Nodes=["leaf1"], Details=text)) == [
            Finding("AILB803", "leaf1", message, at(1))
        ]


def test_communities_with_quotes_and_blanks() -> None:
    colors = {"it's green": ("color:0:1",), "a b": ("color:0:2",)}
    found = with_communities(network("d_v6_clean"), "leaf1", **colors)
    for word in colors:
        assert judged(judge_converted, found, issue(Nodes=["leaf1"], Details=FATAL.format(word))) == []


def test_an_issue_stands_at_its_line_if_it_has_one() -> None:
    expected = [Finding("AILB803", "leaf2", "Batfish: Something is odd (parse error)", at(4, "leaf2"))]
    lines = ["configs/leaf2.cfg:[4, 5]"]
    assert judged(judge_converted, network("d_v6_clean"), issue(Source_Lines=lines, Type="Parse error")) == expected
    both = issue(Source_Lines=lines, Nodes=["leaf2"], Type="Parse error")
    assert judged(judge_converted, network("d_v6_clean"), both) == expected


def test_an_issue_of_every_switch() -> None:
    nodes = ["leaf1", "leaf2", "spine1", "spine2"]
    assert judged(judge_converted, network("d_v6_clean"), issue(Nodes=nodes)) == [
        Finding("AILB803", name, f"Batfish: Something is odd {RED}", at(1, name)) for name in nodes
    ]


@pytest.mark.parametrize(
    ("nodes", "lines", "scope"),
    [
        (["leaf8", "leaf9"], None, "leaf8, leaf9"),
        ([], None, "Batfish"),
        (None, None, "Batfish"),
        (None, ["configs/leaf9.cfg:[3]"], "Batfish"),
    ],
)
def test_an_issue_of_nothing_known_is_told(nodes: list[str] | None, lines: list[str] | None, scope: str) -> None:
    assert judged(judge_converted, network("d_v6_clean"), issue(Nodes=nodes, Source_Lines=lines)) == [
        Finding("AILB803", scope, f"Batfish: Something is odd {RED}")
    ]
