"""Presto: flowcells take all paths in turn."""

from __future__ import annotations

import pytest

from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.run import simulate
from tests.sim.engine.balancers.small import G, flow_list, plain, run, sent, two_tiers

SEEDS, NAMES = range(1, 5), ("ecmp", "presto")


@pytest.mark.parametrize("packets", [10, 65])
def test_a_flow_divides_evenly_among_all_paths_in_cells(packets: int) -> None:
    fabric = two_tiers(spines=2, links=2)
    cells = 8
    outcome = run(fabric, [(0, 2, 1_000 * packets * cells, 0, 1)], "presto", cell_bytes=1_000 * packets)
    # Two cells over each of the four uplinks, and over the link with the same number from the spine.
    assert sent(fabric, outcome, "leaf1:spine") == [2 * packets] * 4
    assert [n for name in ("spine1:leaf2", "spine2:leaf2") for n in sent(fabric, outcome, name)] == [2 * packets] * 4
    assert outcome.complete


def test_cells_of_the_size_of_a_flow_leave_it_on_one_path() -> None:
    fabric = two_tiers(spines=4)
    outcome = run(fabric, [(0, 2, 60_000, 0, 1)], "presto")
    assert sorted(sent(fabric, outcome, "leaf1:spine")) == [0, 0, 0, 60]
    assert outcome.out_of_order.sum() == 0


def test_a_permutation_takes_little_longer_than_in_one_switch_and_hashing_much_longer() -> None:
    fabric, switch = clos(4, 4, 4, host_bps=10 * G, uplink_bps=10 * G), clos(1, 1, 16, host_bps=10 * G, uplink_bps=G)
    work = flow_list([(host, (host + 4) % 16, 1_000_000, 0) for host in range(16)])
    ideal = simulate(switch, work, plain("ecmp"), 1).finish_ps.max()
    ends = {name: [simulate(fabric, work, plain(name), seed).finish_ps.max() for seed in SEEDS] for name in NAMES}
    assert max(ends["presto"]) < 1.4 * ideal < 2 * ideal < min(ends["ecmp"])
