"""Traffic and computation of a training job, from the numbers of its model and GPUs.

Sources: Kaplan et al. 2020 (6 FLOP per parameter and token: 2 forward, 4 backward); Shoeybi et al. 2019 (tensor
parallelism: 2 all-reduces per layer and pass); Narayanan et al. 2021 (pipelines: the bubble, and activations of which
each tensor-parallel rank sends its share); Rajbhandari et al. 2020 (ZeRO: memory of parameters, gradients and Adam).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from ailb_gen.sim.fabric import PS_PER_S
from ailb_gen.sim.traffic.experts import ExpertLoads, expert_loads, imbalance
from ailb_gen.study.what_if.models import Gpu, LanguageModel, TrainingJob

FORWARD_FLOP, BACKWARD_FLOP = 2, 4
# All-reduces of a layer in a pass: one of attention, one of the MLP.
COLLECTIVES = 2
# Experts instead of the MLP replace its all-reduce.
DISPATCH_AND_COMBINE = 2
KEYS_AND_VALUES = 2
# Bytes per parameter that Adam keeps in mixed precision: parameter, momentum and variance in FP32.
ADAM_BYTES = 12
# In ps.
UNITS = (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1))


TIMES = ("forward", "backward", "optimizer")
SIZES = (
    "tensor_bytes", "context_bytes", "expert_bytes", "activation_bytes", "gradient_bytes", "expert_gradient_bytes",
)  # fmt: skip
# What does not shrink with the scale.
COUNTS = ("tensor_collectives", "context_collectives", "expert_collectives")


@dataclass(frozen=True, slots=True)
class Amounts:
    """The work of a rank of a job: times in ps, sizes in bytes; collectives per pass of a microbatch."""

    forward: int
    backward: int
    optimizer: int
    tensor_bytes: int = 0
    tensor_collectives: int = 1
    context_bytes: int = 0
    context_collectives: int = 1
    expert_bytes: int = 0
    expert_collectives: int = 2
    activation_bytes: int = 0
    gradient_bytes: int = 0
    expert_gradient_bytes: int = 0
    expert_compute: float = 0.0

    def scaled(self, factor: int) -> Amounts:
        """Return times and sizes divided by a factor, rounded, those that are not zero at least 1."""
        whole = {name: getattr(self, name) for name in (*TIMES, *SIZES)}
        small = {name: max(1, round(value / factor)) if value else 0 for name, value in whole.items()}
        return replace(self, **small)


def ranks_of(job: TrainingJob) -> int:
    """Return the number of GPUs of a job."""
    return job.data * job.context * job.tensor * job.pipeline


def degrees(job: TrainingJob, times: str) -> str:
    """Return the degrees of a job, with a sign of multiplication; context only where it is more than 1."""
    names = ["data", *(["context"] if job.context > 1 else []), "tensor", "pipeline"]
    return f" {times} ".join(f"{name} {getattr(job, name)}" for name in names)


def amounts(job: TrainingJob) -> Amounts:
    """Return the amounts that a job gives, the others computed from its model and GPU; 0 without these."""
    computed: dict[str, Any] = dict.fromkeys((*TIMES, *SIZES), 0)
    if job.model is not None:
        computed |= _of_model(job, job.model)
        if job.gpu is not None:
            computed |= _times(job, job.model, job.gpu)
    given = {one.name: getattr(job, one.name) for one in fields(Amounts)}
    return Amounts(**computed | {name: value for name, value in given.items() if value is not None})


def _of_model(job: TrainingJob, model: LanguageModel) -> dict[str, Any]:
    tokens = model.sequence * model.microbatch
    vector = tokens // job.context * model.hidden * model.bytes_per_parameter
    sparse = expert_layers(model)
    found: dict[str, Any] = {
        "tensor_bytes": vector if job.tensor > 1 else 0,
        "tensor_collectives": (COLLECTIVES * model.layers - sparse) // job.pipeline,
        "activation_bytes": vector // job.tensor if job.pipeline > 1 else 0,
        "gradient_bytes": dense_of_rank(job, model) * model.bytes_per_parameter if job.data * job.context > 1 else 0,
    }
    if job.context > 1:
        width = model.hidden if model.key_value is None else model.key_value
        found["context_bytes"] = KEYS_AND_VALUES * tokens * width * model.bytes_per_parameter // job.tensor
        found["context_collectives"] = model.layers // job.pipeline
    if sparse:
        found["expert_bytes"] = vector // job.tensor * model.top_k if job.expert > 1 else 0
        found["expert_collectives"] = DISPATCH_AND_COMBINE * sparse // job.pipeline
        found["expert_compute"] = active_experts(model) / active_parameters(model)
        found["expert_gradient_bytes"] = (
            experts_of_rank(job, model) * model.bytes_per_parameter if copies_of_experts(job) > 1 else 0
        )
    return found


def _times(job: TrainingJob, model: LanguageModel, gpu: Gpu) -> dict[str, int]:
    tokens = model.sequence * model.microbatch
    ranks = job.context * job.tensor * job.pipeline
    per_flop = tokens * active_parameters(model) / ranks / (gpu.flops * gpu.utilization) * PS_PER_S
    return {"forward": round(FORWARD_FLOP * per_flop), "backward": round(BACKWARD_FLOP * per_flop)}


def expert_layers(model: LanguageModel) -> int:
    """Return the number of layers with experts."""
    if model.experts is None:
        return 0
    return model.layers if model.expert_layers is None else model.expert_layers


def active_experts(model: LanguageModel) -> int:
    """Return the parameters of experts that a token uses."""
    experts = model.experts or 1
    return (model.expert_parameters or 0) * model.top_k // experts


def active_parameters(model: LanguageModel) -> int:
    """Return the parameters that a token uses."""
    return model.parameters - (model.expert_parameters or 0) + active_experts(model)


def dense_of_rank(job: TrainingJob, model: LanguageModel) -> int:
    """Return the parameters that a GPU holds without experts, rounded up."""
    return -(-(model.parameters - (model.expert_parameters or 0)) // (job.tensor * job.pipeline))


def experts_of_rank(job: TrainingJob, model: LanguageModel) -> int:
    """Return the parameters of experts that a GPU holds, rounded up."""
    return -(-(model.expert_parameters or 0) // (job.expert * job.pipeline))


def copies_of_experts(job: TrainingJob) -> int:
    """Return how many GPUs hold the same experts."""
    return max(1, job.data * job.context * job.tensor // job.expert)


def memory_bytes(job: TrainingJob, model: LanguageModel) -> int:
    """Return the memory of parameters, gradients and Adam on a GPU.

    Sharded, Adam is spread over the GPUs that hold the same parameters.
    """

    def needed(parameters: int, copies: int) -> int:
        adam = -(-ADAM_BYTES // copies) if job.gradients == "sharded" else ADAM_BYTES
        return parameters * (2 * model.bytes_per_parameter + adam)

    dense = needed(dense_of_rank(job, model), job.data * job.context)
    return dense + needed(experts_of_rank(job, model), copies_of_experts(job))


def loads_of(job: TrainingJob) -> ExpertLoads:
    """Return the loads of the experts of a job. Raises UsageError if they do not fit its ranks."""
    experts = None if job.model is None else job.model.experts
    return expert_loads(job.expert, experts, job.expert_skew, job.expert_capacity)


def alone_ps(job: TrainingJob, found: Amounts) -> int:
    """Return the time of a step without any waiting for NVLink or fabric: all passes, the bubble and the optimizer.

    The most loaded experts set the time of a pass.
    """
    slower = found.expert_compute * (float(imbalance(loads_of(job).weights)) - 1)
    forwards = 2 if job.recompute else 1
    passes = round((forwards * found.forward + found.backward) * (1 + slower))
    return job.microbatches * passes + (job.pipeline - 1) * passes // job.virtual + found.optimizer


def time_text(ps: int) -> str:
    """Return a time with a unit, such as `1.5 s`, four digits."""
    unit, factor = next(((unit, factor) for unit, factor in UNITS if ps >= factor), UNITS[-1])
    return f"{ps / factor:.4g} {unit}"
