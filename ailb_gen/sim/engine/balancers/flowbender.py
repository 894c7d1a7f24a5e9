"""FlowBender: a flow is hashed anew when many packets of a round trip are marked (Kabbani et al., CoNEXT 2014).

A round trip begins with an answer and ends with the answer to a packet that was sent after that. Only answers to
packets count that took the present path. A flow whose timer expires is hashed anew, too. With a late factor round trips
count in place of marks.

Software cannot see acknowledgements of packets: with chunks it sends a chunk, and its round trip is the time until the
chunk is acknowledged (the testbed of Nosrati and Ghaderi 2025).
"""

from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.forwarding import fib_entry
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.random import random_below
from ailb_gen.sim.engine.records import MOST_HOPS, NEVER, EngineState
from ailb_gen.sim.fabric import LOCAL, UNREACHABLE

# What a host can write into its packets to have them hashed differently: UDP source ports.
PORTS = 1 << 14


@compiled
def base_round_trip(state: EngineState, flow: int, size: int, count: int) -> int:
    """Return the least time of `count` packets of `size` bytes and the last one's acknowledgement, in ps.

    That is over the fastest links of an idle fabric; NEVER: the target is unreachable.
    """
    config, record = state.config[0], state.flows[flow]
    destination = state.destinations[record.destination]
    number = state.hosts[record.source].links
    total = slowest = 0
    for _ in range(MOST_HOPS):
        if number == UNREACHABLE:
            return NEVER
        entry = state.sets[number]
        least, best = NEVER, 0
        for position in range(entry.count):
            link = state.set_links[entry.first + position]
            there, back = state.links[link], state.links[state.wires[link].reverse]
            time = there.delay + size * there.byte_ps
            time += back.delay + config.control_bytes * back.byte_ps
            if time < least:
                least, best = time, link
        total += least
        slowest = max(slowest, state.links[best].byte_ps)
        node = state.wires[best].target
        if node < config.hosts:
            return int(total + (count - 1) * size * slowest)
        number = fib_entry(state, node, destination.prefix)
        if number == LOCAL:
            number = destination.delivery
    return NEVER


@compiled
def begin_round_trips(state: EngineState, flow: int, now: int) -> None:
    """Note the base round trip of a flow that starts, and its first chunk."""
    config, own = state.config[0], state.steered[flow]
    own.base_round_trip = base_round_trip(state, flow, config.payload_bytes + config.header_bytes, max(config.chunk, 1))
    own.chunk_end = config.chunk
    own.chunk_at = now


@compiled
def round_trip_began(state: EngineState, flow: int, sent: int, now: int) -> int:
    """Return when the round trip of an answer began: `sent`, or with chunks, which then begin anew, that of the chunk.

    NEVER: no chunk ends with it.
    """
    chunk = state.config[0].chunk
    if not chunk:
        return sent
    acknowledged, own = state.flows[flow].acknowledged, state.steered[flow]
    if acknowledged < own.chunk_end:
        return NEVER
    sent = own.chunk_at
    own.chunk_at = now
    own.chunk_end = (acknowledged // chunk + 1) * chunk
    return int(sent)


@compiled
def begin_flow(state: EngineState, flow: int, now: int) -> None:
    """Note the base round trip of a flow that starts, and its first chunk, where they count."""
    if state.parameters[0].late_factor or state.config[0].chunk:
        begin_round_trips(state, flow, now)


@compiled
def move(state: EngineState, flow: int, path: int, now: int) -> None:
    """Let a flow take another path."""
    record = state.flows[flow]
    record.path = path
    record.moved_at = now
    if state.config[0].chunk:
        state.steered[flow].chunk_at = now
    state.tasks[record.task].rerouted += 1


@compiled
def other_path(state: EngineState, flow: int) -> int:
    """Return a random path that is not that of the flow; equal ones may share all links."""
    path = random_below(state, state.flows[flow].source, PORTS - 1)
    return path + 1 if path >= state.flows[flow].path else path


@compiled
def answered(state: EngineState, flow: int, sent: int, marked: int, now: int) -> None:
    """Take the answer to a packet that was sent at a time; move the flow at the end of a round trip with many marks."""
    record = state.flows[flow]
    sent = round_trip_began(state, flow, sent, now)
    if sent == NEVER or sent < record.moved_at:
        return
    if record.epoch_at == NEVER:
        record.epoch_at = sent if state.config[0].chunk else now
    record.epoch_packets += 1
    if state.parameters[0].late_factor:
        record.epoch_marks += now - sent > state.parameters[0].late_factor * state.steered[flow].base_round_trip
    else:
        record.epoch_marks += marked
    if sent < record.epoch_at:
        return
    many = record.epoch_marks * 100 > record.epoch_packets * state.parameters[0].marked_percent
    record.epoch_at = now
    record.epoch_packets = record.epoch_marks = 0
    if many:
        move(state, flow, other_path(state, flow), now)
        record.epoch_at = NEVER


@compiled
def timed_out(state: EngineState, flow: int, now: int) -> None:
    """Move a flow whose timer has expired."""
    move(state, flow, other_path(state, flow), now)


HOOKS = {
    "flowbender": Hooks(
        begin_flow=begin_flow,
        answered=answered,
        timed_out=timed_out,
        keeps=lambda parameters: bool(parameters["late_factor"] or parameters["chunk_packets"]),
    )
}
