"""Next hops of switches without files, after a failure and converged routing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ailb_gen.sim.broken import Broken
from ailb_gen.sim.fabric import LEAF, LOCAL, SPINE, UNREACHABLE, FabricArrays, Int32, NextHopSets

Mask = npt.NDArray[np.bool_]


def converged(fabric: FabricArrays, sets: NextHopSets, broken: Broken) -> Int32:
    """Return the next-hop sets of a fabric while links and switches are broken, shape (switches, prefixes).

    Of every set those links stay that are up and lead to a switch from which the prefix is reached; a leaf that has
    none left takes all its uplinks that are. New sets are added to `sets`.
    """
    return _Convergence(fabric, sets, broken).run()


class _Convergence:
    def __init__(self, fabric: FabricArrays, sets: NextHopSets, broken: Broken) -> None:
        self.fabric, self.sets = fabric, sets
        self.up = np.ones(fabric.link_count, dtype=bool)
        self.up[list(broken.links)] = False
        self.next_hops = fabric.forwarding[0].next_hops
        tiers = fabric.tier
        upward = (tiers[fabric.link_source] == LEAF) & (tiers[fabric.link_target] == SPINE)
        self.uplinks = np.flatnonzero(upward & self.up)
        self.uplinks_of = {
            node: self.uplinks[fabric.link_source[self.uplinks] == node].astype(np.int32)
            for node in np.flatnonzero(tiers == LEAF).tolist()
        }
        # The numbers of new sets by their links.
        self.known: dict[bytes, int] = {}

    def run(self) -> Int32:
        found = self.next_hops.copy()
        for prefix in range(found.shape[1]):
            self._route(found[:, prefix])
        return found

    def _route(self, row: Int32) -> None:
        """Correct the next-hop sets of all switches for one prefix."""
        fabric = self.fabric
        # Hosts reach nothing for others.
        reached = np.concatenate([np.zeros(fabric.host_count, dtype=bool), row == LOCAL])
        usable = self._usable(reached)
        while True:
            left = self._left(usable)
            able = (row == LOCAL) | ((row >= 0) & ((left[row] > 0) | self._rescued(usable)))
            if (able == reached[fabric.host_count :]).all():
                break
            reached[fabric.host_count :] = able
            usable = self._usable(reached)
        sizes = np.diff(fabric.set_first)
        for at in np.flatnonzero((row >= 0) & (left[row] < sizes[row])).tolist():
            row[at] = self._reduced(int(row[at]), at + fabric.host_count, usable)

    def _usable(self, reached: Mask) -> Mask:
        """Return the links that are up and lead to where the prefix is reached."""
        found: Mask = self.up & reached[self.fabric.link_target]
        return found

    def _left(self, usable: Mask) -> Int32:
        """Return how many links of every set are usable."""
        counts = np.concatenate([[0], np.cumsum(usable[self.fabric.set_links])])
        found: Int32 = np.diff(counts[self.fabric.set_first]).astype(np.int32)
        return found

    def _rescued(self, usable: Mask) -> Mask:
        """Return the switches that have any usable uplink."""
        found = np.zeros(len(self.fabric.names), dtype=bool)
        found[self.fabric.link_source[self.uplinks[usable[self.uplinks]]]] = True
        return found[self.fabric.host_count :]

    def _reduced(self, number: int, node: int, usable: Mask) -> int:
        """Return the set of what is usable of a set, else of the uplinks of the switch that it belongs to."""
        first = self.fabric.set_first
        links = self.fabric.set_links[first[number] : first[number + 1]]
        kept = links[usable[links]]
        if not len(kept):
            own = self.uplinks_of.get(node, kept)
            kept = own[usable[own]]
        key = kept.tobytes()
        if key not in self.known:
            self.known[key] = self.sets.add(kept[None, :]) if len(kept) else UNREACHABLE
        return self.known[key]
