"""What FIBs say: the next-hop sets of prefixes, and the least round trip over them."""

from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.records import MOST_HOPS, NEVER, EngineState
from ailb_gen.sim.fabric import LOCAL, UNREACHABLE


@inlined
def fib_entry(state: EngineState, node: int, prefix: int) -> int:
    """Return the next-hop set of a switch for a prefix, UNREACHABLE or LOCAL."""
    config = state.config[0]
    return state.next_hops[state.run[0].version, (node - config.hosts) * config.prefixes + prefix]


@compiled
def base_round_trip(state: EngineState, flow: int, size: int, count: int) -> int:
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
            there, back = state.links[link], state.links[state.wires[link].reverse]
            time = there.delay + size * there.byte_ps
            time += back.delay + (config.control_bytes + config.telemetry_bytes) * back.byte_ps
            if time < least:
                least, best = time, link
        total += least
        slowest = max(slowest, state.links[best].byte_ps)
        node = state.wires[best].target
        if node < config.hosts:
            return int(total + (count - 1) * size * slowest)
        number = fib_entry(state, node, destination.prefix)
        if number == LOCAL:
            number = destination.delivery
    return NEVER
