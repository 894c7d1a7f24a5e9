"""Router advertisements and LLDP."""

from __future__ import annotations

from tests.emulator.operations.lab import (
    SPINE,
    Fake,
    ask,
    say,
    tree_of,
)


def test_router_advertisements(leaf: Fake) -> None:
    leaf.fabric.power_off("spine2")
    [row] = ask(leaf, "get-ipv6-ra-information", interface="et-0/0/1.0").findall("ipv6-ra-interface")
    assert row.find("ipv6-ra-advertisement") is None
    assert row.findtext("ipv6-ra-advertisements-received") == "0"
    assert say(leaf, "show ipv6 router-advertisement interface irb.2")[0] == "Interface: irb.2"


def test_lldp_needs_both_ends(leaf: Fake) -> None:
    assert len(ask(leaf, "get-lldp-neighbors-information")) == 4
    leaf.fabric.commit(SPINE, tree_of(SPINE, "interface all;", "interface et-0/0/1;"))
    found = ask(leaf, "get-lldp-neighbors-information")
    assert [row.findtext("lldp-local-port-id") for row in found] == [f"et-0/0/{number}" for number in (1, 2, 3)]
    leaf.fabric.commit("spine2", tree_of("spine2", "        port-id-subtype interface-name;\n", ""))
    row = ask(leaf, "get-lldp-interface-neighbors", interface_device="et-0/0/1").find("lldp-neighbor-information")
    assert row is not None
    assert row.findtext("lldp-remote-port-id-subtype") == "Locally assigned"
    assert row.findtext("lldp-remote-port-id") == "501"
