"""LetFlow: a random member after a gap in the flow (Vanini et al., NSDI 2017)."""

from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.random import random_below
from ailb_gen.sim.engine.records import HOPS, NONE, State


@compiled
def choose(state: State, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of the member that the flowlet of a packet takes."""
    hop = state.packets[packet].hops & (HOPS - 1)
    flow = state.flows[state.packets[packet].flow]
    chosen = flow.choice[hop]
    if chosen == NONE or chosen >= count or now - flow.chosen_at[hop] > state.parameters[0]:
        fresh = random_below(state, count)
        if chosen not in (NONE, fresh):
            state.tasks[flow.task].rerouted += 1
        chosen = fresh
        flow.choice[hop] = chosen
    flow.chosen_at[hop] = now
    return chosen
