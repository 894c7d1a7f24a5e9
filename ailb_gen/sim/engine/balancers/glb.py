"""GLB: the quality of the links behind the next hop, as that floods it.

Junos documentation, `protocols bgp global-load-balancing`: BGP monitors the quality of local links with EBGP sessions,
floods it to direct neighbors, and decides by the combined quality of next hops and next-next hops. How it combines them
is not documented: here the worse one counts, as the path is as good as its worst link. Of parallel links behind the
next hop the best one counts, for DLB sends over that.

Nothing of this is on the wire: all links between switches are looked at once per interval, and everybody knows the
result after the delay.
"""

from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.engine.balancers.bands import BEST, PROBABILITY, quality
from ailb_gen.sim.engine.events import add_timer
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.records import BALANCER, NEVER, NONE, State

GLB = BALANCERS["glb"].number
INTERVAL, DELAY = PROBABILITY + 1, PROBABILITY + 2
# Where the floods are in the tables of the balancer: a row each, used again and again.
FLOODS = 1


@compiled
def begin(state: State) -> None:
    """Start the timer for the first flood."""
    add_timer(state, int(state.parameters[INTERVAL]), BALANCER, NONE)


@compiled
def flood(state: State, now: int) -> None:
    """Note the quality of all links between switches, which others know after the delay."""
    # Nothing can happen any more: no flood would end a run that waits for it.
    if state.tree[1] == NEVER:
        return
    interval = int(state.parameters[INTERVAL])
    hosts = state.config[0].hosts
    row = now // interval % state.metrics.shape[1]
    for link in range(len(state.links)):
        record = state.links[link]
        if record.source >= hosts and record.target >= hosts:
            state.metrics[FLOODS, row, link] = quality(state, link, now)
    add_timer(state, now + interval, BALANCER, NONE)


@inlined
def newest(state: State, now: int) -> int:
    """Return the row of the flood that is known; NONE before the first one."""
    passed = now - int(state.parameters[DELAY]) - 1
    number = passed // int(state.parameters[INTERVAL])
    if number < 1:
        return NONE
    return int(number % state.metrics.shape[1])


@compiled
def remote(state: State, link: int, packet: int, row: int) -> int:
    """Return the best band of the links over which the switch behind a link sends a packet on, by a flood."""
    config = state.config[0]
    node = state.links[link].target
    if node < config.hosts:
        return BEST
    prefix = state.destinations[state.packets[packet].destination].prefix
    number = state.next_hops[state.run[0].version, (node - config.hosts) * config.prefixes + prefix]
    # It delivers the packet itself, to a host that takes no part; or it cannot, which is for routing to find out.
    if number < 0:
        return BEST
    entry = state.sets[number]
    best = 0
    for position in range(entry.count):
        best = max(best, int(state.metrics[FLOODS, row, state.set_links[entry.first + position]]))
    return best
