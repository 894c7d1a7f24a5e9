"""Credits of receivers (NDP, Handley et al., SIGCOMM 2017; EQDS, Olteanu et al., NSDI 2022).

A sender sends its first window unasked, and every other packet when its receiver asks for one: what was trimmed first,
then what is new. A receiver asks once for every packet that comes, whole or trimmed, not before the link has had time
for the one before, its flows in turn, and never for more than a flow still needs. Numbers of pulls are cumulative, so
that a later one makes up for one that was lost. Where all packets of a window, or the last pull, are lost, the timer
makes the sender go on.
"""

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.bits import forget_all, is_noted, note
from ailb_gen.sim.engine.events import add_timer
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.links import append_or_send, kick
from ailb_gen.sim.engine.nic import activate, nic_link, release_flow
from ailb_gen.sim.engine.records import EngineState
from ailb_gen.sim.engine.wire import free_packet, new_packet
from ailb_gen.sim.fabric import UNREACHABLE

# After so many timeouts in a row the packets that a flow sends unasked are no longer doubled.
MOST_STALLS = 20


@compiled
def begin_credits(state: EngineState, flow: int) -> None:
    """Let a flow send its first window."""
    own, packets = state.credits[flow], state.flows[flow].packets
    own.credit = min(state.config[0].first_window, packets)
    own.pulled = own.unanswered = own.stalls = 0
    own.arrivals = own.granted = own.queued = 0
    own.needed = packets - own.credit
    forget_all(state.refused, flow)


@inlined
def _refuse(state: EngineState, flow: int, sequence: int) -> None:
    """Note that a packet is to be sent again."""
    record = state.flows[flow]
    note(state.refused, flow, sequence)
    record.repair = min(record.repair, sequence)
    record.highest = max(record.highest, sequence + 1)
    record.recovery = max(record.recovery, sequence)


@compiled
def note_answer(state: EngineState, flow: int, kind: int, sequence: int) -> None:
    """Note at the sender what has become of a packet: it has arrived, or was trimmed."""
    record, own = state.flows[flow], state.credits[flow]
    own.unanswered = max(0, own.unanswered - 1)
    if sequence < record.acknowledged or is_noted(state.acknowledged, flow, sequence):
        return
    if kind == r.NACK:
        _refuse(state, flow, sequence)
    else:
        note(state.acknowledged, flow, sequence)


@compiled
def take_all_for_lost(state: EngineState, flow: int) -> None:
    """Let a flow send again what was not acknowledged, as many packets as were lost without an answer.

    If none was under way, a pull was lost, or is late: one packet asks for the next one, and twice as many every time.
    """
    record, own = state.flows[flow], state.credits[flow]
    for sequence in range(record.acknowledged, record.next):
        if not is_noted(state.acknowledged, flow, sequence):
            _refuse(state, flow, sequence)
    lost = own.unanswered
    if not lost:
        lost = 1 << min(own.stalls, MOST_STALLS)
        own.stalls += 1
    own.credit = max(own.credit, min(lost, state.config[0].first_window))
    own.unanswered = 0


@compiled
def receive_pull(state: EngineState, packet: int, now: int) -> None:
    """Take the credit of a receiver at the sender."""
    flow, pulled = state.packets[packet].flow, state.packets[packet].sequence
    own = state.credits[flow]
    free_packet(state, packet)
    if pulled > own.pulled:
        own.credit += pulled - own.pulled
        own.pulled = pulled
        own.stalls = 0
    if activate(state, flow, now):
        kick(state, state.flows[flow].link, now)
    release_flow(state, flow)


@inlined
def _is_due(state: EngineState, flow: int) -> bool:
    """Return whether a receiver may ask for a packet of a flow, and needs one."""
    record, own = state.flows[flow], state.credits[flow]
    return bool(own.granted < own.arrivals and own.granted < own.needed and record.expected < record.packets)


@inlined
def _queue(state: EngineState, pacer: int, flow: int) -> None:
    """Let a flow wait for its turn; its record is kept meanwhile."""
    own, ring = state.credits[flow], state.pacers[pacer]
    own.queued, own.queued_next = 1, r.NONE
    state.flows[flow].references += 1
    if ring.head == r.NONE:
        ring.head = flow
    else:
        state.credits[ring.tail].queued_next = flow
    ring.tail = flow


@inlined
def _send_pull(state: EngineState, link: int, flow: int, now: int) -> None:
    """Ask for one more packet of a flow."""
    record, own = state.flows[flow], state.credits[flow]
    own.granted += 1
    number = new_packet(state, r.PULL, flow, state.config[0].control_bytes)
    packet = state.packets[number]
    packet.sequence = own.granted
    packet.destination = record.back
    packet.key = record.key ^ r.ANSWER
    append_or_send(state, link, number, now)


@compiled
def next_pull(state: EngineState, link: int, now: int) -> None:
    """Ask the first flow in turn for a packet, over the link of its receiver, and for the next one when that is in."""
    config, ring = state.config[0], state.pacers[link]
    ring.busy = 0
    while ring.head != r.NONE and not ring.busy:
        flow = int(ring.head)
        own = state.credits[flow]
        ring.head = own.queued_next
        own.queued = 0
        state.flows[flow].references -= 1
        if not _is_due(state, flow):
            release_flow(state, flow)
            continue
        _send_pull(state, link, flow, now)
        if _is_due(state, flow):
            _queue(state, link, flow)
        ring.busy = 1
        size = config.payload_bytes + config.header_bytes
        add_timer(state, now + size * state.links[state.wires[link].reverse].byte_ps, r.NEXT_PULL, link)


@compiled
def note_left(state: EngineState, flow: int, now: int) -> None:
    """Note at the receiver that a packet has left the network, in place of which another one may be sent."""
    own, target = state.credits[flow], state.flows[flow].target
    own.arrivals += 1
    if own.queued or not _is_due(state, flow) or state.hosts[target].links == UNREACHABLE:
        return
    link = nic_link(state, target, flow)
    _queue(state, link, flow)
    if not state.pacers[link].busy:
        next_pull(state, link, now)
