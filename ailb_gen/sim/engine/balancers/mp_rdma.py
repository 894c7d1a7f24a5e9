"""MP-RDMA: packets of one connection over many virtual paths, clocked by acknowledgements (Lu et al., NSDI 2018).

A virtual path is a source port; the first window goes over random ones. An acknowledgement lets the next packet take
its path, a marked one every second time, and one for a packet too far behind the highest that was acknowledged never:
so slow paths are left, and what a receiver has to remember is bounded. A packet for which no acknowledgement has left
a path takes a random one, and so do a few others, which look for new paths.

The window is that of the transport or of congestion control, not the paper's, which acknowledgements move by 1 over
the window or by -1/2. The receiver's bitmap is `reordering` of selective repeat (64 packets in the paper, window and
all). Not modeled: that messages are put into memory in order on demand, and the timer that limits bursts.

Paths are assigned at the first switch, in the order in which packets were sent: what the host knew when it sent a
packet is known there a link's delay later.
"""

from ailb_gen.sim.engine.balancers.flowbender import PORTS
from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.balancers.simple import by_hash
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.random import happens, random_below
from ailb_gen.sim.engine.records import NONE, EngineState
from ailb_gen.sim.engine.steered import GRANTS


@compiled
def begin_flow(state: EngineState, flow: int, now: int) -> None:
    """Begin without paths."""
    own = state.steered[flow]
    own.first_granted = own.grants = own.half_granted = 0
    own.highest_answered = NONE


@compiled
def acknowledged(state: EngineState, packet: int, now: int) -> None:
    """Let the next packet take the path of an acknowledged one, unless that is congested or slow."""
    answer, own = state.packets[packet], state.steered[state.packets[packet].flow]
    own.highest_answered = max(own.highest_answered, answer.extra)
    if answer.extra + state.parameters[0].spread_packets < own.highest_answered:
        return
    if answer.marked:
        own.half_granted ^= 1
        if own.half_granted:
            return
    if own.grants < GRANTS:
        own.granted[(own.first_granted + own.grants) % GRANTS] = answer.tag
        own.grants += 1


@compiled
def _next_path(state: EngineState, node: int, flow: int) -> int:
    """Return the path of the next packet."""
    own = state.steered[flow]
    path = NONE
    if own.grants:
        path = int(own.granted[own.first_granted])
        own.first_granted = (own.first_granted + 1) % GRANTS
        own.grants -= 1
    if path == NONE or happens(state, node, state.parameters[0].new_path):
        path = random_below(state, node, PORTS)
    return path


@compiled
def choose(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position by the hash of a packet's path."""
    record = state.packets[packet]
    if record.hops == 1:
        record.tag = _next_path(state, node, record.flow)
        record.key = state.flows[record.flow].key + record.tag
    return by_hash(state, node, count, packet)


HOOKS = {
    "mp-rdma": Hooks(choose=choose, begin_flow=begin_flow, acknowledged=acknowledged, keeps=lambda parameters: True)
}
