"""Measure the packet simulator: CPU seconds of one core without compilation, next to a bare event loop.

The bare loop is the floor: packets of one size on links picked at random, one event per hop, no queues, no hosts, no
statistics. Every case runs in a process of its own. The list of flows is test data that is not part of the project.
"""

import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.events import schedule
from ailb_gen.sim.engine.jit import entry, reference
from ailb_gen.sim.engine.memory import new_state
from ailb_gen.sim.engine.random import random_bits
from ailb_gen.sim.engine.records import NONE, ORDER_BITS, EngineState
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.engine.wire import arrive, new_packet, transmit
from ailb_gen.sim.fabric import PS_PER_US, FabricArrays
from ailb_gen.sim.settings import (
    BalancerSettings,
    BufferSettings,
    CongestionSettings,
    PacketSettings,
    SimulationSettings,
    TransportSettings,
)
from ailb_gen.sim.traffic.algorithms import derangement
from ailb_gen.sim.traffic.arrivals import flows
from ailb_gen.sim.traffic.flowlist import read_flow_list
from ailb_gen.sim.traffic.scale_unit import heavy
from ailb_gen.sim.workload import Workload

SHARED = Path(os.environ.get("AILB_SHARED", Path(__file__).parent.parent.parent / "shared"))
FLOW_LIST = SHARED / "sim" / "alistorage-load50-128hosts-5ms.flows.gz"
GBPS = 10**9
MS = 1000 * PS_PER_US
FLOOR_EVENTS = 5_000_000
Case = tuple[FabricArrays, Workload, SimulationSettings]


@dataclass(frozen=True, slots=True)
class Figures:
    """What a case took."""

    cpu_s: float
    data_hops: int
    hops: int
    mebibytes: float


def _scale_unit() -> Case:
    fabric = clos(8, 4, 4, host_bps=4 * GBPS, uplink_bps=4 * GBPS, host_links=8, leaf_spine_links=8, delay_ps=PS_PER_US)
    balancer = BalancerSettings("ecmp", {"same_seed": 1, "hash_start": 1})
    return fabric, heavy(1), SimulationSettings(packets=PacketSettings(32_768, 0, 0), balancer=balancer)


def _leaf_spine(leaves: int) -> FabricArrays:
    return clos(leaves, 8, 16, host_bps=100 * GBPS, uplink_bps=100 * GBPS)


def _lossless(fabric: FabricArrays, balancer: str) -> SimulationSettings:
    links = fabric.link_count
    switches = BufferSettings(
        shared_buffer_bytes=9 << 20,
        pfc=True,
        headroom_bytes=27_096,
        ecn_min_bytes=np.full(links, 100_000),
        ecn_max_bytes=np.full(links, 400_000),
        ecn_probability=np.full(links, 0.2),
    )
    return SimulationSettings(
        packets=PacketSettings(1000, 48, 60),
        switches=switches,
        balancer=BalancerSettings(balancer),
        transport=TransportSettings("go-back-n", timeout_ps=4 * MS, ends_acknowledged=True),
        congestion=CongestionSettings("dcqcn"),
    )


def _flow_list(balancer: str) -> Case:
    fabric = _leaf_spine(8)
    return fabric, read_flow_list(FLOW_LIST, "flows", fabric.host_count), _lossless(fabric, balancer)


def _permutation(leaves: int) -> Case:
    fabric = _leaf_spine(leaves)
    hosts = fabric.host_count
    targets = derangement(hosts, np.random.default_rng(3)).astype(np.int32)
    sources = np.arange(hosts, dtype=np.int32)
    workload = flows(sources, targets, np.full(hosts, 2_000_000), np.zeros(hosts, np.int64), 1, "flows")
    switches = BufferSettings(
        shared_buffer_bytes=1 << 30,
        pfc=True,
        pause_bytes=15 * 1064,
        resume_offset_bytes=3 * 1064,
        headroom_bytes=1 << 30,
    )
    settings = SimulationSettings(
        packets=PacketSettings(1000, 64, 64),
        switches=switches,
        transport=TransportSettings("go-back-n", timeout_ps=4 * MS),
    )
    return fabric, workload, settings


