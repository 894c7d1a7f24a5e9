"""The graph of flows and computations: who may start, who has ended; records of flows and their first packets."""

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.balancers.dispatch import begin_flow, choose
from ailb_gen.sim.engine.bits import forget_all
from ailb_gen.sim.engine.congestion import queue_pairs
from ailb_gen.sim.engine.credits import begin_credits
from ailb_gen.sim.engine.events import add_timer
from ailb_gen.sim.engine.jit import compiled, inlined, spliced
from ailb_gen.sim.engine.links import join, kick
from ailb_gen.sim.engine.nic import activate, begin_message, data_packet, nic_link
from ailb_gen.sim.engine.random import mix
from ailb_gen.sim.engine.records import EngineState
from ailb_gen.sim.engine.steered import HOPS
from ailb_gen.sim.engine.timeouts import begin_measuring
from ailb_gen.sim.fabric import UNREACHABLE


@inlined
def packets_of(state: EngineState, task: int) -> int:
    """Return how many packets a flow has."""
    payload = state.config[0].payload_bytes
    return (state.task_amount[task] + payload - 1) // payload


@inlined
def _begin_choices(state: EngineState, flow: int, now: int) -> None:
    """Forget what the load balancer noted of the flow that had this record before."""
    noted = state.choices[flow]
    noted.epoch_at, noted.moved_at = r.NEVER, now
    noted.epoch_packets = noted.epoch_marks = 0
    for hop in range(HOPS):
        noted.choice[hop] = r.NONE
        noted.chosen_at[hop] = 0


@compiled
def _new_flow(state: EngineState, task: int, now: int) -> int:
    """Return the record of a flow that starts."""
    config, run = state.config[0], state.run[0]
    sender, receiver, queue_pair = state.task_source[task], state.task_target[task], state.task_queue_pair[task]
    number = run.free_flow
    if number == r.NONE:
        number = run.fresh_flow
        run.fresh_flow += 1
        flow = state.flows[number]
    else:
        flow = state.flows[number]
        run.free_flow = flow.ring_next
    state.tasks[task].flow = number
    target, source = state.hosts[receiver], state.hosts[sender]
    flow.task = task
    flow.references = 0
    flow.source, flow.target = sender, receiver
    flow.destination = target.first + queue_pair % target.count
    flow.back = source.first + queue_pair % source.count
    ends = mix(int(sender) + (int(receiver) << 24))
    # Some ps between two messages of a host are no difference to their hash.
    flow.key = mix((ends << 30) + (int(now) if state.parameters[0].hash_start else int(state.task_port[task])))
    flow.packets = packets_of(state, task)
    flow.last_bytes = state.task_amount[task] - (flow.packets - 1) * config.payload_bytes
    flow.priority = state.tasks[task].priority + r.FIRST_DATA
    flow.ring_next = r.NONE
    flow.phase = r.IDLE
    flow.next = flow.unsent = flow.acknowledged = flow.repair = flow.highest = 0
    flow.recovery = r.NONE
    flow.timer = 0
    if config.transport != r.RAW and config.timeout_ps == r.NONE:
        begin_measuring(state, number)
    flow.available = now
    flow.expected = flow.arrived = 0
    flow.latest = flow.refused = r.NONE
    flow.refused_at = flow.back_at = 0
    flow.context = 0
    flow.path = 0
    flow.marks = 0
    if config.notes:
        _begin_choices(state, number, now)
    begin_flow(state, number, now)
    if config.transport >= r.SELECTIVE:
        forget_all(state.arrived, number)
        forget_all(state.acknowledged, number)
    if config.transport == r.RECEIVER_DRIVEN:
        begin_credits(state, number)
    return number


@spliced
def _nic(state: EngineState, flow: int, packet: int, now: int) -> int:
    """Return the link over which a host sends a packet."""
    source = state.flows[flow].source
    entry = state.sets[state.hosts[source].links]
    if entry.count == 1:
        return state.set_links[entry.first]
    return state.set_links[entry.first + choose(state, source, entry.first, entry.count, packet, now)]


@spliced
def start_flow(state: EngineState, task: int, now: int) -> None:
    """Start a flow: all of its packets at once (raw), or its queue pair."""
    if state.hosts[state.task_source[task]].links == UNREACHABLE:
        state.run[0].packets += packets_of(state, task)
        state.run[0].unreachable += packets_of(state, task)
        return
    flow = _new_flow(state, task, now)
    record = state.flows[flow]
    if state.config[0].transport == r.RAW:
        state.run[0].packets += record.packets
        for sequence in range(record.packets):
            packet = data_packet(state, flow, sequence, now)
            join(state, _nic(state, flow, packet, now), packet, now)
        return
    record.link = nic_link(state, record.source, flow)
    if state.config[0].message_ps:
        begin_message(state, flow, now)
    if state.config[0].congestion:
        queue_pairs.begin(state, flow, now)
    if activate(state, flow, now):
        kick(state, record.link, now)


@inlined
def make_ready(state: EngineState, task: int, now: int) -> None:
    """Start a task as soon as its time has come."""
    record = state.tasks[task]
    run = state.run[0]
    if state.task_not_before[task] > now:
        add_timer(state, state.task_not_before[task], r.START, task)
        return
    record.next_ready = r.NONE
    if run.ready_head == r.NONE:
        run.ready_head = task
    else:
        state.tasks[run.ready_tail].next_ready = task
    run.ready_tail = task


@compiled
def end_task(state: EngineState, task: int, now: int) -> None:
    """Note the end of a task; what waited for nothing else may start."""
    record = state.tasks[task]
    record.finish = now
    state.run[0].ended += 1
    for number in range(state.first_successor[task], state.first_successor[task + 1]):
        successor = state.successors[number]
        state.tasks[successor].waits -= 1
        if state.tasks[successor].waits == 0:
            make_ready(state, successor, now)


@compiled
def next_arrivals(state: EngineState, now: int) -> None:
    """Make the tasks ready that wait for nothing and whose time has come; start the timer for the next one."""
    run = state.run[0]
    while run.arrival < len(state.arrivals):
        task = state.arrivals[run.arrival]
        time = state.task_not_before[task]
        if time > now:
            add_timer(state, time, r.ARRIVALS, r.NONE)
            return
        run.arrival += 1
        make_ready(state, task, now)


@compiled
def compute(state: EngineState, task: int, now: int) -> None:
    """Start a computation."""
    if state.task_amount[task] == 0:
        end_task(state, task, now)
    else:
        add_timer(state, now + state.task_amount[task], r.COMPUTED, task)
