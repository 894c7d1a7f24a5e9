"""Links and their queues: sending, waiting, marking, and which class is next."""

from ailb_gen.sim.engine.buffers import release
from ailb_gen.sim.engine.events import moment, schedule
from ailb_gen.sim.engine.jit import compiled, inlined, prefetch
from ailb_gen.sim.engine.nic import next_packet
from ailb_gen.sim.engine.random import happens
from ailb_gen.sim.engine.records import CONTROL, FREED, JOINED, NEVER, NONE, EngineState
from ailb_gen.sim.engine.wire import append, pick, transmit


@inlined
def _mark(state: EngineState, link: int, packet: int, queued: int) -> None:
    """Mark a packet that leaves `queued` bytes behind in its queue (RED on the instantaneous length)."""
    # The least threshold is 0.
    if queued == 0:
        return
    record = state.ports[link]
    if record.ecn_min < 0 or queued <= record.ecn_min:
        return
    if queued < record.ecn_max:
        share = (queued - record.ecn_min) / (record.ecn_max - record.ecn_min)
        if not happens(state, state.links[link].source, share * record.ecn_probability):
            return
    state.packets[packet].marked = 1
    record.marks += 1


@inlined
def _dequeue(state: EngineState, link: int, priority: int, start: int) -> None:
    """Send the first packet of a class."""
    config = state.config[0]
    record = state.links[link]
    queue = state.queues[priority, link]
    packet = queue.head
    following = state.packets[packet].next
    queue.head = following
    prefetch(state.packets, following, 0)
    if following == NONE:
        record.backlog &= ~(1 << priority)
    queue.bytes -= state.packets[packet].bytes
    state.waiting[link] -= 1
    if priority > CONTROL:
        record.turn = priority
    from_outside = priority > CONTROL and state.packets[packet].came != NONE
    if from_outside:
        _mark(state, link, packet, queue.bytes)
    transmit(state, link, packet, start)
    # A resume frame may go over this very link, after the packet.
    if from_outside and config.shared_buffer_bytes != NONE:
        release(state, link, packet)


@inlined
def serve(state: EngineState, link: int, now: int) -> None:
    """Send what is next on a link that is free; note when to look again."""
    record = state.links[link]
    record.wake = NEVER
    waiting = record.backlog & ~record.paused
    if waiting:
        _dequeue(state, link, pick(state, link, waiting), now)
    else:
        while record.ready & ~record.paused:
            priority = pick(state, link, record.ready & ~record.paused)
            packet = next_packet(state, link, priority, now)
            if packet != NONE:
                record.turn = priority
                transmit(state, link, packet, now)
                break
    if (record.backlog | record.ready) & ~record.paused:
        record.wake = moment(record.free, FREED)
    schedule(state, link)


@compiled
def catch_up(state: EngineState, link: int, now: int) -> None:
    """Send what an unwatched link would have sent since it was last examined."""
    record = state.links[link]
    while record.backlog and record.free <= now:
        _dequeue(state, link, pick(state, link, record.backlog), record.free)


@inlined
def join(state: EngineState, link: int, packet: int, now: int) -> None:
    """Send a packet at once, or put it at the end of its queue."""
    if state.config[0].lazy:
        if state.links[link].backlog:
            catch_up(state, link, now)
        record = state.links[link]
        if record.backlog or record.free > now:
            append(state, link, packet)
        else:
            record.peak = max(record.peak, 1)
            transmit(state, link, packet, now)
            schedule(state, link)
        return
    append_or_send(state, link, packet, now)


@inlined
def append_or_send(state: EngineState, link: int, packet: int, now: int) -> None:
    """Send a packet at once if the link is free and nothing waits, else let it wait, and the link wake up."""
    record = state.links[link]
    priority = state.packets[packet].priority
    idle = record.free <= now and not record.backlog and not (record.paused >> priority) & 1
    if idle and not state.config[0].deferred:
        record.peak = max(record.peak, 1)
        transmit(state, link, packet, now)
        if record.ready & ~record.paused:
            record.wake = moment(record.free, FREED)
        schedule(state, link)
        return
    append(state, link, packet)
    if record.wake == NEVER and not (record.paused >> priority) & 1:
        record.wake = moment(now, JOINED) if idle else moment(max(record.free, now), FREED)
        schedule(state, link)


@compiled
def kick(state: EngineState, link: int, now: int) -> None:
    """Let a link send that has something to send again."""
    record = state.links[link]
    if record.wake != NEVER:
        return
    if record.free <= now:
        serve(state, link, now)
    else:
        record.wake = moment(record.free, FREED)
        schedule(state, link)
