"""BGP and routes: the XML against what routing says of the lab, as text in the layout of Junos."""

from __future__ import annotations

import pytest
from lxml import etree

from ailb_gen.emulator.messages import RefusedError
from ailb_gen.emulator.operations.bgp import peer_address
from ailb_gen.routing.rib import Routing
from tests.emulator.operations.lab import (
    LEAF,
    NAMES,
    NOW,
    SPINE,
    STARTED,
    Fake,
    ask,
    command,
    lab,
    plain,
    say,
    tree_of,
)
from tests.network.lab import TEXTS, network

COLORS = {"green": "color:0:1", "blue": "color:0:2", "red": "color:0:3", "orange": "color:0:4"}
PREFIXES = [f"fc00:1:1:{number}::" for number in range(1, 5)]


@pytest.fixture
def leaf() -> Fake:
    return Fake(LEAF, lab())


def peers(reply: etree._Element) -> list[tuple[str, str, str]]:
    return [
        (peer.findtext("peer-as", ""), peer.findtext("peer-state", ""), peer.findtext("flap-count", ""))
        for peer in reply.findall("bgp-peer")
    ]


def address(context: Fake, index: int) -> str:
    return peer_address(context.fabric, context.fabric.sessions(context.name)[index])


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


@pytest.mark.parametrize(("index", "color"), list(enumerate(COLORS)))
@pytest.mark.parametrize("level", ["detail", "extensive"])
def test_advertised(leaf: Fake, index: int, color: str, level: str) -> None:
    """Over every session all prefixes with its color; AIGP 0 only on the one whose own color it is."""
    arguments = {"advertising_protocol_name": "bgp", "neighbor": address(leaf, index)}
    table = ask(leaf, "get-route-information", level, **arguments).find("route-table")
    assert table is not None
    rows = [
        (
            rt.findtext("rt-destination"),
            rt.findtext("rt-prefix-length"),
            rt.findtext("rt-entry/nh/to"),
            rt.findtext("rt-entry/as-path"),
            [node.text for node in rt.findall("rt-entry/communities/extended-community")],
            rt.findtext("rt-entry/bgp-aigp"),
            rt.findtext("rt-entry/bgp-group-name"),
        )
        for rt in table.findall("rt")
    ]
    assert table.findtext("table-name") == "inet6.0"
    assert rows == [
        (prefix, "64", "Self", "[65101] I", [COLORS[color]], "0" if at == index else None, f"fabric-{color}")
        for at, prefix in enumerate(PREFIXES)
    ]


def test_advertised_by_a_spine(leaf: Fake) -> None:
    """What a spine learned goes on, but not back to the AS that it came from."""
    spine = leaf.other(SPINE)
    reply = ask(spine, "get-route-information", "detail", advertising_protocol_name="bgp", neighbor=address(spine, 0))
    found = [(rt.findtext("rt-destination", ""), rt.findtext("rt-entry/as-path")) for rt in reply.iter("rt")]
    assert len(found) == 12
    assert not [prefix for prefix, _ in found if prefix.startswith("fc00:1:1:")]
    assert ("fc00:1:2:1::", "[65001] 65102 I") in found


def test_advertised_in_brief_and_one_prefix(leaf: Fake) -> None:
    arguments = {"advertising_protocol_name": "bgp", "neighbor": address(leaf, 0)}
    reply = ask(leaf, "get-route-information", **arguments)
    assert [rt.findtext("rt-destination") for rt in reply.iter("rt")] == [f"{prefix}/64" for prefix in PREFIXES]
    assert {entry.findtext("as-path") for entry in reply.iter("rt-entry")} == {"I"}
    one = ask(leaf, "get-route-information", destination=f"{PREFIXES[1]}/64", **arguments)
    assert [rt.findtext("rt-destination") for rt in one.iter("rt")] == [f"{PREFIXES[1]}/64"]


def test_nothing_is_exchanged_with_nobody(leaf: Fake) -> None:
    for name, neighbor in (("advertising_protocol_name", "neighbor"), ("receive_protocol_name", "peer")):
        arguments = {name: "bgp", neighbor: "fe80::1%et-0/0/0.0"}
        assert len(ask(leaf, "get-route-information", **arguments)) == 0
    with pytest.raises(RefusedError, match="missing argument"):
        ask(leaf, "get-route-information", advertising_protocol_name="bgp")
    with pytest.raises(RefusedError, match="missing argument"):
        ask(leaf, "get-route-information", advertising_protocol_name="rip", neighbor="fe80::1")


def test_received(leaf: Fake) -> None:
    arguments = {"receive_protocol_name": "bgp", "peer": address(leaf, 0)}
    reply = ask(leaf, "get-route-information", "detail", **arguments)
    rows = [(rt.findtext("rt-destination", ""), rt.findtext("rt-entry/bgp-aigp")) for rt in reply.iter("rt")]
    assert len(rows) == 12
    assert [prefix for prefix, aigp in rows if aigp == "0"] == ["fc00:1:2:1::", "fc00:2:1:1::", "fc00:2:2:1::"]
    active = [rt.findtext("rt-destination") for rt in reply.iter("rt") if rt.findtext("rt-entry/active-tag") == "*"]
    assert active == ["fc00:1:2:1::", "fc00:2:1:1::", "fc00:2:2:1::"]


