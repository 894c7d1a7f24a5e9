"""FlowBender and Hopper: hosts move flows off congested paths, and only off those."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as drawn
from hypothesis import strategies as st

from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.memory import new_state
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import FabricArrays
from tests.conftest import examples
from tests.sim.engine.balancers.small import G, assert_conserved, flow_list, last_state, settings

HOSTS = ("flowbender", "hopper")


def uneven(size: int) -> tuple[FabricArrays, list[tuple[int, int, int, int]]]:
    """Return the testbed of the Hopper paper: six spines, two of them with a tenth of the rate."""
    fabric = clos(2, 6, 4, host_bps=25 * G, uplink_bps=[10 * G] * 4 + [G] * 2)
    return fabric, [(host, (host + 4) % 8, size, 0) for host in range(8)]


@pytest.mark.parametrize("balancer", HOSTS)
def test_a_flow_alone_stays_where_it_is(balancer: str) -> None:
    fabric = clos(2, 4, 1, host_bps=100 * G, uplink_bps=100 * G)
    outcome = simulate(fabric, flow_list([(0, 1, 200_000, 0)]), settings(fabric, balancer), 1)
    assert outcome.rerouted.sum() == 0
    # No probes: 4 links for every packet and its acknowledgement.
    assert outcome.totals["hops"] == 2 * 4 * 200


@pytest.mark.parametrize("balancer", HOSTS)
def test_a_flow_within_a_switch_has_no_other_path(balancer: str) -> None:
    fabric = clos(1, 2, 2, host_bps=100 * G, uplink_bps=100 * G)
    outcome = simulate(fabric, flow_list([(0, 1, 50_000, 0)]), settings(fabric, balancer), 1)
    assert outcome.rerouted.sum() == 0


def slow_seeds(fabric: FabricArrays) -> list[int]:
    """Return seeds with which hashes send the first flow over the slow spine."""
    first = flow_list([(0, 1, 30_000, 0)])
    ends = [simulate(fabric, first, settings(fabric, "ecmp"), seed).finish_ps[0] for seed in range(6)]
    return [seed for seed, end in enumerate(ends) if end > 2 * min(ends)]


@pytest.mark.parametrize("balancer", HOSTS)
def test_a_flow_leaves_a_slow_path(balancer: str) -> None:
    fabric = clos(2, 2, 1, host_bps=100 * G, uplink_bps=[100 * G, 10 * G])
    workload = flow_list([(0, 1, 1_000_000, 0)])
    seeds = slow_seeds(fabric)
    assert seeds
    for seed in seeds:
        stays, moves = (
            simulate(fabric, workload, settings(fabric, name, ecn_bytes=(5_000, 50_000)), seed)
            for name in ("ecmp", balancer)
        )
        assert moves.rerouted[0] > 0 == stays.rerouted[0]
        assert moves.finish_ps[0] < stays.finish_ps[0]


def test_probing_is_better_than_chance_and_chance_better_than_none() -> None:
    fabric, rows = uneven(200_000)
    means = {
        balancer: np.mean(
            [simulate(fabric, flow_list(rows), settings(fabric, balancer), seed).finish_ps for seed in range(5)]
        )
        for balancer in ("ecmp", *HOSTS)
    }
    assert means["hopper"] < 0.9 * means["flowbender"] < 0.9 * means["ecmp"]


def test_a_higher_share_of_marks_moves_fewer_flows() -> None:
    fabric, rows = uneven(100_000)
    moves = [
        simulate(fabric, flow_list(rows), settings(fabric, "flowbender", {"marked_percent": share}), 1).rerouted.sum()
        for share in (0, 5, 50, 100)
    ]
    assert moves[0] >= moves[1] >= moves[2] >= moves[3] == 0


def test_hopper_waits_for_the_packets_on_the_old_path() -> None:
    fabric, rows = uneven(200_000)
    late = {
        balancer: sum(
            simulate(fabric, flow_list(rows), settings(fabric, balancer), seed).out_of_order.sum() for seed in range(3)
        )
        / sum(simulate(fabric, flow_list(rows), settings(fabric, balancer), seed).rerouted.sum() for seed in range(3))
        for balancer in HOSTS
    }
    assert late["hopper"] < late["flowbender"]


def test_hopper_switches_only_below_the_margin() -> None:
    fabric, rows = uneven(100_000)
    moved, probes = {}, {}
    for margin in (0.0, 0.8):
        outcome = simulate(fabric, flow_list(rows), settings(fabric, "hopper", {"margin": margin}), 1)
        moved[margin] = outcome.rerouted.sum()
        probes[margin] = (
            outcome.totals["hops"]
            - outcome.totals["data_hops"]
            - 4 * sum(outcome.totals[name] for name in ("acks", "nacks"))
        )
    assert moved[0.0] == 0 < moved[0.8]
    # Paths are probed all the same.
    assert min(probes.values()) > 0


def test_many_probes_at_a_time_are_answered_before_they_are_forgotten() -> None:
    fabric, rows = uneven(500_000)
    moved = [
        sum(
            simulate(fabric, flow_list(rows), settings(fabric, "hopper", {"paths": paths}), seed).rerouted.sum()
            for seed in range(3)
        )
        for paths in (2, 8)
    ]
    assert moved[1] > moved[0] / 2 > 0


def test_the_base_round_trip_is_that_of_the_fastest_path() -> None:
    fabric, _ = uneven(1)
    state = last_state(fabric, flow_list([(0, 4, 1000, 0)]), settings(fabric, "hopper"), 1)
    there = 1048 * 8 * (2 * 40 + 2 * 100)
    back = 60 * 8 * (2 * 40 + 2 * 100)
    assert state.steered["base_round_trip"].max() == 8 * 10**6 + there + back


@pytest.mark.parametrize("balancer", HOSTS)
def test_with_chunks_paths_change_at_their_ends(balancer: str) -> None:
    fabric = clos(2, 2, 1, host_bps=100 * G, uplink_bps=[100 * G, 10 * G])
    workload = flow_list([(0, 1, 1_000_000, 0)])
    seed = slow_seeds(fabric)[0]
    ends = []
    for chunk in (20, 200, 1000):
        parameters = {"chunk_packets": chunk} | ({"late_factor": 2.5} if balancer == "flowbender" else {})
        outcome = simulate(fabric, workload, settings(fabric, balancer, parameters, ecn_bytes=(5_000, 50_000)), seed)
        assert outcome.rerouted[0] <= 1000 // chunk - 1
        ends.append(outcome.finish_ps[0])
    # The first chunk takes the slow path; one of 1000 packets is the whole flow.
    assert ends[1] > 200 * 1048 * 800
    if balancer == "hopper":
        assert ends[0] < ends[1] < ends[2]


def test_the_base_round_trip_of_a_chunk_is_its_time_on_the_fastest_path() -> None:
    fabric, _ = uneven(1)
    for balancer, parameters in (("hopper", {}), ("flowbender", {"late_factor": 2.0})):
        found = [
            last_state(
                fabric,
                flow_list([(0, 4, 1000, 0)]),
                settings(fabric, balancer, {**parameters, "chunk_packets": size}),
                1,
            )
            .steered["base_round_trip"]
            .max()
            for size in (1, 251)
        ]
        # 10 Gb/s are 800 ps per byte.
        assert found[1] - found[0] == 250 * 1048 * 800


def test_large_probes_see_slow_links() -> None:
    fabric, rows = uneven(1_000_000)
    slow = fabric.rate_bps == G
    shares = []
    for size in (0, 10_000):
        # Small probes find an idle slow link faster than a busy fast one.
        parameters = {"chunk_packets": 100, "probe_bytes": size}
        runs = [simulate(fabric, flow_list(rows), settings(fabric, "hopper", parameters), seed) for seed in range(4)]
        shares.append(sum(run.link_bytes[slow].sum() for run in runs))
    assert shares[1] < 0.9 * shares[0]


def test_flowbender_moves_for_late_answers_without_marks() -> None:
    fabric, rows = uneven(500_000)
    moves = [
        simulate(
            fabric,
            flow_list(rows),
            settings(fabric, "flowbender", {"late_factor": factor}, ecn_bytes=(10**9, 2 * 10**9)),
            1,
        ).rerouted.sum()
        for factor in (0, 2, 10, 1000)
    ]
    assert moves[0] == moves[3] == 0 < moves[2] < moves[1]


@pytest.mark.hypothesis
@pytest.mark.parametrize("balancer", HOSTS)
@drawn(max_examples=examples(8))
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(1, 7), st.integers(1, 80_000)), min_size=1, max_size=8),
    st.booleans(),
    st.sampled_from((0.0, 0.01)),
    st.integers(0, 1000),
)
def test_packets_and_probes_are_conserved(
    balancer: str, rows: list[tuple[int, int, int]], lossless: bool, loss: float, seed: int
) -> None:
    fabric, _ = uneven(1)
    workload = flow_list([(source, (source + step) % 8, size, 0) for source, step, size in rows])
    given_settings = settings(
        fabric, balancer, transport="go-back-n" if lossless else "selective-repeat", lossless=lossless, loss=loss
    )
    state = last_state(fabric, workload, given_settings, seed)
    assert_conserved(state, workload)


@pytest.mark.parametrize(("balancer", "kept"), [("ecmp", 1), ("flowbender", 1), ("hopper", 8), ("conweave", 8)])
def test_only_who_needs_it_keeps_more_of_a_flow(balancer: str, kept: int) -> None:
    fabric, rows = uneven(1)
    assert len(new_state(fabric, flow_list(rows), settings(fabric, balancer), 1).steered) == kept
