"""What configurations ask of the kernel, and that the kernel does it however it comes to be asked."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as drawn
from hypothesis import strategies as st

from ailb_gen.errors import LabError
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.reader import read
from ailb_gen.lab.kernel import KernelLink, addresses, links, routes
from ailb_gen.lab.links import ON_SWITCHES, Interface, LinkSettings, apply, create, powered_off, settings
from ailb_gen.lab.namespaces import add, batch, inside, write_sysctl
from ailb_gen.lab.plan import LabPlan, plan
from ailb_gen.network.fabric import Network
from ailb_gen.network.switch import switch
from tests.checks.trees import GOLDEN, network_of
from tests.conftest import examples
from tests.lab.isolated import isolated
from tests.lab.labs import carrier, until, wired_up, with_link_local

LEAF = "stripe1-leaf1"
OWN = (0xFD6C6162 << 96 | 5, 128)
GATEWAYS = frozenset((0xFC00_0001_0001_0000 << 64 | k << 64 | 1, 64) for k in range(1, 5))


def asked(lab: LabPlan, text: str) -> dict[str, Interface]:
    return dict(settings(lab, switch(LEAF, "", effective(read(text, "")))))


def test_a_generated_leaf(lab: LabPlan, network: Network) -> None:
    found = settings(lab, network.switches[LEAF])

    uplink, port = Interface(True, 9202, inet6=True), Interface(True, 9202, bridge="irb.2")
    assert found == {
        "lo": Interface(True, 65536, True, frozenset({OWN})),
        **{f"et-0-0-{number}": uplink for number in range(4)},
        **{f"et-0-0-{number}": port for number in (16, 17)},
        "irb.2": Interface(True, 9170, True, GATEWAYS, mac="02:01:00:05:00:02"),
    }


def test_without_a_configuration_ports_are_up_and_carry_nothing(lab: LabPlan) -> None:
    found = asked(lab, "")

    assert found.pop("lo").addresses == {OWN}
    assert set(found.values()) == {Interface(enabled=True)}
    assert len(found) == 6


def test_without_power_ports_are_down(lab: LabPlan) -> None:
    found = dict(powered_off(lab, LEAF))

    assert found.pop("lo").addresses == {OWN}
    assert set(found.values()) == {Interface(enabled=False)}


@pytest.mark.parametrize(
    ("text", "link", "expected"),
    [
        ("mtu 9216; unit 0 { family inet6; }", "et-0-0-0", Interface(True, 9202, True)),
        ("unit 0 { family inet6; }", "et-0-0-0", Interface(True, 1500, True)),
        ("mtu 9216; unit 0 { family inet6 { mtu 9000; } }", "et-0-0-0", Interface(True, 9000, True)),
        ("mtu 2000; unit 0 { family inet6 { mtu 9000; } }", "et-0-0-0", Interface(True, 1986, True)),
        ("mtu 256; unit 0 { family inet6; }", "et-0-0-0", Interface(True, 1280, True)),
        ("disable; unit 0 { family inet6; }", "et-0-0-0", Interface(False, 1500, True)),
        ("unit 0 { disable; family inet6 { address fc00::1/64; } }", "et-0-0-0", Interface(True, 1500)),
        ("unit 5 { family inet6; }", "et-0-0-0", Interface(True, 1500)),
        (
            "unit 0 { family inet6 { address fc00::1/64; address ff02::5/64; address ::1/128; } }",
            "et-0-0-0",
            Interface(True, 1500, True, frozenset({(0xFC00 << 112 | 1, 64)})),
        ),
    ],
)
def test_ports(lab: LabPlan, text: str, link: str, expected: Interface) -> None:
    assert asked(lab, f"interfaces {{ et-0/0/0 {{ {text} }} }}")[link] == expected


IRB = """
interfaces {{
    et-0/0/16 {{ {port} unit 0 {{ family ethernet-switching {{ {mode} }} }} }}
    irb {{ {irb} unit 2 {{ family inet6 {{ address fc00:1:1:1::1/64; }} }} }}
}}
vlans {{ {vlans} }}
"""
VLAN = "vn2 { vlan-id 2; l3-interface irb.2; }"
TRUNK = "interface-mode trunk; vlan { members vn2; }"


@pytest.mark.parametrize(
    ("port", "mode", "bridge"),
    [
        ("native-vlan-id 2;", TRUNK, "irb.2"),
        ("native-vlan-id 2;", "interface-mode trunk; vlan { members 1-10; }", "irb.2"),
        ("native-vlan-id 3;", TRUNK, ""),
        ("native-vlan-id 2;", "interface-mode trunk; vlan { members 3; }", ""),
        ("", TRUNK, ""),
        ("", "interface-mode access; vlan { members vn2; }", "irb.2"),
        ("", "vlan { members 2; }", "irb.2"),
        ("", "vlan { members 3; }", ""),
        ("native-vlan-id 2; disable;", TRUNK, "irb.2"),
    ],
)
def test_a_port_is_in_the_vlan_that_it_carries_untagged(lab: LabPlan, port: str, mode: str, bridge: str) -> None:
    found = asked(lab, IRB.format(port=port, mode=mode, irb="", vlans=VLAN))

    assert found["et-0-0-16"].bridge == bridge
    assert found["et-0-0-16"].enabled == ("disable" not in port)
    assert found["irb.2"].addresses == {(0xFC00_0001_0001_0001 << 64 | 1, 64)}


@pytest.mark.parametrize(
    ("irb", "vlans"),
    [("", ""), ("", "vn2 { l3-interface irb.2; }"), ("", "vn2 { vlan-id 2; }"), ("disable;", VLAN)],
)
def test_irbs_that_are_down(lab: LabPlan, irb: str, vlans: str) -> None:
    found = asked(lab, IRB.format(port="native-vlan-id 2;", mode=TRUNK, irb=irb, vlans=vlans))

    assert "irb.2" not in found
    assert found["et-0-0-16"].bridge == ""


def test_two_irbs_for_one_vlan(lab: LabPlan) -> None:
    text = IRB.format(
        port="native-vlan-id 2;",
        mode=TRUNK,
        irb="unit 3 { family inet6; }",
        vlans=f"{VLAN} vn3 {{ vlan-id 2; l3-interface irb.3; }}",
    )
    found = asked(lab, text)

    assert found["et-0-0-16"].bridge == "irb.2"
    assert "irb.3" in found


def of_an_example() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]], set[int], set[int]]:
    """Wire up the example; the leaf's IRB gets no port."""
    network, _, asked = wired_up()
    leaf = asked[LEAF]
    alone = {link: replace(one, bridge="") for link, one in leaf.items()}
    apply(LEAF, leaf, alone)
    names = network.switches
    until(lambda: "irb.2" in carrier(LEAF) & with_link_local(LEAF))
    apply(LEAF, alone, leaf)
    until(lambda: "irb.2" not in carrier(LEAF))
    batch(["link set gpu0_eth up"], "gpu-s1-1")
    until(lambda: "irb.2" in carrier(LEAF) and "gpu0_eth" in with_link_local("gpu-s1-1"))
    with inside(LEAF):
        assert Path("/proc/sys/net/ipv6/conf/et-0-0-16/disable_ipv6").read_text() == "1\n"
    with pytest.raises(LabError, match="no namespace of nobody"):
        apply("nobody", None, leaf)
    return (
        {name: carrier(name) for name in names},
        {name: with_link_local(name) for name in names},
        {link.mtu for name in names for link in links(name).values()},
        {found.length for name in names for found in addresses(name) if found.tentative or found.duplicate},
    )


