"""Networks that runs have left on a Batfish service: their names, and which of them no run can still be using."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

# The time at which a run began, in seconds since 1970, and a random number; until 2026 it was a random number alone.
OURS = re.compile(r"ailb-gen-(?:([0-9a-f]{8})[0-9a-f]{8}|[0-9a-f]{12})")
MINUTE_S = 60


def network_name() -> str:
    """Return a name for the network of a run that begins now; no other run has it."""
    return f"ailb-gen-{int(time.time()):08x}{uuid.uuid4().hex[:8]}"


def began_at(name: str) -> float | None:
    """Return when the run of a network began (seconds since 1970), where its name says so."""
    match = OURS.fullmatch(name)
    return float(int(match[1], 16)) if match is not None and match[1] else None


@dataclass(frozen=True, slots=True)
class RunNetwork:
    """A network of a run: its snapshots, and the signs that the run goes on.

    `signs` are times (seconds since 1970) at which it certainly did: its beginning, and when it made its snapshots;
    None stands for one that cannot be read. `unfinished` pieces of work are waiting on the service.
    """

    name: str
    snapshots: int
    signs: tuple[float | None, ...]
    unfinished: int

    @property
    def last_sign(self) -> float | None:
        """The last time at which its run certainly went on, or None where that is not known."""
        return max((sign for sign in self.signs if sign is not None), default=None) if None not in self.signs else None


def why_kept(network: RunNetwork, now: float, minutes: int) -> str:
    """Return why a network is not deleted, or nothing if no run can be using it.

    A run makes a snapshot for every failure, and has work waiting on the service nearly always.
    """
    if network.unfinished:
        return "runs: unfinished work"
    if network.last_sign is None:
        return "age not known"
    if now - network.last_sign < minutes * MINUTE_S:
        return f"may run: under {minutes} min"
    return ""


def age_text(network: RunNetwork, now: float) -> str:
    """Return how long ago the last sign of a run was, in minutes, hours or days."""
    if network.last_sign is None:
        return "-"
    minutes = max(0, int(now - network.last_sign)) // MINUTE_S
    for unit, size in (("d", 1440), ("h", 60)):
        if minutes >= 2 * size:
            return f"{minutes // size} {unit}"
    return f"{minutes} min"


def left_over(networks: Iterable[RunNetwork], now: float, minutes: int) -> list[RunNetwork]:
    """Return the networks that no run can be using."""
    return [network for network in networks if not why_kept(network, now, minutes)]
