"""Round trips as hosts see them: of an idle fabric, and of chunks where software decides at their ends.

Software cannot see acknowledgements of packets: it sends a chunk, and its round trip is the time until the chunk is
acknowledged (the testbed of Nosrati and Ghaderi 2025).
"""

from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.records import MOST_HOPS, NEVER, State
from ailb_gen.sim.fabric import LOCAL, UNREACHABLE


@compiled
def base_round_trip(state: State, flow: int, size: int, count: int) -> int:
    """Return the least time of `count` packets of `size` bytes and the last one's acknowledgement, in ps.

    That is over the fastest links of an idle fabric; NEVER: the target is unreachable.
    """
    config, record = state.config[0], state.flows[flow]
    destination = state.destinations[record.destination]
    number = state.hosts[record.source].links
    total = slowest = 0
    for _ in range(MOST_HOPS):
        if number == UNREACHABLE:
            return NEVER
        entry = state.sets[number]
        least, best = NEVER, 0
        for position in range(entry.count):
            link = state.set_links[entry.first + position]
            there, back = state.links[link], state.links[state.links[link].reverse]
            time = there.delay + size * there.byte_ps
            time += back.delay + config.control * back.byte_ps
            if time < least:
                least, best = time, link
        total += least
        slowest = max(slowest, state.links[best].byte_ps)
        node = state.links[best].target
        if node < config.hosts:
            return int(total + (count - 1) * size * slowest)
        number = state.next_hops[state.run[0].version, (node - config.hosts) * config.prefixes + destination.prefix]
        if number == LOCAL:
            number = destination.delivery
    return NEVER


@compiled
def begin(state: State, flow: int, now: int) -> None:
    """Note the base round trip of a flow that starts, and its first chunk."""
    config, own = state.config[0], state.steered[flow]
    own.base_round_trip = base_round_trip(state, flow, config.payload + config.header, max(config.chunk, 1))
    own.chunk_end = config.chunk
    own.chunk_at = now


@compiled
def chunk_sent(state: State, flow: int, now: int) -> int:
    """Return when the chunk was begun that is acknowledged now, and begin the next one; NEVER: none is."""
    acknowledged, own = state.flows[flow].acknowledged, state.steered[flow]
    if acknowledged < own.chunk_end:
        return NEVER
    sent = own.chunk_at
    own.chunk_at = now
    own.chunk_end = (acknowledged // state.config[0].chunk + 1) * state.config[0].chunk
    return int(sent)
