"""DCQCN: the rate of a flow from the marks that come back (Zhu et al., SIGCOMM 2015), without byte counter.

Nothing happens at fixed times: what the timers of alpha, cuts and increases would have done is done when somebody
asks for the rate. Rates are in bytes per ps.
"""

from ailb_gen.sim.engine.congestion.hooks import CongestionHooks
from ailb_gen.sim.engine.congestion.window import line_rate
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.records import GO_BACK_N, NACK, NEVER, EngineState


@compiled
def _update_alpha(state: EngineState, flow: int, until: int) -> None:
    """Do the updates of alpha that were due."""
    parameters = state.congestion[0]
    record = state.flows[flow]
    while record.alpha_at <= until:
        # What has no marks for a thousand updates has no alpha either.
        if not record.marked and until - record.alpha_at > 4096 * int(parameters.alpha_interval_ps):
            skipped = (until - record.alpha_at) // int(parameters.alpha_interval_ps)
            record.alpha = 0.0
            record.alpha_at += skipped * int(parameters.alpha_interval_ps)
        record.alpha = (1.0 - parameters.gain) * record.alpha + (parameters.gain if record.marked else 0.0)
        record.marked = 0
        record.alpha_at += int(parameters.alpha_interval_ps)


@compiled
def _cut(state: EngineState, flow: int) -> None:
    parameters = state.congestion[0]
    record = state.flows[flow]
    _update_alpha(state, flow, record.cut_at)
    if record.cut_marked:
        if record.stage:
            record.rate_target = record.rate
        record.rate = max(parameters.minimum_speed, record.rate * (1.0 - record.alpha / 2.0))
        record.stage = 0
        record.cut_marked = 0
        record.increase_at = record.cut_at + int(parameters.increase_interval_ps)
        record.cut_at += int(parameters.cut_interval_ps)
    else:
        # The next mark looks at the grid of cuts again.
        record.cut_at = -record.cut_at


@compiled
def _increase(state: EngineState, flow: int) -> None:
    parameters = state.congestion[0]
    record = state.flows[flow]
    if record.stage >= int(parameters.fast_recovery_stages):
        step = (
            parameters.additive_speed
            if record.stage == int(parameters.fast_recovery_stages)
            else parameters.hyper_speed
        )
        record.rate_target = min(line_rate(state, flow), record.rate_target + step)
    record.rate = (record.rate + record.rate_target) / 2.0
    record.stage = min(record.stage, int(parameters.fast_recovery_stages)) + 1
    record.increase_at += int(parameters.increase_interval_ps)


@compiled
def catch_up(state: EngineState, flow: int, now: int) -> None:
    """Bring the rate of a flow up to date."""
    record = state.flows[flow]
    if record.increase_at == NEVER and record.cut_at == NEVER:
        return
    while True:
        cut = record.cut_at if record.cut_at > 0 else NEVER
        if min(cut, record.increase_at) > now:
            return
        if cut <= record.increase_at:
            _cut(state, flow)
        else:
            _increase(state, flow)


@compiled
def mark(state: EngineState, flow: int, now: int) -> None:
    """Note a mark that came back."""
    parameters = state.congestion[0]
    record = state.flows[flow]
    if record.alpha_at == NEVER:
        record.alpha_at = now + int(parameters.alpha_interval_ps)
        record.cut_at = now + int(parameters.cut_interval_ps)
        record.cut_marked = 1
        record.increase_at = now + int(parameters.increase_interval_ps)
        return
    catch_up(state, flow, now)
    _update_alpha(state, flow, now)
    record.marked = 1
    record.cut_marked = 1
    if record.cut_at < 0:
        passed = -record.cut_at
        record.cut_at = passed + (now - passed + int(parameters.cut_interval_ps) - 1) // int(
            parameters.cut_interval_ps
        ) * int(parameters.cut_interval_ps)


@inlined
def answered(state: EngineState, flow: int, packet: int, now: int) -> None:
    """Take a mark that came back, or a NACK of go-back-N, which counts as one."""
    answer = state.packets[packet]
    if answer.marked or (answer.kind == NACK and state.config[0].transport == GO_BACK_N):
        mark(state, flow, now)


HOOKS = {"dcqcn": CongestionHooks(settle=catch_up, answered=answered, paced=True)}
