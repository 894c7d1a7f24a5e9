"""What congestion control by round trips and windows has in common."""

from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.records import NEVER, EngineState
from ailb_gen.sim.engine.routes import base_round_trip

# Longer ago than any round trip.
LONG_AGO = -(2**61)


@inlined
def wire_bytes(state: EngineState) -> int:
    """Return the bytes of a full packet."""
    return int(state.config[0].payload_bytes + state.config[0].header_bytes)


@inlined
def line_rate(state: EngineState, flow: int) -> float:
    """Return the rate of a flow's link, in bytes per ps."""
    return 1.0 / state.links[state.flows[flow].link].byte_ps


@inlined
def packets_in(state: EngineState, flow: int, time: float) -> float:
    """Return how many full packets a flow's link sends in a time, at least one."""
    return max(1.0, time * line_rate(state, flow) / wire_bytes(state))


@compiled
def begin(state: EngineState, flow: int, now: int) -> None:
    """Start a flow with a bandwidth-delay product of the idle path as its window."""
    own = state.controlled[flow]
    own.base_round_trip = base_round_trip(state, flow, wire_bytes(state), 1)
    own.window = 1.0
    if own.base_round_trip != NEVER:
        own.window = packets_in(state, flow, float(own.base_round_trip))
    own.reference = own.window
    own.gradient = 0.0
    own.share = 1.0
    own.last_round_trip = 0
    own.cut_at = LONG_AGO
    own.round_end = own.stage = own.answers = own.marks = 0


@inlined
def ends_round(state: EngineState, flow: int, expected: int) -> bool:
    """Return whether an answer ends a round trip: all that was sent when it began is acknowledged; begin another."""
    own = state.controlled[flow]
    if expected <= own.round_end:
        return False
    own.round_end = state.flows[flow].next
    return True


@inlined
def may_cut(state: EngineState, flow: int, round_trip: int, now: int) -> bool:
    """Return whether a round trip has passed since the last cut; note the cut."""
    own = state.controlled[flow]
    if now - own.cut_at < round_trip:
        return False
    own.cut_at = now
    return True
