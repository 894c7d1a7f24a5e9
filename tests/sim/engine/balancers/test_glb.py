"""GLB: leaves avoid what spines say is loaded, as soon as they know it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ailb_gen.sim.engine.run import simulate
from tests.sim.engine.balancers.flows import run, sent, settings, two_tiers, workload

SEEDS = range(1, 11)
LONG, SHORT = 800_000, 50_000


def shares_the_spine(balancer: str, seed: int, start: int, **parameters: float) -> bool:
    """Whether a flow from leaf 1 to leaf 2 takes the spine over which leaf 3 fills the link to leaf 2."""
    fabric = two_tiers(leaves=3)
    rows = [(4, 2, LONG, 0, 1), (0, 3, SHORT, start, 2)]
    outcome = run(fabric, rows, balancer, seed, "raw", **parameters)
    assert sum(sent(fabric, outcome, "leaf1:spine")) == 50
    downlinks = [sent(fabric, outcome, f"spine{spine}:leaf2") for spine in (1, 2)]
    return sorted(downlinks) == [[0], [850]]


def count(balancer: str, start: int, **parameters: float) -> int:
    return sum(shares_the_spine(balancer, seed, start, **parameters) for seed in SEEDS)


def test_a_loaded_link_of_a_spine_is_avoided_where_dlb_does_not() -> None:
    assert count("glb", 500) == 0
    assert 0 < count("dlb", 500) < len(SEEDS)


@pytest.mark.parametrize(
    ("start", "parameters", "known"),
    [
        # The first flood is at 100 us, and known 10 us later.
        (105, {}, False),
        (111, {}, True),
        (250, {"flood_us": 300}, False),
        (311, {"flood_us": 300}, True),
        (320, {"flood_delay_us": 250}, False),
        (360, {"flood_delay_us": 250}, True),
        (60, {"flood_us": 10, "flood_delay_us": 25}, True),
    ],
)
def test_a_leaf_knows_what_was_flooded_a_delay_before(start: int, parameters: dict[str, float], known: bool) -> None:
    assert (count("glb", start, **parameters) == 0) is known


def test_of_parallel_links_of_a_spine_the_best_one_counts() -> None:
    fabric = two_tiers(leaves=3, links=2)
    # A spine sends over its other link to leaf 2, so that nothing is to be avoided; DLB of the spine does that.
    rows = [(4, 2, LONG, 0, 1), (0, 3, SHORT, 500, 2)]
    used = set()
    for seed in SEEDS:
        outcome = run(fabric, rows, "glb", seed)
        downlinks = sorted(sent(fabric, outcome, "spine1:leaf2") + sent(fabric, outcome, "spine2:leaf2"))
        assert downlinks == [0, 0, 50, 800], seed
        used.add(sum(sent(fabric, outcome, "spine1:leaf2")) in (50, 800))
    assert used == {True, False}


def test_floods_end_with_the_run_also_when_a_flow_never_ends() -> None:
    fabric = two_tiers(leaves=2)
    lossy = np.where([name.startswith("host1:") for name in fabric.link_names], 1.0, 0.0)
    base = settings("glb", flood_us=1)
    switches = replace(base.switches, loss_probability=lossy)
    outcome = simulate(fabric, workload([(0, 2, SHORT, 0, 1)]), replace(base, switches=switches), 1)
    assert not outcome.complete
    assert outcome.totals["lost"] == 50
    assert outcome.totals["events"] < 1000
