"""The arrays of a run, from fabric, workload and settings; their growth."""

from typing import Any

import numpy as np

from ailb_gen.sim import congestion
from ailb_gen.sim.balancers import BALANCERS, NUMBERS
from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.balancers.dispatch import HOOKS
from ailb_gen.sim.engine.congestion.dispatch import HOOKS as CONTROLS
from ailb_gen.sim.engine.random import MASK, seeded
from ailb_gen.sim.engine.records import NEVER, NONE, EngineState, Records, records
from ailb_gen.sim.fabric import PS_PER_S, UNREACHABLE, FabricArrays
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.workload import COMPUTATION, Workload, shared_queue_pairs

TRANSPORTS = {"raw": r.RAW, "go-back-n": r.GO_BACK_N, "selective-repeat": r.SELECTIVE, "timeout-only": r.SELECTIVE}
FIRST_PACKETS, FIRST_FLOWS, FIRST_TIMERS = 4096, 256, 1024
NO_LIMIT = 2**31 - 1
# The least timeout that follows from round trips, in idle round trips of the longest path.
LEAST_TIMEOUT = 10


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
    # One bandwidth-delay product (Mittal et al., SIGCOMM 2018).
    product = longest_round_trip(fabric, settings) / float(byte_ps(fabric).min())
    return max(1, int(product / settings.packets.payload_bytes))


def longest_round_trip(fabric: FabricArrays, settings: SimulationSettings) -> float:
    """Return the round trip of a packet over two tiers of the slowest and longest links, all idle, in ps."""
    wire = settings.packets.payload_bytes + settings.packets.header_bytes
    return 2 * 4 * float(fabric.delay_ps.max()) + 4 * wire * float(byte_ps(fabric).max())


