"""DLB: bands, its three modes, flowset tables; GLB: leaves avoid what spines flood; RLB: colors choose the spine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.run import simulate
from tests.sim.engine.balancers.small import G, plain, run, sent, two_tiers, workload
from tests.sim.processes import printed

# 100 packets take 84 us on a link.
LONG, SHORT = 400_000, 100_000
SEEDS = range(1, 9)
# Of GLB: a flow that fills a link, and one that crosses it.
FILLING, CROSSING = 800_000, 50_000
FLOOD_SEEDS, RLB_SEEDS = range(1, 11), range(1, 7)
UPLINKS = "leaf1:spine"


BANDS = """
import json
from ailb_gen.sim.engine.balancers import dlb
from ailb_gen.sim.engine.memory import new_state
from tests.sim.engine.balancers.small import plain, two_tiers, workload
found = [dlb.band(float(value), 20.0, 80.0) for value in range(15, 100, 10)]
fabric = two_tiers()
state = new_state(fabric, workload([(0, 2, 1000, 0, 1)]), plain("dlb", sampling_rate=10_000), 1)
period, link, seen = 10**8, 0, []
for sample in range(1, 40):
    # Half of what 10 Gb/s send in 100 us, then nothing.
    if sample < 30:
        state.links[link].bytes += 62_500
    seen.append((dlb.quality(state, link, sample * period), float(state.ports[link].load)))
print(json.dumps([found, seen]))
"""


def test_bands_are_those_of_the_documentation_and_the_load_is_an_average() -> None:
    found, seen = printed(BANDS, compiled=False)
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


def shares_the_spine(balancer: str, seed: int, start: int, **parameters: float) -> bool:
    """Whether a flow from leaf 1 to leaf 2 takes the spine over which leaf 3 fills the link to leaf 2."""
    fabric = two_tiers(leaves=3)
    rows = [(4, 2, FILLING, 0, 1), (0, 3, CROSSING, start, 2)]
    outcome = run(fabric, rows, balancer, seed, "raw", **parameters)
    assert sum(sent(fabric, outcome, "leaf1:spine")) == 50
    downlinks = [sent(fabric, outcome, f"spine{spine}:leaf2") for spine in (1, 2)]
    return sorted(downlinks) == [[0], [850]]


def count(balancer: str, start: int, **parameters: float) -> int:
    return sum(shares_the_spine(balancer, seed, start, **parameters) for seed in FLOOD_SEEDS)


def test_a_loaded_link_of_a_spine_is_avoided_where_dlb_does_not() -> None:
    assert count("glb", 500) == 0
    assert 0 < count("dlb", 500) < len(FLOOD_SEEDS)


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
    rows = [(4, 2, FILLING, 0, 1), (0, 3, CROSSING, 500, 2)]
    used = set()
    for seed in FLOOD_SEEDS:
        outcome = run(fabric, rows, "glb", seed)
        downlinks = sorted(sent(fabric, outcome, "spine1:leaf2") + sent(fabric, outcome, "spine2:leaf2"))
        assert downlinks == [0, 0, 50, 800], seed
        used.add(sum(sent(fabric, outcome, "spine1:leaf2")) in (50, 800))
    assert used == {True, False}


def test_floods_end_with_the_run_also_when_a_flow_never_ends() -> None:
    fabric = two_tiers(leaves=2)
    lossy = np.where([name.startswith("host1:") for name in fabric.link_names], 1.0, 0.0)
    base = plain("glb", flood_us=1)
    switches = replace(base.switches, loss_probability=lossy)
    outcome = simulate(fabric, workload([(0, 2, CROSSING, 0, 1)]), replace(base, switches=switches), 1)
    assert not outcome.complete
    assert outcome.totals["lost"] == 50
    assert outcome.totals["events"] < 1000


@pytest.mark.parametrize("dynamic", [0, 1])
def test_queue_pairs_go_over_the_spine_of_their_color(dynamic: int) -> None:
    fabric = two_tiers(spines=4, colors=4)
    rows = [(0, 2, SHORT * (pair + 1), 0, pair) for pair in range(4)]
    work = replace(workload(rows), queue_pair=np.arange(4, dtype=np.int32))
    for seed in RLB_SEEDS:
        outcome = simulate(fabric, work, plain("rlb", dynamic=dynamic), seed)
        assert sent(fabric, outcome, "leaf1:spine") == [100, 200, 300, 400]
        assert sum(outcome.out_of_order) == 0


def test_among_parallel_links_dlb_chooses() -> None:
    fabric = two_tiers(links=2, colors=2)
    rows = [(0, 2, LONG, 0, 1), (1, 3, SHORT, 100, 2)]
    for seed in RLB_SEEDS:
        assert sorted(sent(fabric, run(fabric, rows, "rlb", seed), "leaf1:spine1")) == [100, 400], seed


def test_without_dlb_a_hash_chooses() -> None:
    fabric = two_tiers(links=2, colors=2)
    rows = [(host, 2 + host, SHORT, 0, port) for host in (0, 1) for port in range(4)]
    for seed in RLB_SEEDS:
        hashed, without = run(fabric, rows, "ecmp", seed), run(fabric, rows, "rlb", seed, dynamic=0)
        assert np.array_equal(hashed.link_packets, without.link_packets)
        assert np.array_equal(hashed.finish_ps, without.finish_ps)


def test_adaptive_routing_with_telemetry_avoids_what_is_congested_behind_the_next_hop() -> None:
    """Leaf 3 fills the link from spine 1 to leaf 2: packets of leaf 1 go over spine 2 once that has been flooded."""
    fabric = clos(3, 2, 1, host_bps=10 * G, uplink_bps=[4 * G, 40 * G])
    # Both begin in the same state; the queue of the slow spine grows.
    rows = [(2, 1, 600_000, 0, 1), (0, 1, 200_000, 150, 2)]
    known = {"flood_us": 5, "flood_delay_us": 1, "min_queue_bytes": 5_000}
    shares: dict[str, list[float]] = {"adaptive": [], "spectrum-x": []}
    for name, found in shares.items():
        for seed in range(1, 6):
            given = known if name == "spectrum-x" else {}
            outcome = run(fabric, rows, name, seed, transport="timeout-only", **given)
            assert outcome.complete
            packets = sent(fabric, outcome, "leaf1:spine")
            found.append(packets[0] / sum(packets))
    assert np.mean(shares["spectrum-x"]) < 0.7 * np.mean(shares["adaptive"])
