"""Flows that could never arrive: found before anything runs."""

from __future__ import annotations

import numpy as np

from ailb_gen.errors import NoPathError
from ailb_gen.sim.fabric import LOCAL, UNREACHABLE, FabricArrays, Int64
from ailb_gen.sim.workload import Workload
from ailb_gen.wording import some

# Longer than any path through a fabric of two or three tiers.
MOST_HOPS = 64


def check_reachable(fabric: FabricArrays, workload: Workload) -> None:
    """Raise NoPathError if the FIBs at the start lead packets of a flow nowhere; of next hops the first one counts."""
    flows = workload.flows()
    first, host = fabric.first_destination, workload.target[flows]
    count = first[host + 1] - first[host]
    pair = workload.queue_pair[flows] % np.maximum(count, 1)
    destination = np.where(count > 0, first[host] + pair, -1)
    rows = np.stack([workload.source[flows], host, destination], axis=1).astype(np.int64)
    known = np.unique(rows, axis=0)
    ends = _ends(fabric, known)
    lost = np.flatnonzero(ends != "")
    if len(lost):
        examples = [_text(fabric, known[row], str(ends[row])) for row in lost]
        raise NoPathError(f"{len(lost):,} of {len(known):,} connections have no path: {some(examples)}")


def _text(fabric: FabricArrays, row: Int64, reason: str) -> str:
    source, target, destination = row.tolist()
    pair = destination - int(fabric.first_destination[target])
    address = f" (queue pair {pair + 1})" if destination >= 0 and pair else ""
    return f"{fabric.names[source]} to {fabric.names[target]}{address}: {reason}"


def _ends(fabric: FabricArrays, rows: Int64) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """Return why packets of each row (source, target, destination) do not arrive; empty if they do."""
    reason = np.full(len(rows), "", dtype=object)
    source, _, destination = rows.T
    reason[destination < 0] = "it has no address"
    link = np.where(destination < 0, -1, _first_link(fabric, fabric.host_set[source].astype(np.int64)))
    reason[(link < 0) & (destination >= 0)] = "the source has no link"
    waiting = np.flatnonzero(link >= 0)
    node = fabric.link_target[link].astype(np.int64)
    prefix = fabric.destination_prefix[destination]
    hops = fabric.forwarding[0].next_hops
    for _ in range(MOST_HOPS):
        if not len(waiting):
            return reason
        at = node[waiting]
        chosen = hops[at - fabric.host_count, prefix[waiting]].astype(np.int64)
        local = chosen == LOCAL
        delivered = fabric.delivery_set[destination[waiting]] != UNREACHABLE
        for row, switch in zip(waiting[local & ~delivered], at[local & ~delivered], strict=True):
            reason[row] = f"{fabric.names[switch]} has no link to it"
        for row, switch in zip(waiting[chosen == UNREACHABLE], at[chosen == UNREACHABLE], strict=True):
            reason[row] = f"{fabric.names[switch]} has no route"
        onward = chosen >= 0
        waiting, chosen = waiting[onward], chosen[onward]
        node[waiting] = fabric.link_target[_first_link(fabric, chosen)]
    reason[waiting] = "its route loops"
    return reason


def _first_link(fabric: FabricArrays, sets: Int64) -> Int64:
    """Return the first link of next-hop sets; -1 for none."""
    # With all links down there are no sets.
    links = np.append(fabric.set_links, -1)
    first = links[fabric.set_first[np.maximum(sets, 0)]]
    found: Int64 = np.where(sets < 0, -1, first).astype(np.int64)
    return found
