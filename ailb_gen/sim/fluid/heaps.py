"""Binary heaps: tasks by time, flows by the time at which something happens to them, links by level."""

from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.records import Records
from ailb_gen.sim.fluid.state import FluidState


@inlined
def _is_before(key: float, number: int, other_key: float, other_number: int) -> bool:
    """Return whether an entry comes before another one; of equal keys the lower number comes first."""
    return key < other_key or (key == other_key and number < other_number)


@compiled
def _push(heap: Records, size: int, key: float, number: int) -> None:
    """Add an entry to a heap of `size` entries."""
    hole = size
    while hole > 0:
        above = heap[(hole - 1) >> 1]
        if not _is_before(key, number, above.key, above.number):
            break
        heap[hole].key, heap[hole].number = above.key, above.number
        hole = (hole - 1) >> 1
    heap[hole].key, heap[hole].number = key, number


@compiled
def _replace_first(heap: Records, size: int, key: float, number: int) -> None:
    """Replace the first of `size` entries."""
    hole = 0
    while True:
        below = 2 * hole + 1
        if below >= size:
            break
        least, other = heap[below], heap[below + 1]
        if below + 1 < size and _is_before(other.key, other.number, least.key, least.number):
            below, least = below + 1, other
        if not _is_before(least.key, least.number, key, number):
            break
        heap[hole].key, heap[hole].number = least.key, least.number
        hole = below
    heap[hole].key, heap[hole].number = key, number


@compiled
def push_timer(state: FluidState, at_ps: int, task: int) -> None:
    """Add a task."""
    run = state.run[0]
    _push(state.timers, run.timers, at_ps, task)
    run.timers += 1


@compiled
def pop_timer(state: FluidState) -> int:
    """Remove the first task and return it."""
    run = state.run[0]
    first = int(state.timers[0].number)
    run.timers -= 1
    last = state.timers[run.timers]
    _replace_first(state.timers, run.timers, last.key, last.number)
    return first


@compiled
def push_level(state: FluidState, level: float, link: int) -> None:
    """Add a link."""
    run = state.run[0]
    _push(state.levels, run.levels, level, link)
    run.levels += 1


@compiled
def replace_level(state: FluidState, level: float, link: int) -> None:
    """Replace the first link."""
    _replace_first(state.levels, state.run[0].levels, level, link)


@compiled
def pop_level(state: FluidState) -> None:
    """Remove the first link."""
    run = state.run[0]
    run.levels -= 1
    last = state.levels[run.levels]
    replace_level(state, last.key, last.number)


@compiled
def rise(state: FluidState, slot: int) -> None:
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
def sink(state: FluidState, slot: int) -> None:
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
def push_flow(state: FluidState, slot: int, key: int) -> None:
    """Add a flow."""
    run = state.run[0]
    state.flows[slot].place = run.flowing
    state.flows[slot].key = key
    run.flowing += 1
    rise(state, slot)


@compiled
def pop_flow(state: FluidState) -> int:
    """Remove the first flow and return its slot."""
    heap, run = state.flowing, state.run[0]
    first = heap[0]
    run.flowing -= 1
    last = heap[run.flowing]
    if run.flowing:
        state.flows[last].place = 0
        sink(state, last)
    return int(first)
