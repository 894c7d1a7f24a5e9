"""ConWeave: flows leave a path when a reply is late; their last switch restores the order (Song et al., SIGCOMM 2023).

The first switch of a flow asks for a REPLY with the first packet of an epoch. When it comes in time, the next packet
begins another epoch. When it is late, the next packet is the TAIL of the old path, and those after it take another
one, until a CLEAR says that the TAIL has arrived. The last switch holds rerouted packets that come before the TAIL,
counted in its buffer like queued ones, until the TAIL has come or is overdue. It sends a NOTIFY for a marked packet;
the first switch avoids that path for a while. Flows within one switch are left alone.

A path is an uplink of the first switch; a spine with several links to the last switch takes the one with the same
number, modulo how many it has.
"""

from collections.abc import Mapping

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.balancers.simple import by_hash
from ailb_gen.sim.engine.buffers import admit, release
from ailb_gen.sim.engine.events import add_timer
from ailb_gen.sim.engine.forwarding import is_idle, lose, next_hops, refuse, send_on
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.links import append_or_send
from ailb_gen.sim.engine.random import random_below
from ailb_gen.sim.engine.records import EngineState
from ailb_gen.sim.engine.routes import fib_entry
from ailb_gen.sim.engine.wire import free_packet, new_packet
from ailb_gen.sim.fabric import UNREACHABLE, FabricArrays

# Tags of data packets: STEERED, flags, the number of the path.
STEERED, REQUEST, TAIL, REROUTED, PATH = 1, 2, 4, 8, 4
# Times in packets are in 1,024 ps, modulo 2 s.
TICK, TICKS = 10, 0x7FFFFFFF


@compiled
def begin_flow(state: EngineState, flow: int, now: int) -> None:
    """Forget what is known of the flow that had this record before."""
    own = state.steered[flow]
    own.path = r.NONE
    own.epoch = own.epoch_seen = 0
    own.rerouted = own.confirmed = own.tail_seen = own.old_path_seen = 0
    own.active_at = own.tail_at = 0
    own.reply_by = own.timer_at = r.NEVER
    own.held_head = own.held_tail = r.NONE


@inlined
def _pause_of(state: EngineState, link: int, flow: int) -> int:
    """Return where it is written until when a flow avoids an uplink."""
    prefix = state.destinations[state.flows[flow].destination].prefix
    return link * state.config[0].prefixes + prefix


@inlined
def is_avoided(state: EngineState, link: int, flow: int, now: int) -> bool:
    """Return whether a flow avoids an uplink, as its path was marked lately."""
    return bool(state.metrics[0, 0, _pause_of(state, link, flow)] > now)


@compiled
def good_path(state: EngineState, node: int, flow: int, first: int, count: int, now: int) -> int:
    """Return the first of some random paths that is not avoided; NONE: all are."""
    for _ in range(int(state.parameters[0].samples)):
        path = random_below(state, node, count)
        if not is_avoided(state, state.set_links[first + path], flow, now):
            return path
    return r.NONE


@inlined
def _reroute(state: EngineState, node: int, flow: int, first: int, count: int, now: int) -> None:
    """Move a flow to a good path, if one is found; its first path may be any."""
    own = state.steered[flow]
    path = good_path(state, node, flow, first, count, now)
    if own.path == r.NONE:
        own.path = path if path != r.NONE else random_below(state, node, count)
        return
    if path == r.NONE or path == own.path:  # noqa: PLR1714 - Numba has no tuples of two types of integers
        return
    own.path = path
    state.rerouted[state.flows[flow].task] += 1


