"""DCQCN: the rate of a flow from the marks that come back (Zhu et al., SIGCOMM 2015), without byte counter.

Nothing happens at fixed times: what the timers of alpha, cuts and increases would have done is done when somebody
asks for the rate. Rates are in bytes per ps. Messages of one queue pair take over what the one before knew.
"""

from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.records import NEVER, NONE, EngineState
from ailb_gen.sim.fabric import PS_PER_S


@inlined
def _per_ps(bps: int) -> float:
    """Return a rate in bytes per ps."""
    return bps / 8 / PS_PER_S


@inlined
def _keep(state: EngineState, flow: int, number: int) -> None:
    """Let a queue pair know what a message of it knows."""
    pair, message = state.limiters[number], state.flows[flow]
    pair.rate, pair.rate_target, pair.alpha = message.rate, message.rate_target, message.alpha
    pair.alpha_at, pair.cut_at, pair.increase_at = message.alpha_at, message.cut_at, message.increase_at
    pair.stage, pair.marked, pair.cut_marked = message.stage, message.marked, message.cut_marked


@inlined
def _go_on(state: EngineState, flow: int, number: int) -> None:
    """Let a message know what its queue pair knows."""
    pair, message = state.limiters[number], state.flows[flow]
    message.rate, message.rate_target, message.alpha = pair.rate, pair.rate_target, pair.alpha
    message.alpha_at, message.cut_at, message.increase_at = pair.alpha_at, pair.cut_at, pair.increase_at
    message.stage, message.marked, message.cut_marked = pair.stage, pair.marked, pair.cut_marked


@compiled
def begin(state: EngineState, flow: int) -> None:
    """Start a flow at the rate that its queue pair has; a new one at that of its link."""
    record = state.flows[flow]
    number = state.tasks[record.task].limiter
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
    record.alpha_at = NEVER
    record.cut_at = NEVER
    record.increase_at = NEVER
    record.stage = 0
    record.marked = 0
    record.cut_marked = 0


@compiled
def end(state: EngineState, flow: int) -> None:
    """Keep what is known of the queue pair of a flow that ends, unless a later message has taken it over."""
    number = state.tasks[state.flows[flow].task].limiter
    if number != NONE and state.limiters[number].flow == flow:
        _keep(state, flow, number)
        state.limiters[number].flow = NONE


@compiled
def _update_alpha(state: EngineState, flow: int, until: int) -> None:
    """Do the updates of alpha that were due."""
    config = state.config[0]
    record = state.flows[flow]
    while record.alpha_at <= until:
        # What has no marks for a thousand updates has no alpha either.
        if not record.marked and until - record.alpha_at > 4096 * config.alpha_interval_ps:
            skipped = (until - record.alpha_at) // config.alpha_interval_ps
            record.alpha = 0.0
            record.alpha_at += skipped * config.alpha_interval_ps
        record.alpha = (1.0 - config.gain) * record.alpha + (config.gain if record.marked else 0.0)
        record.marked = 0
        record.alpha_at += config.alpha_interval_ps


@compiled
def _cut(state: EngineState, flow: int) -> None:
    config = state.config[0]
    record = state.flows[flow]
    _update_alpha(state, flow, record.cut_at)
    if record.cut_marked:
        if record.stage:
            record.rate_target = record.rate
        record.rate = max(_per_ps(config.minimum_bps), record.rate * (1.0 - record.alpha / 2.0))
        record.stage = 0
        record.cut_marked = 0
        record.increase_at = record.cut_at + config.increase_interval_ps
        record.cut_at += config.cut_interval_ps
    else:
        # The next mark looks at the grid of cuts again.
        record.cut_at = -record.cut_at


@compiled
def _increase(state: EngineState, flow: int) -> None:
    config = state.config[0]
    record = state.flows[flow]
    line = 1.0 / state.links[record.link].byte_ps
    if record.stage >= config.fast_recovery_stages:
        step = (
            _per_ps(config.additive_bps) if record.stage == config.fast_recovery_stages else _per_ps(config.hyper_bps)
        )
        record.rate_target = min(line, record.rate_target + step)
    record.rate = (record.rate + record.rate_target) / 2.0
    record.stage = min(record.stage, config.fast_recovery_stages) + 1
    record.increase_at += config.increase_interval_ps


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
    config = state.config[0]
    record = state.flows[flow]
    if record.alpha_at == NEVER:
        record.alpha_at = now + config.alpha_interval_ps
        record.cut_at = now + config.cut_interval_ps
        record.cut_marked = 1
        record.increase_at = now + config.increase_interval_ps
        return
    catch_up(state, flow, now)
    _update_alpha(state, flow, now)
    record.marked = 1
    record.cut_marked = 1
    if record.cut_at < 0:
        passed = -record.cut_at
        record.cut_at = (
            passed + (now - passed + config.cut_interval_ps - 1) // config.cut_interval_ps * config.cut_interval_ps
        )
