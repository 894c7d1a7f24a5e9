"""Random packet spraying (Dixit et al., INFOCOM 2013)."""

from ailb_gen.sim.engine.jit import inlined
from ailb_gen.sim.engine.random import random_below
from ailb_gen.sim.engine.records import State


@inlined
def choose(state: State, node: int, first: int, count: int, packet: int) -> int:
    """Return the position of a random member."""
    return random_below(state, count)
