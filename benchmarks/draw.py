"""Measure the drawing of 576 switches with 4,096 servers, reading included, next to a floor.

The floor starts Python, splits the table of cables into cells, and writes as many bytes as the picture has; for loads
and paths it reads the files of all switches, too, and splits them into lines. Memory is the peak of the process.
Run: python -m benchmarks.draw
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import ROOT, cost

FABRIC = ROOT / "examples" / "frontier" / "fabric.yaml"
# CPU seconds that each picture may take, on a quiet machine.
MOST_S = 5.0
VIEWS = ("fabric", "rail 0", "stripe 1", "device stripe1-leaf1", "device spine1")
SUFFIXES = (".svg", ".dot", ".mmd")
LINK, SPINE = ("--fail", "stripe1-leaf1:spine1"), ("--fail", "spine1")
PATH = ("--view", "path", "s01-gpu01", "s02-gpu01")
# What follows from the files of all switches.
COMPUTED = (
    ("--load", "all-to-all"),
    ("--load", "ring"),
    ("--load", "permutation"),
    ("--load", "all-to-all", *LINK),
    ("--load", "all-to-all", *SPINE),
    PATH,
    (*PATH, *LINK),
    (*PATH, *SPINE),
)
FLOOR = """
import csv, pathlib, sys
rows = list(csv.reader(open(sys.argv[1], encoding="utf-8")))
lines = [path.read_text(encoding="utf-8").split("\\n") for path in pathlib.Path(sys.argv[4]).iterdir()]
open(sys.argv[2], "w").write("x" * int(sys.argv[3]))
"""


def floor_s(table: Path, out: Path, size: int, switches: Path) -> float:
    """Return the CPU seconds of the floor: the least of three runs."""
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", FLOOR, str(table), str(out), str(size), str(switches)], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def row(tree: Path, words: tuple[str, ...], out: Path, switches: Path) -> None:
    """Print the row of a picture; `switches` are the files that the floor reads."""
    spent = cost("draw", str(FABRIC), str(tree), *words, "-o", str(out))
    size = out.stat().st_size
    least = floor_s(tree / "cabling.csv", out.with_name("floor"), size, switches)
    kept = "kept" if spent.cpu_s <= MOST_S else "NOT KEPT"
    print(
        f"{' '.join(words):54} {out.suffix:7} {spent.cpu_s:6.2f} {spent.wall_s:7.2f} {least:8.2f}"
        f" {spent.memory_mib:5.0f} {size / 1000:6.0f}  <= {MOST_S} s: {kept}"
    )


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree, none = folder / "frontier", folder / "none"
        none.mkdir()
        cost("generate", str(FABRIC), "-o", str(tree))
        print(f"{'options':54} {'format':7} {'CPU s':>6} {'wall s':>7} {'floor s':>8} {'MiB':>5} {'kB':>6}  limit")
        for view in VIEWS:
            for suffix in SUFFIXES:
                row(tree, ("--view", *view.split()), folder / f"picture{suffix}", none)
        row(tree, SPINE, folder / "picture.svg", none)
        for words in COMPUTED:
            row(tree, words, folder / "picture.svg", tree / "switches")


if __name__ == "__main__":
    main()
