"""Links and switches that fail: from the start, or at a time and until another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ailb_gen.sim.fabric import UNREACHABLE, Fabric, Int32


def without_links(fabric: Fabric, links: Iterable[int]) -> Fabric:
    """Return the fabric as it is when the cables of some links are down from the start, and no protocol runs.

    Every node leaves its own failed links out of its next-hop sets, and nobody else reacts. In place of a set that
    gets empty there is UNREACHABLE, in `host_set` and `delivery_set`, too.
    """
    down = np.zeros(fabric.link_count, dtype=bool)
    down[np.fromiter(links, dtype=np.int64)] = True
    down |= down[fabric.link_reverse]
    kept = ~down[fabric.set_links]
    before = np.concatenate([[0], np.cumsum(kept)])
    first = before[fabric.set_first].astype(np.int32)
    empty = first[1:] == first[:-1]
    return replace(
        fabric,
        host_set=_without_sets(fabric.host_set, empty),
        delivery_set=_without_sets(fabric.delivery_set, empty),
        set_first=first,
        set_links=fabric.set_links[kept],
        forwarding=tuple(
            replace(state, next_hops=_without_sets(state.next_hops, empty)) for state in fabric.forwarding
        ),
    )


def _without_sets(sets: Int32, empty: npt.NDArray[np.bool_]) -> Int32:
    """Return the numbers of next-hop sets with UNREACHABLE for the empty ones."""
    return np.where((sets >= 0) & empty[sets], np.int32(UNREACHABLE), sets)
