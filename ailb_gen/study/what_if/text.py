"""Introduction of the page of a what-if study: the job with its formulas, and the assumptions."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.sim.memory import shown_bytes
from ailb_gen.sim.traffic.collectives import NCCL
from ailb_gen.sim.traffic.experts import imbalance
from ailb_gen.study.what_if.job import (
    COUNTS,
    TIMES,
    Amounts,
    alone_ps,
    amounts,
    degrees,
    loads_of,
    memory_bytes,
    ranks_of,
    time_text,
)
from ailb_gen.study.what_if.load import Question
from ailb_gen.study.what_if.models import TrainingJob
from ailb_gen.study.what_if.months import assumptions

# Packets below which a message is mostly latency.
FEW_PACKETS = 16
BITS_PER_GB = 8 * 10**9
RECOMPUTED = {
    "forward": "2 A T / (c t p) / (FLOP/s × utilization)",
    "backward": "4 A T / (c t p) / (FLOP/s × utilization)",
    "tensor_bytes": "T / c × hidden × bytes",
    "context_bytes": "2 T × width of keys × bytes / t",
    "expert_bytes": "T / (c t) × hidden × bytes × experts of a token",
    "activation_bytes": "T × hidden × bytes / (c t)",
    "gradient_bytes": "(P − E) × bytes / (t p)",
    "expert_gradient_bytes": "E × bytes / (e p)",
}
NAMES = {
    "forward": "forward pass of a microbatch in a stage",
    "backward": "backward pass",
    "optimizer": "optimizer",
    "tensor_bytes": "all-reduce in the tensor-parallel group",
    "context_bytes": "keys and values, gathered over the ranks of a sequence",
    "expert_bytes": "all-to-all to the experts, or back",
    "activation_bytes": "activations to the next stage, per rank",
    "gradient_bytes": "gradients of a rank, over the replicas",
    "expert_gradient_bytes": "gradients of its experts, over the GPUs with the same ones",
}
SOURCES = """\
P parameters, E of them of experts, A that a token uses; T tokens of a microbatch; t tensor-parallel, p pipeline, c
context and e expert-parallel degree. FLOP per parameter and token: Kaplan et al. 2020. All-reduces per layer: Shoeybi
et al. 2019; a layer with experts has one of its two. Activations, of which each tensor-parallel rank sends its share,
and the bubble of a pipeline: Narayanan et al. 2021. Experts: Lepikhin et al. 2020. FLOP of attention scores are left
out, and so is the embedding's uneven share of the stages."""


def text_of(question: Question) -> str:
    """Return the Markdown of job and assumptions."""
    return "\n\n".join(_paragraphs(question))


def _paragraphs(question: Question) -> Iterator[str]:
    job = question.what_if.job
    yield (
        f"A step of a training job on {ranks_of(job):,} of the {question.nics:,} GPUs of the fabric "
        f"`{question.design.name}`: {degrees(job, '×')}, {job.microbatches} "
        f"{'microbatch' if job.microbatches == 1 else 'microbatches'} per replica ({job.schedule}), "
        f"gradients by {'all-reduce' if job.gradients == 'all-reduce' else 'reduce-scatter and all-gather (ZeRO)'}, "
        f"{_order(job)}."
    )
    whole = amounts(job)
    yield "\n".join(_table(job, whole))
    if job.model is not None:
        yield SOURCES
        yield f"Parameters, gradients and Adam take {shown_bytes(memory_bytes(job, job.model))} of a GPU."
    bubble = "p − 1" if job.virtual == 1 else f"(p − 1) / {job.virtual}"
    passes = "forward, again forward and backward" if job.recompute else "forward and backward"
    yield (
        f"Without waiting a step takes {time_text(alone_ps(job, whole))}: microbatches + {bubble} passes, {passes}, "
        "and the optimizer. Waiting is the rest of a step's time."
    )
    yield " ".join(_inside(question))
    yield from _doubts(question, whole)
    if question.what_if.reliability is not None:
        yield " ".join(assumptions(question.what_if.reliability, question.compared))


