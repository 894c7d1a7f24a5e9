"""The next event: a tournament of the links and the timers, and a heap of timers.

Every link has one entry, the earlier of its next arrival and its next sending; the timers have one for the first of
them. A key is a moment and, in its last bits, the number of the entry, so that the smallest key says what happens. A
moment is a time and, in its last two bits, what happens then: at one time links that have become free send, then
packets arrive, then links send what has just joined an empty queue, then timers expire.
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
    link = state.links[leaf]
    if link.arrival > link.wake:
        queue = state.queues[leaf * config.classes + r.FIRST_DATA]
        if link.backlog:
            prefetch(state.packets, queue.head, 0)
        else:
            prefetch(state.flows, queue.ring_head, r.SENDING)
            prefetch(state.flows, queue.ring_head, r.CONGESTION)
    elif link.target >= config.hosts:
        prefetch(state.packets, link.head, 0)
    else:
        packet = state.packets[link.head]
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
    record = state.links[link]
    set_key(state, link, min(record.arrival, record.wake))


@inlined
def _precedes(state: EngineState, left: int, right: int) -> bool:
    first, second = state.timers[left], state.timers[right]
    return first.time < second.time or (first.time == second.time and first.order < second.order)


@compiled
def _swap(state: EngineState, left: int, right: int) -> None:
    first, second = state.timers[left], state.timers[right]
    time, order, kind, subject = first.time, first.order, first.kind, first.subject
    first.time, first.order, first.kind, first.subject = second.time, second.order, second.kind, second.subject
    second.time, second.order, second.kind, second.subject = time, order, kind, subject


@compiled
def add_timer(state: EngineState, time: int, kind: int, subject: int) -> None:
    """Start a timer; those of one time expire in the order in which they were started."""
    run = state.run[0]
    at = run.timers
    timer = state.timers[at]
    timer.time, timer.order, timer.kind, timer.subject = time, run.order, kind, subject
    run.timers += 1
    run.order += 1
    while at > 0 and _precedes(state, at, (at - 1) >> 1):
        _swap(state, at, (at - 1) >> 1)
        at = (at - 1) >> 1
    if at == 0:
        set_key(state, state.config[0].timer_leaf, moment(time, r.EXPIRED))


@compiled
def remove_timer(state: EngineState) -> None:
    """Take the first timer out."""
    run = state.run[0]
    last = run.timers - 1
    run.timers = last
    _swap(state, 0, last)
    at = 0
    while True:
        least = 2 * at + 1
        if least >= last:
            break
        if least + 1 < last and _precedes(state, least + 1, least):
            least += 1
        if not _precedes(state, least, at):
            break
        _swap(state, at, least)
        at = least
    first = state.timers[0]
    # Mostly it is for the rate of a flow.
    prefetch(state.flows, first.subject, r.SENDING)
    prefetch(state.flows, first.subject, r.CONGESTION)
    set_key(state, state.config[0].timer_leaf, moment(first.time, r.EXPIRED) if last > 0 else r.NEVER)
