"""The arrays of a run, from fabric, workload and settings; their growth."""

from typing import Any

import numpy as np

from ailb_gen.sim.balancers import BALANCERS, NUMBERS
from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.balancers.dispatch import HOOKS
from ailb_gen.sim.engine.random import MASK, seeded
from ailb_gen.sim.engine.records import NEVER, NONE, EngineState, Records, records
from ailb_gen.sim.fabric import PS_PER_S, UNREACHABLE, FabricArrays
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.workload import COMPUTATION, Workload, shared_queue_pairs

TRANSPORTS = {"raw": r.RAW, "go-back-n": r.GO_BACK_N, "selective-repeat": r.SELECTIVE, "timeout-only": r.SELECTIVE}
FIRST_PACKETS, FIRST_TIMERS = 4096, 1024
NO_LIMIT = 2**31 - 1
# After this many halvings nothing is left to recover.
MOST_STAGES = 2**16 - 2


def byte_ps(fabric: FabricArrays) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return how many ps a byte takes on every link, shape (L,), rounded."""
    return np.rint(8 * PS_PER_S / fabric.rate_bps).astype(np.int64)


def window_packets(fabric: FabricArrays, settings: SimulationSettings) -> int:
    """Return how many packets a queue pair may have in flight; NO_LIMIT for as many as it likes."""
    transport = settings.transport
    if transport.window_bytes is not None:
        return max(1, transport.window_bytes // settings.packets.payload_bytes)
    if transport.name != "selective-repeat":
        return NO_LIMIT
    # One bandwidth-delay product of the longest path there and back over two tiers (Mittal et al., SIGCOMM 2018).
    wire = settings.packets.payload_bytes + settings.packets.header_bytes
    slowest = float(byte_ps(fabric).max())
    round_trip = 2 * 4 * float(fabric.delay_ps.max()) + 4 * wire * slowest
    return max(1, int(round_trip / float(byte_ps(fabric).min()) / settings.packets.payload_bytes))


def new_state(fabric: FabricArrays, workload: Workload, settings: SimulationSettings, seed: int) -> EngineState:
    """Return the state at time 0."""
    words = _words(fabric, workload, settings)
    nodes = len(fabric.names)
    # Memory of records that are never used is not taken.
    flows = max(1, int(np.count_nonzero(workload.source != COMPUTATION)))
    classes = int(max(0, workload.priority.max(initial=0) if workload.priority is not None else 0)) + r.FIRST_DATA + 1
    links = fabric.link_count
    # One number more is that of the second heap of timers.
    bits = int(links + 1).bit_length()
    measured = settings.measurement
    tasks, limiters = _tasks(workload, settings)
    hooks, parameters = HOOKS[settings.balancer.name], _parameters(settings)
    firsts, hosts = fabric.set_first, fabric.first_destination
    changes = np.array([(one.at_ps, one.link, one.up) for one in fabric.changes], np.int64).reshape(-1, 3)
    queue = dict.fromkeys(("head", "tail", "ring_head", "ring_tail"), NONE)
    bitmaps = (flows if settings.transport.name not in ("raw", "go-back-n") else 1, words)
    return EngineState(
        config=records(1, r.CONFIG, **_config(fabric, workload, settings, classes, bits)),
        run=records(1, r.RUN, free_packets=FIRST_PACKETS, free_flow=NONE, ready_head=NONE),
        tree=np.full(2 << bits, NEVER, np.int64),
        timers=records((2, flows + FIRST_TIMERS + len(fabric.changes) + len(fabric.forwarding)), r.TIMER),
        timer_counts=np.zeros(2, np.int64),
        links=_links(fabric),
        wires=_wires(fabric, settings),
        ports=_ports(links, settings),
        waiting=np.zeros(links, np.int32),
        queues=records((classes, links), r.QUEUE, **queue),
        held=records((classes, links), r.HELD),
        packets=_packets(FIRST_PACKETS, 0),
        flows=records(flows, r.FLOW),
        tasks=tasks,
        limiters=limiters,
        successors=np.array(workload.successors, np.int32),
        arrivals=workload.arrivals(),
        changes=records(len(changes), r.CHANGED, time=changes[:, 0], link=changes[:, 1], up=changes[:, 2]),
        next_hops=np.stack([state.next_hops.reshape(-1) for state in fabric.forwarding]).astype(np.int32),
        fib_times=np.array([state.at_ps for state in fabric.forwarding], np.int64),
        sets=records(len(firsts) - 1, r.SET, first=firsts[:-1], count=np.diff(firsts)),
        set_links=np.array(fabric.set_links, np.int32),
        destinations=_destinations(fabric),
        hosts=records(len(hosts) - 1, r.HOST_ENTRY, links=fabric.host_set, first=hosts[:-1], count=np.diff(hosts)),
        nodes=records(nodes, r.NODE, seed=seeded(seed ^ MASK, nodes), leaf=fabric.leaf_numbers()),
        arrived=np.zeros(bitmaps, np.int64),
        acknowledged=np.zeros(bitmaps, np.int64),
        random=seeded(seed, 4 * nodes).reshape(nodes, 4),
        histogram=np.zeros((r.BUCKETS, links), np.int32),
        buckets=np.array([int(number).bit_length() for number in range(1 << 16)], np.uint8),
        load=np.zeros((measured.load_samples if measured.load_interval_ps else 0, links), np.int64),
        parameters=records(1, r.PARAMETERS, **parameters),
        metrics=np.zeros(hooks.tables(fabric, parameters), np.int64),
        steered=records(flows if hooks.keeps(parameters) else 1, r.STEERED),
    )


def _words(fabric: FabricArrays, workload: Workload, settings: SimulationSettings) -> int:
    """Return the words of bits per flow: a power of two that holds the window."""
    if settings.transport.name in ("raw", "go-back-n"):
        return 1
    flows = workload.source != COMPUTATION
    longest = int(workload.amount[flows].max(initial=1)) // settings.packets.payload_bytes + 1
    bits = min(window_packets(fabric, settings), longest) + 64
    return 1 << max(0, ((bits + 31) // 32 - 1).bit_length())


def _config(
    fabric: FabricArrays, workload: Workload, settings: SimulationSettings, classes: int, bits: int
) -> dict[str, float]:
    """Return the configuration: settings by their own names, and what follows from them and the fabric."""
    hooks = HOOKS[settings.balancer.name]
    parts = (
        settings.packets,
        settings.switches,
        settings.transport,
        settings.congestion,
        settings.nics,
        settings.measurement,
    )
    given = {name: getattr(part, name) for part in parts for name in part.__slots__ if name in r.SETTINGS}
    transport, switches, message = settings.transport, settings.switches, settings.transport.message_bytes
    return {
        **{name: NONE if value is None else value for name, value in given.items()},
        "bits": bits,
        "horizon": 1 << (63 - bits),
        "leaves": 1 << bits,
        "timer_leaf": fabric.link_count,
        "hosts": fabric.host_count,
        "prefixes": fabric.forwarding[0].next_hops.shape[1],
        "classes": classes,
        "until": NEVER if settings.until_ps is None else settings.until_ps,
        "lazy": transport.name == "raw"
        and switches.shared_buffer_bytes is None
        and not hooks.reads_queues
        and classes == r.FIRST_DATA + 1,
        "deferred": hooks.deferred,
        "transport": TRANSPORTS[transport.name],
        "dcqcn": settings.congestion.name == "dcqcn",
        "balancer": NUMBERS[settings.balancer.name],
        "chunk": settings.balancer.parameters.get("chunk_packets", 0),
        "delayed": int(np.count_nonzero((workload.waits > 0) & (workload.start_ps > 0))),
        "round_robin": switches.scheduling == "round-robin",
        "window": window_packets(fabric, settings),
        "message_packets": 0 if message is None else max(1, -(-message // settings.packets.payload_bytes)),
        "reordering_packets": NO_LIMIT if transport.name == "timeout-only" else transport.reordering_packets,
        "fast_recovery_stages": min(settings.congestion.fast_recovery_stages, MOST_STAGES),
    }


def _links(fabric: FabricArrays) -> Records:
    return records(
        fabric.link_count,
        r.LINK,
        wake=NEVER,
        delay=fabric.delay_ps,
        byte_ps=byte_ps(fabric),
        source=fabric.link_source,
    )


def _wires(fabric: FabricArrays, settings: SimulationSettings) -> Records:
    loss = settings.switches.loss_probability
    return records(
        fabric.link_count,
        r.WIRE,
        arrival=NEVER,
        head=NONE,
        tail=NONE,
        target=fabric.link_target,
        reverse=fabric.link_reverse,
        uplink=fabric.uplink_numbers(),
        lossy=False if loss is None else loss > 0,
    )


def _ports(links: int, settings: SimulationSettings) -> Records:
    none = dict.fromkeys(("context_head", "context_tail", "ecn_min"), NONE)
    result = records(links, r.PORT, quality=r.BEST_BAND, **none)
    switches = settings.switches
    if switches.ecn_min_bytes is not None:
        result["ecn_min"] = switches.ecn_min_bytes
        result["ecn_max"] = switches.ecn_max_bytes
        result["ecn_probability"] = switches.ecn_probability
    if switches.loss_probability is not None:
        result["loss"] = switches.loss_probability
    return result


def _packets(count: int, first: int) -> Records:
    """Return packets that are all free, chained from `first` on."""
    return records(count, r.PACKET, next=np.append(np.arange(first + 1, first + count), NONE))


def _tasks(workload: Workload, settings: SimulationSettings) -> tuple[Records, Records]:
    """Return the tasks, and what congestion control knows of the queue pairs that several of them have."""
    count = workload.count
    result = records(
        count + 1,
        r.TASK,
        first_successor=workload.first_successor,
        **dict.fromkeys(("start", "finish", "flow", "limiter"), NONE),
    )
    for name in ("source", "target", "queue_pair", "port", "amount", "waits"):
        result[name][:count] = getattr(workload, name)
    result["not_before"][:count] = workload.start_ps
    if workload.priority is not None:
        result["priority"][:count] = workload.priority
    shared = 0
    if settings.congestion.name == "dcqcn":
        result["limiter"][:count], shared = shared_queue_pairs(workload)
    return result, records(max(1, shared), r.LIMITER, flow=NONE)


def _destinations(fabric: FabricArrays) -> Records:
    result = records(
        len(fabric.destination_prefix),
        r.DESTINATION,
        prefix=fabric.destination_prefix,
        delivery=fabric.delivery_set,
        host=fabric.destination_hosts(),
        leaf=NONE,
    )
    reached = fabric.delivery_set != UNREACHABLE
    first = fabric.set_links[fabric.set_first[fabric.delivery_set[reached]]]
    result["leaf"][reached] = fabric.leaf_numbers()[fabric.link_source[first]]
    return result


def _parameters(settings: SimulationSettings) -> dict[str, float]:
    """Return the parameters of the load balancer by their names in the engine."""
    row = BALANCERS[settings.balancer.name]
    given = row.values(settings.balancer.parameters)
    return {one.field: one.value(given[one.name]) for one in row.parameters}


def grown(state: EngineState, reason: int) -> EngineState:
    """Return the state with more room for packets or timers."""
    run = state.run[0]
    if reason == r.NEEDS_TIMERS:
        room = state.timers.shape[1]
        timers = records((2, 2 * room + int(state.config[0]["delayed"])), r.TIMER)
        timers[:, :room] = state.timers
        return state._replace(timers=timers)
    count = max(len(state.packets), int(run["needed"]))
    first = len(state.packets)
    fresh = _packets(count, first)
    fresh["next"][-1] = run["free_packet"]
    run["free_packet"] = first
    run["free_packets"] += count
    packets = records(first + count, r.PACKET)
    packets[:first], packets[first:] = state.packets, fresh
    return state._replace(packets=packets)
