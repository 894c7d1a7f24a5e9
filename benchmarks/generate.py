"""Measure the CPU time of `ailb-gen generate`, next to plain Jinja2 rendering of the same texts.

Every figure is the cost of a separate process, start-up included. The floor reads the distinct generated texts and
renders them again with a template that only prints lines: no program built on Jinja2 can be cheaper.
Run: python -m benchmarks.generate
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import jinja2

from ailb_gen.layout import HOST_PROGRAM
from benchmarks.measure import ROOT, Cost, best, cost
from benchmarks.sizes import LARGER, fabric_text

LARGE = """\
name: large
stripes: 120
rails: 8
spines: 40
servers: {count: 34, name: "s{s}-gpu{i}"}
colors: 8
platform: {leaf: qfx5240-64od, spine: wide}
platforms: {wide: {port_groups: [{fpcs: 0-31, ports: 0-31, native: 400g, speeds: {400g: [1]}}]}}
uplinks: {packing: packed}
host_ports: {first_port: 32}
"""
GROWTH = LARGE.replace("name: large", "name: growth").replace("servers: {count: 34,", "servers: {count: 8,")
ROUNDS = 8
GROWN = 1.2
LIMITS = {"jvd": (0.6, None), "large": (4.0, None), "frontier": (12.0, 1024), "help": (0.2, None)}


def distinct_texts(tree: Path) -> list[str]:
    """Return every distinct text of a tree; the program of the servers is none, but an archive."""
    paths = (path for path in tree.rglob("*") if path.is_file() and not path.is_symlink())
    found = {path.read_bytes() for path in paths if path.name != Path(HOST_PROGRAM).name}
    return sorted(text.decode() for text in found)


def lower_bound(tree: Path) -> float:
    """Return the CPU seconds that plain Jinja2 takes to print the texts of a tree line by line."""
    template = jinja2.Environment(autoescape=False).from_string("{% for line in lines %}{{ line }}\n{% endfor %}")
    texts = [text.splitlines() for text in distinct_texts(tree)]
    started = time.process_time()
    for lines in texts:
        template.render(lines=lines)
    return time.process_time() - started


def verdict(name: str, row: Cost) -> str:
    """Return the limit of a figure, and whether it keeps it."""
    cpu, rss = LIMITS.get(name, (None, None))
    kept = (cpu is None or row.cpu_s <= cpu) and (rss is None or row.memory_mib <= rss)
    limit = " ".join(filter(None, (f"<= {cpu} s" if cpu else "", f"<= {rss} MiB" if rss else "")))
    return f"{limit:22} {'kept' if kept else 'NOT KEPT'}" if limit else ""


def fabrics(folder: Path) -> Iterator[tuple[str, Path, int]]:
    """Yield (name, fabric file, runs)."""
    (folder / "large.yaml").write_text(LARGE, encoding="utf-8")
    yield "jvd", ROOT / "examples" / "jvd" / "fabric.yaml", 5
    yield "large", folder / "large.yaml", 3
    yield "frontier", ROOT / "examples" / "frontier" / "fabric.yaml", 3


def growth(folder: Path) -> None:
    """Print the cost of an additional leaf from 128 to 512 leaves; a ratio of 1.00 is exactly linear.

    The sizes take turns, so that a slow moment of the machine does not affect only one of them. `folder` should be in
    memory, because the cost of a new file on a disk depends on earlier deletions.
    """
    sizes = (8, 128, 256, 512)
    runs: dict[int, list[float]] = {leaves: [] for leaves in sizes}
    for leaves in sizes:
        text = GROWTH.replace("stripes: 120", f"stripes: {leaves // 8}")
        (folder / f"growth{leaves}.yaml").write_text(text, encoding="utf-8")
    for _ in range(ROUNDS):
        for leaves in sizes:
            tree = folder / f"growth{leaves}"
            runs[leaves].append(cost("generate", f"{tree}.yaml", "-o", str(tree)).cpu_s)
            shutil.rmtree(tree)
    least = {leaves: min(rows) for leaves, rows in runs.items()}
    each = {leaves: (least[leaves] - least[8]) / (leaves - 8) for leaves in sizes[1:]}
    print(f"    8 leaves: {least[8]:.2f} s")
    for leaves, seconds in each.items():
        print(f"  {leaves:3} leaves: {least[leaves]:.2f} s, {1000 * seconds:.2f} ms an additional leaf")
    ratio = each[512] / each[128]
    kept = "kept" if ratio <= 1.2 else "NOT KEPT"
    print(f"  an additional leaf at 512 against one at 128: {ratio:.2f} (linear within 20 %: {kept})")


def larger(folder: Path) -> None:
    """Print the cost of fabrics up to 5,000 switches, by port in use: both ends of links, and ports to servers."""
    print("larger fabrics, 576 to 5,000 switches:")
    rows: list[tuple[int, Cost]] = []
    for size, (stripes, rails, spines) in LARGER.items():
        fabric, tree = folder / f"larger{size}.yaml", folder / f"larger{size}"
        fabric.write_text(fabric_text(size), encoding="utf-8")
        row, ports = cost("generate", str(fabric), "-o", str(tree)), stripes * rails * (2 * spines + 64)
        shutil.rmtree(tree)
        rows.append((ports, row))
        links = stripes * rails * spines
        print(f"  {size:5,} switches, {links:7,} links: {row.cpu_s:5.1f} CPU s, {row.memory_mib:5,.0f} MiB")
    each = [
        ((more.cpu_s - row.cpu_s) / (many - few) * 1e6, (more.memory_mib - row.memory_mib) / (many - few) * 1024)
        for (few, row), (many, more) in pairwise(rows)
    ]
    for cpu, memory in each:
        print(f"  {cpu:.1f} us and {memory:.2f} KiB for every port more")
    grown, more = (last / first for first, last in zip(*each, strict=True))
    kept = "kept" if max(grown, more) <= GROWN else "NOT KEPT"
    print(f"  the last ports cost {grown:.2f} times the first, and {more:.2f} times the memory (<= {GROWN}: {kept})")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", type=Path, help="where the trees are written and kept (default: nowhere)")
    folder = parser.parse_args().dir
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="ailb-bench-") as name:
            measure(Path(name))
    else:
        folder.mkdir(parents=True, exist_ok=True)
        measure(folder)


def measure(folder: Path) -> None:
    """Measure everything, with the trees in `folder`."""
    helped = best(5, ("--help",))
    print(f"{'fabric':10} {'CPU s':>7} {'MiB':>8} {'floor s':>8} {'ratio':>6}  {'limit':22}")
    print(f"{'help':10} {helped.cpu_s:7.2f} {helped.memory_mib:8.0f} {'':8} {'':6}  {verdict('help', helped)}")
    for name, path, runs in fabrics(folder):
        rows = [cost("generate", str(path), "-o", str(folder / f"{name}{run}")) for run in range(runs)]
        row = min(rows, key=lambda one: one.cpu_s)
        lowest = lower_bound(folder / f"{name}0")
        figures = f"{row.cpu_s:7.2f} {row.memory_mib:8.0f} {lowest:8.3f} {row.cpu_s / lowest:6.1f}"
        print(f"{name:10} {figures}  {verdict(name, row)}")
    again = cost("generate", str(ROOT / "examples/frontier/fabric.yaml"), "-o", str(folder / "frontier0"))
    print(
        f"{'unchanged':10} {again.cpu_s:7.2f} {again.memory_mib:8.0f} {'':8} {'':6}  frontier again: nothing is written"
    )
    memory = Path("/dev/shm")
    larger(folder)
    print(f"growth, written to {'memory' if memory.is_dir() else 'disk'}:")
    with tempfile.TemporaryDirectory(prefix="ailb-bench-", dir=memory if memory.is_dir() else folder) as name:
        growth(Path(name))


if __name__ == "__main__":
    main()
