"""The lowest layer: records of packets, the wire of a link, the queues before it."""

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.events import moment
from ailb_gen.sim.engine.jit import compiled, inlined, prefetch
from ailb_gen.sim.engine.records import EngineState


@inlined
def new_packet(state: EngineState, kind: int, flow: int, bytes_: int) -> int:
    """Return a packet of a flow (NONE: of none); there must be a free one."""
    run = state.run[0]
    number = run.free_packet
    packet = state.packets[number]
    run.free_packet = packet.next
    run.free_packets -= 1
    packet.next = r.NONE
    packet.flow = flow
    packet.kind = kind
    packet.bytes = bytes_
    packet.came = r.NONE
    packet.hops = 0
    packet.marked = 0
    packet.priority = r.CONTROL
    packet.tag = 0
    packet.metric = 0
    if flow != r.NONE and state.config[0].parts == 1:
        state.flows[flow].references += 1
    return number


@inlined
def free_packet(state: EngineState, number: int) -> None:
    """Free the record of a packet."""
    run = state.run[0]
    packet = state.packets[number]
    if packet.flow != r.NONE and state.config[0].parts == 1:
        state.flows[packet.flow].references -= 1
    packet.next = run.free_packet
    run.free_packet = number
    run.free_packets += 1


@inlined
def turn(state: EngineState, number: int, kind: int, destination: int) -> None:
    """Make a packet what answers it; it keeps its flow, tag, mark, and when it was sent."""
    packet = state.packets[number]
    packet.kind = kind
    packet.bytes = state.config[0].control_bytes
    packet.came = r.NONE
    packet.hops = 0
    packet.priority = r.CONTROL
    packet.metric = 0
    packet.destination = destination
    packet.key ^= r.ANSWER


@compiled
def _stamp(state: EngineState, link: int, number: int, start: int) -> None:
    """Let a switch note on a data packet how full its link is; a host makes room for that."""
    hops, record, packet = state.config[0].telemetry_hops, state.links[link], state.packets[number]
    hop = int(packet.hops) - 1
    if hop >= hops:
        return
    if hop >= 0:
        stamp = state.stamps[number * hops + hop]
        stamp.link, stamp.at, stamp.sent = link, start, record.bytes
        stamp.queued = state.queues[packet.priority, link].bytes
    if hop + 1 < hops:
        state.stamps[number * hops + hop + 1].link = r.NONE


@compiled
def _box(state: EngineState, link: int, arrival: int) -> None:
    """Tell another part that packets are on the way to it."""
    own, other = state.run[0].part, state.wires[link].away - 1
    box = state.boxes[own, other, state.boxed[own, other]]
    box.link, box.arrival = link, arrival
    state.boxed[own, other] += 1


@inlined
def transmit(state: EngineState, link: int, number: int, start: int) -> None:
    """Put a packet on the wire of a link that is free; the caller schedules the link."""
    record = state.links[link]
    packet = state.packets[number]
    record.free = start + packet.bytes * record.byte_ps
    arrival = record.free + record.delay
    packet.next = r.NONE
    if state.config[0].telemetry_hops and packet.kind == r.DATA:
        _stamp(state, link, number, start)
    packet.hops += 1
    wire = state.wires[link]
    if wire.head == r.NONE:
        wire.head = number
        if wire.away:
            _box(state, link, arrival)
        else:
            wire.arrival = moment(arrival, r.ARRIVED)
    else:
        last = state.packets[wire.tail]
        last.next, last.next_arrival = number, arrival
    wire.tail = number
    record.packets += 1
    record.bytes += packet.bytes
    if packet.kind == r.DATA:
        state.run[0].data_hops += 1
    interval = state.config[0].load_interval_ps
    if interval:
        sample = start // interval
        if sample < len(state.load):
            state.load[sample, link] += packet.bytes


@inlined
def arrive(state: EngineState, link: int) -> int:
    """Take the first packet off the wire; the caller schedules the link."""
    wire = state.wires[link]
    number = wire.head
    packet = state.packets[number]
    wire.head = packet.next
    wire.arrival = r.NEVER if packet.next == r.NONE else moment(packet.next_arrival, r.ARRIVED)
    prefetch(state.packets, packet.next, 0)
    return number


@inlined
def append(state: EngineState, link: int, number: int) -> None:
    """Put a packet at the end of the queue of its class."""
    record = state.links[link]
    packet = state.packets[number]
    priority = int(packet.priority)
    queue = state.queues[priority, link]
    packet.next = r.NONE
    if (record.backlog >> priority) & 1:
        state.packets[queue.tail].next = number
    else:
        queue.head = number
        record.backlog |= 1 << priority
    queue.tail = number
    queue.bytes += packet.bytes
    before = state.waiting[link]
    state.histogram[state.buckets[min(before, len(state.buckets) - 1)], link] += 1
    state.waiting[link] = before + 1
    record.peak = max(record.peak, before + 1)
    queue.peak_bytes = max(queue.peak_bytes, queue.bytes)


@inlined
def pick(state: EngineState, link: int, able: int) -> int:
    """Return the class, of those able to send (bits), whose turn it is: frames, control, the lowest or next one."""
    record = state.links[link]
    if able & 1:
        return r.FRAMES
    if able & 2:
        return r.CONTROL
    classes = state.config[0].classes
    priority = max(record.turn + 1, r.FIRST_DATA) if state.config[0].round_robin else r.FIRST_DATA
    while True:
        if priority >= classes:
            priority = r.FIRST_DATA
        if (able >> priority) & 1:
            return priority
        priority += 1
