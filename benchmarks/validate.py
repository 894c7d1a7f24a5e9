"""Measure `ailb-gen validate` as a whole, and its parts next to floors and a peer.

Whole runs are measured in separate processes, start-up and workers included. The floors do the least possible work:
split every distinct text into words, and search the fabric breadth first for every prefix, without policies or
attributes. The peer of one failure computes every prefix again and compares all FIB entries, for a sample; the peer of
all failures computes each of them by itself, as far as a sample tells. The peer of the RIBs computes those of every
prefix, and that of hashing draws every flow: both fabrics together show how each grows.
Run: python -m benchmarks.validate [--yang DIR]
"""

import argparse
import gc
import os
import random
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

from ailb_gen.checks.context import Context
from ailb_gen.checks.run import CommitCheck
from ailb_gen.forwarding import ecmp
from ailb_gen.forwarding.alike import loads_alike
from ailb_gen.forwarding.baseline import Baseline
from ailb_gen.forwarding.ecmp import monte_carlo
from ailb_gen.forwarding.failure_kinds import failure_kinds
from ailb_gen.forwarding.failures import Failure, assess
from ailb_gen.forwarding.link_loads import advertised
from ailb_gen.forwarding.loads import Links, loads
from ailb_gen.forwarding.patterns import all_to_all, rails_and_rates, ring
from ailb_gen.intent.load import load
from ailb_gen.network.read import read_network
from ailb_gen.routing.fib import fib_entry, node_of
from ailb_gen.routing.rib import Routing, removed_positions
from ailb_gen.routing.solve import solve
from benchmarks.generate import distinct_texts
from benchmarks.measure import ROOT, Cost, cost

SHARED = Path(os.environ.get("AILB_SHARED", ROOT.parent / "shared"))
T = TypeVar("T")
# 56 switches, 768 links.
MANY_LINKS = """\
name: many-links
stripes: 6
rails: 8
spines: 8
links_per_spine: 2
servers: {count: 16}
"""
# Limits: CPU seconds, wall-clock seconds, MiB.
LIMITS = {
    "jvd, everything": (1.1, None, None),
    "frontier, no failures": (15.0, 120.0, 6144),
    "frontier, failures": (30.0, 120.0, 1024),
    "many-links, everything": (10.0, None, None),
}
NO_FAILURES, FAILURES = ("--checks", "!AILB5"), ("--checks", "AILB501,AILB502,AILB503")
JVD_RUNS = 7
# One line of a switch: what changes, the text before, and after.
CHANGES = (("comment", "system {", "system { /* x */"), ("description", "facing_", "to_"), ("MTU", "mtu 9", "mtu 4"))
SAMPLE, PEER_SAMPLE = 1000, 3
HASHED_ALIKE = 0.01


def verdict(name: str, row: Cost) -> str:
    """Return the limits of a figure, and whether it keeps them."""
    rows = zip(LIMITS[name], (row.cpu_s, row.wall_s, row.memory_mib), ("CPU s", "s", "MiB"), strict=True)
    asked = [(most, value, unit) for most, value, unit in rows if most is not None]
    kept = all(value <= most for most, value, _ in asked)
    return f"<= {', '.join(f'{most:g} {unit}' for most, _, unit in asked)}: {'kept' if kept else 'NOT KEPT'}"


def wholes(folder: Path, yang: Path) -> None:
    """Print the cost of whole runs; the schema of the models is already in the cache."""
    print(f"{'validate':22} {'CPU s':>7} {'s':>7} {'MiB':>6}  limit")
    for name, example, words, runs in (
        ("jvd, everything", "jvd", (), JVD_RUNS),
        ("frontier, no failures", "frontier", NO_FAILURES, 1),
        ("frontier, failures", "frontier", FAILURES, 1),
        ("many-links, everything", "many-links", (), 1),
    ):
        command = ("validate", str(fabric(folder, example)), str(folder / example), "--yang", str(yang), *words)
        row = min((cost(*command) for _ in range(runs)), key=lambda one: one.cpu_s)
        print(f"{name:22} {row.cpu_s:7.2f} {row.wall_s:7.1f} {row.memory_mib:6.0f}  {verdict(name, row)}")


