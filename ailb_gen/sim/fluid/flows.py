"""Flows on their links: what they have sent, their rates, and when something happens to them next."""

from ailb_gen.sim.balancers import SPREAD
from ailb_gen.sim.engine.jit import compiled, entry, inlined
from ailb_gen.sim.fabric import PS_PER_S
from ailb_gen.sim.fluid.heaps import rise, sink
from ailb_gen.sim.fluid.state import FOREVER, NONE, FluidState

# Relative: rates and loads that differ by less are the same; what rounding makes of equal ones.
SAME = 1e-10
NOISE = 1e-13
# ps that no time reaches, far from the end of 64 bits.
FAR = 4e18


@compiled
def touch(state: FluidState, link: int) -> None:
    """Note that a link is to be checked in this round."""
    run, record = state.run[0], state.links[link]
    if record.seen != run.this_round:
        record.seen = run.this_round
        state.touched[run.touched] = link
        run.touched += 1


@compiled
def join(state: FluidState, slot: int) -> None:
    """Note that the rate of a flow is to be computed anew in this round."""
    run, flow = state.run[0], state.flows[slot]
    if flow.seen != run.this_round:
        flow.seen = run.this_round
        state.members[run.members] = slot
        run.members += 1


@compiled
def finish_ps(state: FluidState, slot: int) -> int:
    """Return when a flow will have sent all.

    Rounding errors of equal flows differ; what is not above a whole picosecond by more than those counts as whole, so
    that such flows end at once.
    """
    flow = state.flows[slot]
    if flow.left <= 0:
        return int(flow.since)
    if flow.rate <= 0:
        return FOREVER
    exact = flow.left / flow.rate * PS_PER_S
    if exact > FAR:
        return FOREVER
    exact -= 1e-3 + exact * NOISE
    whole = int(exact)
    return int(flow.since + whole + (1 if exact > whole else 0))


@entry
def sample(state: FluidState, link: int) -> None:
    """Add what a link has carried since its load last changed to its samples."""
    run, record = state.run[0], state.links[link]
    start, load = record.sampled_to, record.load
    record.sampled_to = run.now
    while load > 0 and start < run.now:
        row = start // run.interval
        if row >= len(state.samples):
            return
        end = min(run.now, (row + 1) * run.interval)
        state.samples[row, link] += load * (end - start) / PS_PER_S
        start = end


@compiled
def settle_queue(state: FluidState, link: int) -> None:
    """Bring the queue of a link up to date: it takes what comes above what the link carries."""
    record, now = state.links[link], state.run[0].now
    grown = (record.inflow - record.capacity) * (now - record.queue_at) / PS_PER_S
    record.queue = max(record.queue + grown, 0.0)
    record.queue_at = now


@compiled
def reach(state: FluidState, slot: int) -> None:
    """Compute what of a flow reaches each of its links: a full one passes on what all bring in equal parts."""
    run, flow, passed = state.run[0], state.flows[slot], 1.0
    first = slot << run.width
    for number in range(first, first + flow.count):
        entry = state.entries[number]
        link = state.links[entry.link]
        settle_queue(state, entry.link)
        fresh = entry.share * flow.rate * passed
        link.inflow = max(link.inflow + fresh - entry.inflow, 0.0)
        entry.inflow = fresh
        # Spread flows pass many links side by side, each only a part.
        if run.rule != SPREAD and link.inflow > link.capacity:
            passed *= link.capacity / link.inflow


@compiled
def add_load(state: FluidState, link: int, change: float) -> None:
    """Change the load of a link."""
    record = state.links[link]
    if state.run[0].interval:
        sample(state, link)
    record.load = max(record.load + change, 0.0) if record.head != NONE else 0.0


@compiled
def settle(state: FluidState, slot: int) -> None:
    """Count what a flow has sent until now."""
    flow, now = state.flows[slot], state.run[0].now
    flow.left = max(flow.left - flow.rate * (now - flow.since) / PS_PER_S, 0.0)
    flow.since = now


@inlined
def due_ps(state: FluidState, slot: int) -> int:
    """Return when something happens to a flow: it has sent all, or its rate is to be looked at."""
    due = finish_ps(state, slot)
    if state.run[0].dcqcn:
        limit = state.limits[slot]
        due = min(due, limit.tick_at, limit.increase_at)
    return int(due)


@inlined
def hasten(state: FluidState, slot: int, due: int) -> None:
    """Note that something may happen to a flow earlier; what is later is corrected when it comes to the top."""
    if due < state.flows[slot].key:
        state.flows[slot].key = due
        rise(state, slot)


@compiled
def set_rate(state: FluidState, slot: int, rate: float) -> None:
    """Change the rate of a flow, and with it the loads of its links."""
    run, flow = state.run[0], state.flows[slot]
    change = rate - flow.rate
    if abs(change) <= NOISE * flow.rate:
        return
    settle(state, slot)
    flow.rate = rate
    first = slot << run.width
    for number in range(first, first + flow.count):
        entry = state.entries[number]
        add_load(state, entry.link, entry.share * change)
    if run.dcqcn:
        reach(state, slot)
    hasten(state, slot, finish_ps(state, slot))


@compiled
def next_due(state: FluidState) -> int:
    """Return when something happens to a flow next, or FOREVER."""
    while state.run[0].flowing:
        slot = state.flowing[0]
        due = due_ps(state, slot)
        if due <= state.flows[slot].key:
            return due
        state.flows[slot].key = due
        sink(state, slot)
    return FOREVER
