"""Measure what one round of collection by gNMI costs an emulator of 500 switches, and who collects it.

A round asks every switch once, over a connection that stays open, with TLS, for the paths that a file of gnmic
subscribes it to: that of `monitoring`, which has what the rules read, then that of `export gnmic`, which has all. All
links carry traffic, so that every counter has changed since the round before.
Run: python -m benchmarks.gnmi [--rounds 3]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import grpc
import yaml
from pygnmi.client import gnmi_path_generator
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from benchmarks.deploy import spent
from benchmarks.sizes import FABRIC

# 464 leaves and 36 spines, 16,704 links.
SHAPE = {"stripes": 58, "rails": 8, "spines": 36, "colors": 9}
USER = "admin"


def main() -> None:
    """Print the processor seconds of each round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    os.environ["AILB_PASSWORD"] = secrets.token_hex(12)
    with tempfile.TemporaryDirectory(prefix="ailb-bench-") as folder:
        asyncio.run(measure(Path(folder), given.rounds))


async def measure(root: Path, rounds: int) -> None:
    """Start the emulator, collect from it, stop it."""
    fabric, inventory = root / "fabric.yaml", root / "inventory"
    fabric.write_text(FABRIC.format(**SHAPE), encoding="utf-8")
    run("generate", str(fabric), "-o", str(root / "generated"))
    run("monitoring", str(fabric), str(root / "generated"), "-o", str(root / "monitoring"))
    run("export", "gnmic", str(fabric), "-o", str(root / "gnmic.yaml"))
    words = ("--loaded", "--link-traffic", "all-to-all=40", "--base-port", "0", "--gnmi-port", "0")
    command = [sys.executable, "-m", "ailb_gen", "emulate", str(root / "generated"), "--inventory", str(inventory)]
    with subprocess.Popen([*command, *words], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            print(f"started with {spent(process):.1f} CPU s", flush=True)
            for about, file in (("monitoring", "monitoring/gnmic/gnmic.yaml"), ("export gnmic", "gnmic.yaml")):
                print(f"paths of {about}", flush=True)
                await collect(ready, subscribed(root / file), process, rounds)
        finally:
            process.terminate()
            process.wait(60)


def run(*words: str) -> str:
    """Run the program; return its output."""
    return subprocess.run(
        [sys.executable, "-m", "ailb_gen", *words], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def subscribed(file: Path) -> dict[str, list[str]]:
    """Return the paths that gnmic subscribes every switch to with a file."""
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {
        name: [path for one in target["subscriptions"] for path in config["subscriptions"][one]["paths"]]
        for name, target in config["targets"].items()
    }


async def collect(
    ready: dict[str, Any], subscriptions: dict[str, list[str]], process: subprocess.Popen[str], rounds: int
) -> None:
    """Collect from all switches, one after the other; print the costs."""
    trust = grpc.ssl_channel_credentials(Path(ready["gnmi_ca"]).read_bytes())
    login = (("username", USER), ("password", os.environ["AILB_PASSWORD"]))
    channels = {name: grpc.aio.secure_channel(f"127.0.0.1:{port}", trust) for name, port in ready["gnmi"].items()}
    for number in range(rounds + 1):
        before, own, start = spent(process), time.process_time(), time.monotonic()
        leaves = size = 0
        for name, channel in channels.items():
            paths = [gnmi_pb2.Subscription(path=gnmi_path_generator(path)) for path in subscriptions[name]]
            asked = gnmi_pb2.SubscriptionList(
                subscription=paths, mode=gnmi_pb2.SubscriptionList.ONCE, encoding=gnmi_pb2.PROTO
            )
            stub = gnmi_pb2_grpc.gNMIStub(channel)
            async for response in stub.Subscribe(iter([gnmi_pb2.SubscribeRequest(subscribe=asked)]), metadata=login):
                leaves += len(response.update.update)
                size += response.ByteSize()
        cost, own, took = spent(process) - before, time.process_time() - own, time.monotonic() - start
        print(
            f"{'first ' if not number else ''}round: {len(channels)} switches, {leaves:,} leaves, {size / 1e6:.0f} MB; "
            f"emulator {cost:.1f} CPU s, collector {own:.1f} CPU s, {took:.1f} s",
            flush=True,
        )
    for channel in channels.values():
        await channel.close()


if __name__ == "__main__":
    main()
