"""The states of the parts of a run on several cores, made from the state of the whole; their growth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.memory import FIRST_PACKETS, FIRST_TIMERS, chained_packets
from ailb_gen.sim.engine.partition import Partition, edges
from ailb_gen.sim.engine.records import NEVER, NONE, EngineState, Records, records
from ailb_gen.sim.engine.senders import STAMP
from ailb_gen.sim.engine.windows import WORDS
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.workload import COMPUTATION, Workload

# The most packets that one part gives to another one at a time.
GIVEN = 4096


def divided(state: EngineState, fabric: FabricArrays, workload: Workload, found: Partition) -> list[EngineState]:
    """Return the states of the parts of a run that has not begun; of one part that is the state itself."""
    if found.parts == 1:
        return [state]
    parts, links = found.parts, fabric.link_count
    state.config["parts"], state.config["ahead_ps"] = parts, found.ahead_ps
    # No more than one core frees the records of flows: others may still have packets of them.
    flows = np.bincount(found.task[workload.source != COMPUTATION], minlength=parts)
    firsts = np.cumsum(flows) - flows
    wires = records((parts, links), r.WIRE)
    wires[:] = state.wires
    target = found.node[fabric.link_target]
    wires["away"] = np.where(target != found.node[fabric.link_source], 1 + target, 0)
    packets = records(parts * FIRST_PACKETS, r.PACKET)
    for part in range(parts):
        first = part * FIRST_PACKETS
        packets[first : first + FIRST_PACKETS] = chained_packets(FIRST_PACKETS, first)
    goes_on = ~found.last[workload.successors]
    hops = int(state.config[0]["telemetry_hops"])
    state = state._replace(
        all_wires=wires,
        boxes=records((parts, parts, links), r.BOX),
        boxed=np.zeros((parts, parts), np.int64),
        sync=np.zeros(parts * WORDS, np.int64),
        packets=packets,
        stamps=records(len(packets) * hops or 1, STAMP),
        first_successor=np.append(0, np.cumsum(goes_on))[workload.first_successor],
        successors=state.successors[goes_on],
    )
    run = {"free_packets": FIRST_PACKETS, "window": -1, **dict.fromkeys(("free_flow", "ready_head"), NONE)}
    return [
        state._replace(
            run=records(
                1,
                r.RUN,
                part=part,
                free_packet=part * FIRST_PACKETS,
                first_flow=firsts[part],
                fresh_flow=firsts[part],
                **run,
            ),
            tree=np.full_like(state.tree, NEVER),
            timers=records((2, int(flows[part]) + FIRST_TIMERS), r.TIMER),
            timer_counts=np.zeros(2, np.int64),
            links=_copy(state.links),
            wires=wires[part],
            ports=_copy(state.ports),
            arrivals=state.arrivals[found.task[state.arrivals] == part],
            rerouted=np.zeros_like(state.rerouted),
        )
        for part in range(parts)
    ]


def end_last(parts: Sequence[EngineState], workload: Workload, found: Partition) -> None:
    """Note the ends of the barriers that took no part in the run, once all that they wait for has ended."""
    tasks, open_ = parts[0].tasks, found.last.copy()
    before, after = edges(workload)
    while True:
        ended = open_.copy()
        ended[after[tasks["finish"][before] == NONE]] = False
        now = np.flatnonzero(ended)
        if not len(now):
            return
        when = np.zeros(workload.count, np.int64)
        np.maximum.at(when, after, tasks["finish"][before])
        tasks["start"][now] = tasks["finish"][now] = when[now]
        parts[0].run["ended"] += len(now)
        open_[now] = False


def _copy(given: Records) -> Records:
    result = records(given.shape, given.dtype)
    result[:] = given
    return result


def grown(states: Sequence[EngineState], results: Sequence[int]) -> list[EngineState]:
    """Return the states with more room for the packets and timers of those parts that need it."""
    found = list(states)
    for part, result in enumerate(results):
        if result == r.NEEDS_TIMERS:
            found[part] = _more_timers(found[part])
        elif result == r.NEEDS_PACKETS and not _given(found, part):
            found = _more_packets(found, part)
    return found


def _more_timers(state: EngineState) -> EngineState:
    room = state.timers.shape[1]
    timers = records((2, 2 * room + int(state.config[0]["delayed"])), r.TIMER)
    timers[:, :room] = state.timers
    return state._replace(timers=timers)


def _given(states: Sequence[EngineState], part: int) -> bool:
    """Let a part have free packets of the one that has most; return whether these are enough."""
    run = states[part].run[0]
    other = max((one.run[0] for one in states), key=lambda one: int(one["free_packets"]))
    count = min(GIVEN, int(other["free_packets"]) // 2)
    if int(run["free_packets"]) + count < int(run["needed"]) or count < GIVEN // 4:
        return False
    following = states[part].packets["next"]
    first = last = int(other["free_packet"])
    for _ in range(count - 1):
        last = int(following[last])
    other["free_packet"], following[last], run["free_packet"] = following[last], run["free_packet"], first
    other["free_packets"] -= count
    run["free_packets"] += count
    return True


def _more_packets(states: Sequence[EngineState], part: int) -> list[EngineState]:
    """Return the states with more packets, which are free for one part."""
    run, before = states[part].run[0], states[part].packets
    first = len(before)
    count = max(first // len(states), int(run["needed"]))
    fresh = chained_packets(count, first)
    fresh["next"][-1] = run["free_packet"]
    run["free_packet"] = first
    run["free_packets"] += count
    packets = records(first + count, r.PACKET)
    packets[:first], packets[first:] = before, fresh
    hops = int(states[part].config[0]["telemetry_hops"])
    stamps = states[part].stamps
    if hops:
        stamps = records((first + count) * hops, STAMP)
        stamps[: first * hops] = states[part].stamps
    return [one._replace(packets=packets, stamps=stamps) for one in states]
