"""BGP: the XML against what routing says of the lab."""

from __future__ import annotations

import pytest
from lxml import etree

from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node
from ailb_gen.routing.rib import Routing
from tests.emulator.operations.lab import (
    LEAF,
    NAMES,
    NOW,
    SPINE,
    Fake,
    address,
    ask,
    command,
    lab,
    tree_of,
)
from tests.network.lab import LAB, STATIC, TEXTS, network

COLORS = {"green": "color:0:1", "blue": "color:0:2", "red": "color:0:3", "orange": "color:0:4"}


def peers(reply: etree._Element) -> list[tuple[str, str, str]]:
    return [
        (peer.findtext("peer-as", ""), peer.findtext("peer-state", ""), peer.findtext("flap-count", ""))
        for peer in reply.findall("bgp-peer")
    ]


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_routing(name: str) -> None:
    routing = Routing(network(TEXTS))
    device = routing.graph.index[name]
    paths = [path for prefix in routing.prefixes for path in routing.paths(device, prefix) if path.peer]
    reply = ask(Fake(name, lab()), "get-bgp-summary-information")
    for peer in reply.findall("bgp-peer"):
        interface = peer.findtext("peer-address", "").partition("%")[2]
        here = [path for path in paths if path.interface == interface]
        expected = [
            sum(path.status in ("active", "multipath") for path in here),
            len(here),
            sum(path.status != "hidden" for path in here),
            0,
        ]
        kinds = ("active", "received", "accepted", "suppressed")
        assert [int(peer.findtext(f"bgp-rib/{kind}-prefix-count", "")) for kind in kinds] == expected
    assert int(reply.findtext("bgp-rib/total-prefix-count", "")) == len(paths)


def test_summary_of_one_group_or_another_instance(leaf: Fake) -> None:
    blue = ask(leaf, "get-bgp-summary-information", group="fabric-blue")
    assert peers(blue) == [("65002", "Established", "0")]
    assert peers(ask(leaf, "get-bgp-summary-information", instance="master")) != []
    assert len(ask(leaf, "get-bgp-summary-information", instance="mgmt_junos")) == 0


def test_a_neighbor_that_came_back() -> None:
    leaf = Fake(LEAF, lab(clock=lambda: NOW - 100))
    leaf.fabric.power_off(SPINE)
    leaf.fabric.commit(SPINE, tree_of(SPINE))
    first = ask(leaf, "get-bgp-summary-information").find("bgp-peer")
    assert first is not None
    assert (first.findtext("elapsed-time"), first.findtext("flap-count")) == ("1:40", "1")


def test_neighbor(leaf: Fake) -> None:
    reply = ask(leaf, "get-bgp-neighbor-information", neighbor_address=address(leaf, 1))
    [peer] = reply.findall("bgp-peer")
    assert peer.findtext("peer-id") == "10.255.0.2"
    assert peer.findtext("bgp-option-information/aigp-mode/nlri-type") == "inet6-unicast"
    # One of the two connected to port 179 of the other.
    ends = [peer.findtext(f"{side}-address", "").rpartition("+") for side in ("peer", "local")]
    assert sorted(end[2] for end in ends)[0] == "179"
    spine = ask(leaf.other("spine2"), "get-bgp-neighbor-information").find("bgp-peer")
    assert spine is not None
    assert spine.findtext("local-address", "").partition("%")[0] == ends[0][0].partition("%")[0]
    assert spine.findtext("local-address", "").rpartition("+")[2] == ends[0][2]
    unscoped = ask(leaf, "get-bgp-neighbor-information", neighbor_address=address(leaf, 1).partition("%")[0])
    assert len(unscoped) == 1
    assert len(ask(leaf, "get-bgp-neighbor-information", neighbor_address="fe80::1")) == 0
    assert len(ask(leaf, "get-bgp-neighbor-information", fabric_color="mauve")) == 0


def test_an_away_device_answers_with_nothing(leaf: Fake) -> None:
    leaf.fabric.power_off(LEAF)
    for name in ("get-bgp-summary-information", "get-bgp-neighbor-information", "get-route-information"):
        reply = ask(leaf, name)
        assert not reply.findall("bgp-peer")
        assert not reply.findall("route-table")
    assert command(leaf, "show route", "xml").tag == "route-information"


class Static(Fake):
    """A device of the fabric with static neighbors."""

    def committed(self) -> Node:
        return read(STATIC[f"switches/{self.name}.conf"], self.name)


@pytest.fixture
def static() -> Static:
    fabric = EmulatedFabric.read(LAB.parent / "static")
    for name in (LEAF, "stripe2-leaf1", SPINE, "spine2"):
        fabric.commit(name, read(STATIC[f"switches/{name}.conf"], name))
    return Static(LEAF, fabric)


def test_static_neighbors_have_their_addresses_and_are_not_discovered(static: Static) -> None:
    reply = ask(static, "get-bgp-summary-information")
    assert [peer.findtext("peer-address") for peer in reply.findall("bgp-peer")] == [
        f"fd00::1:1:{last}" for last in (3, 5, 7, 9)
    ]
    assert reply.findtext("group-count") == "1"
    assert peers(reply) == [(asn, "Established", "0") for asn in ("65001", "65001", "65002", "65002")]
    assert not ask(static, "get-bgp-summary-information", "autodiscovered").findall("bgp-peer")
    [peer] = ask(static, "get-bgp-neighbor-information", fabric_color="red").findall("bgp-peer")
    assert peer.findtext("local-address", "").partition("+")[0] == "fd00::1:1:4"
    assert (peer.findtext("peer-flags"), peer.findtext("peer-group")) == ("Sync", "fabric")
    assert not ask(static, "get-bgp-neighbor-information", "auto-discovered").findall("bgp-peer")


def test_one_group_is_one_whatever_its_colors(static: Static) -> None:
    reply = ask(static, "get-bgp-group-information")
    [group] = reply.findall("bgp-group")
    assert (group.findtext("name"), group.findtext("peer-count")) == ("fabric", "4")
    assert len(group.findall("peer-address")) == 4


def test_a_static_neighbor_that_does_not_answer_is_active(static: Static) -> None:
    static.emulated.power_off(SPINE)
    states = [peer.findtext("peer-state") for peer in ask(static, "get-bgp-summary-information").findall("bgp-peer")]
    assert states == ["Active", "Active", "Established", "Established"]
