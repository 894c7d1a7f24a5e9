"""Memory of a simulation, estimated before it starts, and memory available."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ailb_gen.sim import congestion
from ailb_gen.sim.balancers import BALANCERS, SPREAD
from ailb_gen.sim.fabric import FabricArrays, Int64
from ailb_gen.sim.settings import Level, SimulationSettings
from ailb_gen.sim.unloaded import echo_ticks
from ailb_gen.sim.workload import COMPUTATION, LeastTraffic, Workload

MEMINFO = Path("/proc/meminfo")
# Interpreter, libraries and compiled code.
BASE = 250 << 20
# Bytes of a task with its place in the workload and its share of a queue pair, of a running flow with its timers, of
# a link with its queues, of a packet under way; of these there are up to three times as many while their array grows.
TASK, FLOW, LINK, PACKET = 152, 336, 1024, 3 * 64
# What congestion control keeps of a flow that goes by more than the marks of DCQCN, and telemetry of packets and flows.
CONTROLLED, TELEMETRY = 80, 3 * 120
# What the ends of a flow count when its receiver asks for its packets.
CREDIT = 40
# The same of a simulation of flows, and of a flow on a link. While arrays grow there are two of them.
FLUID_LINK, FLUID_FLOW, ENTRY = 480, 300, 64
# What DCQCN knows of a flow, and the marks of a tick that are under way.
FLUID_LIMIT, FLUID_TICK = 200, 16
# Packets of a connection without a window that is not raw: a few round trips at full rate.
UNBOUNDED = 4096


def needed_bytes(
    fabric: FabricArrays,
    workload: Workload,
    settings: SimulationSettings,
    level: Level = "packet",
    divided: bool = False,
) -> int:
    """Estimate the memory of a simulation; generous, so that what is refused would not fit.

    One that is `divided` among cores keeps the records of flows that have ended.
    """
    amount = np.where(workload.source == COMPUTATION, 0, workload.amount)
    longest = int(amount.max(initial=0))
    running, packets = _at_a_time(workload, _packets(amount, settings))
    if divided:
        running = int(np.count_nonzero(amount))
    return _bytes(fabric, settings, level, workload.count, running, packets, longest)


def least_bytes(
    fabric: FabricArrays, parts: Sequence[LeastTraffic], settings: SimulationSettings, level: Level = "packet"
) -> int:
    """Return the least memory of a simulation, from the least of the parts of its traffic before it is made."""
    packets = [one.flows * int(_packets(np.array([one.flow_bytes]), settings)[0]) for one in parts]
    tasks, flows = sum(one.tasks for one in parts), max((one.flows for one in parts), default=0)
    longest = max((one.flow_bytes for one in parts), default=0)
    return _bytes(fabric, settings, level, tasks, flows, max(packets, default=0), longest)


def fabric_bytes(links: int, switches: int, prefixes: int) -> int:
    """Return the least memory of a fabric, known before it is made."""
    return BASE + FLUID_LINK * links + 12 * switches * prefixes


def _bytes(
    fabric: FabricArrays,
    settings: SimulationSettings,
    level: Level,
    tasks: int,
    running: int,
    packets: int,
    longest: int,
) -> int:
    found = BASE + TASK * tasks
    found += 4 * sum(state.next_hops.size for state in fabric.forwarding) + 4 * len(fabric.set_links)
    found += 8 * settings.measurement.load_samples * fabric.link_count
    if level == "flow":
        flow = FLUID_FLOW + ENTRY * _entries(fabric, settings)
        if settings.congestion.name == "dcqcn":
            flow += FLUID_LIMIT + FLUID_TICK * echo_ticks(fabric, settings)
        return found + FLUID_LINK * fabric.link_count + flow * running
    control = congestion.CONGESTION[settings.congestion.name]
    flow, packet = FLOW + (CONTROLLED if control.name not in ("none", "dcqcn") else 0), PACKET
    if control.signal == congestion.TELEMETRY:
        flow, packet = flow + TELEMETRY, packet + TELEMETRY
    flow += _of_transport(longest, settings)
    return found + flow * running + LINK * fabric.link_count + packet * packets


def _of_transport(longest: int, settings: SimulationSettings) -> int:
    """Return the bytes that only some transports keep of a flow: bits of as many packets as the longest flow takes."""
    transport = settings.transport
    if transport.name in ("raw", "go-back-n"):
        return 0
    asks = transport.name == "receiver-driven"
    packets = -(-longest // settings.packets.payload_bytes)
    if not asks and (transport.name == "selective-repeat" or transport.window_bytes is not None):
        packets = int(_packets(np.array([longest]), settings)[0])
    # What has arrived, what was acknowledged, what is asked for again: 32 packets in 8 bytes, and a power of two.
    bits = 8 << (packets // 32 + 2).bit_length()
    return 3 * bits + CREDIT if asks else 2 * bits


def _entries(fabric: FabricArrays, settings: SimulationSettings) -> int:
    """Return about how many links a flow is on, of a power of two: by one path, or up and down by all."""
    if BALANCERS[settings.balancer.name].flow_rule(settings.balancer.parameters) != SPREAD:
        return 4
    sizes = np.diff(fabric.set_first)
    return 1 << int(3 * sizes.max(initial=1)).bit_length()


def _packets(amount: Int64, settings: SimulationSettings) -> Int64:
    """Return how many packets of flows are under way at most, by their bytes, shape (T,)."""
    packets: Int64 = -(-amount // settings.packets.payload_bytes)
    window = settings.transport.window_bytes
    if settings.transport.name == "raw":
        return packets
    if window is None:
        return np.minimum(packets, UNBOUNDED)
    # In place of a packet that has come there may be an acknowledgement and a pull.
    each = 2 if settings.transport.name == "receiver-driven" else 1
    return each * np.minimum(packets, -(-window // settings.packets.payload_bytes))


def _at_a_time(workload: Workload, packets: Int64) -> tuple[int, int]:
    """Return the most flows and packets of tasks that wait for equally many others, one after the other."""
    waits = workload.waits.copy()
    ready = np.flatnonzero(waits == 0)
    flows = most = 0
    while len(ready):
        flows = max(flows, int(np.count_nonzero(packets[ready])))
        most = max(most, int(packets[ready].sum()))
        first = workload.first_successor[ready]
        count = workload.first_successor[ready + 1] - first
        place = np.repeat(first - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
        after, times = np.unique(workload.successors[place], return_counts=True)
        waits[after] -= times.astype(np.int32)
        ready = after[waits[after] == 0]
    return flows, most


def available_bytes() -> int | None:
    """Return how much memory is free for a new program; None where the system does not say."""
    try:
        rows = dict(line.split(":", 1) for line in MEMINFO.read_text(encoding="ascii").splitlines() if ":" in line)
        return int(rows["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError, IndexError):
        return None


def shown_bytes(count: int) -> str:
    """Return a size as people say it, such as `3.2 GiB`."""
    value, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f"{value:.3g} {units[0]}"
