"""Which links a flow takes: one path by hash or by load, or all of them evenly."""

from ailb_gen.sim.balancers import HASHED, LEAST_LOADED_NEXT
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.random import mix
from ailb_gen.sim.fabric import LOCAL, PS_PER_S, UNREACHABLE, Int32
from ailb_gen.sim.fluid.state import FluidState

MOST_HOPS = 32
# What a flow counts for on the link that limits it, next to a load of 1.
PER_FLOW = 1e-6


@compiled
def flow_hash(state: FluidState, task: int) -> int:
    """Return the hash of a flow's ends and its port or start, as in the packet engine."""
    run, record = state.run[0], state.tasks[task]
    ends = mix(int(record.source) + (int(record.target) << 24))
    return mix((ends << 30) + (int(record.began) if run.hash_start else int(record.port)))


@compiled
def destination_of(state: FluidState, task: int) -> int:
    """Return the destination of a flow: the address of its target for its queue pair."""
    record, first = state.tasks[task], state.first_destination
    count = first[record.target + 1] - first[record.target]
    return int(first[record.target] + record.queue_pair % count)


@compiled
def next_set(state: FluidState, next_hops: Int32, node: int, destination: int) -> int:
    """Return the next-hop set of a node for a destination, or UNREACHABLE."""
    switch = node - state.run[0].hosts
    if switch < 0:
        return int(state.host_set[node])
    number = next_hops[switch, state.destination_prefix[destination]]
    return int(state.delivery_set[destination] if number == LOCAL else number)


@compiled
def load_of(state: FluidState, link: int) -> float:
    """Return the load of a link before this instant, over its rate; of full links, more flows count more."""
    record = state.links[link]
    return float(record.load / record.rate + PER_FLOW * record.limited)


@compiled
def load_by(state: FluidState, next_hops: Int32, link: int, destination: int) -> float:
    """Return the load of a link, or of the best next hop behind it if that is more loaded (LEAST_LOADED_NEXT)."""
    run, target = state.run[0], state.links[link].target
    own = load_of(state, link)
    if run.rule != LEAST_LOADED_NEXT or target < run.hosts:
        return own
    number = next_hops[target - run.hosts, state.destination_prefix[destination]]
    if number < 0:
        return own
    least = load_of(state, state.set_links[state.set_first[number]])
    for place in range(state.set_first[number] + 1, state.set_first[number + 1]):
        least = min(least, load_of(state, state.set_links[place]))
    return max(own, least)


@compiled
def member(state: FluidState, next_hops: Int32, node: int, number: int, destination: int, hashed: int) -> int:
    """Return the link of a next-hop set that a flow takes."""
    run, first = state.run[0], state.set_first[number]
    size = state.set_first[number + 1] - first
    if size == 1:
        return int(state.set_links[first])
    if run.same_seed:
        own = mix(hashed) % size
    elif node < run.hosts and not run.raw:
        own = (hashed & 0x7FFFFFFF) % size
    else:
        own = (mix(hashed ^ state.seeds[node]) * int(size)) >> 32
    chosen = state.set_links[first + own]
    if run.rule == HASHED or node < run.hosts:
        return int(chosen)
    # Equal ones are taken in an order that differs by flow.
    least = load_by(state, next_hops, chosen, destination)
    for offset in range(1, size):
        link = state.set_links[first + (own + offset) % size]
        value = load_by(state, next_hops, link, destination)
        if value < least:
            chosen, least = link, value
    return int(chosen)


@compiled
def serialization_ps(state: FluidState, task: int, link: int) -> int:
    """Return how long one packet of a flow takes on a link."""
    run = state.run[0]
    size = min(state.tasks[task].amount, run.payload) + run.header
    return int(size * 8 * (PS_PER_S / state.links[link].rate) + 0.5)


@compiled
def single_path(state: FluidState, next_hops: Int32, task: int) -> tuple[int, int]:
    """Write one path of a flow into `state.path`; return its links, 0 for none, and the latency of its last packet.

    That is the delay of all links and the serialization of a packet on all but the slowest one, where the flow's
    packets follow each other.
    """
    destination = destination_of(state, task)
    hashed = flow_hash(state, task)
    node, target = state.tasks[task].source, state.tasks[task].target
    latency, slowest = 0, 0
    for count in range(MOST_HOPS):
        number = next_set(state, next_hops, node, destination)
        if number == UNREACHABLE:
            return 0, 0
        link = member(state, next_hops, node, number, destination, hashed)
        state.path[count].link, state.path[count].share = link, 1.0
        taken = serialization_ps(state, task, link)
        slowest = max(slowest, taken)
        latency += state.links[link].delay + taken
        node = state.links[link].target
        if node == target:
            return count + 1, latency - slowest
        if node < state.run[0].hosts:
            return 0, 0
    return 0, 0


@compiled
def spread_path(state: FluidState, next_hops: Int32, task: int) -> tuple[int, int]:
    """Write all links that packets of a flow take into `state.path`, as `single_path`; every set is shared evenly.

    The latency is that of the slowest path, hop by hop. A flow has no path if any of its packets find no route.
    """
    path, shares, here, following = state.path, state.node_share, state.nodes[0], state.nodes[1]
    destination, hosts = destination_of(state, task), state.run[0].hosts
    target = state.tasks[task].target
    here[0], size = state.tasks[task].source, 1
    shares[here[0]] = 1.0
    count, latency, slowest, lost = 0, 0, 0, False
    for _ in range(MOST_HOPS):
        reached, delay, hop = 0, 0, 0
        for place in range(size):
            node = here[place]
            share = shares[node]
            shares[node] = 0.0
            number = UNREACHABLE
            if node >= hosts or count == 0:
                number = next_set(state, next_hops, node, destination)
            first, last = (0, 0) if number == UNREACHABLE else (state.set_first[number], state.set_first[number + 1])
            if first == last or count + last - first > len(path):
                lost = True
                continue
            share /= last - first
            for at in range(first, last):
                link = state.set_links[at]
                path[count].link, path[count].share = link, share
                count += 1
                delay = max(delay, state.links[link].delay)
                hop = max(hop, serialization_ps(state, task, link))
                node = state.links[link].target
                if node != target:
                    if shares[node] == 0:
                        following[reached] = node
                        reached += 1
                    shares[node] += share
        latency += delay + hop
        slowest = max(slowest, hop)
        size = reached
        for place in range(size):
            here[place] = following[place]
        if size == 0 or lost:
            break
    for place in range(size):
        shares[here[place]] = 0.0
        lost = True
    return (0, 0) if lost else (count, latency - slowest)
