"""Run a simulation of flows: the same fabric, traffic and settings as for packets, rates instead of queues."""

from __future__ import annotations

import time
from itertools import groupby

import numpy as np

from ailb_gen.sim.balancers import BALANCERS, SPREAD
from ailb_gen.sim.engine.jit import is_compiled, one_compiler
from ailb_gen.sim.fabric import PS_PER_S, FabricArrays, Forwarding, Int32, Int64, LinkChange
from ailb_gen.sim.fluid.events import DONE, MORE_WIDTH, PAUSED, advance, change_capacity, reroute
from ailb_gen.sim.fluid.flows import sample
from ailb_gen.sim.fluid.state import FOREVER, FluidState, grown, initial, limited
from ailb_gen.sim.outcome import LINK_COUNTS, TASK_COUNTS, TOTALS, Progress, SimulationOutcome, Watch
from ailb_gen.sim.series import Counters, Sampler
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.workload import Workload

FIRST_SLOTS = 1024
# Rates computed between two reports; adjusted so that reports come several times a second.
FIRST_WORK, LEAST_WORK = 2000, 100
REPORT_S = 0.2
# Entries per flow at first, as powers of two.
FIRST_WIDTH, FIRST_WIDTH_SPREAD = 2, 5


def simulate(
    fabric: FabricArrays,
    workload: Workload,
    settings: SimulationSettings,
    seed: int,
    watch: Watch | None = None,
    sampler: Sampler | None = None,
    cores: int = 1,
) -> SimulationOutcome:
    """Return times of all tasks and bytes of all links; one of the cores is used.

    `watch` is called several times a second; once it returns False the run stops, and its outcome is not complete.
    With a sampler the outcome is the same, and has a series.
    """
    hops, end = fabric.forwarding[0].next_hops, FOREVER if settings.until_ps is None else settings.until_ps
    run = _Run(prepared(fabric, workload, settings, seed), hops, watch, sampler)
    if not is_compiled("events.advance"):
        with one_compiler():
            advance(run.state, hops, 0, 0)
    going = True
    for at_ps, changes in _changes(fabric):
        if at_ps >= end or not going:
            break
        going = run.sampled(at_ps)
        if going:
            run.state.run[0]["now"] = at_ps
            run.state, run.hops = changed(run.state, run.hops, changes)
    going = going and run.sampled(end)
    if going and settings.until_ps is not None and run.state.run[0]["ended"] < workload.count:
        run.state.run[0]["now"] = end
    return _outcome(run.state, sampler)


def prepared(fabric: FabricArrays, workload: Workload, settings: SimulationSettings, seed: int) -> FluidState:
    """Return the state before the first event, with timers for the tasks that wait for none."""
    balancer = BALANCERS[settings.balancer.name]
    rule, parameters = balancer.flow_rule(settings.balancer.parameters), balancer.values(settings.balancer.parameters)
    measured = settings.measurement
    samples = measured.load_samples if measured.load_interval_ps else 0
    flows = int(np.count_nonzero(workload.source >= 0))
    state = initial(
        fabric,
        workload,
        seed,
        max(1, min(flows, FIRST_SLOTS)),
        FIRST_WIDTH_SPREAD if rule == SPREAD else FIRST_WIDTH,
        samples,
    )
    run = state.run[0]
    run["payload"], run["header"] = settings.packets.payload_bytes, settings.packets.header_bytes
    run["message"], run["rule"] = settings.nics.message_ps, rule
    run["same_seed"], run["hash_start"] = parameters.get("same_seed", 0), parameters.get("hash_start", 0)
    run["raw"] = settings.transport.name == "raw"
    run["interval"] = measured.load_interval_ps if samples else 0
    if settings.congestion.name == "dcqcn":
        state = limited(state, fabric, workload, settings, seed)
    # In order: such a list is a heap.
    first = workload.arrivals()
    state.timers["key"][: len(first)] = workload.start_ps[first]
    state.timers["number"][: len(first)] = first
    run["timers"] = len(first)
    return state


def _changes(fabric: FabricArrays) -> list[tuple[int, list[LinkChange | Forwarding]]]:
    """Return link changes and later forwarding states by time."""
    rows: list[LinkChange | Forwarding] = [*fabric.changes, *fabric.forwarding[1:]]
    rows.sort(key=lambda row: row.at_ps)
    return [(at_ps, list(group)) for at_ps, group in groupby(rows, key=lambda row: row.at_ps)]


def changed(state: FluidState, hops: Int32, changes: list[LinkChange | Forwarding]) -> tuple[FluidState, Int32]:
    """Apply changes now and return state and next hops; the rates follow when the run continues."""
    for change in changes:
        if isinstance(change, LinkChange):
            rate = float(state.links[change.link]["rate"]) * change.degraded.rate if change.up else 0.0
            change_capacity(state, change.link, rate)
            continue
        before, hops = hops, change.next_hops
        while reroute(state, before, hops) == MORE_WIDTH:
            state, before = _wider(state), hops
    return state, hops


def _wider(state: FluidState) -> FluidState:
    return grown(state, len(state.flows), int(state.run[0]["width"]) + 1)


