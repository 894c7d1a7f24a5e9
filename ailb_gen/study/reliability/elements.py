"""What fails in a fabric: kinds of elements, their rates, and the parts of the fabric that they take down.

Elements fail and are repaired independently of each other, with exponential times (alternating renewal processes): one
is down for the share MTTR / (MTBF + MTTR) of the time, and of n equal ones the number that is down is binomial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

HOURS_PER_MONTH, HOURS_PER_YEAR = 730.5, 8766.0


@dataclass(frozen=True, slots=True)
class KindOfElement:
    """Elements that fail alike: their MTBF in hours where a report gives one, with that report."""

    text: str
    mtbf_h: float | None = None
    source: str = ""


HPN = "Qian et al. 2024 (HPN)"
LLAMA = "Grattafiori et al. 2024 (Llama 3)"
# HPN: 0.057 % of the links between NICs and leaves fail in a month, 0.051 % of the leaves. Llama 3: 7 interruptions by
# NICs in 54 days of 16,384 GPUs with a NIC each.
KINDS: Mapping[str, KindOfElement] = {
    "links": KindOfElement("cables with what is plugged in at both ends", HOURS_PER_MONTH / 0.00057, HPN),
    "optics": KindOfElement("optics, two per cable, in addition to 'links'"),
    "leaves": KindOfElement("leaves", HOURS_PER_MONTH / 0.00051, HPN),
    "spines": KindOfElement("spines", HOURS_PER_MONTH / 0.00051, HPN),
    "nics": KindOfElement("NICs", 16_384 * 54 * 24 / 7, LLAMA),
}


@dataclass(frozen=True, slots=True)
class Elements:
    """Elements of a kind in a part of the fabric, with their MTBF and MTTR in hours."""

    kind: str
    count: int
    mtbf_h: float
    mttr_h: float

    @property
    def unavailability(self) -> float:
        """The share of the time that an element is down."""
        return self.mttr_h / (self.mtbf_h + self.mttr_h)

    @property
    def failures_per_h(self) -> float:
        """Failures of all of them per hour: each fails once in MTBF + MTTR."""
        return self.count / (self.mtbf_h + self.mttr_h)


@dataclass(frozen=True, slots=True)
class Parts:
    """Equal parts of a fabric, such as its links, each down while one of its elements is."""

    count: int
    each: Sequence[Elements]

    @property
    def unavailability(self) -> float:
        """The share of the time that a part is down."""
        return 1 - prod((1 - one.unavailability) ** one.count for one in self.each)

    @property
    def rate_per_h(self) -> float:
        """Failures per hour of a part that is up."""
        return sum(one.count / one.mtbf_h for one in self.each)


@dataclass(frozen=True, slots=True)
class Inventory:
    """What can fail around a job.

    A failed link between switches, or a failed spine, slows the job down. A failed leaf stops it, and so does a server
    (NICs and their links) until another one takes its place; `used` servers are those of the job.
    """

    links: Parts
    spines: Parts
    leaves: Parts
    servers: Parts
    used: int

    @property
    def all(self) -> tuple[Parts, ...]:
        """All parts."""
        return self.links, self.spines, self.leaves, self.servers

    @property
    def kills_per_h(self) -> float:
        """Failures per hour that stop the job while it runs: everything that it uses is up then."""
        return self.used * self.servers.rate_per_h + self.leaves.count * self.leaves.rate_per_h

    def failures_per_month(self) -> dict[str, float]:
        """Return the expected failures per month by kind."""
        found = dict.fromkeys(KINDS, 0.0)
        for parts in self.all:
            for one in parts.each:
                found[one.kind] += parts.count * one.failures_per_h * HOURS_PER_MONTH
        return found
