"""DCQCN on flows: what a flow may send, from queues that grow by what comes above what their links carry.

A flow looks at the queues of its path at every tick, one interval of cuts after the other, as long as one of them is
long enough to be marked. What marks make of its rate is as in `engine/congestion/dcqcn.py`, with marks drawn from their
probability (Zhu et al., SIGCOMM 2015, section 5: a fluid model with queue, marks, alpha, target and rate). Between
ticks nothing is computed but the increases of its timer.
"""

from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.random import mix, power
from ailb_gen.sim.fabric import PS_PER_S
from ailb_gen.sim.fluid.flows import FAR, SAME, hasten, reach, set_rate, settle_queue, touch
from ailb_gen.sim.fluid.state import FOREVER, NONE, FluidState


@compiled
def _increase(state: FluidState, slot: int) -> None:
    """Do an increase; at the rate of the line there are no more."""
    run, limit = state.run[0], state.limits[slot]
    if limit.stage >= run.fast_recovery:
        step = run.additive if limit.stage == run.fast_recovery else run.hyper
        limit.target = min(limit.line, limit.target + step)
    limit.rate = (limit.rate + limit.target) / 2.0
    limit.stage = min(limit.stage, run.fast_recovery) + 1
    limit.increase_at += run.increase_interval
    if limit.rate >= limit.line * (1.0 - 1e-6):
        limit.rate, limit.increase_at = limit.line, FOREVER


@compiled
def begin(state: FluidState, slot: int) -> None:
    """Start a flow at the rate that its queue pair has; a new one at that of its link."""
    state.echo[slot, :] = 0.0
    pair, limit, now = state.tasks[state.flows[slot].task].pair, state.limits[slot], state.run[0].now
    if pair != NONE:
        # What the message before knows, if it is still being sent.
        if state.pairs[pair].running:
            state.pairs[pair] = state.limits[state.pairs[pair].running - 1]
        state.pairs[pair].running = slot + 1
    if pair != NONE and state.pairs[pair].line > 0:
        state.limits[slot] = state.pairs[pair]
        limit.running = 0
        while limit.increase_at <= now:
            _increase(state, slot)
        limit.tick_at = limit.ticked_at + state.run[0].cut_interval if limit.first else FOREVER
        limit.tick_at = max(limit.tick_at, now)
        return
    entry = state.entries[slot << state.run[0].width]
    limit.line = limit.rate = limit.target = state.links[entry.link].rate / entry.share
    limit.alpha, limit.alpha_at, limit.tick_at, limit.increase_at = 1.0, FOREVER, FOREVER, FOREVER
    limit.ticks = limit.stage = limit.first = 0
    limit.ticked_at = -state.run[0].cut_interval


@inlined
def keep(state: FluidState, slot: int) -> None:
    """Let a queue pair know what a message of it knew, unless a later one goes on with that already."""
    pair = state.tasks[state.flows[slot].task].pair
    if pair != NONE and state.pairs[pair].running == slot + 1:
        state.pairs[pair] = state.limits[slot]


@compiled
def queueing_ps(state: FluidState, slot: int) -> int:
    """Return how long what a flow sends now waits in queues."""
    first, seconds = slot << state.run[0].width, 0.0
    for number in range(first, first + state.flows[slot].count):
        entry = state.entries[number]
        settle_queue(state, entry.link)
        link = state.links[entry.link]
        if link.capacity > 0:
            seconds += entry.share * link.queue / link.capacity
    return int(seconds * PS_PER_S)


