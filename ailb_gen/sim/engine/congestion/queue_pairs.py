"""What congestion control knows of a queue pair goes on from message to message."""

from ailb_gen.sim.engine.congestion import dispatch
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.records import NEVER, NONE, EngineState


@inlined
def _keep(state: EngineState, flow: int, number: int) -> None:
    """Let a queue pair know what a message of it knows."""
    pair, message = state.limiters[number], state.flows[flow]
    pair.rate, pair.rate_target, pair.alpha = message.rate, message.rate_target, message.alpha
    pair.alpha_at, pair.cut_at, pair.increase_at = message.alpha_at, message.cut_at, message.increase_at
    pair.stage, pair.marked, pair.cut_marked = message.stage, message.marked, message.cut_marked
    if state.config[0].controlled:
        state.kept[number] = state.controlled[flow]


@inlined
def _go_on(state: EngineState, flow: int, number: int) -> None:
    """Let a message know what its queue pair knows."""
    pair, message = state.limiters[number], state.flows[flow]
    message.rate, message.rate_target, message.alpha = pair.rate, pair.rate_target, pair.alpha
    message.alpha_at, message.cut_at, message.increase_at = pair.alpha_at, pair.cut_at, pair.increase_at
    message.stage, message.marked, message.cut_marked = pair.stage, pair.marked, pair.cut_marked
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
    record.rate = 1.0 / state.links[record.link].byte_ps
    record.rate_target = record.rate
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
