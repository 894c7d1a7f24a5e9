"""The arrays of a run, from fabric, workload and settings; their growth."""

from typing import Any, Literal

import numpy as np

from ailb_gen.sim import congestion
from ailb_gen.sim.balancers import BALANCERS, NUMBERS
from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.balancers.dispatch import HOOKS
from ailb_gen.sim.engine.congestion.dispatch import HOOKS as CONTROLS
from ailb_gen.sim.engine.random import MASK, seeded
from ailb_gen.sim.engine.records import NEVER, NONE, EngineState, Records, records
from ailb_gen.sim.engine.senders import (
    CONGESTION_PARAMETERS,
    CONTROLLED,
    CREDIT,
    LIMITER,
    PACER,
    SENDER,
    STAMP,
    STAMPS,
)
from ailb_gen.sim.engine.steered import CHOICES, STEERED
from ailb_gen.sim.engine.trimming import buffers, largest_buffer, trim_bytes, trims
from ailb_gen.sim.fabric import PS_PER_S, UNREACHABLE, FabricArrays
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.workload import COMPUTATION, Workload, shared_queue_pairs

TRANSPORTS = {
    "raw": r.RAW,
    "go-back-n": r.GO_BACK_N,
    "selective-repeat": r.SELECTIVE,
    "timeout-only": r.SELECTIVE,
    "receiver-driven": r.RECEIVER_DRIVEN,
}
# Those that acknowledge every packet, so that none is refused for coming out of order.
IN_ANY_ORDER = ("timeout-only", "receiver-driven")
FIRST_PACKETS, FIRST_TIMERS = 4096, 1024
_PLAIN: tuple[Literal["C"], Literal["W"]] = ("C", "W")
NO_LIMIT = 2**31 - 1
# The least timeout that follows from round trips, in idle round trips of the longest path. Queues and pauses can make a
# round trip so much longer from one packet to the next, and a timeout without a loss sends a whole window again.
LEAST_TIMEOUT = 100


