"""The shared buffer of a switch: admission, thresholds, pause and resume."""

from ailb_gen.sim.engine.events import moment, schedule
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.records import FRAMES, FREED, NEVER, NONE, PAUSE, RESUME, EngineState
from ailb_gen.sim.engine.wire import append, new_packet, transmit


@inlined
def _threshold(state: EngineState, node: int) -> int:
    """Return how long an ingress queue may be."""
    record = state.nodes[node]
    if record.pause != NONE:
        return record.pause
    return int(record.ingress_alpha * (record.shared - record.used))


@compiled
def _send_frame(state: EngineState, kind: int, came: int, priority: int, now: int) -> None:
    """Send a pause or resume frame of a class to the other end of the link over which packets came."""
    back = state.wires[came].reverse
    frame = new_packet(state, kind, NONE, state.config[0].control_bytes)
    state.packets[frame].extra = priority
    state.packets[frame].priority = FRAMES
    record = state.links[back]
    if record.free <= now and not record.backlog:
        transmit(state, back, frame, now)
        schedule(state, back)
        return
    append(state, back, frame)
    if record.wake == NEVER:
        record.wake = moment(max(record.free, now), FREED)
        schedule(state, back)


@compiled
def admit(state: EngineState, node: int, link: int, packet: int, now: int) -> bool:
    """Return whether a switch has room for a packet, and count it; pause who sent it when its share is used up."""
    config = state.config[0]
    record = state.nodes[node]
    size = state.packets[packet].bytes
    came, priority = state.packets[packet].came, state.packets[packet].priority
    if not config.pfc or state.held[priority, came].limit == NONE:
        rest = record.shared - record.used
        queued = state.queues[priority, link].bytes + size
        if size > rest or queued > record.egress_alpha * rest or queued > config.trim_bytes:
            return False
        record.used += size
        return True
    ingress = state.held[priority, came]
    if ingress.ingress + size > _threshold(state, node) or record.used + size > record.shared:
        if ingress.headroom + size > ingress.limit or record.headroom + size > record.headroom_pool:
            return False
        ingress.headroom += size
        record.headroom += size
    else:
        ingress.ingress += size
        record.used += size
    wire = state.wires[came]
    if not (wire.pausing >> priority) & 1 and (ingress.headroom > 0 or ingress.ingress >= _threshold(state, node)):
        wire.pausing |= 1 << int(priority)
        _send_frame(state, PAUSE, came, priority, now)
    return True


@compiled
def release(state: EngineState, link: int, packet: int) -> None:
    """Count a packet out that leaves a switch over a link; let its sender go on when there is room again."""
    config = state.config[0]
    node = state.links[link].source
    record = state.nodes[node]
    size = state.packets[packet].bytes
    came, priority = state.packets[packet].came, state.packets[packet].priority
    if not config.pfc or state.held[priority, came].limit == NONE:
        record.used -= size
        return
    ingress = state.held[priority, came]
    spare = min(ingress.headroom, size)
    ingress.headroom -= spare
    record.headroom -= spare
    ingress.ingress -= size - spare
    record.used -= size - spare
    wire = state.wires[came]
    if not (wire.pausing >> priority) & 1 or ingress.headroom:
        return
    if ingress.ingress == 0 or ingress.ingress + config.resume_offset_bytes <= _threshold(state, node):
        wire.pausing &= ~(1 << int(priority))
        _send_frame(state, RESUME, came, priority, state.run[0].now)
