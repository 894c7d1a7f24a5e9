"""RLB: colors choose the spine; DLB chooses among what they leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ailb_gen.sim.engine.run import simulate
from tests.sim.engine.balancers.flows import run, sent, settings, two_tiers, workload

SEEDS = range(1, 7)
LONG, SHORT = 400_000, 100_000


@pytest.mark.parametrize("dynamic", [0, 1])
def test_queue_pairs_go_over_the_spine_of_their_color(dynamic: int) -> None:
    fabric = two_tiers(spines=4, colors=4)
    rows = [(0, 2, SHORT * (pair + 1), 0, pair) for pair in range(4)]
    work = replace(workload(rows), queue_pair=np.arange(4, dtype=np.int32))
    for seed in SEEDS:
        outcome = simulate(fabric, work, settings("rlb", dynamic=dynamic), seed)
        assert sent(fabric, outcome, "leaf1:spine") == [100, 200, 300, 400]
        assert sum(outcome.out_of_order) == 0


def test_among_parallel_links_dlb_chooses() -> None:
    fabric = two_tiers(links=2, colors=2)
    rows = [(0, 2, LONG, 0, 1), (1, 3, SHORT, 100, 2)]
    for seed in SEEDS:
        assert sorted(sent(fabric, run(fabric, rows, "rlb", seed), "leaf1:spine1")) == [100, 400], seed


def test_without_dlb_a_hash_chooses() -> None:
    fabric = two_tiers(links=2, colors=2)
    rows = [(host, 2 + host, SHORT, 0, port) for host in (0, 1) for port in range(4)]
    for seed in SEEDS:
        hashed, without = run(fabric, rows, "ecmp", seed), run(fabric, rows, "rlb", seed, dynamic=0)
        assert np.array_equal(hashed.link_packets, without.link_packets)
        assert np.array_equal(hashed.finish_ps, without.finish_ps)
