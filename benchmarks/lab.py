"""Measure labs: how long they take to come up and to be checked, and what a failed link costs running traffic.

The floor of a start makes the same namespaces and cables with `ip -batch`, and nothing else. Times are wall-clock
seconds, memory is the sum of what the lab's processes would free by ending; limits are those of two cores.
Run: python -m benchmarks.lab [--sizes 64,128] [--failures] (as root)
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ailb_gen.lab import faults, links
from ailb_gen.lab.kernel import BIRD, routes
from ailb_gen.lab.namespaces import isolate
from ailb_gen.lab.plan import LabPlan, plan
from ailb_gen.lab.registry import enter, find
from ailb_gen.lab.traffic.ecmp import by_ecmp, ecmp
from ailb_gen.lab.traffic.flows import flows
from ailb_gen.lab.traffic.model import Flow, TrafficLoad
from ailb_gen.lab.traffic.run import measure, running
from ailb_gen.network.fabric import Network
from ailb_gen.network.read import read_network
from benchmarks.measure import ROOT

FABRIC = """\
name: lab-{name}
stripes: {stripes}
rails: 8
spines: {spines}
servers: {{count: {servers}, name: "s{{s:02}}-gpu{{i:02}}"}}
colors: {{count: {colors}}}
platform: {{leaf: qfx5240-64od, spine: wide}}
platforms: {{wide: {{port_groups: [{{fpcs: 0-3, ports: 0-31, native: 400g, speeds: {{400g: [1]}}}}]}}}}
uplinks: {{speed: 400g, packing: packed}}
host_ports: {{speed: 400g, first_port: 48}}
"""


@dataclass(frozen=True, slots=True)
class Size:
    """A fabric, and the limits: seconds until it is up and checked, MiB."""

    stripes: int
    spines: int
    servers: int
    colors: int
    limit_s: float
    limit_mib: float | None = None


SIZES = {"64": Size(6, 16, 4, 16, 25.0), "128": Size(12, 32, 0, 32, 90.0, 2048.0)}
LAB = ROOT / "examples/lab/fabric.yaml"
BFD_S, CARRIER_MS, SILENT = 0.3, 20.0, 3.5
REPEATED = 5


def ailb(*words: str) -> str:
    """Run the command line; another exit code than 0 ends the program."""
    command = (sys.executable, "-m", "ailb_gen", *words)
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


@contextmanager
def lab(fabric: Path, name: str) -> Iterator[float]:
    """Keep a lab up; gives the seconds that it took."""
    files = fabric.parent / f"{name}.files"
    ailb("generate", str(fabric), "-o", str(files))
    began = time.monotonic()
    ailb("lab", "up", str(fabric), str(files), "--lab", name)
    try:
        yield time.monotonic() - began
    finally:
        ailb("lab", "down", name)


def read(folder: Path) -> Network:
    """Read an artifact directory."""
    return read_network(folder, lambda *trees: None).network


def floor_s(files: Path) -> float:
    """Return the seconds that namespaces and cables alone take, in a process that ends with them."""
    child = os.fork()
    if not child:
        made = plan(read(files))
        isolate()
        began = time.monotonic()
        links.create(made)
        (files.parent / "floor").write_text(f"{time.monotonic() - began}", encoding="ascii")
        os._exit(0)
    os.waitpid(child, 0)
    return float((files.parent / "floor").read_text(encoding="ascii"))


def memory_mib(first: int) -> float:
    """Return the memory of a process and of all below it: the sum of their proportional set sizes."""
    total, todo = 0, [first]
    while todo:
        process = Path(f"/proc/{todo.pop()}")
        rows = (process / "smaps_rollup").read_text(encoding="ascii").splitlines()
        total += next((int(row.split()[1]) for row in rows if row.startswith("Pss:")), 0)
        for task in (process / "task").iterdir():
            todo += [int(number) for number in (task / "children").read_text(encoding="ascii").split()]
    return total / 1024


def scale(name: str, folder: Path) -> None:
    """Measure one size."""
    size = SIZES[name]
    fabric = folder / "fabric.yaml"
    values = {"stripes": size.stripes, "spines": size.spines, "servers": size.servers, "colors": size.colors}
    fabric.write_text(FABRIC.format(name=name, **values), encoding="utf-8")
    label = f"bench-{name}"
    with lab(fabric, label) as up_s:
        mib = memory_mib(find(label).process)
        began = time.monotonic()
        report = ailb("lab", "check", "--lab", label)
        check_s = time.monotonic() - began
    least_s = floor_s(folder / f"{label}.files")
    total_s = up_s + check_s
    servers = size.stripes * size.servers
    print(f"{name} switches, {servers} servers: up {up_s:.1f} s, check {check_s:.1f} s, {mib:.0f} MiB")
    print(f"  floor, namespaces and cables alone: {least_s:.1f} s; up is {up_s / least_s:.1f} times that")
    print(f"  {report.strip().splitlines()[-1]}")
    limit = f"limit {size.limit_s:g} s" + (f", {size.limit_mib:g} MiB" if size.limit_mib else "")
    kept = total_s <= size.limit_s and (size.limit_mib is None or mib <= size.limit_mib)
    print(f"  in all {total_s:.1f} s ({limit}): {'kept' if kept else 'MISSED'}")


def failures(folder: Path) -> None:
    """Measure what failing links cost running flows, and how evenly uplinks carry."""
    fabric = folder / "fabric.yaml"
    fabric.write_text(LAB.read_text(encoding="utf-8"), encoding="utf-8")
    with lab(fabric, "bench-failures"):
        child = os.fork()
        if not child:
            _failures_inside(read(folder / "bench-failures.files"))
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)


def _failures_inside(network: Network) -> None:
    _, made = enter("bench-failures")
    chosen = flows(made, network.hosts)
    load = TrafficLoad(1000.0, 2000)
    spread = {"pinned": measure(made, chosen, load)}
    with ecmp(made):
        spread["ECMP"] = measure(made, flows(made, network.hosts, ecmp=True), by_ecmp(load))
    for name, result in spread.items():
        print(f"{name}: bytes of the busiest uplink over the mean {max(result.spread().values()):.3f}")
    _outages(made, chosen, faults.FaultKind.CARRIER, CARRIER_MS)
    _outages(made, chosen, faults.FaultKind.SILENT, SILENT * BFD_S * 1000)


def _outages(made: LabPlan, chosen: Sequence[Flow], kind: faults.FaultKind, limit_ms: float) -> None:
    """Let one link fail under traffic, several times; print the longest outage of a flow, and of all others."""
    link = f"{made.links[0].a}"
    worst, others, before = [], 0, _routes(made)
    for _ in range(REPEATED):
        with running(made, tuple(chosen), TrafficLoad(1000.0, 0)) as traffic:
            time.sleep(0.5)
            faults.fail(made, link, kind)
            time.sleep(2.0)
            result = traffic.stop()
        # The first cable has the first color, which is that of every first queue pair.
        worst.append(max(found.outage_ms for found in result.flows if found.flow.qp == 0))
        others += sum(found.lost for found in result.flows if found.flow.qp)
        faults.repair(made)
        _until(lambda: _routes(made) == before)
    kept = max(worst) <= limit_ms and not others
    print(f"{kind.name.lower()} loss: outages of {', '.join(f'{one:.0f}' for one in sorted(worst))} ms")
    print(f"  other colors lost {others} packets; limit {limit_ms:.0f} ms and 0: {'kept' if kept else 'MISSED'}")


def _routes(made: LabPlan) -> list[object]:
    """Return what the kernels of all switches forward."""
    return [routes(name, protocol=BIRD) for name in made.switches]


def _until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; without it nothing more is worth measuring."""
    latest = time.monotonic() + 60.0
    while not holds():
        if time.monotonic() > latest:
            raise SystemExit("after a repair the routes are not those of before")
        time.sleep(0.1)


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="64,128", help="numbers of switches")
    parser.add_argument("--failures", action="store_true", help="failures only")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in () if given.failures else given.sizes.split(","):
            scale(size, folder)
        failures(folder)


if __name__ == "__main__":
    main()
