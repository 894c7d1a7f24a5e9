"""Presto: flowcells of a flow take all paths in turn (He et al., SIGCOMM 2015).

A path is an uplink of the first switch; a spine with several links to the last switch takes the one with the same
number, modulo how many it has. The first path of a flow is random. What is sent again takes the path of its flowcell.

The receiver's buffer, which restores the order, is a setting of the transport: selective repeat with as many packets
of `reordering` as may wait. Not modeled: the buffer's timeouts, and weights of paths after failures, which Presto's
controller distributes; members that are left share evenly.
"""

from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.jit import inlined
from ailb_gen.sim.engine.random import mix
from ailb_gen.sim.engine.records import EngineState


@inlined
def choose(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of the path of a packet's flowcell."""
    record = state.packets[packet]
    cell = int(record.sequence * state.config[0].payload_bytes / state.parameters[0].cell_bytes)
    return (mix(record.key) + cell) % int(count)


HOOKS = {"presto": Hooks(choose=choose)}
