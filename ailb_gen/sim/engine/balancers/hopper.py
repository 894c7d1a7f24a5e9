"""Hopper: hosts probe other paths when round trips grow, and take a much better one (Nosrati and Ghaderi 2025).

The base round trip of a flow is that of a full packet and its acknowledgement over the fastest links of an idle
fabric. An epoch lasts one base round trip. Only answers to packets count that took the present path. After a switch new
packets wait for the difference of the round trips, so that they do not overtake: that of the last packet in flight is
extrapolated from those of the epoch by linear regression.

With chunks, round trips are those of chunks, and a flow decides when a probe comes back; there is no wait then, as the
chunk has arrived. What a probe took counts in relation to what it takes at least.
"""

from ailb_gen.sim.engine.balancers import flowbender
from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.links import append_or_send
from ailb_gen.sim.engine.nic import defer, end_flow, nic_link
from ailb_gen.sim.engine.records import NEVER, NONE, PROBE, PROBED, EngineState
from ailb_gen.sim.engine.routes import base_round_trip
from ailb_gen.sim.engine.steered import PROBES
from ailb_gen.sim.engine.wire import free_packet, new_packet, turn


@compiled
def begin_flow(state: EngineState, flow: int, now: int) -> None:
    """Forget what is known of the flow that had this record before."""
    own = state.steered[flow]
    flowbender.begin_round_trips(state, flow, now)
    own.round_trip = 0.0
    own.next_probe = 0
    for slot in range(PROBES):
        own.probe_path[slot] = NONE
        own.probe_at[slot] = 0
        own.probe_round_trip[slot] = 0
    _begin_epoch(state, flow, now)


@compiled
def _begin_epoch(state: EngineState, flow: int, now: int) -> None:
    noted, own = state.choices[flow], state.steered[flow]
    noted.epoch_at = now
    noted.epoch_packets = 0
    own.may_probe = own.may_switch = 1
    own.round_trips = own.weighted_round_trips = 0.0


@inlined
def _was_probed(state: EngineState, flow: int, path: int, now: int) -> bool:
    """Return whether the result of a probe of this path is still of use, or to come."""
    own = state.steered[flow]
    life = state.parameters[0].probe_life_factor * own.base_round_trip
    found = False
    for slot in range(PROBES):
        found |= own.probe_path[slot] == path and now - own.probe_at[slot] <= life
    return found


@inlined
def _probe_bytes(state: EngineState) -> int:
    return int(state.parameters[0].probe_bytes) or state.config[0].control_bytes


@compiled
def _probe(state: EngineState, flow: int, now: int) -> None:
    """Send probes over random paths that were not probed lately."""
    record, own, parameters = state.flows[flow], state.steered[flow], state.parameters[0]
    # A flow remembers the probes of as many round trips as a result lives, at least four.
    slots = min(PROBES, int(parameters.paths) * max(4, int(parameters.probe_life_factor)))
    for _ in range(int(parameters.paths)):
        path = flowbender.other_path(state, flow)
        if _was_probed(state, flow, path, now):
            continue
        slot = own.next_probe
        own.next_probe = (slot + 1) % slots
        own.probe_path[slot] = path
        own.probe_at[slot] = now
        own.probe_round_trip[slot] = 0
        number = new_packet(state, PROBE, flow, _probe_bytes(state))
        packet = state.packets[number]
        packet.sent = now
        packet.destination = record.destination
        packet.key = record.key + path
        packet.priority = record.priority
        packet.tag = path
        append_or_send(state, record.link, number, now)


@inlined
def _last_round_trip(state: EngineState, flow: int) -> float:
    """Return the round trip of the last packet in flight: that of the epoch's answers, extrapolated."""
    record, own = state.flows[flow], state.steered[flow]
    count = state.choices[flow].epoch_packets
    mean = own.round_trips / count
    if count < 2:
        return float(mean)
    middle = (count - 1) / 2.0
    slope = (own.weighted_round_trips - middle * own.round_trips) * 12.0 / (float(count) * (float(count) * count - 1.0))
    ahead = record.next - record.acknowledged
    return float(mean + slope * (count - 1 + ahead - middle))


@compiled
def _switch(state: EngineState, flow: int, now: int) -> None:
    """Take the best path that was probed lately if it is clearly better; let new packets wait for those in flight."""
    own = state.steered[flow]
    life = state.parameters[0].probe_life_factor * own.base_round_trip
    least, best = state.parameters[0].margin * own.round_trip, NONE
    if state.config[0].chunk:
        least *= base_round_trip(state, flow, _probe_bytes(state), 1) / float(own.base_round_trip)
    for slot in range(PROBES):
        time = own.probe_round_trip[slot]
        if time and now - own.probe_at[slot] <= life and time < least:
            least, best = float(time), slot
    if best == NONE:
        return
    own.may_switch = 0
    wait = 0.0 if state.config[0].chunk else _last_round_trip(state, flow) - least
    flowbender.move(state, flow, own.probe_path[best], now)
    own.probe_path[best] = NONE
    own.probe_round_trip[best] = 0
    if wait > 0.0:
        defer(state, flow, now + int(wait))


@inlined
def _is_congested(state: EngineState, flow: int) -> bool:
    """Return whether a flow is to leave its path, and has not tried to in this epoch."""
    own = state.steered[flow]
    return bool(own.may_switch and own.round_trip > state.parameters[0].congested_factor * own.base_round_trip)


@compiled
def answered(state: EngineState, flow: int, sent: int, marked: int, now: int) -> None:
    """Take the round trip of a packet that was sent at a time."""
    noted, own = state.choices[flow], state.steered[flow]
    sent = flowbender.round_trip_began(state, flow, sent, now)
    if sent == NEVER or sent < noted.moved_at:
        return
    if now - noted.epoch_at >= own.base_round_trip:
        _begin_epoch(state, flow, now)
    time = float(now - sent)
    alpha = state.parameters[0].alpha
    own.round_trip = time if not noted.epoch_packets else alpha * time + (1.0 - alpha) * own.round_trip
    own.round_trips += time
    own.weighted_round_trips += time * noted.epoch_packets
    noted.epoch_packets += 1
    if own.may_probe and own.round_trip > state.parameters[0].probe_factor * own.base_round_trip:
        own.may_probe = 0
        _probe(state, flow, now)
    if not state.config[0].chunk and _is_congested(state, flow):
        own.may_switch = 0
        _switch(state, flow, now)


@compiled
def _note_probed(state: EngineState, packet: int, now: int) -> None:
    """Note how long a probe took there and back."""
    answer = state.packets[packet]
    own = state.steered[answer.flow]
    for slot in range(PROBES):
        if own.probe_path[slot] == answer.tag and own.probe_at[slot] == answer.sent:
            own.probe_round_trip[slot] = now - answer.sent
    record = state.flows[answer.flow]
    if state.config[0].chunk and record.next < record.packets and _is_congested(state, answer.flow):
        _switch(state, answer.flow, now)


@compiled
def receive(state: EngineState, packet: int, now: int) -> None:
    """Take a probe at the target of its flow, or its answer at the source."""
    flow = state.packets[packet].flow
    if state.packets[packet].kind == PROBE:
        turn(state, packet, PROBED, state.flows[flow].back)
        append_or_send(state, nic_link(state, state.flows[flow].target, flow), packet, now)
        return
    _note_probed(state, packet, now)
    free_packet(state, packet)
    end_flow(state, flow)


HOOKS = {
    "hopper": Hooks(
        begin_flow=begin_flow, answered=answered, receive=receive, notes=True, keeps=lambda parameters: True
    )
}
