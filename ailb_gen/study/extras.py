"""What studies measure besides the statistics of every point: CDFs, flows by size, load of links over time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ailb_gen.sim.fabric import PS_PER_US
from ailb_gen.sim.outcome import NEVER
from ailb_gen.sim.statistics import distribution, is_flow

if TYPE_CHECKING:
    from ailb_gen.sim.outcome import Outcome
    from ailb_gen.sim.point import Run


@dataclass(frozen=True, slots=True)
class CompletionCdf:
    """The distribution of the completion times of one label's flows, in µs, at `points` even ranks from 0 to 1."""

    label: str
    points: int = 101

    def __call__(self, run: Run, outcome: Outcome) -> list[float]:
        """Return completion times in rising order; empty without flows that ended."""
        flows = is_flow(run.workload)
        ours = flows[run.workload.label[flows] == run.workload.labels.index(self.label)]
        ended = ours[outcome.finish_ps[ours] != NEVER]
        if not len(ended):
            return []
        times = (outcome.finish_ps[ended] - outcome.start_ps[ended]) / PS_PER_US
        found: list[float] = np.quantile(times, np.linspace(0, 1, self.points)).tolist()
        return found


@dataclass(frozen=True, slots=True)
class EndedBy:
    """The completion times, in µs, of one label's flows that end within `us` of simulated time."""

    label: str
    us: int

    def __call__(self, run: Run, outcome: Outcome) -> dict[str, Any]:
        """Return their count, mean, percentiles and maximum."""
        flows = is_flow(run.workload)
        ours = flows[run.workload.label[flows] == run.workload.labels.index(self.label)]
        finish = outcome.finish_ps[ours]
        ended = ours[(finish != NEVER) & (finish <= self.us * PS_PER_US)]
        return asdict(distribution((outcome.finish_ps[ended] - outcome.start_ps[ended]) / PS_PER_US))


@dataclass(frozen=True, slots=True)
class UnusedCables:
    """How many cables are in no next-hop set: those that are down from the start and that no routing knows of."""

    def __call__(self, run: Run, outcome: Outcome) -> int:
        """Return their number; both directions of a cable are one."""
        used = np.zeros(run.fabric.link_count, dtype=bool)
        used[run.fabric.set_links] = True
        return int(np.count_nonzero(~used & ~used[run.fabric.link_reverse])) // 2
