"""DCTCP: the window shrinks by half the share of marked packets, once per round trip (Alizadeh et al., SIGCOMM 2010).

It grows by a packet per round trip without marks while it limits the flow. A loss halves it, a timeout leaves one
packet.
"""

from ailb_gen.sim.engine.congestion import window
from ailb_gen.sim.engine.congestion.hooks import Hooks
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.records import NACK, EngineState


@compiled
def answered(state: EngineState, flow: int, packet: int, now: int) -> None:
    """Count an answer; change the window at the end of a round trip."""
    answer, own, record = state.packets[packet], state.controlled[flow], state.flows[flow]
    own.answers += 1
    own.marks += answer.marked
    if answer.kind == NACK and window.may_cut(state, flow, now - answer.sent, now):
        own.window = max(1.0, own.window / 2.0)
    # What the rate of the link holds back is no reason for a larger window.
    limited = record.next - record.acknowledged + 1 >= own.window
    if not window.ends_round(state, flow, answer.sequence):
        return
    gain = state.congestion[0].mark_gain
    own.share += gain * (own.marks / own.answers - own.share)
    if own.marks:
        own.window = max(1.0, own.window * (1.0 - own.share / 2.0))
    elif limited:
        own.window += 1.0
    own.answers = own.marks = 0


@compiled
def timed_out(state: EngineState, flow: int, now: int) -> None:
    """Begin again with one packet."""
    state.controlled[flow].window = 1.0


HOOKS = {"dctcp": Hooks(begin=window.begin, answered=answered, timed_out=timed_out, windowed=True, keeps=True)}
