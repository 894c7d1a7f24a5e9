"""What is made of recorded answers about ports and VLANs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.batfish.ports import ExpectedPorts, check_ports, check_vlans, expected_ports
from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_cabling import expected_cabling
from ailb_gen.errors import BatfishError
from ailb_gen.network.fabric import End, Network
from tests.batfish.recorded import INTERFACES, changed, examined, judged, network, ports, rows
from tests.conftest import intent_of

# One rail of four ports: two to the spines, two to servers; one of each kind is disabled, one has another MTU.
RAIL = """\
name: rail
platform: generic
stripes: 1
rails: 1
spines: 2
servers: 2
overrides:
  leaves:
    stripe1-leaf1:
      vlan: 77
      ports:
        et-0/0/1: {disabled: true}
        et-0/0/16: {mtu: 9000}
        et-0/0/17: {disabled: true}
"""
CLEAN = "d_v6_clean"
# One leaf with channels and one VLAN, and a port in a VLAN that is not there.
LEAF = ExpectedPorts(
    {End("leaf1", "et-0/0/0:0"): 9216, End("leaf1", "et-0/0/0:1"): 9216, End("leaf1", "et-0/0/8"): 9216},
    {("leaf1", 2): frozenset({"et-0/0/8.0", "irb.2"})},
)


def intended(name: str) -> ExpectedPorts:
    return LEAF if name == "a_v6" else ports(name)


def of_ports(name: str, *edits: tuple[str, str, object], found: Network | None = None) -> list[str]:
    """Check the recorded ports; an edit is an interface, a column and its value, or the column Interface to omit it."""
    told = rows(name, INTERFACES)
    for interface, column, value in edits:
        (row,) = [row for row in told if row["Interface"] == interface]
        row[column] = value
    told = [row for row in told if row["Interface"] is not None]
    return judged(check_ports, found or network(name), intended(name), told)


def of_vlans(name: str, *edits: tuple[str, int, object], found: Network | None = None) -> list[str]:
    """Check the recorded VLANs; an edit is a switch, a VLAN and the interfaces in it, or None to omit it."""
    told = rows(name, "switchedVlanProperties")
    for switch, vlan, interfaces in edits:
        told = [row for row in told if (row["Node"], row["VLAN_ID"]) != (switch, vlan)]
        if interfaces is not None:
            told.append({"Node": switch, "VLAN_ID": vlan, "Interfaces": interfaces, "VXLAN_VNI": None})
    return judged(check_vlans, found or network(name), intended(name), told)


MISSING = "Batfish finds no such port in the file; a cable ends there"
SMALL_MTU = "AILB806 leaf1:{} et-0/0/1: Batfish finds an MTU of 1500, not 9216 [9216, 1500]"
NO_MEMBER = "AILB807 leaf1:{}: Batfish finds VLAN 101 without et-0/1/1.0"


@pytest.mark.parametrize(
    ("name", "mtu", "vlan"),
    [(CLEAN, 0, 0), ("d_v4_clean", 0, 0), ("a_v6", 0, 0), ("d_v6_bad", 33, 4), ("d_v4la_bad", 35, 5)],
)
def test_recorded_answers(name: str, mtu: int, vlan: int) -> None:
    assert of_ports(name) == ([SMALL_MTU.format(mtu)] if mtu else [])
    assert of_vlans(name) == ([NO_MEMBER.format(vlan)] if vlan else [])
    if name != "a_v6":
        # 4 cables with two ends and 4 ports of servers; the IPv4 ones have loopbacks; no IRB has a row of its own.
        counts = {"AILB806": 12, "AILB808": 12 if "v6" in name else 16}
        assert examined(check_ports, network(name), ports(name), rows(name, INTERFACES)) == counts
        answer = rows(name, "switchedVlanProperties")
        assert examined(check_vlans, network(name), ports(name), answer) == {"AILB807": 4, "AILB808": 4}


def test_readers_that_disagree_about_an_mtu() -> None:
    # Wrong for the intent as well; the second port has no cable, so that only the readers disagree.
    assert of_ports("a_v6", ("leaf1[et-0/0/0:1]", "MTU", 9192), ("leaf1[et-0/0/9]", "MTU", 9216)) == [
        "AILB806 leaf1:14 et-0/0/0:1: Batfish finds an MTU of 9192, not 9216 [9216, 9192]",
        "AILB808 leaf1:14 et-0/0/0:1: Batfish reads an MTU of 9192, this program 9216",
        "AILB808 leaf1:31 et-0/0/9: Batfish reads an MTU of 9216, this program 1500",
    ]


DOWN = (
    "AILB806 {0}: Batfish finds the port down",
    "AILB808 {0}: to Batfish the port is down, to this program up",
)


@pytest.mark.parametrize(
    ("port", "column", "values", "place", "messages"),
    [
        *(
            (
                "spine2[et-0/0/1]",
                "MTU",
                value,
                "spine2:10 et-0/0/1",
                (
                    f"AILB806 {{0}}: Batfish finds an MTU of {value}, not 9216 [9216, {value}]",
                    f"AILB808 {{0}}: Batfish reads an MTU of {value}, this program 9216",
                ),
            )
            for value in (None, "9216", 9216.5)
        ),
        ("leaf2[et-0/0/0]", "Active", False, "leaf2:16 et-0/0/0", DOWN),
        ("leaf2[et-0/0/0]", "Active", None, "leaf2:16 et-0/0/0", DOWN),
        # A port without MTU stands at its own line.
        ("leaf1[et-0/1/2]", "Active", False, "leaf1:13 et-0/1/2", DOWN),
        ("leaf1[et-0/0/0]", "Interface", None, "leaf1:16 et-0/0/0", (f"AILB806 {{0}}: {MISSING}",)),
    ],
)
def test_one_port_is_different(port: str, column: str, values: object, place: str, messages: tuple[str, ...]) -> None:
    assert of_ports(CLEAN, (port, column, values)) == [message.format(place) for message in messages]


def test_statements_whose_line_nobody_knows_stand_at_the_first() -> None:
    clean = network(CLEAN)
    leaf = clean.switches["leaf1"]
    ports_ = {**leaf.ports, "et-0/1/2": replace(leaf.ports["et-0/1/2"], line=0)}
    found = changed(clean, "leaf1", ports=ports_, vlans=(replace(leaf.vlans[0], line=0), *leaf.vlans[1:]))
    places = of_ports(CLEAN, ("leaf1[et-0/1/2]", "Active", False), found=found)
    assert places == [message.format("leaf1:1 et-0/1/2") for message in DOWN]
    assert {line.split()[1] for line in of_vlans(CLEAN, ("leaf1", 101, None), found=found)} == {"leaf1:1:"}


def disabled(found: Network, name: str, port: str) -> Network:
    switch = found.switches[name]
    return changed(found, name, ports={**switch.ports, port: replace(switch.ports[port], disabled=True)})


def test_a_port_that_is_disabled() -> None:
    found = disabled(network(CLEAN), "leaf2", "et-0/0/0")
    place = "leaf2:16 et-0/0/0"
    assert of_ports(CLEAN, ("leaf2[et-0/0/0]", "Active", False), found=found) == [DOWN[0].format(place)]
    assert of_ports(CLEAN, found=found) == [f"AILB808 {place}: to Batfish the port is up, to this program down"]


def test_a_port_that_the_intent_disables_may_be_down() -> None:
    found = disabled(network(CLEAN), "leaf2", "et-0/0/0")
    told = rows(CLEAN, INTERFACES)
    for row in told:
        row["Active"] = row["Interface"] != "leaf2[et-0/0/0]"
    rest = {end: mtu for end, mtu in ports(CLEAN).ports.items() if end != End("leaf2", "et-0/0/0")}
    assert judged(check_ports, found, ExpectedPorts(rest, {}), told) == []


def test_cabled_ports_that_batfish_does_not_mention() -> None:
    # A port that the file does not have either stands at its first line.
    far = ExpectedPorts({End("leaf1", "et-0/0/77"): 9216}, {})
    answer = rows(CLEAN, INTERFACES)
    assert judged(check_ports, network(CLEAN), far, answer) == [f"AILB806 leaf1:1 et-0/0/77: {MISSING}"]
    lines = {"et-0/0/0:0": 7, "et-0/0/0:1": 14, "et-0/0/8": 21}
    assert judged(check_ports, network("a_v6"), LEAF, []) == [
        f"AILB806 leaf1:{line} {port}: {MISSING}" for port, line in lines.items()
    ]


def test_ports_of_switches_that_are_not_there_are_not_asked_for() -> None:
    found = network(CLEAN)
    leaf = replace(found, switches={"leaf1": found.switches["leaf1"]})
    assert judged(check_ports, leaf, ports(CLEAN), rows(CLEAN, INTERFACES)) == []
    assert judged(check_vlans, leaf, ports(CLEAN), rows(CLEAN, "switchedVlanProperties")) == []
    assert examined(check_ports, leaf, ports(CLEAN), []) == {"AILB806": 4}
    assert examined(check_vlans, leaf, ports(CLEAN), []) == {"AILB807": 2, "AILB808": 2}


def test_ports_are_found_by_host_name() -> None:
    found = changed(network(CLEAN), "leaf1", host_name="Leaf-One")
    told = rows(CLEAN, INTERFACES)
    assert {line.partition(": ")[2] for line in judged(check_ports, found, ports(CLEAN), told)} == {MISSING}
    for row in told:
        row["Interface"] = str(row["Interface"]).replace("leaf1[", "leaf-one[")
    assert judged(check_ports, found, ports(CLEAN), told) == []


def test_something_that_is_no_interface() -> None:
    with pytest.raises(BatfishError, match=r"^Batfish answers 'leaf1' where an interface belongs; update both"):
        of_ports(CLEAN, ("leaf1[et-0/0/0]", "Interface", "leaf1"))


@pytest.mark.parametrize(
    ("interfaces", "difference"),
    [
        (["leaf2[et-0/1/1.0]"], "without irb.101"),
        (["leaf2[irb.101]"], "without et-0/1/1.0"),
        ([], "without et-0/1/1.0, irb.101"),
        ("leaf2[irb.101]", "without et-0/1/1.0, irb.101"),
        (None, "without et-0/1/1.0, irb.101"),
        (
            ["leaf2[et-0/1/1.0]", "leaf2[et-0/1/2.0]", "leaf2[irb.101]", "leaf2[et-0/1/0.0]"],
            "with et-0/1/0.0, et-0/1/2.0",
        ),
        (["leaf2[et-0/1/2.0]", "leaf2[irb.101]"], "without et-0/1/1.0 and with et-0/1/2.0"),
    ],
)
def test_members_that_are_missing_and_that_do_not_belong(interfaces: object, difference: str) -> None:
    assert of_vlans(CLEAN, ("leaf2", 101, interfaces)) == [
        f"AILB807 leaf2:4: Batfish finds VLAN 101 {difference}",
        f"AILB808 leaf2:4: unlike this program, Batfish reads VLAN 101 {difference}",
    ]


def test_vlans_that_only_batfish_or_nobody_else_knows() -> None:
    assert of_vlans(CLEAN, ("spine1", 7, ["spine1[et-0/0/0.0]"])) == [
        "AILB807 spine1:1: Batfish finds VLAN 7, which the intent does not have",
        "AILB808 spine1:1: unlike this program, Batfish reads VLAN 7 with et-0/0/0.0",
    ]
    fewer = {key: names for key, names in ports(CLEAN).vlans.items() if key != ("leaf1", 102)}
    answer = rows(CLEAN, "switchedVlanProperties")
    assert judged(check_vlans, network(CLEAN), ExpectedPorts({}, fewer), answer) == [
        "AILB807 leaf1:10: Batfish finds VLAN 102, which the intent does not have"
    ]
    assert of_vlans(CLEAN, found=changed(network(CLEAN), "leaf1", vlans=())) == [
        f"AILB808 leaf1:1: unlike this program, Batfish reads VLAN {vlan} with et-0/1/{vlan - 100}.0, irb.{vlan}"
        for vlan in (101, 102)
    ]


def test_vlans_of_devices_that_nobody_knows() -> None:
    assert of_vlans(CLEAN, ("leaf9", 101, ["leaf9[irb.101]"])) == []


def test_members_by_number_and_vlans_without_anything() -> None:
    # A VLAN may be named by its number; one without IRB or ports is in no answer.
    clean = network(CLEAN)
    leaf = clean.switches["leaf1"]
    port = leaf.ports["et-0/1/1"]
    unit = replace(port.units[0], vlans=(("101", 8), ("vn999", 8), ("²", 8)))
    bare = replace(leaf.vlans[0], name="vn103", vlan_id=103, irb=None)
    nameless = replace(leaf.vlans[0], name="vn104", vlan_id=None, irb="irb.101")
    found = changed(
        clean,
        "leaf1",
        ports={**leaf.ports, "et-0/1/1": replace(port, units=(unit,))},
        vlans=(*leaf.vlans, bare, nameless),
    )
    assert of_vlans(CLEAN, found=found) == []
    routed = replace(port, units=(replace(unit, switching=False),))
    found = changed(found, "leaf1", ports={**leaf.ports, "et-0/1/1": routed})
    message = "AILB808 leaf1:4: unlike this program, Batfish reads VLAN 101 with et-0/1/1.0"
    assert of_vlans(CLEAN, found=found) == [message]


@pytest.mark.parametrize("word", ["101", "vn101", "101-101", "100-101", "all"])
def test_members_by_name_number_range_or_all(word: str) -> None:
    """All of these put the port into VLAN 101; what else it is in, Batfish was not asked."""
    leaf = network(CLEAN).switches["leaf1"]
    port = leaf.ports["et-0/1/1"]
    ports = {**leaf.ports, port.name: replace(port, units=(replace(port.units[0], vlans=((word, 8),)),))}
    found = of_vlans(CLEAN, found=changed(network(CLEAN), "leaf1", ports=ports))
    assert not [finding for finding in found if "VLAN 101 " in finding]
    others = {"100-101": 1, "all": 4093}.get(word, 0)
    assert len(found) == others


def test_the_ports_of_an_intent() -> None:
    fabric = expected_fabric(intent_of(RAIL).fabric)
    assert expected_ports(fabric, expected_cabling(fabric)) == ExpectedPorts(
        {
            End("stripe1-leaf1", "et-0/0/0"): 9216,
            End("stripe1-leaf1", "et-0/0/16"): 9000,
            End("spine1", "et-0/0/0"): 9216,
            End("spine2", "et-0/0/0"): 9216,
        },
        {("stripe1-leaf1", 77): frozenset({"irb.77", "et-0/0/16.0", "et-0/0/17.0"})},
    )


@pytest.mark.parametrize("name", ["fxp0", "em0", "me0", "vme"])
def test_management_ports_are_down_in_batfish(name: str) -> None:
    """It takes them down whatever their files say: that is no difference between readers."""
    leaf = network(CLEAN).switches["leaf1"]
    port = replace(leaf.ports["et-0/0/0"], name=name, mtu=None)
    found = changed(network(CLEAN), "leaf1", ports={**leaf.ports, name: port})
    told = rows(CLEAN, INTERFACES)
    told.append({**told[0], "Interface": f"leaf1[{name}]", "Active": False, "MTU": 1500})
    assert judged(check_ports, found, ports(CLEAN), told) == []
