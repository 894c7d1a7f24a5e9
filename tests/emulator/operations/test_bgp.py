"""BGP: the XML against what routing says of the lab."""

from __future__ import annotations

import pytest
from lxml import etree

from ailb_gen.routing.rib import Routing
from tests.emulator.operations.lab import (
    LEAF,
    NAMES,
    NOW,
    SPINE,
    STARTED,
    Fake,
    address,
    ask,
    command,
    lab,
    plain,
    say,
    tree_of,
)
from tests.network.lab import TEXTS, network

COLORS = {"green": "color:0:1", "blue": "color:0:2", "red": "color:0:3", "orange": "color:0:4"}


def peers(reply: etree._Element) -> list[tuple[str, str, str]]:
    return [
        (peer.findtext("peer-as", ""), peer.findtext("peer-state", ""), peer.findtext("flap-count", ""))
        for peer in reply.findall("bgp-peer")
    ]


def test_summary(leaf: Fake) -> None:
    reply = plain(ask(leaf, "get-bgp-summary-information"))
    assert [reply.findtext(f"{name}-count") for name in ("group", "peer", "down-peer")] == ["4", "4", "0"]
    assert peers(reply) == [(str(65000 + number), "Established", "0") for number in range(1, 5)]
    first = reply.find("bgp-peer")
    assert first is not None
    assert first.findtext("peer-address") == address(leaf, 0)
    assert address(leaf, 0).endswith("%et-0/0/0.0")
    assert first.find("elapsed-time").attrib == {"seconds": str(int(NOW - STARTED))}  # type: ignore[union-attr]
    assert first.findtext("elapsed-time") == "1d 2:23:20"


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


def test_sessions_that_are_down(leaf: Fake) -> None:
    leaf.fabric.keep_down(LEAF, "et-0/0/0.0")
    leaf.fabric.power_off("spine2")
    reply = ask(leaf, "get-bgp-summary-information")
    # Nobody is discovered on the link to a device that is away.
    assert [reply.findtext(f"{name}-count") for name in ("peer", "down-peer")] == ["3", "1"]
    states = [("0", "Active", "0"), ("65003", "Established", "0"), ("65004", "Established", "0")]
    assert peers(reply) == states
    assert reply.find("bgp-peer/bgp-rib/name") is not None
    assert reply.find("bgp-peer").find("bgp-rib") is None  # type: ignore[union-attr]
    bfd = ask(leaf, "get-bfd-session-information")
    assert [row.findtext("session-state") for row in bfd.findall("bfd-session")] == ["Down", "Up", "Up"]


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
    expected = {
        "peer-as": "65002",
        "local-as": "65101",
        "peer-group": "fabric-blue",
        "peer-fwd-rti": "master",
        "peer-state": "Established",
        "local-interface-name": "et-0/0/1.0",
        "peer-id": "10.255.0.2",
        "local-id": "10.255.16.1",
        "bgp-option-information/export-policy": "FABRIC-OUT",
        "bgp-option-information/aigp-mode/nlri-type": "inet6-unicast",
        "bgp-rib/received-prefix-count": "12",
        "bgp-rib/advertised-prefix-count": "4",
        "bgp-bfd/bfd-operational-state": "up",
    }
    assert {name: peer.findtext(name) for name in expected} == expected
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


def test_neighbor_that_is_down(leaf: Fake) -> None:
    leaf.fabric.keep_down(LEAF, "et-0/0/0.0")
    [peer] = ask(leaf, "get-bgp-neighbor-information", neighbor_address=address(leaf, 0)).findall("bgp-peer")
    found = [peer.findtext(name) for name in ("peer-address", "peer-state", "peer-group")]
    assert found == [address(leaf, 0), "Active", "fabric-green"]
    # Nothing is known of a neighbor that has not answered.
    assert [peer.find(name) for name in ("peer-id", "active-holdtime", "bgp-bfd", "last-received")] == [None] * 4
    assert peer.find("bgp-rib") is None


@pytest.mark.parametrize("text", ["show bgp neighbor", "show bfd session", "show route receive-protocol bgp {} detail"])
def test_all_peers_are_shown(leaf: Fake, text: str) -> None:
    shown = "\n".join(say(leaf, text.format(address(leaf, 2))))
    assert address(leaf, 2).partition("%")[0] in shown


def test_an_away_device_answers_with_nothing(leaf: Fake) -> None:
    leaf.fabric.power_off(LEAF)
    for name in ("get-bgp-summary-information", "get-bgp-neighbor-information", "get-route-information"):
        reply = ask(leaf, name)
        assert not reply.findall("bgp-peer")
        assert not reply.findall("route-table")
    assert command(leaf, "show route", "xml").tag == "route-information"


@pytest.mark.parametrize("option", ["auto-discovered", "autodiscovered"])
def test_discovered_neighbors_are_all_there_are(leaf: Fake, option: str) -> None:
    assert say(leaf, f"show bgp summary {option}") == say(leaf, "show bgp summary")


@pytest.mark.parametrize(("index", "color"), list(enumerate(COLORS)))
def test_neighbors_of_a_color(leaf: Fake, index: int, color: str) -> None:
    for tag in ("get-bgp-summary-information", "get-bgp-neighbor-information"):
        [peer] = ask(leaf, tag, fabric_color=color).findall("bgp-peer")
        assert peer.findtext("peer-address", "").partition("+")[0] == address(leaf, index)
    assert say(leaf, "show bgp neighbor fabric-color mauve") == []


def test_groups(leaf: Fake) -> None:
    leaf.fabric.keep_down(LEAF, "et-0/0/0.0")
    reply = ask(leaf, "get-bgp-group-information")
    found = [
        (one.findtext("name"), one.findtext("established-count"), one.findtext("bgp-rib/active-prefix-count"))
        for one in reply.findall("bgp-group")
    ]
    assert found[:2] == [("fabric-green", "0", None), ("fabric-blue", "1", "6")]
    counts = [reply.findtext(f"bgp-information/{name}-count") for name in ("group", "peer", "down-peer")]
    assert counts == ["4", "4", "1"]
    red = ask(leaf, "get-bgp-group-information", group_name="fabric-red")
    assert [one.findtext("name") for one in red.findall("bgp-group")] == ["fabric-red"]
