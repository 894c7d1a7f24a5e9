"""CONGA: estimators, feedback between leaves, and choices by both."""

from __future__ import annotations

import pytest

from ailb_gen.sim.settings import TransportName
from tests.sim.engine.balancers.small import Flow, run, sent, two_tiers
from tests.sim.processes import printed

LONG, SHORT = 2_000_000, 10_000
SEEDS = range(1, 6)


PLAIN = """
import json
from ailb_gen.sim.engine.balancers import conga
from ailb_gen.sim.engine.memory import new_state
from tests.sim.engine.balancers.small import plain, two_tiers, workload
fabric = two_tiers()
state = new_state(fabric, workload([(0, 2, 1000, 0, 1)]), plain("conga"), 1)
link = fabric.link_names.index("leaf1:spine1")
found = []
for share in (0.2, 0.5, 0.9, 1.5):
    state.ports[link].load = 0.0
    # So much of 10 Gb/s in packets of 500 bytes for 2 ms.
    gap = int(500 * 800 / share)
    for time in range(int(state.ports[link].load_at), int(state.ports[link].load_at) + 2 * 10**9, gap):
        conga._discount(state, link, time)
        state.ports[link].load += 500
    found.append([conga._local(state, link), float(state.ports[link].load)])
conga._discount(state, link, 10**11)
found.append([conga._local(state, link), float(state.ports[link].load)])
up = fabric.link_names.index("leaf1:spine2")
state.metrics[0, 1, 1 + int(state.wires[up].uplink)] = (10**11 << conga.METRIC_BITS) | 5
found.append([int(conga._congestion(state, 0, 1, up, 10**11 + age)) for age in (0, 5 * 10**8, 5 * 10**8 + 1)])
print(json.dumps(found))
"""


def test_the_metric_is_the_utilization_in_bits_and_is_forgotten() -> None:
    *estimates, idle, remote = printed(PLAIN, compiled=False)
    # 10 Gb/s send 312,500 bytes in 50 us / 0.2; before the next discount there is up to a quarter more.
    for share, (metric, load) in zip((0.2, 0.5, 0.9, 1.5), estimates, strict=True):
        assert 1.0 <= load / (share * 312_500) / 0.8 < 1.26
        assert metric == min(7, int(8 * load / 312_500))
    assert [metric for metric, _ in estimates] == sorted(metric for metric, _ in estimates)
    assert idle[0] == 0
    assert remote == [5, 5, 0]


def loaded_downlink(start: int) -> list[Flow]:
    """Leaf 3 fills the link from a spine to leaf 2; leaf 1 sends short flows there, and hears of it."""
    return [(4, 2, LONG, 0, 1)] + [(0, 3, SHORT, start + 20 * number, 2 + number) for number in range(50)]


@pytest.mark.parametrize("transport", ["go-back-n", "selective-repeat"])
def test_a_leaf_avoids_a_link_of_a_spine_that_came_back_congested(transport: TransportName) -> None:
    fabric = two_tiers(leaves=3)
    for seed in SEEDS:
        outcome = run(fabric, loaded_downlink(300), "conga", seed, transport)
        filled = sent(fabric, outcome, "leaf3:spine")
        uplinks = sent(fabric, outcome, "leaf1:spine")
        # Acknowledgements of leaf 2 count, too: some packets find out, and the rest go around.
        assert sorted(filled)[0] == 0, seed
        assert uplinks[filled.index(0)] >= 4 * uplinks[filled.index(max(filled))], (seed, uplinks)


def test_ecmp_does_not_avoid_it() -> None:
    fabric = two_tiers(leaves=3)
    shares = []
    for seed in SEEDS:
        outcome = run(fabric, loaded_downlink(300), "ecmp", seed, "go-back-n")
        filled = sent(fabric, outcome, "leaf3:spine")
        shares.append(sent(fabric, outcome, "leaf1:spine")[filled.index(max(filled))])
    assert max(shares) > 200


def test_a_flow_moves_only_after_a_gap_and_nothing_is_out_of_order_without() -> None:
    fabric = two_tiers(leaves=3)
    rows = [(host, (host + 2) % 6, 200_000, host, host) for host in range(6)]
    rows += [(host, (host + 4) % 6, 200_000, host + 20, 6 + host) for host in range(6)]
    for seed in SEEDS:
        still = run(fabric, rows, "conga", seed, "go-back-n")
        assert still.complete
        assert sum(still.out_of_order) + sum(still.rerouted) == 0
        moving = run(fabric, rows, "conga", seed, "selective-repeat", gap_us=0)
        assert moving.complete
        assert sum(moving.rerouted) > 0


def test_leaves_hash_to_their_hosts_and_spines_among_parallel_links() -> None:
    fabric = two_tiers(links=2)
    rows = [(0, 2, 100_000, 0, port) for port in range(8)]
    outcome = run(fabric, rows, "conga")
    assert outcome.complete
    assert sum(sent(fabric, outcome, "leaf1:spine")) == sum(sent(fabric, outcome, "leaf2:host")) == 800
