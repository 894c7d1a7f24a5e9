"""Which findings follow from which: the rules, over findings made by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from ailb_gen.checks import subjects as about
from ailb_gen.checks.catalogue import EVERYTHING, OF_DEVICES, checks_of
from ailb_gen.checks.causes import causes
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Finding, Result
from ailb_gen.checks.subjects import Subject
from ailb_gen.errors import Place

CHECK = {check.id: check for check in EVERYTHING}
LEAF = Place("switches/leaf1.conf", 7)


def explained(*findings: Finding) -> dict[Finding, Finding]:
    """Return the causes of findings, which are in the order of the checks."""
    rows = groupby(sorted(findings, key=lambda row: row.check), key=lambda row: row.check)
    return causes([Result(CHECK[check], tuple(found)) for check, found in rows])


def test_a_difference_on_a_device_never_follows_from_another() -> None:
    color, port = "protocols bgp group fabric-green fabric-color green", "interfaces et-0/0/1 disable"
    for place in (LEAF, None):
        missing = Finding("AILBD02", "leaf1", f"{color}: is missing", place, color, "")
        surplus = Finding("AILBD02", "leaf1", f"{port}: is not in the file", place, "", port)
        assert explained(missing, surplus) == {}


def test_what_is_seen_on_devices_stands_for_itself() -> None:
    found = [
        Finding(check.id, "leaf1", f"{what} is wrong", LEAF)
        for check in checks_of(OF_DEVICES)
        for what in ("et-0/0/0", "et-1")
    ]
    assert explained(*found) == {}


def cable(leaf: str, port: str, spine_port: str) -> tuple[Subject, Subject]:
    """Both ends of a cable to spine1."""
    return about.port(leaf, port), about.port("spine1", spine_port)


def uncolored(leaf: str, port: str, spine_port: str) -> Finding:
    subjects = cable(leaf, port, spine_port)
    return Finding("AILB302", leaf, "the link is uncolored", Place(leaf, 1), part=port, subjects=subjects)


def down(leaf: str, port: str, spine_port: str) -> Finding:
    subjects = cable(leaf, port, spine_port)
    return Finding("AILB201", "spine1", f"no session {leaf}", Place("spine1", 213), part=spine_port, subjects=subjects)


def test_a_session_follows_from_no_link_of_another_leaf() -> None:
    """Both findings name a port of one spine, and neither is about the other's port."""
    session = down("leaf1", "et-0/0/3", "et-0/0/0")
    assert explained(uncolored("leaf2", "et-0/0/0", "et-0/0/3"), session) == {}
    same = uncolored("leaf1", "et-0/0/3", "et-0/0/0")
    assert explained(same, session) == {session: same}


def test_what_is_explained_does_not_stand_for_others_like_it() -> None:
    color = uncolored("leaf1", "et-0/0/3", "et-0/0/0")
    first, second, third = (down(f"leaf{n + 1}", "et-0/0/3", f"et-0/0/{n}") for n in range(3))
    assert explained(color, first, second, third) == {first: color, third: second}


def test_what_batfish_says_follows_from_what_this_program_says_of_the_same() -> None:
    port = Finding("AILB106", "leaf1", "the MTU is 1500; it must be 9216", LEAF, part="et-0/0/0")
    same_port = Finding(
        "AILB806", "leaf1", "Batfish finds an MTU of 1500, not 9216", Place(LEAF.file, 9), part="et-0/0/0"
    )
    same_line = Finding("AILB802", "leaf1", "Batfish: this syntax is unrecognized: 'mtu 1500'", LEAF)
    routes = Finding("AILB815", "leaf2", "in Batfish packets go to fc00:1::/64 over et-0/0/1", Place("leaf2", 1))
    assert explained(port, same_port, same_line, routes) == dict.fromkeys((same_port, same_line, routes), port)
    other_port = Finding(
        "AILB806", "leaf1", "Batfish finds an MTU of 1500, not 9216", Place(LEAF.file, 9), part="et-0/0/1"
    )
    other_line = Finding("AILB804", "leaf1", "Batfish: vlan vn9 is not defined", Place(LEAF.file, 11))
    assert explained(port, other_port, other_line) == {}


