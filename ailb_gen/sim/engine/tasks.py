"""The graph of flows and computations: who may start, who has ended."""

from ailb_gen.sim.engine.events import add_timer
from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.records import ARRIVALS, COMPUTED, NONE, START, EngineState


@inlined
def make_ready(state: EngineState, task: int, now: int) -> None:
    """Start a task as soon as its time has come."""
    record = state.tasks[task]
    run = state.run[0]
    if record.not_before > now:
        add_timer(state, record.not_before, START, task)
        return
    record.next_ready = NONE
    if run.ready_head == NONE:
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
    for number in range(record.first_successor, state.tasks[task + 1].first_successor):
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
        time = state.tasks[task].not_before
        if time > now:
            add_timer(state, time, ARRIVALS, NONE)
            return
        run.arrival += 1
        make_ready(state, task, now)


@compiled
def compute(state: EngineState, task: int, now: int) -> None:
    """Start a computation."""
    if state.tasks[task].amount == 0:
        end_task(state, task, now)
    else:
        add_timer(state, now + state.tasks[task].amount, COMPUTED, task)
