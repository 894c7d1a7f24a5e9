"""Where packets must be counted, by the routes of the files, and which place a deviation is reported at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from ailb_gen.accept.counters import PortCounters, Readings
from ailb_gen.accept.expected import Crossing, compare_ports, crossings
from ailb_gen.accept.flows import AcceptFlow, fabric_nics, flows_of
from ailb_gen.accept.results import port_message, port_results
from ailb_gen.accept.traffic import TrafficCounts
from ailb_gen.checks.families.acceptance import PORTS
from ailb_gen.checks.model import Findings
from ailb_gen.network.fabric import End
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import some
from tests.accept.test_flows import all_addresses
from tests.checks.trees import GOLDEN, network_of

COUNT, PAYLOAD = 10, 1000
SIZE = PAYLOAD + 48 + 14


@pytest.fixture(scope="module")
def routing() -> Routing:
    return Routing(network_of(GOLDEN / "lab"))


@pytest.fixture(scope="module")
def flows(routing: Routing) -> tuple[AcceptFlow, ...]:
    nics = fabric_nics(routing.graph.network, tuple(routing.graph.network.hosts))
    return flows_of(nics, all_addresses(nics))


def counted(routing: Routing, flows: tuple[AcceptFlow, ...], lost: Mapping[int, int] = {}) -> Readings:
    """Counters after all flows; `lost` says by flow from which place on nothing is counted."""
    ports: dict[End, PortCounters] = {}
    for flow in flows:
        path = tuple(crossings(routing, flow))
        for one in path:
            ports.setdefault(one.ports[0], PortCounters())
        for one in path[: lost.get(flow.number)]:
            (port,) = one.ports
            had = ports[port]
            ports[port] = (
                replace(had, output_packets=had.output_packets + COUNT, output_bytes=had.output_bytes + COUNT * SIZE)
                if one.output
                else replace(had, input_packets=had.input_packets + COUNT, input_bytes=had.input_bytes + COUNT * SIZE)
            )
    return Readings(ports)


def arrived(flows: tuple[AcceptFlow, ...], *lost: AcceptFlow) -> TrafficCounts:
    """What servers have sent, all of it received but for some flows."""
    received = {flow.number: COUNT for flow in flows}
    return TrafficCounts({**received, **{flow.number: COUNT for flow in lost}}, received, {}, {})


def test_the_path_of_a_color(routing: Routing, flows: tuple[AcceptFlow, ...]) -> None:
    flow = next(one for one in flows if one.source.end.device == "gpu-s1-1")
    path = tuple(crossings(routing, flow))
    assert [one.output for one in path] == [True, False, True, False, True, False, True, False]
    devices = [one.ports[0].device for one in path]
    spine = devices[3]
    leaves = [flow.source.leaf.device, flow.target.leaf.device]
    assert devices == ["gpu-s1-1", *[leaves[0]] * 2, spine, spine, *[leaves[1]] * 2, flow.target.end.device]
    assert str(Crossing((End("leaf1", "et-0/0/0"),), output=True)) == "leaf1:et-0/0/0 out"


def test_all_agree(routing: Routing, flows: tuple[AcceptFlow, ...]) -> None:
    found = compare_ports(routing, flows, arrived(flows), counted(routing, flows), PAYLOAD)
    assert (found.deviations, found.uncounted) == ((), ())
    assert found.agreeing == found.compared == len({one for flow in flows for one in crossings(routing, flow)})


@pytest.mark.parametrize("place", range(1, 8))
def test_the_first_place_is_reported(routing: Routing, flows: tuple[AcceptFlow, ...], place: int) -> None:
    flow = flows[0]
    readings = counted(routing, flows, {flow.number: place})
    compared = compare_ports(routing, flows, arrived(flows[1:], flow), readings, PAYLOAD)
    (found,) = compared.deviations
    # All places behind the first lack the packets, too.
    assert compared.compared - compared.agreeing == 8 - place
    path = tuple(crossings(routing, flow))
    assert found.crossing == path[place]
    assert found.expected - found.counted == COUNT
    assert found.senders == path[place - 1 if path[place - 1].output else place - 2].ports
    text = port_message(found, {flow.color})
    assert (
        f"{found.counted} of {found.expected} packets of color {some(list(found.colors))} that {found.senders[0]} sent"
        in text
    )
    assert f"sent: lost on a cable there or in {path[place].ports[0].device}" in text
    assert "all arrive: they take another way" in port_message(found, set())
    if path[place].output:
        assert f" (to {path[place + 1].ports[0].device}) has sent" in text


@pytest.mark.parametrize("received", [0, COUNT])
def test_a_server_that_sends_nothing(routing: Routing, flows: tuple[AcceptFlow, ...], received: int) -> None:
    flow = flows[0]
    counts = replace(arrived(flows), received={flow.number: received})
    (found,) = compare_ports(routing, flows, counts, counted(routing, flows, {flow.number: 0}), PAYLOAD).deviations
    assert (found.crossing.ports, found.senders) == ((flow.source.end,), ())
    assert port_message(found, {flow.color}).endswith(
        f"lost in {flow.source.end.device} itself, as without carrier or route"
    )


def test_a_port_without_counters(routing: Routing, flows: tuple[AcceptFlow, ...]) -> None:
    readings = counted(routing, flows)
    leaf, other = flows[0].source.leaf, flows[0].target.leaf
    known = {end: row for end, row in readings.ports.items() if end not in (leaf, other)}
    readings = Readings(known, devices=frozenset({leaf.device}))
    findings = Findings()
    port_results(findings, routing, flows, arrived(flows), readings, PAYLOAD)
    # The other device could not be read, which is a finding elsewhere.
    assert [(one.device, one.message) for one in findings.found[PORTS.id]] == [
        (
            leaf.device,
            f"{leaf.port} has no counters of this run: the device shows none, or they were cleared meanwhile; "
            "run accept again",
        )
    ]
