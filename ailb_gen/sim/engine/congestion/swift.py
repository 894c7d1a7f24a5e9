"""Swift: a window that follows a target for the round trip (Kumar et al., SIGCOMM 2020).

The target is higher for flows with small windows, as many flows make longer queues. A window of less than a packet is
one packet at a time, at a pace. Delays of hosts are not modeled: only the window of the fabric is.
"""

import math

from ailb_gen.sim.engine.congestion import window
from ailb_gen.sim.engine.congestion.hooks import CongestionHooks
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.records import NACK, NEVER, EngineState


@compiled
def _target(state: EngineState, flow: int) -> float:
    """Return the target of a flow's round trip, in ps."""
    own, parameters = state.controlled[flow], state.congestion[0]
    base = parameters.target_factor * own.base_round_trip
    most = parameters.range_factor * base
    flat = 1.0 / math.sqrt(parameters.scale_to_packets)
    slope = most / (1.0 / math.sqrt(parameters.scale_from_packets) - flat)
    return float(base + min(most, max(0.0, slope * (1.0 / math.sqrt(own.window) - flat))))


@compiled
def _set_window(state: EngineState, flow: int, packets: float, round_trip: float) -> None:
    """Set the window within its bounds; no more is of use than what a link sends in the longest round trip."""
    own, parameters, record = state.controlled[flow], state.congestion[0], state.flows[flow]
    line, size = window.line_rate(state, flow), window.wire_bytes(state)
    longest = own.base_round_trip * parameters.target_factor * (1.0 + parameters.range_factor)
    own.window = min(max(parameters.least_packets, packets), window.packets_in(state, flow, longest))
    record.rate = line if own.window >= 1.0 else min(line, own.window * size / round_trip)


@compiled
def answered(state: EngineState, flow: int, packet: int, now: int) -> None:
    """Change the window by the round trip of an answer (algorithm 1 of the paper)."""
    answer, own, parameters = state.packets[packet], state.controlled[flow], state.congestion[0]
    if own.base_round_trip == NEVER:
        return
    round_trip = now - answer.sent
    packets, target = float(own.window), _target(state, flow)
    own.stage = 0
    if answer.kind == NACK:
        if window.may_cut(state, flow, round_trip, now):
            packets *= 1.0 - parameters.most_decrease
    elif round_trip < target:
        packets += parameters.swift_increase / max(1.0, packets)
    elif window.may_cut(state, flow, round_trip, now):
        excess = parameters.swift_beta * (round_trip - target) / round_trip
        packets *= max(1.0 - excess, 1.0 - parameters.most_decrease)
    _set_window(state, flow, packets, float(round_trip))


@compiled
def timed_out(state: EngineState, flow: int, now: int) -> None:
    """Cut the window; after several timeouts in a row it is the least."""
    own, parameters = state.controlled[flow], state.congestion[0]
    if own.base_round_trip == NEVER:
        return
    own.stage += 1
    if own.stage >= parameters.reset_timeouts:
        _set_window(state, flow, parameters.least_packets, float(own.base_round_trip))
    elif window.may_cut(state, flow, own.base_round_trip, now):
        _set_window(state, flow, own.window * (1.0 - parameters.most_decrease), float(own.base_round_trip))


HOOKS = {
    "swift": CongestionHooks(
        begin=window.begin, answered=answered, timed_out=timed_out, paced=True, windowed=True, keeps=True
    )
}
