"""The checks of policies: every way to let something through, to stop it or to change it is found at its term."""

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric
from ailb_gen.checks.families.policies import EFFECTIVE, KEPT, NO_TRANSIT, NOT_BACK, check_policies, check_terms
from ailb_gen.checks.model import Findings, Result
from ailb_gen.network.fabric import Network
from tests.checks.edited import LEAF, SPINE, Edit, edited, judged, lines, network, text_of

CHECKS = (KEPT, NOT_BACK, NO_TRANSIT, EFFECTIVE)
POOL_FILTER = "from {\n                route-filter fc00::/16 orlonger;\n            }\n"
FIRST, LAST = "        term no-valley {", "        term others {\n            then reject;\n        }\n"
LISTED = "prefix-list-filter fabric-pool orlonger;"
ADDED = "                community add local;\n"
IMPORTED, EXPORTED = "import FABRIC-IN;", "export FABRIC-OUT;"


def run(asked: ExpectedFabric, found: Network) -> list[Result]:
    context, findings = Context(asked.fabric, found), Findings()
    check_policies(context, findings)
    check_terms(context, findings)
    return list(findings.results(CHECKS))


# edit, then (check, a part of the line that its finding points at) of every finding
DAMAGES: list[tuple[Edit, set[tuple[str, str]]]] = [
    ((LEAF, POOL_FILTER + "            then reject", POOL_FILTER + "            then accept"), {("308", "term no-va")}),
    ((LEAF, POOL_FILTER, ""), {("308", "term no-valley"), ("311", "term others")}),
    ((LEAF, POOL_FILTER + "            then reject;\n", POOL_FILTER), {("308", "term others"), ("311", "no-valley")}),
    ((LEAF, "fc00::/16 orlonger", "fc00::/16 exact"), {("308", "term others")}),
    ((LEAF, "fc00::/16 orlonger", "fc00::/16 longer"), {("308", "term others")}),
    ((LEAF, "fc00::/16 orlonger", "fc00::/16 upto /63"), {("308", "term others")}),
    ((LEAF, "fc00::/16 orlonger", "fc00::/16 prefix-length-range /17-/128"), {("308", "term others")}),
    ((LEAF, "fc00::/16 orlonger", "fc00::/17 orlonger"), {("308", "term others")}),
    ((LEAF, "fc00::/16 orlonger", "fc00::/15 orlonger"), {("308", "term no-valley")}),
    ((LEAF, "fc00::/16 orlonger", "::/0 orlonger"), {("308", "term no-valley")}),
    ((LEAF, LAST, ""), {("308", "group fabric-green")}),
    ((LEAF, LAST, LAST.replace("reject", "accept")), {("308", "term others")}),
    ((LEAF, LAST, LAST.replace("reject", "next policy")), {("308", "group fabric-green")}),
    ((LEAF, LAST, LAST.replace("then", "from protocol bgp; then")), set()),
    ((LEAF, FIRST, LAST + FIRST), {("308", "term others"), ("311", "term no-valley")}),
    ((LEAF, FIRST, "term a { from protocol static; then accept; }" + FIRST), {("308", "term a")}),
    ((LEAF, FIRST, "term a { from protocol aggregate; then accept; }" + FIRST), {("308", "term a")}),
    ((LEAF, FIRST, "term a { from community orange; then accept; }" + FIRST), {("308", "term a")}),
    (
        (LEAF, FIRST, "term a { from { route-filter fc00:7:7:7::/64 exact; } then accept; }" + FIRST),
        {("308", "term a")},
    ),
    ((LEAF, EXPORTED, ""), {("308", "group fabric-green")}),
    ((LEAF, EXPORTED, "export [ PFE-LB FABRIC-OUT ];"), set()),
    ((LEAF, "type external;", "type external; import FABRIC-OUT;"), {("306", "term no-valley")}),
    ((LEAF, "type external;", "type external; import PFE-LB;"), set()),
    ((SPINE, "from community local;", ""), {("306", "leaked"), ("311", "term fabric"), ("311", "term others")}),
    ((SPINE, "from community local;", "from community green;"), {("306", "term leaked"), ("307", "term fabric")}),
    ((SPINE, "from community local;\n            then reject;", "then metric 3;"), {("306", ""), ("307", "fabric")}),
    ((SPINE, LISTED, "prefix-list fabric-pool;"), {("306", "term others")}),
    ((SPINE, LISTED, ""), {("306", "term fabric"), ("311", "term others")}),
    ((SPINE, IMPORTED, ""), {("306", "group fabric-blue"), ("307", "group fabric-blue")}),
    ((SPINE, EXPORTED, ""), {("306", "group fabric-blue"), ("307", "group fabric-blue")}),
    ((SPINE, "then accept;", "then { local-preference 200; accept; }"), {("306", "term fabric")}),
    ((SPINE, "then accept;", "then { metric 5; accept; }"), {("306", "term fabric")}),
    ((SPINE, "then accept;", "then { community delete orange; accept; }"), {("306", "term fabric")}),
    ((SPINE, ADDED, ""), {("307", "term fabric")}),
    ((SPINE, ADDED, ADDED.replace("add", "set")), {("306", "term fabric")}),
    ((SPINE, ADDED, ADDED.replace("local", "red")), {("306", "term fabric")}),
    ((SPINE, ADDED, ADDED + "community delete green;"), {("306", "term fabric")}),
    ((SPINE, ADDED, ADDED + "metric 7;"), {("306", "term fabric")}),
    ((SPINE, "protocol bgp;", "protocol [ bgp static ];"), {("306", "term fabric")}),
    ((SPINE, "members 0:15", "members 0:16"), {("307", "term fabric")}),
    ((SPINE, "members 0:15", "members [ 0:15 0:16 ]"), {("307", "term fabric")}),
    ((SPINE, "        fc00::/16;", "        fc00::/17;"), {("306", "term others")}),
    ((SPINE, "        fc00::/16;", "        fc00::/15;"), {("306", "term fabric")}),
    ((SPINE, "        fc00::/16;", "        fc00::/16; 2001:db8::/32;"), {("306", "term fabric")}),
]


