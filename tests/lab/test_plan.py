"""What a lab consists of: numbers, names and addresses that follow from the cables."""

from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.addresses import address_text
from ailb_gen.errors import UsageError
from ailb_gen.lab.plan import LONGEST, RESERVED, LabPlan, link_local, link_names, mac_address, plan, unit_link
from ailb_gen.network.fabric import Cable, End, Network
from tests.checks.trees import GOLDEN, network_of
from tests.conftest import examples

PORTS = st.one_of(
    st.from_regex(r"et-[0-9]{1,2}/[0-9]{1,3}/[0-9]{1,3}(:[0-9]{1,2})?", fullmatch=True),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=24),
    st.sampled_from(["lo", "irb.2", "all", "et-0-0-0", "et-0/0/0", "et-0:0:0", "et-0-0-0_0", "et-0/0/0:0"]),
)


@given(st.lists(PORTS, max_size=40))
@settings(max_examples=examples(200))
def test_link_names_are_different_and_linux_takes_them(ports: list[str]) -> None:
    names = link_names(ports)

    assert names.keys() == set(ports)
    assert len(set(names.values())) == len(names)
    for name in names.values():
        assert 0 < len(name.encode()) <= LONGEST
        assert name.isascii()
        assert not set(name) & set("/:. \t\n%")
        assert name not in RESERVED


def test_usual_ports_keep_their_names() -> None:
    assert link_names(["et-0/0/0:0", "et-0/0/16", "xe-0/0/1"]) == {
        "et-0/0/0:0": "et-0-0-0_0",
        "et-0/0/16": "et-0-0-16",
        "xe-0/0/1": "xe-0-0-1",
    }


@given(*(st.integers(1, 0xFFFF) for _ in range(4)))
def test_link_locals_are_ordered_as_devices_then_cables(device: int, cable: int, other: int, another: int) -> None:
    first, second = (device, cable), (other, another)

    assert (link_local(mac_address(*first)) < link_local(mac_address(*second))) == (first < second)


def test_both_ends_of_a_cable(lab: LabPlan) -> None:
    leaf, spine = lab.switches["stripe1-leaf1"], lab.switches["spine2"]
    here, there = leaf.ports["et-0/0/1"], spine.ports["et-0/0/0"]

    assert (here.link, here.far) == ("et-0-0-1", End("spine2", "et-0/0/0"))
    assert (there.link, there.far) == ("et-0-0-0", End("stripe1-leaf1", "et-0/0/1"))
    assert here.cable == there.cable == 2
    assert lab.links[here.cable - 1].a == End("stripe1-leaf1", "et-0/0/1")
    assert here.mac == f"02:00:00:{leaf.number:02x}:00:02"
    assert there.mac == f"02:00:00:{spine.number:02x}:00:02"
    assert (leaf.role, spine.role) == ("leaf", "spine")


def test_switches_answer_from_addresses_of_their_own(lab: LabPlan) -> None:
    addresses = [address_text(switch.address) for switch in lab.switches.values()]

    assert addresses == [f"fd6c:6162::{number}" for number in range(1, 9)]
    assert all(IPv6Address(text).is_private for text in addresses)


def test_servers_have_the_nics_and_macs_of_their_files(lab: LabPlan, network: Network) -> None:
    server = lab.servers["gpu-s1-1"]

    assert server.number == len(lab.switches) + 1
    assert list(server.nics) == ["gpu0_eth", "gpu1_eth"]
    assert server.nics["gpu0_eth"].leaf == End("stripe1-leaf1", "et-0/0/16")
    written = plan(network_of(GOLDEN / "brownfield"))
    assert {nic.mac[:6] for host in written.servers.values() for nic in host.nics.values()} != {"02:00:"}
    assert lab.devices == (*network.switches, *network.hosts)


def test_a_nic_without_a_cable_is_there(network: Network) -> None:
    first = ("gpu-s1-1", "gpu0_eth")
    cut = replace(network, attachments={nic: leaf for nic, leaf in network.attachments.items() if nic != first})

    nic = plan(cut).servers["gpu-s1-1"].nics["gpu0_eth"]
    assert nic.leaf is None
    assert nic.mac not in {other.mac for server in plan(network).servers.values() for other in server.nics.values()}


def test_a_switch_without_a_file_is_there(network: Network) -> None:
    rest = {name: switch for name, switch in network.switches.items() if name != "spine1"}
    found = plan(replace(network, switches=rest)).switches

    assert list(found) == [*rest, "spine1"]
    assert len(found["spine1"].ports) == 4


@pytest.mark.parametrize(
    ("unit", "link"),
    [
        ("et-0/0/1.0", "et-0-0-1"),
        ("irb.2", "irb.2"),
        ("irb.1073741823", "irb.1073741823"),
        ("lo0.0", "lo"),
        ("lo0.1", None),
        ("et-0/0/1.5", None),
        ("et-0/0/9.0", None),
        ("irb", None),
        ("", None),
    ],
)
def test_links_of_logical_interfaces(lab: LabPlan, unit: str, link: str | None) -> None:
    assert unit_link(lab.switches["stripe1-leaf1"], unit) == link


def test_two_cables_in_one_port_cannot_be_laid(network: Network) -> None:
    twice = Cable(network.links[0].a, End("spine4", "et-0/0/40"))

    with pytest.raises(UsageError, match="stripe1-leaf1:et-0/0/0 has 2 cables"):
        plan(replace(network, links=(*network.links, twice)))


@pytest.mark.parametrize("nic", ["lo", "a/b", "sixteen-letters-", "", "a b"])
def test_names_that_linux_does_not_take(network: Network, nic: str) -> None:
    attachments = {**network.attachments, ("gpu-s1-1", nic): End("stripe1-leaf1", "et-0/0/40")}

    with pytest.raises(UsageError, match=r"gpu-s1-1: .* cannot be the name of a NIC"):
        plan(replace(network, attachments=attachments))


def test_a_name_for_a_switch_and_a_server(network: Network) -> None:
    attachments = {**network.attachments, ("spine1", "gpu0_eth"): End("stripe1-leaf1", "et-0/0/40")}

    with pytest.raises(UsageError, match="spine1 is a switch and a server"):
        plan(replace(network, attachments=attachments))


def test_neighbors_needed(lab: LabPlan) -> None:
    # 16 links; at each of 4 leaves 2 NICs with 4 prefixes and a link-local: the leaf knows 2 x 5, a NIC the leaf and
    # the other NIC.
    assert lab.neighbors_needed == 2 * 16 + 4 * (2 * 5 + 2 * (5 + 5))
