"""The records of a fluid run: what compiled functions read and write."""

from typing import NamedTuple

import numpy as np

from ailb_gen.sim.congestion import CONGESTION
from ailb_gen.sim.engine.random import MASK, seeded
from ailb_gen.sim.engine.records import Records, records
from ailb_gen.sim.fabric import PS_PER_US, FabricArrays, Float64, Int32, Int64
from ailb_gen.sim.outcome import NEVER
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.unloaded import echo_ticks
from ailb_gen.sim.workload import Workload, shared_queue_pairs

NONE = -1
# In place of a time: it does not come.
FOREVER = np.iinfo(np.int64).max

LINK = np.dtype(
    [
        ("source", "i4"),
        ("target", "i4"),
        ("rate", "f8"),  # bit/s
        ("delay", "i8"),
        ("capacity", "f8"),  # its rate; 0 while it is down
        ("load", "f8"),  # bit/s
        ("bits", "f8"),  # carried for flows that have left it
        ("sampled_to", "i8"),  # ps
        ("head", "i4"),  # its first entry
        ("limited", "i4"),  # flows whose bottleneck it is
        # Under DCQCN.
        ("inflow", "f8"),  # bit/s that reach it: less than `load` behind a full link
        ("queue", "f8"),  # bits at the time `queue_at`
        ("queue_at", "i8"),
        ("ecn_min", "f8"),  # bits; negative: nothing is marked
        ("ecn_max", "f8"),
        ("ecn_probability", "f8"),
        # Of the round in which rates are being computed.
        ("seen", "i8"),  # the last round in which it was touched
        ("residual", "f8"),  # bit/s that members may have
        ("weight", "f8"),  # sum of the shares of members without fresh rate
        ("level", "f8"),  # the fresh rate of members that it limits; negative: it limits none
        ("open", "i4"),  # entries of members without fresh rate
        ("limited_members", "i4"),
    ],
    align=True,
)
FLOW = np.dtype(
    [
        ("task", "i4"),
        ("count", "i4"),  # entries; 0: it has no path
        ("rate", "f8"),  # bit/s
        ("left", "f8"),  # bits at the time `since`
        ("since", "i8"),
        ("path_bits", "f8"),  # bits that were left when it got its path
        ("latency", "i8"),  # ps from the end of sending to the end of the flow
        ("bottleneck", "i4"),  # the link that limits the rate, or NONE
        ("place", "i4"),  # in the heap of flows
        ("key", "i8"),  # ps; not after the time at which something happens to it
        # Of the round in which rates are being computed.
        ("seen", "i8"),  # the last round that it was a member of
        ("fresh_rate", "f8"),  # negative: not yet known
        ("fresh_bottleneck", "i4"),
    ],
    align=True,
)
# What DCQCN knows of a flow, or of a queue pair between two messages.
LIMIT = np.dtype(
    [
        ("line", "f8"),  # bit/s of its first link; 0: it has not started
        ("rate", "f8"),  # bit/s that it may have
        ("target", "f8"),
        ("alpha", "f8"),
        ("alpha_at", "i8"),  # until when alpha is up to date; FOREVER: no mark has come back yet
        ("tick_at", "i8"),  # when the queues of its links are looked at next; FOREVER: they are short
        ("ticked_at", "i8"),
        ("increase_at", "i8"),
        ("ticks", "i8"),
        ("stage", "i4"),
        ("first", "i4"),  # the first mark came back at the last tick
        ("running", "i4"),  # of a queue pair: 1 + the slot of its last message, which has not ended; 0: it has
    ],
    align=True,
)
# A flow on a link. The entries of a link are a list, chained by `after` and `before`.
ENTRY = np.dtype([("link", "i4"), ("after", "i4"), ("before", "i4"), ("share", "f8"), ("inflow", "f8")], align=True)
TASK = np.dtype(
    [
        ("source", "i4"),
        ("target", "i4"),
        ("queue_pair", "i4"),
        ("port", "i4"),
        ("amount", "i8"),
        ("start_ps", "i8"),
        ("began", "i8"),
        ("ended", "i8"),
        ("waits", "i4"),
        ("rerouted", "i4"),
        ("pair", "i4"),  # the queue pair that it shares with other tasks, or NONE
    ],
    align=True,
)
TASK_COLUMNS = ("source", "target", "queue_pair", "port", "amount", "start_ps", "waits")
# Entries of heaps: tasks by time, links by level.
TIMER = np.dtype([("key", "i8"), ("number", "i4")], align=True)
LEVEL = np.dtype([("key", "f8"), ("number", "i4")], align=True)
STEP = np.dtype([("share", "f8"), ("link", "i4")], align=True)
RUN = np.dtype(
    [
        ("now", "i8"),
        ("events", "i8"),
        ("ended", "i8"),
        ("unreachable", "i8"),
        ("solved", "i8"),  # rates computed
        ("this_round", "i8"),
        ("timers", "i8"),  # the sizes of heaps, stacks and lists
        ("flowing", "i8"),
        ("free", "i8"),
        ("ready", "i8"),
        ("touched", "i8"),
        ("members", "i8"),
        ("levels", "i8"),
        # Settings.
        ("hosts", "i8"),
        ("width", "i8"),  # slot s has the entries from s << width on, 1 << width of them
        ("payload", "i8"),
        ("header", "i8"),
        ("message", "i8"),
        ("rule", "i8"),
        ("same_seed", "i8"),
        ("hash_start", "i8"),
        ("raw", "i8"),  # hosts choose a link as switches do
        ("interval", "i8"),  # of load samples; 0: none
        ("down", "i8"),  # links that are
        ("dcqcn", "i8"),
        ("seed", "i8"),
        ("gain", "f8"),
        ("alpha_interval", "i8"),
        ("cut_interval", "i8"),
        ("increase_interval", "i8"),
        ("fast_recovery", "i8"),
        ("additive", "f8"),  # bit/s
        ("hyper", "f8"),
        ("minimum", "f8"),
    ],
    align=True,
)


