"""DRILL: the shortest of some random queues and the best one remembered (Ghorbani et al., SIGCOMM 2017)."""

from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.random import random_below
from ailb_gen.sim.engine.records import State


@compiled
def choose(state: State, node: int, first: int, count: int, packet: int) -> int:
    """Return the position of the shortest queue looked at; the switch remembers it."""
    record = state.nodes[node]
    best = random_below(state, count)
    for _ in range(int(state.parameters[0]) - 1):
        other = random_below(state, count)
        if state.waiting[state.set_links[first + other]] < state.waiting[state.set_links[first + best]]:
            best = other
    if state.parameters[1]:
        other = record.remembered % count
        if state.waiting[state.set_links[first + other]] < state.waiting[state.set_links[first + best]]:
            best = other
        record.remembered = best
    return best
