"""Measure the drawing of 576 switches with 4,096 servers, reading included, next to reading their cables alone.

The floor starts Python, splits the table of cables into cells, and writes as many bytes as the picture has.
Run: python -m benchmarks.draw
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import ROOT, cost

FABRIC = ROOT / "examples" / "frontier" / "fabric.yaml"
# CPU seconds that each picture may take, on a quiet machine.
MOST_S = 5.0
VIEWS = ("fabric", "rail 0", "stripe 1", "device stripe1-leaf1", "device spine1")
SUFFIXES = (".svg", ".dot", ".mmd")
FLOOR = """
import csv, sys
rows = list(csv.reader(open(sys.argv[1], encoding="utf-8")))
open(sys.argv[2], "w").write("x" * int(sys.argv[3]))
"""


def floor_s(table: Path, out: Path, size: int) -> float:
    """Return the seconds of the floor: the least of three runs."""
    spent = []
    for _ in range(3):
        started = time.monotonic()
        subprocess.run([sys.executable, "-c", FLOOR, str(table), str(out), str(size)], check=True)
        spent.append(time.monotonic() - started)
    return min(spent)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree = folder / "frontier"
        cost("generate", str(FABRIC), "-o", str(tree))
        print(f"{'view':22} {'format':7} {'CPU s':>6} {'wall s':>7} {'floor s':>8} {'MiB':>5} {'kB':>6}  limit")
        for view in VIEWS:
            for suffix in SUFFIXES:
                out = folder / f"picture{suffix}"
                spent = cost("draw", str(FABRIC), str(tree), "--view", view, "-o", str(out))
                size = out.stat().st_size
                least = floor_s(tree / "cabling.csv", folder / "floor", size)
                kept = "kept" if spent.cpu_s <= MOST_S else "NOT KEPT"
                print(
                    f"{view:22} {suffix:7} {spent.cpu_s:6.2f} {spent.wall_s:7.2f} {least:8.2f}"
                    f" {spent.memory_mib:5.0f} {size / 1000:6.0f}  <= {MOST_S} s: {kept}"
                )


if __name__ == "__main__":
    main()
