"""Max-min fair rates, computed anew only where a change can have an effect.

Rates are max-min fair if every flow has a bottleneck: a saturated link on which no flow is faster (Bertsekas and
Gallager, Data Networks, 1992, section 6.5). There is exactly one such allocation. After a change some flows, the
members, get new rates by progressive filling, next to all others as they were. Then every link that members use is
checked: a flow that lost its bottleneck by that, or that is faster than a member whose bottleneck the link has become,
becomes a member, too, and filling starts again. What remains satisfies the condition everywhere.
"""

from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.fluid.flows import NOISE, SAME, join, set_rate, touch
from ailb_gen.sim.fluid.heaps import pop_level, push_level, replace_level
from ailb_gen.sim.fluid.state import NONE, FluidState

FASTEST = 1e30


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
        if flow.bottleneck != flow.fresh_bottleneck:
            if flow.bottleneck != NONE:
                state.links[flow.bottleneck].limited -= 1
            state.links[flow.fresh_bottleneck].limited += 1
            flow.bottleneck = flow.fresh_bottleneck
        set_rate(state, slot, flow.fresh_rate)


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