def byte_ps(fabric: FabricArrays) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return how many ps a byte takes on every link, shape (L,), rounded."""
    return np.rint(8 * PS_PER_S / fabric.rate_bps).astype(np.int64)


def window_packets(fabric: FabricArrays, settings: SimulationSettings) -> int:
    """Return how many packets a queue pair may have in flight; NO_LIMIT for as many as it likes."""
    name = settings.transport.name
    if trims(settings) or (name != "selective-repeat" and settings.transport.window_bytes is None):
        return NO_LIMIT
    return first_window(fabric, settings)


def first_window(fabric: FabricArrays, settings: SimulationSettings) -> int:
    """Return how many packets are in flight with the window that is given, or by default."""
    if settings.transport.window_bytes is not None:
        return max(1, settings.transport.window_bytes // settings.packets.payload_bytes)
    # One bandwidth-delay product (Mittal et al., SIGCOMM 2018), and a queue if receivers keep that number in flight.
    product = longest_round_trip(fabric, settings) / float(byte_ps(fabric).min())
    queued = settings.transport.trim_above_packets if trims(settings) else 0
    return max(1, int(product / settings.packets.payload_bytes)) + queued


def longest_round_trip(fabric: FabricArrays, settings: SimulationSettings) -> float:
    """Return the round trip of a packet over two tiers of the slowest and longest links, all idle, in ps."""
    wire = settings.packets.payload_bytes + settings.header_bytes
    return 2 * 4 * float(fabric.delay_ps.max()) + 4 * wire * float(byte_ps(fabric).max())


def new_state(fabric: FabricArrays, workload: Workload, settings: SimulationSettings, seed: int) -> EngineState:
    """Return the state at time 0."""
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
    most = {name: max(values) for name, values in parameters.items()}
    controls = CONTROLS[settings.congestion.name]
    config = _config(fabric, workload, settings, classes, bits)
    hops = int(config["telemetry_hops"])
    firsts, hosts = fabric.set_first, fabric.first_destination
    queue = dict.fromkeys(("head", "tail", "ring_head", "ring_tail"), NONE)
    wires = _wires(fabric, settings)
    return EngineState(
        config=records(1, r.CONFIG, **config),
        run=records(1, r.RUN, free_packets=FIRST_PACKETS, free_flow=NONE, ready_head=NONE),
        tree=np.full(2 << bits, NEVER, np.int64),
        timers=records((2, flows + FIRST_TIMERS + len(fabric.changes) + len(fabric.forwarding)), r.TIMER),
        timer_counts=np.zeros(2, np.int64),
        links=_links(fabric),
        wires=wires,
        all_wires=wires.reshape(1, links),
        boxes=records((1, 1, 1), r.BOX),
        boxed=np.zeros((1, 1), np.int64),
        sync=np.zeros(1, np.int64),
        ports=_ports(links, settings),
        waiting=np.zeros(links, np.int32),
        queues=records((classes, links), r.QUEUE, **queue),
        held=records((classes, links), r.HELD, limit=_headroom(fabric, settings)),
        packets=chained_packets(FIRST_PACKETS, 0),
        tasks=tasks,
        limiters=limiters,
        arrivals=workload.arrivals(),
        rerouted=np.zeros(workload.count, np.int32),
        changes=_changes(fabric, settings),
        next_hops=np.stack([state.next_hops.reshape(-1) for state in fabric.forwarding]).astype(np.int32),
        fib_times=np.array([state.at_ps for state in fabric.forwarding], np.int64),
        sets=records(len(firsts) - 1, r.SET, first=firsts[:-1], count=np.diff(firsts)),
        set_links=np.array(fabric.set_links, np.int32),
        destinations=_destinations(fabric),
        hosts=records(len(hosts) - 1, r.HOST_ENTRY, links=fabric.host_set, first=hosts[:-1], count=np.diff(hosts)),
        nodes=_nodes(fabric, settings, seeded(seed ^ MASK, nodes)),
        random=seeded(seed, 4 * nodes).reshape(nodes, 4),
        histogram=np.zeros((r.BUCKETS, links), np.int32),
        buckets=np.array([int(number).bit_length() for number in range(1 << 16)], np.uint8),
        load=np.zeros((measured.load_samples if measured.load_interval_ps else 0, links), np.int64),
        parameters=records(1 + len(settings.balancer.exceptions), r.PARAMETERS, **parameters),
        metrics=np.zeros(hooks.tables(fabric, most), np.int64),
        congestion=records(1, CONGESTION_PARAMETERS, **_congestion_parameters(settings)),
        kept=records(len(limiters) if controls.keeps else 1, CONTROLLED),
        stamps=records(FIRST_PACKETS * hops or 1, STAMP),
        pacers=records(links if trims(settings) else 1, PACER, head=NONE, tail=NONE),
        **_columns(workload),
        **_flows(flows, _words(fabric, workload, settings), settings, hops, keeps=hooks.keeps(most)),
    )


def _flows(count: int, words: int, settings: SimulationSettings, hops: int, keeps: bool) -> dict[str, Any]:
    """Return the arrays by flow; `keeps`: the load balancer has records of its own."""
    name, asks = settings.transport.name, trims(settings)
    measures = name != "raw" and settings.transport.timeout_ps is None
    bits = (count if name not in ("raw", "go-back-n") else 1, words)
    return {
        "flows": records(count, r.FLOW),
        "senders": records(count if measures else 1, SENDER),
        "choices": records(count if HOOKS[settings.balancer.name].notes else 1, CHOICES),
        "controlled": records(count if CONTROLS[settings.congestion.name].keeps else 1, CONTROLLED),
        "last_stamps": records(count * hops or 1, STAMP),
        "arrived": np.zeros(bits, np.int64),
        "acknowledged": np.zeros(bits, np.int64),
        "refused": np.zeros(bits if asks else (1, 1), np.int64),
        "credits": records(count if asks else 1, CREDIT),
        "steered": records(count if keeps else 1, STEERED),
    }


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
    parts = (settings.packets, settings.transport, settings.nics, settings.measurement)
    given = {name: getattr(part, name) for part in parts for name in part.__slots__ if name in r.SETTINGS}
    transport, switches, message = settings.transport, settings.switches, settings.transport.message_bytes
    return {
        **{name: NONE if value is None else value for name, value in given.items()},
        "bits": bits,
        "horizon": 1 << (63 - bits),
        "leaves": 1 << bits,
        "timer_leaf": fabric.link_count,
        "shared_buffer_bytes": largest_buffer(settings),
        "pfc": bool(np.any(switches.pfc)),
        "resume_offset_bytes": switches.resume_offset_bytes,
        "hosts": fabric.host_count,
        "prefixes": fabric.forwarding[0].next_hops.shape[1],
        "classes": classes,
        "parts": 1,
        "until": NEVER if settings.until_ps is None else settings.until_ps,
        "lazy": transport.name == "raw"
        and switches.shared_buffer_bytes is None
        and not hooks.reads_queues
        and classes == r.FIRST_DATA + 1,
        "deferred": hooks.deferred,
        "notes": hooks.notes,
        "transport": TRANSPORTS[transport.name],
        "balancer": NUMBERS[settings.balancer.name],
        "chunk": settings.balancer.parameters.get("chunk_packets", 0),
        "delayed": int(np.count_nonzero((workload.waits > 0) & (workload.start_ps > 0))),
        "round_robin": switches.scheduling == "round-robin",
        "window": window_packets(fabric, settings),
        "first_window": first_window(fabric, settings),
        "trim_bytes": trim_bytes(settings),
        "least_timeout_ps": int(LEAST_TIMEOUT * longest_round_trip(fabric, settings)),
        "message_packets": 0 if message is None else max(1, -(-message // settings.packets.payload_bytes)),
        "reordering_packets": NO_LIMIT if transport.name in IN_ANY_ORDER else transport.reordering_packets,
        "timeout_few_ps": NONE if transport.timeout_ps is None else transport.timeout_few_ps or transport.timeout_ps,
        **_congestion(fabric, settings),
    }


def _congestion(fabric: FabricArrays, settings: SimulationSettings) -> dict[str, float]:
    """Return what the engine knows of congestion control, and the headers with what switches write."""
    hooks = CONTROLS[settings.congestion.name]
    return {
        "congestion": congestion.NUMBERS[settings.congestion.name],
        "paced": hooks.paced,
        "windowed": hooks.windowed or trims(settings),
        "controlled": hooks.keeps,
        "telemetry_bytes": settings.telemetry_bytes,
        "telemetry_hops": STAMPS if congestion.CONGESTION[settings.congestion.name].telemetry else 0,
        "header_bytes": settings.header_bytes,
        "common_round_trip_ps": _congestion_parameters(settings).get("round_trip_ps", 0)
        or longest_round_trip(fabric, settings),
    }


def _congestion_parameters(settings: SimulationSettings) -> dict[str, float]:
    """Return the parameters of congestion control by their names in the engine."""
    row = congestion.CONGESTION[settings.congestion.name]
    given = row.values(settings.congestion.parameters)
    return {one.field: one.value(given[one.name]) for one in row.parameters}


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
    loss, limit = settings.switches.loss_probability, settings.switches.payload_limit_bytes
    lossy = np.zeros(fabric.link_count, np.bool_) if loss is None else loss > 0
    if limit is not None:
        lossy = lossy | (limit < settings.packets.payload_bytes)
    return records(
        fabric.link_count,
        r.WIRE,
        arrival=NEVER,
        head=NONE,
        tail=NONE,
        target=fabric.link_target,
        reverse=fabric.link_reverse,
        uplink=fabric.uplink_numbers(),
        lossy=lossy,
    )


def _ports(links: int, settings: SimulationSettings) -> Records:
    none = dict.fromkeys(("context_head", "context_tail", "ecn_min"), NONE)
    result = records(links, r.PORT, quality=r.BEST_BAND, most_bytes=NO_LIMIT, **none)
    switches = settings.switches
    if switches.ecn_min_bytes is not None:
        result["ecn_min"] = switches.ecn_min_bytes
        result["ecn_max"] = switches.ecn_max_bytes
        result["ecn_probability"] = switches.ecn_probability
    if switches.loss_probability is not None:
        result["loss"] = switches.loss_probability
    result["deaf"] = ~np.asarray(switches.obeys_pauses)
    if switches.payload_limit_bytes is not None:
        most = np.minimum(switches.payload_limit_bytes + settings.header_bytes, NO_LIMIT)
        result["most_bytes"] = most
    return result


def _changes(fabric: FabricArrays, settings: SimulationSettings) -> Records:
    """Return what links are from some times on."""
    links = np.array([one.link for one in fabric.changes], np.int64)
    degraded = [one.degraded for one in fabric.changes]
    always = settings.switches.loss_probability
    loss = np.array([one.loss for one in degraded], np.float64)
    return records(
        len(links),
        r.CHANGED,
        time=np.array([one.at_ps for one in fabric.changes], np.int64),
        link=links,
        up=np.array([one.up for one in fabric.changes], np.int64),
        byte_ps=np.rint(byte_ps(fabric)[links] / np.array([one.rate for one in degraded], np.float64)),
        delay=fabric.delay_ps[links] + np.array([one.delay_ps for one in degraded], np.int64),
        loss=loss if always is None else 1.0 - (1.0 - loss) * (1.0 - always[links]),
    )


def _nodes(fabric: FabricArrays, settings: SimulationSettings, seeds: r.Ints) -> Records:
    result = records(len(seeds), r.NODE, seed=seeds, leaf=fabric.leaf_numbers())
    switches, own = settings.switches, result[fabric.host_count :]
    own["shared"] = np.maximum(buffers(settings), 0)
    own["ingress_alpha"], own["egress_alpha"] = switches.ingress_alpha, switches.egress_alpha
    own["pause"] = NONE if switches.pause_bytes is None else switches.pause_bytes
    own["headroom_pool"] = NEVER if switches.headroom_pool_bytes is None else switches.headroom_pool_bytes
    for number, switch in enumerate(settings.balancer.exceptions, 1):
        own["profile"][switch] = number
    return result


def needed_headroom(fabric: FabricArrays, settings: SimulationSettings) -> r.Ints:
    """Return the bytes that can still arrive over every link after a pause frame, shape (L,).

    What is sent in a round trip; the packet that caused it, the one that the frame waits for, and the one that is being
    sent when it comes; and the frame itself.
    """
    packets = settings.packets
    flying = (2 * fabric.delay_ps) // byte_ps(fabric)
    return flying + 3 * (packets.payload_bytes + settings.header_bytes) + packets.control_bytes


def _headroom(fabric: FabricArrays, settings: SimulationSettings) -> r.Ints:
    """Return the headroom of data that comes over every link, shape (L,); NONE where it is lossy."""
    given = -1 if settings.switches.headroom_bytes is None else settings.switches.headroom_bytes
    room = np.minimum(np.where(np.less(given, 0), needed_headroom(fabric, settings), given), NO_LIMIT)
    return np.broadcast_to(np.where(settings.switches.pfc, room, NONE), fabric.link_count)


def chained_packets(count: int, first: int) -> Records:
    """Return packets that are all free, chained from `first` on."""
    return records(count, r.PACKET, next=np.append(np.arange(first + 1, first + count), NONE))


def _tasks(workload: Workload, settings: SimulationSettings) -> tuple[Records, Records]:
    """Return the tasks, and what congestion control knows of the queue pairs that several of them have."""
    none = dict.fromkeys(("start", "finish", "flow", "limiter"), NONE)
    result = records(workload.count, r.TASK, waits=workload.waits, **none)
    if workload.priority is not None:
        result["priority"] = workload.priority
    shared = 0
    if settings.congestion.name != "none":
        result["limiter"], shared = shared_queue_pairs(workload)
    return result, records(max(1, shared), LIMITER, flow=NONE)


def _columns(workload: Workload) -> dict[str, Any]:
    """Return what the workload says of tasks, in the form for which the engine is compiled; no copy of what has it."""
    narrow = {name: getattr(workload, name) for name in ("source", "target", "queue_pair", "port")}
    found = {f"task_{name}": np.require(column, np.int32, _PLAIN) for name, column in narrow.items()}
    return {
        **found,
        "task_amount": np.require(workload.amount, np.int64, _PLAIN),
        "task_not_before": np.require(workload.start_ps, np.int64, _PLAIN),
        "first_successor": np.require(workload.first_successor, np.int64, _PLAIN),
        "successors": np.require(workload.successors, np.int32, _PLAIN),
    }


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


def _parameters(settings: SimulationSettings) -> dict[str, list[float]]:
    """Return the parameters of the load balancer by their names in the engine: of most switches, then of others."""
    balancer = settings.balancer
    row = BALANCERS[balancer.name]
    profiles = [row.values(given) for given in (balancer.parameters, *balancer.exceptions.values())]
    return {one.field: [one.value(given[one.name]) for given in profiles] for one in row.parameters}
