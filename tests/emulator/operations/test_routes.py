"""Routes: the XML against what routing says of the lab."""

from __future__ import annotations

import pytest

from ailb_gen.emulator.messages import RpcRefusedError
from tests.emulator.operations.lab import (
    LEAF,
    SPINE,
    Fake,
    address,
    ask,
    tree_of,
)
from tests.emulator.operations.test_bgp import COLORS

PREFIXES = [f"fc00:1:1:{number}::" for number in range(1, 5)]


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
    with pytest.raises(RpcRefusedError, match="missing argument"):
        ask(leaf, "get-route-information", advertising_protocol_name="bgp")
    with pytest.raises(RpcRefusedError, match="missing argument"):
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
    with pytest.raises(RpcRefusedError, match=r"10\.0\.0\.x is no IPv6 address") as caught:
        ask(leaf, "get-route-information", destination="10.0.0.x")
    assert caught.value.errors[0].element == "10.0.0.x"
    # There is an inet.0, with nothing in it.
    assert not len(ask(leaf, "get-route-information", destination="0.0.0.0/0"))
