"""DLB: bands, its three modes, and what a flowset table remembers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.sim.engine.balancers.flows import run, sent, two_tiers

# 100 packets take 84 us on a link.
LONG, SHORT = 400_000, 100_000
SEEDS = range(1, 9)
UPLINKS = "leaf1:spine"


BANDS = """
import json
from ailb_gen.sim.engine.balancers import dlb
from ailb_gen.sim.engine.memory import new_state
from tests.sim.engine.balancers.flows import settings, two_tiers, workload
found = [dlb.band(float(value), 20.0, 80.0) for value in range(15, 100, 10)]
fabric = two_tiers()
state = new_state(fabric, workload([(0, 2, 1000, 0, 1)]), settings("dlb", sampling_rate=10_000), 1)
period, link, seen = 10**8, 0, []
for sample in range(1, 40):
    # Half of what 10 Gb/s send in 100 us, then nothing.
    if sample < 30:
        state.links[link].bytes += 62_500
    seen.append((dlb.quality(state, link, sample * period), float(state.links[link].load)))
print(json.dumps([found, seen]))
"""


def test_bands_are_those_of_the_documentation_and_the_load_is_an_average() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", BANDS]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    found, seen = json.loads(done.stdout)
    # Below the minimum, six bands in between, above the maximum.
    assert found == [7, 6, 5, 4, 3, 2, 1, 0, 0]
    loads = [load for _, load in seen]
    assert loads[0] == pytest.approx(0.5 / 8)
    assert loads[28] == pytest.approx(0.5, rel=0.03)
    assert loads[29] == pytest.approx(loads[28] * 7 / 8)
    # 50 percent of load is the end of the best band.
    assert {quality for quality, _ in seen} == {7}


@pytest.mark.parametrize("balancer", ["dlb", "dlb-assigned-flow", "glb"])
def test_a_flow_avoids_the_uplink_that_is_loaded(balancer: str) -> None:
    fabric = two_tiers()
    rows = [(0, 2, LONG, 0, 1), (1, 3, SHORT, 100, 2)]
    first = set()
    for seed in SEEDS:
        packets = sent(fabric, run(fabric, rows, balancer, seed), UPLINKS)
        assert sorted(packets) == [100, 400], seed
        first.add(packets.index(400))
    # Among equals the choice is random.
    assert first == {0, 1}


def test_the_weight_says_whether_load_or_queue_counts() -> None:
    fabric = two_tiers()
    rows = [(0, 2, LONG, 0, 1), (1, 3, SHORT, 100, 2)]
    # One flow fills an uplink, but nothing waits before it.
    by_queue = [sent(fabric, run(fabric, rows, "dlb", seed, rate_weight_percent=0), UPLINKS) for seed in SEEDS]
    assert {tuple(sorted(packets)) for packets in by_queue} == {(100, 400), (0, 500)}
    by_load = [sent(fabric, run(fabric, rows, "dlb", seed, rate_weight_percent=100), UPLINKS) for seed in SEEDS]
    assert {tuple(sorted(packets)) for packets in by_load} == {(100, 400)}


# A message of a queue pair, traffic of the other host that takes the other uplink and ends, traffic that takes the
# first uplink, and the next message of the queue pair.
def messages(silence: int) -> list[tuple[int, int, int, int, int]]:
    return [(0, 2, SHORT, 0, 1), (1, 3, LONG, 90 + silence - 60, 2), (0, 2, SHORT, 90 + silence, 1)]


@pytest.mark.parametrize(
    ("balancer", "parameters", "moves"),
    [
        ("dlb", {"inactivity_us": 300}, False),
        ("dlb", {"inactivity_us": 150}, True),
        ("dlb-assigned-flow", {}, False),
    ],
)
def test_a_queue_pair_stays_on_its_uplink_until_it_was_silent(
    balancer: str, parameters: dict[str, float], moves: bool
) -> None:
    fabric = two_tiers()
    shared = []
    for seed in SEEDS:
        outcome = run(fabric, messages(200), balancer, seed, "raw", **parameters)
        shared.append(max(sent(fabric, outcome, UPLINKS)) == 500)
        assert sum(sent(fabric, outcome, UPLINKS)) == 600
        # The uplink that the other host's traffic has is the first one's by chance; only a new choice avoids it.
        assert max(sent(fabric, outcome, UPLINKS)) in ((400, 500) if moves else (400, 600)), seed
    assert any(shared) == moves


def test_flows_with_one_entry_go_together() -> None:
    fabric = two_tiers()
    rows = [(0, 2, LONG, 0, 1), (1, 3, LONG, 50, 2)]
    for seed in SEEDS:
        assert sorted(sent(fabric, run(fabric, rows, "dlb", seed, flowset_entries=1), UPLINKS)) == [0, 800]


def test_active_flows_move_when_the_difference_of_bands_is_large_enough() -> None:
    fabric = two_tiers()
    # Both choose at once, when both uplinks are idle.
    rows = [(0, 2, LONG, 0, 1), (1, 3, LONG, 0, 2)]
    still, moving, never = (
        [run(fabric, rows, "dlb", seed, quality_delta=delta, probability=probability) for seed in SEEDS]
        for delta, probability in ((0, 1.0), (3, 1.0), (3, 0.0))
    )
    together = [max(sent(fabric, outcome, UPLINKS)) == 800 for outcome in still]
    assert any(together)
    assert not all(together)
    for seed, outcome, without, fixed in zip(SEEDS, moving, never, still, strict=True):
        assert sum(without.rerouted) + sum(fixed.rerouted) == 0
        assert max(sent(fabric, without, UPLINKS)) in (400, 800)
        assert max(sent(fabric, outcome, UPLINKS)) < 800, seed
    assert sum(sum(outcome.rerouted) for outcome in moving) > 0


def test_without_silence_nothing_is_out_of_order_and_per_packet_it_is() -> None:
    fabric = two_tiers(leaves=3)
    rows = [(host, (host + 2) % 6, SHORT, host, host) for host in range(6)]
    rows += [(host, (host + 4) % 6, SHORT, host + 20, 6 + host) for host in range(6)]
    for balancer in ("dlb", "dlb-assigned-flow", "glb", "rlb"):
        outcome = run(fabric, rows, balancer, transport="go-back-n")
        assert outcome.complete
        assert sum(outcome.out_of_order) == 0
        assert sum(outcome.rerouted) == 0
    outcome = run(fabric, rows, "dlb-per-packet")
    assert sum(outcome.out_of_order) > 0


def test_per_packet_fills_all_uplinks_alike() -> None:
    fabric = two_tiers(spines=4)
    rows = [(0, 2, LONG, 0, 1), (1, 3, LONG, 0, 2)]
    packets = sent(fabric, run(fabric, rows, "dlb-per-packet"), UPLINKS)
    assert sum(packets) == 800
    assert min(packets) > 120
