"""Following packets over a fabric's next-hop sets, plainly, packet by packet and set by set."""

from collections import defaultdict
from fractions import Fraction

from ailb_gen.sim.fabric import LOCAL, UNREACHABLE, FabricArrays


def links_of(fabric: FabricArrays, number: int) -> list[int]:
    """Return the links of a next-hop set, in order."""
    return list(fabric.set_links[fabric.set_first[number] : fabric.set_first[number + 1]].tolist())


def next_links(fabric: FabricArrays, node: int, destination: int, state: int = 0) -> list[int]:
    """Return the links over which a node sends packets to a destination; none where they are dropped."""
    if node < fabric.host_count:
        number = int(fabric.host_set[node])
    else:
        prefix = fabric.destination_prefix[destination]
        number = int(fabric.forwarding[state].next_hops[node - fabric.host_count, prefix])
        number = int(fabric.delivery_set[destination]) if number == LOCAL else number
    if number == UNREACHABLE:
        return []
    found = links_of(fabric, number)
    assert found
    assert {int(fabric.link_source[link]) for link in found} == {node}
    return found


def shares(fabric: FabricArrays, host: int, destination: int, state: int = 0) -> tuple[dict[int, Fraction], Fraction]:
    """Return what every link carries of packets that are spread evenly over all next hops, and what arrives."""
    end = int(fabric.destination_hosts()[destination])
    load: dict[int, Fraction] = defaultdict(Fraction)
    here, arrived = {host: Fraction(1)}, Fraction(0)
    for _ in range(8):
        following: dict[int, Fraction] = defaultdict(Fraction)
        for node, volume in here.items():
            ways = next_links(fabric, node, destination, state)
            for link in ways:
                load[link] += volume / len(ways)
                following[int(fabric.link_target[link])] += volume / len(ways)
        arrived += following.pop(end, Fraction(0))
        here = following
    assert not here, "packets go round"
    return load, arrived


def check_arrays(fabric: FabricArrays) -> None:
    """Assert that the arrays of a fabric have their shapes and fit each other."""
    nodes, links = len(fabric.names), fabric.link_count
    assert len(fabric.tier) == nodes
    assert len(set(fabric.names)) == nodes
    assert len(set(fabric.link_names)) == links
    for row in (fabric.link_target, fabric.link_reverse, fabric.rate_bps, fabric.delay_ps):
        assert len(row) == links
    reverse = fabric.link_reverse
    assert (reverse[reverse] == range(links)).all()
    assert (fabric.link_source[reverse] == fabric.link_target).all()
    assert (fabric.rate_bps[reverse] == fabric.rate_bps).all()
    assert (fabric.delay_ps[reverse] == fabric.delay_ps).all()
    assert fabric.first_destination[0] == 0
    assert fabric.first_destination[-1] == len(fabric.destination_prefix) == len(fabric.delivery_set)
    assert fabric.set_first[-1] == len(fabric.set_links)
    sets = len(fabric.set_first) - 1
    for state in fabric.forwarding:
        assert state.next_hops.shape == (fabric.switch_count, len(fabric.prefix_names))
        assert state.next_hops.min() >= LOCAL
        assert state.next_hops.max() < sets
    for row in (fabric.host_set, fabric.delivery_set):
        assert row.min() >= UNREACHABLE
        assert row.max() < sets
    for name in ("tier", "link_source", "link_target", "first_destination", "destination_prefix", "set_links"):
        assert getattr(fabric, name).dtype == "int32", name
    for name in ("rate_bps", "delay_ps"):
        assert getattr(fabric, name).dtype == "int64", name
