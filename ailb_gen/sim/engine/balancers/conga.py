"""CONGA: the least congested path between two leaves, per flowlet (Alizadeh et al., SIGCOMM 2014).

Every link between switches has a discounting rate estimator: bytes sent over it add up, and lose a share `alpha` per
interval, so that the sum divided by what the link sends in interval / alpha is its utilization; the metric is that in
a few bits. A packet carries the number of the uplink that its leaf chose and the highest metric of its path. The leaf
of its destination keeps that, by leaf and uplink, and gives it back in the next packets to that leaf, one uplink after
the other. Acknowledgements do the same: they go over all uplinks, so that a leaf knows paths without data as well. A
leaf chooses, among some random uplinks, the lowest maximum of its own metric and the one that came back; a flow that
paused stays where it was unless another one is better.

Switches that are no leaves hash, and so do leaves among the links to their hosts.
"""

from collections.abc import Mapping

from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.balancers.simple import by_hash
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.random import power, random_below
from ailb_gen.sim.engine.records import DATA, NONE, EngineState
from ailb_gen.sim.engine.steered import HOPS
from ailb_gen.sim.fabric import LEAF, FabricArrays

# An entry of a table: the time at which it came, and in its last bits a metric.
METRIC_BITS = 8
METRIC_MASK = (1 << METRIC_BITS) - 1
# What packets carry: `tag` has leaf and uplink, `metric` the highest so far, and the metric of an uplink given back
# with the number of that plus 1.
UPLINK_BITS = 12
UPLINK_MASK = (1 << UPLINK_BITS) - 1


@inlined
def _discount(state: EngineState, link: int, now: int) -> None:
    """Let the estimator of a link forget what it has to by now."""
    record, parameters = state.ports[link], state.parameters[0]
    interval = int(parameters.dre_ps)
    passed = now - record.load_at
    if passed >= interval:
        intervals = passed // interval
        record.load *= power(1.0 - parameters.alpha, int(intervals))
        record.load_at += intervals * interval


@inlined
def _local(state: EngineState, link: int) -> int:
    """Return the metric of a link whose estimator is up to date."""
    record, parameters = state.ports[link], state.parameters[0]
    levels = 1 << int(parameters.bits)
    utilization = record.load * state.links[link].byte_ps * parameters.alpha / parameters.dre_ps
    return min(int(utilization * levels), levels - 1)


@inlined
def _columns(state: EngineState) -> int:
    """Return how many uplinks a leaf has in the tables: before them is a position, after them what came from there."""
    return (state.metrics.shape[2] - 1) >> 1


@compiled
def _congestion(state: EngineState, leaf: int, other: int, link: int, now: int) -> int:
    """Return the higher one of the metric of an uplink and that which came back for it and is not too old."""
    _discount(state, link, now)
    local = _local(state, link)
    entry = state.metrics[leaf, other, 1 + state.wires[link].uplink]
    if now - (entry >> METRIC_BITS) > state.parameters[0].aging_ps:
        return local
    return max(local, int(entry & METRIC_MASK))


@compiled
def _least_congested(state: EngineState, node: int, other: int, first: int, count: int, kept: int, now: int) -> int:
    """Return the position of the least congested one of some random members, the one kept first if there is one."""
    leaf = state.nodes[node].leaf
    wanted = min(int(state.parameters[0].samples), count)
    least, chosen, equal = METRIC_MASK + 1, kept, 0
    if kept != NONE:
        least = _congestion(state, leaf, other, state.set_links[first + kept], now)
    for position in range(count):
        # So many of the remaining ones, each with the same probability (Knuth, The Art of Computer Programming 2,
        # 3.4.2, algorithm S).
        rest = count - position
        if wanted < rest and random_below(state, node, rest) >= wanted:
            continue
        wanted -= 1
        metric = _congestion(state, leaf, other, state.set_links[first + position], now)
        if metric < least:
            least, chosen, equal = metric, position, 1
        elif metric == least and equal:
            equal += 1
            if random_below(state, node, equal) == 0:
                chosen = position
    return chosen


@compiled
def choose(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of the member that the flowlet of a packet takes."""
    record = state.packets[packet]
    leaf, other = state.nodes[node].leaf, state.destinations[record.destination].leaf
    if min(leaf, other) == NONE or leaf == other:
        return by_hash(state, node, count, packet)
    hop = record.hops & (HOPS - 1)
    noted = state.choices[record.flow]
    # A place in all sets: other next hops, after a failure, are another choice.
    kept = noted.choice[hop] - first if first <= noted.choice[hop] < first + count else NONE
    position = kept
    if kept == NONE or now - noted.chosen_at[hop] > state.parameters[0].gap_ps:
        position = _least_congested(state, node, other, first, count, kept, now)
        if noted.choice[hop] not in (NONE, first + position):
            state.rerouted[state.flows[record.flow].task] += 1
        noted.choice[hop] = first + position
    noted.chosen_at[hop] = now
    return position


@inlined
def _given_back(state: EngineState, leaf: int, other: int, now: int) -> int:
    """Return an uplink of another leaf and the metric of packets that came over it, as packets carry them; 0: none."""
    table = state.metrics
    columns = _columns(state)
    position = table[leaf, other, 0]
    for _ in range(columns):
        uplink = position
        position = 0 if position + 1 == columns else position + 1
        entry = table[leaf, other, 1 + columns + uplink]
        if entry and now - (entry >> METRIC_BITS) <= state.parameters[0].aging_ps:
            table[leaf, other, 0] = position
            return int(((uplink + 1) << METRIC_BITS | (entry & METRIC_MASK)) << METRIC_BITS)
    return 0


@compiled
def sent(state: EngineState, node: int, link: int, packet: int, now: int) -> None:
    """Count a packet that a switch sends over a link; its first leaf labels it, its last one notes what it carries."""
    hosts = state.config[0].hosts
    record = state.packets[packet]
    if record.kind != DATA and not state.parameters[0].acks:
        return
    begins = state.links[record.came].source < hosts
    ends = state.wires[link].target < hosts
    leaf, other = state.nodes[node].leaf, state.destinations[record.destination].leaf
    if begins:
        if ends or min(leaf, other) == NONE:
            record.tag = NONE
            return
        record.tag = (leaf << UPLINK_BITS) | state.wires[link].uplink
        record.metric = _given_back(state, leaf, other, now)
    if record.tag == NONE:
        return
    if not ends:
        _discount(state, link, now)
        state.ports[link].load += record.bytes
        metric = max(record.metric & METRIC_MASK, _local(state, link))
        record.metric = (record.metric & ~METRIC_MASK) | metric
        return
    if leaf == NONE:
        return
    came, uplink = record.tag >> UPLINK_BITS, record.tag & UPLINK_MASK
    columns = _columns(state)
    state.metrics[leaf, came, 1 + columns + uplink] = (now << METRIC_BITS) | (record.metric & METRIC_MASK)
    returned = record.metric >> (2 * METRIC_BITS)
    if returned:
        state.metrics[leaf, came, returned] = (now << METRIC_BITS) | ((record.metric >> METRIC_BITS) & METRIC_MASK)


def tables(fabric: FabricArrays, parameters: Mapping[str, float]) -> tuple[int, int, int]:
    """Return the shape of the tables: by leaf and other leaf a position, uplinks there, uplinks from there."""
    leaves = int((fabric.tier == LEAF).sum())
    return leaves, leaves, 1 + 2 * (1 + int(fabric.uplink_numbers().max(initial=0)))


HOOKS = {"conga": Hooks(choose=choose, sent=sent, notes=True, remember=(LEAF,), tables=tables)}
