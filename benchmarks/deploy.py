"""Measure a push to 500 emulated switches, and plans for 250 to 5,000, next to bare PyEZ.

The switches are emulated on the same machine and share its cores; their cost is shown beside. The floor does the
indispensable steps of a push with PyEZ (connect, lock, load, commit check, discard, unlock), on a sample, one after
another. The floor of a plan connects and reads the configuration, the sessions and the alarms.
Run: python -m benchmarks.deploy [--plan [--sizes 250,1000]]
"""

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import yaml
from jnpr.junos.device import Device
from jnpr.junos.utils.config import Config

from benchmarks.measure import ROOT, Cost, cost

FABRIC = """\
name: five-hundred
stripes: {stripes}
rails: 8
spines: {spines}
servers: {{count: 2, name: "s{{s:02}}-gpu{{i:02}}"}}
colors: {{count: 4}}
platform: {{leaf: qfx5240-64od, spine: wide}}
platforms: {{wide: {{port_groups: [{{fpcs: 0-39, ports: 0-63, native: 800g, speeds: {{800g: [1], 400g: [2]}}}}]}}}}
uplinks: {{speed: 400g, packing: packed}}
downlinks: {{packing: packed}}
vlans: {{unique: stripe}}
router_ids: {{leaves: 10.240.0.0/16}}
host_ports: {{speed: 400g, first_port: 32}}
bfd: {{interval_ms: 300, multiplier: 3}}
"""
SAMPLE = 10
# Wall-clock seconds, and MiB of the deployer.
LIMITS = {"dry run": (90.0, 600.0), "deploy": (240.0, 600.0)}
# Numbers of switches in the plans; limits: CPU ms and MiB per switch, cost of the last switches next to the first.
SIZES = "250,1000,5000"
PLAN_CPU_MS, PLAN_MIB, GROWTH = 40.0, 0.3, 1.2
# The RPCs that a plan sends to every switch.
ASKED = ("get-bgp-summary-information", "get-alarm-information", "get-system-alarm-information")


