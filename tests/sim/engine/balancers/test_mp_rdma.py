"""MP-RDMA: acknowledgements clock paths, slow and dead ones are left, reordering is bounded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import FabricArrays, LinkChange
from ailb_gen.sim.outcome import SimulationOutcome
from ailb_gen.sim.settings import CongestionSettings
from tests.sim.engine.balancers.small import US, G, assert_conserved, flow_list, last_state, sent, settings
from tests.sim.engine.cases import link
from tests.sim.processes import printed

# A fifth of what crosses the fabric goes over the slow spine if paths are random.
UNEVEN = clos(2, 5, 2, host_bps=10 * G, uplink_bps=[10 * G] * 4 + [G])
WORK = flow_list([(host, host + 2, 1_000_000, 0) for host in range(2)])
RULES = """
import json
from ailb_gen.sim.engine.balancers import mp_rdma
from ailb_gen.sim.engine.memory import new_state
from tests.sim.engine.balancers.small import flow_list, plain, two_tiers

def paths(answers):
    work = flow_list([(0, 2, 100_000, 0)])
    state = new_state(two_tiers(), work, plain("mp-rdma", spread_packets=4, new_path=0), 1)
    mp_rdma.begin_flow(state, 0, 0)
    for path, sequence, marked in answers:
        answer = state.packets[0]
        answer.flow, answer.tag, answer.extra, answer.marked = 0, path, sequence, marked
        mp_rdma.acknowledged(state, 0, 0)
    left = int(state.steered[0].grants)
    return [int(mp_rdma._next_path(state, 4, 0)) for _ in range(left)]

print(json.dumps([
    paths([(7, 0, 0), (8, 1, 0), (7, 2, 0)]), paths([(7, number, 1) for number in range(6)]),
    paths([(7, 9, 0), (8, 5, 0), (9, 4, 0), (8, 10, 0)]), len(paths([(7, number, 0) for number in range(99)])),
]))
"""


def test_acknowledgements_leave_their_paths() -> None:
    plain, marked, slow, most = printed(RULES, compiled=False)
    assert plain == [7, 8, 7]
    # A mark takes away half a packet.
    assert marked == [7, 7, 7]
    # More than four behind the highest one is too slow.
    assert slow == [7, 8, 8]
    assert most == 64


def run(fabric: FabricArrays, name: str, seed: int, **parameters: float) -> SimulationOutcome:
    given = settings(fabric, name, parameters, ecn_bytes=(5_000, 20_000))
    transport = replace(given.transport, window_bytes=64_000, reordering_packets=64)
    return simulate(fabric, WORK, replace(given, transport=transport, congestion=CongestionSettings()), seed)


def slow_share(outcome: SimulationOutcome) -> float:
    packets = sent(UNEVEN, outcome, "leaf1:spine")
    return packets[-1] / sum(packets)


def test_a_slow_path_gets_little_and_reordering_is_bounded() -> None:
    shares, distances = {}, {}
    for name, spread in (("spray", None), ("mp-rdma", 10_000), ("mp-rdma", 8)):
        given = {} if spread is None else {"spread_packets": float(spread)}
        found = [run(UNEVEN, name, seed, **given) for seed in range(4)]
        assert all(one.complete for one in found)
        shares[spread] = np.mean([slow_share(one) for one in found])
        distances[spread] = np.mean([one.out_of_order.sum() for one in found])
    assert shares[None] > 0.15
    assert shares[8] < shares[10_000] < 0.5 * shares[None]
    assert distances[8] < distances[10_000]


def test_a_dead_path_is_left_where_hashing_waits_for_the_fibs() -> None:
    """A fifth of the paths loses everything from 100 us to 4 ms."""
    dead = [link(UNEVEN, "leaf1", "spine2"), link(UNEVEN, "spine2", "leaf1")]
    changes = tuple(LinkChange(at * US, one, at > 100) for at in (100, 4_000) for one in dead)
    fabric = replace(UNEVEN, changes=changes)
    ends = {name: [run(fabric, name, seed).finish_ps.max() for seed in range(6)] for name in ("ecmp", "mp-rdma")}
    assert np.mean(ends["mp-rdma"]) < 0.6 * np.mean(ends["ecmp"])


def test_nothing_remains() -> None:
    given = settings(UNEVEN, "mp-rdma", ecn_bytes=(1_000, 2_000), loss=0.01)
    assert_conserved(last_state(UNEVEN, WORK, given, 1), WORK)
