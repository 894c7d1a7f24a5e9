"""RLB: routing has chosen by the color of the queue pair.

Several next hops are parallel links, or what a failure left.
"""

from ailb_gen.sim.engine.balancers import dlb, ecmp
from ailb_gen.sim.engine.balancers.bands import PROBABILITY
from ailb_gen.sim.engine.jit import inlined
from ailb_gen.sim.engine.records import State

DYNAMIC = PROBABILITY + 1


@inlined
def choose(state: State, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position that DLB chooses, or a hash where DLB is off."""
    if state.parameters[DYNAMIC]:
        return dlb.flowlet(state, node, first, count, packet, now)
    return ecmp.by_hash(state, node, count, packet)
