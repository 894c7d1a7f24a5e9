"""The models of the traffic of a scenario: an entry each for a job or a source of flows."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ailb_gen.sim.scenario.scalars import Bytes, Flops, Names, Number, Rate, Share, SomeBytes, SomeTime, Time, written
from ailb_gen.sim.traffic.builder import Split
from ailb_gen.sim.traffic.nccl import Generation
from ailb_gen.sim.traffic.schedule import Schedule
from ailb_gen.sim.traffic.training import RankOrder
from ailb_gen.validation import Bool, Int, Model, wrong

Count = Annotated[Int, Field(ge=1, le=1_000_000)]
Load = Annotated[Share, Field(gt=0)]
FileName = Annotated[str, Field(min_length=1, max_length=4096)]
CollectiveName = Literal[
    "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "incast", "permutation"
]


# Of a connection.
QueuePairCount = Annotated[Int, Field(ge=1, le=128)]
EVERY = Field((), description="names and globs of hosts, in the order of ranks; default: all")
OTHER_LEAVES = Field(False, description="only destinations under another leaf")
START = "time of the first flow"
OVERLAP = "share of these bytes that is sent during computation"


class Part(Model):
    """Keys common to all entries."""

    priority: Annotated[Int, Field(ge=0, le=7)] = Field(0, description="the class of its packets; 0 is served first")


class Connections(Part):
    """Keys about how a job sends."""

    queue_pairs: QueuePairCount | None = Field(
        None, description="of a connection (NCCL_IB_QPS_PER_CONNECTION); default: the addresses of a host"
    )
    split: Split = Field(
        "split", description="messages split over all queue pairs, or round robin (NCCL_IB_SPLIT_DATA_ON_QPS)"
    )
    per_server: Count | None = Field(
        None,
        description="consecutive ranks that are GPUs of one server or NVLink domain; default: by the names of hosts",
    )
    nvlink: Rate | None = Field(
        None, description="of a GPU in each direction; default: data takes no time inside a server"
    )
    nvls: Bool = Field(False, description="NVLink switches reduce all-reduces (NVLS)")
    hostfile: FileName | None = Field(None, description="instead of the scenario's placement, of this entry alone")
    job: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        None, description="id or name, where the placement is a list of jobs of Slurm"
    )
    gpu: Generation = Field("hopper", description="generation of the GPUs, by which NCCL chooses (algorithm nccl)")


class CollectivePart(Connections):
    """A collective, once or several times in a row."""

    kind: CollectiveName = Field(description="the collective, or incast or permutation")
    bytes: SomeBytes = Field(description="as in nccl-tests for this collective")
    algorithm: str | None = Field(
        None, description="default: the first one of the collective; nccl: with its protocol, as NCCL chooses"
    )
    steps: Count = Field(1, description="number of repetitions")
    compute: Time = written("0", "computation before every step")
    start: Time = written("0", START)
    hosts: Names = EVERY
    slices: Count = Field(1, description="messages per chunk")
    at_once: Bool | None = Field(None, description="send without waiting for data that would have to arrive first")
    rounds: Count | None = Field(None, description="only the first steps of a ring")
    pxn: Bool = Field(True, description="all-to-all over the NIC of the target's rail (NCCL_PXN_DISABLE=0)")
    shift: Count | None = Field(None, description="permutation to the host at this offset; default: random")


class Parallelism(Model):
    """How a training job is spread over its GPUs, as scenarios and what-if files have it."""

    data: Count = Field(1, description="replicas of the model")
    context: Count = Field(1, description="ranks that share the sequences of a replica")
    tensor: Count = Field(1, description="ranks of a tensor-parallel group")
    pipeline: Count = Field(1, description="stages of the pipeline")
    expert: Count = Field(1, description="consecutive ranks of a stage that share the experts")
    virtual: Count = Field(1, description="parts of the model per stage (interleaved schedule)")
    steps: Count = Field(1, description="training steps")
    microbatches: Count = Field(1, description="per replica and step")
    schedule: Schedule = Field("1f1b", description="of the pipeline")
    recompute: Bool = Field(False, description="a backward pass repeats the forward pass first")
    sequence_parallel: Bool = Field(
        False, description="reduce-scatter and all-gather instead of the all-reduces of tensor parallelism"
    )
    tensor_overlap: Share = Field(0.0, description=OVERLAP)
    context_overlap: Share = Field(0.0, description=OVERLAP)
    expert_overlap: Share = Field(0.0, description=OVERLAP)
    expert_skew: Annotated[Number, Field(ge=0, le=10)] = Field(
        0.0, description="load of expert i as i to the power of minus this (Zipf); 0: even"
    )
    expert_capacity: Annotated[Number, Field(ge=1, le=10_000)] | None = Field(
        None, description="most load of an expert over the mean, the rest is dropped; default: no limit"
    )
    gradients: Literal["all-reduce", "sharded"] = Field(
        "all-reduce", description="sharded: reduce-scatter, and all-gather after the optimizer (ZeRO)"
    )
    gradient_buckets: Count = Field(1, description="parts in which gradients are reduced, one after the other")
    gradient_overlap: Bool = Field(
        False, description="buckets are reduced during the last backward pass, each when its share is done"
    )
    stream: Bool = Field(False, description="a ring sends the bytes of all its steps at once: far fewer messages")
    stride: Count = Field(1, description="of a strided placement, in blocks")
    algorithm: str = Field("ring", description="of all-reduces; nccl: of all collectives, as NCCL chooses")


class TrainingPart(Parallelism, Connections):
    """A training job of data * context * tensor * pipeline ranks, a host each."""

    forward: Time = written("0", "time of the forward pass of a microbatch in a stage")
    backward: Time = written("0", "time of its backward pass")
    optimizer: Time = written("0", "time of the optimizer at the end of a step")
    tensor_bytes: Bytes = written("0", "of an all-reduce in the tensor-parallel group")
    tensor_collectives: Count = Field(1, description="of them per pass")
    context_bytes: Bytes = written("0", "keys and values of all ranks of context, gathered; as many gradients back")
    context_collectives: Count = Field(1, description="of them per pass")
    expert_bytes: Bytes = written("0", "that a rank sends to all experts, and gets back")
    expert_collectives: Count = Field(2, description="all-to-alls per pass: to the experts, and back")
    experts: Count | None = Field(None, description="number of experts, for their skew; default: one per rank")
    expert_compute: Share = Field(0.0, description="share of a pass that experts compute, which grows with skew")
    activation_bytes: Bytes = written("0", "to the next stage, per microbatch and rank")
    gradient_bytes: Bytes = written("0", "of a rank, reduced over the replicas")
    expert_gradient_bytes: Bytes = written("0", "of the experts of a rank, reduced over ranks with the same ones")
    slices: Count = Field(1, description="messages per chunk of a ring")
    start: Time = written("0", START)
    hosts: Names = EVERY
    placement: RankOrder = Field("packed", description="the order in which ranks are assigned to hosts")
    block: Count = Field(1, description="number of consecutive hosts that are placed together, such as a server's")


class TracePart(Connections):
    """An execution trace: what every rank computes and sends, rank i on the i-th host."""

    file: FileName = Field(description="what comes before .RANK.et of a Chakra trace; or a workload of AICB, *.txt")
    groups: FileName | None = Field(None, description="JSON with the ranks of groups: {NAME: [RANK, ...]}")
    flops: Flops | None = Field(None, description="rate of a GPU, for computations with operations but no duration")
    algorithm: str | None = Field(None, description="of all-reduces; default: ring; nccl: of all collectives")
    slices: Count = Field(1, description="messages per chunk of a ring")
    start: Time = written("0", START)
    hosts: Names = EVERY


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
    hosts: Names = EVERY


class MicePart(Part):
    """Small flows at a fixed interval, between random hosts."""

    bytes: SomeBytes = Field(description="size of a flow")
    interval: SomeTime = Field(description="between the starts of two flows")
    count: Count = Field(description="number of flows")
    start: Time = written("0", START)
    other_leaves: Bool = OTHER_LEAVES
    hosts: Names = EVERY


class BackgroundPart(Part):
    """A constant load on links between switches, from hosts of its own."""

    links: Annotated[Names, Field(min_length=1)] = Field(description="names and globs of sending ports")
    load: Load = Field(description="share of the rate of each")
    duration: SomeTime = Field(description="how long it lasts")
    start: Time = written("0", START)


class ScaleUnitPart(Part):
    """The workloads of Zeltser, "Adaptive Packet Routing vs. Flowlet Switching" (2026), on 8 leaves of 4 servers."""

    workload: Literal["heavy", "mixed"] = Field(description="as published")
    scale: Count = Field(1, description="factor of the size of messages")
    steps: Count | None = Field(None, description="of the job, or of both; default: as published")
    mice: Bool = Field(True, description="with the small flows")
    queue_pairs: QueuePairCount | None = Field(
        None, description="of a connection, over which messages are spread; default: the addresses of a host"
    )


class TrafficPart(Model):
    """One entry of the traffic: exactly one of these."""

    collective: CollectivePart | None = None
    training: TrainingPart | None = None
    trace: TracePart | None = None
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
