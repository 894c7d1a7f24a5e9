"""Binary heaps: tasks by time, flows by the time at which they will have sent all, links by level."""

from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.fluid.state import State


@compiled
def push_timer(state: State, at_ps: int, task: int) -> None:
    """Add a task; of equal times the lower task comes first."""
    timers, run = state.timers, state.run[0]
    hole = run.timers
    run.timers += 1
    while hole > 0:
        above = timers[(hole - 1) >> 1]
        if above.at_ps < at_ps or (above.at_ps == at_ps and above.task < task):
            break
        timers[hole].at_ps, timers[hole].task = above.at_ps, above.task
        hole = (hole - 1) >> 1
    timers[hole].at_ps, timers[hole].task = at_ps, task


@compiled
def pop_timer(state: State) -> int:
    """Remove the first task and return it."""
    timers, run = state.timers, state.run[0]
    first = timers[0].task
    size = run.timers - 1
    run.timers = size
    at_ps, task, hole = timers[size].at_ps, timers[size].task, 0
    while True:
        below = 2 * hole + 1
        if below >= size:
            break
        one, other = timers[below], timers[below + 1]
        if below + 1 < size and (other.at_ps < one.at_ps or (other.at_ps == one.at_ps and other.task < one.task)):
            below, one = below + 1, other
        if at_ps < one.at_ps or (at_ps == one.at_ps and task < one.task):
            break
        timers[hole].at_ps, timers[hole].task = one.at_ps, one.task
        hole = below
    timers[hole].at_ps, timers[hole].task = at_ps, task
    return int(first)


@compiled
def rise(state: State, slot: int) -> None:
    """Move a flow whose key got smaller towards the top."""
    flows, heap = state.flows, state.flowing
    key, hole = flows[slot].key, flows[slot].place
    while hole > 0:
        above = (hole - 1) >> 1
        other = heap[above]
        if flows[other].key <= key:
            break
        heap[hole] = other
        flows[other].place = hole
        hole = above
    heap[hole] = slot
    flows[slot].place = hole


@compiled
def sink(state: State, slot: int) -> None:
    """Move a flow whose key got larger away from the top."""
    flows, heap, size = state.flows, state.flowing, state.run[0].flowing
    key, hole = flows[slot].key, flows[slot].place
    while True:
        below = 2 * hole + 1
        if below >= size:
            break
        if below + 1 < size and flows[heap[below + 1]].key < flows[heap[below]].key:
            below += 1
        other = heap[below]
        if flows[other].key >= key:
            break
        heap[hole] = other
        flows[other].place = hole
        hole = below
    heap[hole] = slot
    flows[slot].place = hole


@compiled
def push_flow(state: State, slot: int, key: int) -> None:
    """Add a flow."""
    run = state.run[0]
    state.flows[slot].place = run.flowing
    state.flows[slot].key = key
    run.flowing += 1
    rise(state, slot)


@compiled
def pop_flow(state: State) -> int:
    """Remove the first flow and return its slot."""
    heap, run = state.flowing, state.run[0]
    first = heap[0]
    run.flowing -= 1
    last = heap[run.flowing]
    if run.flowing:
        state.flows[last].place = 0
        sink(state, last)
    return int(first)


@compiled
def push_level(state: State, level: float, link: int) -> None:
    """Add a link."""
    heap, run = state.levels, state.run[0]
    hole = run.levels
    run.levels += 1
    while hole > 0:
        above = heap[(hole - 1) >> 1]
        if above.level <= level:
            break
        heap[hole].level, heap[hole].link = above.level, above.link
        hole = (hole - 1) >> 1
    heap[hole].level, heap[hole].link = level, link


@compiled
def replace_level(state: State, level: float, link: int) -> None:
    """Put a link in the place of the first one."""
    heap, size, hole = state.levels, state.run[0].levels, 0
    while True:
        below = 2 * hole + 1
        if below >= size:
            break
        if below + 1 < size and heap[below + 1].level < heap[below].level:
            below += 1
        if heap[below].level >= level:
            break
        heap[hole].level, heap[hole].link = heap[below].level, heap[below].link
        hole = below
    heap[hole].level, heap[hole].link = level, link


@compiled
def pop_level(state: State) -> None:
    """Remove the first link."""
    run = state.run[0]
    run.levels -= 1
    last = state.levels[run.levels]
    replace_level(state, last.level, last.link)
