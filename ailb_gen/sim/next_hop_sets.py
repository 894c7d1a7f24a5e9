"""Next-hop sets of a fabric while they are being collected."""

from __future__ import annotations

import numpy as np

from ailb_gen.sim.fabric import Fabric, Int32


class NextHopSets:
    """Sets of links, numbered in the order in which they are added."""

    def __init__(self, fabric: Fabric | None = None) -> None:
        self._links: list[Int32] = [fabric.set_links] if fabric is not None else []
        self._sizes: list[Int32] = [np.diff(fabric.set_first).astype(np.int32)] if fabric is not None else []
        self.count = len(fabric.set_first) - 1 if fabric is not None else 0

    def add(self, rows: Int32) -> int:
        """Add a set for every row of links, all of one size; returns the number of the first."""
        first = self.count
        self._links.append(rows.ravel())
        self._sizes.append(np.full(len(rows), rows.shape[1], dtype=np.int32))
        self.count += len(rows)
        return first

    def arrays(self) -> tuple[Int32, Int32]:
        """Return `set_first` and `set_links` of a Fabric."""
        sizes = np.concatenate([np.zeros(1, dtype=np.int32), *self._sizes])
        links = np.concatenate([np.zeros(0, dtype=np.int32), *self._links])
        return np.cumsum(sizes).astype(np.int32), links.astype(np.int32)
