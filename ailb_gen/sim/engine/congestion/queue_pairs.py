"""What congestion control knows of a queue pair goes on from message to message."""

from typing import Any

from ailb_gen.sim.engine.congestion import dispatch
from ailb_gen.sim.engine.congestion.window import line_rate
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.records import NEVER, NONE, EngineState


@inlined
def _copy_rate(source: Any, target: Any) -> None:  # noqa: ANN401 - records
    """Let a flow or a queue pair have the rate of the other one, and what it follows from."""
    target.rate, target.rate_target, target.alpha = source.rate, source.rate_target, source.alpha
    target.alpha_at, target.cut_at, target.increase_at = source.alpha_at, source.cut_at, source.increase_at
    target.stage, target.marked, target.cut_marked = source.stage, source.marked, source.cut_marked


@inlined
def _keep(state: EngineState, flow: int, number: int) -> None:
    """Let a queue pair know what a message of it knows."""
    _copy_rate(state.flows[flow], state.limiters[number])
    if state.config[0].controlled:
        state.kept[number] = state.controlled[flow]


@inlined
def _go_on(state: EngineState, flow: int, number: int) -> None:
    """Let a message know what its queue pair knows."""
    _copy_rate(state.limiters[number], state.flows[flow])
    if state.config[0].controlled:
        state.controlled[flow] = state.kept[number]
        # Packets count anew.
        own = state.controlled[flow]
        own.round_end = own.answers = own.marks = 0


@inlined
def _forget_telemetry(state: EngineState, flow: int) -> None:
    hops = state.config[0].telemetry_hops
    for hop in range(flow * hops, (flow + 1) * hops):
        state.last_stamps[hop].link = NONE


@compiled
def begin(state: EngineState, flow: int, now: int) -> None:
    """Start a flow at the rate that its queue pair has; a new one at that of its link."""
    record = state.flows[flow]
    number = state.tasks[record.task].limiter
    _forget_telemetry(state, flow)
    if number != NONE:
        limiter = state.limiters[number]
        if limiter.flow != NONE:
            _keep(state, limiter.flow, number)
        limiter.flow = flow
        if limiter.rate > 0:
            _go_on(state, flow, number)
            return
    record.rate = record.rate_target = line_rate(state, flow)
    record.alpha = 1.0
    record.alpha_at = record.cut_at = record.increase_at = NEVER
    record.stage = 0
    record.marked = record.cut_marked = 0
    dispatch.begin(state, flow, now)


@compiled
def end(state: EngineState, flow: int) -> None:
    """Keep what is known of the queue pair of a flow that ends, unless a later message has taken it over."""
    number = state.tasks[state.flows[flow].task].limiter
    if number != NONE and state.limiters[number].flow == flow:
        _keep(state, flow, number)
        state.limiters[number].flow = NONE
