"""What a training job computes and sends: data, tensor, pipeline, context and expert parallelism."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ailb_gen.errors import UsageError
from ailb_gen.sim.traffic.algorithms import CollectiveOptions
from ailb_gen.sim.traffic.builder import QueuePairs
from ailb_gen.sim.traffic.collectives import PLAIN
from ailb_gen.sim.traffic.experts import imbalance
from ailb_gen.sim.traffic.schedule import Schedule

ONE_QUEUE_PAIR = QueuePairs()
# Collectives that take different turns; real models have some per layer.
MAX_IN_ROUND = 10_000


@dataclass(frozen=True, slots=True)
class Training:
    """A job of data * context * tensor * pipeline ranks, one host each; times and bytes are per rank.

    Rank t + tensor * (c + context * (d + data * p)) is number t of the tensor-parallel group of part c of the sequences
    of replica d in stage p (the order of Megatron-LM). Ranks of one server exchange data in no time, or in that of
    `options.nvlink_bps`. A pass of a microbatch through a stage takes `forward_ps` or `backward_ps`, cut by the
    collectives of the table `INSIDE`; then `activation_bytes` go to the next stage, or as many gradients back.
    `recompute`: a backward pass repeats the forward pass first (Chen et al. 2016). `virtual` parts of the model per
    stage take turns (`schedule.operations`).

    Of 0 bytes nothing is sent. A rank sends `expert_bytes` to the experts of each `expert` ranks after another, and
    gets as many back. With `expert_weights`, how much of it goes to each of these ranks, the `expert_compute` part of
    the times grows to that of the rank with most.

    A stage reduces `gradient_bytes` over data * context ranks, and `expert_gradient_bytes` over those that hold the
    same experts, in `gradient_buckets` one after the other: "all-reduce", or "sharded": reduce-scatter, and all-gather
    after the optimizer (ZeRO). It begins after its last backward pass; with `gradient_overlap` every bucket does when
    its share of the stage's last backward passes is done. The step ends when all stages have.
    """

    data: int = 1
    context: int = 1
    tensor: int = 1
    pipeline: int = 1
    expert: int = 1
    virtual: int = 1
    steps: int = 1
    microbatches: int = 1
    schedule: Schedule = "1f1b"
    forward_ps: int = 0
    backward_ps: int = 0
    optimizer_ps: int = 0
    recompute: bool = False
    tensor_bytes: int = 0
    tensor_collectives: int = 1
    tensor_overlap: float = 0.0
    sequence_parallel: bool = False
    context_bytes: int = 0
    context_collectives: int = 1
    context_overlap: float = 0.0
    expert_bytes: int = 0
    expert_collectives: int = 2
    expert_overlap: float = 0.0
    expert_weights: tuple[int, ...] = ()
    expert_compute: float = 0.0
    activation_bytes: int = 0
    gradient_bytes: int = 0
    expert_gradient_bytes: int = 0
    gradient_buckets: int = 1
    gradients: Literal["all-reduce", "sharded"] = "all-reduce"
    gradient_overlap: bool = False
    algorithm: str = "ring"
    options: CollectiveOptions = PLAIN
    queue_pairs: QueuePairs = ONE_QUEUE_PAIR

    def __post_init__(self) -> None:
        for size in (self.gradient_bytes, self.expert_gradient_bytes):
            if 0 < size < self.gradient_buckets:
                raise UsageError(f"{size:,} bytes of gradients are too few for {self.gradient_buckets} buckets")
        if self.data * self.context * self.tensor % self.expert:
            raise UsageError(
                f"expert {self.expert} does not divide the {self.data * self.context * self.tensor} ranks of a stage"
            )
        if max(self.expert, self.tensor) % min(self.expert, self.tensor):
            raise UsageError(f"of expert {self.expert} and tensor {self.tensor}, one must divide the other")
        if self.virtual > 1 and (self.pipeline == 1 or self.microbatches % self.pipeline):
            raise UsageError(
                f"virtual stages need 2 or more stages, and a multiple of {self.pipeline} microbatches, not "
                f"{self.microbatches}"
            )
        self._check_counts()

    def _check_counts(self) -> None:
        """Raise UsageError for numbers of collectives that do not divide passes into equal rounds."""
        counts = {inner: inner.count(self) for inner in INSIDE if inner.size(self)}
        for inner, count in counts.items():
            if count % (self.virtual * inner.together):
                reason = f"{inner.name}_collectives {count} are no multiple of {self.virtual * inner.together}"
                raise UsageError(f"{reason}: virtual stages, times {inner.together} that belong together")
        if sum(counts.values()) > MAX_IN_ROUND * math.gcd(*counts.values()):
            shown = ", ".join(f"{inner.name}_collectives {count}" for inner, count in counts.items())
            raise UsageError(f"{shown}: use numbers with a larger common divisor")

    @property
    def rows(self) -> int:
        """The tensor-parallel groups of a stage."""
        return self.data * self.context

    @property
    def ranks(self) -> int:
        """The number of hosts."""
        return self.rows * self.tensor * self.pipeline

    def pass_ps(self, direction: str) -> int:
        """Return the time that a pass computes in a stage."""
        balanced = self.forward_ps if direction == "forward" else self.backward_ps
        return round(balanced * (1 + Fraction(self.expert_compute) * (imbalance(self.expert_weights) - 1)))


@dataclass(frozen=True, slots=True)
class Inside:
    """Collectives inside passes: `name`_collectives of them per pass, of `name`_bytes, spread evenly over the time.

    `forward` and `backward` are their kinds; a share `name`_overlap of the bytes is sent during the computation before.
    """

    name: Literal["tensor", "context", "expert"]
    forward: tuple[str, ...]
    backward: tuple[str, ...]
    together: int = 1  # how many belong together: to the experts, and back

    def size(self, training: Training) -> int:
        """Return the bytes of one."""
        found: int = getattr(training, f"{self.name}_bytes")
        return found

    def count(self, training: Training) -> int:
        """Return how many a pass through a stage has."""
        found: int = getattr(training, f"{self.name}_collectives")
        return found

    def hidden(self, training: Training) -> int:
        """Return the bytes that are sent during the computation before."""
        return round(self.size(training) * Fraction(getattr(training, f"{self.name}_overlap")))

    def kinds(self, training: Training, direction: str) -> tuple[str, ...]:
        """Return the kinds, one after the other."""
        kinds = self.forward if direction == "forward" else self.backward
        # Sequence parallelism: as many bytes in two halves (Korthikanti et al. 2022).
        halves = self.name == "tensor" and training.sequence_parallel
        return ("reduce-scatter", "all-gather") if halves else kinds


# Tensor parallelism: Shoeybi et al. 2019. Context parallelism: keys and values go around the ring, in the backward pass
# their gradients, too (Liu et al. 2023). Experts: tokens go to them and back (Lepikhin et al. 2020).
INSIDE = (
    Inside("tensor", ("all-reduce",), ("all-reduce",)),
    Inside("context", ("all-gather",), ("all-gather", "reduce-scatter")),
    Inside("expert", ("all-to-all",), ("all-to-all",), together=2),
)