@compiled
def _marked_share(state: FluidState, slot: int, ago: int) -> float:
    """Return the probability that a packet of a flow was marked in an interval of alpha that was some ps ago."""
    run, flow, free = state.run[0], state.flows[slot], 1.0
    first = slot << run.width
    bits = 8 * (run.payload + run.header)
    for number in range(first, first + flow.count):
        entry = state.entries[number]
        link = state.links[entry.link]
        past = run.now - ago - link.queue_at
        queue = link.queue + (link.inflow - link.capacity) * past / PS_PER_S
        # It is not known since when an empty queue is empty.
        if link.ecn_min < 0 or queue <= link.ecn_min or link.queue <= 0:
            continue
        marked = 1.0
        if queue < link.ecn_max:
            marked = link.ecn_probability * (queue - link.ecn_min) / (link.ecn_max - link.ecn_min)
        packets = flow.rate * entry.share * run.alpha_interval / PS_PER_S / bits
        whole = int(packets)
        free *= power(1.0 - marked, whole) * (1.0 - (packets - whole) * marked)
    return 1.0 - free


@compiled
def _update_alpha(state: FluidState, slot: int, marked: float) -> None:
    """Do the updates of alpha until now; before the last tick none saw a mark."""
    run, limit = state.run[0], state.limits[slot]
    if limit.alpha_at == FOREVER:
        return
    count = (run.now - limit.alpha_at) // run.alpha_interval
    ticked = min(count, max(1, run.cut_interval // run.alpha_interval))
    rest = power(1.0 - run.gain, ticked)
    limit.alpha = limit.alpha * power(1.0 - run.gain, count - ticked) * rest + marked * (1.0 - rest)
    limit.alpha_at += count * run.alpha_interval


@compiled
def _react(state: FluidState, slot: int, marked: float) -> None:
    """Cut the rate of a flow if a mark came back since the last tick; the first mark only begins."""
    run, limit = state.run[0], state.limits[slot]
    drawn = mix((mix(state.flows[slot].task ^ run.seed) << 30) + limit.ticks)
    every = power(1.0 - marked, max(1, run.cut_interval // run.alpha_interval))
    cut = drawn < (1.0 - every) * 4294967296.0
    if limit.alpha_at == FOREVER:
        if cut:
            limit.alpha_at, limit.first = run.now, 1
            limit.increase_at = run.now + run.increase_interval
        return
    if not (cut or limit.first):
        return
    if limit.stage:
        limit.target = limit.rate
    limit.rate = max(run.minimum, limit.rate * (1.0 - limit.alpha / 2.0))
    limit.stage = limit.first = 0
    limit.increase_at = run.now + run.increase_interval


@compiled
def _next_tick(state: FluidState, slot: int) -> int:
    """Return when the queues of a flow are to be looked at again; FOREVER if none is marked or will be."""
    run, limit, flow = state.run[0], state.limits[slot], state.flows[slot]
    soon = run.now + run.cut_interval
    if limit.first:
        return int(soon)
    for tick in range(state.echo.shape[1]):
        if state.echo[slot, tick] > 0:
            return int(soon)
    first, tick_at = slot << run.width, FOREVER
    for number in range(first, first + flow.count):
        tick_at = min(tick_at, _marking_ps(state, state.entries[number].link))
    return int(max(soon, tick_at))


@compiled
def _marking_ps(state: FluidState, number: int) -> int:
    """Return when the queue of a link is long enough to be marked if all rates stay; FOREVER for never."""
    run, link = state.run[0], state.links[number]
    if link.ecn_min < 0:
        return FOREVER
    settle_queue(state, number)
    if link.queue > link.ecn_min:
        return int(run.now)
    excess = link.inflow - link.capacity
    if excess <= SAME * link.capacity:
        return FOREVER
    exact = (link.ecn_min - link.queue) / excess * PS_PER_S
    return FOREVER if exact > FAR else int(run.now + exact)


@compiled
def _tick(state: FluidState, slot: int) -> None:
    """Look at the queues, and take back the marks that were set before the time that they need."""
    run, limit, flow, ticks = state.run[0], state.limits[slot], state.flows[slot], state.echo.shape[1]
    reach(state, slot)
    # Marked in the middle of the path: half of the way there, and all of the way back.
    back = (flow.latency - run.message) * 3 // 2
    lag = min(back // run.cut_interval, ticks - 1)
    place = limit.ticks % ticks
    state.echo[slot, place] = _marked_share(state, slot, back - lag * run.cut_interval + run.cut_interval // 2)
    marked = state.echo[slot, (place - lag + ticks) % ticks]
    limit.ticks, limit.ticked_at = limit.ticks + 1, run.now
    _update_alpha(state, slot, marked)
    _react(state, slot, marked)
    limit.tick_at = _next_tick(state, slot)


@compiled
def look(state: FluidState, slot: int) -> None:
    """Do what is due of the rate of a flow; what it sends follows with those of its host."""
    run, limit, flow = state.run[0], state.limits[slot], state.flows[slot]
    before = limit.rate
    while min(limit.increase_at, limit.tick_at) <= run.now:
        if limit.tick_at <= run.now:
            _tick(state, slot)
        else:
            _increase(state, slot)
    if limit.rate != before and flow.count:
        touch(state, state.entries[slot << run.width].link)


@compiled
def _is_cut_off(state: FluidState, slot: int) -> bool:
    """Return whether a link of a flow is down."""
    run = state.run[0]
    first = slot << run.width
    for number in range(first, first + state.flows[slot].count if run.down else first):
        if state.links[state.entries[number].link].capacity <= 0:
            return True
    return False


@compiled
def _share_host_link(state: FluidState, number: int) -> None:
    """Give the flows of a host's link equal rates, but none more than it may have."""
    run, link = state.run[0], state.links[number]
    level, before = 0.0, -1.0
    while level > before:
        before, rest, weight = level, link.capacity, 0.0
        found = link.head
        while found != NONE:
            slot = found >> run.width
            if found == slot << run.width and not _is_cut_off(state, slot):
                limit, share = state.limits[slot].rate, state.entries[found].share
                if limit <= level:
                    rest -= share * limit
                else:
                    weight += share
            found = state.entries[found].after
        if weight > 0:
            level = max(level, max(rest, 0.0) / weight)
    found = link.head
    while found != NONE:
        slot = found >> run.width
        if found == slot << run.width:
            run.solved += 1
            fresh = 0.0 if _is_cut_off(state, slot) else min(level, state.limits[slot].rate)
            if fresh > state.flows[slot].rate:
                for entry in range(found, found + state.flows[slot].count):
                    touch(state, state.entries[entry].link)
            set_rate(state, slot, fresh)
        found = state.entries[found].after


@compiled
def _reach_behind(state: FluidState, number: int) -> None:
    """Compute what reaches the links behind one that got full: flows that came before counted in whole."""
    run, link = state.run[0], state.links[number]
    found = link.head if link.source >= run.hosts and link.inflow > link.capacity * (1.0 + SAME) else NONE
    while found != NONE:
        reach(state, found >> run.width)
        found = state.entries[found].after


@compiled
def _wake(state: FluidState, number: int) -> None:
    """Let the flows of a link look at their queues from when it marks."""
    run = state.run[0]
    marking = _marking_ps(state, number)
    found = state.links[number].head if marking < FOREVER else NONE
    while found != NONE:
        slot = found >> run.width
        limit = state.limits[slot]
        # Ticks are no closer than cuts.
        tick_at = max(marking, limit.ticked_at + run.cut_interval)
        if tick_at < limit.tick_at:
            if limit.tick_at == FOREVER:
                state.echo[slot, :] = 0.0
            limit.tick_at = tick_at
            hasten(state, slot, tick_at)
        found = state.entries[found].after


@compiled
def pace(state: FluidState) -> None:
    """Compute the rates of flows whose host has others now, and who is to look at the queues of its path."""
    run = state.run[0]
    for place in range(run.members):
        slot = state.members[place]
        if state.flows[slot].count:
            touch(state, state.entries[slot << run.width].link)
    place = 0
    while place < run.touched:
        if state.links[state.touched[place]].source < run.hosts:
            _share_host_link(state, state.touched[place])
        place += 1
    for place in range(run.touched):
        _reach_behind(state, state.touched[place])
    for place in range(run.touched):
        if state.links[state.touched[place]].source >= run.hosts:
            _wake(state, state.touched[place])
    run.this_round += 1
    run.touched = run.members = 0