@compiled
def _steer(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> None:
    """Write path, epoch and requests into a packet at its first switch."""
    record = state.packets[packet]
    flow = record.flow
    own = state.steered[flow]
    silent = own.epoch == 0 or own.active_at + state.parameters[0].inactivity_ps < now
    own.active_at = now
    tag = STEERED
    if silent or own.confirmed:
        own.epoch += 1
        own.confirmed = own.rerouted = 0
        own.reply_by = now + int(state.parameters[0].reply_ps)
        if silent:
            _reroute(state, node, flow, first, count, now)
        tag |= REQUEST
    elif own.rerouted:
        tag |= REROUTED
    record.tag = tag | (own.path << PATH)
    if own.reply_by < now:
        # The last one on the old path.
        record.tag |= TAIL
        own.reply_by = r.NEVER
        own.rerouted = 1
        own.tail_at = now
        _reroute(state, node, flow, first, count, now)
    record.metric = own.epoch
    record.extra = (int(now) >> TICK) & TICKS


@inlined
def ends_at(state: EngineState, packet: int, first: int) -> bool:
    """Return whether a next-hop set, by the place of its first link, is that of the links to a packet's host."""
    delivery = state.destinations[state.packets[packet].destination].delivery
    return bool(delivery != UNREACHABLE and state.sets[delivery].first == first)


@compiled
def choose(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of the member that a packet takes."""
    record = state.packets[packet]
    if ends_at(state, packet, first):
        return by_hash(state, node, count, packet)
    if record.hops == 1:
        _steer(state, node, first, count, packet, now)
    return (record.tag >> PATH) % count


@inlined
def _link(state: EngineState, node: int, number: int, packet: int) -> int:
    """Return the link of a next-hop set that the hash of a packet chooses."""
    entry = state.sets[number]
    position = 0 if entry.count == 1 else by_hash(state, node, entry.count, packet)
    return state.set_links[entry.first + position]


@compiled
def send_back(state: EngineState, node: int, kind: int, packet: int, now: int) -> None:
    """Send a control packet from the last to the first switch of a flow."""
    data = state.packets[packet]
    number = new_packet(state, kind, data.flow, state.config[0].control_bytes)
    reply = state.packets[number]
    reply.destination = state.flows[data.flow].back
    reply.key = data.key ^ r.ANSWER
    reply.priority = r.CONTROL
    reply.tag = data.tag
    reply.metric = data.metric
    hops = next_hops(state, node, number)
    if hops == UNREACHABLE:
        state.run[0].unreachable += 1
        free_packet(state, number)
        return
    append_or_send(state, _link(state, node, hops, number), number, now)


@compiled
def note_congestion(state: EngineState, node: int, packet: int, now: int) -> None:
    """Let the first switch of a flow avoid the path that a NOTIFY names."""
    record = state.packets[packet]
    number = fib_entry(state, node, state.destinations[state.flows[record.flow].destination].prefix)
    if number >= 0:
        entry = state.sets[number]
        link = state.set_links[entry.first + (record.tag >> PATH) % entry.count]
        state.metrics[0, 0, _pause_of(state, link, record.flow)] = now + int(state.parameters[0].pause_ps)


@compiled
def _take_control(state: EngineState, node: int, packet: int, now: int) -> None:
    """Take a REPLY, CLEAR or NOTIFY at the first switch of its flow."""
    record = state.packets[packet]
    flow = record.flow
    own = state.steered[flow]
    if record.kind == r.NOTIFY:
        note_congestion(state, node, packet, now)
    # A REPLY that comes after its deadline says nothing: the TAIL is sent, or is next.
    elif record.metric == own.epoch and (record.kind == r.CLEAR or (not own.rerouted and now < own.reply_by)):
        own.confirmed = 1
        own.reply_by = r.NEVER
    lose(state, packet)


@compiled
def _hold(state: EngineState, link: int, packet: int, now: int) -> None:
    """Let a packet wait at its last switch."""
    record = state.packets[packet]
    own = state.steered[record.flow]
    node = state.links[link].source
    if state.config[0].shared_buffer_bytes != r.NONE and not admit(state, node, link, packet, now):
        refuse(state, link, packet, now)
        return
    record.next = r.NONE
    if own.held_head == r.NONE:
        own.held_head = packet
    else:
        state.packets[own.held_tail].next = packet
    own.held_tail = packet


@compiled
def _let_go(state: EngineState, flow: int, now: int) -> None:
    """Send the packets of a flow that its last switch holds; no packet of this epoch has to wait any longer."""
    own = state.steered[flow]
    own.tail_seen = 1
    packet = own.held_head
    own.held_head = r.NONE
    while packet != r.NONE:
        record = state.packets[packet]
        following = record.next
        node = state.wires[record.came].target
        link = _link(state, node, state.destinations[record.destination].delivery, packet)
        if state.config[0].shared_buffer_bytes != r.NONE and is_idle(state, link, record.priority, now):
            # What never joins the queue would not be counted out.
            release(state, link, packet)
        append_or_send(state, link, packet, now)
        packet = following


@inlined
def _set_deadline(state: EngineState, flow: int, now: int) -> None:
    """Set the time at which held packets are sent without the TAIL: its expected arrival plus slack."""
    own = state.steered[flow]
    if own.old_path_seen:
        behind = ((int(own.tail_at) >> TICK) - int(own.sent)) & TICKS
        # A difference this large is one below zero.
        wait = 0 if behind > TICKS >> 1 else behind << TICK
        own.resume_at = own.received + wait + int(state.parameters[0].slack_ps)
    else:
        own.resume_at = now + int(state.parameters[0].resume_ps)
    if own.resume_at < own.timer_at:
        own.timer_at = own.resume_at
        add_timer(state, own.resume_at, r.BALANCER, state.flows[flow].task)


@compiled
def expire(state: EngineState, task: int, now: int) -> None:
    """Let packets go on whose TAIL is overdue."""
    flow = state.tasks[task].flow
    if flow == r.NONE:
        return
    own = state.steered[flow]
    if now >= own.timer_at:
        own.timer_at = r.NEVER
    if own.held_head == r.NONE:
        return
    if now >= own.resume_at:
        _let_go(state, flow, now)
    elif own.resume_at < own.timer_at:
        own.timer_at = own.resume_at
        add_timer(state, own.resume_at, r.BALANCER, task)


@compiled
def _receive(state: EngineState, node: int, number: int, packet: int, now: int) -> bool:
    """Take a data packet at its last switch; return whether it has to wait, or has been sent on."""
    record = state.packets[packet]
    flow, tag = record.flow, record.tag
    own = state.steered[flow]
    if record.metric < own.epoch_seen:
        return False
    if record.metric > own.epoch_seen:
        # After a silence at the first switch: what still waits is of an older epoch.
        if own.held_head != r.NONE:
            _let_go(state, flow, now)
        own.epoch_seen = record.metric
        own.tail_seen = own.old_path_seen = 0
    if record.marked:
        send_back(state, node, r.NOTIFY, packet, now)
    if tag & REQUEST:
        send_back(state, node, r.REPLY, packet, now)
    if tag & REROUTED:
        if own.tail_seen:
            return False
        link = _link(state, node, number, packet)
        if own.held_head == r.NONE:
            _set_deadline(state, flow, now)
        _hold(state, link, packet, now)
        return True
    own.old_path_seen = 1
    own.sent = record.extra
    own.received = now
    if tag & TAIL:
        send_back(state, node, r.CLEAR, packet, now)
        send_on(state, node, _link(state, node, number, packet), packet, now)
        _let_go(state, flow, now)
        return True
    if own.held_head != r.NONE:
        _set_deadline(state, flow, now)
    return False


@compiled
def takes(state: EngineState, node: int, number: int, packet: int, now: int) -> bool:
    """Return whether ConWeave deals with a packet at a switch; False: the switch forwards it as usual."""
    record = state.packets[packet]
    if number != state.destinations[record.destination].delivery:
        return False
    if record.kind == r.DATA:
        return record.tag != 0 and _receive(state, node, number, packet, now)
    if record.kind in (r.REPLY, r.CLEAR, r.NOTIFY):
        _take_control(state, node, packet, now)
        return True
    return False


def tables(fabric: FabricArrays, parameters: Mapping[str, float]) -> tuple[int, int, int]:
    """Return the shape of the table: by link and prefix, until when it is avoided."""
    return 1, 1, fabric.link_count * fabric.forwarding[0].next_hops.shape[1]


HOOKS = {
    "conweave": Hooks(
        choose=choose,
        takes=takes,
        begin_flow=begin_flow,
        expire=expire,
        reads_queues=True,
        everywhere=True,
        keeps=lambda parameters: True,
        tables=tables,
    )
}
