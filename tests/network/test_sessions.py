"""Every obstacle to a session, at the end and the line where it is."""

from dataclasses import replace

import pytest

from ailb_gen.network.fabric import Cable, End
from ailb_gen.network.sessions import Obstacle, distinct, group_keys, sessions
from tests.network.lab import LEAF, SPINE, STATIC, TEXTS, changed, line_of, network

LINK = ("stripe1-leaf1:et-0/0/0", "spine1:et-0/0/0")
GROUP = "        group fabric-green {\n"
UNIT, FAMILY = "        unit 0 {\n            family inet6;", "family inet6 {\n                unicast"
RA = """        interface et-0/0/0.0 {
            max-advertisement-interval 30;
            min-advertisement-interval 10;
        }
"""


def obstacles(texts: dict[str, str]) -> tuple[Obstacle, ...]:
    """Return why the link from the first leaf to the first spine has no session; the only one without."""
    found = sessions(network(texts))
    assert len(found.up) == 15
    ((cable, reasons),) = found.down
    assert (str(cable.a), str(cable.b)) == LINK
    return reasons


def test_all_sessions_of_the_lab_come_up() -> None:
    found = sessions(network(TEXTS))
    assert (len(found.up), found.down) == (16, ())
    first = found.up[0]
    assert (str(first.cable.a), str(first.cable.b)) == LINK
    assert (first.a.device, first.a.interface, first.a.asn) == ("stripe1-leaf1", "et-0/0/0.0", 65101)
    assert (first.b.device, first.b.interface, first.b.asn) == ("spine1", "et-0/0/0.0", 65001)
    assert [session.a.group for session in found.up[:4]] == [0, 1, 2, 3]


NO_GROUP = "no BGP group discovers neighbors here (peer-auto-discovery with ipv6-nd)"
BESIDE = "in group fabric-green cannot be combined with auto-discovery"
PORT, LIST = "    et-0/0/0 {", "peer-as-list spines-green;"


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        # The line is that of a text, or none.
        ("    et-0/0/0 {\n", "    et-0/0/63 {\n", "the port is not configured", None),
        ("    et-0/0/0 {\n", "    et-0/0/0 {\n disable;\n", "the interface is disabled", PORT),
        (UNIT, UNIT.replace("family", "disable; family"), "the interface is disabled", PORT),
        ("unit 0 {", "unit 1 {", "unit 0 has no family inet6", PORT),
        ("            family inet6;", "            family inet;", "unit 0 has no family inet6", "et-0/0/0 {"),
        (RA, "", "no router advertisements here: the neighbor cannot discover this switch", None),
        ("                    interface et-0/0/0.0;\n", "", NO_GROUP, "    bgp {"),
        ("ipv6-nd;", "ipv4-nd;", NO_GROUP, "    bgp {"),
        ("type external;", "type external; disable;", "group fabric-green is disabled", "group fabric-green"),
        (
            *("type external;", "type internal;"),
            *("group fabric-green is not external: auto-discovery is for single-hop EBGP", "group fabric-green"),
        ),
        (FAMILY, FAMILY.replace("6", ""), "group fabric-green has no family inet6 unicast", "group fabric-green"),
        (
            *("type external;", "type external; authentication-key secret;"),
            *(f"authentication-key {BESIDE}", "authentication-key"),
        ),
        (
            *("dynamic-neighbor spines-green {\n", "dynamic-neighbor spines-green {\n allow ::/0;\n"),
            *(f"allow {BESIDE}", " allow ::/0;"),
        ),
        (
            *(f"            {LIST}\n", ""),
            *("group fabric-green has no peer-as-list: no neighbor is accepted", "group fabric-green"),
        ),
        (
            *(LIST, "peer-as 65002;"),
            *("group fabric-green has no peer-as-list: spine1 in AS 65001 is not accepted", "peer-as 65002"),
        ),
        (
            *(LIST, "peer-as-list spines;"),
            *("as-list spines of group fabric-green is not defined", "peer-as-list spines;"),
        ),
        (
            *("as-list spines-green members 65001;", "as-list spines-green members [ 65002-65009 64000 ];"),
            *("spine1 is in AS 65001, which as-list spines-green does not have", "as-list spines-green members"),
        ),
    ],
)
def test_obstacles_at_one_end(old: str, new: str, message: str, line: str | None) -> None:
    texts = changed(LEAF, old, new)
    at = line_of(texts, LEAF, line) if line is not None else 0
    interface = "et-0/0/0.0"
    assert obstacles(texts) == (Obstacle("stripe1-leaf1", interface, message, at),)


