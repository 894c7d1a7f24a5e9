"""What is made of recorded answers about ports and VLANs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.batfish.ports import ExpectedPorts, expected_ports, judge_ports, judge_vlans
from ailb_gen.checks import subjects as about
from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_cabling import expected_cabling
from ailb_gen.checks.model import Finding
from ailb_gen.errors import BatfishError, Place
from ailb_gen.network.fabric import End, Network
from tests.batfish.recorded import INTERFACES, at, changed, examined, judged, network, ports, rows
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
# The recorded fabrics of which all interfaces are recorded.
WHOLE = ("d_v6_clean", "d_v4_clean", "d_v6_bad", "d_v4la_bad")
# One leaf with channels and one VLAN, and a port in a VLAN that is not there.
LEAF = ExpectedPorts(
    {End("leaf1", "et-0/0/0:0"): 9216, End("leaf1", "et-0/0/0:1"): 9216, End("leaf1", "et-0/0/8"): 9216},
    {("leaf1", 2): frozenset({"et-0/0/8.0", "irb.2"})},
)


def intended(name: str) -> ExpectedPorts:
    return LEAF if name == "a_v6" else ports(name)


def of_ports(name: str, *edits: tuple[str, str, object], found: Network | None = None) -> list[Finding]:
    """Judge the recorded ports; an edit is an interface, a column and its value, or the column Interface to omit it."""
    told = rows(name, INTERFACES)
    for interface, column, value in edits:
        (row,) = [row for row in told if row["Interface"] == interface]
        row[column] = value
    told = [row for row in told if row["Interface"] is not None]
    return judged(judge_ports, found or network(name), intended(name), told)


def of_vlan(check: str, device: str, vlan: int, message: str, place: Place) -> Finding:
    return Finding(check, device, message, place, subjects=(about.vlan(device, vlan),))


def of_vlans(name: str, *edits: tuple[str, int, object], found: Network | None = None) -> list[Finding]:
    """Judge the recorded VLANs; an edit is a switch, a VLAN and the interfaces in it, or None to omit it."""
    told = rows(name, "switchedVlanProperties")
    for switch, vlan, interfaces in edits:
        told = [row for row in told if (row["Node"], row["VLAN_ID"]) != (switch, vlan)]
        if interfaces is not None:
            told.append({"Node": switch, "VLAN_ID": vlan, "Interfaces": interfaces, "VXLAN_VNI": None})
    return judged(judge_vlans, found or network(name), intended(name), told)


@pytest.mark.parametrize("name", ["d_v6_clean", "d_v4_clean", "a_v6"])
def test_nothing_is_wrong_with_ports_that_are_as_asked(name: str) -> None:
    assert of_ports(name) == []
    assert of_vlans(name) == []


def test_how_much_is_looked_at() -> None:
    for name in WHOLE:
        # 4 cables with two ends and 4 ports of servers; the IPv4 ones have loopbacks; no IRB has a row of its own.
        readers = 12 if "v6" in name else 16
        assert examined(judge_ports, network(name), ports(name), rows(name, INTERFACES)) == {
            "AILB806": 12,
            "AILB808": readers,
        }
        assert examined(judge_vlans, network(name), ports(name), rows(name, "switchedVlanProperties")) == {
            "AILB807": 4,
            "AILB808": 4,
        }


def small(line: int) -> list[Finding]:
    message = "Batfish finds an MTU of 1500, not 9216"
    return [Finding("AILB806", "leaf1", message, at(line), "9216", "1500", part="et-0/0/1")]


def test_a_port_with_a_small_mtu() -> None:
    assert of_ports("d_v6_bad") == small(33)
    assert of_ports("d_v4la_bad") == small(35)


def test_a_port_in_a_vlan_that_is_not_there() -> None:
    message = "Batfish finds VLAN 101 without et-0/1/1.0"
    assert of_vlans("d_v6_bad") == [of_vlan("AILB807", "leaf1", 101, message, at(4))]
    assert of_vlans("d_v4la_bad") == [of_vlan("AILB807", "leaf1", 101, message, at(5))]


def test_readers_that_disagree_about_an_mtu() -> None:
    # Wrong for the intent as well; the second port has no cable, so that only the readers disagree.
    assert of_ports("a_v6", ("leaf1[et-0/0/0:1]", "MTU", 9192), ("leaf1[et-0/0/9]", "MTU", 9216)) == [
        Finding(
            "AILB806", "leaf1", "Batfish finds an MTU of 9192, not 9216", at(14), "9216", "9192", part="et-0/0/0:1"
        ),
        Finding("AILB808", "leaf1", "Batfish reads an MTU of 9192, this program 9216", at(14), part="et-0/0/0:1"),
        Finding("AILB808", "leaf1", "Batfish reads an MTU of 9216, this program 1500", at(31), part="et-0/0/9"),
    ]


@pytest.mark.parametrize("value", [None, "9216", 9216.5])
def test_an_mtu_that_is_no_number(value: object) -> None:
    assert of_ports("d_v6_clean", ("spine2[et-0/0/1]", "MTU", value)) == [
        Finding(
            "AILB806",
            "spine2",
            f"Batfish finds an MTU of {value}, not 9216",
            at(10, "spine2"),
            "9216",
            str(value),
            part="et-0/0/1",
        ),
        Finding(
            "AILB808",
            "spine2",
            f"Batfish reads an MTU of {value}, this program 9216",
            at(10, "spine2"),
            part="et-0/0/1",
        ),
    ]


@pytest.mark.parametrize("value", [False, None])
def test_a_port_that_is_down_in_batfish_alone(value: object) -> None:
    assert of_ports("d_v6_clean", ("leaf2[et-0/0/0]", "Active", value)) == [
        Finding("AILB806", "leaf2", "Batfish finds the port down", at(16, "leaf2"), part="et-0/0/0"),
        Finding(
            "AILB808", "leaf2", "to Batfish the port is down, to this program up", at(16, "leaf2"), part="et-0/0/0"
        ),
    ]


def test_a_port_without_mtu_stands_at_its_own_line() -> None:
    assert of_ports("d_v6_clean", ("leaf1[et-0/1/2]", "Active", False)) == [
        Finding("AILB806", "leaf1", "Batfish finds the port down", at(13), part="et-0/1/2"),
        Finding("AILB808", "leaf1", "to Batfish the port is down, to this program up", at(13), part="et-0/1/2"),
    ]


def test_statements_whose_line_nobody_knows_stand_at_the_first() -> None:
    clean = network("d_v6_clean")
    leaf = clean.switches["leaf1"]
    port, vlan = leaf.ports["et-0/1/2"], leaf.vlans[0]
    found = changed(
        clean,
        "leaf1",
        ports={**leaf.ports, "et-0/1/2": replace(port, line=0)},
        vlans=(replace(vlan, line=0), *leaf.vlans[1:]),
    )
    assert of_ports("d_v6_clean", ("leaf1[et-0/1/2]", "Active", False), found=found) == [
        Finding("AILB806", "leaf1", "Batfish finds the port down", at(1), part="et-0/1/2"),
        Finding("AILB808", "leaf1", "to Batfish the port is down, to this program up", at(1), part="et-0/1/2"),
    ]
    assert {finding.place for finding in of_vlans("d_v6_clean", ("leaf1", 101, None), found=found)} == {at(1)}


def disabled(found: Network, name: str, port: str) -> Network:
    switch = found.switches[name]
    return changed(found, name, ports={**switch.ports, port: replace(switch.ports[port], disabled=True)})


def test_a_port_that_is_disabled() -> None:
    found = disabled(network("d_v6_clean"), "leaf2", "et-0/0/0")
    assert of_ports("d_v6_clean", ("leaf2[et-0/0/0]", "Active", False), found=found) == [
        Finding("AILB806", "leaf2", "Batfish finds the port down", at(16, "leaf2"), part="et-0/0/0")
    ]
    assert of_ports("d_v6_clean", found=found) == [
        Finding("AILB808", "leaf2", "to Batfish the port is up, to this program down", at(16, "leaf2"), part="et-0/0/0")
    ]


def test_a_port_that_the_intent_disables_may_be_down() -> None:
    found = disabled(network("d_v6_clean"), "leaf2", "et-0/0/0")
    told = rows("d_v6_clean", INTERFACES)
    for row in told:
        row["Active"] = row["Interface"] != "leaf2[et-0/0/0]"
    rest = {end: mtu for end, mtu in ports("d_v6_clean").ports.items() if end != End("leaf2", "et-0/0/0")}
    assert judged(judge_ports, found, ExpectedPorts(rest, {}), told) == []


def test_cabled_ports_that_batfish_does_not_mention() -> None:
    message = "Batfish finds no such port in the file; a cable ends there"
    assert of_ports("d_v6_clean", ("leaf1[et-0/0/0]", "Interface", None)) == [
        Finding("AILB806", "leaf1", message, at(16), part="et-0/0/0")
    ]
    # A port that the file does not have either stands at its first line.
    far = ExpectedPorts({End("leaf1", "et-0/0/77"): 9216}, {})
    assert judged(judge_ports, network("d_v6_clean"), far, rows("d_v6_clean", INTERFACES)) == [
        Finding("AILB806", "leaf1", message, at(1), part="et-0/0/77")
    ]
    assert judged(judge_ports, network("a_v6"), LEAF, []) == [
        Finding("AILB806", "leaf1", message, at(line), part=port)
        for port, line in (("et-0/0/0:0", 7), ("et-0/0/0:1", 14), ("et-0/0/8", 21))
    ]


def test_ports_of_switches_that_are_not_there_are_not_asked_for() -> None:
    found = network("d_v6_clean")
    leaf = replace(found, switches={"leaf1": found.switches["leaf1"]})
    assert judged(judge_ports, leaf, ports("d_v6_clean"), rows("d_v6_clean", INTERFACES)) == []
    assert judged(judge_vlans, leaf, ports("d_v6_clean"), rows("d_v6_clean", "switchedVlanProperties")) == []
    assert examined(judge_ports, leaf, ports("d_v6_clean"), []) == {"AILB806": 4}
    assert examined(judge_vlans, leaf, ports("d_v6_clean"), []) == {"AILB807": 2, "AILB808": 2}


def test_ports_are_found_by_host_name() -> None:
    found = changed(network("d_v6_clean"), "leaf1", host_name="Leaf-One")
    message = "Batfish finds no such port in the file; a cable ends there"
    told = rows("d_v6_clean", INTERFACES)
    assert {finding.message for finding in judged(judge_ports, found, ports("d_v6_clean"), told)} == {message}
    for row in told:
        row["Interface"] = str(row["Interface"]).replace("leaf1[", "leaf-one[")
    assert judged(judge_ports, found, ports("d_v6_clean"), told) == []


def test_something_that_is_no_interface() -> None:
    with pytest.raises(BatfishError, match=r"^Batfish answers 'leaf1' where an interface belongs; update both"):
        of_ports("d_v6_clean", ("leaf1[et-0/0/0]", "Interface", "leaf1"))


def test_vlans_without_what_belongs_in_them_and_with_what_does_not() -> None:
    readers = "against this program Batfish reads VLAN 101"
    for interfaces, what in (
        (["leaf2[et-0/1/1.0]"], "without irb.101"),
        (["leaf2[irb.101]"], "without et-0/1/1.0"),
        ([], "without et-0/1/1.0, irb.101"),
        ("leaf2[irb.101]", "without et-0/1/1.0, irb.101"),
        (None, "without et-0/1/1.0, irb.101"),
        (
            ["leaf2[et-0/1/1.0]", "leaf2[et-0/1/2.0]", "leaf2[irb.101]", "leaf2[et-0/1/0.0]"],
            "with et-0/1/0.0, et-0/1/2.0 besides",
        ),
        (["leaf2[et-0/1/2.0]", "leaf2[irb.101]"], "without et-0/1/1.0 and with et-0/1/2.0 besides"),
    ):
        assert of_vlans("d_v6_clean", ("leaf2", 101, interfaces)) == [
            of_vlan("AILB807", "leaf2", 101, f"Batfish finds VLAN 101 {what}", at(4, "leaf2")),
            of_vlan("AILB808", "leaf2", 101, f"{readers} {what}", at(4, "leaf2")),
        ]


def test_a_vlan_that_only_batfish_knows() -> None:
    assert of_vlans("d_v6_clean", ("spine1", 7, ["spine1[et-0/0/0.0]"])) == [
        of_vlan("AILB807", "spine1", 7, "Batfish finds VLAN 7, which the intent does not know", at(1, "spine1")),
        of_vlan(
            "AILB808",
            "spine1",
            7,
            "against this program Batfish reads VLAN 7 with et-0/0/0.0 besides",
            at(1, "spine1"),
        ),
    ]


def test_a_vlan_that_the_intent_does_not_know() -> None:
    known = ports("d_v6_clean").vlans
    fewer = ExpectedPorts({}, {key: names for key, names in known.items() if key != ("leaf1", 102)})
    assert judged(judge_vlans, network("d_v6_clean"), fewer, rows("d_v6_clean", "switchedVlanProperties")) == [
        of_vlan("AILB807", "leaf1", 102, "Batfish finds VLAN 102, which the intent does not know", at(10))
    ]


def test_a_vlan_that_this_program_does_not_read() -> None:
    found = changed(network("d_v6_clean"), "leaf1", vlans=())
    assert of_vlans("d_v6_clean", found=found) == [
        of_vlan(
            "AILB808",
            "leaf1",
            vlan,
            f"against this program Batfish reads VLAN {vlan} with et-0/1/{vlan - 100}.0, irb.{vlan} besides",
            at(1),
        )
        for vlan in (101, 102)
    ]


def test_vlans_of_devices_that_nobody_knows() -> None:
    assert of_vlans("d_v6_clean", ("leaf9", 101, ["leaf9[irb.101]"])) == []


def test_members_by_number_and_vlans_without_anything() -> None:
    # A VLAN may be named by its number; one without IRB or ports is in no answer.
    clean = network("d_v6_clean")
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
    assert of_vlans("d_v6_clean", found=found) == []
    routed = replace(port, units=(replace(unit, switching=False),))
    found = changed(found, "leaf1", ports={**leaf.ports, "et-0/1/1": routed})
    message = "against this program Batfish reads VLAN 101 with et-0/1/1.0 besides"
    assert of_vlans("d_v6_clean", found=found) == [of_vlan("AILB808", "leaf1", 101, message, at(4))]


@pytest.mark.parametrize("word", ["101", "vn101", "101-101", "100-101", "all"])
def test_members_by_name_number_range_or_all(word: str) -> None:
    """All of these put the port into VLAN 101; what else it is in, Batfish was not asked."""
    leaf = network("d_v6_clean").switches["leaf1"]
    port = leaf.ports["et-0/1/1"]
    ports = {**leaf.ports, port.name: replace(port, units=(replace(port.units[0], vlans=((word, 8),)),))}
    found = of_vlans("d_v6_clean", found=changed(network("d_v6_clean"), "leaf1", ports=ports))
    assert not [finding for finding in found if "VLAN 101 " in finding.message]
    others = {"100-101": 1, "all": 4093}.get(word, 0)
    assert len(found) == others


def test_what_the_intent_asks() -> None:
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
    leaf = network("d_v6_clean").switches["leaf1"]
    port = replace(leaf.ports["et-0/0/0"], name=name, mtu=None)
    found = changed(network("d_v6_clean"), "leaf1", ports={**leaf.ports, name: port})
    told = rows("d_v6_clean", INTERFACES)
    told.append({**told[0], "Interface": f"leaf1[{name}]", "Active": False, "MTU": 1500})
    assert judged(judge_ports, found, ports("d_v6_clean"), told) == []
