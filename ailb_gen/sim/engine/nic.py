"""The sending side of a NIC: its flows in turn, each at its rate and within its window."""

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.bits import forget, is_noted
from ailb_gen.sim.engine.congestion import queue_pairs
from ailb_gen.sim.engine.congestion.dispatch import settle
from ailb_gen.sim.engine.events import add_timer
from ailb_gen.sim.engine.jit import compiled, inlined, prefetch
from ailb_gen.sim.engine.records import EngineState
from ailb_gen.sim.engine.timeouts import timeout_of
from ailb_gen.sim.engine.wire import new_packet


@inlined
def data_packet(state: EngineState, flow: int, sequence: int, now: int) -> int:
    """Return a new packet of a flow."""
    config, record = state.config[0], state.flows[flow]
    payload = record.last_bytes if sequence == record.packets - 1 else config.payload_bytes
    number = new_packet(state, r.DATA, flow, payload + config.header_bytes)
    packet = state.packets[number]
    packet.sequence = sequence
    packet.sent = now
    packet.destination = record.destination
    packet.key = record.key + record.path
    packet.priority = record.priority
    return number


@inlined
def nic_link(state: EngineState, host: int, flow: int) -> int:
    """Return the link of a host for a flow: at both ends the one with the same number."""
    entry = state.sets[state.hosts[host].links]
    if entry.count == 1:
        return state.set_links[entry.first]
    return state.set_links[entry.first + (state.flows[flow].key & 0x7FFFFFFF) % entry.count]


@inlined
def _is_missing(state: EngineState, flow: int, sequence: int) -> bool:
    """Return whether the receiver has asked for a packet again, if it is one that does so for each."""
    return bool(state.config[0].transport != r.RECEIVER_DRIVEN or is_noted(state.refused, flow, sequence))


@compiled
def _next_repair(state: EngineState, flow: int) -> int:
    """Return the next packet to be sent again; NONE when there is none (left)."""
    record = state.flows[flow]
    sequence = max(record.repair, record.acknowledged)
    while sequence < record.highest:
        if not is_noted(state.acknowledged, flow, sequence) and _is_missing(state, flow, sequence):
            record.repair = sequence
            return sequence
        sequence += 1
    record.repair = sequence
    return r.NONE


@inlined
def _lacks_credit(state: EngineState, flow: int) -> bool:
    """Return whether a flow waits for its receiver to ask for a packet."""
    return state.config[0].transport == r.RECEIVER_DRIVEN and not state.credits[flow].credit


@compiled
def _fills_window(state: EngineState, flow: int, in_flight: int) -> bool:
    """Return whether credits, or the window of congestion control, do not allow for another packet."""
    if state.config[0].transport == r.RECEIVER_DRIVEN:
        return not state.credits[flow].credit
    return bool(in_flight and in_flight >= state.controlled[flow].window)


@inlined
def to_send(state: EngineState, flow: int) -> int:
    """Return the packet that a flow would send now; NONE: it waits for acknowledgements."""
    record, config = state.flows[flow], state.config[0]
    if record.recovery != r.NONE:
        if _lacks_credit(state, flow):
            return r.NONE
        sequence = _next_repair(state, flow)
        if sequence != r.NONE:
            return sequence
    in_flight = record.next - record.acknowledged
    if record.next >= record.packets or in_flight >= config.window:
        return r.NONE
    if config.windowed and _fills_window(state, flow, in_flight):
        return r.NONE
    if config.message_packets and record.next // config.message_packets > record.acknowledged // config.message_packets:
        return r.NONE
    return record.next


@inlined
def _append_to_ring(state: EngineState, flow: int) -> None:
    record = state.flows[flow]
    ring = state.queues[record.priority, record.link]
    record.ring_next = r.NONE
    record.phase = r.RINGED
    if ring.ring_head == r.NONE:
        ring.ring_head = flow
        state.links[record.link].ready |= 1 << int(record.priority)
    else:
        state.flows[ring.ring_tail].ring_next = flow
    ring.ring_tail = flow


@inlined
def _pace(state: EngineState, flow: int) -> None:
    """Let a flow wait until its rate allows it to send."""
    record = state.flows[flow]
    record.phase = r.PACED
    add_timer(state, record.available, r.RATE, flow)


@inlined
def activate(state: EngineState, flow: int, now: int) -> bool:
    """Let a flow that has something to send take its turn, now or when its rate allows; True: its NIC has work."""
    record = state.flows[flow]
    if record.phase != r.IDLE or to_send(state, flow) == r.NONE:
        return False
    if record.available <= now:
        _append_to_ring(state, flow)
        return True
    _pace(state, flow)
    return False


@inlined
def rate_allows(state: EngineState, flow: int, now: int) -> None:
    """Put a flow into the ring again when its time has come."""
    record = state.flows[flow]
    if record.available > now:
        _pace(state, flow)
        return
    record.phase = r.IDLE
    if to_send(state, flow) != r.NONE:
        _append_to_ring(state, flow)


@inlined
def _first_of_ring(state: EngineState, link: int, priority: int) -> int:
    """Take the first flow out of a ring."""
    ring = state.queues[priority, link]
    flow = ring.ring_head
    record = state.flows[flow]
    ring.ring_head = record.ring_next
    prefetch(state.flows, ring.ring_head, r.SENDING)
    prefetch(state.flows, ring.ring_head, r.CONGESTION)
    if ring.ring_head == r.NONE:
        state.links[link].ready &= ~(1 << priority)
    record.phase = r.IDLE
    return int(flow)


