"""Training jobs: steps, groups and times of data, tensor and pipeline parallelism; repeated collectives."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.errors import UsageError
from ailb_gen.sim.traffic.algorithms import CollectiveOptions, Ranks
from ailb_gen.sim.traffic.builder import QueuePairs, TaskBuilder
from ailb_gen.sim.traffic.training import Training, operations, place, repeat, together, train
from ailb_gen.sim.workload import COMPUTATION, Workload
from tests.conftest import examples
from tests.sim.traffic.executor import finish_times, sent


def build(training: Training, hosts: Ranks | None = None, servers: Ranks | None = None) -> Workload:
    builder = TaskBuilder(1)
    train(builder, "j", np.arange(training.ranks) if hosts is None else hosts, training, servers)
    return builder.finish()


def step_times(workload: Workload) -> list[int]:
    ends = finish_times(workload)
    return [ends[task] for task in workload.steps[0]]


@pytest.mark.parametrize("schedule", ["1f1b", "gpipe"])
@pytest.mark.parametrize(("stages", "microbatches"), [(1, 1), (1, 5), (4, 1), (4, 4), (4, 8), (3, 2)])
def test_a_pipeline_takes_its_bubble(schedule: Any, stages: int, microbatches: int) -> None:
    """Both schedules have the bubble (p - 1)(f + b) (Narayanan et al. 2021)."""
    training = Training(
        pipeline=stages,
        microbatches=microbatches,
        schedule=schedule,
        forward_ps=10,
        backward_ps=20,
        optimizer_ps=7,
        steps=2,
    )
    step = (microbatches + stages - 1) * 30 + 7
    assert step_times(build(training)) == [step, 2 * step]


@settings(max_examples=examples(60))
@given(st.integers(1, 6), st.integers(1, 8))
def test_every_pass_is_done_once_and_forward_first(stages: int, microbatches: int) -> None:
    for schedule in ("1f1b", "gpipe"):
        for stage in range(stages):
            done = operations(stage, stages, microbatches, schedule)
            assert sorted(done) == sorted((way, m) for way in ("forward", "backward") for m in range(microbatches))
            assert all(done.index(("forward", m)) < done.index(("backward", m)) for m in range(microbatches))
            open_passes = np.cumsum([1 if way == "forward" else -1 for way, _ in done])
            limit = microbatches if schedule == "gpipe" else min(stages - stage, microbatches)
            assert open_passes.max() == limit, "as many activations as 1F1B is made to hold"


@settings(max_examples=examples(40))
@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(["all-reduce", "sharded"]),
    st.builds(QueuePairs, st.integers(1, 3), st.sampled_from(["split", "round-robin"])),
    st.sampled_from(["1f1b", "gpipe"]),
)
def test_bytes_of_all_parallelisms_add_up(
    data: int, tensor: int, pipeline: int, microbatches: int, gradients: Any, queue_pairs: QueuePairs, schedule: Any
) -> None:
    training = Training(
        data=data,
        tensor=tensor,
        pipeline=pipeline,
        microbatches=microbatches,
        steps=2,
        schedule=schedule,
        forward_ps=5,
        tensor_bytes=60,
        tensor_collectives=2,
        activation_bytes=7,
        gradient_bytes=120,
        gradient_buckets=4,
        gradients=gradients,
        queue_pairs=queue_pairs,
    )
    workload = build(training)
    finish_times(workload)
    passes = 2 * microbatches * pipeline
    expected = 2 * (
        passes * data * 2 * 2 * (tensor - 1) * 60
        + 2 * microbatches * (pipeline - 1) * data * tensor * 7
        + pipeline * tensor * 2 * (data - 1) * 120
    )
    assert sum(sent(workload).values()) == expected
    assert len(workload.steps[0]) == 2


def test_groups_are_those_of_megatron() -> None:
    training = Training(
        data=2, tensor=3, pipeline=2, forward_ps=1, tensor_bytes=30, activation_bytes=4, gradient_bytes=200
    )
    hosts = np.arange(12) + 100
    workload = build(training, hosts)
    kinds: dict[int, set[tuple[int, int]]] = {}
    for source, target, amount in zip(workload.source, workload.target, workload.amount, strict=True):
        if source != COMPUTATION:
            kinds.setdefault(int(amount), set()).add((int(source) - 100, int(target) - 100))
    assert {frozenset(divmod(rank, 3)[0] for rank in pair) for pair in kinds[10]} == {frozenset({i}) for i in range(4)}
    assert kinds[4] == {(i, i + 6) for i in range(6)} | {(i + 6, i) for i in range(6)}
    assert kinds[100] == {(a, b) for i in (0, 1, 2, 6, 7, 8) for a, b in ((i, i + 3), (i + 3, i))}


def pairs(workload: Workload, label: str) -> dict[tuple[int, int], int]:
    """The bytes from host to host of one label."""
    found: Counter[tuple[int, int]] = Counter()
    for task in np.flatnonzero((workload.source >= 0) & (workload.label == workload.labels.index(label))):
        found[int(workload.source[task]), int(workload.target[task])] += int(workload.amount[task])
    return dict(found)


def test_ranks_of_one_server_exchange_data_in_no_time() -> None:
    """Tensor groups fill servers of 2; rings of replicas stay on their rail; stages hand over on their rail."""
    training = Training(
        data=2, tensor=2, pipeline=2, forward_ps=1, tensor_bytes=30, activation_bytes=4, gradient_bytes=200
    )
    workload = build(training, servers=np.arange(8) // 2)
    assert set(workload.labels) >= {"stages", "all-reduce"}
    assert pairs(workload, "all-reduce") == {(a, b): 200 for i in (0, 1, 4, 5) for a, b in ((i, i + 2), (i + 2, i))}
    assert pairs(workload, "stages") == {(a, b): 4 for i in range(4) for a, b in ((i, i + 4), (i + 4, i))}


def test_replicas_of_one_server_are_one_in_the_ring() -> None:
    """4 replicas in 2 servers of 2: a ring per rail with half of the vector, as collectives have it."""
    workload = build(Training(data=4, gradient_bytes=80), servers=np.arange(4) // 2)
    # 6 steps of a quarter of the half, and nothing between neighbors in a server.
    assert pairs(workload, "all-reduce") == dict.fromkeys(((0, 2), (2, 0), (1, 3), (3, 1)), 60)


def test_a_job_in_one_server_sends_nothing() -> None:
    training = Training(
        data=2, tensor=2, pipeline=2, forward_ps=1, tensor_bytes=8, activation_bytes=4, gradient_bytes=200
    )
    assert not (build(training, servers=np.zeros(8, dtype=np.int64)).source >= 0).any()


@pytest.mark.parametrize(
    ("servers", "count"),
    [
        ([[0, 1, 2, 3]], 1),
        ([[0, 0, 1, 1], [2, 2, 3, 3]], 2),
        ([[0, 0, 0, 0]], 4),
        ([[0, 0, 1, 1], [2, 3, 3, 4]], 1),
        ([[0, 0, 0, 1]], 1),
        ([[5]], 1),
    ],
)
def test_ranks_are_together_if_they_are_so_everywhere(servers: list[list[int]], count: int) -> None:
    assert together(np.array(servers)) == count


@pytest.mark.parametrize("gradients", ["all-reduce", "sharded"])
def test_a_stream_carries_the_same_bytes_in_one_message(gradients: Any) -> None:
    found = {}
    for stream in (False, True):
        training = Training(data=4, gradient_bytes=4096, gradients=gradients, options=CollectiveOptions(stream=stream))
        workload = build(training)
        found[stream] = sent(workload)
        assert np.count_nonzero(workload.source >= 0) == (4 if stream else 24) * (
            2 if stream and gradients == "sharded" else 1
        )
    assert found[True] == found[False]


def test_stages_reduce_when_their_own_work_is_done() -> None:
    """The last stage ends first: its gradients travel while the others still work."""
    training = Training(data=2, pipeline=2, forward_ps=10, backward_ps=100, gradient_bytes=20)
    workload = build(training)
    ends = finish_times(workload)
    flows = {(int(workload.source[t]), ends[t]) for t in range(workload.count) if workload.source[t] != COMPUTATION}
    assert {end for host, end in flows if host >= 2} == {10 + 10 + 100 + 10, 10 + 10 + 100 + 20}
    assert {end for host, end in flows if host < 2} == {10 + 10 + 200 + 10, 10 + 10 + 200 + 20}


def test_iterations_are_steps() -> None:
    builder = TaskBuilder()
    repeat(builder, "j", "all-gather", np.arange(4), 40, iterations=3, compute_ps=100)
    assert step_times(builder.finish()) == [(100 + 30) * i for i in (1, 2, 3)]


def test_groups_of_an_iteration_wait_for_one_another() -> None:
    builder = TaskBuilder()
    repeat(builder, "j", "all-reduce", np.arange(8).reshape(2, 4), 40, iterations=2, queue_pairs=QueuePairs(2))
    workload = builder.finish()
    assert step_times(workload) == [30, 60]
    flows = workload.source != COMPUTATION
    assert Counter(workload.queue_pair[flows].tolist()) == {0: 96, 1: 96}


def test_gradients_fill_their_buckets() -> None:
    with pytest.raises(UsageError, match="too few for 4 buckets"):
        Training(gradient_bytes=3, gradient_buckets=4)


HOSTS = np.arange(12, dtype=np.int32)


def test_packed_strided_and_random_placement() -> None:
    assert place(3, HOSTS).tolist() == [0, 1, 2]
    assert place(4, HOSTS, "strided", stride=4).tolist() == [0, 4, 8, 1]
    drawn, again, other = (place(5, HOSTS, "random", seed) for seed in (1, 1, 2))
    assert np.array_equal(drawn, again)
    assert not np.array_equal(drawn, other)


@settings(max_examples=examples(60))
@given(
    st.integers(1, 24),
    st.sampled_from(["packed", "strided", "random"]),
    st.integers(0, 2**40),
    st.integers(1, 40),
    st.sampled_from([1, 2, 6]),
)
def test_no_host_has_two_ranks_and_blocks_stay_together(
    count: int, placement: Any, seed: int, stride: int, block: int
) -> None:
    hosts = np.arange(100, 124, dtype=np.int32)
    placed = place(count, hosts, placement, seed, stride, block).tolist()
    assert len(placed) == len(set(placed)) == count
    assert set(placed) <= set(hosts.tolist())
    for first in range(0, count - count % block, block):
        assert placed[first : first + block] == list(range(placed[first], placed[first] + block))


def test_impossible_placements_are_refused() -> None:
    with pytest.raises(UsageError, match="the job needs 13 hosts, and there are 12"):
        place(13, HOSTS)
    with pytest.raises(UsageError, match="12 hosts are not whole blocks of 5"):
        place(10, HOSTS, block=5)
