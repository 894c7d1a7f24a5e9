"""Which load balancer chooses: the numbers are those of `ailb_gen/sim/balancers.py`."""

from ailb_gen.sim.engine.balancers import adaptive, conweave, drill, ecmp, flowlet, letflow, spray
from ailb_gen.sim.engine.jit import inlined
from ailb_gen.sim.engine.records import DATA, State

ECMP, SPRAY, ADAPTIVE, DRILL, LETFLOW, FLOWLET = 0, 1, 2, 3, 4, 5
CONWEAVE, FLOWBENDER, HOPPER = 7, 13, 14
# These look at queues: queues are to be exact at every moment.
QUEUE_READERS = (ADAPTIVE, DRILL, 6, 7, 8, 9, 10, 11, 12)
# What arrives at one time chooses one after the other before anything is sent: packets that have just joined count.
DEFERRED = (ADAPTIVE, DRILL)
# These choose anew for every packet, NICs of raw hosts included.
PER_PACKET = (SPRAY, ADAPTIVE, DRILL, 9)
# These keep more of a flow than the others.
STEERING = (CONWEAVE, HOPPER)


@inlined
def choose(state: State, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position in a next-hop set of the link that a packet takes."""
    balancer = state.config[0].balancer
    if balancer == ECMP:
        return ecmp.choose(state, node, first, count, packet)
    if state.packets[packet].kind != DATA:
        return ecmp.by_hash(state, node, count, packet)
    if balancer == ADAPTIVE:
        return adaptive.choose(state, node, first, count, packet)
    if balancer == FLOWLET:
        return flowlet.choose(state, node, first, count, packet)
    if balancer == SPRAY:
        return spray.choose(state, node, first, count, packet)
    if balancer == DRILL:
        return drill.choose(state, node, first, count, packet)
    if balancer == LETFLOW:
        return letflow.choose(state, node, first, count, packet, now)
    if balancer == CONWEAVE:
        return conweave.choose(state, node, first, count, packet, now)
    return ecmp.by_hash(state, node, count, packet)
