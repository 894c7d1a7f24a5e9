"""Flows of an acceptance: every NIC and color sends and receives, across leaves where there are others."""

from __future__ import annotations

from collections import Counter

import pytest

from ailb_gen.accept.flows import Addresses, FabricNic, fabric_nics, flows_of, missing, peers
from ailb_gen.accept.ping import targets_of
from ailb_gen.addresses import Prefix, address_text, prefix_value
from ailb_gen.network.fabric import End
from tests.checks.trees import GOLDEN, network_of


def nic(server: str, leaf: str, rail: int = 0) -> FabricNic:
    prefix = prefix_value("fc00:1:1:1::/64")
    assert prefix is not None
    return FabricNic(End(server, f"gpu{rail}"), rail, End(leaf, "et-0/0/0"), (("blue", prefix),), rail)


def all_addresses(nics: tuple[FabricNic, ...]) -> Addresses:
    rows = ((one, color, prefix) for one in nics for color, prefix in one.prefixes)
    return {(one.end.device, one.end.port, color): address_text(prefix.value | 9) for one, color, prefix in rows}


def test_a_fabric() -> None:
    network = network_of(GOLDEN / "lab")
    nics = fabric_nics(network, tuple(network.hosts))
    flows = flows_of(nics, all_addresses(nics))
    ends = Counter((flow.source.end, flow.color) for flow in flows)
    assert ends == Counter((flow.target.end, flow.color) for flow in flows)
    assert set(ends.values()) == {1}
    assert len(ends) == sum(len(one.prefixes) for one in nics)
    assert all(flow.source.rail == flow.target.rail for flow in flows)
    assert all(flow.source.leaf.device != flow.target.leaf.device for flow in flows)
    assert len({(flow.source.end.device, flow.port) for flow in flows}) == len(flows)
    assert flows == flows_of(nics, all_addresses(nics))


def test_an_address_that_is_missing() -> None:
    network = network_of(GOLDEN / "lab")
    nics = fabric_nics(network, tuple(network.hosts))
    addresses = dict(all_addresses(nics))
    (server, name, color), _ = addresses.popitem()
    assert [(one.end, lost) for one, lost, _ in missing(nics, addresses)] == [(End(server, name), color)]
    flows = flows_of(nics, addresses)
    # What it would have sent, and what it would have received.
    assert len(flows) == len(flows_of(nics, all_addresses(nics))) - 2


def test_a_server_without_addresses_leaves_no_other_without_a_peer() -> None:
    nics = (nic("a", "leaf1"), nic("b", "leaf1"), nic("c", "leaf2"), nic("d", "leaf2"))
    addresses = {key: value for key, value in all_addresses(nics).items() if key[0] != "c"}
    ends = [(flow.source.end.device, flow.target.end.device) for flow in flows_of(nics, addresses)]
    assert {one for one, _ in ends} == {other for _, other in ends} == {"a", "b", "d"}
    for everything in (False, True):
        targets = targets_of(nics, addresses, everything)
        assert targets.keys() == {"a", "b", "d"}
        assert all(row["addresses"] and row["server"] != "c" for rows in targets.values() for row in rows)


@pytest.mark.parametrize(
    ("nics", "pairs"),
    [
        ((), set()),
        ((nic("a", "leaf1"),), set()),
        ((nic("a", "leaf1"), nic("b", "leaf2")), {"a b", "b a"}),
        # Three leaves: nobody sends to its own.
        ((nic("a", "leaf1"), nic("b", "leaf1"), nic("c", "leaf2"), nic("d", "leaf3")), {"a c", "b d", "c a", "d b"}),
        # Rails of one leaf each: they send to each other.
        ((nic("a", "leaf1"), nic("b", "leaf1"), nic("a", "leaf2", 1), nic("b", "leaf2", 1)), {"a a", "b b"}),
    ],
)
def test_peers(nics: tuple[FabricNic, ...], pairs: set[str]) -> None:
    assert {f"{one.end.device} {other.end.device}" for one, other in peers(nics)} == pairs


def test_an_address_of_another_prefix() -> None:
    one = nic("a", "leaf1")
    assert isinstance(one.prefixes[0][1], Prefix)
    assert [color for _, color, _ in missing([one], {("a", "gpu0", "blue"): "fc00:2:1:1::9"})] == ["blue"]
    assert [color for _, color, _ in missing([one], {("a", "gpu0", "blue"): "x" * 99})] == ["blue"]
