"""The start of flows: their records, their first packets."""

from ailb_gen.sim.engine import dcqcn
from ailb_gen.sim.engine.balancers.dispatch import begin_flow, choose
from ailb_gen.sim.engine.jit import compiled, inlined, spliced
from ailb_gen.sim.engine.links import join, kick
from ailb_gen.sim.engine.nic import activate, begin_message, nic_link, payload_of
from ailb_gen.sim.engine.random import mix
from ailb_gen.sim.engine.records import DATA, FIRST_DATA, HOPS, IDLE, NEVER, NONE, RAW, EngineState
from ailb_gen.sim.engine.wire import new_packet
from ailb_gen.sim.fabric import UNREACHABLE


@inlined
def packets_of(state: EngineState, task: int) -> int:
    """Return how many packets a flow has."""
    payload = state.config[0].payload_bytes
    return (state.tasks[task].amount + payload - 1) // payload


@compiled
def _new_flow(state: EngineState, task: int, now: int) -> int:
    """Return the record of a flow that starts; there must be a free one."""
    config, run, entry = state.config[0], state.run[0], state.tasks[task]
    number = run.free_flow
    flow = state.flows[number]
    run.free_flow = flow.ring_next
    run.free_flows -= 1
    entry.flow = number
    target, source = state.hosts[entry.target], state.hosts[entry.source]
    flow.task = task
    flow.references = 0
    flow.source, flow.target = entry.source, entry.target
    flow.destination = target.first + entry.queue_pair % target.count
    flow.back = source.first + entry.queue_pair % source.count
    ends = mix(int(entry.source) + (int(entry.target) << 24))
    # Some ps between two messages of a host are no difference to their hash.
    flow.key = mix((ends << 30) + (int(now) if state.parameters[0].hash_start else int(entry.port)))
    flow.packets = packets_of(state, task)
    flow.last_bytes = entry.amount - (flow.packets - 1) * config.payload_bytes
    flow.priority = entry.priority + FIRST_DATA
    flow.ring_next = NONE
    flow.phase = IDLE
    flow.next = flow.unsent = flow.acknowledged = flow.repair = flow.highest = 0
    flow.recovery = NONE
    flow.timer = 0
    flow.available = now
    flow.expected = flow.arrived = 0
    flow.latest = flow.refused = NONE
    flow.refused_at = 0
    flow.context = 0
    flow.path = 0
    flow.epoch_at, flow.moved_at = NEVER, now
    flow.epoch_packets = flow.epoch_marks = 0
    flow.marks = 0
    for hop in range(HOPS):
        flow.choice[hop] = NONE
        flow.chosen_at[hop] = 0
    begin_flow(state, number, now)
    # Bits of an earlier flow that was given up.
    for word in range(state.arrived.shape[1]):
        state.arrived[number, word] = 0
        state.acknowledged[number, word] = 0
    return number


@inlined
def _data_packet(state: EngineState, flow: int, sequence: int, now: int) -> int:
    record = state.flows[flow]
    number = new_packet(state, DATA, flow, payload_of(state, flow, sequence) + state.config[0].header_bytes)
    packet = state.packets[number]
    packet.sequence = sequence
    packet.sent = now
    packet.destination = record.destination
    packet.key = record.key
    packet.priority = record.priority
    return number


@spliced
def _nic(state: EngineState, flow: int, packet: int, now: int) -> int:
    """Return the link over which a host sends a packet."""
    source = state.flows[flow].source
    entry = state.sets[state.hosts[source].links]
    if entry.count == 1:
        return state.set_links[entry.first]
    return state.set_links[entry.first + choose(state, source, entry.first, entry.count, packet, now)]


@spliced
def start_flow(state: EngineState, task: int, now: int) -> None:
    """Start a flow: all of its packets at once (raw), or its queue pair."""
    if state.hosts[state.tasks[task].source].links == UNREACHABLE:
        state.run[0].packets += packets_of(state, task)
        state.run[0].unreachable += packets_of(state, task)
        return
    flow = _new_flow(state, task, now)
    record = state.flows[flow]
    if state.config[0].transport == RAW:
        state.run[0].packets += record.packets
        for sequence in range(record.packets):
            packet = _data_packet(state, flow, sequence, now)
            join(state, _nic(state, flow, packet, now), packet, now)
        return
    record.link = nic_link(state, record.source, flow)
    if state.config[0].message_ps:
        begin_message(state, flow, now)
    if state.config[0].dcqcn:
        dcqcn.begin(state, flow)
    if activate(state, flow, now):
        kick(state, record.link, now)
