"""FlowBender: a flow is hashed anew when many packets of a round trip are marked (Kabbani et al., CoNEXT 2014).

A round trip begins with an answer and ends with the answer to a packet that was sent after that. Only answers to
packets count that took the present path. A flow whose timer expires is hashed anew, too. With a late factor round trips
count in place of marks.

Software cannot see acknowledgements of packets: with chunks it sends a chunk, and its round trip is the time until the
chunk is acknowledged (the testbed of Nosrati and Ghaderi 2025).
"""

from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.random import random_below
from ailb_gen.sim.engine.records import NEVER, EngineState
from ailb_gen.sim.engine.routes import base_round_trip

# What a host can write into its packets to have them hashed differently: UDP source ports.
PORTS = 1 << 14
# A round trip goes on, or ended with few or many marks.
GOES_ON, CLEAR, CONGESTED = range(3)


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
    state.choices[flow].moved_at = now
    if state.config[0].chunk:
        state.steered[flow].chunk_at = now
    state.rerouted[record.task] += 1


@compiled
def other_path(state: EngineState, flow: int) -> int:
    """Return a random path that is not that of the flow; equal ones may share all links."""
    path = random_below(state, state.flows[flow].source, PORTS - 1)
    return path + 1 if path >= state.flows[flow].path else path


@compiled
def rehash(state: EngineState, flow: int, now: int) -> None:
    """Let a flow take a random other path; the next answer to a packet on that begins a round trip."""
    move(state, flow, other_path(state, flow), now)
    noted = state.choices[flow]
    noted.epoch_at = NEVER
    noted.epoch_packets = noted.epoch_marks = 0


@compiled
def round_trip_ended(state: EngineState, flow: int, sent: int, marked: int, now: int) -> int:
    """Count the answer to a packet that was sent at a time; return GOES_ON, or how the round trip that it ends was."""
    noted = state.choices[flow]
    sent = round_trip_began(state, flow, sent, now)
    if sent == NEVER or sent < noted.moved_at:
        return GOES_ON
    if noted.epoch_at == NEVER:
        noted.epoch_at = sent if state.config[0].chunk else now
    noted.epoch_packets += 1
    if state.parameters[0].late_factor:
        noted.epoch_marks += now - sent > state.parameters[0].late_factor * state.steered[flow].base_round_trip
    else:
        noted.epoch_marks += marked
    if sent < noted.epoch_at:
        return GOES_ON
    many = noted.epoch_marks * 100 > noted.epoch_packets * state.parameters[0].marked_percent
    noted.epoch_at = now
    noted.epoch_packets = noted.epoch_marks = 0
    return CONGESTED if many else CLEAR


@compiled
def answered(state: EngineState, flow: int, sent: int, marked: int, now: int) -> None:
    """Take the answer to a packet that was sent at a time; move the flow at the end of a round trip with many marks."""
    if round_trip_ended(state, flow, sent, marked, now) == CONGESTED:
        rehash(state, flow, now)


@compiled
def timed_out(state: EngineState, flow: int, now: int) -> None:
    """Move a flow whose timer has expired."""
    rehash(state, flow, now)


HOOKS = {
    "flowbender": Hooks(
        begin_flow=begin_flow,
        answered=answered,
        timed_out=timed_out,
        notes=True,
        keeps=lambda parameters: bool(parameters["late_factor"] or parameters["chunk_packets"]),
    )
}
