"""The highest load that every link carries over several failures, and which of them causes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ailb_gen.forwarding.loads import Indices, Volumes

# As a share of the highest load without failures: what rises by less, because many links share a little, is not noted.
LEAST = 1e-4
STEADY = -1


@dataclass(frozen=True, slots=True)
class Raised:
    """Links (two directions each, see loads.py) that carry more than without failures: how much, by which failure."""

    links: Indices
    loads: Volumes
    causes: Indices


class Peaks:
    """The highest loads so far: `load` of every link and direction, `cause` the number of the failure or STEADY."""

    def __init__(self, steady: Volumes) -> None:
        self.load = steady.copy()
        self.cause: Indices = np.full(len(steady), STEADY, dtype=np.int64)
        self._least = LEAST * float(steady.max(initial=0.0))
        self._limit = steady + self._least

    def note(self, number: int, load: Volumes) -> None:
        """Take the loads after a failure into account."""
        higher = np.flatnonzero(load > self._limit)
        if len(higher):
            self._raise(Raised(higher, load[higher], np.full(len(higher), number)))

    def raised(self) -> Raised:
        """Return what is higher than without failures."""
        links = np.flatnonzero(self.cause != STEADY)
        return Raised(links, self.load[links], self.cause[links])

    def merge(self, other: Raised) -> None:
        """Take what others have noted into account."""
        higher = other.loads > self._limit[other.links]
        self._raise(Raised(other.links[higher], other.loads[higher], other.causes[higher]))

    def _raise(self, found: Raised) -> None:
        self.load[found.links], self.cause[found.links] = found.loads, found.causes
        self._limit[found.links] = found.loads + self._least
