"""The parts of a run on several cores: which nodes belong to each, and how far they may be ahead of one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ailb_gen.sim.engine.balancers.dispatch import HOOKS
from ailb_gen.sim.fabric import LEAF, UNREACHABLE, FabricArrays, Int32, Int64
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.workload import COMPUTATION, Workload

# With fewer hosts a part would wait for the others more than it works.
LEAST_HOSTS = 8
UNKNOWN = -1
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Partition:
    """Parts of a fabric of N nodes and a workload of T tasks."""

    parts: int
    node: Int64  # (N,) the part of every node
    task: Int64  # (T,) the part in which every task starts
    last: Bools  # (T,) barriers at the end, for which no other tasks wait: they take no part in the run
    ahead_ps: int  # the least delay of a link between parts; 0: there is only one part
    why: str = ""  # there is only one part


def partition(fabric: FabricArrays, workload: Workload, settings: SimulationSettings, cores: int) -> Partition:
    """Divide a run among cores: leaves with their hosts by what these send and receive, and the other switches.

    There is one part where what happens at one node has an effect on another at once: a task that waits for another
    one's end elsewhere, changes of links and FIBs, load balancers that know of queues or choices elsewhere, packets
    without a transport, and flows that wait at their receiver for a credit.
    """
    parts = min(cores, fabric.host_count // LEAST_HOSTS, int(np.count_nonzero(fabric.tier == LEAF)))
    why = _why_not(fabric, settings)
    if parts < 2:
        why = why or f"there are fewer than {LEAST_HOSTS} hosts for each core, or fewer leaves than cores"
    if not why:
        node, last = _nodes(fabric, workload, parts), _last(workload)
        between = node[fabric.link_source] != node[fabric.link_target]
        ahead = int(fabric.delay_ps[between].min(initial=np.iinfo(np.int64).max))
        task = _tasks(workload, last, node, settings)
        if task is None:
            why = "a task waits for one that ends at another leaf"
        elif ahead > 0 and len(np.unique(node)) == parts:
            return Partition(parts, node, task, last, ahead)
        else:
            why = "links between its parts have no delay"
    nodes, tasks = len(fabric.names), workload.count
    return Partition(1, np.zeros(nodes, np.int64), np.zeros(tasks, np.int64), np.zeros(tasks, np.bool_), 0, why)


def _why_not(fabric: FabricArrays, settings: SimulationSettings) -> str:
    """Return why nodes have effects on one another at once and not by packets only; empty if they do not."""
    if fabric.changes or len(fabric.forwarding) > 1:
        return "links or FIBs change, at the start or later"
    if settings.transport.name in ("raw", "receiver-driven"):
        return f"the transport is {settings.transport.name}"
    name, hooks = settings.balancer.name, HOOKS[settings.balancer.name]
    if hooks.everywhere:
        return f"{name} knows of queues and paths elsewhere"
    if hooks.remember and _choose_later(fabric, hooks.remember):
        return f"switches behind the first one share what they choose for a flow with {name}"
    return ""


def _choose_later(fabric: FabricArrays, tiers: Sequence[int]) -> bool:
    """Return whether switches of some tiers have several next hops for what comes from another switch."""
    hosts, entries = fabric.host_count, fabric.forwarding[0].next_hops
    count = np.diff(fabric.set_first)
    several = (entries >= 0) & (count[entries] > 1) & np.isin(fabric.tier[hosts:], tiers)[:, None]
    switch, prefix = np.nonzero(entries >= 0)
    sets = entries[switch, prefix]
    for position in range(int(count.max())):
        left = count[sets] > position
        sets, prefix = sets[left], prefix[left]
        following = fabric.link_target[fabric.set_links[fabric.set_first[sets] + position]]
        switches = following >= hosts
        if several[following[switches] - hosts, prefix[switches]].any():
            return True
    return False


def _nodes(fabric: FabricArrays, workload: Workload, parts: int) -> Int64:
    """Return the part of every node: neighboring leaves together, so that each part has as many bytes to carry."""
    hosts, node = fabric.host_count, np.zeros(len(fabric.names), np.int64)
    linked = np.flatnonzero(fabric.host_set != UNREACHABLE)
    switch = np.full(hosts, UNKNOWN)
    switch[linked] = fabric.link_target[fabric.set_links[fabric.set_first[fabric.host_set[linked]]]]
    flows = workload.flows()
    bytes_ = np.zeros(len(fabric.names))
    for end in (workload.source[flows], workload.target[flows]):
        bytes_ += np.bincount(switch[end], workload.amount[flows], len(fabric.names))
    leaves = np.flatnonzero(fabric.tier == LEAF)
    share = bytes_[leaves] + 1
    node[leaves] = ((np.cumsum(share) - share / 2) * parts / share.sum()).astype(np.int64)
    node[linked] = node[switch[linked]]
    others = np.setdiff1d(np.arange(hosts, len(node)), leaves)
    node[others] = _nearest(fabric, node, leaves, others, parts)
    return node


def _nearest(fabric: FabricArrays, node: Int64, leaves: Int64, others: Int64, parts: int) -> Int64:
    """Return the part of switches that are no leaves: that of most of their leaves; in turn where there is none."""
    below = np.flatnonzero(np.isin(fabric.link_target, leaves) & (fabric.link_source >= fabric.host_count))
    votes = np.zeros((len(node), parts), np.int64)
    np.add.at(votes, (fabric.link_source[below], node[fabric.link_target[below]]), 1)
    own = votes[others]
    most = own.max(axis=1) * 2 > own.sum(axis=1)
    in_turn = np.arange(len(others)) % parts
    result = np.where(most, own.argmax(axis=1), in_turn)
    # With all of them in one part that would have all the work of these switches.
    even = np.bincount(result, minlength=parts).min() * 2 >= len(others) // parts
    return result if even else in_turn


def edges(workload: Workload) -> tuple[Int64, Int32]:
    """Return the tasks that are waited for, and those that wait for them, both shape (E,)."""
    return np.repeat(np.arange(workload.count), np.diff(workload.first_successor)), workload.successors


def _last(workload: Workload) -> Bools:
    """Return which tasks are barriers for which at most other ones wait that are the same, shape (T,)."""
    before, after = edges(workload)
    result = (workload.source == COMPUTATION) & (workload.amount == 0) & (workload.start_ps == 0)
    result &= workload.waits > 0
    while True:
        others = before[~result[after]]
        if not result[others].any():
            return result
        result[others] = False


def _tasks(workload: Workload, last: Bools, node: Int64, settings: SimulationSettings) -> Int64 | None:
    """Return the part in which every task starts, or None if one waits for the end of another one in another part."""
    flow = workload.source != COMPUTATION
    start = np.where(flow, node[workload.source], UNKNOWN)
    at_source = settings.transport.ends_acknowledged
    end = start if at_source else np.where(flow, node[workload.target], UNKNOWN)
    before, after = (ends[~last[workload.successors]] for ends in edges(workload))
    # Computations are where what they wait for ends, or what waits for them begins.
    unknown = np.count_nonzero(start == UNKNOWN)
    while unknown:
        for known, other in (((end, before), (start, after)), ((start, after), (end, before))):
            found = known[0][known[1]]
            told = (found != UNKNOWN) & (other[0][other[1]] == UNKNOWN)
            for one in (start, end):
                one[other[1][told]] = found[told]
        left = np.count_nonzero(start == UNKNOWN)
        if left == unknown:
            break
        unknown = left
    if np.any(end[before] != start[after]):
        return None
    return np.where(start == UNKNOWN, 0, start)
