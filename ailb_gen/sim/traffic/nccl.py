"""The algorithm and protocol that NCCL chooses for a collective, by its tuning model.

Per algorithm and protocol NCCL estimates a time: latency + size / bandwidth, and takes the least. The constants and
rules are those of its source of 2026 (src/graph/tuning.cc), with two channels per GPU of a server that share the rate
of its NIC; what a topology search would find on other servers is not modeled. Latencies are in us, bandwidths in 10^9
bytes/s.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Generation = Literal["ampere", "hopper", "blackwell"]
NVLS_TREE = "nvls-tree"
PROTOCOLS = ("LL", "LL128", "Simple")
LL, LL128, SIMPLE = range(3)
# Bytes on the wire per byte of data: 4 of 8 are flags; 120 of 128 are data.
WIRE = {"LL": Fraction(2), "LL128": Fraction(128, 120), "Simple": Fraction(1)}
# By algorithm, of LL, LL128 and Simple: once, per step over NVLink, per step over the network.
BASE = {"tree": (6.8, 14.0, 8.4), "ring": (6.6, 14.0, 8.4), NVLS_TREE: (0.0, 0.0, 0.0), "pat": (8.0, 8.0, 8.0)}
OVER_NVLINK = {"tree": (0.6, 1.25, 4.0), "ring": (0.6, 1.9, 3.4), NVLS_TREE: (0.0, 0.0, 25.0), "pat": (0.0, 0.0, 4.0)}
OVER_NETWORK = {
    "tree": (5.0, 8.5, 14.0), "ring": (2.7, 4.0, 14.0), NVLS_TREE: (0.0, 0.0, 20.9), "pat": (0.0, 0.0, 14.0),
}  # fmt: skip
ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "all-reduce": ("tree", "ring", NVLS_TREE),
    "reduce-scatter": ("ring", "pat"),
    "all-gather": ("ring", "pat"),
}


@dataclass(frozen=True, slots=True)
class Gpus:
    """Limits of a generation of GPUs, by 1, 2 and more servers where there are three."""

    nvlink: float  # of a GPU, if nothing else is known
    ll: float  # in one server
    ring_ll128: float  # per channel
    tree: tuple[float, float, float]  # per channel
    tree_ll128: tuple[float, float, float]  # per channel
    nvls_tree: tuple[float, float, float]  # per channel
    nvls: float  # share of the rate of NVLink; 0: has none


GENERATIONS: Mapping[str, Gpus] = {
    "ampere": Gpus(300, 87.7, 20.0, (24.0, 23.6, 17.8), (20.0, 20.0, 20.0), (24.0, 23.6, 17.8), 0.0),
    "hopper": Gpus(450, 141.0, 36.7, (38.7, 41.4, 36.0), (36.7, 36.7, 29.0), (0.0, 57.7, 45.5), 0.85),
    "blackwell": Gpus(900, 282.0, 40.0, (70.0, 42.8, 24.0), (55.6, 31.67, 20.0), (0.0, 96.0, 80.0), 0.74),
}
# Of LL, by 2 and more servers: it depends on the CPU (Intel).
MAX_LL = (39.0, 20.4)
# What NCCL multiplies the bandwidth of trees with, by powers of two from 64 bytes on.
TREE_CORRECTION = (
    (1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0),
    (1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0),
    (0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9),
)
UNIT = 64
GB_PER_US = 1000
NET_OVERHEAD, SIMPLE_OVERHEAD = 1.0, 3
PLATEAU, PLATEAU_BYTES = 1.4, 64
PAT_SHARE, PAT_STEP, PAT_RANK = 0.75, 3.5, 2.8
FEW = 2


@dataclass(frozen=True, slots=True)
class Tuning:
    """What NCCL knows of GPUs and NICs: rates in bit/s; `nvls`: NVLink switches reduce."""

    nic_bps: int
    nvlink_bps: int = 0
    generation: Generation = "hopper"
    nvls: bool = False


@dataclass(frozen=True, slots=True)
class NcclChoice:
    """What NCCL chooses: algorithm, protocol, its estimate in us, and the part of the latency outside the network."""

    algorithm: str
    protocol: str
    us: float
    inside_us: float

    @property
    def own(self) -> str:
        """The algorithm of the simulator."""
        return "tree" if self.algorithm == NVLS_TREE else self.algorithm

    def __str__(self) -> str:
        """Return it as in labels."""
        return f"{self.algorithm}, {self.protocol}"


def choose(collective: str, size: int, ranks: int, per_server: int, tuning: Tuning) -> NcclChoice | None:
    """Return what NCCL chooses for `size` bytes over `ranks` in full servers; None for what it has no choice of."""
    if collective not in ALGORITHMS:
        return None
    model = _Model(collective, ranks, per_server, tuning)
    return min(model.choices(size), key=lambda choice: choice.us)


@dataclass(frozen=True, slots=True)
class _Model:
    """The model of a communicator and a collective."""

    collective: str
    ranks: int
    per_server: int
    tuning: Tuning

    @property
    def servers(self) -> int:
        """The servers of the ranks."""
        return self.ranks // self.per_server

    @property
    def gpus(self) -> Gpus:
        """The limits of the GPUs."""
        return GENERATIONS[self.tuning.generation]

    @property
    def column(self) -> int:
        """Which of three limits: of 1, 2 or more servers."""
        return min(self.servers, 3) - 1

    @property
    def max_ll(self) -> float:
        """The limit of LL."""
        return self.gpus.ll if self.servers == 1 else MAX_LL[self.column - 1]

    @property
    def channels(self) -> int:
        """Two per GPU of a server, which share its NIC."""
        return 2 * self.per_server

    def choices(self, size: int) -> Iterator[NcclChoice]:
        """Yield all algorithms and protocols that NCCL compares."""
        for algorithm in ALGORITHMS[self.collective]:
            if algorithm == NVLS_TREE and not (self.tuning.nvls and self.servers > 1 and self.gpus.nvls):
                continue
            if algorithm == "pat" and self.per_server > 1:
                continue
            for protocol in (SIMPLE,) if algorithm in (NVLS_TREE, "pat") else (LL, LL128, SIMPLE):
                inside, network = self.latency(algorithm, protocol)
                latency = inside + network
                if algorithm == "ring" and protocol == SIMPLE and self.plateau(size):
                    latency *= PLATEAU
                us = latency + size / (GB_PER_US * self.bandwidth(algorithm, protocol, size))
                yield NcclChoice(algorithm, PROTOCOLS[protocol], us, inside)

    def plateau(self, size: int) -> bool:
        """Return whether a ring's chunks are long enough to wait for each other."""
        wide = self.servers > 1 and self.collective == "all-reduce"
        return wide and size // (self.channels * self.ranks) >= PLATEAU_BYTES

    def bandwidth(self, algorithm: str, protocol: int, size: int) -> float:
        """Return the estimate in 10^9 bytes/s of data."""
        gpus, channels = self.gpus, self.channels
        nic = self.tuning.nic_bps / 8e9 * self.per_server / channels
        nvlink = (self.tuning.nvlink_bps / 8e9 or gpus.nvlink) * self.per_server / channels
        if self.servers == 1:
            nic = nvlink
        if algorithm == NVLS_TREE:
            inside = 2 * nvlink * gpus.nvls * (channels - 1) / channels
            nic = min(inside, nic * (2 if self.servers <= FEW else 1), gpus.nvls_tree[self.column])
        bus = channels * nic
        if algorithm == "ring" and protocol == LL:
            bus = min(self.max_ll, bus / 2)
        if algorithm == "ring" and protocol == LL128:
            bus = min(bus * 0.92, channels * gpus.ring_ll128)
        if algorithm == "tree":
            bus = self.tree(bus, protocol, size)
        if algorithm == "pat":
            return bus * PAT_SHARE
        # Bus to data: a ring passes all but one part, twice for an all-reduce.
        passed = (2 if self.collective == "all-reduce" else 1) * (self.ranks - 1)
        return bus / 2 if algorithm == "tree" else bus * self.ranks / passed

    def tree(self, bus: float, protocol: int, size: int) -> float:
        """Return the bus bandwidth of a tree."""
        gpus, channels = self.gpus, self.channels
        bus = min(bus * 0.92, channels * gpus.tree[self.column])
        if protocol == LL:
            bus = min(bus / 3.8, self.max_ll)
        if protocol == LL128:
            share = 7 / 9 if self.servers == 1 else 120 / 128
            bus = min(bus * share, channels * gpus.tree_ll128[self.column])
        power = (size // UNIT).bit_length() - 1
        return bus * TREE_CORRECTION[protocol][power] if 0 <= power < len(TREE_CORRECTION[protocol]) else bus

    def latency(self, algorithm: str, protocol: int) -> tuple[float, float]:
        """Return the latency in us: in GPUs and over NVLink, and of steps over the network."""
        base, inside = BASE[algorithm][protocol], OVER_NVLINK[algorithm][protocol]
        network = OVER_NETWORK["tree" if self.per_server == 1 else algorithm][protocol]
        steps, hops = self.ranks - self.servers, self.servers - 1
        if algorithm == "ring":
            if self.servers > 1:
                inside = max(inside, NET_OVERHEAD * (SIMPLE_OVERHEAD if protocol == SIMPLE else 1))
            passes = 2 if self.collective == "all-reduce" else 1
            return base + passes * steps * inside, passes * hops * network
        levels = int(math.log2(self.servers))
        if algorithm == "tree":
            return base + 2 * (self.per_server - 1) * inside, 2 * levels * network
        if algorithm == NVLS_TREE:
            return base + inside, 2 * levels * network
        return base + self.ranks * PAT_RANK, levels * network / PAT_STEP
