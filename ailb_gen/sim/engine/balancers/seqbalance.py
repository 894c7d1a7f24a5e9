"""SeqBalance: new flows avoid paths that were marked lately; flows never move (Luo et al., arXiv 2407.09808, 2024).

The last switch of a flow answers a marked packet with a congestion packet to the first one, which avoids that path
towards that prefix for a while. A flow that begins takes the path of its hash, or if that is avoided, the first of some
random ones that is not. Paths are ConWeave's.

The paper's NIC splits a message into sub-flows, one per queue pair: here those are the queue pairs of the traffic
(`queue_pairs`). Flows of a list are not split. How long a path is avoided, and which one is taken instead, are
assumptions.
"""

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.balancers.conweave import (
    PATH,
    STEERED,
    ends_at,
    good_path,
    is_avoided,
    note_congestion,
    send_back,
    tables,
)
from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.balancers.simple import by_hash
from ailb_gen.sim.engine.forwarding import lose
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.records import EngineState


@compiled
def _place(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the path of a flow that begins."""
    flow = state.packets[packet].flow
    path = by_hash(state, node, count, packet)
    if not is_avoided(state, state.set_links[first + path], flow, now):
        return path
    other = good_path(state, node, flow, first, count, now)
    return path if other == r.NONE else other


@compiled
def choose(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of the member that a packet takes."""
    record = state.packets[packet]
    if ends_at(state, packet, first):
        return by_hash(state, node, count, packet)
    if record.hops == 1:
        noted = state.choices[record.flow]
        if noted.choice[0] == r.NONE:
            noted.choice[0] = _place(state, node, first, count, packet, now)
        record.tag = STEERED | (noted.choice[0] << PATH)
    return (record.tag >> PATH) % count


@compiled
def takes(state: EngineState, node: int, number: int, packet: int, now: int) -> bool:
    """Tell the first switch of a flow of a mark, and take what another one tells; False: the packet is forwarded."""
    record = state.packets[packet]
    if number != state.destinations[record.destination].delivery:
        return False
    if record.kind == r.DATA and record.marked and record.tag:
        send_back(state, node, r.NOTIFY, packet, now)
    if record.kind != r.NOTIFY:
        return False
    note_congestion(state, node, packet, now)
    lose(state, packet)
    return True


HOOKS = {"seqbalance": Hooks(choose=choose, takes=takes, reads_queues=True, everywhere=True, notes=True, tables=tables)}
