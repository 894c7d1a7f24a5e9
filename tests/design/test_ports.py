"""Ports: layouts, explicit ports, breakouts and order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.design.model import Breakout, HostPort
from ailb_gen.design.ports import Layout, sort_key
from ailb_gen.intent.platforms import shipped, shipped_names
from tests.conftest import SMALL, design_of, example


@given(
    st.integers(1, 8), st.integers(0, 32), st.sampled_from(["spread", "packed"]), st.integers(1, 9), st.integers(1, 20)
)
def test_no_two_links_share_a_port(sub_ports: int, first: int, packing: str, links: int, neighbours: int) -> None:
    layout = Layout(400, sub_ports, first, packing, links)
    places = [layout.position(n, j) for n in range(neighbours) for j in range(links)]
    assert len(set(places)) == len(places)
    ports = [port for port, _ in places]
    assert min(ports) == first
    assert max(ports) == first + layout.needed(neighbours) - 1
    assert all(0 <= channel < sub_ports for _, channel in places)
    if packing == "spread":
        owners: dict[int, int] = {}
        for n in range(neighbours):
            for j in range(links):
                assert owners.setdefault(layout.position(n, j)[0], n) == n, "a port has one neighbour"


def test_the_reference_fabric_takes_the_ports_of_the_guide() -> None:
    leaf = example("jvd").leaves[3]
    assert [p.interface for p in leaf.fabric_ports] == ["et-0/0/0:0", "et-0/0/1:0", "et-0/0/2:0", "et-0/0/3:0"]
    hosts = [(p.interface, p.server, p.nic) for p in leaf.interfaces if isinstance(p, HostPort)]
    assert hosts == [("et-0/0/16:0", "h100-01", "gpu3_eth"), ("et-0/0/16:1", "h100-02", "gpu3_eth")]


def test_a_third_server_takes_the_next_port() -> None:
    text = "name: f\nstripes: 1\nspines: 4\nrails: 1\nservers: 3\n"
    assert [server.ports[0] for server in design_of(text).servers] == ["et-0/0/16:0", "et-0/0/16:1", "et-0/0/17:0"]


@pytest.mark.long
def test_frontier_fills_its_switches_exactly() -> None:
    design = example("frontier")
    leaf, spine = design.leaves[-1], design.spines[-1]
    assert len([p for p in leaf.interfaces if p.kind != "breakout"]) == 128
    assert sum(isinstance(p, Breakout) for p in leaf.interfaces) == 64
    assert leaf.fabric_ports[-1].interface == "et-0/0/31:1"
    assert spine.fabric_ports[-1].interface == "et-15/0/31"
    assert len(design.servers) * 8 == 32768


def test_interfaces_are_in_the_order_of_show_configuration() -> None:
    names = ["et-0/0/10", "et-0/0/2:1", "et-1/0/0", "et-0/0/2", "et-0/0/2:0", "et-0/0/10:0"]
    assert sorted(names, key=sort_key) == [
        "et-0/0/2",
        "et-0/0/2:0",
        "et-0/0/2:1",
        "et-0/0/10",
        "et-0/0/10:0",
        "et-1/0/0",
    ]
    assert sort_key("lo0") == ("lo0", 0, 0, 0, 0)


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_profiles_are_sound(name: str) -> None:
    profile = shipped(name)
    assert profile.description
    for group in profile.port_groups:
        assert group.speeds[group.native] == (1,), "the native speed is the unsplit port"
        for speed, splits in group.speeds.items():
            assert all(count * speed <= group.native or name == "generic" for count in splits)


def test_explicit_ports_win_and_the_others_stay() -> None:
    text = SMALL + "overrides: {leaves: {stripe1-leaf1: {uplinks: {spine1: [et-0/0/40]}}}}\n"
    design = design_of(text)
    assert [p.interface for p in design.leaves[0].fabric_ports] == ["et-0/0/40", "et-0/0/1"]
    assert design.spines[0].fabric_ports[0].description == "facing_stripe1-leaf1:et-0/0/40"


def test_a_slower_unsplit_port_states_its_speed() -> None:
    text = "name: f\nstripes: 1\nspines: 1\nrails: 1\nuplinks: {speed: 400g, sub_ports: 1}\ndownlinks: {sub_ports: 1}\n"
    port = design_of(text).leaves[0].fabric_ports[0]
    assert (port.interface, port.speed) == ("et-0/0/0", "400g")


def test_a_profile_of_the_fabrics_own() -> None:
    text = """\
name: f
stripes: 1
spines: 1
rails: 1
platform: mine
platforms:
  mine:
    management_interface: em0
    port_groups:
      - {type: xe, fpcs: 1-2, pic: 3, ports: 4, native: 10g, speeds: {10g: [1]}}
uplinks: {speed: 10g}
management: {spines: 192.0.2.1/24}
"""
    design = design_of(text)
    assert design.leaves[0].fabric_ports[0].interface == "xe-1/3/4"
    assert design.spines[0].management is not None
    assert design.spines[0].management.interface == "em0"
