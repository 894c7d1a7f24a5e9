"""Workloads of AICB: times and bytes worked out by hand, published rows, and what is wrong by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ailb_gen.errors import IntentError, UsageError
from ailb_gen.sim.traffic.aicb import LayerPart, Layers, read_layers, replay_layers
from ailb_gen.sim.traffic.algorithms import CollectiveOptions
from ailb_gen.sim.traffic.builder import TaskBuilder
from ailb_gen.sim.traffic.replay import ReplayOptions
from ailb_gen.sim.workload import Workload
from tests.sim.traffic.executor import finish_times, sent

# The first and the fifth row of a published workload (GPT 13B, tensor 8), and one with experts.
HEAD = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0"
)
ROWS = (
    "norm\t-1\t0\tBROADCAST\t16384\t1\tNONE\t0\t1\tNONE\t0\t100",
    "attention_layer\t-1\t752000\tALLREDUCE\t20971520\t752000\tALLREDUCE\t20971520\t752000\tNONE\t0\t100",
    "moe -1 5 ALLTOALL_EP 4096 7 NONE 0 9 REDUCESCATTER_DP_EP 8192 3",
)


def read(tmp_path: Path, *rows: str, head: str = HEAD) -> Layers:
    (tmp_path / "w.txt").write_text("\n".join([head, str(len(rows)), *rows]) + "\n")
    return read_layers(tmp_path / "w.txt", "w.txt")


def workload(layers: Layers, count: int = 8) -> Workload:
    builder = TaskBuilder()
    ranks = np.arange(count)
    replay_layers(builder, builder.job("j"), layers, ranks, ranks, ReplayOptions(CollectiveOptions()))
    return builder.finish()


def time_of(found: Workload) -> int:
    return finish_times(found)[int(found.steps[0][0])]


def test_rows_are_layers(tmp_path: Path) -> None:
    found = read(tmp_path, *ROWS)
    assert (found.tensor, found.expert, found.ranks) == (2, 2, 8)
    norm, attention, experts = found.layers
    assert norm.forward == LayerPart(0, "broadcast", 16384, "tensor")
    assert attention.inputs == LayerPart(752_000_000, "all-reduce", 20971520, "tensor")
    assert experts.forward == LayerPart(5000, "all-to-all", 4096, "expert")
    assert experts.weights == LayerPart(9000, "reduce-scatter", 8192, "expert copies")
    assert experts.update_ps == 3000


def test_groups_and_times(tmp_path: Path) -> None:
    """A byte takes a ps. Of 2 ranks an all-to-all of 4,096 takes half, a reduce-scatter of 8,192 half."""
    found = workload(read(tmp_path, ROWS[2]))
    # The reduction of the weights is longer than what is left of the backward pass.
    assert time_of(found) == 5000 + 2048 + 9000 + 4096 + 3000
    pairs = {
        label: {(int(a), int(b)) for a, b in zip(found.source[own], found.target[own], strict=True)}
        for label in ("all-to-all", "reduce-scatter")
        for own in [found.flows()[found.label[found.flows()] == found.labels.index(label)]]
    }
    assert pairs["all-to-all"] == {(rank, rank ^ 2) for rank in range(8)}
    assert pairs["reduce-scatter"] == {(rank, rank ^ 4) for rank in range(8)}


def test_gradients_of_weights_overlap_with_the_backward_pass(tmp_path: Path) -> None:
    row = "a -1 1 NONE 0 100 NONE 0 1 ALLREDUCE 80 0"
    found = workload(read(tmp_path, row, row, head="MICRO"), 2)
    # Two layers: 2 ns forward, then 1 + 100 and 1 + 100 backward; both reductions of 80 ps end before.
    assert time_of(found) == (2 + 101 + 101) * 1000
    assert sent(found) == {0: 160, 1: 160}


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("", ["w.txt:1:1: error[wrong-value]: the first line must begin with one of HYBRID_TRANSFORMER_FWD_IN_BCKWD"]),
        ("MIKRO\n0\n", ["did you mean 'MICRO'?"]),
        ("MICRO\n2\n" + ROWS[0], ["w.txt:2:1: error[wrong-count]: the second line announces 2, and 1 layers follow"]),
        ("MICRO pp: 4\n0\n", ["w.txt:1:1: error[wrong-value]: pp: rows are those of one stage"]),
        (
            "MICRO\n2\na b c\n" + ROWS[0].replace("BROADCAST", "BROADCATS").replace("16384", "many"),
            [
                "w.txt:3:1: error[wrong-count]: the row has 3 fields, not 12",
                "w.txt:4:1: error[wrong-value]: field 4: unknown collective 'BROADCATS'; did you mean 'BROADCAST'?",
                "w.txt:4:1: error[wrong-type]: field 5: 'many' is not a whole number",
            ],
        ),
    ],
)
def test_errors_by_line(text: str, messages: list[str], tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text(text)
    with pytest.raises(IntentError) as caught:
        read_layers(tmp_path / "w.txt", "w.txt")
    assert [message for message in messages if message not in str(caught.value)] == []


def test_ranks_must_be_whole_groups(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="6 ranks are no multiple of 2 x 2"):
        workload(read(tmp_path, ROWS[2]), 6)
