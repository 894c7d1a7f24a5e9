"""The receiving side of hosts, acknowledgements, and what senders make of them.

Go-back-N (RoCEv2 NICs): only the expected packet is taken, one NACK per gap and interval. Selective repeat (IRN,
Mittal et al., SIGCOMM 2018): every packet is taken and acknowledged on its own; one that is further ahead than the
reordering window makes the sender repair what is missing. Timeout only: the reordering window has no end.
"""

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.balancers.dispatch import acknowledged, answered, timed_out
from ailb_gen.sim.engine.bits import forget, is_noted, note
from ailb_gen.sim.engine.congestion import dispatch as congestion
from ailb_gen.sim.engine.credits import note_answer, note_left, take_all_for_lost
from ailb_gen.sim.engine.events import add_timer
from ailb_gen.sim.engine.flows import end_task
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.links import append_or_send, kick
from ailb_gen.sim.engine.nic import activate, end_flow, nic_link, release_flow
from ailb_gen.sim.engine.records import EngineState
from ailb_gen.sim.engine.timeouts import measure, timeout_of
from ailb_gen.sim.engine.wire import free_packet, turn
from ailb_gen.sim.fabric import UNREACHABLE


@inlined
def _note_order(state: EngineState, flow: int, sequence: int) -> None:
    """Count a packet that comes after a later one."""
    record = state.flows[flow]
    if sequence > record.latest:
        record.latest = sequence
        return
    if sequence < record.latest and sequence >= record.expected:
        task = state.tasks[record.task]
        task.out_of_order += 1
        task.distance = max(task.distance, record.latest - sequence)


@inlined
def _answer(state: EngineState, kind: int, packet: int, now: int) -> None:
    """Make a packet what acknowledges it, or asks for another one, and send that."""
    data = state.packets[packet]
    record = state.flows[data.flow]
    turn(state, packet, kind, record.back)
    data.extra = data.sequence
    data.sequence = record.expected
    data.bytes += state.config[0].telemetry_bytes
    if kind == r.ACK:
        state.run[0].acks += 1
    else:
        state.run[0].nacks += 1
    append_or_send(state, nic_link(state, record.target, data.flow), packet, now)


@inlined
def _has_arrived(state: EngineState, flow: int, sequence: int) -> bool:
    """Return whether a packet has been taken."""
    return bool(sequence < state.flows[flow].expected or is_noted(state.arrived, flow, sequence))


@inlined
def _note_arrival(state: EngineState, flow: int, sequence: int) -> bool:
    """Note a packet that was taken out of turn; return whether it is new."""
    record = state.flows[flow]
    if _has_arrived(state, flow, sequence):
        return False
    note(state.arrived, flow, sequence)
    while record.expected < record.packets and is_noted(state.arrived, flow, record.expected):
        forget(state.arrived, flow, record.expected)
        record.expected += 1
    return True


@inlined
def _is_refused(state: EngineState, flow: int, now: int) -> bool:
    """Return whether a NACK for the expected packet is due; note it."""
    record = state.flows[flow]
    if record.refused == record.expected and now < record.refused_at + state.config[0].nack_interval_ps:
        return False
    record.refused = record.expected
    record.refused_at = now
    return True


@compiled
def receive_data(state: EngineState, packet: int, now: int) -> None:
    """Take a data packet at its host."""
    config = state.config[0]
    data = state.packets[packet]
    flow = data.flow
    record = state.flows[flow]
    sequence = data.sequence
    state.run[0].received += 1
    _note_order(state, flow, sequence)
    answer, fresh = r.ACK, False
    if config.transport == r.RAW:
        record.arrived += 1
        answer, fresh = r.NONE, record.arrived == record.packets
    elif config.transport == r.GO_BACK_N:
        if sequence == record.expected:
            record.expected += 1
            record.refused = r.NONE
            fresh = True
        elif sequence > record.expected:
            answer = r.NACK if _is_refused(state, flow, now) else r.NONE
    else:
        fresh = _note_arrival(state, flow, sequence)
        if sequence > record.expected + config.reordering_packets:
            answer = r.NACK
        if config.transport == r.RECEIVER_DRIVEN:
            note_left(state, flow, now)
    task = r.NONE
    if fresh and (config.transport == r.RAW or (not config.ends_acknowledged and record.expected == record.packets)):
        task = record.task
    if answer != r.NONE and state.hosts[record.target].links != UNREACHABLE:
        _answer(state, answer, packet, now)
    else:
        free_packet(state, packet)
        release_flow(state, flow)
    if task != r.NONE:
        end_task(state, task, now)