def _inside(question: Question) -> Iterator[str]:
    """Yield sentences about NVLink, and about what overlaps."""
    job, gpu = question.what_if.job, question.what_if.job.gpu
    domain = question.server_size if gpu is None or gpu.domain is None else gpu.domain
    if gpu is None or gpu.nvlink is None:
        yield "GPUs of a server exchange data in zero time: NVLink time is part of the utilization."
    else:
        sums = ", and its switches reduce all-reduces (NVLS)" if gpu.nvls else ""
        yield f"{domain} GPUs exchange data over NVLink with {gpu.nvlink / BITS_PER_GB:,.0f} GB/s each{sums}."
    if job.algorithm == NCCL:
        divided = ", as divided" if question.what_if.scale > 1 else ""
        yield f"Algorithm and protocol of every collective are those that NCCL chooses by its size{divided}."
    if 1 < job.tensor <= domain:
        yield "Tensor-parallel groups are inside servers, and send nothing over the fabric."
    if job.gradient_overlap:
        yield "Buckets of gradients are reduced as the last backward pass fills them."
    else:
        yield "A stage reduces its gradients when its last backward pass is done."
    shares = {name: getattr(job, f"{name}_overlap") for name in ("tensor", "context", "expert")}
    if any(shares.values()):
        shown = ", ".join(f"{share:.0%} of {name}" for name, share in shares.items() if share)
        yield f"Sent during computation: {shown} collectives' bytes."
    if job.expert > 1 and job.expert_skew:
        loads = loads_of(job)
        most, dropped = float(imbalance(loads.weights)), float(1 - loads.kept)
        yield f"The most loaded GPU has {most:.2f} times the mean of the tokens; {dropped:.1%} are dropped."


def _order(job: TrainingJob) -> str:
    orders = {
        "packed": "one server after the other",
        "strided": f"servers in strides of {job.stride}",
        "random": "servers in random order, drawn by the seed",
    }
    return f"{orders[job.placement]}, GPUs of a server in a row"


def _table(job: TrainingJob, whole: Amounts) -> Iterator[str]:
    yield from ("| per rank | is | |", "|---|---|---:|")
    for name, what in NAMES.items():
        value = getattr(whole, name)
        if not value:
            continue
        formula = RECOMPUTED.get(name, "given") if getattr(job, name) is None else "given"
        shown = time_text(value) if name in TIMES else shown_bytes(value)
        collectives = name.replace("_bytes", "_collectives")
        count = f", {getattr(whole, collectives)} per pass" if collectives in COUNTS else ""
        yield f"| {what}{count} | {formula} | {shown} |"


def _doubts(question: Question, whole: Amounts) -> Iterator[str]:
    """Yield the differences between the simulation and the job."""
    what_if, job = question.what_if, question.what_if.job
    if what_if.scale > 1:
        small = whole.scaled(what_if.scale)
        message = message_bytes(question, small)
        yield (
            f"Bytes and compute times are divided by {what_if.scale:,}, and so are the times of failures, of their "
            "detection, and timeouts of the hosts down to 100 us; the times below are scaled back. What does not "
            f"shrink counts {what_if.scale:,} times: latency, queues, the reaction of congestion control. Compare two "
            "scales to see how much that is."
        )
        if message and message < FEW_PACKETS * what_if.packets.payload:
            yield (
                f"**The scale is too large:** a message of the gradients has {shown_bytes(message)} per queue pair, "
                f"fewer than {FEW_PACKETS} packets. Latency decides, not bandwidth; use a smaller `scale`."
            )
    if job.stream:
        yield "Rings send the bytes of all their steps at once: the latency of the steps is left out."
    if what_if.level == "flow":
        yield "Flows instead of packets: no pauses, drops or reordering; rates follow DCQCN where it is on."


def message_bytes(question: Question, found: Amounts) -> int:
    """Return the bytes of a gradient ring's message on one queue pair; 0 without one, or with all steps in one."""
    job = question.what_if.job
    if not found.gradient_bytes or job.stream:
        return 0
    pairs = (job.queue_pairs or len(question.design.colors)) if job.split == "split" else 1
    return found.gradient_bytes // (job.gradient_buckets * job.data * job.context * pairs)
