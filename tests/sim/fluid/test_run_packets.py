"""Flows next to packets: the same paths, and job times that agree where the model says so."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ailb_gen.routing.rib import Routing
from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.run import simulate as packets
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.fluid.run import simulate as flows
from ailb_gen.sim.from_network import from_network
from ailb_gen.sim.network_balancer import without_colors
from ailb_gen.sim.network_settings import network_settings
from ailb_gen.sim.outcome import SimulationOutcome
from ailb_gen.sim.settings import (
    BalancerSettings,
    CongestionSettings,
    Measurement,
    SimulationSettings,
    TransportSettings,
)
from ailb_gen.sim.traffic.algorithms import CollectiveOptions
from ailb_gen.sim.traffic.builder import QueuePairs, TaskBuilder
from ailb_gen.sim.traffic.collectives import append
from ailb_gen.sim.workload import Workload
from tests.forwarding.examples import network
from tests.sim.engine.cases import needs_compiler
from tests.sim.files import fabric

# The reference fabric has 8 NICs per server, and two servers below each leaf: in this order every ring leaves it twice
# as often as in that of their numbers.
ACROSS = [8 * server + nic for server in (0, 2, 1, 3) for nic in range(8)]


def collective(name: str, ranks: Sequence[int], size: int, per_server: int = 1) -> Workload:
    builder = TaskBuilder()
    job = builder.job("job", QueuePairs(4))
    append(builder, job, name, np.array(ranks), size, CollectiveOptions(per_server=per_server))
    return builder.finish()


@cache
def reference(balancer: str) -> tuple[FabricArrays, SimulationSettings]:
    """The reference fabric and what its files say of switches; all but RLB have every prefix over all spines."""
    found = network("jvd") if balancer == "rlb" else without_colors(network("jvd"))
    made = fabric("jvd") if balancer == "rlb" else from_network(found, Routing(found))
    settings = network_settings(found, made)
    # Packets of one flow arrive in any order when they are spread.
    transport = TransportSettings("selective-repeat", reordering_packets=1000)
    return made, replace(settings, balancer=BalancerSettings(balancer), transport=transport)


def check_times(balancer: str, work: Workload, seed: int) -> SimulationOutcome:
    """Check that flows and packets take the same time within 5 %; return what packets did."""
    found, settings = reference(balancer)
    one, other = (simulate(found, work, settings, seed) for simulate in (flows, packets))
    assert one.complete
    assert other.complete
    assert one.finish_ps.max() == pytest.approx(other.finish_ps.max(), rel=0.05)
    return other


@pytest.mark.parametrize(
    ("balancer", "name", "per_server", "size"),
    [
        ("rlb", "all-reduce", 8, 1 << 28),
        ("rlb", "all-reduce", 1, 1 << 26),
        ("rlb", "all-to-all", 8, 1 << 26),
        ("ecmp", "all-reduce", 8, 1 << 28),
        ("spray", "all-reduce", 1, 1 << 26),
    ],
)
def test_the_time_of_a_collective_on_the_reference_fabric(balancer: str, name: str, per_server: int, size: int) -> None:
    check_times(balancer, collective(name, range(32), size, per_server), 1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_time_of_a_ring_whose_flows_collide(seed: int) -> None:
    outcome = check_times("ecmp", collective("all-reduce", ACROSS, 1 << 27, 8), seed)
    assert outcome.totals["cnps"], "without a mark nothing has collided"


@pytest.mark.sampled(3, 6)
@needs_compiler
@pytest.mark.parametrize(
    ("name", "size"), [("permutation", 1 << 24), ("permutation", 1 << 26), ("all-reduce", 1 << 28)]
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_flows_that_collide_under_dcqcn(name: str, size: int, seed: int) -> None:
    """Cuts and slow increases take flows as long as they take packets; without them a third of the time would lack."""
    found, settings = reference("ecmp")
    asked = replace(settings, transport=TransportSettings("go-back-n"), congestion=CongestionSettings("dcqcn"))
    work = collective(name, ACROSS, size, 8 if name == "all-reduce" else 1)
    one, other = (simulate(found, work, asked, seed) for simulate in (flows, packets))
    mine, theirs = (done.finish_ps - done.start_ps for done in (one, other))
    assert other.totals["cnps"]
    assert mine[work.flows()].mean() == pytest.approx(theirs[work.flows()].mean(), rel=0.1)
    assert one.finish_ps.max() == pytest.approx(other.finish_ps.max(), rel=0.15)


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize(("balancer", "seed"), [("rlb", 1), ("ecmp", 1), ("spray", 1), ("adaptive", 1)])
@pytest.mark.parametrize(
    ("name", "ranks", "per_server", "size"),
    [
        ("all-reduce", ACROSS, 8, 1 << 28),
        ("all-to-all", ACROSS, 1, 1 << 26),
        ("permutation", range(32), 1, 1 << 26),
    ],
)
def test_the_time_by_balancer(
    balancer: str, name: str, ranks: Sequence[int], per_server: int, size: int, seed: int
) -> None:
    outcome = check_times(balancer, collective(name, ranks, size, per_server), seed)
    collides = balancer == "ecmp" and name != "all-to-all"
    assert (outcome.totals["cnps"] > 0) == collides


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("seed", [1])
def test_flows_that_collide_under_dcqcn_reach_fair_rates(seed: int) -> None:
    """After 10 ms, and before the first one ends, the fabric carries as much, and no full link lacks a fifth."""
    work = collective("permutation", range(32), 1 << 30)
    found, settings = reference("ecmp")
    asked = replace(
        settings,
        transport=TransportSettings("go-back-n"),
        congestion=CongestionSettings("dcqcn"),
        measurement=Measurement(10**10, 2),
        until_ps=2 * 10**10,
    )
    one, other = (simulate(found, work, asked, seed) for simulate in (flows, packets))
    fair, sent = one.load[1], other.load[1]
    assert other.totals["cnps"]
    assert sent.sum() == pytest.approx(fair.sum(), rel=0.05)
    full = fair >= 0.999 * fair.max()
    assert (sent[full] / fair[full]).mean() >= 0.95
    assert (sent[full] / fair[full]).min() >= 0.8


@pytest.mark.parametrize("parameters", [{}, {"same_seed": 1}, {"hash_start": 1}])
def test_both_hash_alike(parameters: dict[str, float]) -> None:
    found = clos(8, 4, 8, host_bps=10**11, uplink_bps=10**11, host_links=2, leaf_spine_links=2)
    work = collective("permutation", range(found.host_count), 1 << 22)
    settings = SimulationSettings(balancer=BalancerSettings("ecmp", parameters))
    one, other = (simulate(found, work, settings, 5) for simulate in (flows, packets))
    assert one.link_bytes.tolist() == other.link_bytes.tolist()
    # Without transport a queue shares its link by what arrives, not evenly.
    assert one.finish_ps.max() == pytest.approx(other.finish_ps.max(), rel=0.1)