@pytest.mark.parametrize(("edit", "expected"), DAMAGES)
def test_a_damage_is_found_at_the_term_that_decides(edit: Edit, expected: set[tuple[str, str]]) -> None:
    texts = edited(edit)
    told = set(lines(texts, judged(run, network(texts))))
    for check, part in expected:
        assert any(found == f"AILB{check}" and part in line for found, line in told), (check, part, told)
    assert {found for found, _ in told} == {f"AILB{check}" for check, _ in expected}


def test_a_finding_gives_an_example_and_counts_the_rest() -> None:
    found = judged(run, network(edited((LEAF, LAST, LAST.replace("reject", "accept")))))
    assert [(one.scope, one.message, one.expected, one.found) for one in found] == [
        (
            f"{LEAF} FABRIC-OUT",
            "export of fabric-green, fabric-blue, fabric-red and 1 more: FABRIC-OUT term others accepts "
            "::/64 (bgp color:0:1); 11 other kinds of routes, too",
            "rejects",
            "accepts",
        )
    ]


def test_a_change_is_told() -> None:
    texts = edited((SPINE, ADDED, ADDED + "metric 7; community delete blue;"))
    assert {one.message.partition(" changes ")[2] for one in judged(run, network(texts))} == {
        "fc00::/64 (bgp color:0:1): it is readvertised with metric 7; 14 other kinds of routes, too"
    }
    texts = edited((SPINE, "then accept;", "then { local-preference 50; community add red; accept; }"))
    (found,) = judged(run, network(texts))
    assert "(bgp color:0:1): it is readvertised with color:0:3 and with local-preference 50" in found.message


def test_a_policy_of_one_group_is_named_by_the_group() -> None:
    (found,) = judged(run, network(edited((LEAF, EXPORTED, ""))))
    assert found.scope == f"{LEAF} fabric-green"
    assert found.message.startswith("export of fabric-green: the default accepts ")


def test_equal_policies_have_their_own_places() -> None:
    damage = (POOL_FILTER, "")
    texts = edited(
        (LEAF, *damage), ("stripe2-leaf2", *damage), ("stripe2-leaf2", "policy-options {", "policy-options {\n")
    )
    found = [one for one in judged(run, network(texts)) if one.check == "AILB308"]
    assert [one.scope.split()[0] for one in found] == [LEAF, "stripe2-leaf2"]
    assert all("term no-valley" in line for _, line in lines(texts, found))


def test_most_spines_decide_about_the_mark() -> None:
    changed = [(f"spine{number}", "members 0:15", "members 0:16") for number in (1, 2, 3)]
    assert {one.scope.split()[0] for one in judged(run, network(edited(*changed)))} == {"spine4"}
    assert not judged(run, network(edited(*changed, ("spine4", "members 0:15", "members 0:16"))))