def test_kernels_of_an_example() -> None:
    up, local, mtus, unsure = isolated(of_an_example)

    for name, found in local.items():
        uplinks = {f"et-0-0-{number}" for number in range(4)}
        assert uplinks <= up[name]
        assert found == uplinks | ({"irb.2"} if name == LEAF else set())
    assert mtus == {65536, 9202, 9170}
    assert unsure == set()


def with_a_spare_nic() -> set[KernelLink]:
    """A server of which one NIC has no cable."""
    network = network_of(GOLDEN / "lab")
    rest = {nic: leaf for nic, leaf in network.attachments.items() if nic != ("gpu-s1-1", "gpu1_eth")}
    made = plan(replace(network, attachments=rest))
    create(made)
    batch(["link set gpu0_eth up", "link set gpu1_eth up"], "gpu-s1-1")
    apply(LEAF, None, settings(made, network.switches[LEAF]))
    until(lambda: "gpu0_eth" in carrier("gpu-s1-1"))
    return set(links("gpu-s1-1").values())


def test_a_nic_without_a_cable_has_no_carrier() -> None:
    found = {link.name: link.carrier for link in isolated(with_a_spare_nic) if link.enabled}

    assert found == {"lo": True, "gpu0_eth": True, "gpu1_eth": False}


ADDRESSES = st.frozensets(
    st.sampled_from([(0xFC00 << 112 | k << 64 | 1, 64) for k in range(3)] + [(0xFC01 << 112, 128)])
)
MTUS = st.sampled_from([1280, 1500, 9202])
PORTS = ("et-0-0-0", "et-0-0-1", "et-0-0-2")


