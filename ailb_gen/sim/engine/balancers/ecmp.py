"""ECMP: a hash of the flow, with a seed per switch or without (RFC 2992)."""

from ailb_gen.sim.engine.jit import inlined
from ailb_gen.sim.engine.random import mix
from ailb_gen.sim.engine.records import State


@inlined
def by_hash(state: State, node: int, count: int, packet: int) -> int:
    """Return the position of the member that a hash with the seed of a node chooses."""
    return (mix(state.packets[packet].key ^ state.nodes[node].seed) * int(count)) >> 32


@inlined
def choose(state: State, node: int, first: int, count: int, packet: int) -> int:
    """Return the position of the member that a packet takes."""
    if state.parameters[0]:
        # The same number everywhere, as with one seed for all: what was divided once is not divided again.
        return mix(state.packets[packet].key) % count
    return by_hash(state, node, count, packet)
