"""The member with the fewest waiting packets, at random among equals, packet by packet."""

from ailb_gen.sim.engine.jit import inlined
from ailb_gen.sim.engine.random import random_below
from ailb_gen.sim.engine.records import State


@inlined
def choose(state: State, node: int, first: int, count: int, packet: int) -> int:
    """Return the position of the member with the shortest queue."""
    least = state.waiting[state.set_links[first]]
    equal = 1
    for position in range(1, count):
        waiting = state.waiting[state.set_links[first + position]]
        if waiting < least:
            least, equal = waiting, 1
        elif waiting == least:
            equal += 1
    wanted = random_below(state, equal)
    for position in range(count):
        if state.waiting[state.set_links[first + position]] == least:
            if wanted == 0:
                return position
            wanted -= 1
    return 0