def _all_to_all(leaves: int) -> Case:
    fabric = _leaf_spine(leaves)
    hosts = fabric.host_count
    sources = np.repeat(np.arange(hosts, dtype=np.int32), hosts - 1)
    targets = ((sources + 1 + np.tile(np.arange(hosts - 1), hosts)) % hosts).astype(np.int32)
    count = len(sources)
    workload = flows(sources, targets, np.full(count, 65_536), np.zeros(count, np.int64), 1, "flows")
    return fabric, workload, _lossless(fabric, "ecmp")


@dataclass(frozen=True, slots=True)
class Row:
    """A case with its goals; `million` data hops per CPU s, None: not asked."""

    name: str
    make: Callable[[], Case]
    cpu_s: float | None
    million: float | None
    mebibytes: float
    peer: str


ROWS = (
    Row("heavy x1, raw, ECMP", _scale_unit, 3.0, None, 400, "Zeltser 0.057 M/s"),
    Row("permutation 128 x 2 MB, PFC, go-back-N", lambda: _permutation(8), None, 3.2, 400, "csg-htsim 0.80 M/s"),
    Row("permutation 1024 x 2 MB, PFC, go-back-N", lambda: _permutation(64), None, None, 600, ""),
    Row("flow list, DCQCN, PFC, ECMP", lambda: _flow_list("ecmp"), None, 1.7, 400, "conweave-ns3 0.083 M/s"),
    Row("flow list, DCQCN, PFC, ConWeave", lambda: _flow_list("conweave"), None, 1.2, 400, ""),
    Row("all-to-all of 128 hosts, 64 KiB", lambda: _all_to_all(8), None, None, 400, ""),
    Row("all-to-all of 1024 hosts, 64 KiB", lambda: _all_to_all(64), None, None, 600, ""),
)
# The same traffic of few and of many hosts, and how many times as much a hop of the latter may cost.
SIZES = (
    ("permutation 128 x 2 MB, PFC, go-back-N", "permutation 1024 x 2 MB, PFC, go-back-N"),
    ("all-to-all of 128 hosts, 64 KiB", "all-to-all of 1024 hosts, 64 KiB"),
)
MOST_RATIO = 1.35
# Rows that are also measured on two cores, in seconds that pass, and how many times as fast they are to be.
ON_TWO_CORES = (SIZES[0][1],)
LEAST_SPEED = 1.6


@entry
def _bare(arrays: EngineState, events: int) -> int:
    """Take packets off links and put them on others, at random; return the time."""
    state = reference(arrays)
    config = state.config[0]
    mask = (1 << config.bits) - 1
    now = 0
    links = len(state.links)
    for _ in range(events):
        key = state.tree[1]
        now = key >> (config.bits + ORDER_BITS)
        link = key & mask
        packet = arrive(state, link)
        schedule(state, link)
        other = (random_bits(state, 0) * links) >> 32
        transmit(state, other, packet, max(now, state.links[other].free))
        schedule(state, other)
    return now


@entry
def _fill(arrays: EngineState, count: int) -> None:
    state = reference(arrays)
    for number in range(count):
        link = number % len(state.links)
        transmit(state, link, new_packet(state, 0, NONE, 1048), state.links[link].free)
        schedule(state, link)


def _floor() -> Figures:
    fabric, workload, settings = _permutation(8)
    state = new_state(fabric, workload, settings, 1)
    # Compile here: the memory that this takes is not that of a run.
    simulate(fabric, workload, replace(settings, until_ps=1), 1)
    _fill(state, 2048)
    _bare(state, 1)
    before = time.process_time()
    _bare(state, FLOOR_EVENTS)
    return Figures(time.process_time() - before, FLOOR_EVENTS, FLOOR_EVENTS, _peak())


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _measured(row: Row) -> Figures:
    fabric, workload, settings = row.make()
    simulate(fabric, workload, replace(settings, until_ps=1), 1)
    before = time.process_time()
    outcome = simulate(fabric, workload, settings, 1)
    cpu_s = time.process_time() - before
    assert outcome.complete
    return Figures(cpu_s, outcome.totals["data_hops"], outcome.totals["hops"], _peak())