def test_the_peer_is_found_by_peer_as_alone() -> None:
    texts = changed(LEAF, "peer-as-list spines-green;", "peer-as 65001;")
    assert not sessions(network(texts)).down


def test_one_as_at_both_ends() -> None:
    texts = changed(LEAF, "local-as 65101;", "local-as 65001;")
    first, second = obstacles(texts)
    message = "both ends are in AS 65001: no external session"
    assert (first.message, first.line) == (message, line_of(texts, LEAF, "local-as 65001;"))
    assert (second.message, second.device) == (message, "spine1")


def test_an_as_that_the_peer_does_not_expect() -> None:
    (found,) = obstacles(changed(LEAF, "local-as 65101;", "local-as 64000;"))
    assert found.device == "spine1"
    assert found.message == "stripe1-leaf1 is in AS 64000, which as-list leaves does not have"
    assert found.line == line_of(TEXTS, SPINE, "as-list leaves")


def test_the_as_of_routing_options_holds_without_local_as() -> None:
    assert not sessions(network(changed(LEAF, "            local-as 65101;\n", ""))).down


def test_no_as_number_at_all() -> None:
    text = TEXTS[LEAF].replace("            local-as 65101;\n", "", 1).replace("    autonomous-system 65101;\n", "")
    (found,) = obstacles({**TEXTS, LEAF: text})
    assert found.message == "neither local-as nor autonomous-system gives an AS number"
    assert found.line == line_of({LEAF: text}, LEAF, "group fabric-green")


def test_both_ends_are_named() -> None:
    texts = {**changed(LEAF, RA, ""), SPINE: changed(SPINE, RA, "")[SPINE]}
    assert [(found.device, found.interface) for found in obstacles(texts)] == [
        ("stripe1-leaf1", "et-0/0/0.0"),
        ("spine1", "et-0/0/0.0"),
    ]


def test_several_obstacles_at_one_end() -> None:
    text = changed(LEAF, RA, "")[LEAF].replace("type external;", "type internal;", 1)
    assert len(obstacles({**TEXTS, LEAF: text})) == 2


def test_a_device_without_a_file() -> None:
    texts = {file: text for file, text in TEXTS.items() if file != SPINE}
    found = sessions(network(texts))
    assert len(found.up) == 12
    assert {reasons for _, reasons in found.down} == {
        (Obstacle("spine1", f"et-0/0/{port}", "there is no usable file of this device"),) for port in range(4)
    }


def test_a_cable_to_a_port_that_nobody_configured() -> None:
    found = network(TEXTS)
    cable = Cable(End("stripe1-leaf1", "et-0/0/60"), End("spine1", "et-0/0/61"))
    ((_, reasons),) = sessions(replace(found, links=(cable,))).down
    assert [reason.message for reason in reasons] == ["the port is not configured"] * 2


def test_the_first_of_two_groups_has_the_interface() -> None:
    second = (
        GROUP.replace("green", "second")
        + """            type external;
            family inet6 { unicast; }
            local-as 64999;
            dynamic-neighbor again { peer-auto-discovery { family inet6 { ipv6-nd; } interface et-0/0/0.0; } }
        }
"""
    )
    before = sessions(network(TEXTS)).up[0]
    behind = changed(LEAF, "        group fabric-blue {\n", second + "        group fabric-blue {\n")
    assert sessions(network(behind)).up[0].a == before.a
    in_front = changed(LEAF, GROUP, second + GROUP)
    assert obstacles(in_front)[0].message.startswith("group fabric-second has no peer-as-list")


