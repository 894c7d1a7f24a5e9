"""A whole lab: servers boot, packets take the spine of their color, uplinks carry alike, or as hashes have it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from ailb_gen.lab.namespaces import batch
from ailb_gen.lab.servers.boot import boot, wait
from ailb_gen.lab.trace import Probe, named, trace
from ailb_gen.lab.traffic.ecmp import RULE, by_ecmp, ecmp
from ailb_gen.lab.traffic.flows import addresses, flows
from ailb_gen.lab.traffic.model import TrafficLoad, TrafficResult
from ailb_gen.lab.traffic.run import measure
from ailb_gen.network.fabric import Network
from tests.checks.trees import GOLDEN, network_of
from tests.lab.isolated import isolated
from tests.lab.labs import running

PATIENCE_S = 60.0
LOAD = TrafficLoad(rate=500, count=300)


@dataclass
class Seen:
    """What is found on the lab."""

    ways: dict[Probe, tuple[str, ...]]
    ends: set[str]
    pinned: TrafficResult
    hashed: TrafficResult
    again: TrafficResult


def everything(root: Path) -> Seen:
    network = network_of(root)
    fabric = running(root)
    made = fabric.plan
    with boot(made, network, root):
        assert not wait(made, network.hosts, PATIENCE_S, PATIENCE_S)
        probes = [
            Probe(one, near, far)
            for one, server in made.servers.items()
            for other, target in made.servers.items()
            for rail in server.nics.keys() & target.nics.keys()
            for near, far in zip(
                addresses(network.hosts[one], server.nics[rail]),
                addresses(network.hosts[other], target.nics[rail]),
                strict=True,
            )
            if one != other
        ]
        traces = list(named(trace(probes, timeout_s=2.0), owners(network)))
        pinned = measure(made, flows(made, network.hosts), LOAD)
        # As if a run had been killed before.
        batch([f"rule add {RULE}"], next(iter(made.switches)), "-6")
        with ecmp(made):
            hashed = measure(made, flows(made, network.hosts, ecmp=True), by_ecmp(LOAD))
        again = measure(made, flows(made, network.hosts), by_ecmp(LOAD))
    ends = {one.end for one, _ in traces}
    return Seen({one.probe: hops for one, hops in traces}, ends, pinned, hashed, again)


def owners(network: Network) -> dict[int, str]:
    found = {
        one.value: name
        for name, switch in network.switches.items()
        for port in switch.ports.values()
        for unit in port.units
        for one in unit.addresses
    }
    return found | {0xFD6C6162 << 96 | number: name for number, name in enumerate(network.switches, 1)}


@pytest.mark.long
def test_packets_take_the_spine_of_their_color_and_uplinks_carry_alike() -> None:
    seen = isolated(everything, GOLDEN / "lab", tools=("ip", "bird", "unshare", "nsenter"))

    assert (len(seen.ways), seen.ends) == (96, {""})
    for probe, hops in seen.ways.items():
        # fc00:STRIPE:RAIL:COLOR::/64; servers on one leaf share the link.
        _, stripe, rail, color = (probe.target >> shift & 0xFFFF for shift in (112, 96, 80, 64))
        far = f"stripe{stripe}-leaf{rail}"
        near = f"stripe{probe.source >> 96 & 0xFFFF}-leaf{rail}"
        assert hops == (() if near == far else (near, f"spine{color}", far))
    assert [result.lost for result in (seen.pinned, seen.hashed, seen.again)] == [0, 0, 0]
    assert {f"{spread:.2f}" for spread in seen.pinned.spread().values()} == {"1.00"}
    assert {f"{spread:.2f}" for spread in seen.again.spread().values()} == {"1.00"}
    assert max(seen.hashed.spread().values()) > 1.2
