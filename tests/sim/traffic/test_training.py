"""Training jobs: steps, groups and times of data, tensor and pipeline parallelism; repeated collectives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.errors import UsageError
from ailb_gen.sim.traffic.algorithms import CollectiveOptions, Ranks
from ailb_gen.sim.traffic.builder import QueuePairs, TaskBuilder
from ailb_gen.sim.traffic.groups import together
from ailb_gen.sim.traffic.parallelism import Training
from ailb_gen.sim.traffic.training import place, repeat, train
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


@pytest.mark.parametrize(("stages", "microbatches", "virtual"), [(2, 2, 2), (4, 8, 2), (4, 4, 3)])
def test_virtual_stages_divide_the_bubble(stages: int, microbatches: int, virtual: int) -> None:
    """The bubble of the interleaved schedule is (p - 1)(f + b) / v (Narayanan et al. 2021)."""
    training = Training(
        pipeline=stages, microbatches=microbatches, virtual=virtual, forward_ps=60, backward_ps=120, steps=2
    )
    step = microbatches * 180 + (stages - 1) * 180 // virtual
    assert step_times(build(training)) == [step, 2 * step]


def test_recompute_repeats_the_forward_pass_and_its_collectives() -> None:
    plain = Training(tensor=2, microbatches=3, forward_ps=10, backward_ps=20, tensor_bytes=8)
    again = replace(plain, recompute=True)
    # A ring of 2 takes as long as the vector has bytes.
    assert step_times(build(plain)) == [3 * (10 + 20 + 2 * 8)]
    assert step_times(build(again)) == [3 * (10 + 10 + 20 + 3 * 8)]


@pytest.mark.parametrize(("overlap", "step"), [(0.0, 2 * 2 * (50 + 80)), (0.25, 2 * 2 * (50 + 60)), (1.0, 2 * 2 * 80)])
def test_overlap_hides_a_share_of_the_bytes(overlap: float, step: int) -> None:
    training = Training(
        tensor=2, forward_ps=100, backward_ps=100, tensor_bytes=80, tensor_collectives=2, tensor_overlap=overlap
    )
    assert step_times(build(training)) == [step]
    assert set(sent(build(training)).values()) == {4 * 80}


def test_sequence_parallelism_sends_as_many_bytes() -> None:
    plain = Training(tensor=4, forward_ps=10, backward_ps=20, tensor_bytes=40)
    halves = replace(plain, sequence_parallel=True)
    assert sent(build(halves)) == sent(build(plain))
    assert set(build(halves).labels) >= {"reduce-scatter", "all-gather"}


@pytest.mark.parametrize("gradients", ["all-reduce", "sharded"])
def test_overlapped_buckets_leave_the_last_one(gradients: Any) -> None:
    """Buckets of 20 are shorter than the quarter of a backward pass that fills them."""
    training = Training(
        data=2, microbatches=2, forward_ps=50, backward_ps=100, optimizer_ps=7, gradient_bytes=80,
        gradient_buckets=4, gradient_overlap=True, gradients=gradients,
    )  # fmt: skip
    after = {"all-reduce": 20, "sharded": 10 + 40}[gradients]
    assert step_times(build(training)) == [2 * 150 + after + 7]
    assert step_times(build(replace(training, gradient_overlap=False))) == [2 * 150 + 80 + 7]


def test_slow_buckets_wait_for_one_another() -> None:
    training = Training(
        data=2, forward_ps=50, backward_ps=100, gradient_bytes=800, gradient_buckets=4, gradient_overlap=True
    )
    assert step_times(build(training)) == [50 + 25 + 800]


def test_context_parallelism_sends_keys_values_and_their_gradients_and_shares_replicas() -> None:
    training = Training(data=2, context=2, tensor=2, forward_ps=4, context_bytes=60, gradient_bytes=80)
    workload = build(training)
    # Forward all-gather, backward all-gather and reduce-scatter between neighbors c; gradients over all 4 rows.
    assert pairs(workload, "reduce-scatter") == {(a, a ^ 2): 30 for a in range(8)}
    assert pairs(workload, "all-gather") == {(a, a ^ 2): 60 for a in range(8)}
    assert set(pairs(workload, "all-reduce").values()) == {2 * 3 * 80 // 4}


@pytest.mark.parametrize(("tensor", "expert"), [(1, 4), (2, 4), (4, 2)])
def test_experts_are_consecutive_ranks_and_reduce_over_those_that_hold_the_same(tensor: int, expert: int) -> None:
    training = Training(
        data=8 // tensor, tensor=tensor, expert=expert, forward_ps=4, expert_bytes=40, expert_gradient_bytes=80
    )
    workload = build(training)
    groups = [range(first, first + expert) for first in range(0, 8, expert)]
    # To experts and back, forward and backward.
    assert pairs(workload, "all-to-all") == {
        (a, b): 4 * 40 // expert for group in groups for a in group for b in group if a != b
    }
    copies = 8 // expert
    ring = {(a, (a + expert) % 8): 2 * (copies - 1) * 80 // copies for a in range(8)}
    assert pairs(workload, "all-reduce") == ring


def test_skewed_experts_get_more_and_send_it_back_and_compute_longer() -> None:
    training = Training(
        data=4, expert=4, forward_ps=100, expert_bytes=80, expert_weights=(5, 1, 1, 1), expert_compute=0.5
    )
    workload = build(training)
    assert pairs(workload, "all-to-all") == {
        (a, b): 2 * (80 * (5 if b == 0 else 1) + 80 * (5 if a == 0 else 1)) // 8
        for a in range(4)
        for b in range(4)
        if a != b
    }
    # The first rank has 2.5 times the mean; two exchanges in turn, the longest message 50.
    assert step_times(workload) == [100 * 7 // 4 + 4 * 50]


def test_nvlink_takes_time_inside_servers() -> None:
    """Tensor groups of a server at 1 byte per ps: 2 (n - 1) / n of the vector, or once with the switch's sums."""
    training = Training(tensor=4, forward_ps=10, backward_ps=20, tensor_bytes=80)
    for nvls, each in ((False, 120), (True, 100)):
        options = CollectiveOptions(nvlink_bps=8 * 10**12, nvls=nvls)
        workload = build(replace(training, options=options), servers=np.zeros(4, dtype=np.int64))
        assert step_times(workload) == [30 + 2 * each]
        assert not sent(workload)


def test_stages_of_one_server_hand_over_by_nvlink() -> None:
    training = Training(pipeline=2, forward_ps=10, backward_ps=20, activation_bytes=30)
    options = CollectiveOptions(nvlink_bps=8 * 10**12)
    servers = np.zeros(2, dtype=np.int64)
    assert step_times(build(training, servers=servers)) == [60]
    assert step_times(build(replace(training, options=options), servers=servers)) == [60 + 2 * 30]


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"data": 3, "expert": 2}, "expert 2 does not divide the 3 ranks of a stage"),
        ({"data": 3, "tensor": 2, "expert": 3}, "one must divide the other"),
        ({"virtual": 2}, "virtual stages need 2 or more stages"),
        ({"pipeline": 2, "virtual": 2, "microbatches": 3}, "a multiple of 2 microbatches, not 3"),
        ({"data": 2, "expert": 2, "expert_bytes": 4, "expert_collectives": 3}, "no multiple of 2"),
        (
            {"tensor_bytes": 1, "tensor_collectives": 999_999, "context_bytes": 1, "context_collectives": 1_000_000},
            "use numbers with a larger common divisor",
        ),
    ],
)
def test_degrees_that_do_not_fit_are_refused(keys: dict[str, int], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        Training(**keys)  # type: ignore[arg-type]


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
