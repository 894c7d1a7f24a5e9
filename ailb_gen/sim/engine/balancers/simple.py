"""Load balancers that keep little or nothing: hashes, random members, the shortest of some queues, flowlets."""

from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.random import mix, random_below
from ailb_gen.sim.engine.records import NEVER, NONE, EngineState
from ailb_gen.sim.engine.steered import HOPS
from ailb_gen.sim.fabric import LEAF, SPINE


@inlined
def by_hash(state: EngineState, node: int, count: int, packet: int) -> int:
    """Return the position of the member that a hash with the seed of a node chooses."""
    return (mix(state.packets[packet].key ^ state.nodes[node].seed) * int(count)) >> 32


@inlined
def ecmp(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position by a hash of the flow, with a seed per switch or without (RFC 2992)."""
    if state.parameters[0].same_seed:
        # The same number everywhere, as with one seed for all: what was divided once is not divided again.
        return mix(state.packets[packet].key) % int(count)
    return by_hash(state, node, count, packet)


@inlined
def spray(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of a random member (Dixit et al., INFOCOM 2013)."""
    return random_below(state, node, count)


@inlined
def adaptive(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of the member with the fewest waiting packets, at random among equals."""
    least = state.waiting[state.set_links[first]]
    equal = 1
    for position in range(1, count):
        waiting = state.waiting[state.set_links[first + position]]
        if waiting < least:
            least, equal = waiting, 1
        elif waiting == least:
            equal += 1
    wanted = random_below(state, node, equal)
    for position in range(count):
        if state.waiting[state.set_links[first + position]] == least:
            if wanted == 0:
                return position
            wanted -= 1
    return 0


@inlined
def _queued_bytes(state: EngineState, link: int) -> int:
    """Return the bytes that wait for a link, acknowledgements included."""
    total = 0
    for priority in range(state.config[0].classes):
        total += state.queues[priority, link].bytes
    return total


@compiled
def _drill_by_destination(state: EngineState, node: int, first: int, count: int, packet: int) -> int:
    """Return the remembered member of the destination, unless a sampled one has fewer bytes (ConWeave's simulator)."""
    destination = state.packets[packet].destination
    best = state.metrics[node, destination, 0] - 1
    least = NEVER
    if 0 <= best < count:
        least = _queued_bytes(state, state.set_links[first + best])
    before = NONE
    for number in range(min(int(state.parameters[0].samples), count)):
        # No member twice, as long as two are sampled.
        other = random_below(state, node, count - 1) if number else random_below(state, node, count)
        if number and other >= before:
            other += 1
        before = other
        queued = _queued_bytes(state, state.set_links[first + other])
        if queued < least:
            best, least = other, queued
    state.metrics[node, destination, 0] = best + 1
    return best


@compiled
def drill(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of the shortest of some random queues and the best one remembered (Ghorbani et al. 2017)."""
    record, parameters = state.nodes[node], state.parameters[0]
    if parameters.by_destination:
        return _drill_by_destination(state, node, first, count, packet)
    best = random_below(state, node, count)
    for _ in range(int(parameters.samples) - 1):
        other = random_below(state, node, count)
        if state.waiting[state.set_links[first + other]] < state.waiting[state.set_links[first + best]]:
            best = other
    if parameters.memory:
        other = record.remembered % count
        if state.waiting[state.set_links[first + other]] < state.waiting[state.set_links[first + best]]:
            best = other
        record.remembered = best
    return best


@compiled
def letflow(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of the flowlet of a packet: a random one after a gap in the flow (Vanini et al. 2017)."""
    hop = state.packets[packet].hops & (HOPS - 1)
    number = state.packets[packet].flow
    noted = state.choices[number]
    chosen = noted.choice[hop]
    if chosen == NONE or chosen >= count or now - noted.chosen_at[hop] > state.parameters[0].gap_ps:
        fresh = random_below(state, node, count)
        if chosen not in (NONE, fresh):
            state.rerouted[state.flows[number].task] += 1
        chosen = fresh
        noted.choice[hop] = chosen
    noted.chosen_at[hop] = now
    return chosen


@inlined
def flowlet(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position by a hash that changes every n packets of a flow."""
    record, parameters = state.packets[packet], state.parameters[0]
    number = record.sequence // int(parameters.packets)
    # The first flowlet goes where ECMP would send it.
    key = record.key ^ mix(number) if number else record.key
    if parameters.same_seed:
        return mix(key) % int(count)
    return (mix(key ^ state.nodes[node].seed) * int(count)) >> 32


HOOKS = {
    "ecmp": Hooks(choose=ecmp, at_hosts=True),
    "spray": Hooks(choose=spray, at_hosts=True),
    "adaptive": Hooks(choose=adaptive, at_hosts=True, reads_queues=True, deferred=True),
    "drill": Hooks(
        choose=drill,
        at_hosts=True,
        reads_queues=True,
        deferred=True,
        tables=lambda fabric, parameters: (
            (len(fabric.names), len(fabric.destination_prefix), 1) if parameters["by_destination"] else (1, 1, 1)
        ),
    ),
    "letflow": Hooks(choose=letflow, at_hosts=True, notes=True, remember=(LEAF, SPINE)),
    "flowlet": Hooks(choose=flowlet, at_hosts=True),
}
