"""How many parts of a fabric are down, how fast the job is then, and the mean of it: closed forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, expm1, fsum, lgamma, log, log1p, sqrt

from ailb_gen.study.reliability.elements import FailingParts, Parts

# Numbers of failed parts that are less likely than this are not simulated, but extrapolated.
RARE = 1e-3


def binomial(count: int, share: float) -> list[float]:
    """Return the probabilities that 0, 1, ... of `count` parts are down, each for a share of the time."""
    if share <= 0:
        return [1.0] + [0.0] * count
    if share >= 1:
        return [0.0] * count + [1.0]
    return [
        exp(
            lgamma(count + 1)
            - lgamma(down + 1)
            - lgamma(count - down + 1)
            + down * log(share)
            + (count - down) * log1p(-share)
        )
        for down in range(count + 1)
    ]


def simulated_numbers(parts: Parts, most: int) -> list[int]:
    """Return which numbers of failed parts are simulated: powers of two, up to the first that is rarely exceeded.

    At most `most`; none if the parts do not fail.
    """
    if not parts.rate_per_h or most < 1:
        return []
    found = [1]
    probabilities = binomial(parts.count, parts.unavailability)
    while found[-1] < most and fsum(probabilities[: found[-1] + 1]) < 1 - RARE:
        found.append(min(2 * found[-1], most))
    return found


@dataclass(frozen=True, slots=True)
class SpeedCurve:
    """Speeds of the job over that without failures, by the number of failed parts, from simulations.

    Between simulated numbers it is linear; beyond the largest it goes on with the last slope, downwards only.
    """

    known: Mapping[int, float]

    def __call__(self, down: int) -> float:
        """Return the speed with so many parts down."""
        speed = {0: 1.0, **self.known}
        numbers = sorted(speed)
        last = numbers[-1]
        if down in speed:
            return speed[down]
        if down > last:
            if last == 0:
                return 1.0
            slope = (speed[last] - speed[numbers[-2]]) / (last - numbers[-2])
            return max(0.0, speed[last] + min(0.0, slope) * (down - last))
        below = max(one for one in numbers if one < down)
        above = min(one for one in numbers if one > down)
        return speed[below] + (speed[above] - speed[below]) * (down - below) / (above - below)

    def mean(self, parts: Parts) -> float:
        """Return the mean over the time."""
        chances = binomial(parts.count, parts.unavailability)
        return fsum(chance * self(down) for down, chance in enumerate(chances))


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Checkpoints of a job: hours of work between two, for writing one, and for a restart."""

    every_h: float
    write_h: float
    restart_h: float

    def share(self, kills_per_h: float) -> float:
        """Return the work done over the time, while nothing keeps the job from running.

        Exact for kills at a constant rate, also during writing and restarts (Daly 2006, the complete model).
        """
        whole = self.every_h + self.write_h
        if kills_per_h <= 0:
            return self.every_h / whole
        if kills_per_h * (whole + self.restart_h) > 700:
            return 0.0
        return self.every_h * kills_per_h / (exp(kills_per_h * self.restart_h) * expm1(kills_per_h * whole))


def best_interval_h(write_h: float, kills_per_h: float) -> float:
    """Return the work between two checkpoints that loses the least, in hours (Young 1974): sqrt(2 * write * MTBF)."""
    return sqrt(2 * write_h / kills_per_h)


def running_share(inventory: FailingParts) -> float:
    """Return the share of the time at which the job can run: all leaves are up, and enough servers."""
    leaves, servers = inventory.leaves, inventory.servers
    spare = servers.count - inventory.used
    enough = fsum(binomial(servers.count, servers.unavailability)[: spare + 1])
    return min(1.0, enough) * float((1 - leaves.unavailability) ** leaves.count)
