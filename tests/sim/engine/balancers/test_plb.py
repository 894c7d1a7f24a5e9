"""PLB: flows move after congested round trips in a row, sooner when idle, and stay after timeouts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.settings import CongestionSettings
from tests.sim.engine.balancers.small import G, flow_list, settings
from tests.sim.processes import printed

RULES = """
import json
from ailb_gen.sim.engine.balancers import plb
from ailb_gen.sim.engine.memory import new_state
from tests.sim.engine.balancers.small import flow_list, plain, two_tiers

def moved(marks, in_flight, suspended_us=0):
    work = flow_list([(0, 2, 100_000, 0)])
    state = new_state(two_tiers(), work, plain("plb", idle_rounds=3, rounds=12, suspend_us=suspended_us), 1)
    flow = state.flows[0]
    flow.task = 0
    plb.begin_flow(state, 0, 0)
    found = []
    for number, marked in enumerate(marks):
        now = 10 + number
        flow.next, flow.acknowledged = number + in_flight, number
        if marked is None:
            plb.timed_out(state, 0, now)
        else:
            # An answer to a packet sent after the last round trip began ends that one.
            state.choices[0].epoch_at = min(int(state.choices[0].epoch_at), now)
            plb.answered(state, 0, now, marked, now)
        found.append(int(state.rerouted[0]))
    return found

def congested_after_timeout():
    state = new_state(two_tiers(), flow_list([(0, 2, 100_000, 0)]), plain("plb", suspend_us=0), 1)
    flow = state.flows[0]
    flow.task = 0
    plb.begin_flow(state, 0, 0)
    # All of three packets were marked; the first answer from the other path begins a round trip, and was not.
    noted = state.choices[0]
    noted.epoch_at, noted.epoch_packets, noted.epoch_marks = 10, 3, 3
    plb.timed_out(state, 0, 50)
    plb.answered(state, 0, 60, 0, 70)
    return int(noted.choice[0])

print(json.dumps([
    moved([1] * 13, 5), moved([1] * 4, 0), moved([1, 1, 0, 1, 1, 1], 0), moved([1, 1, None, 1, 1, 1], 0),
    moved([1, 1, None, 1, 1, 1], 0, 1), congested_after_timeout(),
]))
"""


def test_a_flow_moves_after_congested_round_trips_in_a_row() -> None:
    busy, idle, broken, timeout, suspended, congested = printed(RULES, compiled=False)
    assert busy == [0] * 11 + [1, 1]
    assert idle == [0, 0, 1, 1]
    # A round trip without marks begins anew.
    assert broken == [0, 0, 0, 0, 0, 1]
    assert timeout == [0, 0, 1, 1, 1, 2]
    assert suspended == [0, 0, 1, 1, 1, 1]
    # Marks of the path that was left do not count on the other one.
    assert congested == 0


def test_its_tail_is_shorter_than_with_ecmp() -> None:
    fabric = clos(2, 4, 4, host_bps=25 * G, uplink_bps=[25 * G] * 3 + [2 * G])
    work = flow_list([(host, (host + 4) % 8, 1_000_000, 0) for host in range(8)])
    ends: dict[str, list[int]] = {}
    for name in ("ecmp", "plb"):
        # Without DCQCN congestion lasts, as it does with the windows of the paper's transports.
        given = settings(fabric, name, ecn_bytes=(5_000, 20_000))
        window = replace(given.transport, window_bytes=25_000)
        given = replace(given, congestion=CongestionSettings(), transport=window)
        found = [simulate(fabric, work, given, seed) for seed in range(6)]
        ends[name] = [int(one.finish_ps.max()) for one in found]
        assert (sum(int(one.rerouted.sum()) for one in found) > 0) == (name == "plb")
    assert np.mean(ends["plb"]) < 0.8 * np.mean(ends["ecmp"])
