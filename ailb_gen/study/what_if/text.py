"""Introduction of the page of a what-if study: the job with its formulas, and the assumptions."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.sim.memory import shown_bytes
from ailb_gen.study.what_if.job import Amounts, alone_ps, amounts, memory_bytes, time_text
from ailb_gen.study.what_if.load import Question
from ailb_gen.study.what_if.models import TrainingJob

# Packets below which a message is mostly latency.
FEW_PACKETS = 16
RECOMPUTED = {
    "forward": "2 P T / (t p) / (FLOP/s × utilization)",
    "backward": "4 P T / (t p) / (FLOP/s × utilization)",
    "tensor_bytes": "T × hidden × bytes",
    "activation_bytes": "T × hidden × bytes / t",
    "gradient_bytes": "P × bytes / (t p)",
}
NAMES = {
    "forward": "forward pass of a microbatch in a stage",
    "backward": "backward pass",
    "optimizer": "optimizer",
    "tensor_bytes": "all-reduce in the tensor-parallel group",
    "activation_bytes": "activations to the next stage, per rank",
    "gradient_bytes": "gradients of a rank, over the replicas",
}
SOURCES = """\
P parameters, T tokens of a microbatch, t tensor-parallel and p pipeline degree. FLOP per parameter and token: Kaplan et
al. 2020. All-reduces per layer: Shoeybi et al. 2019. Activations, of which each tensor-parallel rank sends its share,
and the bubble of a pipeline: Narayanan et al. 2021. FLOP of attention scores are left out, and so is the embedding's
uneven share of the stages."""


def text_of(question: Question) -> str:
    """Return the Markdown of job and assumptions."""
    return "\n\n".join(_paragraphs(question))


def _paragraphs(question: Question) -> Iterator[str]:
    job = question.what_if.job
    ranks = job.data * job.tensor * job.pipeline
    yield (
        f"A step of a training job on {ranks:,} of the {question.nics:,} GPUs of the fabric `{question.design.name}`: "
        f"data {job.data} × tensor {job.tensor} × pipeline {job.pipeline}, {job.microbatches} "
        f"{'microbatch' if job.microbatches == 1 else 'microbatches'} per replica ({job.schedule}), "
        f"gradients by {'all-reduce' if job.gradients == 'all-reduce' else 'reduce-scatter and all-gather (ZeRO)'}, "
        f"{_order(job)}."
    )
    whole = amounts(job)
    yield "\n".join(_table(job, whole))
    if job.model is not None:
        yield SOURCES
        yield f"Parameters, gradients and Adam take {shown_bytes(memory_bytes(job, job.model))} of a GPU."
    yield (
        f"Without waiting for the fabric a step takes {time_text(alone_ps(job, whole))}: microbatches + p − 1 passes, "
        "forward and backward, and the optimizer. Waiting is the rest of a step's time."
    )
    inside = "Tensor-parallel groups are inside servers, and send nothing over the fabric. "
    inside = inside if 1 < job.tensor <= question.server_size else ""
    yield (
        "GPUs of a server exchange data in zero time: NVLink time is part of the utilization. "
        f"{inside}A stage reduces its "
        "gradients when its last backward pass is done; overlap inside a stage is not modeled."
    )
    yield from _doubts(question, whole)


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
        shown = time_text(value) if name in ("forward", "backward", "optimizer") else shown_bytes(value)
        count = f", {whole.tensor_collectives} per pass" if name == "tensor_bytes" else ""
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
    return found.gradient_bytes // (job.gradient_buckets * job.data * pairs)
