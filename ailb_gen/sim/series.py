"""What happens over time: loads, longest queues, marks, pauses and drops by interval, for the links between tiers.

An engine stops at the times that a sampler asks for, and goes on as if it had not. How long a run takes is not known in
advance: when there are too many intervals, two become one, and the next ones are twice as long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ailb_gen.sim.fabric import FabricArrays, Int64
from ailb_gen.sim.outcome import Series
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.statistics import TIERS
from ailb_gen.sim.unloaded import PS_BITS, host_rates
from ailb_gen.sim.workload import Workload

Float32 = npt.NDArray[np.float32]
# Intervals at most; an even number.
MOST = 128
# Packets of full size that fit into the first interval, at least.
PACKETS = 8
# A last interval that is shorter than this share of the others becomes part of the one before.
SHORT = 0.5


@dataclass(frozen=True, slots=True)
class Counters:
    """What links have counted from the start on: shape (L,) each. `peak` is the longest queue since the last sample."""

    bytes: Int64
    peak: Int64
    marks: Int64
    pauses: Int64
    drops: Int64


@dataclass(frozen=True, slots=True)
class _Interval:
    """What happened between two samples; `sent` by link, the rest by pair of tiers."""

    sent: Float32  # (L,)
    peak: Int64  # (K,)
    counts: Int64  # (3, K): marks, pauses, drops


class Sampler:
    """Collects the intervals of one run. `peak` is the longest queue of every link over the whole run, shape (L,)."""

    def __init__(self, fabric: FabricArrays, interval_ps: int) -> None:
        pairs = np.stack([fabric.tier[fabric.link_source], fabric.tier[fabric.link_target]], axis=1)
        found, self._group = np.unique(pairs, axis=0, return_inverse=True)
        self._group = self._group.reshape(-1)
        self.tiers = tuple(f"{TIERS[int(a)]} to {TIERS[int(b)]}" for a, b in found)
        self._rate = fabric.rate_bps.astype(np.float64)
        self._interval_ps = interval_ps
        self._done: list[_Interval] = []
        self._bytes = np.zeros(fabric.link_count, np.int64)
        self._counts = np.zeros((3, len(self.tiers)), np.int64)
        self.peak = np.zeros(fabric.link_count, np.int64)

    @property
    def next_ps(self) -> int:
        """When the next sample is to be taken."""
        return self._interval_ps * (len(self._done) + 1)

    def take(self, now: Counters) -> None:
        """Take what links count at `next_ps`; afterwards the engine forgets the longest queues."""
        counts = np.stack(
            [np.bincount(self._group, values, len(self.tiers)) for values in (now.marks, now.pauses, now.drops)]
        )
        counts = counts.astype(np.int64)
        peak = np.zeros(len(self.tiers), np.int64)
        np.maximum.at(peak, self._group, now.peak)
        self._done.append(_Interval((now.bytes - self._bytes).astype(np.float32), peak, counts - self._counts))
        self._bytes, self._counts = now.bytes.copy(), counts
        np.maximum(self.peak, now.peak, out=self.peak)
        if len(self._done) == MOST:
            self._done = [_joined(*two) for two in zip(self._done[::2], self._done[1::2], strict=True)]
            self._interval_ps *= 2

    def finish(self, now: Counters, end_ps: int) -> Series:
        """Return all intervals of a run that has ended, with what links count now."""
        self.take(now)
        width = self._interval_ps
        done = self._done[: max(1, -(-end_ps // width))]
        edges = np.minimum(np.arange(len(done) + 1, dtype=np.int64) * width, max(end_ps, 1))
        if len(done) > 1 and edges[-1] - edges[-2] < SHORT * width:
            done = [*done[:-2], _joined(*done[-2:])]
            edges = np.delete(edges, -2)
        loads = np.stack([one.sent for one in done], axis=1) * PS_BITS / (self._rate[:, None] * np.diff(edges))
        links = np.bincount(self._group, minlength=len(self.tiers))[:, None]
        mean, most = np.zeros((len(self.tiers), len(done))), np.zeros((len(self.tiers), len(done)))
        np.add.at(mean, self._group, loads)
        np.maximum.at(most, self._group, loads)
        marks, pauses, drops = np.stack([one.counts for one in done], axis=2)
        peaks = np.stack([one.peak for one in done], axis=1)
        return Series(edges, self.tiers, mean / links, most, peaks, marks, pauses, drops)


def _joined(one: _Interval, other: _Interval) -> _Interval:
    return _Interval(one.sent + other.sent, np.maximum(one.peak, other.peak), one.counts + other.counts)


def sampler_of(fabric: FabricArrays, workload: Workload, settings: SimulationSettings) -> Sampler:
    """Return a sampler whose first interval fits: the busiest host cannot be faster than half of MOST of them.

    Few runs are as fast, and every stop of the engine takes time.
    """
    flows = workload.flows()
    sent = np.bincount(workload.source[flows], workload.amount[flows], fabric.host_count)
    busiest = float((sent * PS_BITS / np.maximum(host_rates(fabric), 1)).max(initial=0.0))
    packet = (settings.packets.payload_bytes + settings.header_bytes) * PS_BITS / float(fabric.rate_bps.min())
    return Sampler(fabric, max(1, int(max(2 * busiest / MOST, PACKETS * packet))))
