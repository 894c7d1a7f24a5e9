"""What a switch forwards with: what is asked of it, and what differs from what its file says."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from lxml import etree

from ailb_gen.deploy import verification
from ailb_gen.deploy.resource_limits import ONE_AT_A_TIME
from ailb_gen.deploy.switch_state import switch_of
from ailb_gen.deploy.verification import ForwardingState, expected_forwarding, sampled, without
from ailb_gen.junos.tree import Node
from ailb_gen.network.model import Switch
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from tests.deploy import lab

LEAF, SPINE = "stripe1-leaf1", "spine1"
MODEL = lab.fabric_model()
GRAPH = Graph(MODEL.network)
ROUTING = Routing(MODEL.network, graph=GRAPH)


def of(name: str, routing: Routing = ROUTING) -> ForwardingState:
    return expected_forwarding(MODEL, routing, name, sampled(ROUTING, name))


def test_one_configuration_at_a_time_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switches are asked in parallel; the trees of all of them at once would fill the memory."""
    held: list[bool] = []

    def balancing_of(name: str, tree: Node) -> Switch:
        held.append(ONE_AT_A_TIME.locked())
        return switch_of(name, tree)

    def ask(rpc: str, **arguments: str | bool) -> etree._Element:
        held.append(ONE_AT_A_TIME.locked())
        return etree.Element("reply")

    monkeypatch.setattr(verification, "switch_of", balancing_of)
    switch: Any = SimpleNamespace(ask=ask, running=lambda: lab.text_of(LEAF))
    assert verification.read_forwarding(LEAF, switch, ()).balancing == of(LEAF).balancing
    assert held == [False, True]


def test_one_prefix_for_each_set_of_next_hops() -> None:
    found = of(LEAF)
    assert [sorted(hops) for hops in found.routes.values()] == [[f"et-0/0/{port}.0"] for port in range(4)]
    assert len(of(SPINE).routes) == 4


def test_of_many_sets_some_that_are_spread_over_all(monkeypatch: pytest.MonkeyPatch) -> None:
    every = sampled(ROUTING, LEAF)
    monkeypatch.setattr(verification, "ROUTES", 2)
    assert sampled(ROUTING, LEAF) == (every[0], every[2])


def test_cabled_ports_and_the_irb_have_an_mtu() -> None:
    found = of(LEAF)
    assert found.mtus["et-0/0/0"] == "9216"
    assert (found.inet6_mtus["et-0/0/0.0"], found.inet6_mtus["irb.2"]) == ("9202", "9170")
    assert "lo0" not in found.mtus
    assert set(found.mtus) == {port for port in MODEL.switches[LEAF].ports if port.startswith("et-")}


def test_as_expected() -> None:
    assert list(of(LEAF).deviations(LEAF, of(LEAF))) == []


def test_what_differs_is_told_with_both_values() -> None:
    expected = of(LEAF)
    prefix = next(iter(expected.routes))
    seen = replace(
        expected,
        mtus={name: "1514" for name in expected.mtus if name != "et-0/0/1"},
        inet6_mtus={**expected.inet6_mtus, "irb.2": ""},
        routes={**expected.routes, prefix: frozenset[str]()},
        balancing=replace(expected.balancing, dlb=(), maximum_ecmp=2),
    )
    told = [finding.message for finding in expected.deviations(LEAF, seen)]
    assert told[:3] == [
        "the MTU of et-0/0/0 is 1514, expected 9216",
        "there is no interface et-0/0/1",
        "the MTU of et-0/0/16 is 1514, expected 9216",
    ]
    assert "the IPv6 MTU of irb.2 is not shown, expected 9170" in told
    assert f"{prefix} is forwarded to 0 next hops, expected 1 next hop (et-0/0/0.0)" in told
    assert "maximum-ecmp: 2, expected 16" in told
    assert told[-1].startswith("DLB (ecmp-dlb): none, expected ether-type ipv6, flowlet flowset-table-size 2048, ")


def test_without_a_session_the_next_hops_are_those_of_the_backup() -> None:
    left = of(LEAF, without(GRAPH, [(LEAF, "et-0/0/0.0")]))
    assert "et-0/0/0.0" not in {name for hops in left.routes.values() for name in hops}
    assert all(left.routes.values())
    assert without(GRAPH, []).graph is GRAPH
