"""Measure the fluid mode: one step of a ring all-reduce over all GPUs of examples/frontier, and flows of random sizes.

CPU seconds of one core, without compilation, next to a floor: NumPy follows the next hops of all flows by a hash,
counts the flows of every link, divides, and sorts the ends, without sharing what is left and without events.
Run: python -m benchmarks.simulate_fluid
"""

import resource
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from ailb_gen.network.read import read_network
from ailb_gen.routing.rib import Routing
from ailb_gen.sim.clos import clos
from ailb_gen.sim.fabric import LOCAL, PS_PER_S, FabricArrays, Int32, Int64
from ailb_gen.sim.fluid.run import simulate
from ailb_gen.sim.from_network import from_network
from ailb_gen.sim.network_balancer import without_colors
from ailb_gen.sim.settings import BalancerSettings, PacketSettings, SimulationSettings
from ailb_gen.sim.traffic.algorithms import CollectiveOptions
from ailb_gen.sim.traffic.arrivals import flows
from ailb_gen.sim.traffic.builder import QueuePairs, TaskBuilder
from ailb_gen.sim.traffic.collectives import append
from ailb_gen.sim.workload import Workload
from benchmarks.measure import ROOT, cost
from benchmarks.validate import timed

QUEUE_PAIRS = 8
# 1 MiB per GPU and step.
SIZE = 32_768 << 20
# CPU seconds of the ring step; MiB of the process, the fabric with its files included.
LIMITS = {"ecmp": 30.0, "rlb": 10.0}
MEMORY_MIB = 4096
RUNS = 3


def frontier(folder: Path) -> tuple[FabricArrays, FabricArrays]:
    """Return the fabric of examples/frontier from its files, and as it is without colors."""
    cost("generate", str(ROOT / "examples" / "frontier" / "fabric.yaml"), "-o", str(folder))
    network = read_network(folder, lambda _, __: None).network
    colored, plain = (from_network(one, Routing(one)) for one in (network, without_colors(network)))
    return colored, plain


def ring_step(hosts: Int32) -> Workload:
    """Return the first step of a ring all-reduce: every host sends a part to the next, over all queue pairs."""
    builder = TaskBuilder()
    append(
        builder, builder.job("ring", QueuePairs(QUEUE_PAIRS)), "all-reduce", hosts, SIZE, CollectiveOptions(rounds=1)
    )
    return builder.finish()


def floor(fabric: FabricArrays, workload: Workload) -> Int64:
    """Return the ends of flows whose links are divided evenly, in order."""
    chosen = np.flatnonzero(workload.source >= 0)
    source, target = workload.source[chosen], workload.target[chosen]
    first = fabric.first_destination
    destination = first[target] + workload.queue_pair[chosen] % (first[target + 1] - first[target])
    prefix = fabric.destination_prefix[destination]
    hashed = (source * np.int64(0x9E3779B1) ^ target * np.int64(0x85EBCA6B) ^ workload.port[chosen]) & 0x7FFFFFFF
    number = fabric.host_set[source]
    going = np.arange(len(chosen))
    used: list[tuple[Int64, Int32]] = []
    while len(going):
        size = fabric.set_first[number + 1] - fabric.set_first[number]
        link = fabric.set_links[fabric.set_first[number] + hashed[going] % size]
        used.append((going, link))
        node = fabric.link_target[link]
        on = node >= fabric.host_count
        going, node = going[on], node[on] - fabric.host_count
        hashed = hashed * np.int64(0x5851F42D) & 0x7FFFFFFF
        number = fabric.forwarding[0].next_hops[node, prefix[going]]
        number = np.where(number == LOCAL, fabric.delivery_set[destination[going]], number)
    count = np.bincount(np.concatenate([link for _, link in used]), minlength=fabric.link_count)
    rate = np.full(len(chosen), np.inf)
    for flow, link in used:
        rate[flow] = np.minimum(rate[flow], fabric.rate_bps[link] / count[link])
    ends: Int64 = np.sort(workload.amount[chosen] * 8 / rate * PS_PER_S).astype(np.int64)
    return ends


def ring(colored: FabricArrays, plain: FabricArrays) -> None:
    """Print the cost of a ring step by placement of the ranks and load balancer; RLB alone uses colors."""
    count = colored.host_count
    orders = {"in order": np.arange(count), "at random": np.random.default_rng(1).permutation(count)}
    for name, order in orders.items():
        workload = ring_step(order.astype(np.int32))
        for balancer in ("ecmp", "rlb", "glb"):
            fabric = colored if balancer == "rlb" else plain
            least = min(timed(partial(floor, fabric, workload))[0] for _ in range(RUNS))
            settings = SimulationSettings(balancer=BalancerSettings(balancer))
            rows = [timed(partial(simulate, fabric, workload, settings, 1)) for _ in range(RUNS)]
            spent, outcome = min(rows, key=lambda row: row[0])
            if not outcome.complete:
                raise SystemExit(f"{balancer}: not all flows have ended")
            limit = LIMITS.get(balancer)
            verdict = f"<= {limit:g} CPU s: {'kept' if spent <= limit else 'NOT KEPT'}" if limit else ""
            end, events = outcome.end_ps / 1e6, outcome.totals["events"]
            print(
                f"{name:10} {balancer:6} {spent:7.2f} {least:7.2f} {spent / least:6.1f} {end:9.2f} {events:7} {verdict}"
            )


def random_sizes() -> None:
    """Print the cost of an event when every flow ends at a time of its own, and others get faster."""
    print("\nevery flow ends alone           flows  CPU s  us per event")
    for leaves, spines in ((16, 8), (64, 32)):
        fabric = clos(leaves, spines, spines, host_bps=4 * 10**11, uplink_bps=4 * 10**11)
        rng = np.random.default_rng(2)
        source = np.repeat(np.arange(fabric.host_count), QUEUE_PAIRS)
        target = (source + rng.integers(1, fabric.host_count, len(source))) % fabric.host_count
        amount = rng.exponential(1 << 20, len(source)).astype(np.int64) + 1
        workload = flows(source, target, amount, np.zeros(len(source), dtype=np.int64), 2, "flow")
        spent, outcome = timed(partial(simulate, fabric, workload, SimulationSettings(), 1))
        per_event = spent / outcome.totals["events"] * 1e6
        print(f"{leaves:3} leaves, {spines:2} spines {len(source):15} {spent:6.2f} {per_event:13.1f}")


def main() -> None:
    """Print the tables."""
    small = clos(2, 2, 2, host_bps=10**9, uplink_bps=10**9)
    simulate(small, ring_step(np.arange(4, dtype=np.int32)), SimulationSettings(packets=PacketSettings()), 1)
    with tempfile.TemporaryDirectory(prefix="ailb-bench-") as name:
        spent, (colored, plain) = timed(lambda: frontier(Path(name)))
    print(f"frontier: fabrics from files, with colors and without: {spent:.1f} CPU s")
    print(f"\nring step, {colored.host_count} GPUs, {QUEUE_PAIRS} queue pairs each")
    print("ranks      by      CPU s   floor  ratio    end us  events")
    ring(colored, plain)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB, <= {MEMORY_MIB} MiB: {'kept' if peak <= MEMORY_MIB else 'NOT KEPT'}")
    random_sizes()


if __name__ == "__main__":
    main()
