"""Flowlets by packet count: the hash changes every n packets of a flow."""

from ailb_gen.sim.engine.jit import inlined
from ailb_gen.sim.engine.random import mix
from ailb_gen.sim.engine.records import State


@inlined
def choose(state: State, node: int, first: int, count: int, packet: int) -> int:
    """Return the position of the member that a packet takes."""
    record = state.packets[packet]
    flowlet = record.sequence // int(state.parameters[0])
    # The first flowlet goes where ECMP would send it.
    key = record.key ^ mix(flowlet) if flowlet else record.key
    if state.parameters[1]:
        return mix(key) % count
    return (mix(key ^ state.nodes[node].seed) * int(count)) >> 32
