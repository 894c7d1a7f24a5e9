"""The event loop: flows start and end, computations end, links and forwarding change."""

from ailb_gen.sim.balancers import SPREAD
from ailb_gen.sim.engine.jit import compiled, entry
from ailb_gen.sim.fabric import Int32
from ailb_gen.sim.fluid import dcqcn
from ailb_gen.sim.fluid.flows import add_load, due_ps, finish_ps, join, next_due, settle, settle_queue, touch
from ailb_gen.sim.fluid.heaps import pop_flow, pop_timer, push_flow, push_timer
from ailb_gen.sim.fluid.paths import destination_of, single_path, spread_path
from ailb_gen.sim.fluid.rates import rebalance
from ailb_gen.sim.fluid.state import FOREVER, NONE, FluidState

# Why a function returned: all is done; time to report; more slots, or more entries per slot, are needed.
DONE, PAUSED, MORE_SLOTS, MORE_WIDTH = range(4)


@compiled
def wire_bits(state: FluidState, task: int) -> int:
    """Return the bits of a flow with the headers of its packets."""
    run, amount = state.run[0], state.tasks[task].amount
    return int(8 * (amount + (amount + run.payload - 1) // run.payload * run.header))


@compiled
def find_path(state: FluidState, next_hops: Int32, task: int) -> tuple[int, int]:
    """Write the path of a flow into `state.path`; return its number of links, 0 for none, and its latency."""
    if state.run[0].rule == SPREAD:
        return spread_path(state, next_hops, task)
    return single_path(state, next_hops, task)


@compiled
def attach(state: FluidState, slot: int, count: int) -> None:
    """Put a flow on the links of the path in `state.path`; without one it waits, with rate 0."""
    state.flows[slot].count = count
    first = slot << state.run[0].width
    for place in range(count):
        entry, step = state.entries[first + place], state.path[place]
        link = state.links[step.link]
        entry.link, entry.share, entry.inflow = step.link, step.share, 0.0
        entry.before, entry.after = NONE, link.head
        if link.head != NONE:
            state.entries[link.head].before = first + place
        link.head = first + place
    if count:
        if state.run[0].dcqcn and state.limits[slot].line == 0:
            dcqcn.begin(state, slot)
        join(state, slot)
    else:
        state.run[0].unreachable += 1


@compiled
def detach(state: FluidState, slot: int, sent: float) -> None:
    """Take a flow off its links, over which it has sent `sent` bits."""
    run, flow = state.run[0], state.flows[slot]
    first = slot << run.width
    for number in range(first, first + flow.count):
        entry = state.entries[number]
        link = state.links[entry.link]
        if entry.before == NONE:
            link.head = entry.after
        else:
            state.entries[entry.before].after = entry.after
        if entry.after != NONE:
            state.entries[entry.after].before = entry.before
        link.bits += entry.share * sent
        add_load(state, entry.link, -entry.share * flow.rate)
        if run.dcqcn:
            settle_queue(state, entry.link)
            link.inflow = max(link.inflow - entry.inflow, 0.0) if link.head != NONE else 0.0
        touch(state, entry.link)
    if flow.bottleneck != NONE:
        state.links[flow.bottleneck].limited -= 1
    flow.bottleneck, flow.rate, flow.count = NONE, 0.0, 0


@compiled
def end_task(state: FluidState, task: int) -> None:
    """End a task now; tasks that waited for it alone are ready, or will be at their start."""
    run = state.run[0]
    state.tasks[task].ended = run.now
    run.ended += 1
    for place in range(state.first_successor[task], state.first_successor[task + 1]):
        successor = state.tasks[state.successors[place]]
        successor.waits -= 1
        if successor.waits == 0:
            if successor.start_ps > run.now:
                push_timer(state, successor.start_ps, state.successors[place])
            else:
                state.ready[run.ready] = state.successors[place]
                run.ready += 1


@compiled
def start_flow(state: FluidState, next_hops: Int32, task: int) -> int:
    """Start a flow; return DONE, or MORE_SLOTS or MORE_WIDTH with nothing done."""
    run = state.run[0]
    if run.free == 0:
        return MORE_SLOTS
    count, latency = find_path(state, next_hops, task)
    if count > 1 << run.width:
        return MORE_WIDTH
    run.free -= 1
    slot = state.free[run.free]
    flow = state.flows[slot]
    flow.task, flow.since, flow.latency = task, run.now, latency + run.message
    flow.left = wire_bits(state, task)
    flow.path_bits = flow.left
    flow.bottleneck, flow.rate = NONE, 0.0
    if run.dcqcn:
        limit = state.limits[slot]
        limit.line, limit.tick_at, limit.increase_at = 0.0, FOREVER, FOREVER
    attach(state, slot, count)
    push_flow(state, slot, due_ps(state, slot))
    return DONE


@compiled
def start_ready(state: FluidState, next_hops: Int32) -> int:
    """Start all tasks that are ready; return DONE, or MORE_SLOTS or MORE_WIDTH while some still are."""
    run = state.run[0]
    while run.ready:
        number = state.ready[run.ready - 1]
        task = state.tasks[number]
        task.began = run.now
        if task.source >= 0 and task.amount > 0:
            code = start_flow(state, next_hops, number)
            if code != DONE:
                return code
        run.ready -= 1
        if task.amount == 0:
            end_task(state, number)
        elif task.source < 0:
            push_timer(state, run.now + task.amount, number)
    return DONE


@compiled
def end_flow(state: FluidState) -> None:
    """Take the first flow off its links; its task ends when the last packet has arrived."""
    run, slot = state.run[0], pop_flow(state)
    flow = state.flows[slot]
    if run.dcqcn:
        flow.latency += dcqcn.queueing_ps(state, slot)
        dcqcn.keep(state, slot)
    # What it had sent on earlier paths was counted when it left them.
    detach(state, slot, flow.path_bits)
    state.free[run.free] = slot
    run.free += 1
    push_timer(state, run.now + flow.latency, flow.task)


@entry
def change_capacity(state: FluidState, number: int, capacity: float) -> None:
    """Change what a link carries, 0 while it is down."""
    link, run = state.links[number], state.run[0]
    if capacity < link.capacity or run.dcqcn:
        found = link.head
        while found != NONE:
            join(state, found >> run.width)
            found = state.entries[found].after
    if run.dcqcn:
        settle_queue(state, number)
    run.down += int(capacity <= 0) - int(link.capacity <= 0)
    link.capacity = capacity
    touch(state, number)


@compiled
def is_affected(state: FluidState, old_hops: Int32, new_hops: Int32, slot: int) -> bool:
    """Return whether a flow has no path, or passes a switch that forwards it differently now."""
    run, flow = state.run[0], state.flows[slot]
    prefix = state.destination_prefix[destination_of(state, flow.task)]
    first = slot << run.width
    for number in range(first, first + flow.count):
        switch = state.links[state.entries[number].link].source - run.hosts
        if switch >= 0 and old_hops[switch, prefix] != new_hops[switch, prefix]:
            return True
    return bool(flow.count == 0)


@entry
def reroute(state: FluidState, old_hops: Int32, new_hops: Int32) -> int:
    """Assign affected flows a new path; return DONE, or MORE_WIDTH: call again for those without one."""
    run = state.run[0]
    for place in range(run.flowing):
        slot = state.flowing[place]
        if not is_affected(state, old_hops, new_hops, slot):
            continue
        flow = state.flows[slot]
        before, first = flow.count, slot << run.width
        settle(state, slot)
        detach(state, slot, flow.path_bits - flow.left)
        flow.path_bits = flow.left
        count, latency = find_path(state, new_hops, flow.task)
        if count > 1 << run.width:
            return MORE_WIDTH
        same = count == before
        for number in range(count):
            same = same and state.entries[first + number].link == state.path[number].link
        if same and count == 0:
            continue
        state.tasks[flow.task].rerouted += 0 if same or count == 0 else 1
        flow.latency = latency + run.message
        attach(state, slot, count)
    return DONE


@compiled
def start_due(state: FluidState, next_hops: Int32) -> int:
    """Start and end tasks that are due; return DONE, or MORE_SLOTS or MORE_WIDTH while some still are."""
    run = state.run[0]
    while True:
        code = start_ready(state, next_hops)
        if code != DONE or run.timers == 0 or state.timers[0].key > run.now:
            return code
        task = pop_timer(state)
        if state.tasks[task].began >= 0:
            end_task(state, task)
        else:
            state.ready[run.ready] = task
            run.ready += 1


@compiled
def handle_flows(state: FluidState) -> None:
    """End the flows that have sent all now, and look at the rates that are due."""
    run = state.run[0]
    while next_due(state) <= run.now:
        if run.dcqcn and finish_ps(state, state.flowing[0]) > run.now:
            dcqcn.look(state, state.flowing[0])
        else:
            end_flow(state)


@entry
def advance(state: FluidState, next_hops: Int32, limit: int, work: int) -> int:
    """Run all events before `limit` (ps), or until about `work` rates were computed; return why it stopped."""
    run = state.run[0]
    if run.now >= limit:
        return DONE
    pause = run.solved + run.events + work
    while True:
        code = start_due(state, next_hops)
        if code != DONE:
            return code
        if run.dcqcn:
            dcqcn.pace(state)
        else:
            rebalance(state)
        following = next_due(state)
        if run.timers:
            following = min(following, state.timers[0].key)
        if following >= limit:
            return DONE
        if run.solved + run.events > pause:
            return PAUSED
        run.now = following
        run.events += 1
        handle_flows(state)
