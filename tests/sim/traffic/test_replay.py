"""Traces as traffic: times and bytes against numbers worked out by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from ailb_gen.errors import IntentError, Problem, UsageError
from ailb_gen.sim.traffic.algorithms import CollectiveOptions
from ailb_gen.sim.traffic.builder import TaskBuilder, TaskCounter
from ailb_gen.sim.traffic.replay import ReplayOptions, replay
from ailb_gen.sim.traffic.trace import ExecutionTrace, TraceNode
from ailb_gen.sim.traffic.trace_files import read_trace
from ailb_gen.sim.workload import Workload
from tests.sim.traffic.executor import finish_times, sent
from tests.sim.traffic.test_chakra import TRACES

PLAIN = ReplayOptions(CollectiveOptions())


def node(number: int, *waits: int) -> TraceNode:
    return TraceNode(number, number, waits)


def workload(ranks: list[list[TraceNode]], options: ReplayOptions = PLAIN, per_server: int = 1) -> Workload:
    trace = ExecutionTrace([f"t.{rank}.et" for rank in range(len(ranks))], ranks, {"low": (0, 1)})
    builder = TaskBuilder()
    problems: list[Problem] = []
    steps = trace.steps(problems)
    assert problems == []
    hosts = np.arange(len(ranks))
    replay(builder, builder.job("trace"), steps, hosts, hosts // per_server, options)
    return builder.finish()


def time_of(found: Workload) -> int:
    return finish_times(found)[int(found.steps[0][0])]


def test_a_microbenchmark_of_astra_sim_takes_the_time_of_its_ring() -> None:
    """An all-reduce of 1 MiB over 4 ranks: 6 steps of a quarter."""
    steps, count = read_trace(TRACES, "all_reduce")
    assert (len(steps), count) == (1, 4)
    builder, counter = TaskBuilder(), TaskCounter()
    for one in (builder, counter):
        replay(one, one.job("trace"), steps, np.arange(4), np.arange(4), PLAIN)
    found = builder.finish()
    assert time_of(found) == 6 * (1 << 18)
    assert counter.least().tasks <= found.count


def test_computation_collective_and_message_one_after_the_other() -> None:
    """5 us, an all-gather of 1,000 bytes per rank, then 2,000 bytes; a byte takes a ps."""
    steps, count = read_trace(TRACES, "mixed")
    builder = TaskBuilder()
    replay(builder, builder.job("trace"), steps, np.arange(count), np.arange(count), PLAIN)
    found = builder.finish()
    assert time_of(found) == 5_000_000 + 1000 + 2000
    assert sent(found) == {0: 3000, 1: 1000}


def test_a_gpu_does_one_computation_at_a_time_and_its_cpu_another() -> None:
    nodes = [node(1).computing(10, 0, False), node(2).computing(20, 0, False), node(3).computing(25, 0, True)]
    assert time_of(workload([nodes])) == 30


def test_collectives_wait_for_all_their_ranks_and_for_the_one_before_them() -> None:
    def reduce(number: int, *waits: int) -> TraceNode:
        return TraceNode(number, number, waits, group="low").collecting("all-reduce", 40)

    slow = [node(1).computing(100, 0, False), reduce(2, 1), reduce(3)]
    fast = [node(1).computing(10, 0, False), reduce(2, 1), reduce(3)]
    other = [node(1).computing(7, 0, False)]
    assert time_of(workload([slow, fast, other])) == 100 + 40 + 40


def test_a_group_without_ranks_is_that_of_all() -> None:
    """As PyTorch writes process groups of all ranks."""
    ranks = [[TraceNode(1, 1, (), group="all").collecting("all-reduce", 40)] for _ in range(2)]
    problems: list[Problem] = []
    (step,) = ExecutionTrace(["t.0.et", "t.1.et"], ranks, {"all": ()}).steps(problems)
    assert (problems, step.ranks) == ([], (0, 1))


def test_inside_a_server_only_nvlink_takes_time() -> None:
    ranks = [[node(1).collecting("all-reduce", 80), node(2, 1).sending("send", 1, 0, 30)],
             [node(1).collecting("all-reduce", 80), node(2, 1).sending("receive", 0, 0, 30)]]  # fmt: skip
    assert time_of(workload(ranks, per_server=2)) == 0
    nvlink = ReplayOptions(CollectiveOptions(nvlink_bps=8 * 10**12))
    found = workload(ranks, nvlink, per_server=2)
    assert time_of(found) == 80 + 30
    assert not sent(found)


def test_operations_take_the_time_of_the_gpu() -> None:
    ranks = [[node(1).computing(0, 3 * 10**9, False)]]
    assert time_of(workload(ranks, ReplayOptions(CollectiveOptions(), flops=10**12))) == 3 * 10**9
    with pytest.raises(UsageError, match="node 1 of rank 0 has 3,000,000,000 operations and no duration"):
        workload(ranks)


ALL = node(1).collecting("all-reduce", 8)


@pytest.mark.parametrize(
    ("ranks", "reasons"),
    [
        ([[node(1, 7)]], ["t.0.et:1:1: error[wrong-value]: node 1: it waits for node 7, which the rank lacks"]),
        ([[node(1, 2), node(2, 1)]], ["node 1: it waits for itself, by way of other nodes or ranks"]),
        ([[node(1), node(1)]], ["2 nodes of the rank have this id"] * 2),
        ([[ALL], []], ["rank 1 has only 0 collectives in the group of all ranks"]),
        ([[ALL], [node(1).collecting("all-gather", 8)]], ["all-gather of 8 bytes, and rank 0 has all-reduce of 8"]),
        ([[TraceNode(1, 1, (), group="x").collecting("all-reduce", 8)]], ["unknown group 'x'"]),
        (
            [[], [], [TraceNode(1, 1, (), group="low").collecting("all-reduce", 8)]],
            ["rank 2 is not in group 'low'"],
        ),
        ([[node(1).sending("send", 1, 0, 5)], []], ["rank 1 does not receive it (tag 0)"]),
        ([[node(1).sending("receive", 1, 0, 5)], []], ["rank 1 does not send it (tag 0)"]),
        ([[node(1).sending("send", 0, 0, 5), node(2).sending("send", 9, 0, 5)]], ["no peer 0", "no peer 9"]),
        (
            [[node(1).sending("receive", 1, 0, 5), node(2, 1).sending("send", 1, 0, 5)],
             [node(1).sending("receive", 0, 0, 5), node(2, 1).sending("send", 0, 0, 5)]],
            ["it waits for itself"],
        ),
    ],
)  # fmt: skip
def test_traces_that_cannot_run(ranks: list[list[TraceNode]], reasons: list[str]) -> None:
    problems: list[Problem] = []
    ExecutionTrace([f"t.{rank}.et" for rank in range(len(ranks))], ranks, {"low": (0, 1)}).steps(problems)
    assert len(problems) == len(reasons)
    for problem, reason in zip(problems, reasons, strict=True):
        assert reason in str(problem)


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(IntentError, match=r"of the files trace\.0\.et, trace\.1\.et"):
        read_trace(tmp_path, "nothing")
    for rank in range(3):
        shutil.copy(TRACES / f"all_reduce.{rank}.et", tmp_path)
    (tmp_path / "groups.json").write_text('{"1": [0, 0], "2": "x"}')
    with pytest.raises(IntentError) as caught:
        read_trace(tmp_path, "all_reduce", "groups.json")
    assert str(caught.value).count("must be a mapping from names to lists of different ranks") == 2
    (tmp_path / "groups.json").write_text("{")
    with pytest.raises(IntentError, match="not JSON"):
        read_trace(tmp_path, "all_reduce", "groups.json")


def test_a_truncated_file_is_no_error_of_other_ranks(tmp_path: Path) -> None:
    for rank in range(4):
        data = (TRACES / f"all_reduce.{rank}.et").read_bytes()
        (tmp_path / f"all_reduce.{rank}.et").write_bytes(data[:-20] if rank == 2 else data)
    with pytest.raises(IntentError) as caught:
        read_trace(tmp_path, "all_reduce")
    (problem,) = caught.value.problems
    assert str(problem).startswith("all_reduce.2.et:")
