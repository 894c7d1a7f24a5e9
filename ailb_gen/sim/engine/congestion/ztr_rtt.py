"""ZTR-RTT: a long round trip cuts the rate, a short one raises it.

NVIDIA's algorithm is not public. This is the rule of its public example of programmable congestion control (DOCA PCC,
RTT template): one measurement at a time, additive increase, multiplicative decrease. Data packets are the probes here.
"""

from ailb_gen.sim.engine.congestion import window
from ailb_gen.sim.engine.congestion.hooks import Hooks
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.records import NACK, EngineState

# How much more is cut when the round trip is late, and when a packet was refused as well.
LATE, REFUSED = 2.0, 5.0


@compiled
def answered(state: EngineState, flow: int, packet: int, now: int) -> None:
    """Change the rate at the end of a round trip."""
    answer, own, record = state.packets[packet], state.controlled[flow], state.flows[flow]
    if answer.kind == NACK:
        own.marks = 1
        return
    if not window.ends_round(state, flow, answer.sequence):
        return
    parameters, line = state.congestion[0], window.line_rate(state, flow)
    round_trip = now - answer.sent
    cut = 0.0
    if round_trip >= parameters.late_ps:
        cut = REFUSED if own.marks else LATE
        own.marks = 0
    elif round_trip > own.base_round_trip + parameters.queue_ps:
        cut = 1.0
    if cut:
        rate = record.rate * max(0.0, 1.0 - cut * parameters.decrease_percent / 100.0)
    else:
        rate = record.rate + parameters.increase_percent / 100.0 * line
    record.rate = min(line, max(parameters.floor_percent / 100.0 * line, rate))


HOOKS = {"ztr-rtt": Hooks(begin=window.begin, answered=answered, paced=True, keeps=True)}
