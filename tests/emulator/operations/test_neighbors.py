"""Router advertisements and LLDP."""

from __future__ import annotations

from ailb_gen.emulator.operations.build import JUNOS
from tests.emulator.operations.lab import (
    LEAF,
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


def test_a_vlan_at_length_names_its_irb_and_how_its_members_tag(leaf: Fake) -> None:
    """Members of a trunk are untagged in its native VLAN, tagged in another; short forms say neither."""
    native = "description to.gpu-s1-1:gpu0_eth;\n        native-vlan-id 2;"
    leaf.fabric.commit(LEAF, tree_of(LEAF, native, native.replace("id 2", "id 9")))
    reply = ask(leaf, "get-vlan-information", "extensive", vlan_name="vn2")
    [vlan] = reply
    assert {node.get(f"{{{JUNOS}}}style") for node in (reply, vlan)} == {"extensive"}
    assert vlan.findtext("l2ng-l2rtb-vlan-l3-interface") == "irb.2"
    rows = [[cell.text for cell in row] for row in vlan.findall("l2ng-l2rtb-vlan-member")]
    assert rows == [["et-0/0/16.0*", "tagged", "trunk"], ["et-0/0/17.0*", "untagged", "trunk"]]
    counts = [vlan.findtext(f"l2ng-l2rtb-vlan-member-{kind}-count") for kind in ("tagged", "untagged")]
    assert counts == ["1", "1"]
    [short] = ask(leaf, "get-vlan-information", vlan_name="vn2")
    assert {len(row) for row in short.findall("l2ng-l2rtb-vlan-member")} == {1}
