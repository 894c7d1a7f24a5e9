"""The event loop: packets are forwarded or received, links send, timers expire."""

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.balancers import dispatch as balancer
from ailb_gen.sim.engine.credits import next_pull, receive_pull
from ailb_gen.sim.engine.events import add_timer, moment, remove_timer, schedule
from ailb_gen.sim.engine.flows import compute, end_task, make_ready, next_arrivals, packets_of, start_flow
from ailb_gen.sim.engine.forwarding import lose, next_hops, send_on
from ailb_gen.sim.engine.jit import compiled, entry, inlined, reference, spliced
from ailb_gen.sim.engine.links import catch_up, kick, serve
from ailb_gen.sim.engine.nic import end_flow, rate_allows
from ailb_gen.sim.engine.random import happens
from ailb_gen.sim.engine.records import EngineState
from ailb_gen.sim.engine.transport import expire, receive_answer, receive_data, receive_trimmed
from ailb_gen.sim.engine.windows import next_window
from ailb_gen.sim.engine.wire import arrive, free_packet
from ailb_gen.sim.fabric import UNREACHABLE

# The most packets that one event makes, flows excepted, and the most timers that it starts.
SPARE = 16


@spliced
def _forward(state: EngineState, node: int, packet: int, now: int) -> None:
    """Send a packet on over one of the next hops."""
    number = next_hops(state, node, packet)
    record = state.packets[packet]
    if number == UNREACHABLE or record.hops >= r.MOST_HOPS:
        state.run[0].unreachable += 1
        lose(state, packet)
        return
    if balancer.takes(state, node, number, packet, now):
        return
    entry = state.sets[number]
    position = 0 if entry.count == 1 else balancer.choose(state, node, entry.first, entry.count, packet, now)
    link = state.set_links[entry.first + position]
    balancer.sent(state, node, link, packet, now)
    send_on(state, node, link, packet, now)


@compiled
def _stop(state: EngineState, link: int, classes: int, now: int) -> None:
    """Let exactly these classes of a link (bits) be stopped, if its sender obeys."""
    record, port = state.links[link], state.ports[link]
    if port.deaf:
        return
    before = record.paused
    record.paused = classes
    if classes and not before:
        port.paused_at = now
    if before and not classes:
        port.paused_ps += now - port.paused_at
    if before & ~classes:
        kick(state, link, now)


@compiled
def _pause(state: EngineState, link: int, packet: int, now: int) -> None:
    """Stop or restart a class of the link in the other direction, as a frame asks."""
    reverse = state.wires[link].reverse
    bit = 1 << state.packets[packet].extra
    if state.packets[packet].kind == r.PAUSE:
        state.ports[reverse].pauses += 1
        _stop(state, reverse, state.links[reverse].paused | bit, now)
    else:
        _stop(state, reverse, state.links[reverse].paused & ~bit, now)
    free_packet(state, packet)


@inlined
def _is_lost(state: EngineState, link: int, packet: int, now: int) -> bool:
    """Return whether a packet is lost on a link that fails, failed while it was under way, or loses at random."""
    wire, port = state.wires[link], state.ports[link]
    if wire.down or now <= port.lost_until:
        return True
    if state.packets[packet].bytes > port.most_bytes and state.packets[packet].kind == r.DATA:
        return True
    # A port repeats its pause frames for as long as they hold.
    if port.loss == 0.0 or state.packets[packet].kind in (r.PAUSE, r.RESUME):
        return False
    return happens(state, wire.target, port.loss)


@compiled
def _receive_other(state: EngineState, packet: int, now: int) -> None:
    """Take a packet of a kind that few runs have at its host."""
    kind = state.packets[packet].kind
    if kind == r.TRIMMED:
        receive_trimmed(state, packet, now)
    elif kind == r.PULL:
        receive_pull(state, packet, now)
    else:
        balancer.receive(state, packet, now)


@spliced
def _arrival(state: EngineState, link: int, now: int) -> None:
    """Take the first packet off a link: a switch forwards it, a host receives it."""
    packet = arrive(state, link)
    if state.config[0].lazy:
        catch_up(state, link, now)
    schedule(state, link)
    wire, record = state.wires[link], state.packets[packet]
    if wire.lossy and _is_lost(state, link, packet, now):
        state.ports[link].lost += 1
        state.run[0].lost += 1
        lose(state, packet)
        return
    kind = record.kind
    if kind in (r.PAUSE, r.RESUME):
        _pause(state, link, packet, now)
        return
    record.came = link
    if wire.target >= state.config[0].hosts:
        _forward(state, wire.target, packet, now)
    elif kind == r.DATA:
        receive_data(state, packet, now)
    elif kind in (r.ACK, r.NACK):
        receive_answer(state, packet, now)
    else:
        _receive_other(state, packet, now)


