"""What is made of recorded answers about next hops in IPv4 shadows, and about what their spines hear."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ailb_gen.batfish.hops import batfish_hops, own_hops
from ailb_gen.batfish.routes import (
    disagreements,
    judge_pinned,
    judge_transit,
)
from ailb_gen.checks.families.batfish import AGREE, AGREE_SPINE
from ailb_gen.checks.model import Finding
from ailb_gen.errors import BatfishError
from ailb_gen.network.read import read_network
from ailb_gen.routing.rib import Routing
from tests.batfish import plain, plain_rows
from tests.batfish.recorded import (
    BAD,
    CLEAN,
    GOOD,
    LAYOUTS,
    LEAK,
    RIB,
    ROUTES,
    at,
    changed,
    examined,
    intent,
    judged,
    network,
    prefix,
    rows,
    shadow,
    uplink,
)
from tests.conftest import ROOT, need_shared

if TYPE_CHECKING:
    from ailb_gen.batfish.hops import ExpectedRoutes, Hops
    from ailb_gen.batfish.model import Row

# Where `protocols bgp` stands on the second leaf and the first spine of both small fabrics.
LEAF_BGP, SPINE_BGP = 27, 7


def hops(name: str, *extra: Row) -> Hops:
    return batfish_hops(network(name), shadow(name).numbering, [*rows(name, ROUTES), *extra])


def asked_of(name: str, leaf: str) -> ExpectedRoutes:
    """Return an intent that asks about the routes of one leaf: those of the others are not recorded."""
    found = intent(name)
    return replace(found, uplinks={leaf: found.uplinks[leaf]})


@pytest.mark.parametrize("name", CLEAN)
def test_the_next_hop_of_every_prefix_is_the_spine_of_its_color(name: str) -> None:
    spines = LAYOUTS[name].spines
    assert hops(name) == {("leaf2", prefix(1, color)): frozenset({uplink(2, color).port}) for color in spines}
    assert judged(judge_pinned, network(name), asked_of(name, "leaf2"), hops(name)) == []
    assert examined(judge_pinned, network(name), asked_of(name, "leaf2"), {}) == {"AILB815": len(spines)}


def test_a_leaf_without_routes() -> None:
    assert hops(BAD) == {}
    message = "in Batfish packets go to fc00:1:1:1::/64 over none, not et-0/0/0 (and 1 more prefix)"
    assert judged(judge_pinned, network(BAD), asked_of(BAD, "leaf2"), hops(BAD)) == [
        Finding("AILB815", "leaf2", message, at(LEAF_BGP, "leaf2"))
    ]


def route(next_hop: str, network: str = "172.16.11.0/24", node: str = "leaf2") -> Row:
    return {**rows(GOOD, ROUTES)[0], "Node": node, "Network": network, "Next_Hop": next_hop}


def test_a_switch_whose_bgp_has_no_line() -> None:
    found = changed(network(GOOD), "leaf2", bgp_line=0)
    findings = judged(judge_pinned, found, asked_of(GOOD, "leaf2"), {})
    assert [finding.place for finding in findings] == [at(1, "leaf2")]


def test_several_next_hops() -> None:
    found = hops(GOOD, route("ip 10.64.2.5"))
    assert found["leaf2", prefix(1, 1)] == {"et-0/0/0", "et-0/0/1"}
    message = "in Batfish packets go to fc00:1:1:1::/64 over et-0/0/0, et-0/0/1, not et-0/0/0"
    assert judged(judge_pinned, network(GOOD), asked_of(GOOD, "leaf2"), found) == [
        Finding("AILB815", "leaf2", message, at(LEAF_BGP, "leaf2"))
    ]


@pytest.mark.parametrize(
    "next_hop", ["ip 10.64.1.3", "ip 10.64.2.2", "ip 10.99.0.1", "discard", "interface irb.101", "ip fc00::1", "None"]
)
def test_next_hops_that_are_no_cable_stay_as_they_are(next_hop: str) -> None:
    # The first is the other end of another leaf's cable, the second the leaf's own.
    found = batfish_hops(network(GOOD), shadow(GOOD).numbering, [route(next_hop)])
    assert found == {("leaf2", prefix(1, 1)): frozenset({f"({next_hop})"})}
    message = f"in Batfish packets go to fc00:1:1:1::/64 over ({next_hop}), not et-0/0/0 (and 1 more prefix)"
    assert judged(judge_pinned, network(GOOD), asked_of(GOOD, "leaf2"), found) == [
        Finding("AILB815", "leaf2", message, at(LEAF_BGP, "leaf2"))
    ]


def test_routes_of_unknown_switches_and_to_unknown_networks() -> None:
    assert hops(GOOD, route("ip 10.64.2.5", node="leaf9"), route("ip 10.64.2.5", "172.16.99.0/24")) == hops(GOOD)
    assert hops(GOOD, route("ip 10.64.2.5", "172.16.11.0/25")) == hops(GOOD)


def test_pinned_leaves_that_are_not_there_are_not_asked_for() -> None:
    found = network(GOOD)
    spines = replace(found, switches={name: one for name, one in found.switches.items() if name != "leaf2"})
    assert judged(judge_pinned, spines, asked_of(GOOD, "leaf2"), {}) == []
    # Batfish's name in small letters is one of a switch; there is none.
    assert batfish_hops(spines, shadow(GOOD).numbering, rows(GOOD, ROUTES)) == {}
    capital_leaf = replace(found, switches={"Leaf2": found.switches["leaf2"]})
    numbering = shadow(GOOD).numbering
    links = tuple(
        (replace(cable, a=replace(cable.a, device=cable.a.device.title())), a, b) for cable, a, b in numbering.links
    )
    assert batfish_hops(capital_leaf, replace(numbering, links=links), rows(GOOD, ROUTES)) == {
        ("Leaf2", prefix(1, color)): frozenset({uplink(2, color).port}) for color in (1, 2)
    }


def test_engines_that_agree() -> None:
    ours = {("leaf2", prefix(1, color)): frozenset({uplink(2, color).port}) for color in (1, 2)}
    assert judged(disagreements, network(GOOD), hops(GOOD), ours, AGREE, "") == []
    assert examined(disagreements, network(GOOD), hops(GOOD), ours, AGREE, "") == {"AILB821": 2}
    assert examined(disagreements, network(GOOD), hops(GOOD), {}, AGREE_SPINE, "") == {"AILB822": 2}


def test_engines_that_disagree() -> None:
    ours: Hops = {
        ("leaf2", prefix(1, 1)): frozenset({"et-0/0/0"}),
        ("leaf2", prefix(1, 2)): frozenset({"et-0/0/0", "et-0/0/1"}),
        ("spine1", prefix(1, 1)): frozenset({"et-0/0/0"}),
        ("spine1", prefix(1, 2)): frozenset({"et-0/0/0"}),
        ("leaf8", prefix(1, 1)): frozenset({f"et-0/0/{number}" for number in range(8)}),
        ("leaf9", prefix(1, 1)): frozenset({f"et-0/0/{number}" for number in range(9)}),
    }
    many = "et-0/0/0, et-0/0/1, et-0/0/2, et-0/0/3, et-0/0/4, et-0/0/5, et-0/0/6, et-0/0/7"
    differ = "the engines disagree: {} goes over {} in Batfish, over {} in this program"
    assert judged(disagreements, network(GOOD), hops(GOOD), ours, AGREE_SPINE, "spine1 fails: ") == [
        Finding(
            "AILB822",
            "leaf2",
            f"spine1 fails: {differ.format('fc00:1:1:2::/64', 'et-0/0/1', 'et-0/0/0, et-0/0/1')}",
            at(LEAF_BGP, "leaf2"),
        ),
        Finding("AILB822", "leaf8", f"spine1 fails: {differ.format('fc00:1:1:1::/64', 'none', many)}"),
        Finding("AILB822", "leaf9", f"spine1 fails: {differ.format('fc00:1:1:1::/64', 'none', f'{many} …')}"),
        Finding(
            "AILB822",
            "spine1",
            f"spine1 fails: {differ.format('fc00:1:1:1::/64', 'none', 'et-0/0/0')} (and 1 more prefix)",
            at(SPINE_BGP, "spine1"),
        ),
    ]
    assert examined(disagreements, network(GOOD), hops(GOOD), ours, AGREE_SPINE, "") == {"AILB822": 6}
    assert judged(disagreements, network(GOOD), hops(GOOD), {}, AGREE, "")[0].message == (
        f"{differ.format('fc00:1:1:1::/64', 'et-0/0/0', 'none')} (and 1 more prefix)"
    )


def heard_by(name: str, spine: int) -> ExpectedRoutes:
    """Return an intent whose only spine is this one: what others hear is not recorded."""
    found = intent(name)
    return replace(found, cables=tuple(one for one in found.cables if one.b_device == f"spine{spine}"))


def of_transit(name: str, told: list[Row], spine: int = 1) -> list[Finding]:
    return judged(judge_transit, network(name), shadow(name), heard_by(name, spine), told)


@pytest.mark.parametrize("name", CLEAN)
def test_a_spine_hears_every_prefix_from_its_own_leaf(name: str) -> None:
    # The leaks of the last are not among the best routes, which are all that was asked for when it was recorded.
    assert of_transit(name, rows(name, RIB)) == []
    count = len(shadow(name).numbering.prefixes)
    assert examined(judge_transit, network(name), shadow(name), heard_by(name, 1), []) == {"AILB816": count}


def test_leaks_show_among_the_backups() -> None:
    # Not recorded; the plain interpreter, which agrees with what was, says what the service would.
    snapshot = plain.read(need_shared(f"batfish-rows/snapshots/{LEAK}"))
    assert plain_rows.ask(snapshot, "bgpRib", nodes="spine1") == rows(LEAK, RIB)
    told = plain_rows.ask(snapshot, "bgpRib", nodes="spine1", status="BEST,BACKUP")
    bgp = {name: switch.bgp_line for name, switch in network(LEAK).switches.items()}
    assert bgp["leaf1"] == bgp["leaf2"] == 42
    # Of color 1 the leaf has the routes from this spine itself, to which it sends nothing back.
    assert of_transit(LEAK, told) == [
        Finding(
            "AILB816",
            f"leaf{leaf}",
            f"in Batfish it passes on {prefix(owner, color)} of leaf{owner} to spine1",
            at(42, f"leaf{leaf}"),
        )
        for leaf, owner in ((1, 2), (2, 1))
        for color in (2, 3, 4)
    ]


def test_prefixes_that_a_spine_does_not_hear() -> None:
    message = "in Batfish it receives no route to {} from {}"
    assert of_transit(BAD, rows(BAD, RIB)) == [
        Finding("AILB816", "spine1", message.format(found, owner), at(SPINE_BGP, "spine1"))
        for found, owner in (("fc00:1:1:1::/64", "leaf1"), ("fc00:1:2:1::/64", "leaf2"), ("fc00:1:2:2::/64", "leaf2"))
    ]


def test_a_prefix_that_is_heard_from_another_leaf_alone() -> None:
    told = rows(GOOD, RIB)
    told[0]["Received_From_IP"] = "10.64.2.2"
    assert told[0]["Network"] == "172.16.11.0/24"
    assert of_transit(GOOD, told) == [
        Finding(
            "AILB816",
            "leaf2",
            "in Batfish it passes on fc00:1:1:1::/64 of leaf1 to spine1",
            at(LEAF_BGP, "leaf2"),
        ),
        Finding(
            "AILB816",
            "spine1",
            "in Batfish it receives no route to fc00:1:1:1::/64 from leaf1",
            at(SPINE_BGP, "spine1"),
        ),
    ]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("Received_From_IP", None),
        ("Received_From_IP", "10.99.0.1"),
        ("Network", "172.16.99.0/24"),
        ("Network", "10.64.1.2/31"),
        ("Node", "spine9"),
    ],
)
def test_rows_that_mean_nothing_are_no_leaks(column: str, value: object) -> None:
    strange = {**rows(GOOD, RIB)[0], "Received_From_IP": "10.64.2.2", column: value}
    assert of_transit(GOOD, [*rows(GOOD, RIB), strange]) == []


def test_a_network_that_is_no_ipv4_prefix() -> None:
    odd = "Batfish answers 'fc00::/64' where an IPv4 prefix belongs; "
    with pytest.raises(BatfishError, match=f"^{re.escape(odd)}"):
        of_transit(GOOD, [{**rows(GOOD, RIB)[0], "Network": "fc00::/64"}])
    with pytest.raises(BatfishError, match=f"^{re.escape(odd)}"):
        hops(GOOD, route("ip 10.64.2.5", "fc00::/64"))


def test_prefixes_that_the_intent_does_not_know_are_no_leaks() -> None:
    found = heard_by(GOOD, 1)
    owners = {known: owner for known, owner in found.owners.items() if known != prefix(1, 1)}
    strange = {**rows(GOOD, RIB)[0], "Received_From_IP": "10.64.2.2"}
    assert (
        judged(
            judge_transit,
            network(GOOD),
            shadow(GOOD),
            replace(found, owners=owners),
            [*rows(GOOD, RIB), strange],
        )
        == []
    )


def test_leaves_and_spines_that_are_not_there_say_nothing() -> None:
    found = network(GOOD)
    fewer = replace(found, switches={name: one for name, one in found.switches.items() if name != "leaf2"})
    told = [row for row in rows(GOOD, RIB) if row["Received_From_IP"] != "10.64.2.2"]
    assert judged(judge_transit, fewer, shadow(GOOD), heard_by(GOOD, 1), told) == []
    # Spine 2 is there and was not asked: it hears nothing.
    assert len(judged(judge_transit, fewer, shadow(GOOD), heard_by(GOOD, 2), told)) == 2
    spineless = replace(found, switches={"leaf1": found.switches["leaf1"]})
    assert judged(judge_transit, spineless, shadow(GOOD), heard_by(GOOD, 1), []) == []


def test_a_prefix_whose_color_may_not_pass_a_spine_is_not_missed_there() -> None:
    found = heard_by(GOOD, 1)
    allowed = {known: frozenset({color}) for known, (_, color) in found.owners.items()}
    told = [row for row in rows(GOOD, RIB) if row["Network"] in ("172.16.11.0/24", "172.16.21.0/24")]
    assert judged(judge_transit, network(GOOD), shadow(GOOD), replace(found, allowed=allowed), told) == []


# What the intent asks


def test_a_switch_without_routes_or_with_one_of_its_own_has_no_next_hops() -> None:
    lab = read_network(ROOT / "tests" / "golden" / "lab", lambda written, tree: None).network
    graph = Routing(lab).graph
    first, second = "stripe1-leaf1", "stripe1-leaf2"
    cut = frozenset(at for at, up in enumerate(graph.sessions.up) if up.cable.a.device == first)
    ours = own_hops(graph, Routing(lab, cut, graph).states)
    assert len(cut) == 4
    assert first not in {name for name, _ in ours}
    # The second leaf has a gateway of the first: it hears of the prefix and needs nobody.
    (irb,) = lab.switches[first].ports["irb"].units
    own = lab.switches[second].ports["irb"]
    both = tuple(replace(unit, addresses=(irb.addresses[0], *unit.addresses)) for unit in own.units)
    shared = changed(lab, second, ports={**lab.switches[second].ports, "irb": replace(own, units=both)})
    routing = Routing(shared)
    ours = own_hops(routing.graph, routing.states)
    assert [name for name in lab.switches if (name, irb.addresses[0].prefix) not in ours] == [first, second]


def test_what_is_reachable_without_a_spine_or_a_cable() -> None:
    asks = intent(GOOD)
    alone = replace(asks, allowed={known: frozenset({color}) for known, (_, color) in asks.owners.items()})
    first = prefix(2, 1)
    for spine, ends, backed, pinned in (
        ("", frozenset(), True, True),
        ("spine1", frozenset(), True, False),
        ("spine2", frozenset(), True, True),
        ("", frozenset({uplink(1, 1)}), True, False),
        ("", frozenset({uplink(2, 1)}), True, False),
        ("", frozenset({uplink(2, 2)}), True, True),
        ("spine1", frozenset({uplink(2, 2)}), False, False),
        ("", frozenset({uplink(1, 1), uplink(2, 2)}), False, False),
    ):
        assert asks.reachable("leaf1", first, spine, ends) is backed
        assert alone.reachable("leaf1", first, spine, ends) is pinned
