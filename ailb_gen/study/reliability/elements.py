"""What fails in a fabric: kinds of elements, their rates, and the parts of the fabric that they take down.

Elements fail and are repaired independently of each other, with exponential times (alternating renewal processes): one
is down for the share MTTR / (MTBF + MTTR) of the time, and of n equal ones the number that is down is binomial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, prod

HOURS_PER_MONTH, HOURS_PER_YEAR = 730.5, 8766.0


@dataclass(frozen=True, slots=True)
class KindOfElement:
    """Elements that fail alike: their MTBF in hours where a report gives one, with that report."""

    text: str
    mtbf_h: float | None = None
    source: str = ""


# 54 days of 16,384 GPUs with a NIC each were interrupted 7 times by NICs, and 35 times by cables and switches, all of
# which count as links of the NICs here.
LLAMA, LLAMA_H = "Grattafiori et al. 2024", 16_384 * 54 * 24
# Of 180,000 switches 98 % ran for three months without a failure.
SWITCHES, SWITCH_MTBF_H = "Singh et al. 2021", 3 * HOURS_PER_MONTH / -log(0.98)
KINDS: Mapping[str, KindOfElement] = {
    "links": KindOfElement("cables with what is plugged in at both ends", LLAMA_H / 35, LLAMA),
    "optics": KindOfElement("optics, two per cable, in addition to 'links'"),
    "leaves": KindOfElement("leaves", SWITCH_MTBF_H, SWITCHES),
    "spines": KindOfElement("spines", SWITCH_MTBF_H, SWITCHES),
    "nics": KindOfElement("NICs", LLAMA_H / 7, LLAMA),
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
class FailingParts:
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

    def rates_per_h(self) -> dict[str, float]:
        """Return the failures per hour by kind, while everything is up."""
        found = dict.fromkeys(KINDS, 0.0)
        for parts in self.all:
            for one in parts.each:
                found[one.kind] += parts.count * one.count / one.mtbf_h
        return found

    def failures_per_month(self) -> dict[str, float]:
        """Return the expected failures per month by kind."""
        found = dict.fromkeys(KINDS, 0.0)
        for parts in self.all:
            for one in parts.each:
                found[one.kind] += parts.count * one.failures_per_h * HOURS_PER_MONTH
        return found