@compiled
def defer(state: EngineState, flow: int, until: int) -> None:
    """Let a flow not send before a time."""
    record = state.flows[flow]
    record.available = max(record.available, until)
    if record.phase != r.RINGED:
        return
    ring = state.queues[record.priority, record.link]
    before, at = r.NONE, int(ring.ring_head)
    while at != flow:
        before, at = at, int(state.flows[at].ring_next)
    if before == r.NONE:
        _first_of_ring(state, record.link, record.priority)
    else:
        state.flows[before].ring_next = record.ring_next
    if ring.ring_tail == flow:
        ring.ring_tail = before
    _pace(state, flow)


@compiled
def forget_context(state: EngineState, flow: int) -> None:
    """Take a flow out of the contexts that its NIC holds."""
    record = state.flows[flow]
    if not record.context:
        return
    link = state.ports[record.link]
    if record.context_previous == r.NONE:
        link.context_head = record.context_next
    else:
        state.flows[record.context_previous].context_next = record.context_next
    if record.context_next == r.NONE:
        link.context_tail = record.context_previous
    else:
        state.flows[record.context_next].context_previous = record.context_previous
    record.context = 0
    link.contexts -= 1


@compiled
def _use_context(state: EngineState, flow: int) -> int:
    """Return the ps until the NIC has the context of a flow; the least recently used one makes room."""
    config = state.config[0]
    record = state.flows[flow]
    link = state.ports[record.link]
    cost = 0 if record.context else config.context_miss_ps
    forget_context(state, flow)
    record.context_previous, record.context_next = r.NONE, link.context_head
    if link.context_head == r.NONE:
        link.context_tail = flow
    else:
        state.flows[link.context_head].context_previous = flow
    link.context_head = flow
    record.context = 1
    link.contexts += 1
    if link.contexts > config.context_cache:
        forget_context(state, link.context_tail)
    return cost


@inlined
def begin_message(state: EngineState, flow: int, now: int) -> None:
    """Let a flow wait until its NIC has begun the messages before its next one, and this one."""
    record = state.flows[flow]
    host = state.hosts[record.source]
    host.begun = max(host.begun, now) + state.config[0].message_ps
    record.available = max(record.available, host.begun)


@compiled
def release_flow(state: EngineState, flow: int) -> None:
    """Free the record of a flow that is acknowledged, has no packets in the network and waits for nothing.

    Not on several cores: who sees its last packet may be another part.
    """
    record = state.flows[flow]
    if state.config[0].parts > 1 or record.references or record.phase != r.IDLE or record.task == r.NONE:
        return
    # What is lost without a transport is not sent again: the flow never ends.
    if record.acknowledged < record.packets and state.config[0].transport != r.RAW:
        return
    state.tasks[record.task].flow = r.NONE
    state.tasks[record.task].marked = record.marks
    record.task = r.NONE
    record.ring_next = state.run[0].free_flow
    state.run[0].free_flow = flow


@compiled
def end_flow(state: EngineState, flow: int) -> None:
    """Let the sender of a flow that is acknowledged forget it."""
    record = state.flows[flow]
    if record.acknowledged == record.packets and record.phase != r.RINGED:
        if state.config[0].context_cache:
            forget_context(state, flow)
        if state.config[0].congestion:
            queue_pairs.end(state, flow)
    release_flow(state, flow)


@inlined
def _note_sent(state: EngineState, flow: int, sequence: int) -> bool:
    """Count a packet, and let the flow go on behind it; return whether it is sent for the first time."""
    record = state.flows[flow]
    fresh = sequence >= record.unsent
    if fresh:
        state.run[0].packets += 1
        record.unsent = sequence + 1
    else:
        state.tasks[record.task].retransmitted += 1
        state.run[0].retransmissions += 1
    if sequence == record.next:
        record.next = sequence + 1
    else:
        record.repair = sequence + 1
    return bool(fresh)


@compiled
def _spend(state: EngineState, flow: int, sequence: int) -> None:
    """Let a packet take one of the credits of its flow."""
    own = state.credits[flow]
    own.credit -= 1
    own.unanswered += 1
    forget(state.refused, flow, sequence)


@compiled
def next_packet(state: EngineState, link: int, priority: int, now: int) -> int:
    """Return the packet that the first ready flow of a class sends, NONE if it has none; its next turn is arranged."""
    config = state.config[0]
    flow = _first_of_ring(state, link, priority)
    record = state.flows[flow]
    sequence = to_send(state, flow)
    if sequence == r.NONE:
        end_flow(state, flow)
        return r.NONE
    packet = data_packet(state, flow, sequence, now)
    fresh = _note_sent(state, flow, sequence)
    if config.transport == r.RECEIVER_DRIVEN:
        _spend(state, flow, sequence)
    if sequence == record.acknowledged:
        record.timeout_at = now + timeout_of(state, flow)
    if not record.timer:
        record.timer = 1
        add_timer(state, record.timeout_at, r.TIMEOUT, record.task)
    size = state.packets[packet].bytes
    on_wire = size * state.links[link].byte_ps
    duration = on_wire
    if config.paced:
        settle(state, flow, now)
        duration = max(duration, int(size / record.rate))
    if config.context_cache:
        duration += _use_context(state, flow)
    record.available = now + duration
    if fresh and config.message_ps and config.message_packets and (sequence + 1) % config.message_packets == 0:
        # The next message is prepared while this one is not acknowledged yet.
        begin_message(state, flow, now)
    if to_send(state, flow) != r.NONE:
        if duration <= on_wire:
            _append_to_ring(state, flow)
        else:
            _pace(state, flow)
    return packet