def _speed_on_two_cores(row: Row) -> float:
    """Return how many times as fast a case is on two cores as on one: the best of a few runs, in turn."""
    fabric, workload, settings = row.make()
    best = [math.inf, math.inf]
    for _ in range(3):
        for cores in (1, 2):
            before = time.perf_counter()
            simulate(fabric, workload, settings, 1, cores=cores)
            best[cores - 1] = min(best[cores - 1], time.perf_counter() - before)
    return best[0] / best[1]


def _child(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.simulate", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def _figures(number: int) -> Figures:
    return Figures(**json.loads(_child("--case", str(number))))


def _verdict(row: Row, found: Figures) -> str:
    rate = found.data_hops / found.cpu_s / 1e6
    goals = [
        (f"<= {row.cpu_s} s", found.cpu_s <= row.cpu_s) if row.cpu_s else None,
        (f">= {row.million} M/s", rate >= row.million) if row.million else None,
        (f"<= {row.mebibytes:.0f} MiB", found.mebibytes <= row.mebibytes),
    ]
    return ", ".join(f"{text} {'kept' if kept else 'NOT KEPT'}" for text, kept in filter(None, goals))


def main(arguments: Sequence[str]) -> None:
    """Print the figures of all cases, or of the cases whose names contain a word; --case N: one, as JSON."""
    if arguments[:1] == ["--case"]:
        number = int(arguments[1])
        found = _floor() if number == len(ROWS) else _measured(ROWS[number])
        print(json.dumps({name: getattr(found, name) for name in Figures.__slots__}))
        return
    if arguments[:1] == ["--two-cores"]:
        print(_speed_on_two_cores(ROWS[int(arguments[1])]))
        return
    floor = _figures(len(ROWS))
    print(f"{'':40} {'CPU s':>7} {'M data hops/s':>14} {'M hops/s':>9} {'ns/hop':>7} {'floor x':>8} {'MiB':>6}")
    per_hop = floor.cpu_s / floor.hops * 1e9
    print(f"{'bare event loop':40} {floor.cpu_s:7.2f} {'':>14} {floor.hops / floor.cpu_s / 1e6:9.2f} {per_hop:7.0f}")
    costs: dict[str, float] = {}
    for number, row in enumerate(ROWS):
        if not any(word in row.name for word in arguments or [""]):
            continue
        if "flow list" in row.name and not FLOW_LIST.exists():
            print(f"{row.name:40} left out: {FLOW_LIST.name} is not there; set AILB_SHARED")
            continue
        found = _figures(number)
        cost = costs[row.name] = found.cpu_s / found.hops * 1e9
        print(
            f"{row.name:40} {found.cpu_s:7.2f} {found.data_hops / found.cpu_s / 1e6:14.2f} "
            f"{found.hops / found.cpu_s / 1e6:9.2f} {cost:7.0f} {cost / per_hop:8.1f} {found.mebibytes:6.0f}   "
            f"{_verdict(row, found)}{f'; {row.peer}' if row.peer else ''}"
        )
    for few, many in SIZES:
        if few in costs and many in costs:
            ratio = costs[many] / costs[few]
            kept = "kept" if ratio <= MOST_RATIO else "NOT KEPT"
            print(f"{many}: {ratio:.2f} times the cost per hop of fewer hosts; <= {MOST_RATIO} {kept}")
    for number, row in enumerate(ROWS):
        if row.name in ON_TWO_CORES and row.name in costs:
            speed = float(_child("--two-cores", str(number)))
            kept = "kept" if speed >= LEAST_SPEED else "NOT KEPT"
            print(f"{row.name}: {speed:.2f} times as fast on two cores; >= {LEAST_SPEED} {kept}")


if __name__ == "__main__":
    main(sys.argv[1:])
