"""Measure the cost of a second opinion: this program's part, and with a Batfish service whole runs.

This program's part needs no service: writing the shadow of a fabric, and computing its own next hops with every spine
down, next to a floor: splitting the same files into words. With AILB_BATFISH=HOST[:PORT], whole runs of
`ailb-gen validate --batfish` are measured as well.
Run: [AILB_BATFISH=localhost] python -m benchmarks.batfish
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ailb_gen.batfish.hops import own_hops
from ailb_gen.batfish.shadow import shadow
from ailb_gen.network.fabric import Network
from ailb_gen.network.read import read_network
from ailb_gen.routing.rib import Routing
from benchmarks.measure import ROOT, cost

T = TypeVar("T")
# A fabric of the size at which Batfish itself was measured: 64 leaves, 16 spines, 16 prefixes on each leaf.
LARGE = "name: large\nplatform: generic\nstripes: 8\nrails: 8\nspines: 16\nservers: 1\n"
# Limits of whole runs, in seconds of wall-clock time.
LIMITS = {"lab": 15.0, "jvd": 90.0, "jvd-8-uplinks": None}


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the CPU seconds of a function, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def generated(fabric: Path, out: Path) -> Path:
    """Generate a fabric's files."""
    cost("generate", str(fabric), "-o", str(out))
    return out


def nothing(*_: object) -> None:
    """Inspect nothing in a switch's tree."""


def own_part(name: str, root: Path) -> None:
    """Print the cost of this program's part, which needs no service."""
    files = sorted((root / "switches").iterdir())
    lower_bound, _ = timed(lambda: [path.read_text("utf-8").split() for path in files])
    network: Network = read_network(root, nothing).network
    translating, one = timed(lambda: shadow(network))
    routing = Routing(network)
    steady, _ = timed(lambda: own_hops(routing.graph, routing.states))
    spines = [routing.graph.index[name] for name, role in network.roles.items() if role == "spine"]
    failing, _ = timed(lambda: [own_hops(routing.graph, routing.after(dead=frozenset({spine}))) for spine in spines])
    lines = sum(len(each.lines) for each in one.switches)
    row = f"{lines:9,} {translating:8.2f} {translating / lower_bound:9.1f} {steady:8.2f} {failing / len(spines):10.3f}"
    print(f"{name:16} {row}")


def wholes(address: str, folder: Path) -> None:
    """Print the duration of whole runs with a service."""
    print(f"\n{'validate':16} {'s':>7} {'CPU s':>7}  limit")
    for name, limit in LIMITS.items():
        fabric = ROOT / "examples" / name / "fabric.yaml"
        words = ("validate", str(fabric), str(folder / name), "--batfish", address, "--checks", "batfish")
        row = cost(*words)
        kept = "" if limit is None else f"<= {limit:g} s: {'kept' if row.wall_s <= limit else 'NOT KEPT'}"
        print(f"{name:16} {row.wall_s:7.1f} {row.cpu_s:7.1f}  {kept}".rstrip())


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "large.yaml").write_text(LARGE, encoding="utf-8")
        fabrics = {name: ROOT / "examples" / name / "fabric.yaml" for name in LIMITS} | {
            "64 x 16": folder / "large.yaml"
        }
        print("This program's part, CPU s; the floor splits the files into words")
        print(f"{'':16} {'lines':>9} {'shadow':>8} {'/ floor':>9} {'steady':>8} {'per spine':>10}")
        for name, fabric in fabrics.items():
            own_part(name, generated(fabric, folder / name.replace(" ", "")))
        address = os.environ.get("AILB_BATFISH", "")
        if address:
            wholes(address, folder)
        else:
            print("\nAILB_BATFISH is not set: whole runs need a service")


if __name__ == "__main__":
    main()
