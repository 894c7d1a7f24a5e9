"""Settings of a simulation other than fabric and traffic: switches, load balancer, transport, congestion control, NICs.

All are plain numbers; names of balancers and transports are looked up in the engine's tables. Times are in ps,
rates in bit/s, sizes in bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ailb_gen.sim.congestion import CONGESTION
from ailb_gen.sim.fabric import PS_PER_US, Bools, Float64, Int64

TransportName = Literal["raw", "go-back-n", "selective-repeat", "timeout-only", "receiver-driven"]
Scheduling = Literal["strict", "round-robin"]
# Packet by packet, or rates of flows.
Level = Literal["packet", "flow"]


@dataclass(frozen=True, slots=True)
class PacketSettings:
    """Sizes on the wire: n payload bytes take n + `header_bytes`; ACK, NACK, CNP and pause frames `control_bytes`."""

    payload_bytes: int = 4096
    header_bytes: int = 48
    control_bytes: int = 60


@dataclass(frozen=True, slots=True)
class BufferSettings:
    """Queues and buffers of the switches: a value for all, or an array of one per switch (S,) or per link (L,).

    Without `shared_buffer_bytes` (S,) queues are infinite and nothing is paused. Otherwise a queue takes a packet while
    it is shorter than `egress_alpha` (S,) times the rest of the shared pool, unless data that came over a link is
    lossless there (`pfc`, (L,)): then an ingress queue longer than `ingress_alpha` (S,) times the rest is paused, and
    what still arrives goes to the headroom of the link, `headroom_bytes` (L,), as much as can arrive where that is
    negative or None, and of the switch, `headroom_pool_bytes` (S,). With `pause_bytes` (S,) the threshold is that fixed
    number instead, unless it is negative; an ingress queue is resumed `resume_offset_bytes` below its threshold. The
    sender of a link obeys pause frames if `obeys_pauses` (L,) says so. `ecn_*` have shape (L,): marking begins at
    `ecn_min_bytes` of an egress queue and reaches `ecn_probability` at `ecn_max_bytes`, above which every packet is
    marked; a link whose minimum is negative marks nothing. Links lose packets whose payload is more than
    `payload_limit_bytes` (L,), which follows from MTUs.
    """

    shared_buffer_bytes: int | Int64 | None = None
    egress_alpha: float | Float64 = 1.0
    ingress_alpha: float | Float64 = 1 / 16
    pfc: bool | Bools = False
    pause_bytes: int | Int64 | None = None
    resume_offset_bytes: int = 0
    headroom_bytes: int | Int64 | None = None
    headroom_pool_bytes: Int64 | None = None
    obeys_pauses: bool | Bools = True
    payload_limit_bytes: Int64 | None = None
    ecn_min_bytes: Int64 | None = None
    ecn_max_bytes: Int64 | None = None
    ecn_probability: Float64 | None = None
    scheduling: Scheduling = "strict"
    # Probability that a packet is lost on a link, shape (L,).
    loss_probability: Float64 | None = None


# What stands for a setting that some switches (S,) or links (L,) do not have: an infinite buffer, no fixed threshold,
# as much headroom as is needed, and neither PFC nor marks, losses and limits.
UNSET_OF_SWITCHES = {"shared_buffer_bytes": 2**62, "pause_bytes": -1}
UNSET_OF_LINKS = {
    "pfc": False,
    "headroom_bytes": -1,
    "obeys_pauses": True,
    "payload_limit_bytes": 2**31,
    "ecn_min_bytes": -1,
    "ecn_max_bytes": -1,
    "ecn_probability": 0.0,
    "loss_probability": 0.0,
}


@dataclass(frozen=True, slots=True)
class BalancerSettings:
    """A load balancer by its name in the engine's table, and its parameters by name; absent ones have defaults.

    `exceptions` are the parameters of switches, counted from 0, that have others; only DLB, GLB and RLB look at them.
    """

    name: str = "ecmp"
    parameters: Mapping[str, float] = field(default_factory=dict)
    exceptions: Mapping[int, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """Transport of the hosts: sending, acknowledgements, retransmissions.

    `window_bytes`: how much a queue pair may have in flight; None: one bandwidth-delay product (selective repeat) or
    no limit (the others). `reordering_packets`: how far out of order packets are acknowledged without a NACK.
    `message_bytes`: flows are sent in messages of this size, each when the one before is acknowledged. `timeout_ps`
    None: as the round trips of a flow say (`engine/timeouts.py`).
    """

    name: TransportName = "raw"
    window_bytes: int | None = None
    message_bytes: int | None = None
    reordering_packets: int = 0
    # With receiver-driven transport switches trim packets that would make a queue longer.
    trim_above_packets: int = 8
    nack_interval_ps: int = 4 * PS_PER_US
    timeout_ps: int | None = None
    # In place of `timeout_ps` while at most `few_packets` are in flight.
    few_packets: int = 3
    timeout_few_ps: int | None = None
    # Go-back-N goes back at every NACK, also at those that were under way when it did last.
    every_nack: bool = False
    # A flow ends when its sender knows that all has arrived, not when it has arrived.
    ends_acknowledged: bool = False


@dataclass(frozen=True, slots=True)
class CongestionSettings:
    """A congestion control by its name in the engine's table, and its parameters by name; absent ones have defaults."""

    name: str = "none"
    parameters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NicSettings:
    """`context_cache` queue pairs are known to the NIC; sending for another one costs `context_miss_ps` (0: none)."""

    context_cache: int = 0
    context_miss_ps: int = 0
    # Of every message, before its first packet; a NIC begins one after the other.
    message_ps: int = 0


@dataclass(frozen=True, slots=True)
class Measurement:
    """Sampling: the load of every link per `load_interval_ps`, for at most `load_samples` (0: not at all)."""

    load_interval_ps: int = 0
    load_samples: int = 0


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """Everything but fabric, traffic and random seed."""

    packets: PacketSettings = PacketSettings()
    switches: BufferSettings = BufferSettings()
    balancer: BalancerSettings = BalancerSettings()
    transport: TransportSettings = TransportSettings()
    congestion: CongestionSettings = CongestionSettings()
    nics: NicSettings = NicSettings()
    measurement: Measurement = Measurement()
    # Simulated time at which to stop, even with unfinished flows.
    until_ps: int | None = None

    @property
    def telemetry_bytes(self) -> int:
        """The bytes of a packet into which switches write, beyond its other headers."""
        row = CONGESTION[self.congestion.name]
        return int(row.values(self.congestion.parameters)[row.telemetry]) if row.telemetry else 0

    @property
    def header_bytes(self) -> int:
        """The bytes that a packet of data has beyond its payload."""
        return self.packets.header_bytes + self.telemetry_bytes
