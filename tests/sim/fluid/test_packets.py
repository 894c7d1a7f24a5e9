"""Flows next to packets: the same paths, and job times that agree where the model says so."""

from functools import cache

import numpy as np
import pytest

from ailb_gen.routing.rib import Routing
from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.run import simulate as packets
from ailb_gen.sim.fabric import Fabric
from ailb_gen.sim.fluid.run import simulate as flows
from ailb_gen.sim.from_network import from_network
from ailb_gen.sim.network_balancer import without_colors
from ailb_gen.sim.settings import BalancerSettings, Settings, TransportSettings
from ailb_gen.sim.traffic.builder import Builder, QueuePairs
from ailb_gen.sim.traffic.collectives import append
from ailb_gen.sim.traffic.options import Options
from ailb_gen.sim.workload import Workload
from tests.forwarding.examples import network
from tests.sim.files import fabric


def collective(name: str, ranks: int, size: int, per_server: int = 1) -> Workload:
    builder = Builder()
    job = builder.job("job", QueuePairs(4))
    append(builder, job, name, np.arange(ranks), size, Options(per_server=per_server))
    return builder.finish()


@cache
def uncolored() -> Fabric:
    """The reference fabric with every prefix over all spines."""
    plain = without_colors(network("jvd"))
    return from_network(plain, Routing(plain))


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
    found = fabric("jvd") if balancer == "rlb" else uncolored()
    work = collective(name, found.host_count, size, per_server)
    # Packets of one flow arrive in any order when they are spread.
    transport = TransportSettings("selective-repeat", reordering_packets=1000)
    settings = Settings(balancer=BalancerSettings(balancer), transport=transport)
    one, other = (simulate(found, work, settings, 1) for simulate in (flows, packets))
    assert one.complete
    assert other.complete
    assert one.finish_ps.max() == pytest.approx(other.finish_ps.max(), rel=0.05)


@pytest.mark.parametrize("parameters", [{}, {"same_seed": 1}, {"hash_start": 1}])
def test_both_hash_alike(parameters: dict[str, float]) -> None:
    found = clos(8, 4, 8, host_bps=10**11, uplink_bps=10**11, host_links=2, leaf_spine_links=2)
    work = collective("permutation", found.host_count, 1 << 22)
    settings = Settings(balancer=BalancerSettings("ecmp", parameters))
    one, other = (simulate(found, work, settings, 5) for simulate in (flows, packets))
    assert one.link_bytes.tolist() == other.link_bytes.tolist()
    # Without transport a queue shares its link by what arrives, not evenly.
    assert one.finish_ps.max() == pytest.approx(other.finish_ps.max(), rel=0.1)
