"""Workloads of AICB, as SimAI runs them: layers with their computations and collectives, the same on every rank.

The first line names the kind and the degrees, the second the number of layers; then a row per layer: name, a number
that is not used, time, collective and bytes of the forward pass, of the gradients of the inputs and of those of the
weights, and the time of the update. Times are ns, sizes as nccl-tests counts them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ailb_gen.errors import Place, Problem, UsageError
from ailb_gen.sim.fabric import Int64
from ailb_gen.sim.traffic.algorithms import Ranks
from ailb_gen.sim.traffic.builder import NO_TASK, Job, TaskBuilder
from ailb_gen.sim.traffic.collectives import append, of_job, takes_time
from ailb_gen.sim.traffic.flowlist import numbered_lines, refuse
from ailb_gen.sim.traffic.groups import together
from ailb_gen.sim.traffic.replay import ReplayOptions
from ailb_gen.textio import read_text, text_problem
from ailb_gen.wording import did_you_mean

PS_PER_NS = 1000
KINDS = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER", "MICRO")
COLLECTIVES = {
    "ALLREDUCE": "all-reduce",
    "ALLGATHER": "all-gather",
    "REDUCESCATTER": "reduce-scatter",
    "ALLTOALL": "all-to-all",
    "BROADCAST": "broadcast",
}
# Which ranks do a collective: by the end of its name, else by its pass.
ENDINGS = {"_DP_EP": "expert copies", "_EP": "expert"}
PASSES = ("tensor", "tensor", "data")
FIELDS = 12
_DEGREE = re.compile(r"(model_parallel_NPU_group|ep|pp|all_gpus):\s*([0-9]{1,6})\b")
_NUMBER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class LayerPart:
    """A computation of a layer in ps, and the collective after it: kind ("": none), bytes, and which ranks do it."""

    ps: int
    collective: str = ""
    size: int = 0
    ranks: str = ""


@dataclass(frozen=True, slots=True)
class AicbLayer:
    """A layer: its forward pass, the gradients of its inputs and of its weights, and the time of the update in ps."""

    forward: LayerPart
    inputs: LayerPart
    weights: LayerPart
    update_ps: int


@dataclass(frozen=True, slots=True)
class Layers:
    """A workload: its layers, the ranks of a tensor- and of an expert-parallel group, and all ranks (0: any)."""

    tensor: int
    expert: int
    ranks: int
    layers: tuple[AicbLayer, ...]


def read_layers(path: Path, name: str) -> Layers:
    """Read a workload. Raises IntentError with all problems, by line."""
    lines = list(numbered_lines(read_text(path, name)))
    words = lines[0][1].split() if lines else []
    if not words or words[0] not in KINDS:
        hint = did_you_mean(words[0], KINDS) if words else ""
        reason = f"the first line must begin with one of {', '.join(KINDS)}"
        raise text_problem(name, "wrong-value", reason, hint=hint or "a workload of AICB for SimAI is meant")
    problems: list[Problem] = []
    degrees = {key: int(value) for key, value in _DEGREE.findall(lines[0][1])}
    if degrees.get("pp", 1) != 1:
        reason = "rows are those of one stage; describe a pipeline as an entry 'training'"
        problems.append(Problem("wrong-value", Place(name, lines[0][0]), "pp", reason))
    count = lines[1][1].strip() if len(lines) > 1 else ""
    rows = lines[2:]
    if count != str(len(rows)):
        reason = f"the second line announces {count[:20] or 'nothing'}, and {len(rows):,} layers follow"
        problems.append(Problem("wrong-count", Place(name, 2), "", reason, "the file may be truncated"))
    layers = tuple(_layer(line.split(), Place(name, number), problems) for number, line in rows)
    refuse(problems, name)
    tensor, expert = max(1, degrees.get("model_parallel_NPU_group", 1)), max(1, degrees.get("ep", 1))
    return Layers(tensor, expert, degrees.get("all_gpus", 0), layers)


def _layer(words: Sequence[str], place: Place, problems: list[Problem]) -> AicbLayer:
    none = LayerPart(0)
    if len(words) != FIELDS:
        problems.append(Problem("wrong-count", place, "", f"the row has {len(words)} fields, not {FIELDS}"))
        return AicbLayer(none, none, none, 0)

    def number(at: int) -> int:
        if _NUMBER.fullmatch(words[at]):
            return int(words[at])
        problems.append(Problem("wrong-type", place, f"field {at + 1}", f"{words[at][:40]!r} is not a whole number"))
        return 0

    def part(at: int, ranks: str) -> LayerPart:
        word, ps = words[at + 1], number(at) * PS_PER_NS
        ending = next((ending for ending in ENDINGS if word.endswith(ending)), "")
        kind = COLLECTIVES.get(word.removesuffix(ending))
        size = number(at + 2)
        if word == "NONE":
            return LayerPart(ps)
        if kind is None:
            hint = did_you_mean(word, COLLECTIVES) or f"known: NONE, {', '.join(COLLECTIVES)}"
            problems.append(Problem("wrong-value", place, f"field {at + 2}", f"unknown collective {word[:40]!r}", hint))
            return none
        return LayerPart(ps, kind, size, ENDINGS.get(ending, ranks))

    forward, inputs, weights = (part(at, ranks) for at, ranks in zip((2, 5, 8), PASSES, strict=True))
    return AicbLayer(forward, inputs, weights, number(11) * PS_PER_NS)


def replay_layers(
    builder: TaskBuilder, job: Job, layers: Layers, hosts: Ranks, servers: Ranks, options: ReplayOptions
) -> None:
    """Append a workload as one step of the job; rank i is on hosts[i].

    All forward passes, then backward from the last layer on: a layer computes the gradients of its weights, reduces
    them while the pass goes on, and computes those of its inputs. Raises UsageError for degrees that do not divide the
    ranks, and as collectives do.
    """
    count = len(hosts)
    if count % (layers.tensor * layers.expert):
        raise UsageError(f"{count} ranks are no multiple of {layers.tensor} x {layers.expert} (tensor x expert)")
    order = np.arange(count).reshape(-1, layers.expert, layers.tensor)
    groups = {
        "tensor": order.reshape(-1, layers.tensor),
        "data": order.reshape(-1, layers.tensor).T,
        "expert": order.swapaxes(1, 2).reshape(-1, layers.expert),
        "expert copies": order.reshape(-1, layers.expert * layers.tensor).T,
    }
    run = _LayerRun(builder, job, np.asarray(hosts), np.asarray(servers), options, groups)
    last = np.full(count, NO_TASK, dtype=np.int64)
    ends: list[Int64] = []
    for layer in layers.layers:
        last = run.communicate(layer.forward, run.compute(layer.forward.ps, last))
    for layer in reversed(layers.layers):
        last = run.compute(layer.weights.ps, last)
        if layer.weights.collective:
            ends.append(run.compute(layer.update_ps, run.communicate(layer.weights, last)))
        last = run.communicate(layer.inputs, run.compute(layer.inputs.ps, last))
    builder.step(job, builder.barrier(np.concatenate([*ends, last]), job))


@dataclass(frozen=True, slots=True)
class _LayerRun:
    """Appends computations and collectives of all ranks."""

    builder: TaskBuilder
    job: Job
    hosts: Ranks
    servers: Ranks
    options: ReplayOptions
    groups: Mapping[str, Ranks]

    def compute(self, ps: int, after: Int64) -> Int64:
        """Append a computation of every rank; return the tasks that end them."""
        return self.builder.computations(len(after), ps, after, self.job, "compute") if ps else after

    def communicate(self, part: LayerPart, after: Int64) -> Int64:
        """Append the collective of a part; return for every rank the task that ends it."""
        if not part.collective or not part.size:
            return after
        ranks = self.groups[part.ranks]
        options = replace(self.options.options, per_server=together(self.servers[ranks]))
        if not takes_time(ranks.shape[1], options.per_server, options):
            return after
        begin = self.builder.barriers(after[ranks], self.job)
        algorithm = of_job(self.options.algorithm, part.collective)
        ends = append(self.builder, self.job, part.collective, self.hosts[ranks], part.size, options, algorithm, begin)
        found = np.empty(len(after), dtype=np.int64)
        found[ranks] = ends[:, None]
        return found