def after_a_change(folder: Path, yang: Path) -> None:
    """Print the cost of runs after one changed line of a switch, next to those from nothing."""
    print(f"\n{'after one changed line':22} {'CPU s':>7} {'s':>7} {'from nothing':>13} {'s':>7}")
    os.environ.pop("AILB_NO_CACHE", None)
    for example, words in (("jvd", NO_FAILURES), ("frontier", NO_FAILURES)):
        tree = folder / example
        command = ("validate", str(fabric(folder, example)), str(tree), "--yang", str(yang), *words)
        nothing = cost(*command, "--no-cache")
        cost(*command)
        for what, old, new in CHANGES:
            file = tree / "switches" / "spine1.conf"
            before = file.read_text()
            file.write_text(before.replace(old, new, 1))
            row = cost(*command, codes=(0, 1))
            file.write_text(before)
            name = f"{example}, {what}"
            print(f"{name:22} {row.cpu_s:7.2f} {row.wall_s:7.1f} {nothing.cpu_s:13.2f} {nothing.wall_s:7.1f}")


def fabric(folder: Path, example: str) -> Path:
    """Return the file of an example, or of a fabric of this benchmark, which is in the folder."""
    own = folder / f"{example}.yaml"
    return own if own.is_file() else ROOT / "examples" / example / "fabric.yaml"


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the CPU seconds of a function, and its result."""
    gc.collect()
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def breadth_first(routing: Routing) -> int:
    """Compute the distance of every device from every prefix, which every control plane has to."""
    graph = routing.graph
    peers = [[entry.peer for entry in row] for row in graph.adjacencies]
    reached = 0
    for prefix in routing.prefixes:
        far = dict.fromkeys(graph.owners[prefix], 0)
        queue = deque(far)
        while queue:
            here = queue.popleft()
            for peer in peers[here]:
                if peer not in far:
                    far[peer] = far[here] + 1
                    queue.append(peer)
        reached += len(far)
    return reached


def anew(baseline: Baseline, failure: Failure) -> int:
    """Compute every prefix again with a failure and count the FIB entries that changed."""
    graph = baseline.graph
    removed = removed_positions(graph, failure.sessions)
    changed = 0
    for before in baseline.states:
        after = solve(graph, before.prefix, removed, failure.dead)
        changed += sum(
            fib_entry(graph, before, node_of(graph, before, device))
            != fib_entry(graph, after, node_of(graph, after, device))
            for device in range(len(graph.names))
        )
    return changed


def effects(baseline: Baseline, failures: list[Failure]) -> int:
    """Compute one failure of each kind and a sample, and take the effect of every failure from its kind.

    Returns how many of them no kind stands for; they are computed, too.
    """
    kinds = failure_kinds(baseline, failures, 1)
    alone = [failure for number, failure in enumerate(failures) if kinds.effect(failure, number) is None]
    return len([assess(baseline, failure) for failure in alone])


def parts(folder: Path, example: str, yang: Path) -> None:
    """Print the cost of the parts in one process, next to the floors and the peer."""
    print(f"\n{example}, parts in one process {'CPU s':>9} {'next to it':>12} {'ratio':>7}")
    tree = folder / example
    texts = distinct_texts(tree)
    lower_bound, _ = timed(lambda: [line.split() for text in texts for line in text.splitlines()])
    spent, reading = timed(lambda: read_network(tree, CommitCheck(yang)))
    line("read and commit-check", spent, "split into words", lower_bound)
    routing = Routing(reading.network)
    lower_bound, _ = timed(lambda: breadth_first(routing))
    spent, _ = timed(lambda: len(routing.states))
    line("RIBs and FIBs", spent, "breadth first", lower_bound)
    peer, alone = timed(lambda: {prefix: solve(routing.graph, prefix) for prefix in routing.prefixes})
    if dict(routing.states) != alone:
        raise SystemExit("prefixes that are alike have other routes")
    line(f"{len(alone)} prefixes, by kinds", spent, "each computed", peer)
    hashing(routing)
    balance(routing)
    context = Context(load(fabric(folder, example)).fabric, reading.network)
    spent, baseline = timed(lambda: Baseline(routing, context.destinations))
    line("loads without failures", spent)
    failures = [Failure("", frozenset({number})) for number in range(len(routing.graph.sessions.up))]
    chosen = random.Random(1).sample(failures, min(SAMPLE, len(failures)))
    spent, impacts = timed(lambda: [assess(baseline, failure) for failure in chosen])
    peer, counts = timed(lambda: [anew(baseline, failure) for failure in chosen[:PEER_SAMPLE]])
    if counts != [impact.moved for impact in impacts[:PEER_SAMPLE]]:
        raise SystemExit(f"both ways count differently: {counts}, {[impact.moved for impact in impacts]}")
    line("a single-link failure", spent / len(chosen), "all computed again", peer / PEER_SAMPLE)
    every = spent / len(chosen) * len(failures)
    spent, _ = timed(lambda: effects(baseline, failures))
    line(f"all {len(failures)} of them, by kinds", spent, "each computed, by the sample", every)


def hashing(routing: Routing) -> None:
    """Print the cost of hashing an all-to-all as the checks do, next to a single draw of every flow."""
    links, rows = Links(routing), rails_and_rates(routing.graph.network, routing.graph.index)[0]
    flows = all_to_all(rows, len(routing.graph.names))
    with patch.multiple(ecmp, DRAWS=1):
        spent, found = timed(lambda: monte_carlo(links, flows, 8, 1))
        with patch.multiple(ecmp, WORK=links.count * flows.size):
            peer, each = timed(lambda: monte_carlo(links, flows, 8, 1))
    if found is None or each is None or abs(found.up - each.up) > HASHED_ALIKE:
        raise SystemExit(f"both ways hash differently: {found}, {each}")
    line("ECMP hashing, one draw", spent, "every flow drawn", peer)


def balance(routing: Routing) -> None:
    """Print the cost of the loads of a ring, which follow from one prefix of every kind, next to those of each."""
    links, prefixes = Links(routing), advertised(routing)
    flows = ring(rails_and_rates(routing.graph.network, routing.graph.index)[0], len(routing.graph.names))
    spent, (load, _) = timed(lambda: loads_alike(routing, links, prefixes, flows))
    peer, (each, _) = timed(lambda: loads(links, routing.state, prefixes, flows))
    if abs(load - each).max() > 1e-6 * each.max():
        raise SystemExit("prefixes that are alike load other links")
    line("loads of a ring, by kinds", spent, "each prefix spread", peer)


def line(what: str, spent: float, other: str = "", least: float = 0.0) -> None:
    """Print one row."""
    compared = f"{least:12.4f} {spent / least:7.3f}  {other}" if other else ""
    print(f"  {what:28} {spent:9.4f} {compared}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("AILB_YANG") or SHARED / "yang" / "24.4R1-EVO"
    parser.add_argument("--yang", type=Path, default=default, help="Juniper's YANG models (default: AILB_YANG)")
    yang = parser.parse_args().yang
    with tempfile.TemporaryDirectory(prefix="ailb-bench-") as name:
        folder = Path(name)
        (folder / "many-links.yaml").write_text(MANY_LINKS)
        for example in ("lab", "jvd", "many-links", "frontier"):
            cost("generate", str(fabric(folder, example)), "-o", str(folder / example))
        cost("validate", str(fabric(folder, "lab")), str(folder / "lab"), "--yang", str(yang))
        wholes(folder, yang)
        after_a_change(folder, yang)
        for example in ("many-links", "frontier"):
            parts(folder, example, yang)


if __name__ == "__main__":
    main()
