"""DLB in its three modes, and with the qualities that GLB adds: the best band, at random among equals.

Junos documentation, "Dynamic Load Balancing" and "Reactive Path Rebalancing". In the modes flowlet and assigned flow
every next-hop set has a flowset table: flows whose hashes fall into one entry go together, the messages of a queue pair
one after the other among them. Packets per packet, and packets of flows that pause long enough, take the best member.
"""

from ailb_gen.sim.engine.balancers.bands import DELTA, ENTRIES, INACTIVITY, PROBABILITY, quality
from ailb_gen.sim.engine.balancers.glb import GLB, newest, remote
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.random import happens, mix, random_below
from ailb_gen.sim.engine.records import HOPS, NONE, State

FOREVER = float("inf")
# An entry of a flowset table: a time, and in its last bits a position plus 1.
FLOWSETS, POSITION_BITS = 0, 10


@compiled
def _quality(state: State, link: int, packet: int, now: int, flooded: int) -> int:
    """Return the band of a path that begins with a link."""
    own = quality(state, link, now)
    if flooded == NONE or own == 0:
        return own
    return min(own, remote(state, link, packet, flooded))


@inlined
def _flooded(state: State, now: int) -> int:
    return newest(state, now) if state.config[0].balancer == GLB else NONE


@compiled
def best(state: State, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of a member in the best band there is, at random."""
    flooded = _flooded(state, now)
    highest, equal = -1, 0
    for position in range(count):
        seen = _quality(state, state.set_links[first + position], packet, now, flooded)
        if seen > highest:
            highest, equal = seen, 1
        elif seen == highest:
            equal += 1
    wanted = random_below(state, equal)
    for position in range(count):
        if _quality(state, state.set_links[first + position], packet, now, flooded) == highest:
            if wanted == 0:
                return position
            wanted -= 1
    return 0


@compiled
def _reassigned(state: State, first: int, count: int, packet: int, position: int, now: int) -> int:
    """Return the member for an active flow: the same one, unless another is better by the configured delta."""
    flooded = _flooded(state, now)
    other = best(state, first, count, packet, now)
    gain = _quality(state, state.set_links[first + other], packet, now, flooded)
    gain -= _quality(state, state.set_links[first + position], packet, now, flooded)
    return other if gain >= state.parameters[DELTA] else position


@compiled
def _by_flowset(state: State, node: int, first: int, count: int, packet: int, now: int, inactivity: float) -> int:
    """Return the position that the entry of a packet says, unless nothing came for so long; without one, the best."""
    entry = (mix(state.packets[packet].key ^ state.nodes[node].seed) * int(state.parameters[ENTRIES])) >> 32
    kept = state.metrics[FLOWSETS, first, entry]
    position = int(kept & ((1 << POSITION_BITS) - 1)) - 1
    if position < 0 or position >= count or now - (kept >> POSITION_BITS) >= inactivity:
        position = best(state, first, count, packet, now)
    elif inactivity != FOREVER:
        # Its load is to be known when others look at it.
        quality(state, state.set_links[first + position], now)
        if state.parameters[DELTA] and happens(state, state.parameters[PROBABILITY]):
            position = _reassigned(state, first, count, packet, position, now)
    state.metrics[FLOWSETS, first, entry] = (now << POSITION_BITS) | (position + 1)
    hop = state.packets[packet].hops & (HOPS - 1)
    flow = state.flows[state.packets[packet].flow]
    if flow.choice[hop] != first + position:
        if flow.choice[hop] != NONE:
            state.tasks[flow.task].rerouted += 1
        flow.choice[hop] = first + position
    return position


@inlined
def flowlet(state: State, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position that a packet takes; after a pause, and now and then before, the best one."""
    return _by_flowset(state, node, first, count, packet, now, state.parameters[INACTIVITY])


@inlined
def assigned_flow(state: State, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position that was the best one for the first packet."""
    return _by_flowset(state, node, first, count, packet, now, FOREVER)
