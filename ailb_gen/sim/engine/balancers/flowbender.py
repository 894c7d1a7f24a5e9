"""FlowBender: a flow is hashed anew when many packets of a round trip are marked (Kabbani et al., CoNEXT 2014).

A round trip begins with an answer and ends with the answer to a packet that was sent after that. Only answers to
packets count that took the present path. A flow whose timer expires is hashed anew, too.

With a late factor round trips count in place of marks, and with chunks those of chunks.
"""

from ailb_gen.sim.engine.balancers.round_trip import begin as begin_round_trips
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.random import random_below
from ailb_gen.sim.engine.records import NEVER, State

# What a host can write into its packets to have them hashed differently: UDP source ports.
PORTS = 1 << 14


@compiled
def begin(state: State, flow: int, now: int) -> None:
    """Note the base round trip of a flow that starts, and its first chunk, where they count."""
    if state.parameters[1] or state.config[0].chunk:
        begin_round_trips(state, flow, now)


@compiled
def move(state: State, flow: int, path: int, now: int) -> None:
    """Let a flow take another path."""
    record = state.flows[flow]
    record.path = path
    record.moved_at = now
    if state.config[0].chunk:
        state.steered[flow].chunk_at = now
    state.tasks[record.task].rerouted += 1


@compiled
def other_path(state: State, flow: int) -> int:
    """Return a random path that is not that of the flow; equal ones may share all links."""
    path = random_below(state, PORTS - 1)
    return path + 1 if path >= state.flows[flow].path else path


@compiled
def answered(state: State, flow: int, sent: int, marked: int, now: int) -> None:
    """Take the answer to a packet that was sent at a time; move the flow at the end of a round trip with many marks."""
    record = state.flows[flow]
    if sent < record.moved_at:
        return
    if record.epoch_at == NEVER:
        record.epoch_at = sent if state.config[0].chunk else now
    record.epoch_packets += 1
    if state.parameters[1]:
        record.epoch_marks += now - sent > state.parameters[1] * state.steered[flow].base_round_trip
    else:
        record.epoch_marks += marked
    if sent < record.epoch_at:
        return
    many = record.epoch_marks * 100 > record.epoch_packets * state.parameters[0]
    record.epoch_at = now
    record.epoch_packets = record.epoch_marks = 0
    if many:
        move(state, flow, other_path(state, flow), now)
        record.epoch_at = NEVER
