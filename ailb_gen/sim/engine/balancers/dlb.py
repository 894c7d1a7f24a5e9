"""DLB in its three modes, GLB and RLB: the best quality band of the next hops, at random among equals.

Bands are 7 (best) to 0. Junos documentation, "Customize Egress Port Link Quality Metrics for DLB": up to a minimum of
the load the band is 7, above a maximum 0, and the six others divide what is between evenly; load and queue have
weights. The load is an exponentially weighted moving average over the samples; its weight is that of Broadcom's
examples of DLB in the OpenBCM SDK (exponent 3). The queue is what waits at the time of the sample. A link is sampled
when it is examined, at most at the sampling rate. Samples that were not taken count with the mean load since the last.

Junos documentation, "Dynamic Load Balancing" and "Reactive Path Rebalancing". In the modes flowlet and assigned flow
every next-hop set has a flowset table: flows whose hashes fall into one entry go together, the messages of a queue pair
one after the other among them. Packets per packet, and packets of flows that pause long enough, take the best member.

GLB adds the quality of the links behind the next hop, as that floods it. Junos documentation, `protocols bgp
global-load-balancing`: BGP monitors the quality of local links with EBGP sessions, floods it to direct neighbors, and
decides by the combined quality of next hops and next-next hops. How it combines them is not documented: here the worse
one counts, as the path is as good as its worst link. Of parallel links behind the next hop the best one counts, for DLB
sends over that. Nothing of this is on the wire: all links between switches are looked at once per interval, and
everybody knows the result after the delay.

Adaptive routing like Spectrum-X's: per packet, by the queues as they are (no samples, no load), and by floods of the
queues behind the next hops. NVIDIA publishes that its switches choose by egress queues packet by packet and tell each
other of congestion, and that its NICs place the data of packets in any order (here a setting of the transport:
selective repeat with a large `reordering`, or timeout-only). Bands, interval and delay, and that the worse band counts,
are assumptions; they are those of GLB here. Not modeled: that switches avoid links that failed elsewhere before FIBs
do.

With RLB, routing has chosen by the color of the queue pair. Several next hops are parallel links, or what a failure
left.
"""

from collections.abc import Mapping
from typing import Any

from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.balancers.simple import by_hash
from ailb_gen.sim.engine.events import add_timer
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.random import happens, mix, power, random_below
from ailb_gen.sim.engine.records import BALANCER, BEST_BAND, NEVER, NONE, EngineState
from ailb_gen.sim.engine.routes import fib_entry
from ailb_gen.sim.engine.steered import HOPS
from ailb_gen.sim.fabric import LEAF, SPINE, FabricArrays

# The share of the average that a sample leaves.
HISTORY = 1 - 1 / 8
FOREVER = float("inf")
# The tables: flowsets by the first link of a next-hop set, and of GLB the floods, a row each, used again and again.
FLOWSETS, FLOODS = 0, 1
# An entry of a flowset table: a time, and in its last bits a position plus 1.
POSITION_BITS = 10


@inlined
def _of(state: EngineState, node: int) -> Any:  # noqa: ANN401 - a record
    """Return the parameters of a switch."""
    return state.parameters[state.nodes[node].profile]


@inlined
def band(value: float, least: float, most: float) -> int:
    """Return the band of a value: 7 up to `least`, 0 above `most`."""
    if value <= least:
        return BEST_BAND
    if value > most:
        return 0
    return max(1, BEST_BAND - 1 - int((value - least) * (BEST_BAND - 1) / (most - least)))


@compiled
def _by_queue(state: EngineState, link: int) -> int:
    """Return the band of what waits before a link."""
    backlog, parameters = state.links[link].backlog, _of(state, state.links[link].source)
    queued = 0
    if backlog:
        for priority in range(state.config[0].classes):
            if (backlog >> priority) & 1:
                queued += state.queues[priority, link].bytes
    return band(float(queued), parameters.min_queue_bytes, parameters.max_queue_bytes)