def test_what_groups_inherit_from_protocols_bgp() -> None:
    """`type`, `family` and `peer-as-list` may stand at the top; a family of the group hides the one above."""
    text = TEXTS[LEAF]
    for line in ("            type external;\n", "            peer-as-list spines-green;\n"):
        text = text.replace(line, "")
    text = text.replace("    bgp {\n", "    bgp {\n        type external;\n        peer-as-list spines-green;\n")
    assert not [down for down in sessions(network({**TEXTS, LEAF: text})).down if down[0].b.device == "spine1"]


NEIGHBOR = "neighbor fd00::1:1:3"


def test_neighbors_of_one_group_have_their_own_colors() -> None:
    found = sessions(network(STATIC))
    assert (len(found.up), found.down) == (8, ())
    leaf = network(STATIC).switches["stripe1-leaf1"]
    assert [(group.name, group.color, len(group.neighbors)) for group in leaf.groups] == [
        ("fabric", color, 1) for color in ("green", "red", "blue", "orange")
    ]
    assert group_keys(leaf) == ("fabric", "fabric 2", "fabric 3", "fabric 4")
    assert len(distinct(leaf.groups)) == 1
    spine = network(STATIC).switches["spine1"]
    assert [(group.color, [one.interface for one in group.neighbors]) for group in spine.groups] == [
        ("green", ["et-0/0/0.0", "et-0/0/2.0"]),
        ("red", ["et-0/0/1.0", "et-0/0/3.0"]),
    ]
    first = found.up[0]
    assert first.a.neighbor is not None
    assert first.b.neighbor is not None
    assert (first.a.neighbor.address, first.a.neighbor.own) == (first.b.neighbor.own, first.b.neighbor.address)


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        (f"            {NEIGHBOR} {{", "            neighbor fd00::9:1:3 {", ["no BGP group has a neighbor here"]),
        ("address fd00::1:1:2/127", "address fd00::1:1:2/128", ["no BGP group has a neighbor here"]),
        ("peer-as 65001;", "peer-as 65009;", [f"{NEIGHBOR} has peer-as 65009; spine1 is in AS 65001"]),
        ("                peer-as 65001;\n", "", [f"{NEIGHBOR} has no peer-as; spine1 is in AS 65001"]),
        (f"{NEIGHBOR} {{", f"{NEIGHBOR} {{ disable;", ["group fabric is disabled"]),
        (f"{NEIGHBOR} {{", f"{NEIGHBOR} {{ family inet;", ["group fabric has no family inet6 unicast"]),
        (
            *("address fd00::1:1:2/127", "address fd00::1:1:0/126"),
            ["neighbor fd00::1:1:2 is not stripe1-leaf1, whose address on et-0/0/0.0 is fd00::1:1:0"],
        ),
    ],
)
def test_why_a_static_neighbor_is_not_the_peer(old: str, new: str, messages: list[str]) -> None:
    assert old in STATIC[LEAF]
    found = sessions(network({**STATIC, LEAF: STATIC[LEAF].replace(old, new, 1)}))
    ((_, reasons),) = found.down
    assert [reason.message for reason in reasons] == messages


def test_a_static_neighbor_does_not_meet_a_discovered_one() -> None:
    discovering = """        group fabric {
            peer-as-list leaves;
            dynamic-neighbor all { peer-auto-discovery { family inet6 { ipv6-nd; } interface et-0/0/0.0; } }
"""
    spine = STATIC[SPINE].replace("        group fabric {\n", discovering, 1)
    spine = spine.replace("protocols {\n", "protocols { router-advertisement { interface et-0/0/0.0; }\n", 1)
    spine = spine.replace("policy-options {\n", "policy-options { as-list leaves members 65101-65102;\n", 1)
    ((_, reasons),) = sessions(network({**STATIC, SPINE: spine})).down
    assert [(reason.device, reason.message) for reason in reasons] == [
        ("stripe1-leaf1", "spine1 discovers neighbors on et-0/0/0.0: both ends must be static")
    ]
