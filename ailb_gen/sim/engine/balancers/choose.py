"""Which load balancer chooses."""

from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.engine.balancers import (
    adaptive,
    conga,
    conweave,
    dlb,
    drill,
    ecmp,
    flowlet,
    glb,
    letflow,
    rlb,
    spray,
)
from ailb_gen.sim.engine.jit import compiled, inlined, spliced
from ailb_gen.sim.engine.records import DATA, State

ECMP, SPRAY, ADAPTIVE, DRILL = (BALANCERS[name].number for name in ("ecmp", "spray", "adaptive", "drill"))
LETFLOW, FLOWLET, CONGA, CONWEAVE = (BALANCERS[name].number for name in ("letflow", "flowlet", "conga", "conweave"))
DLB, DLB_PER_PACKET = BALANCERS["dlb"].number, BALANCERS["dlb-per-packet"].number
DLB_ASSIGNED_FLOW, GLB, RLB = (BALANCERS[name].number for name in ("dlb-assigned-flow", "glb", "rlb"))
FLOWBENDER, HOPPER = BALANCERS["flowbender"].number, BALANCERS["hopper"].number
# These look at queues: queues are to be exact at every moment.
QUEUE_READERS = (ADAPTIVE, DRILL, CONWEAVE, DLB, DLB_PER_PACKET, DLB_ASSIGNED_FLOW, GLB, RLB)
# What arrives at one time chooses one after the other before anything is sent: packets that have just joined count.
DEFERRED = (ADAPTIVE, DRILL)
# These keep more of a flow than the others.
STEERING = (CONWEAVE, HOPPER)


@spliced
def choose(state: State, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position in a next-hop set of the link that a packet takes."""
    if state.config[0].balancer == ECMP:
        return ecmp.choose(state, node, first, count, packet)
    return _other(state, node, first, count, packet, now)


@compiled
def _other(state: State, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position for all load balancers but ECMP."""
    balancer = state.config[0].balancer
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
    return _at_switch(state, node, first, count, packet, now)


@spliced
def _at_switch(state: State, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position for load balancers that switches have, but not hosts with several links."""
    balancer = state.config[0].balancer
    if node < state.config[0].hosts:
        return ecmp.by_hash(state, node, count, packet)
    if balancer == CONWEAVE:
        return conweave.choose(state, node, first, count, packet, now)
    if balancer == CONGA:
        return conga.choose(state, node, first, count, packet, now)
    if balancer in (DLB, GLB):
        return dlb.flowlet(state, node, first, count, packet, now)
    if balancer == DLB_PER_PACKET:
        return dlb.best(state, first, count, packet, now)
    if balancer == DLB_ASSIGNED_FLOW:
        return dlb.assigned_flow(state, node, first, count, packet, now)
    if balancer == RLB:
        return rlb.choose(state, node, first, count, packet, now)
    return ecmp.by_hash(state, node, count, packet)


@inlined
def note(state: State, node: int, link: int, packet: int, now: int) -> None:
    """Let the load balancer see a packet that a switch sends over a link, chosen or not."""
    if state.config[0].balancer == CONGA:
        conga.note(state, node, link, packet, now)


@compiled
def begin(state: State) -> None:
    """Start the timers of the load balancer."""
    if state.config[0].balancer == GLB:
        glb.begin(state)


@compiled
def expire(state: State, now: int) -> None:
    """Do what a timer of the load balancer is for."""
    if state.config[0].balancer == GLB:
        glb.flood(state, now)