@contextmanager
def emulated(artifacts: Path, inventory: Path, port: int, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Emulate the switches of an artifact directory; `more` are further words, such as `--loaded`."""
    command = [sys.executable, "-m", "ailb_gen", "emulate", str(artifacts), *more, "--inventory", str(inventory)]
    with subprocess.Popen(
        [*command, "--base-port", str(port)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        try:
            assert process.stdout is not None
            json.loads(process.stdout.readline())
            yield process
        finally:
            process.terminate()
            process.wait(60)


def spent(process: subprocess.Popen[str]) -> float:
    """Return the CPU seconds of a process so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def push_floor(artifacts: Path, inventory: Path) -> tuple[float, float]:
    """Return CPU and wall-clock seconds per device of bare PyEZ calls."""
    hosts = yaml.safe_load((inventory / "hosts.yaml").read_text(encoding="utf-8"))
    names = [name for name in sorted(hosts) if "port" in hosts[name]][:SAMPLE]
    started, cpu = time.monotonic(), time.process_time()
    for name in names:
        text = (artifacts / "switches" / f"{name}.conf").read_text(encoding="utf-8")
        login = {"user": "admin", "passwd": os.environ["AILB_PASSWORD"], "gather_facts": False}
        with Device(host=hosts[name]["hostname"], port=hosts[name]["port"], **login) as device:
            config = Config(device)
            config.lock()
            config.load(text, format="text", merge=True)
            config.commit_check()
            config.rollback(0)
            config.unlock()
    return (time.process_time() - cpu) / len(names), (time.monotonic() - started) / len(names)


def read_floor(inventory: Path) -> float:
    """Return CPU seconds per device of bare PyEZ that connects and reads what a plan reads."""
    hosts = yaml.safe_load((inventory / "hosts.yaml").read_text(encoding="utf-8"))
    names = [name for name in sorted(hosts) if "port" in hosts[name]][:SAMPLE]
    login = {"user": "admin", "passwd": os.environ["AILB_PASSWORD"], "gather_facts": False}
    cpu = time.process_time()
    for name in names:
        with Device(host=hosts[name]["hostname"], port=hosts[name]["port"], **login) as device:
            device.rpc.get_config(options={"format": "text"})
            for rpc in ASKED:
                getattr(device.rpc, rpc.replace("-", "_"))()
    return (time.process_time() - cpu) / len(names)


def plans(given: argparse.Namespace) -> None:
    """Measure plans of several sizes: first pushes, which change everything, and plans without changes."""
    sizes = [int(size) for size in given.sizes.split(",")]
    for title, loaded in (("first push", False), ("nothing to do", True)):
        rows = [_plan(given, size, title, loaded) for size in sizes]
        steps = [
            ((more.cpu_s - row.cpu_s) / (many - few) * 1000, (more.memory_mib - row.memory_mib) / (many - few))
            for (few, row), (many, more) in pairwise(rows)
        ]
        for (few, _), (many, _), (each, memory) in zip(rows, rows[1:], steps, strict=False):
            print(f"  {few} to {many}: {each:.1f} CPU ms and {memory:.2f} MiB for every switch more")
        limits = [
            (
                f"{row.cpu_s / count * 1000:.0f} CPU ms a device of {count} <= {PLAN_CPU_MS:.0f}",
                row.cpu_s / count * 1000,
                PLAN_CPU_MS,
            )
            for count, row in rows
        ]
        if steps:
            (few, low), (many, high) = rows[0], rows[-1]
            memory = (high.memory_mib - low.memory_mib) / (many - few)
            limits.append((f"{memory:.2f} MiB for every switch more <= {PLAN_MIB}", memory, PLAN_MIB))
        if len(steps) > 1:
            grown = steps[-1][0] / steps[0][0]
            limits.append((f"the last switches cost {grown:.2f} times the first <= {GROWTH}", grown, GROWTH))
        for text, value, limit in limits:
            print(f"  {text}: {'kept' if value <= limit else 'NOT KEPT'}", flush=True)


def _plan(given: argparse.Namespace, size: int, title: str, loaded: bool) -> tuple[int, Cost]:
    """Measure a plan and print it next to the floor; return the number of switches and the cost."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        fabric, artifacts, inventory = root / "fabric.yaml", root / "generated", root / "inventory"
        fabric.write_text(FABRIC.format(stripes=(size - given.spines) // 8, spines=given.spines), encoding="utf-8")
        cost("generate", str(fabric), "-o", str(artifacts))
        count = len(list((artifacts / "switches").iterdir()))
        with emulated(artifacts, inventory, given.base_port, "--loaded" if loaded else "--empty"):
            floor_ms = read_floor(inventory) * 1000
            row = cost("plan", str(fabric), str(artifacts), "-i", str(inventory), "--driver", given.driver, "--brief")
    each = row.cpu_s / count * 1000
    print(
        f"plan, {title}, {count:5} switches {row.wall_s:7.1f} s wall, {row.cpu_s:6.1f} CPU s ({each:.0f} ms a device "
        f"with start-up, floor {floor_ms:.0f} ms x {each / floor_ms:.1f}), {row.memory_mib:5.0f} MiB",
        flush=True,
    )
    return count, row


def verdict(name: str, row: Cost) -> str:
    """Return the limits of a figure, and whether it keeps them."""
    wall_s, memory_mib = LIMITS[name]
    kept = row.wall_s <= wall_s and row.memory_mib <= memory_mib
    return f"<= {wall_s:.0f} s, <= {memory_mib:.0f} MiB: {'kept' if kept else 'NOT KEPT'}"


def main() -> None:
    """Measure a dry run and a push."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--stripes", type=int, default=60, help="of 8 leaves; 60 give 480 leaves")
    arguments.add_argument("--spines", type=int, default=20)
    arguments.add_argument("--driver", default="napalm")
    arguments.add_argument("--base-port", type=int, default=21000)
    arguments.add_argument("--plan", action="store_true", help="plans of the sizes instead of a push")
    arguments.add_argument("--sizes", default=SIZES, help="how many switches, separated by commas")
    given = arguments.parse_args()
    os.environ["AILB_PASSWORD"] = secrets.token_hex(12)
    if given.plan:
        plans(given)
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        fabric, artifacts, inventory = root / "fabric.yaml", root / "generated", root / "inventory"
        fabric.write_text(FABRIC.format(stripes=given.stripes, spines=given.spines), encoding="utf-8")
        cost("generate", str(fabric), "-o", str(artifacts))
        count = len(list((artifacts / "switches").iterdir()))
        with emulated(artifacts, inventory, given.base_port) as process:
            bare_cpu, bare_wall = push_floor(artifacts, inventory)
            print(f"{count} emulated switches, {given.driver}; figures of the deployer, and of the emulator beside it")
            print(f"{'floor, bare PyEZ':18} {bare_cpu * 1000:7.0f} CPU ms a device, {bare_wall * 1000:.0f} ms wall")
            words = [str(fabric), str(artifacts), "-i", str(inventory), "--driver", given.driver, "--yes"]
            for name, more in (("dry run", ["--dry-run"]), ("deploy", [])):
                before = spent(process)
                row = cost("deploy", *words, *more)
                beside = spent(process) - before
                each = row.cpu_s / count
                print(
                    f"{name:18} {row.wall_s:7.1f} s wall, {row.cpu_s:6.1f} CPU s ({each * 1000:.0f} ms a device, "
                    f"floor x {each / bare_cpu:.1f}), {row.memory_mib:4.0f} MiB; emulator {beside:6.1f} CPU s"
                )
                print(f"{'':18} {verdict(name, row)}")


if __name__ == "__main__":
    main()