def new_state(fabric: FabricArrays, workload: Workload, settings: SimulationSettings, seed: int) -> EngineState:
    """Return the state at time 0."""
    words = _words(fabric, workload, settings)
    random, seeds = seeded(seed, 4), seeded(seed ^ MASK, len(fabric.names))
    classes = int(max(0, workload.priority.max(initial=0) if workload.priority is not None else 0)) + r.FIRST_DATA + 1
    links = fabric.link_count
    bits = int(links).bit_length()
    measured = settings.measurement
    tasks, limiters = _tasks(workload, settings)
    hooks, parameters = HOOKS[settings.balancer.name], _parameters(settings)
    controls = CONTROLS[settings.congestion.name]
    config = _config(fabric, workload, settings, classes, bits)
    hops = int(config["telemetry_hops"])
    firsts, hosts = fabric.set_first, fabric.first_destination
    changes = np.array([(one.at_ps, one.link, one.up) for one in fabric.changes], np.int64).reshape(-1, 3)
    queue = dict.fromkeys(("head", "tail", "ring_head", "ring_tail"), NONE)
    return EngineState(
        config=records(1, r.CONFIG, **config),
        run=records(1, r.RUN, free_packets=FIRST_PACKETS, free_flows=FIRST_FLOWS, ready_head=NONE),
        tree=np.full(2 << bits, NEVER, np.int64),
        timers=records(max(FIRST_TIMERS, len(fabric.changes) + len(fabric.forwarding) + 1), r.TIMER),
        links=_links(fabric, settings),
        waiting=np.zeros(links, np.int32),
        queues=records(links * classes, r.QUEUE, **queue),
        packets=_packets(FIRST_PACKETS, 0),
        flows=_flows(FIRST_FLOWS, 0),
        senders=records(1 if settings.transport.name == "raw" else FIRST_FLOWS, r.SENDER),
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
        nodes=records(len(seeds), r.NODE, seed=seeds, leaf=fabric.leaf_numbers()),
        arrived=np.zeros((FIRST_FLOWS, words), np.int64),
        acknowledged=np.zeros((FIRST_FLOWS, words), np.int64),
        random=random,
        histogram=np.zeros((links, r.BUCKETS), np.int64),
        buckets=np.array([int(number).bit_length() for number in range(1 << 16)], np.int32),
        load=np.zeros((measured.load_samples if measured.load_interval_ps else 0, links), np.int64),
        parameters=records(1, r.PARAMETERS, **parameters),
        metrics=np.zeros(hooks.tables(fabric, parameters), np.int64),
        congestion=records(1, r.CONGESTION_PARAMETERS, **_congestion_parameters(settings)),
        controlled=records(FIRST_FLOWS if controls.keeps else 1, r.CONTROLLED),
        kept=records(len(limiters) if controls.keeps else 1, r.CONTROLLED),
        stamps=records(FIRST_PACKETS * hops or 1, r.STAMP),
        last_stamps=records(FIRST_FLOWS * hops or 1, r.STAMP),
        steered=records(FIRST_FLOWS if hooks.keeps(parameters) else 1, r.STEERED),
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
        "balancer": NUMBERS[settings.balancer.name],
        "chunk": settings.balancer.parameters.get("chunk_packets", 0),
        "delayed": int(np.count_nonzero((workload.waits > 0) & (workload.start_ps > 0))),
        "round_robin": switches.scheduling == "round-robin",
        "window": window_packets(fabric, settings),
        "least_timeout_ps": int(LEAST_TIMEOUT * longest_round_trip(fabric, settings)),
        "message_packets": 0 if message is None else max(1, -(-message // settings.packets.payload_bytes)),
        "reordering_packets": NO_LIMIT if transport.name == "timeout-only" else transport.reordering_packets,
        "timeout_few_ps": NONE if transport.timeout_ps is None else transport.timeout_few_ps or transport.timeout_ps,
        **_congestion(fabric, settings),
    }


def _congestion(fabric: FabricArrays, settings: SimulationSettings) -> dict[str, float]:
    """Return what the engine knows of congestion control, and the headers with what switches write."""
    name = settings.congestion.name
    hooks, given = CONTROLS[name], congestion.CONGESTION[name].values(settings.congestion.parameters)
    telemetry = int(given[hooks.telemetry]) if hooks.telemetry else 0
    return {
        "congestion": congestion.NUMBERS[name],
        "paced": hooks.paced,
        "windowed": hooks.windowed,
        "controlled": hooks.keeps,
        "telemetry_bytes": telemetry,
        "telemetry_hops": r.STAMPS if hooks.telemetry else 0,
        "header_bytes": settings.packets.header_bytes + telemetry,
        "common_round_trip_ps": _congestion_parameters(settings).get("round_trip_ps", 0)
        or longest_round_trip(fabric, settings),
    }


def _congestion_parameters(settings: SimulationSettings) -> dict[str, float]:
    """Return the parameters of congestion control by their names in the engine."""
    row = congestion.CONGESTION[settings.congestion.name]
    given = row.values(settings.congestion.parameters)
    return {one.field: one.value(given[one.name]) for one in row.parameters}


def _links(fabric: FabricArrays, settings: SimulationSettings) -> Records:
    none = dict.fromkeys(("head", "tail", "context_head", "context_tail", "ecn_min"), NONE)
    result = records(
        fabric.link_count,
        r.LINK,
        arrival=NEVER,
        wake=NEVER,
        delay=fabric.delay_ps,
        byte_ps=byte_ps(fabric),
        source=fabric.link_source,
        target=fabric.link_target,
        reverse=fabric.link_reverse,
        quality=r.BEST_BAND,
        uplink=fabric.uplink_numbers(),
        **none,
    )
    switches = settings.switches
    if switches.ecn_min_bytes is not None:
        result["ecn_min"] = switches.ecn_min_bytes
        result["ecn_max"] = switches.ecn_max_bytes
        result["ecn_probability"] = switches.ecn_probability
    if switches.loss_probability is not None:
        result["loss"] = switches.loss_probability
        result["lossy"] = switches.loss_probability > 0
    return result


def _packets(count: int, first: int) -> Records:
    """Return packets that are all free, chained from `first` on."""
    return records(count, r.PACKET, next=_chained(count, first))


def _flows(count: int, first: int) -> Records:
    """Return flows that are all free, chained from `first` on."""
    return records(count, r.FLOW, ring_next=_chained(count, first), task=NONE)


def _chained(count: int, first: int) -> r.Ints:
    return np.append(np.arange(first + 1, first + count), NONE)


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
    if settings.congestion.name != "none":
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
    """Return the state with more room for packets, flows or timers."""
    run = state.run[0]
    if reason == r.NEEDS_TIMERS:
        more = records(len(state.timers) + int(state.config[0]["delayed"]), r.TIMER)
        return state._replace(timers=_joined(state.timers, more))
    if reason == r.NEEDS_FLOWS:
        count = len(state.flows)
        fresh = _flows(count, count)
        fresh["ring_next"][-1] = run["free_flow"]
        run["free_flow"] = count
        run["free_flows"] += count
        bits = np.zeros_like(state.arrived)
        if len(state.senders) == count:
            state = state._replace(senders=_joined(state.senders, records(count, r.SENDER)))
        if len(state.controlled) == count:
            state = state._replace(controlled=_joined(state.controlled, records(count, r.CONTROLLED)))
        hops = int(state.config[0]["telemetry_hops"])
        if hops:
            state = state._replace(last_stamps=_joined(state.last_stamps, records(count * hops, r.STAMP)))
        if len(state.steered) == count:
            state = state._replace(steered=_joined(state.steered, records(count, r.STEERED)))
        return state._replace(
            flows=_joined(state.flows, fresh),
            arrived=np.concatenate([state.arrived, bits]),
            acknowledged=np.concatenate([state.acknowledged, bits]),
        )
    count = max(len(state.packets), int(run["needed"]))
    first = len(state.packets)
    fresh = _packets(count, first)
    fresh["next"][-1] = run["free_packet"]
    run["free_packet"] = first
    run["free_packets"] += count
    hops = int(state.config[0]["telemetry_hops"])
    if hops:
        state = state._replace(stamps=_joined(state.stamps, records(count * hops, r.STAMP)))
    return state._replace(packets=_joined(state.packets, fresh))


def _joined(old: Records, fresh: Records) -> Records:
    """Return two arrays of records as one, of the kind that they are."""
    result = records(len(old) + len(fresh), old.dtype)
    result[: len(old)] = old
    result[len(old) :] = fresh
    return result
