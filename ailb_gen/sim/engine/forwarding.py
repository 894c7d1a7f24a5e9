"""Forwarding in switches, independent of the load balancer: next hops, admission, loss."""

from ailb_gen.sim.engine.buffers import admit
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.links import append_or_send, join
from ailb_gen.sim.engine.nic import release_flow
from ailb_gen.sim.engine.records import CONTROL, NONE, EngineState
from ailb_gen.sim.engine.routes import fib_entry
from ailb_gen.sim.engine.trimming import trim
from ailb_gen.sim.engine.wire import free_packet
from ailb_gen.sim.fabric import LOCAL


@compiled
def lose(state: EngineState, packet: int) -> None:
    """Drop a packet, which nobody sends again here."""
    flow = state.packets[packet].flow
    free_packet(state, packet)
    if flow != NONE:
        release_flow(state, flow)


@compiled
def refuse(state: EngineState, link: int, packet: int, now: int) -> None:
    """Trim or drop a packet for which there is no room before a link."""
    trimmed = trim(state, link, packet)
    if trimmed != NONE:
        append_or_send(state, link, trimmed, now)
        return
    state.ports[link].drops += 1
    state.run[0].drops += 1
    lose(state, packet)


@inlined
def next_hops(state: EngineState, node: int, packet: int) -> int:
    """Return the next-hop set of a packet at a switch."""
    destination = state.destinations[state.packets[packet].destination]
    entry = fib_entry(state, node, destination.prefix)
    return destination.delivery if entry == LOCAL else entry


@inlined
def is_idle(state: EngineState, link: int, priority: int, now: int) -> bool:
    """Return whether a packet of a class would be sent at once, without joining the queue."""
    record = state.links[link]
    idle = record.free <= now and not record.backlog and not (record.paused >> priority) & 1
    return idle and not state.config[0].deferred


@inlined
def send_on(state: EngineState, node: int, link: int, packet: int, now: int) -> None:
    """Send a packet of a switch over a link if it goes at once or there is room for it."""
    priority = state.packets[packet].priority
    if (
        state.config[0].shared_buffer_bytes != NONE
        and priority > CONTROL
        and not is_idle(state, link, priority, now)
        and not admit(state, node, link, packet, now)
    ):
        refuse(state, link, packet, now)
        return
    join(state, link, packet, now)
