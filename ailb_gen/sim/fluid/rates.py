"""Max-min fair rates, computed anew only where a change can have an effect.

Rates are max-min fair if every flow has a bottleneck: a saturated link on which no flow is faster (Bertsekas and
Gallager, Data Networks, 1992, section 6.5). There is exactly one such allocation. After a change some flows, the
members, get new rates by progressive filling, next to all others as they were. Then every link that members use is
checked: a flow that lost its bottleneck by that, or that is faster than a member whose bottleneck the link has become,
becomes a member, too, and filling starts again. What remains satisfies the condition everywhere.
"""

from ailb_gen.sim.engine.jit import compiled, entry
from ailb_gen.sim.fabric import PS_PER_S
from ailb_gen.sim.fluid.heaps import pop_level, push_level, replace_level, rise, sink
from ailb_gen.sim.fluid.state import FOREVER, NONE, FluidState

# Relative: rates and loads that differ by less are the same; what rounding makes of equal ones.
SAME = 1e-10
NOISE = 1e-13
FASTEST = 1e30


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
    if exact > 4e18:
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


@compiled
def weigh(state: FluidState) -> None:
    """Compute what touched links have left for members, and how many share it."""
    run = state.run[0]
    for place in range(run.touched):
        link = state.links[state.touched[place]]
        link.residual = link.capacity - link.load
        link.weight, link.level, link.open, link.limited_members = 0.0, -1.0, 0, 0
    for place in range(run.members):
        slot = state.members[place]
        flow = state.flows[slot]
        flow.fresh_rate, flow.fresh_bottleneck = -1.0, NONE
        if flow.bottleneck != NONE:
            state.links[flow.bottleneck].limited_members += 1
        first = slot << run.width
        for number in range(first, first + flow.count):
            entry = state.entries[number]
            link = state.links[entry.link]
            link.residual += entry.share * flow.rate
            link.weight += entry.share
            link.open += 1


@compiled
def fill(state: FluidState) -> None:
    """Compute fresh rates of all members by progressive filling; `residual` of touched links is what is left then."""
    run = state.run[0]
    weigh(state)
    for place in range(run.touched):
        link = state.links[state.touched[place]]
        if link.open:
            push_level(state, max(link.residual, 0.0) / link.weight, state.touched[place])
    while run.levels:
        first = state.levels[0]
        link = state.links[first.number]
        if link.open:
            level = max(link.residual, 0.0) / link.weight
            if level > first.key * (1 + NOISE):
                replace_level(state, level, first.number)
                continue
            link.level = level
            freeze(state, first.number)
        pop_level(state)


@compiled
def freeze(state: FluidState, number: int) -> None:
    """Give the members on a saturated link its level as their fresh rate, unless they have a lower one."""
    run, level = state.run[0], state.links[number].level
    found = state.links[number].head
    while found != NONE:
        flow = state.flows[found >> run.width]
        if flow.seen == run.this_round and flow.fresh_rate < 0:
            flow.fresh_rate, flow.fresh_bottleneck = level, number
            first = (found >> run.width) << run.width
            for place in range(first, first + flow.count):
                entry = state.entries[place]
                link = state.links[entry.link]
                link.residual -= entry.share * level
                link.weight -= entry.share
                link.open -= 1
        found = state.entries[found].after


@compiled
def check(state: FluidState, number: int) -> None:
    """Make those flows on a touched link members that have no bottleneck any more, or prevent one."""
    run, link = state.run[0], state.links[number]
    level = link.level
    others = link.limited - link.limited_members
    if level < 0 and others == 0:
        return
    fastest = FASTEST
    if link.residual <= SAME * link.capacity:
        fastest = 0.0
        found = link.head
        while found != NONE:
            flow = state.flows[found >> run.width]
            fastest = max(fastest, flow.fresh_rate if flow.seen == run.this_round else flow.rate)
            found = state.entries[found].after
        if others == 0 and fastest <= level * (1 + SAME):
            return
    found = link.head
    while found != NONE:
        flow = state.flows[found >> run.width]
        if flow.seen != run.this_round:
            lost = flow.bottleneck == number and flow.rate * (1 + SAME) < fastest
            if lost or (level >= 0 and flow.rate > level * (1 + SAME)):
                join(state, found >> run.width)
        found = state.entries[found].after


@compiled
def commit(state: FluidState) -> None:
    """Give the members their fresh rates, and the times at which they will have sent all."""
    run = state.run[0]
    for place in range(run.members):
        slot = state.members[place]
        flow = state.flows[slot]
        old, new = flow.rate, flow.fresh_rate
        if flow.bottleneck != flow.fresh_bottleneck:
            if flow.bottleneck != NONE:
                state.links[flow.bottleneck].limited -= 1
            state.links[flow.fresh_bottleneck].limited += 1
            flow.bottleneck = flow.fresh_bottleneck
        if abs(new - old) <= NOISE * old:
            continue
        settle(state, slot)
        flow.rate = new
        first = slot << run.width
        for number in range(first, first + flow.count):
            entry = state.entries[number]
            add_load(state, entry.link, entry.share * (new - old))
        due = finish_ps(state, slot)
        # Later: the key is corrected when it comes to the top.
        if due < flow.key:
            flow.key = due
            rise(state, slot)


@compiled
def rebalance(state: FluidState) -> None:
    """Make all rates max-min fair again after members were added, and links touched that flows have left."""
    run, reached = state.run[0], 0
    if run.touched == 0 and run.members == 0:
        return
    while True:
        for place in range(reached, run.members):
            first = state.members[place] << run.width
            for number in range(first, first + state.flows[state.members[place]].count):
                touch(state, state.entries[number].link)
        reached = run.members
        fill(state)
        for place in range(run.touched):
            check(state, state.touched[place])
        run.solved += reached
        if run.members == reached:
            break
    commit(state)
    run.this_round += 1
    run.touched = run.members = 0


@compiled
def next_end(state: FluidState) -> int:
    """Return when the first flow will have sent all, or FOREVER."""
    while state.run[0].flowing:
        slot = state.flowing[0]
        due = finish_ps(state, slot)
        if due <= state.flows[slot].key:
            return due
        state.flows[slot].key = due
        sink(state, slot)
    return FOREVER
