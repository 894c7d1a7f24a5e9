"""The models of the traffic of a scenario: an entry each for a job or a source of flows."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ailb_gen.sim.scenario.scalars import Bytes, Share, SomeBytes, SomeTime, Time, written
from ailb_gen.validation import Bool, Int, Model, wrong

Count = Annotated[Int, Field(ge=1, le=1_000_000)]
Load = Annotated[Share, Field(gt=0)]
FileName = Annotated[str, Field(min_length=1, max_length=4096)]
CollectiveName = Literal[
    "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "incast", "permutation"
]


def _several(value: object) -> object:
    return [value] if isinstance(value, str) else value


Hosts = Annotated[tuple[str, ...], BeforeValidator(_several, json_schema_input_type=str | list[str])]
EVERY = Field((), description="names and globs of hosts, in the order of ranks; default: all")
OTHER_LEAVES = Field(False, description="only destinations under another leaf")
START = "time of the first flow"


class Part(Model):
    """Keys common to all entries."""

    priority: Annotated[Int, Field(ge=0, le=7)] = Field(0, description="the class of its packets; 0 is served first")


class Connections(Part):
    """Keys about how a job sends."""

    queue_pairs: Annotated[Int, Field(ge=1, le=128)] | None = Field(
        None, description="of a connection (NCCL_IB_QPS_PER_CONNECTION); default: the addresses of a host"
    )
    split: Literal["split", "round-robin"] = Field(
        "split", description="messages split over all queue pairs, or round robin (NCCL_IB_SPLIT_DATA_ON_QPS)"
    )
    per_server: Count | None = Field(
        None, description="number of consecutive ranks that are GPUs of one server; default: by the names of hosts"
    )


class CollectivePart(Connections):
    """A collective, once or several times in a row."""

    kind: CollectiveName = Field(description="the collective, or incast or permutation")
    bytes: SomeBytes = Field(description="as in nccl-tests for this collective")
    algorithm: str | None = Field(None, description="default: the first one of the collective")
    steps: Count = Field(1, description="number of repetitions")
    compute: Time = written("0", "computation before every step")
    start: Time = written("0", START)
    hosts: Hosts = EVERY
    slices: Count = Field(1, description="messages per chunk")
    at_once: Bool | None = Field(None, description="send without waiting for data that would have to arrive first")
    rounds: Count | None = Field(None, description="only the first steps of a ring")
    pxn: Bool = Field(True, description="all-to-all over the NIC of the target's rail (NCCL_PXN_DISABLE=0)")
    shift: Count | None = Field(None, description="permutation to the host at this offset; default: random")


class TrainingPart(Connections):
    """A training job of data * tensor * pipeline ranks, a host each."""

    data: Count = Field(1, description="replicas of the model")
    tensor: Count = Field(1, description="ranks of a tensor-parallel group")
    pipeline: Count = Field(1, description="stages of the pipeline")
    steps: Count = Field(1, description="training steps")
    microbatches: Count = Field(1, description="per replica and step")
    schedule: Literal["1f1b", "gpipe"] = Field("1f1b", description="of the pipeline")
    forward: Time = written("0", "time of the forward pass of a microbatch in a stage")
    backward: Time = written("0", "time of its backward pass")
    optimizer: Time = written("0", "time of the optimizer at the end of a step")
    tensor_bytes: Bytes = written("0", "of an all-reduce in the tensor-parallel group")
    tensor_collectives: Count = Field(1, description="of them per pass")
    activation_bytes: Bytes = written("0", "to the next stage, per microbatch and rank")
    gradient_bytes: Bytes = written("0", "of a rank, reduced over the replicas")
    gradient_buckets: Count = Field(1, description="parts in which gradients are reduced, one after the other")
    gradients: Literal["all-reduce", "sharded"] = Field(
        "all-reduce", description="sharded: reduce-scatter and all-gather (ZeRO)"
    )
    algorithm: str = Field("ring", description="of the collectives")
    slices: Count = Field(1, description="messages per chunk of a ring")
    stream: Bool = Field(False, description="a ring sends the bytes of all its steps at once: far fewer messages")
    start: Time = written("0", START)
    hosts: Hosts = EVERY
    placement: Literal["packed", "strided", "random"] = Field(
        "packed", description="the order in which ranks are assigned to hosts"
    )
    stride: Count = Field(1, description="of a strided placement")
    block: Count = Field(1, description="number of consecutive hosts that are placed together, such as a server's")


class FlowsPart(Part):
    """Flows from a file: a flow list of conweave-ns3, or a connection matrix of csg-htsim."""

    file: FileName = Field(description="plain or gzip")
    format: Literal["flows", "cm"] | None = Field(None, description="default: cm for *.cm, else flows")


class ArrivalsPart(Part):
    """Poisson arrivals at every host, to uniform destinations."""

    load: Load = Field(description="share of the rate of a host's links, such as 25%")
    duration: SomeTime = Field(description="how long flows arrive")
    file: FileName = Field(description='JSON with distributions: {"NAME": [[bytes, percent], ...]}')
    sizes: str = Field(description="the name of the distribution")
    other_leaves: Bool = OTHER_LEAVES
    hosts: Hosts = EVERY


class MicePart(Part):
    """Small flows at a fixed interval, between random hosts."""

    bytes: SomeBytes = Field(description="size of a flow")
    interval: SomeTime = Field(description="between the starts of two flows")
    count: Count = Field(description="number of flows")
    start: Time = written("0", START)
    other_leaves: Bool = OTHER_LEAVES
    hosts: Hosts = EVERY


class BackgroundPart(Part):
    """A constant load on links between switches, from hosts of its own."""

    links: Annotated[Hosts, Field(min_length=1)] = Field(description="names and globs of sending ports")
    load: Load = Field(description="share of the rate of each")
    duration: SomeTime = Field(description="how long it lasts")
    start: Time = written("0", START)


class ScaleUnitPart(Part):
    """The workloads of Zeltser, "Adaptive Packet Routing vs. Flowlet Switching" (2026), on 8 leaves of 4 servers."""

    workload: Literal["heavy", "mixed"] = Field(description="as published")
    scale: Count = Field(1, description="factor of the size of messages")
    steps: Count | None = Field(None, description="of the job, or of both; default: as published")
    mice: Bool = Field(True, description="with the small flows")
    queue_pairs: Annotated[Int, Field(ge=1, le=128)] | None = Field(
        None, description="of a connection, over which messages are spread; default: the addresses of a host"
    )


class TrafficPart(Model):
    """One entry of the traffic: exactly one of these."""

    collective: CollectivePart | None = None
    training: TrainingPart | None = None
    flows: FlowsPart | None = None
    arrivals: ArrivalsPart | None = None
    mice: MicePart | None = None
    background: BackgroundPart | None = None
    scale_unit: ScaleUnitPart | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = sorted(self.model_fields_set)
        if len(given) != 1 or self.chosen is None:
            known = ", ".join(type(self).model_fields)
            raise wrong("conflict", f"an entry holds exactly one of {known}; this one has {', '.join(given) or 'none'}")
        return self

    @property
    def kind(self) -> str:
        """The name of what the entry holds."""
        return next(iter(self.model_fields_set))

    @property
    def chosen(self) -> Part:
        """The part of the entry that is given."""
        found: Part = getattr(self, self.kind)
        return found
