"""Traffic and computation of a training job, from the numbers of its model and GPUs.

Sources: Kaplan et al. 2020 (6 FLOP per parameter and token: 2 forward, 4 backward); Shoeybi et al. 2019 (tensor
parallelism: 2 all-reduces per layer and pass); Narayanan et al. 2021 (pipelines: the bubble, and activations of which
each tensor-parallel rank sends its share); Rajbhandari et al. 2020 (ZeRO: memory of parameters, gradients and Adam).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ailb_gen.sim.fabric import PS_PER_S
from ailb_gen.study.what_if.models import Gpu, LanguageModel, TrainingJob

FORWARD_FLOP, BACKWARD_FLOP = 2, 4
# All-reduces of a layer in a pass: one of attention, one of the MLP.
COLLECTIVES = 2
# Bytes per parameter that Adam keeps in mixed precision: parameter, momentum and variance in FP32.
ADAM_BYTES = 12
# In ps.
UNITS = (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1))


@dataclass(frozen=True, slots=True)
class Amounts:
    """The work of a rank of a job: times in ps, sizes in bytes; tensor_collectives per pass of a microbatch."""

    forward: int
    backward: int
    optimizer: int
    tensor_bytes: int
    tensor_collectives: int
    activation_bytes: int
    gradient_bytes: int

    def scaled(self, factor: int) -> Amounts:
        """Return times and sizes divided by a factor, rounded, those that are not zero at least 1."""
        whole = {name: getattr(self, name) for name in SCALED}
        small = {name: max(1, round(value / factor)) if value else 0 for name, value in whole.items()}
        return Amounts(**small, tensor_collectives=self.tensor_collectives)


SCALED = ("forward", "backward", "optimizer", "tensor_bytes", "activation_bytes", "gradient_bytes")


def amounts(job: TrainingJob) -> Amounts:
    """Return the amounts that a job gives, the others computed from its model and GPU; 0 without these."""
    computed: dict[str, int] = {}
    if job.model is not None:
        computed |= _of_model(job, job.model)
        if job.gpu is not None:
            computed |= _times(job, job.model, job.gpu)
    given: Mapping[str, Any] = {name: getattr(job, name) for name in (*SCALED, "tensor_collectives")}
    least = {"tensor_collectives": 1}
    return Amounts(
        **{name: computed.get(name, least.get(name, 0)) if value is None else value for name, value in given.items()}
    )


def _of_model(job: TrainingJob, model: LanguageModel) -> dict[str, int]:
    tokens = model.sequence * model.microbatch
    vector = tokens * model.hidden * model.bytes_per_parameter
    return {
        "tensor_bytes": vector if job.tensor > 1 else 0,
        "tensor_collectives": COLLECTIVES * model.layers // job.pipeline,
        "activation_bytes": vector // job.tensor if job.pipeline > 1 else 0,
        "gradient_bytes": parameters_of_rank(job, model) * model.bytes_per_parameter if job.data > 1 else 0,
    }


def _times(job: TrainingJob, model: LanguageModel, gpu: Gpu) -> dict[str, int]:
    tokens = model.sequence * model.microbatch
    per_flop = tokens * model.parameters / (job.tensor * job.pipeline) / (gpu.flops * gpu.utilization) * PS_PER_S
    return {"forward": round(FORWARD_FLOP * per_flop), "backward": round(BACKWARD_FLOP * per_flop)}


def parameters_of_rank(job: TrainingJob, model: LanguageModel) -> int:
    """Return the parameters that a GPU holds, rounded up."""
    return -(-model.parameters // (job.tensor * job.pipeline))


def memory_bytes(job: TrainingJob, model: LanguageModel) -> int:
    """Return the memory of parameters, gradients and Adam on a GPU; sharded, Adam is spread over the replicas."""
    adam = -(-ADAM_BYTES // job.data) if job.gradients == "sharded" else ADAM_BYTES
    return parameters_of_rank(job, model) * (2 * model.bytes_per_parameter + adam)


def alone_ps(job: TrainingJob, found: Amounts) -> int:
    """Return the time of a step without any waiting for the fabric: all passes, the bubble and the optimizer."""
    return (job.microbatches + job.pipeline - 1) * (found.forward + found.backward) + found.optimizer


def time_text(ps: int) -> str:
    """Return a time with a unit, such as `1.5 s`, four digits."""
    unit, factor = next(((unit, factor) for unit, factor in UNITS if ps >= factor), UNITS[-1])
    return f"{ps / factor:.4g} {unit}"
