"""Flows between servers, their load, and their results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from ailb_gen.errors import UsageError

LEAST_BYTES, USUAL_BYTES, MOST_BYTES = 64, 1024, 8900
MOST_FLOWS = 4096


@dataclass(frozen=True, slots=True)
class Flow:
    """A queue pair between two NICs; addresses are those it is bound to, `qp` counts from 0 for every pair of NICs."""

    source: str
    source_nic: str
    source_address: int
    target: str
    target_nic: str
    target_address: int
    qp: int
    port: int

    def __str__(self) -> str:
        return f"{self.source}:{self.source_nic} to {self.target}:{self.target_nic}, QP {self.qp + 1}"


@dataclass(frozen=True, slots=True)
class TrafficLoad:
    """The packets of every flow: rate per second, count (0: until stopped), bytes of UDP payload, and the DSCP.

    Raises UsageError for values that no flow can have.
    """

    rate: float = 1000.0
    count: int = 1000
    size: int = USUAL_BYTES
    dscp: int = 26

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1_000_000:
            raise UsageError(f"a rate of {self.rate:g} packets per second; choose 1 to 1000000")
        if self.count < 0:
            raise UsageError(f"{self.count} packets; choose 0 or more")
        if not LEAST_BYTES <= self.size <= MOST_BYTES:
            raise UsageError(f"packets of {self.size} bytes; choose {LEAST_BYTES} to {MOST_BYTES}")


# Packets per second that two cores carry through a lab, and a flow has at most, and the least packets of a flow.
USUAL_TOTAL, USUAL_RATE, LEAST_PACKETS = 40_000, 1000.0, 20


def usual_load(flows: int, rate: float | None = None, count: int | None = None, size: int = USUAL_BYTES) -> TrafficLoad:
    """Return a load that a small machine can send on a number of flows, for a second or a little more.

    Raises UsageError for values that no flow can have.
    """
    chosen = rate if rate is not None else min(USUAL_RATE, USUAL_TOTAL / flows)
    return TrafficLoad(chosen, count if count is not None else max(LEAST_PACKETS, round(chosen)), size)


@dataclass(frozen=True, slots=True)
class ReceivedPackets:
    """The measurements of a flow.

    `late` are packets that came after one that was sent later (RFC 4737, 3.3), `run` is the largest number of packets
    in a row that did not come before the next one, `expected` the number of the packet that would be the next.
    """

    packets: int
    late: int
    run: int
    expected: int


@dataclass(frozen=True, slots=True)
class FlowResult:
    """The result of a flow; `outage_ms` is the longest interruption: the most packets lost in a row."""

    flow: Flow
    sent: int
    received: int
    late: int
    outage_ms: float

    @property
    def lost(self) -> int:
        """The packets that did not arrive."""
        return self.sent - self.received


@dataclass(frozen=True, slots=True, order=True)
class Uplink:
    """A port of a leaf, and the spine that it leads to."""

    leaf: str
    port: str
    spine: str


@dataclass(frozen=True, slots=True)
class TrafficResult:
    """The result of a run: every flow, the bytes that every uplink has sent by the kernel's counters, the duration."""

    flows: tuple[FlowResult, ...]
    uplinks: Mapping[Uplink, int]
    load: TrafficLoad
    seconds: float = 0.0

    @property
    def sent(self) -> int:
        """All packets that were sent."""
        return sum(flow.sent for flow in self.flows)

    @property
    def lost(self) -> int:
        """All packets that did not arrive."""
        return sum(flow.lost for flow in self.flows)

    @property
    def late(self) -> int:
        """All packets that came after one that was sent later."""
        return sum(flow.late for flow in self.flows)

    @property
    def achieved(self) -> float:
        """The packets per second of a flow that were sent; the requested rate if it was not measured."""
        return self.sent / len(self.flows) / self.seconds if self.seconds and self.flows else self.load.rate

    def spread(self) -> dict[str, float]:
        """Return the largest number of bytes of an uplink over the mean, for every leaf that has sent any."""
        by_leaf: dict[str, list[int]] = defaultdict(list)
        for uplink, size in self.uplinks.items():
            by_leaf[uplink.leaf].append(size)
        return {leaf: max(sizes) * len(sizes) / sum(sizes) for leaf, sizes in by_leaf.items() if sum(sizes)}
