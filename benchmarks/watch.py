"""Measure rounds of `watch` over emulated switches: CPU seconds next to a floor, and memory, with one that hangs.

The switches are emulated on the same machine and share its cores; their cost is not counted. The floor connects to the
same switches, and sends the same requests, without comparing anything; it is measured on a sample before the rounds.
Run: python -m benchmarks.watch [--stripes 60 --spines 20 --rounds 100]
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from ailb_gen.api.connect import connect
from ailb_gen.api.watch import watch
from ailb_gen.deploy.drivers import NapalmDriver
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.watching.readings import DeviceReader
from benchmarks.deploy import FABRIC, emulated
from benchmarks.measure import cost

# Rounds after which memory is printed, and how much more than the most before it may be after the last of them. What is
# free, and what is garbage that was not collected yet, differ by twenty MiB from round to round.
SHOWN, GROWTH_MIB = (2, 5, 10, 20, 50, 100), 10.0
# Switches of the floor, and CPU seconds of a round next to it.
SAMPLE, TIMES = 10, 1.5
HANGS = "spine1=slow@running*0=86400"


def main() -> None:
    """Print the rounds."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--stripes", type=int, default=60, help="of 8 leaves; 60 give 480 leaves")
    arguments.add_argument("--spines", type=int, default=20)
    arguments.add_argument("--rounds", type=int, default=100)
    arguments.add_argument("--base-port", type=int, default=23000)
    given = arguments.parse_args()
    os.environ["AILB_PASSWORD"] = secrets.token_hex(12)
    with tempfile.TemporaryDirectory(prefix="ailb-bench-") as folder:
        root = Path(folder)
        fabric, artifacts, inventory = root / "fabric.yaml", root / "generated", root / "inventory"
        fabric.write_text(FABRIC.format(stripes=given.stripes, spines=given.spines), encoding="utf-8")
        cost("generate", str(fabric), "-o", str(artifacts))
        with emulated(artifacts, inventory, given.base_port, "--loaded", "--fault", HANGS):
            measure(fabric, artifacts, inventory, given.rounds)


def measure(fabric: Path, artifacts: Path, inventory: Path, rounds: int) -> None:
    """Measure the floor, then all rounds."""
    with connect(fabric, artifacts, inventory=inventory, limit=["switches", "!spine1"], trust="files") as connection:
        floor_ms = floor(connection.context) * 1000
    stopped = threading.Event()
    memory: dict[int, float] = {}
    before, total = time.process_time(), 0.0
    with watch(fabric, artifacts, inventory=inventory, every_s=1.0, deadline_s=300.0, signals=stopped.is_set) as found:
        count = len(found.devices)
        print(
            f"{count} switches, floor {floor_ms:.0f} CPU ms a switch, {floor_ms * count / 1000:.1f} s a round",
            flush=True,
        )
        for report in found.rounds():
            if not report.whole:
                continue
            now = time.process_time()
            spent, before = now - before, now
            total += spent * (report.number > 1)
            if report.number in (1, *SHOWN):
                memory[report.number] = resident_mib()
                print(
                    f"round {report.number:3}: {spent:6.1f} CPU s (floor x {spent * 1000 / floor_ms / count:.2f}), "
                    f"{report.seconds:5.1f} s wall, {report.read} of {report.devices} read, "
                    f"{report.findings} findings, {memory[report.number]:.0f} MiB, "
                    f"{sys.getallocatedblocks():,} blocks, {threading.active_count()} threads",
                    flush=True,
                )
            if report.number == rounds:
                stopped.set()
    if rounds > 1:
        times = total * 1000 / (rounds - 1) / floor_ms / count
        print(f"  rounds 2 to {rounds}: floor x {times:.2f} <= {TIMES}: {'kept' if times <= TIMES else 'NOT KEPT'}")
    shown = [memory[number] for number in SHOWN if number in memory]
    if len(shown) > 1:
        grown = shown[-1] - max(shown[:-1])
        print(f"  memory grew by {grown:.1f} MiB <= {GROWTH_MIB:.0f}: {'kept' if grown <= GROWTH_MIB else 'NOT KEPT'}")


def floor(session: DeploySession) -> float:
    """Return CPU seconds per switch of connecting and of the requests of a reading, on a sample."""
    reader = DeviceReader(session)
    spread = reader.names[:: max(1, len(reader.names) // SAMPLE)]
    asked: dict[str, list[tuple[str, dict[str, str | bool]]]] = {}
    for name in spread:
        with recorded() as calls:
            device = session.pool.connects[name]()
            reader.read(name, device)
            device.close()
        asked[name] = calls
    began = time.process_time()
    for name, calls in asked.items():
        device = session.pool.connects[name]()
        for rpc, arguments in calls:
            device.ask(rpc, **arguments)
        device.running()
        device.close()
    return (time.process_time() - began) / len(asked)


@contextmanager
def recorded() -> Iterator[list[tuple[str, dict[str, str | bool]]]]:
    """Note the operational requests that are sent."""
    calls: list[tuple[str, dict[str, str | bool]]] = []
    ask = NapalmDriver.ask

    def noted(self: NapalmDriver, rpc: str, **arguments: str | bool) -> object:
        calls.append((rpc, arguments))
        return ask(self, rpc, **arguments)

    with mock.patch.object(NapalmDriver, "ask", noted):
        yield calls


def resident_mib() -> float:
    """Return the resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


if __name__ == "__main__":
    main()