def test_no_spine_marks() -> None:
    found = judged(run, network(edited(*((f"spine{number}", ADDED, "") for number in (1, 2, 3, 4)))))
    assert [(one.check, one.scope) for one in found] == [("AILB307", f"spine{number}") for number in (1, 2, 3, 4)]


LOOPBACKS = [
    ("r1l1", "prefix-list local {\n        fd00:9:1::1/128", "prefix-list local {\n        fd00:9:1::2/128"),
    ("r1l1", "protocol direct;", ""),
    ("core-a", "        fd00:9:1::/64;", ""),
    ("core-a", "route-filter fd00:9::1/128 exact", "route-filter fd00:9::/64 orlonger"),
    ("core-b", "        term loopback {", "        inactive: term loopback {"),
]


@pytest.mark.parametrize("edit", LOOPBACKS)
def test_a_switch_lets_out_its_own_loopback_and_no_other(edit: Edit) -> None:
    found = judged(run, network(edited(edit, example="brownfield"), "brownfield"), "brownfield")
    assert {one.scope.split()[0] for one in found} == {edit[0]}


# terms of a policy, and what is said of them
TERMS = [
    ("term a { then reject; } term b { from protocol bgp; then accept; }", ["b is never evaluated: a"]),
    (
        "term a { from protocol [ bgp direct ]; then reject; } term b { from protocol bgp; then accept; }",
        ["b is never"],
    ),
    ("term a { from protocol bgp; then reject; } term b { from protocol [ bgp direct ]; then accept; }", []),
    ("term a { from protocol bgp; then reject; } term b { then accept; }", []),
    ("term a { from family inet6; then reject; } term b { from family inet6; then accept; }", ["b is never evaluated"]),
    ("term a { then next policy; } term b { then accept; }", ["b is never evaluated"]),
    ("term a { then next term; } term b { then accept; }", ["a does nothing"]),
    ("term a { then metric 5; } term b { then accept; }", []),
    ("term a { from protocol bgp; } term b { then accept; }", ["a does nothing"]),
    ("term a { then as-path-prepend 65000; } term b { then accept; }", []),
    ("term a { from neighbor fe80::1; then accept; } term b { then accept; }", []),
    ("term a { from community green; then accept; } term b { from community green; then reject; }", []),
    (
        "term a { from { route-filter fc00::/16 orlonger; } then accept; }"
        " term b { from { route-filter fc00:1::/32 exact; } then reject; }",
        ["b is never evaluated"],
    ),
    (
        "term a { from { route-filter fc00::/16 exact; } then accept; }"
        " term b { from { route-filter fc00:1::/32 exact; } then reject; }",
        [],
    ),
    (
        "term a { from { route-filter fc00::/16 exact; route-filter fd00::/16 exact; } then accept; }"
        " term b { from { route-filter fc00::/16 exact; route-filter fd00::/16 exact; } then reject; }",
        ["b is never evaluated"],
    ),
    (
        "term a { from { prefix-list x; } then accept; }"
        " term b { from { route-filter fc00::/16 exact; } then reject; }",
        [],
    ),
    ("term a { from { prefix-list x; } then accept; } term b { from { prefix-list x; } then reject; }", ["b is never"]),
    ("term a { then accept; } then reject;", ["P is never evaluated: a decides"]),
]


@pytest.mark.parametrize(("terms", "expected"), TERMS)
def test_terms_that_are_never_asked_or_do_nothing(terms: str, expected: list[str]) -> None:
    texts = edited(
        (LEAF, "    policy-statement PFE-LB", f"    policy-statement P {{ {terms} }} policy-statement PFE-LB"),
        (LEAF, "        export PFE-LB;", "        export [ PFE-LB P ];"),
    )
    found = judged(run, network(texts))
    assert [one.check for one in found] == ["AILB311"] * len(expected)
    for one, part in zip(found, expected, strict=True):
        assert part in one.message
        assert one.scope == f"{LEAF} P"


def test_switches_of_no_plan_are_asked_about_their_terms_only() -> None:
    text = edited((SPINE, LISTED, ""), (SPINE, EXPORTED, ""))[SPINE]
    assert {one.check for one in judged(run, network({"elsewhere": text}))} == {"AILB311"}


def test_what_the_damages_damage_is_there_once() -> None:
    assert text_of(LEAF).count(POOL_FILTER) == text_of(SPINE).count(ADDED) == 1
