"""The models of a what-if file: a fabric, a training job, load balancers, failures."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import Field, PlainValidator

from ailb_gen.sim.scenario.models import (
    Balancers,
    Congestion,
    CongestionName,
    Failures,
    Nics,
    Packets,
    Seeds,
    Switches,
    Transport,
    by_name,
)
from ailb_gen.sim.scenario.scalars import (
    Bytes,
    Share,
    SomeBytes,
    SomeTime,
    Time,
    positive,
    quantity_schema,
    with_unit,
    written,
)
from ailb_gen.sim.scenario.traffic import Count, FileName
from ailb_gen.sim.settings import Level
from ailb_gen.validation import Bool, Int, Model

PARAMETERS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
FLOPS = {"g": 10**9, "t": 10**12, "p": 10**15}
read_parameters = with_unit("number of parameters", PARAMETERS, "M, B or T", "70B")
read_flops = with_unit("computing rate", FLOPS, "G, T or P (FLOP/s)", "989T")

Parameters = Annotated[
    int, PlainValidator(read_parameters), positive("number of parameters"), quantity_schema(PARAMETERS, "70B", 1)
]
Flops = Annotated[int, PlainValidator(read_flops), positive("computing rate"), quantity_schema(FLOPS, "989T", 1)]
Width = Annotated[Int, Field(ge=1, le=10_000_000)]


class LanguageModel(Model):
    """A transformer."""

    parameters: Parameters = Field(description="number of parameters")
    layers: Count = Field(description="number of layers")
    hidden: Width = Field(description="hidden size")
    sequence: Width = Field(description="tokens of a sequence")
    microbatch: Count = Field(1, description="sequences of a microbatch")
    bytes_per_parameter: Annotated[Int, Field(ge=1, le=8)] = Field(2, description="of gradients and activations, too")


class Gpu(Model):
    """Computing rate and memory of a GPU."""

    flops: Flops = Field(description="peak FLOP/s in the precision of the job")
    utilization: Annotated[Share, Field(gt=0)] = Field(description="share of it without waiting for the fabric")
    memory: SomeBytes | None = Field(None, description="default: not checked")


class TrainingJob(Model):
    """A training job of data * tensor * pipeline GPUs; what is not given is computed from `model` and `gpu`."""

    data: Count = Field(1, description="replicas of the model")
    tensor: Count = Field(1, description="GPUs of a tensor-parallel group")
    pipeline: Count = Field(1, description="stages of the pipeline")
    microbatches: Count = Field(1, description="per replica and step")
    steps: Count = Field(1, description="training steps")
    schedule: Literal["1f1b", "gpipe"] = Field("1f1b", description="of the pipeline")
    gradients: Literal["all-reduce", "sharded"] = Field(
        "all-reduce", description="sharded: reduce-scatter and all-gather (ZeRO)"
    )
    gradient_buckets: Count = Field(1, description="parts in which gradients are reduced, one after the other")
    model: LanguageModel | None = Field(None, description="the model; with it, sizes are computed")
    gpu: Gpu | None = Field(None, description="the GPU; with it, times are computed")
    forward: Time | None = Field(None, description="time of the forward pass of a microbatch in a stage")
    backward: Time | None = Field(None, description="time of its backward pass")
    optimizer: Time = written("0", "time of the optimizer at the end of a step")
    tensor_bytes: Bytes | None = Field(None, description="of an all-reduce in the tensor-parallel group")
    tensor_collectives: Count | None = Field(None, description="of them per pass")
    activation_bytes: Bytes | None = Field(None, description="to the next stage, per microbatch and rank")
    gradient_bytes: Bytes | None = Field(None, description="of a rank, reduced over the replicas")
    placement: Literal["packed", "strided", "random"] = Field("packed", description="the order of the servers")
    stride: Count = Field(1, description="of a strided placement, in servers")
    queue_pairs: Annotated[Int, Field(ge=1, le=128)] | None = Field(None, description="default: addresses of a NIC")
    split: Literal["split", "round-robin"] = Field(
        "split", description="messages split over all queue pairs, or round robin (NCCL_IB_SPLIT_DATA_ON_QPS)"
    )
    stream: Bool = Field(False, description="a ring sends the bytes of all its steps at once: far fewer messages")


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
    schema = WhatIf.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "file of ailb-gen study what-if"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