@compiled
def receive_trimmed(state: EngineState, packet: int, now: int) -> None:
    """Take the header of a trimmed packet at its host, which asks for the packet again."""
    flow, sequence = state.packets[packet].flow, state.packets[packet].sequence
    record = state.flows[flow]
    if not _has_arrived(state, flow, sequence):
        state.credits[flow].needed += 1
    note_left(state, flow, now)
    if state.hosts[record.target].links != UNREACHABLE:
        _answer(state, r.NACK, packet, now)
    else:
        free_packet(state, packet)
        release_flow(state, flow)


@inlined
def _advance(state: EngineState, flow: int, expected: int, now: int) -> None:
    """Take a cumulative acknowledgement."""
    record = state.flows[flow]
    if expected <= record.acknowledged:
        return
    if state.config[0].transport != r.GO_BACK_N:
        for sequence in range(record.acknowledged, expected):
            forget(state.acknowledged, flow, sequence)
    record.acknowledged = expected
    record.next = max(record.next, expected)
    if state.config[0].timeout_ps == r.NONE:
        state.senders[flow].doublings = 0
    record.timeout_at = now + timeout_of(state, flow)
    if record.recovery != r.NONE and expected > record.recovery:
        record.recovery = r.NONE


@inlined
def _go_back(state: EngineState, flow: int, expected: int, sent: int, now: int) -> None:
    """Send again from the packet on that a NACK asks for, unless that has been done since it was caused.

    All packets from there on are sent again, in order. So a NACK that is caused by a packet sent before then tells
    nothing new, and one caused by a later packet tells that the repetition was lost, too.
    """
    record = state.flows[flow]
    if expected >= record.next or expected < record.acknowledged:
        return
    if sent < record.back_at and not state.config[0].every_nack:
        return
    record.next = expected
    record.back_at = now
    record.timeout_at = now + timeout_of(state, flow)


@compiled
def receive_answer(state: EngineState, packet: int, now: int) -> None:
    """Take an ACK or NACK at the host that sent the data."""
    config = state.config[0]
    answer = state.packets[packet]
    flow, kind, expected, single, marked = answer.flow, answer.kind, answer.sequence, answer.extra, answer.marked
    sent = answer.sent
    acknowledged(state, packet, now)
    free_packet(state, packet)
    record = state.flows[flow]
    if marked:
        state.run[0].cnps += 1
        record.marks += 1
    congestion.answered(state, flow, packet, now)
    if config.timeout_ps == r.NONE:
        measure(state, flow, now - sent)
    before = record.acknowledged
    _advance(state, flow, expected, now)
    # What has nothing more to send needs no path.
    if record.next < record.packets:
        answered(state, flow, sent, marked, now)
    if config.transport == r.GO_BACK_N:
        if kind == r.NACK:
            _go_back(state, flow, expected, sent, now)
    elif config.transport == r.RECEIVER_DRIVEN:
        note_answer(state, flow, kind, single)
    elif single >= record.acknowledged:
        note(state.acknowledged, flow, single)
        record.highest = max(record.highest, single)
        if kind == r.NACK and record.recovery == r.NONE:
            record.recovery = record.next - 1
            record.repair = record.acknowledged
    if config.ends_acknowledged and before < record.packets and record.acknowledged == record.packets:
        end_task(state, record.task, now)
    if activate(state, flow, now):
        kick(state, record.link, now)
    end_flow(state, flow)


@compiled
def expire(state: EngineState, task: int, now: int) -> None:
    """Send again what was not acknowledged in time."""
    flow = state.tasks[task].flow
    if flow == r.NONE or state.flows[flow].acknowledged == state.flows[flow].packets:
        return
    record = state.flows[flow]
    if now < record.timeout_at:
        add_timer(state, record.timeout_at, r.TIMEOUT, task)
        return
    config = state.config[0]
    if record.next == record.acknowledged and (config.transport != r.RECEIVER_DRIVEN or state.credits[flow].credit):
        # It waits for its rate or its link, not for an acknowledgement.
        add_timer(state, now + timeout_of(state, flow), r.TIMEOUT, task)
        return
    state.run[0].timeouts += 1
    if config.timeout_ps == r.NONE:
        state.senders[flow].doublings += 1
    timed_out(state, flow, now)
    congestion.timed_out(state, flow, now)
    if config.transport == r.GO_BACK_N:
        record.next = record.acknowledged
        record.back_at = now
    elif config.transport == r.RECEIVER_DRIVEN:
        take_all_for_lost(state, flow)
    else:
        record.recovery = record.next - 1
        record.repair = record.acknowledged
        record.highest = record.next
    record.timeout_at = now + timeout_of(state, flow)
    add_timer(state, record.timeout_at, r.TIMEOUT, task)
    if record.phase == r.IDLE and activate(state, flow, now):
        kick(state, record.link, now)