@compiled
def _change_speed(state: EngineState, number: int) -> None:
    """Let a link have another rate and delay; packets that it sends then do not arrive before those on the wire."""
    change = state.changes[number]
    link = state.links[change.link]
    arrived = link.free + link.delay
    link.byte_ps, link.delay = change.byte_ps, change.delay
    if state.wires[change.link].head != r.NONE and arrived - link.delay > link.free:
        link.free = arrived - link.delay
        if link.wake != r.NEVER:
            link.wake = moment(link.free, r.FREED)
        schedule(state, change.link)


@compiled
def _change(state: EngineState, number: int) -> None:
    """Let a link fail, come back, or carry less than it could."""
    change = state.changes[number]
    link, wire = state.links[change.link], state.wires[change.link]
    if state.config[0].lazy:
        # What it sends from now on, it sends as it is then.
        catch_up(state, change.link, change.time - 1)
    returns = wire.down and change.up
    if returns and wire.head != r.NONE:
        state.ports[change.link].lost_until = link.free + link.delay
    wire.down = 0 if change.up else 1
    wire.lossy = 1
    state.ports[change.link].loss = change.loss
    if change.byte_ps != link.byte_ps or change.delay != link.delay:
        _change_speed(state, number)
    if not returns:
        return
    # What the other direction heard last may be out of date.
    _stop(state, wire.reverse, state.wires[wire.reverse].pausing, change.time)


@spliced
def _expire(state: EngineState, heap: int, now: int) -> None:
    """Do what the first timer of a heap is for."""
    kind, subject = state.timers[heap, 0].kind, state.timers[heap, 0].subject
    remove_timer(state, heap)
    if kind == r.RATE:
        rate_allows(state, subject, now)
        kick(state, state.flows[subject].link, now)
        end_flow(state, subject)
    elif kind == r.TIMEOUT:
        expire(state, subject, now)
    elif kind == r.COMPUTED:
        end_task(state, subject, now)
    elif kind == r.START:
        make_ready(state, subject, now)
    elif kind == r.ARRIVALS:
        # Every part has such a timer.
        state.run[0].events -= 1
        next_arrivals(state, now)
    elif kind == r.CHANGE:
        _change(state, subject)
    elif kind == r.FIBS:
        state.run[0].version = subject
    elif kind == r.BALANCER:
        balancer.expire(state, subject, now)
    elif kind == r.NEXT_PULL:
        next_pull(state, subject, now)


@spliced
def _start(state: EngineState, now: int) -> int:
    """Start the next task that is ready; return GOES_ON, or what is lacking for it."""
    run = state.run[0]
    task = run.ready_head
    record = state.tasks[task]
    raw = state.task_source[task] != r.NONE and state.config[0].transport == r.RAW
    if raw and run.free_packets < packets_of(state, task) + SPARE:
        run.needed = packets_of(state, task) + SPARE
        return r.NEEDS_PACKETS
    run.ready_head = record.next_ready
    record.start = now
    if state.task_source[task] == r.NONE:
        compute(state, task, now)
    else:
        start_flow(state, task, now)
    return r.GOES_ON


@compiled
def _begin(state: EngineState) -> None:
    """Start the timers that are known from the beginning."""
    for number in range(len(state.changes)):
        add_timer(state, state.changes[number].time, r.CHANGE, number)
    for number in range(1, len(state.fib_times)):
        add_timer(state, state.fib_times[number], r.FIBS, number)
    next_arrivals(state, 0)
    balancer.begin(state, r.NONE, 0)


@spliced
def _one_event(state: EngineState) -> int:
    """Let happen what is next; return GOES_ON, or why it doesn't."""
    config, run = state.config[0], state.run[0]
    if run.free_packets < SPARE:
        run.needed = SPARE
        return r.NEEDS_PACKETS
    if max(state.timer_counts[0], state.timer_counts[1]) + SPARE + config.delayed > state.timers.shape[1]:
        return r.NEEDS_TIMERS
    if run.ready_head != r.NONE:
        return _start(state, run.now)
    key = state.tree[1]
    if key == r.NEVER:
        return r.FINISHED
    now = key >> (config.bits + r.ORDER_BITS)
    if now > run.window:
        return r.STOPPED
    run.now = now
    run.events += 1
    leaf = key & ((1 << config.bits) - 1)
    if leaf >= config.timer_leaf:
        _expire(state, leaf - config.timer_leaf, now)
    elif state.wires[leaf].arrival <= state.links[leaf].wake:
        _arrival(state, leaf, now)
    else:
        serve(state, leaf, now)
    return r.GOES_ON


@entry
def advance(arrays: EngineState, events: int) -> int:
    """Run for a number of events; return GOES_ON, FINISHED, STOPPED at the end of the time, or what must grow.

    On several cores every part of the run is advanced by a thread; all return when one does.
    """
    state = reference(arrays)
    config, run = state.config[0], state.run[0]
    if not run.begun:
        run.begun = 1
        _begin(state)
    if config.parts == 1:
        run.window = config.until
    left = events
    while True:
        result = r.GOES_ON
        while left > 0 and result == r.GOES_ON:
            left -= 1
            result = _one_event(state)
        if config.parts == 1:
            return result
        result = next_window(state, result)
        if result != r.GOES_INTO_NEXT:
            return result