@compiled
def _sample(state: EngineState, link: int, now: int) -> int:
    """Return the band of a link, and keep it."""
    sender, record, parameters = state.links[link], state.ports[link], _of(state, state.links[link].source)
    elapsed = now - record.sampled_at
    # Bytes that are not on the wire yet do not count.
    sent = sender.bytes - max(0, sender.free - now) // sender.byte_ps
    mean = (sent - record.sampled_bytes) * sender.byte_ps / elapsed
    record.load = mean + (record.load - mean) * power(HISTORY, int(elapsed / parameters.sampling_period_ps))
    record.sampled_at, record.sampled_bytes = now, sent
    by_load = band(100.0 * record.load, parameters.min_percent, parameters.max_percent)
    by_queue = _by_queue(state, link)
    weight = parameters.rate_weight_percent
    record.quality = int((weight * by_load + (100.0 - weight) * by_queue) / 100.0)
    return int(record.quality)


@inlined
def quality(state: EngineState, link: int, now: int) -> int:
    """Return the band of a link at its last sample; it may be time for another one. Without samples: of its queue."""
    record, period = state.ports[link], _of(state, state.links[link].source).sampling_period_ps
    if not period:
        return int(_by_queue(state, link))
    if now - record.sampled_at < period:
        return int(record.quality)
    return _sample(state, link, now)


@compiled
def begin(state: EngineState, subject: int, now: int) -> None:
    """Start the timer for the first flood."""
    add_timer(state, int(state.parameters[0].flood_ps), BALANCER, NONE)


@compiled
def flood(state: EngineState, subject: int, now: int) -> None:
    """Note the quality of all links between switches, which others know after the delay."""
    # Nothing can happen any more: no flood would end a run that waits for it.
    if state.tree[1] == NEVER:
        return
    interval = int(state.parameters[0].flood_ps)
    hosts = state.config[0].hosts
    row = now // interval % state.metrics.shape[1]
    for link in range(len(state.links)):
        if state.links[link].source >= hosts and state.wires[link].target >= hosts:
            state.metrics[FLOODS, row, link] = quality(state, link, now)
    add_timer(state, now + interval, BALANCER, NONE)


@compiled
def _remote(state: EngineState, link: int, packet: int, row: int) -> int:
    """Return the best band of the links over which the switch behind a link sends a packet on, by a flood."""
    node = state.wires[link].target
    if node < state.config[0].hosts:
        return BEST_BAND
    number = fib_entry(state, node, state.destinations[state.packets[packet].destination].prefix)
    # It delivers the packet itself, to a host that takes no part; or it cannot, which is for routing to find out.
    if number < 0:
        return BEST_BAND
    entry = state.sets[number]
    best = 0
    for position in range(entry.count):
        best = max(best, int(state.metrics[FLOODS, row, state.set_links[entry.first + position]]))
    return best


@compiled
def _quality(state: EngineState, link: int, packet: int, now: int, flooded: int) -> int:
    """Return the band of a path that begins with a link."""
    own = quality(state, link, now)
    if flooded == NONE or own == 0:
        return own
    return min(own, _remote(state, link, packet, flooded))


@inlined
def _flooded(state: EngineState, now: int) -> int:
    """Return the row of the flood that leaves know; NONE without GLB, or before the first one."""
    if not state.parameters[0].flood_ps:
        return NONE
    passed = now - int(state.parameters[0].flood_delay_ps) - 1
    number = passed // int(state.parameters[0].flood_ps)
    return int(number % state.metrics.shape[1]) if number >= 1 else NONE


