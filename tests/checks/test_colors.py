"""The checks of colors: every damage to colors, advertisements and copies of routes is found where it is."""

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric, expected_fabric
from ailb_gen.checks.model import Result
from ailb_gen.network.fabric import Network
from tests.checks.edited import LEAF, SPINE, Edit, edited, intended, judged, lines, network, text_of, unchanged, without
from tests.checks.trees import findings, ids, run_family, shown

OTHER = "stripe2-leaf2"
ROUTE = "            route fc00:1:1:2::/64 {\n                color blue;\n                backup-color all-colors;\n"
INTERFACE = "                    interface et-0/0/0.0;\n"


def run(asked: ExpectedFabric, found: Network) -> list[Result]:
    return run_family("AILB3", Context(asked.fabric, found))


# edit, the check that names it, the switch of its finding, a part of the line that the finding points at
DAMAGES: list[tuple[Edit, str, str, str]] = [
    ((LEAF, "green members color:0:1", "green members color:0:7"), "301", LEAF, "community green"),
    ((LEAF, "green members color:0:1", "green members [ color:0:1 0:9 ]"), "301", LEAF, "community green"),
    ((LEAF, "green members color:0:1", 'green members "color:0:*"'), "301", LEAF, "community green"),
    ((SPINE, "green members color:0:1;", "green members color:0:1; community x members color:0:1;"), "301", SPINE, "x"),
    ((SPINE, "local members 0:15", "local members color:0:3"), "301", SPINE, "community local"),
    ((LEAF, INTERFACE, ""), "302", LEAF, "bgp {"),
    ((LEAF, ROUTE, ROUTE.replace("1:1:2", "1:1:7")), "304", LEAF, "route fc00:1:1:7::/64"),
    ((LEAF, ROUTE, ROUTE.replace("/64", "/63").replace("1:1:2", "1:1:2")), "304", LEAF, "route fc00:1:1:2::/63"),
    ((LEAF, "                address fc00:1:1:2::1/64;\n", ""), "304", LEAF, "route fc00:1:1:2::/64"),
    ((LEAF, "    irb {\n", "    irb {\n        disable;\n"), "304", LEAF, "route fc00:1:1:1::/64"),
    ((SPINE, "    bgp {\n", "    bgp {\n fabric-advertise { route fc00:1:1:1::/64; }\n"), "304", SPINE, "route fc00"),
    ((LEAF, "backup-color all-colors", "backup-color red"), "305", LEAF, "backup-color red"),
    ((SPINE, "members color:0:2", "members color:0:3"), "309", SPINE, "group fabric-blue"),
    ((LEAF, "type external;", "type external; import FABRIC-OUT;"), "309", LEAF, "group fabric-green"),
    ((SPINE, "                    aigp;", "                    aigp { disable; }"), "310", LEAF, "group fabric-blue"),
    ((SPINE, "protocol bgp", "protocol direct"), "310", LEAF, "group fabric-blue"),
    ((LEAF, "            then reject;", "            then reject; } term x {"), "311", LEAF, "term x"),
]


@pytest.mark.parametrize(("edit", "check", "switch", "part"), DAMAGES)
def test_a_damage_is_found_by_the_check_that_names_it(edit: Edit, check: str, switch: str, part: str) -> None:
    texts = edited(edit)
    found = [one for one in judged(run, network(texts)) if one.check == f"AILB{check}"]
    assert found
    own = [one for one in found if one.scope.split()[0] == switch]
    assert any(part in line for _, line in lines(texts, own)), list(lines(texts, own))


def told(*edits: Edit) -> dict[str, list[str]]:
    """Findings about the lab with some edits: scope and message by check."""
    found: dict[str, list[str]] = {}
    for one in judged(run, network(edited(*edits))):
        found.setdefault(one.check, []).append(f"{one.scope}: {one.message}")
    return found


def test_two_prefixes_of_one_color_are_told_with_the_copies_that_are_missing() -> None:
    found = told((LEAF, ROUTE, ROUTE.replace("blue", "red")))
    assert found["AILB304"] == [
        f"{LEAF}: 2 prefixes have color red; each color takes one",
        f"{LEAF}: fc00:1:1:2::/64 is advertised with color red; it must be blue",
    ]
    assert f"{OTHER}: fc00:1:1:2::/64 received from spine2 without AIGP as color:0:2" in found["AILB310"]
    assert f"{OTHER}: fc00:1:1:2::/64 received from spine3 with AIGP as color:0:3" in found["AILB310"]
    assert set(found) == {"AILB304", "AILB310"}


def test_a_session_of_another_color_hides_its_routes() -> None:
    found = told((LEAF, "fabric-color green", "fabric-color blue"))
    assert found["AILB302"] == [
        f"{LEAF} et-0/0/0: the link to spine1:et-0/0/0 is color:0:2 (group fabric-green); it must be color:0:1"
    ]
    assert found["AILB303"] == [
        f"{LEAF}: 0 uplinks of color green; every color has 1",
        f"{LEAF}: 2 uplinks of color blue; every color has 1",
    ]
    mismatch = "hidden (color mismatch: the route has color:0:2, the session color:0:1) in group fabric-green"
    assert (
        f"spine1 fabric-green: {mismatch}: fc00:1:1:1::/64, fc00:1:1:2::/64, fc00:1:1:3::/64 and 1 more"
        in (found["AILB309"])
    )


def test_a_leaf_that_leaks_is_told_with_its_prefixes() -> None:
    term = "orlonger;\n            }\n            then reject;"
    found = told((LEAF, term, term.replace("reject", "accept")))
    expected = (
        f"{LEAF}: readvertises routes learned from spines: fc00:1:2:1::/64, fc00:1:2:2::/64, fc00:1:2:3::/64 and 9 more"
    )
    assert expected in found["AILB308"]
    # No spine believes it: a leaf with one link per color only has the spine to send to that it heard from.
    assert set(found) == {"AILB308"}


def test_without_backups_there_is_one_copy_of_each_prefix_and_no_aigp() -> None:
    fabric = intended().fabric
    no_backup = fabric.model_copy(update={"colors": fabric.colors.model_copy(update={"backup": "none"})})  # type: ignore[union-attr]
    texts = {
        name: text_of(name).replace("                backup-color all-colors;\n", "") for name in unchanged().switches
    }
    found = network(texts)
    assert not shown(run(expected_fabric(no_backup), found))
    assert {one.check for one in findings(run(intended(), found))} == {"AILB305", "AILB310"}


def test_a_spine_that_sends_nothing_is_missed_by_every_leaf() -> None:
    found = judged(run, network(edited((SPINE, "protocol bgp", "protocol direct"))))
    leaves = {name for name, role in unchanged().roles.items() if role == "leaf"}
    assert {one.scope for one in found if one.check == "AILB310"} == leaves


@pytest.mark.parametrize("names", [(LEAF,), (SPINE,), (LEAF, SPINE), tuple(unchanged().switches)])
def test_switches_without_a_file_are_no_reason_to_stop(names: tuple[str, ...]) -> None:
    found = without(*names)
    results = list(run(intended(), found))
    assert [result.check.id for result in results] == ids("AILB3")
    assert not any(one.scope.split()[0] in names for one in findings(results))


def test_a_switch_of_no_plan_is_looked_at_for_its_communities_only() -> None:
    text = text_of(LEAF).replace("green members color:0:1", "green members color:0:2")
    assert {one.check for one in judged(run, network({"elsewhere": text}))} == {"AILB301"}