def advanced(state: FluidState, hops: Int32, limit: int, work: int) -> tuple[FluidState, bool]:
    """Run events before a time, growing the state as needed; return whether there are more (see `advance`)."""
    while (code := advance(state, hops, limit, work)) not in (DONE, PAUSED):
        state = _wider(state) if code == MORE_WIDTH else grown(state, 2 * len(state.flows), int(state.run[0]["width"]))
    return state, code == PAUSED


class _Run:
    """A run: its state and its next hops. It calls `watch` several times a second."""

    def __init__(self, state: FluidState, hops: Int32, watch: Watch | None, sampler: Sampler | None) -> None:
        self.state, self.hops, self.watch, self.sampler = state, hops, watch, sampler
        # What lies between two calls of `watch`.
        self.work = FIRST_WORK if watch else FOREVER // 4
        self.last = time.monotonic()

    def until(self, limit: int) -> bool:
        """Run all events before a time; return False if `watch` stopped it."""
        more = True
        while more:
            self.state, more = advanced(self.state, self.hops, limit, self.work)
            if more and not self._goes_on():
                return False
        return True

    def sampled(self, limit: int) -> bool:
        """Run all events before a time, with the samples that are due until then; False if `watch` stopped it."""
        sampler = self.sampler
        while sampler is not None and sampler.next_ps < limit:
            if not self.until(sampler.next_ps):
                return False
            if limit == FOREVER and not _moves(self.state):
                break
            sampler.take(_counters(self.state, sampler.next_ps))
        return self.until(limit)

    def _goes_on(self) -> bool:
        """Report, and return whether the run continues."""
        if self.watch is None:
            return True
        now, run = time.monotonic(), self.state.run[0]
        spent, self.last = now - self.last, now
        if spent < REPORT_S / 2:
            self.work *= 2
        elif spent > REPORT_S:
            self.work = max(LEAST_WORK, self.work // 2)
        progress = Progress(int(run["now"]), int(run["events"]), int(run["ended"]), len(self.state.tasks))
        return self.watch(progress)


def _moves(state: FluidState) -> bool:
    """Return whether something happens by itself: a timer or a ready task waits, or a flow has a rate."""
    run = state.run[0]
    flowing = state.flowing[: run["flowing"]]
    return bool(run["timers"] or run["ready"] or np.any(state.flows["rate"][flowing] > 0))


def _counters(state: FluidState, now_ps: int) -> Counters:
    none = np.zeros(len(state.links), dtype=np.int64)
    return Counters(_link_bytes(state, now_ps), none, none, none, none)


def _link_bytes(state: FluidState, now_ps: int) -> Int64:
    """Return the bytes that links have carried until a time, for flows under way, too."""
    run = state.run[0]
    slots = state.flowing[: run["flowing"]].astype(np.int64)
    # Field by field: whole records are many times as large.
    left, rate, since, path_bits, count = (
        state.flows[name][slots] for name in ("left", "rate", "since", "path_bits", "count")
    )
    sent = path_bits - np.maximum(left - rate * (now_ps - since) / PS_PER_S, 0.0)
    # Entries of every flow, in the order of the flows.
    counts = count.astype(np.int64)
    place = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    own = np.repeat(slots << int(run["width"]), counts) + place
    bits = state.links["bits"].copy()
    np.add.at(bits, state.entries["link"][own], state.entries["share"][own] * np.repeat(sent, counts))
    return np.rint(bits / 8).astype(np.int64)


def _load(state: FluidState) -> Int64:
    """Return the bytes per interval and link until now."""
    run = state.run[0]
    if not run["interval"]:
        return np.zeros((0, len(state.links)), dtype=np.int64)
    for link in range(len(state.links)):
        sample(state, link)
    rows = -(-int(run["now"]) // int(run["interval"]))
    return np.rint(state.samples[:rows] / 8).astype(np.int64)


def _outcome(state: FluidState, sampler: Sampler | None) -> SimulationOutcome:
    run, tasks, width = state.run[0], state.tasks, len(state.links)
    count, end_ps = len(tasks), int(run["now"])

    zeros = {f"link_{name}": np.zeros(width, dtype=np.int64) for name in (*LINK_COUNTS, "paused_ps")}
    zeros |= {name: np.zeros(count, dtype=np.int32) for name in (*TASK_COUNTS, "marked")}
    given = {"rerouted": tasks["rerouted"].copy(), "link_bytes": _link_bytes(state, end_ps)}
    return SimulationOutcome(
        start_ps=tasks["began"].copy(),
        finish_ps=tasks["ended"].copy(),
        **(zeros | given),
        link_peak=np.zeros(width, dtype=np.int32),
        histogram=np.zeros((width, 32), dtype=np.int64),
        load=_load(state),
        load_interval_ps=int(run["interval"]),
        totals=dict.fromkeys(TOTALS, 0) | {"unreachable": int(run["unreachable"]), "events": int(run["events"])},
        end_ps=end_ps,
        complete=bool(run["ended"] == count),
        series=sampler.finish(_counters(state, end_ps), end_ps) if sampler is not None else None,
    )