class FluidState(NamedTuple):
    """All arrays of a run: records, heaps, stacks and lists, and the plain arrays of `Fabric` and `Workload`."""

    run: Records  # one
    links: Records
    flows: Records  # slots
    entries: Records
    limits: Records  # by slot; one without DCQCN
    pairs: Records  # by queue pair
    echo: Float64  # (slots, ticks) the marked share of alpha's intervals before the last ticks
    tasks: Records
    first_successor: Int64
    successors: Int32
    first_destination: Int32
    destination_prefix: Int32
    host_set: Int32
    delivery_set: Int32
    set_first: Int32
    set_links: Int32
    seeds: Int64  # of the hash of nodes
    timers: Records  # a heap of tasks by time
    flowing: Int32  # slots in use, a heap by key
    free: Int32  # a stack of slots
    ready: Int32  # a stack of tasks that may start
    touched: Int32  # links to be checked in this round
    members: Int32  # slots whose rates are computed anew in this round
    levels: Records  # a heap of links
    path: Records  # the links and shares of one path
    node_share: Float64  # what arrives of a spread flow at nodes
    nodes: Int32  # (2, nodes) at which packets of a spread flow are, and will be
    samples: Float64  # (samples, L) bits


def initial(fabric: FabricArrays, workload: Workload, seed: int, slots: int, width: int, samples: int) -> FluidState:
    """Return the state before the first event; nothing is ready, and there are no timers."""
    links, nodes, tasks = fabric.link_count, len(fabric.names), workload.count
    columns = {name: getattr(workload, name) for name in TASK_COLUMNS}
    run = records(1, RUN, this_round=1, hosts=fabric.host_count, width=width, free=slots)
    return FluidState(
        run=run,
        links=records(
            links,
            LINK,
            source=fabric.link_source,
            target=fabric.link_target,
            rate=fabric.rate_bps,
            capacity=fabric.rate_bps,
            delay=fabric.delay_ps,
            head=NONE,
        ),
        flows=records(slots, FLOW),
        entries=records(slots << width, ENTRY),
        limits=records(1, LIMIT),
        pairs=records(1, LIMIT),
        echo=np.zeros((1, 1)),
        tasks=records(tasks, TASK, began=NEVER, ended=NEVER, pair=NONE, **columns),
        first_successor=workload.first_successor,
        successors=workload.successors,
        first_destination=fabric.first_destination,
        destination_prefix=fabric.destination_prefix,
        host_set=fabric.host_set,
        delivery_set=fabric.delivery_set,
        set_first=fabric.set_first,
        set_links=fabric.set_links,
        # Those that nodes have in the packet engine, so that both hash the same.
        seeds=seeded(seed ^ MASK, nodes),
        timers=records(tasks + 1, TIMER),
        flowing=np.zeros(slots, dtype=np.int32),
        free=np.arange(slots, dtype=np.int32)[::-1].copy(),
        ready=np.zeros(tasks + 1, dtype=np.int32),
        touched=np.zeros(links, dtype=np.int32),
        members=np.zeros(slots, dtype=np.int32),
        levels=records(links + 1, LEVEL),
        path=records(links + 64, STEP),
        node_share=np.zeros(nodes),
        nodes=np.zeros((2, nodes), dtype=np.int32),
        samples=np.zeros((samples, links)),
    )


