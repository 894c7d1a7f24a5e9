"""The published workloads "heavy" and "mixed": counts, phases, randomness."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ailb_gen.sim.traffic import scale_unit
from ailb_gen.sim.traffic.builder import QueuePairs
from ailb_gen.sim.traffic.scale_unit import PS_PER_MS
from ailb_gen.sim.workload import COMPUTATION, Workload
from tests.sim.traffic.executor import check, finish_times, packets
from tests.sim.traffic.test_builder import same


@pytest.mark.parametrize(
    ("build", "scale", "payload", "expected"),
    [
        (scale_unit.heavy, 1, 32_768, 3_199_523),
        pytest.param(scale_unit.heavy, 2, 32_768, 6_373_923, marks=pytest.mark.long),
        pytest.param(scale_unit.heavy, 8, 32_768, 25_420_323, marks=pytest.mark.long),
        (scale_unit.mixed, 1, 4096, 9_701_923),
        pytest.param(scale_unit.mixed, 2, 4096, 19_378_723, marks=pytest.mark.long),
        pytest.param(scale_unit.mixed, 4, 4096, 38_732_323, marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_packets_are_the_published_ones(
    build: Callable[[int, int], Workload], scale: int, payload: int, expected: int, seed: int
) -> None:
    workload = build(seed, scale)
    check(workload)
    assert packets(workload, payload) == expected


def test_heavy_runs_bucket_after_bucket() -> None:
    workload = scale_unit.heavy(5, steps=2, mice=False)
    ends = finish_times(workload)
    flow = scale_unit.BUCKET_BYTES // 32
    step = 15 * PS_PER_MS + 8 * flow
    assert [ends[task] for task in workload.steps[0]] == [step, 2 * step]
    flows = workload.source != COMPUTATION
    assert np.count_nonzero(flows) == 2 * 8 * 1984
    assert set(workload.amount[flows].tolist()) == {flow}
    assert set(np.bincount(workload.source[flows]).tolist()) == {2 * 8 * 62}


def test_heavy_has_other_rings_every_time() -> None:
    workload = scale_unit.heavy(5, steps=1, mice=False)
    rings = set()
    for label in ("reduce-scatter", "all-gather"):
        flows = (workload.source != COMPUTATION) & (workload.label == workload.labels.index(label))
        for bucket in np.flatnonzero(flows).reshape(8, 31, 32):
            edges = {frozenset(zip(workload.source[row], workload.target[row], strict=True)) for row in bucket}
            assert len(edges) == 1, "the same ring in all of its steps"
            rings |= edges
    assert len(rings) == 16


def test_mixed_runs_both_jobs_at_once() -> None:
    workload = scale_unit.mixed(3, steps=2, mice=False)
    ends = finish_times(workload)
    tensor = 7 * PS_PER_MS + 16 * (PS_PER_MS // 2 + (8 << 10)) + (128 << 10)
    pipeline = 3 * PS_PER_MS + 2 * (256 << 10) + (256 << 10)
    assert workload.jobs == ("tp_heavy", "pp_dp")
    assert [ends[task] for task in workload.steps[0]] == [tensor, 2 * tensor]
    assert [ends[task] for task in workload.steps[1]] == [pipeline, 2 * pipeline]
    for job, servers in enumerate(({0, 1}, {2, 3})):
        flows = (workload.source != COMPUTATION) & (workload.job == job)
        assert {int(host) % 4 for host in workload.source[flows]} == servers
        assert len(set(workload.source[flows].tolist())) == 16


def test_stages_of_the_pipeline_are_pairs_of_leaves() -> None:
    workload = scale_unit.mixed(3, steps=1, mice=False)
    flows = (workload.source != COMPUTATION) & (workload.label == workload.labels.index("stages"))
    forward, backward = np.flatnonzero(flows).reshape(2, 48)
    assert (workload.target[forward] - workload.source[forward] == 8).all(), "the partner two leaves further on"
    assert (workload.source[backward] - workload.target[backward] == 8).all()
    assert set(np.bincount(workload.source[forward] // 8).tolist()) == {16}


def test_mice_cross_leaves_at_a_fixed_interval() -> None:
    workload = scale_unit.heavy(9, steps=1)
    mice = workload.label == workload.labels.index("mice")
    assert np.count_nonzero(mice) == 10_001
    assert workload.start_ps[mice].tolist() == [PS_PER_MS * i for i in range(10_001)]
    leaf = scale_unit.leaf_of_host()
    assert (leaf[workload.source[mice]] != leaf[workload.target[mice]]).all()
    assert (workload.job[mice] == -1).all()
    counts = np.bincount(workload.amount[mice] // 32_768)
    assert counts.tolist() == [0, 2422, 2531, 2553, 2495]
    per_source = np.bincount(workload.source[mice])
    assert per_source.min() > 200
    assert per_source.max() < 440


def test_the_seed_decides_rings_and_mice() -> None:
    one, again, other = (scale_unit.heavy(seed, steps=1) for seed in (1, 1, 2))
    assert same(one, again)
    assert not same(one, other)


def test_messages_are_spread_over_queue_pairs() -> None:
    workload = scale_unit.heavy(1, steps=1, mice=False, queue_pairs=QueuePairs(4))
    flows = workload.source != COMPUTATION
    assert np.bincount(workload.queue_pair[flows]).tolist() == [8 * 1984] * 4
    assert set(workload.amount[flows].tolist()) == {(128 << 10) // 4}