def test_engines_that_disagree_follow_only_from_what_one_leaves_out() -> None:
    damage = uncolored("leaf1", "et-0/0/3", "et-0/0/0")
    differ = Finding("AILB821", "leaf1", "the engines disagree: fc00:1::/64 goes over et-0/0/1", Place("leaf1", 1))
    assert explained(damage, differ) == {}
    left_out = Finding("AILB812", "spine2", "not in the shadow: policy P: it changes the colors", Place("spine2", 89))
    assert explained(damage, differ, left_out) == {differ: left_out}


def test_what_stands_at_one_line_is_one_thing_and_what_is_missing_there_is_not() -> None:
    statement = Finding("AILB209", "leaf1", "interfaces lo0 disable is not modeled", LEAF, part="interfaces lo0")
    effect = Finding("AILB107", "leaf1", "the router-id is not the address of a running interface", LEAF)
    missing = Finding("AILB205", "leaf1", "group g lacks multipath", LEAF, "multipath", "", part="g")
    assert explained(statement, effect, missing) == {effect: statement}


def test_a_keyword_that_is_unknown_explains_what_is_missing_in_its_group_alone() -> None:
    typo = Finding("AILB901", "leaf1", "no such statement", LEAF, statement="protocols bgp group red multipaht")
    red, blue = (f"protocols bgp group {name} multipath" for name in ("red", "blue"))
    same = Finding("AILB205", "leaf1", "no multipath", Place(LEAF.file, 3), statement=red)
    other = Finding("AILB205", "leaf1", "no multipath", Place(LEAF.file, 30), statement=blue)
    elsewhere = Finding("AILB205", "leaf2", "no multipath", Place("switches/leaf2.conf", 3), statement=red)
    assert explained(typo, same, other, elsewhere) == {same: typo}


def test_what_a_server_sends_follows_from_its_script_and_not_from_another() -> None:
    script = Place("profiles/a/usr/local/sbin/ailb-qos", 26)
    wrong = Finding("AILB708", "profiles/a", "dscp2prio must be 26 3, not 24 3", script, "26 3", "24 3")
    port = "the NIC sends RDMA with DSCP 24, which is not lossless on leaf1:et-0/0/16"
    leaf, own, other = map(about.device, ("leaf1", "profiles/a", "profiles/b"))
    sent = Finding("AILB708", "gpu-1", port, LEAF, involves=(leaf, own), part="gpu0_eth")
    strange = Finding("AILB708", "gpu-2", port, LEAF, involves=(leaf, other), part="gpu0_eth")
    assert explained(wrong, sent) == {sent: wrong}
    assert explained(wrong, strange) == {}


def test_one_row_of_a_server_that_is_written_wrongly_is_one_thing_whatever_checks_say_of_it() -> None:
    file = "profiles/a/usr/local/sbin/ailb-net"
    surplus = Finding(
        "AILB602",
        "profiles/a",
        "gpu9 is in it, but the intent has no such NIC",
        Place(file, 18),
        "",
        "gpu9",
        part="gpu9",
    )
    lacking = Finding(
        "AILB607", "profiles/a", "table 10004 is not in the list", Place(file, 14), "gpu1 10004", "", part="gpu1"
    )
    assert explained(surplus, lacking) == {lacking: surplus}
    second = Finding(
        "AILB607", "profiles/a", "table 10000 is not in the list", Place(file, 14), "gpu0 10000", "", part="gpu0"
    )
    assert explained(surplus, lacking, second) == {}


def test_a_value_is_a_consequence_only_where_what_holds_it_is_lost() -> None:
    lost = Finding("AILB702", "leaf1", "scheduler s9 is referred to, but not defined", LEAF, "scheduler s9")
    text = "the priority of class CNP must be strict-high, not nothing"
    value = Finding("AILB706", "leaf1", text, Place(LEAF.file, 3), "strict-high", "nothing")
    assert explained(lost, value) == {}
    involves = (about.device("leaf1"),)
    follows = Finding("AILB706", "leaf1", text, Place(LEAF.file, 3), "strict-high", "nothing", involves)
    assert explained(lost, follows) == {follows: lost}


def test_a_check_of_somebody_else_is_of_the_layer_that_its_row_says() -> None:
    """Nothing about a check is in a table of ids."""
    paths = replace(CHECK["AILB401"], id="SITE01")
    ports = replace(CHECK["AILB108"], id="SITE02", layer=Layer.PORTS)
    cause = Finding("SITE02", "leaf1", "x", part="et-0/0/0")
    effect = Finding("SITE01", "leaf2", "y", involves=(about.device("leaf1"),))
    assert causes([Result(paths, (effect,)), Result(ports, (cause,))]) == {effect: cause}