@compiled
def best(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of a member in the best band there is, at random."""
    flooded = _flooded(state, now)
    highest, equal = -1, 0
    for position in range(count):
        seen = _quality(state, state.set_links[first + position], packet, now, flooded)
        if seen > highest:
            highest, equal = seen, 1
        elif seen == highest:
            equal += 1
    wanted = random_below(state, node, equal)
    for position in range(count):
        if _quality(state, state.set_links[first + position], packet, now, flooded) == highest:
            if wanted == 0:
                return position
            wanted -= 1
    return 0


@compiled
def _reassigned(state: EngineState, node: int, first: int, count: int, packet: int, position: int, now: int) -> int:
    """Return the member for an active flow: the same one, unless another is better by the configured delta."""
    flooded = _flooded(state, now)
    other = best(state, node, first, count, packet, now)
    gain = _quality(state, state.set_links[first + other], packet, now, flooded)
    gain -= _quality(state, state.set_links[first + position], packet, now, flooded)
    return other if gain >= _of(state, node).quality_delta else position


@compiled
def _by_flowset(state: EngineState, node: int, first: int, count: int, packet: int, now: int, inactivity: float) -> int:
    """Return the position that the entry of a packet says, unless nothing came for so long; without one, the best."""
    parameters = _of(state, node)
    entry = (mix(state.packets[packet].key ^ state.nodes[node].seed) * int(parameters.flowset_entries)) >> 32
    kept = state.metrics[FLOWSETS, first, entry]
    position = int(kept & ((1 << POSITION_BITS) - 1)) - 1
    if position < 0 or position >= count or now - (kept >> POSITION_BITS) >= inactivity:
        position = best(state, node, first, count, packet, now)
    elif inactivity != FOREVER:
        # Its load is to be known when others look at it.
        quality(state, state.set_links[first + position], now)
        if parameters.quality_delta and happens(state, node, parameters.probability):
            position = _reassigned(state, node, first, count, packet, position, now)
    state.metrics[FLOWSETS, first, entry] = (now << POSITION_BITS) | (position + 1)
    hop = state.packets[packet].hops & (HOPS - 1)
    flow = state.packets[packet].flow
    noted = state.choices[flow]
    if noted.choice[hop] != first + position:
        if noted.choice[hop] != NONE:
            state.rerouted[state.flows[flow].task] += 1
        noted.choice[hop] = first + position
    return position


@inlined
def flowlet(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position that a packet takes; after a pause, and now and then before, the best one."""
    return _by_flowset(state, node, first, count, packet, now, _of(state, node).inactivity_ps)


@inlined
def assigned_flow(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position that was the best one for the first packet."""
    return _by_flowset(state, node, first, count, packet, now, FOREVER)


@inlined
def dynamic(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position that DLB chooses, or a hash where DLB is off."""
    if _of(state, node).dynamic:
        return flowlet(state, node, first, count, packet, now)
    return by_hash(state, node, count, packet)


def tables(fabric: FabricArrays, parameters: Mapping[str, float]) -> tuple[int, int, int]:
    """Return the shape of the tables: flowsets by the first link of a next-hop set; with floods as many as needed.

    Those are the floods that are under way, and one.
    """
    rows, columns = len(fabric.set_links), int(parameters["flowset_entries"])
    if "flood_ps" not in parameters:
        return 1, rows, columns
    _, depth, links = floods(fabric, parameters)
    return 1 + FLOODS, max(rows, depth), max(columns, links)


def floods(fabric: FabricArrays, parameters: Mapping[str, float]) -> tuple[int, int, int]:
    """Return the shape of the tables with floods alone."""
    return 1 + FLOODS, int(parameters["flood_delay_ps"]) // int(parameters["flood_ps"]) + 3, fabric.link_count


HOOKS = {
    "dlb": Hooks(choose=dynamic, reads_queues=True, notes=True, remember=(LEAF, SPINE), tables=tables),
    "dlb-per-packet": Hooks(choose=best, reads_queues=True),
    "dlb-assigned-flow": Hooks(
        choose=assigned_flow, reads_queues=True, notes=True, remember=(LEAF, SPINE), tables=tables
    ),
    "glb": Hooks(
        everywhere=True, choose=dynamic, begin=begin, expire=flood, reads_queues=True, notes=True, tables=tables
    ),
    "spectrum-x": Hooks(
        everywhere=True, choose=best, begin=begin, expire=flood, reads_queues=True, deferred=True, tables=floods
    ),
    "rlb": Hooks(choose=dynamic, reads_queues=True, notes=True, remember=(LEAF, SPINE), tables=tables),
}
