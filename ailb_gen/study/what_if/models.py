"""The models of a what-if file: a fabric, a training job, load balancers, failures."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PlainValidator

from ailb_gen.sim.scenario.models import (
    Balancers,
    Congestion,
    CongestionName,
    Failures,
    Nics,
    Packets,
    Switches,
    Transport,
    by_name,
)
from ailb_gen.sim.scenario.scalars import (
    Bytes,
    Flops,
    Rate,
    Seeds,
    Share,
    SomeBytes,
    SomeTime,
    Time,
    positive,
    quantity_schema,
    with_unit,
    written,
)
from ailb_gen.sim.scenario.traffic import Count, FileName, Parallelism, QueuePairCount
from ailb_gen.sim.settings import Level
from ailb_gen.sim.traffic.builder import Split
from ailb_gen.sim.traffic.nccl import Generation
from ailb_gen.sim.traffic.training import RankOrder
from ailb_gen.study.reliability.models import Reliability
from ailb_gen.validation import Bool, Int, Model, schema_text

PARAMETERS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
read_parameters = with_unit("number of parameters", PARAMETERS, "M, B or T", "70B")

Parameters = Annotated[
    int, PlainValidator(read_parameters), positive("number of parameters"), quantity_schema(PARAMETERS, "70B", 1)
]
Width = Annotated[Int, Field(ge=1, le=10_000_000)]


class LanguageModel(Model):
    """A transformer."""

    parameters: Parameters = Field(description="number of parameters")
    layers: Count = Field(description="number of layers")
    hidden: Width = Field(description="hidden size")
    sequence: Width = Field(description="tokens of a sequence")
    microbatch: Count = Field(1, description="sequences of a microbatch")
    key_value: Width | None = Field(None, description="width of keys, and of values; default: the hidden size")
    experts: Count | None = Field(None, description="experts of a layer; default: none")
    top_k: Count = Field(1, description="experts of a token")
    expert_parameters: Parameters | None = Field(None, description="parameters of all experts")
    expert_layers: Count | None = Field(None, description="layers with experts; default: all")
    bytes_per_parameter: Annotated[Int, Field(ge=1, le=8)] = Field(2, description="of gradients and activations, too")


class Gpu(Model):
    """Computing rate and memory of a GPU."""

    flops: Flops = Field(description="peak FLOP/s in the precision of the job")
    utilization: Annotated[Share, Field(gt=0)] = Field(description="share of it without waiting for the fabric")
    memory: SomeBytes | None = Field(None, description="default: not checked")
    nvlink: Rate | None = Field(
        None, description="of a GPU in each direction; default: NVLink takes no time, as part of the utilization"
    )
    nvls: Bool = Field(False, description="NVLink switches reduce all-reduces (NVLS)")
    domain: Count | None = Field(None, description="GPUs of an NVLink domain, consecutive ones; default: a server's")
    generation: Generation = Field("hopper", description="by which NCCL chooses (algorithm nccl)")


class TrainingJob(Parallelism):
    """A training job of data * context * tensor * pipeline GPUs.

    What is not given is computed from `model` and `gpu`.
    """

    model: LanguageModel | None = Field(None, description="the model; with it, sizes are computed")
    gpu: Gpu | None = Field(None, description="the GPU; with it, times are computed")
    times: FileName | None = Field(
        None, description="CSV of measured times: operation, count, forward_us, backward_us; instead of those of 'gpu'"
    )
    forward: Time | None = Field(None, description="time of the forward pass of a microbatch in a stage")
    backward: Time | None = Field(None, description="time of its backward pass")
    optimizer: Time = written("0", "time of the optimizer at the end of a step")
    tensor_bytes: Bytes | None = Field(None, description="of an all-reduce in the tensor-parallel group")
    tensor_collectives: Count | None = Field(None, description="of them per pass")
    context_bytes: Bytes | None = Field(None, description="keys and values of all ranks of context")
    context_collectives: Count | None = Field(None, description="gathered per pass")
    expert_bytes: Bytes | None = Field(None, description="that a rank sends to all experts, and gets back")
    expert_collectives: Count | None = Field(None, description="all-to-alls per pass: to the experts, and back")
    expert_compute: Share | None = Field(None, description="share of a pass that experts compute")
    expert_gradient_bytes: Bytes | None = Field(None, description="of the experts of a rank")
    activation_bytes: Bytes | None = Field(None, description="to the next stage, per microbatch and rank")
    gradient_bytes: Bytes | None = Field(None, description="of a rank, reduced over the replicas")
    placement: RankOrder = Field("packed", description="the order of the servers")
    queue_pairs: QueuePairCount | None = Field(None, description="default: addresses of a NIC")
    split: Split = Field(
        "split", description="messages split over all queue pairs, or round robin (NCCL_IB_SPLIT_DATA_ON_QPS)"
    )


class WhatIf(Model):
    """A what-if file."""

    name: Annotated[str, Field(max_length=200)] = Field("", description="title of the results")
    fabric: FileName = Field(description="fabric.yaml; paths are relative to the directory of this file")
    artifacts: FileName | None = Field(
        None, description="the directory of generated or collected files; default: they are generated for the study"
    )
    delay: Time = written("1us", "of every link")
    job: TrainingJob
    balancers: Annotated[Balancers, Field(min_length=1)] = Field(
        description="names, or names with parameters; the others are compared with the first"
    )
    failures: Failures = Field((), description="each is a case of its own, next to the one without")
    seeds: Seeds = Field((1,), description="a count N (seeds 1 to N), or a list of seeds")
    reliability: Reliability | None = Field(None, description="failures over months; default: not computed")
    level: Level = Field("packet", description="packet: every packet; flow: rates of flows")
    scale: Count = Field(1, description="bytes and compute times are divided by it; times are scaled back")
    packets: Packets = Field(default_factory=Packets)
    switches: Switches = Field(default_factory=Switches)
    transport: Annotated[Transport, by_name(Transport)] = Field(
        default_factory=Transport, description="a name, or a name with other keys"
    )
    congestion: Annotated[Congestion, by_name(Congestion, CongestionName)] = Field(
        default_factory=lambda: Congestion(name="dcqcn"), description="a name, or a name with other keys"
    )
    nics: Nics = Field(default_factory=Nics)
    until: SomeTime | None = Field(None, description="time of the job at which a simulation stops")


def json_schema() -> str:
    """Return the JSON Schema (draft 2020-12) of what-if files, for editors, as indented text ending in a newline."""
    return schema_text(WhatIf.model_json_schema(), "file of ailb-gen study what-if")
