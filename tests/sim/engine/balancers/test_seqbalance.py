"""SeqBalance: new flows avoid marked paths, flows never move."""

from __future__ import annotations

import numpy as np

from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.run import simulate
from tests.sim.engine.balancers.small import (
    US,
    G,
    assert_conserved,
    flow_list,
    last_state,
    sent,
    settings,
    two_tiers,
)


def test_new_flows_avoid_a_path_while_it_is_marked_and_flows_under_way_stay() -> None:
    """Leaf 3 and leaf 1 fill the link from a spine to leaf 2; later flows of leaf 1 go over the other spine."""
    fabric = two_tiers(leaves=3)
    long = [(0, 2, 400_000, 0), (4, 2, 400_000, 0)]
    late = [(1, 3, 2_000, 200 * US + 10 * US * number) for number in range(20)]
    collisions = 0
    for seed in range(1, 9):
        given = settings(fabric, "seqbalance", {"samples": 16, "pause_us": 1_000}, ecn_bytes=(5_000, 5_000))
        alone, both = (simulate(fabric, flow_list(rows), given, seed) for rows in (long, long + late))
        used = sent(fabric, alone, "leaf1:spine")
        more = [after - before for before, after in zip(used, sent(fabric, both, "leaf1:spine"), strict=True)]
        assert sorted(used) == [0, 400]
        assert both.rerouted.sum() == both.out_of_order.sum() == 0
        if sent(fabric, alone, "leaf3:spine") == used:
            collisions += 1
            assert more == [0 if packets else 40 for packets in used]
        else:
            assert min(more) >= 8
    assert 0 < collisions < 8


def test_order_of_the_paper() -> None:
    """Short flows in order on a lossless fabric: sooner than with ECMP, CONGA and LetFlow."""
    fabric = clos(4, 4, 4, host_bps=25 * G, uplink_bps=25 * G)
    work = flow_list([(host, (host + 4) % 16, 50_000, 20 * US * step) for step in range(40) for host in range(16)])
    means: dict[str, float] = {}
    for name in ("seqbalance", "ecmp", "conga", "letflow"):
        given = settings(fabric, name, transport="go-back-n", lossless=True, ecn_bytes=(5_000, 20_000))
        found = [simulate(fabric, work, given, seed) for seed in range(4)]
        means[name] = float(np.mean([one.finish_ps - one.start_ps for one in found]))
    assert means["seqbalance"] == min(means.values()), means


def test_nothing_remains() -> None:
    fabric = two_tiers(leaves=3, spines=3, links=2)
    work = flow_list([(host, (host + 2) % 6, 60_000, 0) for host in range(6)])
    given = settings(fabric, "seqbalance", lossless=True, ecn_bytes=(1_000, 2_000))
    assert_conserved(last_state(fabric, work, given, 1), work)
