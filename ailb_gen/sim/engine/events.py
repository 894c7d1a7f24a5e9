"""The next event: a tournament of the links and the timers, and two heaps of timers.

Every link has one entry, the earlier of its next arrival and its next sending; each heap of timers has one for the
first of them. A key is a moment and, in its last bits, the number of the entry, so that the smallest key says what
happens. A moment is a time and, in its last two bits, what happens then: at one time links that have become free send,
then packets arrive, then links send what has just joined an empty queue, then timers expire.
"""

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.jit import compiled, inlined, prefetch
from ailb_gen.sim.engine.records import EngineState

# What leads one of 2^SOON parts of the tournament happens soon.
SOON = 5


@inlined
def moment(time: int, order: int) -> int:
    """Return a time with the order of what happens then."""
    return (time << r.ORDER_BITS) | order


@inlined
def _fetch(state: EngineState, leaf: int) -> None:
    """Have fetched what an event needs that is one of the next."""
    config = state.config[0]
    if leaf >= config.timer_leaf:
        return
    wire = state.wires[leaf]
    if wire.arrival > state.links[leaf].wake:
        queue = state.queues[r.FIRST_DATA, leaf]
        if state.links[leaf].backlog:
            prefetch(state.packets, queue.head, 0)
        else:
            prefetch(state.flows, queue.ring_head, r.SENDING)
            prefetch(state.flows, queue.ring_head, r.CONGESTION)
    elif wire.target >= config.hosts:
        prefetch(state.packets, wire.head, 0)
    else:
        packet = state.packets[wire.head]
        if packet.kind == r.DATA:
            prefetch(state.flows, packet.flow, r.RECEIVING)
        else:
            prefetch(state.flows, packet.flow, r.SENDING)
            prefetch(state.flows, packet.flow, r.CONGESTION)


@inlined
def set_key(state: EngineState, leaf: int, when: int) -> None:
    """Enter the moment of an entry; NEVER takes it out."""
    config = state.config[0]
    tree = state.tree
    key = r.NEVER
    if when < config.horizon:
        key = (when << config.bits) | leaf
    elif when != r.NEVER:
        state.run[0].beyond = 1
    at = config.leaves + leaf
    tree[at] = key
    while at > 1:
        other = tree[at ^ 1]
        key = min(key, other)
        at >>= 1
        # What is above has seen this key already.
        if tree[at] == key:
            break
        tree[at] = key
        if at >> SOON == 1:
            _fetch(state, key & ((1 << config.bits) - 1))


@inlined
def schedule(state: EngineState, link: int) -> None:
    """Enter a link anew after its next arrival or its next sending has changed."""
    set_key(state, link, min(state.wires[link].arrival, state.links[link].wake))


@inlined
def _precedes(state: EngineState, heap: int, at: int, time: int, kind: int, number: int) -> bool:
    """Return whether the timer at a place of a heap expires before another one."""
    timer = state.timers[heap, at]
    if timer.time != time:
        return bool(timer.time < time)
    return bool(timer.kind < kind or (timer.kind == kind and timer.number < number))


@inlined
def _move(state: EngineState, heap: int, source: int, target: int) -> None:
    old, new = state.timers[heap, source], state.timers[heap, target]
    new.time, new.kind, new.number, new.subject = old.time, old.kind, old.number, old.subject


@inlined
def _first(state: EngineState, heap: int) -> None:
    """Enter the first timer of a heap."""
    when = moment(state.timers[heap, 0].time, r.EXPIRED) if state.timer_counts[heap] else r.NEVER
    set_key(state, state.config[0].timer_leaf + heap, when)


@compiled
def add_timer(state: EngineState, time: int, kind: int, subject: int) -> None:
    """Start a timer."""
    # There may be a million timeouts, of which hardly one expires: the others are not among them.
    heap = int(kind == r.TIMEOUT)
    number = state.flows[subject].task if kind == r.RATE else subject
    at = state.timer_counts[heap]
    state.timer_counts[heap] += 1
    while at > 0:
        parent = (at - 1) >> 1
        if _precedes(state, heap, parent, time, kind, number):
            break
        _move(state, heap, parent, at)
        at = parent
    timer = state.timers[heap, at]
    timer.time, timer.kind, timer.number, timer.subject = time, kind, number, subject
    if at == 0:
        _first(state, heap)


@compiled
def remove_timer(state: EngineState, heap: int) -> None:
    """Take the first timer of a heap out."""
    last = state.timer_counts[heap] - 1
    state.timer_counts[heap] = last
    moved = state.timers[heap, last]
    at = 0
    while True:
        least = 2 * at + 1
        if least >= last:
            break
        other = state.timers[heap, least]
        if least + 1 < last and _precedes(state, heap, least + 1, other.time, other.kind, other.number):
            least += 1
        if not _precedes(state, heap, least, moved.time, moved.kind, moved.number):
            break
        _move(state, heap, least, at)
        at = least
    _move(state, heap, last, at)
    first = state.timers[heap, 0]
    # Mostly it is for the rate of a flow.
    prefetch(state.flows, first.subject, r.SENDING)
    prefetch(state.flows, first.subject, r.CONGESTION)
    _first(state, heap)
