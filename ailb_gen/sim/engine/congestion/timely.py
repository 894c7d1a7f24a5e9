"""TIMELY: the rate of a flow from the gradient of its round trips (Mittal et al., SIGCOMM 2015).

The rate changes once per round trip, as where HPCC's paper compares with it. TIMELY's own paper measures after segments
of 16 to 64 KB, at 10 Gbit/s about what is sent in a round trip.
"""

from ailb_gen.sim.engine.congestion import window
from ailb_gen.sim.engine.congestion.hooks import Hooks
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.records import ACK, EngineState

# Steps that are taken at once after some falling round trips.
HYPER = 5.0


@compiled
def _rate(state: EngineState, flow: int, round_trip: int) -> float:
    """Return the rate that follows from a round trip (algorithm 1 of the paper)."""
    own, parameters = state.controlled[flow], state.congestion[0]
    rate = float(state.flows[flow].rate)
    step = parameters.additive_percent / 100.0 * window.line_rate(state, flow)
    own.gradient += parameters.gradient_weight * (round_trip - own.last_round_trip - own.gradient)
    own.last_round_trip = round_trip
    if round_trip < parameters.low_ps:
        own.stage = 0
        return rate + step
    if round_trip > parameters.high_ps:
        own.stage = 0
        return rate * (1.0 - parameters.timely_beta * (1.0 - parameters.high_ps / round_trip))
    if own.gradient <= 0.0:
        own.stage += 1
        return rate + (HYPER * step if own.stage >= parameters.hyper_after else step)
    own.stage = 0
    return rate * (1.0 - parameters.timely_beta * min(1.0, own.gradient / parameters.least_ps))


@compiled
def answered(state: EngineState, flow: int, packet: int, now: int) -> None:
    """Change the rate at the end of a round trip."""
    answer, own, record = state.packets[packet], state.controlled[flow], state.flows[flow]
    if answer.kind != ACK or not window.ends_round(state, flow, answer.sequence):
        return
    round_trip = now - answer.sent
    if own.last_round_trip == 0:
        own.last_round_trip = round_trip
    line = window.line_rate(state, flow)
    least = state.congestion[0].minimum_percent / 100.0 * line
    record.rate = min(line, max(least, _rate(state, flow, round_trip)))


HOOKS = {"timely": Hooks(begin=window.begin, answered=answered, paced=True, keeps=True)}