def test_hidden_routes(leaf: Fake) -> None:
    """A leaf that takes a session for another color than the spine does hides what arrives there."""
    leaf.fabric.commit(LEAF, tree_of(LEAF, "fabric-color green;", "fabric-color blue;"))
    arguments = {"receive_protocol_name": "bgp", "peer": address(leaf, 0)}
    assert not list(ask(leaf, "get-route-information", **arguments).iter("rt"))
    hidden = ask(leaf, "get-route-information", "hidden", **arguments)
    reasons = {entry.findtext("hidden-reason") for entry in hidden.iter("rt-entry")}
    assert reasons == {"color mismatch: the route has color:0:1, the session color:0:2"}
    assert len(list(hidden.iter("rt"))) == 12
    assert len(list(ask(leaf, "get-route-information", "all", **arguments).iter("rt"))) == 12
    table = ask(leaf, "get-route-information", "hidden").find("route-table")
    assert table is not None
    assert (table.findtext("hidden-route-count"), len(table.findall("rt"))) == ("12", 12)


def test_routes(leaf: Fake) -> None:
    table = ask(leaf, "get-route-information", table="inet6.0").find("route-table")
    assert table is not None
    # 4 prefixes and addresses of its own, 12 prefixes of others with 4 paths each.
    counts = [table.findtext(f"{name}-count") for name in ("destination", "total-route", "active-route")]
    assert counts == ["20", "56", "20"]
    assert len(table.findall("rt")) == 20
    direct = ask(leaf, "get-route-information", protocol="direct")
    assert {entry.findtext("protocol-name") for entry in direct.iter("rt-entry")} == {"Direct"}
    assert len(list(direct.iter("rt"))) == 4
    assert len(ask(leaf, "get-route-information", table="inet.0")) == 0


@pytest.mark.parametrize("destination", ["fc00:2:1:1::/64", "fc00:2:1:1::77"])
def test_route_of_a_prefix(leaf: Fake, destination: str) -> None:
    reply = ask(leaf, "get-route-information", "extensive", destination=destination)
    [rt] = reply.iter("rt")
    entries = rt.findall("rt-entry")
    assert rt.findtext("rt-destination") == "fc00:2:1:1::"
    assert [entry.findtext("as-path") for entry in entries] == [f"AS path: {65000 + n} 65103 I" for n in range(1, 5)]
    assert [entry.find("current-active") is not None for entry in entries] == [True, False, False, False]
    assert [entry.findtext("rt-aigp") for entry in entries] == ["0", None, None, None]
    assert [entry.findtext("inactive-reason") for entry in entries] == [None, "AIGP", "AIGP", "AIGP"]
    assert entries[0].findtext("nh/to") == address(leaf, 0).partition("%")[0]
    assert entries[0].findtext("nh/via") == "et-0/0/0.0"


def test_multipath_has_all_next_hops(leaf: Fake) -> None:
    """Without its own spine a prefix is reached over the three others alike."""
    leaf.fabric.keep_down(LEAF, "et-0/0/0.0")
    [rt] = ask(leaf, "get-route-information", destination="fc00:2:1:1::/64").iter("rt")
    active = rt.findall("rt-entry")[0]
    assert [hop.findtext("via") for hop in active.findall("nh")] == [f"et-0/0/{port}.0" for port in (1, 2, 3)]
    assert len([hop for hop in active.findall("nh") if hop.find("selected-next-hop") is not None]) == 1


def test_no_destination(leaf: Fake) -> None:
    with pytest.raises(RefusedError, match=r"10\.0\.0\.x is no IPv6 address") as caught:
        ask(leaf, "get-route-information", destination="10.0.0.x")
    assert caught.value.errors[0].element == "10.0.0.x"
    # There is an inet.0, with nothing in it.
    assert not len(ask(leaf, "get-route-information", destination="0.0.0.0/0"))


def test_summary_as_text(leaf: Fake) -> None:
    leaf.fabric.keep_down(LEAF, "et-0/0/3.0")
    lines = say(leaf, "show bgp summary")
    assert lines[:4] == [
        "Threading mode: BGP I/O",
        "Default eBGP mode: advertise - accept, receive - accept",
        "Groups: 4 Peers: 4 Down peers: 1",
        "Auto-discovered peers: 4",
    ]
    assert lines[8:10] == [
        f"{address(leaf, 0)}       65001          0          0       0       0  1d 2:23:20 Establ",
        # Its own three prefixes, and a share of those whose spine is gone.
        "  inet6.0: 6/12/12/0",
    ]
    assert lines[-1] == f"{address(leaf, 3)}           0          0          0       0       0  1d 2:23:20 Active"


