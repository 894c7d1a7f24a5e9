"""A run on several cores: parts go on for a window of time, then exchange the packets between them.

A part has some of the leaves with their hosts, and some of the spines. What it does at a time has an effect on another
part only by packets on links, so not before the delay of the fastest link between parts has passed (conservative
synchronization with a look-ahead: Fujimoto, Parallel Discrete Event Simulation, CACM 1990). So all parts may go on from
the first event of all for that long. Every link leads into one part, which takes the packets off its wire in the same
order as on one core: results are the same for any number of cores.
"""

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.events import moment, schedule
from ailb_gen.sim.engine.jit import LINE, compiled
from ailb_gen.sim.engine.records import EngineState
from ailb_gen.sim.engine.threads import give_way, observe, publish

# Words of a cache line, so that no part writes where others read.
WORDS = LINE // 8
# How often a part looks whether others have come, before it gives way to other threads.
LOOKS = 20_000


@compiled
def _meet(state: EngineState) -> None:
    """Wait until all parts have come here: a barrier."""
    sync, own = state.sync, state.run[0].part * WORDS + r.MET
    times = sync[own] + 1
    publish(sync, own, times)
    for part in range(state.config[0].parts):
        looks = 0
        while observe(sync, part * WORDS + r.MET) < times:
            looks += 1
            if looks > LOOKS:
                give_way()


@compiled
def _take(state: EngineState) -> None:
    """Take over the packets that other parts have put on links into this one."""
    own = state.run[0].part
    for other in range(state.config[0].parts):
        for number in range(state.boxed[other, own]):
            box = state.boxes[other, own, number]
            theirs, wire = state.all_wires[other, box.link], state.wires[box.link]
            if wire.head == r.NONE:
                wire.head = theirs.head
                wire.arrival = moment(box.arrival, r.ARRIVED)
                schedule(state, box.link)
            else:
                last = state.packets[wire.tail]
                last.next, last.next_arrival = theirs.head, box.arrival
            wire.tail = theirs.tail
            theirs.head = r.NONE
        state.boxed[other, own] = 0


@compiled
def next_window(state: EngineState, result: int) -> int:
    """End a window, as `result` says; return GOES_INTO_NEXT, or how `advance` ends in all parts.

    A part that stops within its window, for lack of room or because its events are over, goes on with it later.
    """
    config, run, sync = state.config[0], state.run[0], state.sync
    own = run.part * WORDS
    sync[own + r.RESULT] = result
    _meet(state)
    for part in range(config.parts):
        if sync[part * WORDS + r.RESULT] not in (r.FINISHED, r.STOPPED):
            return r.GOES_ON if result in (r.FINISHED, r.STOPPED) else result
    _take(state)
    key = state.tree[1]
    sync[own + r.NEXT] = r.NEVER if key == r.NEVER else key >> (config.bits + r.ORDER_BITS)
    _meet(state)
    first = sync[r.NEXT]
    for part in range(1, config.parts):
        first = min(first, sync[part * WORDS + r.NEXT])
    if first == r.NEVER:
        return r.FINISHED
    if first > config.until:
        return r.STOPPED
    run.window = min(first + config.ahead_ps - 1, config.until)
    return r.GOES_INTO_NEXT
