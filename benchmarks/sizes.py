"""Measure `generate`, `validate` and `plan` by the number of switches, for the table in docs/requirements.md.

Every figure is the cost of a separate process with its workers, start-up included. `validate` runs every check but
those that need YANG models, then once more without the failures; `plan` reads emulated switches that are almost empty,
so that everything changes.
Run: python -m benchmarks.sizes [--sizes 8,64,256,1024]; 576, 2176 and 5000 are possible, too
"""

import argparse
import os
import secrets
import tempfile
from pathlib import Path

from benchmarks.deploy import emulated
from benchmarks.measure import cost

FABRIC = """\
name: size
stripes: {stripes}
rails: {rails}
spines: {spines}
servers: {{count: {spines}, name: "s{{s:03}}-gpu{{i:02}}"}}
colors: {{count: {colors}}}
platform: {{leaf: qfx5240-64od, spine: wide}}
platforms: {{wide: {{port_groups: [{{fpcs: 0-31, ports: 0-31, native: 400g, speeds: {{400g: [1]}}}}]}}}}
uplinks: {{speed: 400g, packing: packed}}
host_ports: {{speed: 400g, first_port: 32}}
"""
# All switches with ports that are split, so that a spine has more than 4,096; more router IDs than the default pool
# has, and VLAN IDs that stripes share: in a whole fabric there are 4,093.
LARGER_FABRIC = """\
name: size
stripes: {stripes}
rails: {rails}
spines: {spines}
servers: {{count: 64, name: "s{{s:03}}-gpu{{i:02}}"}}
colors: {{count: {colors}}}
platform: wide
platforms: {{wide: {{port_groups: [{{fpcs: 0-39, ports: 0-63, native: 800g, speeds: {{800g: [1], 400g: [2]}}}}]}}}}
uplinks: {{speed: 400g, packing: packed}}
downlinks: {{packing: packed}}
host_ports: {{speed: 400g, first_port: 64}}
vlans: {{unique: stripe}}
router_ids: {{leaves: 10.240.0.0/16}}
"""
# Stripes, rails and spines by the number of switches; a leaf has as many servers as uplinks.
SHAPES = {8: (2, 2, 4), 64: (6, 8, 16), 256: (28, 8, 32), 1024: (120, 8, 64)}
# With these a fabric has 32,768, 262,144 and 470,784 links; 500,000 is the most that `generate` takes.
LARGER = {576: (64, 8, 64), 2176: (256, 8, 128), 5000: (613, 8, 96)}


def main() -> None:
    """Print a row of the page for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SHAPES)), help="how many switches, separated by commas")
    parser.add_argument("--base-port", type=int, default=26000)
    given = parser.parse_args()
    os.environ["AILB_PASSWORD"] = secrets.token_hex(12)
    for size in map(int, given.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="ailb-bench-") as folder:
            print(row(size, Path(folder), given.base_port), flush=True)


def fabric_text(size: int) -> str:
    """Return the fabric file with that number of switches."""
    stripes, rails, spines = (SHAPES | LARGER)[size]
    text = LARGER_FABRIC if size in LARGER else FABRIC
    return text.format(stripes=stripes, rails=rails, spines=spines, colors=min(spines, 8))


def row(size: int, root: Path, port: int) -> str:
    """Return the costs for a number of switches as a row of a Markdown table."""
    stripes, rails, spines = (SHAPES | LARGER)[size]
    fabric, tree, inventory = root / "fabric.yaml", root / "generated", root / "inventory"
    fabric.write_text(fabric_text(size), encoding="utf-8")
    costs = [
        cost("generate", str(fabric), "-o", str(tree)),
        cost("validate", str(fabric), str(tree)),
        cost("validate", str(fabric), str(tree), "--checks", "!failures"),
    ]
    with emulated(tree, inventory, port):
        costs.append(cost("plan", str(fabric), str(tree), "-i", str(inventory), "--brief"))
    figures = (f"{one.cpu_s:,.1f} s, {one.memory_mib:,.0f} MiB" for one in costs)
    return f"| {size:,} | {stripes * rails * spines:,} | {' | '.join(figures)} |"


if __name__ == "__main__":
    main()