def test_advertised_as_text(leaf: Fake) -> None:
    lines = say(leaf, f"show route advertising-protocol bgp {address(leaf, 1)}")
    assert lines[1:4] == [
        "inet6.0: 20 destinations, 56 routes (20 active, 0 holddown, 0 hidden)",
        "  Prefix                  Nexthop              MED     Lclpref    AS path",
        "* fc00:1:1:1::/64         Self                                    I",
    ]
    detailed = say(leaf, f"show route advertising-protocol bgp {address(leaf, 1)} fc00:1:1:2::/64 extensive")
    assert detailed[2:] == [
        "* fc00:1:1:2::/64 (1 entry, 1 announced)",
        " BGP group fabric-blue type External",
        "     Nexthop: Self",
        "     AS path: [65101] I",
        "     Communities: color:0:2",
        "     AIGP: 0",
    ]


def test_routes_as_text(leaf: Fake) -> None:
    lines = say(leaf, "show route fc00:2:1:1::/64")
    assert lines[1:7] == [
        "inet6.0: 20 destinations, 56 routes (20 active, 0 holddown, 0 hidden)",
        "+ = Active Route, - = Last Active, * = Both",
        "",
        "fc00:2:1:1::/64    *[BGP/170] 1d 02:23:20, localpref 100",
        "                      AS path: 65001 65103 I, validation-state: unverified",
        f"                    >  to {address(leaf, 0).partition('%')[0]} via et-0/0/0.0",
    ]
    assert "                Communities: 0:15 color:0:1" in say(leaf, "show route fc00:2:1:1::/64 detail")
    assert "                    >  via irb.2" in say(leaf, "show route protocol direct")


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
    assert say(leaf, f"show bgp summary fabric-color {color}")[2] == "Groups: 1 Peers: 1 Down peers: 0"
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
    assert say(leaf, "show bgp group fabric-blue")[:3] == [
        "Group Type: External                                   Local AS: 65101",
        "  Name: fabric-blue     Index: 1                   Flags: <Export Eval>",
        "  Export: [ FABRIC-OUT ]",
    ]
    assert say(leaf, "show bgp group summary")[-3:] == [
        "",
        "Groups: 4  Peers: 4    External: 4    Internal: 0    Down peers: 1   Flaps: 0",
        "  inet6.0          : 18/36/36/0 External: 18/36/36/0 Internal: 0/0/0/0",
    ]
    assert "    Advertised prefixes:          4" in say(leaf, "show bgp group fabric-blue detail")


def test_bfd_follows_the_slower_end(leaf: Fake) -> None:
    """Both ends send as the slower one asks; the peer's multiplier tells when it is given up."""
    leaf.fabric.commit(SPINE, tree_of(SPINE, "minimum-interval 300", "minimum-interval 700"))
    session = ask(leaf, "get-bfd-session-information", "extensive").findall("bfd-session")[0]
    names = ("session-transmission-interval", "session-detection-time", "neighbor-minimum-transmission-interval")
    assert [session.findtext(name) for name in names] == ["0.700", "2.100", "0.700"]
    assert session.findtext("minimum-asynchronous-interval") == "0.300"
    leaf.fabric.keep_down(LEAF, "et-0/0/0.0")
    down = ask(leaf, "get-bfd-session-information").findall("bfd-session")[0]
    assert [down.findtext(name) for name in names[:2]] == ["2.000", "0.000"]


def test_route_at_length_as_text(leaf: Fake) -> None:
    leaf.fabric.keep_down(LEAF, "et-0/0/0.0")
    shown = say(leaf, "show route fc00:2:1:1::/64 extensive")
    far = [address(leaf, index).partition("%")[0] for index in (1, 2, 3)]
    assert shown[1:12] == [
        "inet6.0: 20 destinations, 44 routes (20 active, 0 holddown, 0 hidden)",
        "fc00:2:1:1::/64 (3 entries, 1 announced)",
        "TSI:",
        f"KRT in-kernel fc00:2:1:1::/64 -> {{{', '.join(far)}}}",
        "        *BGP    Preference: 170/-101",
        "                Next hop type: Router, Next hop index: 1048574",
        "                Address: 0x0",
        "                Next-hop reference count: 1",
        f"                Source: {far[0]}",
        f"                Next hop: {far[0]} via et-0/0/1.0, selected",
        "                Session Id: 0",
    ]
    assert "TSI:" not in say(leaf, "show route fc00:2:1:1::/64 detail")


def test_tables_and_instances_as_text(leaf: Fake) -> None:
    assert say(leaf, "show route summary") == [
        "Autonomous system number: 65101",
        "Router ID: 10.255.16.1",
        "",
        "inet6.0: 20 destinations, 56 routes (20 active, 0 holddown, 0 hidden)",
        "              Direct:      4 routes,      4 active",
        "               Local:      4 routes,      4 active",
        "                 BGP:     48 routes,     12 active",
    ]
    assert say(leaf, "show route instance")[2:4] == [
        "master               forwarding     ",
        "         inet6.0                                         20/0/0",
    ]
    assert "  Router ID: 10.255.16.1" in say(leaf, "show route instance master detail")
