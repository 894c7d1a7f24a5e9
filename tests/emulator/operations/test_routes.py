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
    say,
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


def test_nothing_is_exchanged_with_nobody(leaf: Fake) -> None:
    for name, neighbor in (("advertising_protocol_name", "neighbor"), ("receive_protocol_name", "peer")):
        arguments = {name: "bgp", neighbor: "fe80::1%et-0/0/0.0"}
        assert len(ask(leaf, "get-route-information", **arguments)) == 0
    with pytest.raises(RpcRefusedError, match="missing argument"):
        ask(leaf, "get-route-information", advertising_protocol_name="bgp")
    with pytest.raises(RpcRefusedError, match="missing argument"):
        ask(leaf, "get-route-information", advertising_protocol_name="rip", neighbor="fe80::1")


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


def test_no_destination(leaf: Fake) -> None:
    with pytest.raises(RpcRefusedError, match=r"10\.0\.0\.x is not an IPv6 address") as caught:
        ask(leaf, "get-route-information", destination="10.0.0.x")
    assert caught.value.errors[0].element == "10.0.0.x"
    # There is an inet.0, with nothing in it.
    for question in ({"destination": "0.0.0.0/0"}, {"table": "inet.0"}):
        assert not len(ask(leaf, "get-route-information", **question))


def test_a_spine_in_graceful_shutdown_is_the_last_choice(leaf: Fake) -> None:
    """Its routes have local preference 0 and the community; the leaf shows which value it gives them."""
    leaf.fabric.commit(SPINE, tree_of(SPINE, "    bgp {\n", "    bgp {\ngraceful-shutdown { sender; }\n"))
    shown = "\n".join(say(leaf, "show route fc00:2:1:1::/64 exact detail"))
    active, *_, last = shown.split("Preference: 170")[1:]
    assert ("Localpref: 100" in active, "65535:0" in active) == (True, False)
    assert ("Localpref: 0" in last, "65535:0" in last) == (True, True)
    assert "Inactive reason: Local Preference" in last
    assert "  Graceful Shutdown Receiver local-preference: 0" in say(leaf, "show bgp neighbor")
    change = "    bgp {\ngraceful-shutdown { receiver { disable; } }\n"
    leaf.fabric.commit(LEAF, tree_of(LEAF, "    bgp {\n", change))
    assert not [line for line in say(leaf, "show bgp neighbor") if "Graceful" in line]
    assert "Localpref: 0" not in "\n".join(say(leaf, "show route fc00:2:1:1::/64 exact detail"))
