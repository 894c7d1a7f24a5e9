"""The least of traffic is never more than what is made, and not much less, and huge traffic is refused at once."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from ailb_gen.errors import UsageError
from ailb_gen.sim import memory
from ailb_gen.sim.scenario import fabrics
from ailb_gen.sim.scenario.fabrics import points_of
from ailb_gen.sim.scenario.load import load, parse
from ailb_gen.sim.traffic.builder import TaskBuilder
from tests.conftest import EXAMPLES
from tests.sim.traffic.test_chakra import TRACES

FABRIC = "fabric: {clos: {leaves: 4, spines: 2, hosts_per_leaf: 4, colors: 4}}"
# Entries of the traffic, and which share of the tasks is known in advance.
ENTRIES = [
    ("collective: {kind: all-to-all, bytes: 1MiB}", 0.9),
    ("collective: {kind: all-to-all, bytes: 1MiB, queue_pairs: 1, at_once: false}", 0.9),
    ("collective: {kind: all-to-all, bytes: 3}", 0.5),
    ("collective: {kind: all-reduce, bytes: 1MiB, steps: 3, slices: 2, compute: 1ms, split: round-robin}", 0.9),
    ("collective: {kind: all-reduce, bytes: 1MiB, per_server: 4}", 0.9),
    ("collective: {kind: all-reduce, bytes: 1MiB, per_server: 4, algorithm: tree}", 0.7),
    ("collective: {kind: incast, bytes: 10KiB}", 0.9),
    ("collective: {kind: permutation, bytes: 10KiB, queue_pairs: 1}", 0.9),
    ("training: {data: 2, tensor: 4, pipeline: 2, microbatches: 3, steps: 2, tensor_bytes: 1MiB, tensor_collectives: 2,"
     " activation_bytes: 1MiB, gradient_bytes: 1MiB, gradient_buckets: 2, forward: 1ms, backward: 1ms}", 0.8),
    ("training: {data: 4, tensor: 2, pipeline: 2, gradient_bytes: 1MiB, gradients: sharded, queue_pairs: 1}", 0.8),
    ("training: {data: 2, tensor: 4, pipeline: 2, per_server: 2, microbatches: 2, tensor_bytes: 1MiB,"
     " activation_bytes: 1MiB, gradient_bytes: 1MiB, forward: 1ms, backward: 1ms}", 0.8),
    ("training: {data: 4, tensor: 2, pipeline: 2, per_server: 8, tensor_bytes: 1MiB, activation_bytes: 1MiB,"
     " gradient_bytes: 1MiB, stream: on}", 0.6),
    ("training: {data: 4, tensor: 2, pipeline: 2, placement: random, per_server: 2, gradient_bytes: 1MiB}", 0.9),
    ("training: {data: 2, context: 2, tensor: 2, pipeline: 2, virtual: 2, microbatches: 4, per_server: 4, nvlink: 1t,"
     " tensor_bytes: 1MiB, tensor_collectives: 4, sequence_parallel: on, context_bytes: 1MiB, context_collectives: 2,"
     " recompute: on, tensor_overlap: 50%, gradient_bytes: 1MiB, gradient_buckets: 4, gradient_overlap: on,"
     " forward: 1ms, activation_bytes: 1kB}", 0.5),
    ("training: {data: 8, expert: 8, microbatches: 2, steps: 2, expert_bytes: 1MiB, expert_collectives: 4, experts: 16,"
     " expert_skew: 1, expert_capacity: 2, expert_gradient_bytes: 1MiB, gradients: sharded, forward: 1ms}", 0.7),
    ("trace: {file: all_reduce}", 0.9),
    ("trace: {file: mixed, nvlink: 1t, per_server: 2}", 0.5),
    ("trace: {file: layers.txt, per_server: 2, nvlink: 1t}", 0.5),
    ("mice: {bytes: 2KiB, interval: 1us, count: 50}", 1),
    ("arrivals: {load: 50%, duration: 1ms, file: sizes.json, sizes: one}", 0.5),
    ("background: {links: [\"leaf1:spine1\"], load: 10%, duration: 1ms}", 0),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "share"), ENTRIES, ids=[entry.split(",")[0] for entry, _ in ENTRIES])
@pytest.mark.parametrize("level", ["packet", "flow"])
def test_it_is_a_lower_bound(entry: str, share: float, level: str, tmp_path: Path) -> None:
    (tmp_path / "sizes.json").write_text('{"one": [[0, 0], [20000, 100]]}')
    for path in TRACES.glob("*.et"):
        shutil.copy(path, tmp_path)
    (tmp_path / "layers.txt").write_text("MICRO\n1\na -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 65536 0\n")
    text = f"{FABRIC}\nlevel: {level}\ntransport: {{name: go-back-n, window: 16KiB}}\ntraffic: [{{{entry}}}]\n"
    ((point,), _) = points_of(parse(text, "scenario.yaml"), tmp_path)
    (least,) = found = point.recipe.least(point.fabric, point.seed)
    # Files are read once; another process reads them itself.
    for path in tmp_path.iterdir():
        path.unlink()
    traffic = point.recipe.build(point.fabric, 1)
    tasks = traffic.workload.count
    assert share * tasks <= least.tasks <= tasks
    assert least.flows <= np.count_nonzero(traffic.workload.source >= 0)
    needed = memory.needed_bytes(point.fabric, traffic.workload, point.settings, point.level)
    assert memory.least_bytes(point.fabric, found, point.settings, point.level) <= needed


def test_other_processes_get_a_recipe_without_what_its_files_hold() -> None:
    text = f"{FABRIC}\ntraffic: [{{trace: {{file: all_reduce}}}}]\n"
    ((point,), _) = points_of(parse(text, "scenario.yaml"), TRACES)
    tasks = point.recipe.build(point.fabric, 1).workload.count
    other = pickle.loads(pickle.dumps(point.recipe))
    assert (other, other.known) == (point.recipe, {})
    assert other.build(point.fabric, 1).workload.count == tasks


@pytest.mark.parametrize("path", sorted((EXAMPLES / "simulate").glob("*.yaml")), ids=lambda path: path.name)
def test_the_examples_are_not_overestimated(path: Path) -> None:
    found, _ = points_of(load(path), path.parent)
    point = found[0]
    traffic = point.recipe.build(point.fabric, point.seed)
    needed = memory.needed_bytes(traffic.fabric or point.fabric, traffic.workload, point.settings, point.level)
    assert (
        memory.least_bytes(point.fabric, point.recipe.least(point.fabric, point.seed), point.settings, point.level)
        <= needed
    )


@pytest.mark.parametrize(
    "entry",
    [
        "collective: {kind: all-to-all, bytes: 1GiB, steps: 1000000}",
        "collective: {kind: all-reduce, bytes: 1GiB, slices: 1000000, steps: 1000000}",
        "collective: {kind: broadcast, bytes: 1GiB, slices: 1000000}",
        "collective: {kind: all-reduce, algorithm: tree, bytes: 1GiB, slices: 1000000}",
        "training: {data: 64, tensor: 8, steps: 1000000, microbatches: 1000000, tensor_collectives: 1000000,"
        " tensor_bytes: 1GiB, gradient_bytes: 1GiB, gradient_buckets: 1000000}",
    ],
)
def test_huge_traffic_is_counted_and_not_made(entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(TaskBuilder, "_append", lambda builder, count, **columns: made.append(count))
    fabric = "fabric: {clos: {leaves: 64, spines: 2, hosts_per_leaf: 8}}"
    ((point,), _) = points_of(parse(f"{fabric}\ntraffic: [{{{entry}}}]\n", "scenario.yaml"), Path())
    (least,) = point.recipe.least(point.fabric, point.seed)
    assert least.tasks > 5 * 10**8
    assert not made


def test_a_fabric_that_does_not_fit_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(fabrics, "clos", never)
    monkeypatch.setattr(fabrics, "available_bytes", lambda: 8 << 30)
    fabric = "fabric: {clos: {leaves: 4096, spines: 64, hosts_per_leaf: 4096}}"
    message = r"fabric\.clos: 16,777,216 hosts and 34,078,720 links need about 15\.7 GiB of memory, and 8 GiB are free"
    with pytest.raises(UsageError, match=message):
        points_of(
            parse(f"{fabric}\ntraffic: [{{mice: {{bytes: 1, interval: 1us, count: 1}}}}]", "scenario.yaml"), Path()
        )
