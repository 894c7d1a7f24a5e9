from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.sim.clos import clos
from ailb_gen.sim.fabric import HOST, LEAF, LOCAL, SPINE, FabricArrays
from ailb_gen.sim.failures import without_links
from tests.sim.walk import check_arrays, links_of, next_links, shares

SMALL = st.builds(
    clos,
    leaves=st.integers(1, 4),
    spines=st.integers(1, 4),
    hosts_per_leaf=st.integers(1, 3),
    host_links=st.integers(1, 3),
    leaf_spine_links=st.integers(1, 3),
    host_bps=st.just(10**9),
    uplink_bps=st.just(2 * 10**9),
    colors=st.integers(0, 5),
)


def names(fabric: FabricArrays, links: list[int]) -> list[str]:
    return [fabric.link_names[link] for link in links]


@given(SMALL)
def test_every_packet_arrives_whatever_way_it_takes(fabric: FabricArrays) -> None:
    check_arrays(fabric)
    ends = fabric.destination_hosts().tolist()
    for host, destination in product(range(fabric.host_count), range(len(ends))):
        if host != ends[destination]:
            load, arrived = shares(fabric, host, destination)
            assert arrived == 1
            # As many hops as there are tiers on the way, on every way.
            assert sum(load.values()) == (2 if leaf(fabric, host) == leaf(fabric, ends[destination]) else 4)


def leaf(fabric: FabricArrays, host: int) -> int:
    return int(fabric.link_target[links_of(fabric, int(fabric.host_set[host]))[0]])


def test_the_published_scale_unit_has_its_links_in_the_published_order() -> None:
    fabric = clos(8, 4, 4, host_links=8, leaf_spine_links=8, host_bps=4 * 10**9, uplink_bps=4 * 10**9)
    assert fabric.link_count == 2 * 512
    assert fabric.host_count == 32
    assert fabric.tier.tolist() == [HOST] * 32 + [LEAF] * 8 + [SPINE] * 4
    leaf, spine = 32, 40
    assert names(fabric, next_links(fabric, 0, 31)) == [f"host1:leaf1/{k}" for k in range(8)]
    assert names(fabric, next_links(fabric, leaf, 3)) == [f"leaf1:host4/{k}" for k in range(8)]
    expected = [f"leaf1:spine{s}/{k}" for s in range(1, 5) for k in range(8)]
    assert names(fabric, next_links(fabric, leaf, 31)) == expected
    assert names(fabric, next_links(fabric, spine + 2, 31)) == [f"spine3:leaf8/{k}" for k in range(8)]


def test_a_color_is_routed_over_its_spine_alone() -> None:
    fabric = clos(2, 3, 1, host_bps=10**9, uplink_bps=10**9, leaf_spine_links=2, colors=4)
    assert len(fabric.prefix_names) == 8
    assert fabric.first_destination.tolist() == [0, 4, 8]
    spines = [{fabric.names[fabric.link_target[link]] for link in next_links(fabric, 2, 4 + c)} for c in range(4)]
    assert spines == [{"spine1"}, {"spine2"}, {"spine3"}, {"spine1"}]
    # Spines know all prefixes of a leaf, and at its own leaf a prefix is local.
    assert (fabric.forwarding[0].next_hops[2:] >= 0).all()
    assert (fabric.forwarding[0].next_hops[1, 4:] == LOCAL).all()


def test_spines_have_rates_of_their_own() -> None:
    fabric = clos(3, 2, 1, host_bps=7, uplink_bps=(5, 9), leaf_spine_links=2)
    check_arrays(fabric)
    for link, name in enumerate(fabric.link_names):
        expected = 5 if "spine1" in name else 9 if "spine2" in name else 7
        assert fabric.rate_bps[link] == expected, name


@given(SMALL, st.data())
def test_links_that_are_down_carry_nothing_and_the_others_their_share(
    fabric: FabricArrays, data: st.DataObject
) -> None:
    down = data.draw(st.sets(st.integers(0, fabric.link_count - 1), max_size=fabric.link_count // 2))
    failed = without_links(fabric, down)
    check_arrays(failed)
    both = down | {int(fabric.link_reverse[link]) for link in down}
    for node, destination in product(range(len(fabric.names)), range(len(fabric.destination_prefix))):
        kept = [link for link in next_links(fabric, node, destination) if link not in both]
        assert next_links(failed, node, destination) == kept


def test_addresses_without_colors_are_reached_over_all_spines() -> None:
    fabric = clos(2, 3, 1, host_bps=1, uplink_bps=1, addresses=2)
    check_arrays(fabric)
    assert fabric.prefix_names == ("leaf1 address 1", "leaf1 address 2", "leaf2 address 1", "leaf2 address 2")
    for destination in (2, 3):
        load, arrived = shares(fabric, 0, destination)
        assert arrived == 1
        assert set(load.values()) == {Fraction(1), Fraction(1, 3)}


def test_delays_of_hosts_and_uplinks() -> None:
    fabric = clos(2, 2, 2, host_bps=10**9, uplink_bps=10**9, delay_ps=5, uplink_delay_ps=7)
    spine = fabric.host_count + 2
    uplink = np.maximum(fabric.link_source, fabric.link_target) >= spine
    assert fabric.delay_ps.tolist() == np.where(uplink, 7, 5).tolist()
