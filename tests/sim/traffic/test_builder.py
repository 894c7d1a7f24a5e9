"""The builder: numbers of tasks, queue pairs, ports, barriers, dependencies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.errors import UsageError
from ailb_gen.sim.traffic.builder import FIRST_PORT, NO_TASK, PORTS, QueuePairs, TaskBuilder, mixed, spread
from ailb_gen.sim.workload import COMPUTATION, Workload, merged, shared_queue_pairs
from tests.conftest import examples
from tests.sim.traffic.executor import check, finish_times


def same(one: Workload, other: Workload) -> bool:
    return all(
        np.array_equal(np.asarray(getattr(one, name)), np.asarray(getattr(other, name)))
        for name in ("source", "target", "queue_pair", "port", "amount", "start_ps", "waits", "successors", "job")
    )


@given(st.integers(0, 10**15), st.integers(1, 50))
def test_shares_sum_to_the_whole_and_differ_by_one(total: int, parts: int) -> None:
    shares = spread(total, parts)
    assert shares.sum() == total
    assert shares.max() - shares.min() <= 1
    assert (np.diff(shares) <= 0).all()


def test_shares_of_several_wholes_are_rows() -> None:
    assert spread(np.array([7, 4]), 3).tolist() == [[3, 2, 2], [2, 1, 1]]


def test_an_empty_workload_is_one() -> None:
    workload = TaskBuilder().finish()
    check(workload)
    assert workload.count == 0
    assert finish_times(workload) == []


def test_a_message_is_split_over_the_queue_pairs_and_ends_with_all_of_them() -> None:
    builder = TaskBuilder()
    job = builder.job("j", QueuePairs(4))
    messages = builder.send(job, np.array([0, 1, 2]), np.array([1, 2, 0]), np.array([10, 2, 0]))
    workload = builder.finish()
    assert workload.amount[:6].tolist() == [3, 3, 2, 2, 1, 1]
    assert workload.queue_pair[:6].tolist() == [0, 1, 2, 3, 0, 1]
    assert messages.first.tolist() == [0, 4, 6]
    assert messages.count.tolist() == [4, 2, 1]
    assert messages.end.tolist() == [7, 8, 6], "one flow ends a message, or a barrier; no bytes: a barrier at once"
    assert workload.source.tolist() == [0, 0, 0, 0, 1, 1, COMPUTATION, COMPUTATION, COMPUTATION]
    ends = finish_times(workload)
    assert [ends[end] for end in messages.end] == [3, 1, 0]


def test_messages_of_a_connection_share_queue_pairs_and_single_flows_do_not() -> None:
    builder = TaskBuilder()
    jobs = [builder.job(name, QueuePairs(2)) for name in ("one", "other")]
    for job in (jobs[0], jobs[0], jobs[1]):
        builder.send(job, np.array([0, 1]), np.array([1, 0]), 10)
    builder.send(jobs[1], np.array([0]), np.array([1]), 10)
    builder.flows(np.array([0, 0]), np.array([1, 1]), 10, 50_000)
    workload = builder.finish()
    numbers, count = shared_queue_pairs(workload)
    assert count == 6
    found = [numbers[workload.label == label][workload.source[workload.label == label] >= 0] for label in (0, 1)]
    assert found[0].tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 4, 5, -1, -1, 4, 5]
    assert found[1].tolist() == [-1, -1]
    assert shared_queue_pairs(TaskBuilder().finish())[1] == 0


def test_messages_take_queue_pairs_in_turn_by_connection() -> None:
    builder = TaskBuilder()
    job, other = builder.job("j", QueuePairs(3, "round-robin")), builder.job("k", QueuePairs(2, "round-robin"))
    source, target = np.array([0, 0, 1, 0]), np.array([1, 1, 0, 2])
    builder.send(job, source, target, 5)
    builder.send(other, source, target, 5)
    builder.send(job, source, target, np.array([5, 5, 0, 5]))
    workload = builder.finish()
    assert workload.queue_pair.tolist() == [0, 1, 0, 0, 0, 1, 0, 0, 2, 0, 0, 1]
    assert workload.count == 12


def test_a_queue_pair_keeps_its_port_for_the_whole_job() -> None:
    builder = TaskBuilder(seed=3)
    jobs = [builder.job("a", QueuePairs(4)), builder.job("b", QueuePairs(4))]
    for _ in range(3):
        for job in jobs:
            builder.send(job, np.arange(20), (np.arange(20) + 1) % 20, 100)
    workload = builder.finish()
    ports: dict[tuple[int, ...], set[int]] = {}
    for task in np.flatnonzero(workload.source != COMPUTATION):
        key = tuple(int(getattr(workload, name)[task]) for name in ("job", "source", "target", "queue_pair"))
        ports.setdefault(key, set()).add(int(workload.port[task]))
    assert len(ports) == 2 * 20 * 4
    assert all(len(one) == 1 for one in ports.values())
    numbers = {port for one in ports.values() for port in one}
    assert len(numbers) > 150, "ports of different queue pairs hardly ever collide"
    assert min(numbers) >= FIRST_PORT
    assert max(numbers) < FIRST_PORT + PORTS


def test_the_seed_decides_the_ports_alone() -> None:
    def build(seed: int) -> Workload:
        builder = TaskBuilder(seed)
        builder.send(builder.job("j"), np.arange(9), np.arange(9) + 1, 1)
        return builder.finish()

    assert same(build(1), build(1))
    assert not same(build(1), build(2))


def test_what_waits_for_many_waits_for_a_barrier() -> None:
    builder = TaskBuilder()
    job = builder.job("j")
    first = builder.send(job, np.arange(5), np.arange(5) + 1, np.arange(5) + 1)
    end = builder.barrier(first.end, job)
    second = builder.send(job, np.arange(5), np.arange(5) + 1, 10, end)
    builder.step(job, builder.barrier(second.end, job))
    workload = builder.finish()
    assert len(workload.successors) == 5 + 5 + 5
    ends = finish_times(workload)
    assert ends[end] == 5
    assert [ends[task] for task in workload.steps[0]] == [15]


def test_tasks_wait_for_rows_of_tasks() -> None:
    builder = TaskBuilder()
    three = builder.computations(3, np.array([5, 7, 9]))
    builder.computations(2, 1, np.array([[three[0], NO_TASK], [three[0], three[2]]]))
    assert finish_times(builder.finish()) == [5, 7, 9, 6, 10]


def test_a_start_time_is_kept() -> None:
    builder = TaskBuilder()
    builder.flows(np.array([0, 1]), np.array([1, 0]), np.array([5, 6]), np.array([1, 2]), np.array([100, 0]), "mice")
    workload = builder.finish()
    assert finish_times(workload) == [105, 6]
    assert workload.port.tolist() == [1, 2]
    assert workload.labels == ("mice",)
    assert workload.job.tolist() == [-1, -1]


@settings(max_examples=examples(30))
@given(st.integers(1, 6), st.sampled_from(["split", "round-robin"]), st.integers(0, 2**32))
def test_merged_workloads_run_side_by_side(pairs: int, split: str, seed: int) -> None:
    def build(scale: int) -> Workload:
        builder = TaskBuilder(seed)
        job = builder.job(f"j{scale}", QueuePairs(pairs, split))  # type: ignore[arg-type]
        end = NO_TASK
        for _ in range(3):
            end = builder.barrier(builder.send(job, np.arange(4), np.arange(4) + 1, scale, end).end, job)
            builder.step(job, end)
        return builder.finish()

    alone = [build(7), build(12)]
    both = merged(alone)
    assert finish_times(both) == [time for one in alone for time in finish_times(one)]
    assert both.jobs == ("j7", "j12")
    assert [len(steps) for steps in both.steps] == [3, 3]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4))
def test_hashes_are_the_same_for_arrays_and_numbers(parts: list[int]) -> None:
    assert mixed(*parts)[0] == mixed(*(np.full(3, part) for part in parts))[1]


@pytest.mark.parametrize("count", [0, 129])
def test_impossible_queue_pairs_are_refused(count: int) -> None:
    with pytest.raises(UsageError, match="queue pairs"):
        QueuePairs(count)