@st.composite
def devices(draw: st.DrawFn) -> LinkSettings:
    """What may be asked of a device with three ports."""
    bridges = draw(st.sets(st.sampled_from(["irb.2", "irb.3"])))
    found = {"lo": Interface(True, 65536, True, draw(ADDRESSES))}
    for link in PORTS:
        enabled, mtu, bridge = draw(st.booleans()), draw(MTUS), draw(st.sampled_from(["", *sorted(bridges)]))
        inet6 = not bridge and draw(st.booleans())
        own = draw(ADDRESSES) if inet6 else frozenset()
        found[link] = Interface(enabled, mtu, inet6, own, bridge)
    for link in sorted(bridges):
        found[link] = Interface(True, draw(MTUS), True, draw(ADDRESSES), mac=f"02:01:00:01:00:0{link[-1]}")
    return found


def device(name: str) -> str:
    """Make a device with three ports; nobody is at the other ends."""
    add([name])
    write_sysctl(name, ON_SWITCHES)
    batch([f"link add {link} type veth peer name far{number}" for number, link in enumerate(PORTS)], name)
    return name


def state(name: str) -> tuple[set[object], ...]:
    """What the kernel of a device says, but for what comes a little later, or differs with every link."""
    found = {
        (link.name, link.enabled, link.mtu, link.group, link.bridge, link.mac if link.name.startswith("irb") else "")
        for link in links(name).values()
    }
    own = {(one.link, one.value, one.length) for one in addresses(name) if one.value >> 118 != 0xFE80 >> 6}
    with inside(name):
        folders = list(Path("/proc/sys/net/ipv6/conf").iterdir())
        off = {(folder.name, (folder / "disable_ipv6").read_text()) for folder in folders}
    prefixes = {prefix for prefix in routes(name) if prefix.value >> 118 != 0xFE80 >> 6}
    return set(found), set(own), set(off), set(prefixes)


NUMBERS = count()


@drawn(max_examples=examples(8))
@given(st.lists(devices(), min_size=2, max_size=4))
def however_it_came(steps: list[LinkSettings]) -> None:
    """A device that was asked for one thing after the other is as one that is asked for the last only."""
    number = next(NUMBERS)
    changed, fresh = device(f"changed{number}"), device(f"fresh{number}")
    for before, after in zip([None, *steps], steps, strict=False):
        apply(changed, before, after)
    apply(fresh, None, steps[-1])

    different = [one ^ other for one, other in zip(state(changed), state(fresh), strict=True)]
    assert different == [set()] * 4, different
    batch([f"netns del {name}" for name in (changed, fresh)])


def drawn_examples() -> None:
    however_it_came()


def test_changes_lead_to_the_same_as_a_new_start() -> None:
    isolated(drawn_examples)