def grown(state: FluidState, slots: int, width: int) -> FluidState:
    """Return the state with more slots for flows, or more entries for each."""
    run, before = state.run[0], len(state.flows)
    old, unused = int(run["width"]), int(run["free"])
    numbers = np.arange(before << old)
    moved = ((numbers >> old) << width) + (numbers & ((1 << old) - 1))
    entries = records(slots << width, ENTRY)
    entries[moved] = state.entries
    for name in ("after", "before"):
        entries[name][moved] = np.where(state.entries[name] >= 0, moved[state.entries[name]], NONE)
    heads = state.links["head"]
    state.links["head"] = np.where(heads >= 0, moved[heads], NONE)
    run["width"], run["free"] = width, unused + slots - before
    added = np.arange(before, slots, dtype=np.int32)[::-1]
    if run["dcqcn"]:
        state = state._replace(
            limits=np.concatenate([state.limits, records(slots - before, LIMIT)]).view(type(state.limits)),
            echo=np.concatenate([state.echo, np.zeros((slots - before, state.echo.shape[1]))]),
        )
    return state._replace(
        flows=np.concatenate([state.flows, records(slots - before, FLOW)]).view(type(state.flows)),
        entries=entries,
        flowing=np.concatenate([state.flowing, added]),
        free=np.concatenate([state.free[:unused], added, state.free[unused:]]),
        members=np.concatenate([state.members, added]),
    )


def limited(
    state: FluidState, fabric: FabricArrays, workload: Workload, settings: SimulationSettings, seed: int
) -> FluidState:
    """Return the state before the first event in which DCQCN limits rates; the same where no switch marks."""
    run, switches = state.run[0], settings.switches
    if switches.ecn_min_bytes is None or switches.ecn_max_bytes is None:
        return state
    given = CONGESTION["dcqcn"].values(settings.congestion.parameters)
    run["dcqcn"], run["gain"], run["seed"] = 1, given["gain"], seed & MASK
    for name in ("alpha_interval", "cut_interval", "increase_interval"):
        run[name] = round(given[f"{name}_us"] * PS_PER_US)
    for name in ("additive", "hyper", "minimum"):
        run[name] = given[f"{name}_mbps"] * 1e6
    run["fast_recovery"] = given["fast_recovery_stages"]
    state.links["ecn_min"], state.links["ecn_max"] = 8.0 * switches.ecn_min_bytes, 8.0 * switches.ecn_max_bytes
    state.links["ecn_probability"] = switches.ecn_probability
    state.tasks["pair"], shared = shared_queue_pairs(workload)
    slots = len(state.flows)
    return state._replace(
        limits=records(slots, LIMIT),
        pairs=records(shared + 1, LIMIT),
        echo=np.zeros((slots, echo_ticks(fabric, settings))),
    )
