"""Fabrics of BIRDs in namespaces, driven over a pipe: a process of its own, which takes all of it with it.

Requests come pickled on standard input, answers go pickled to standard output.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ailb_gen.addresses import Prefix, address_text
from ailb_gen.lab import kernel, namespaces
from ailb_gen.lab.bird import parse
from ailb_gen.lab.bird.config import render
from ailb_gen.lab.bird.control import Bird
from ailb_gen.lab.bird.model import ECMP_KERNEL, ECMP_PIPE, ECMP_TABLE, BirdPeer, RibRoute, SessionState, Translation
from ailb_gen.lab.plan import LabPlan, link_local, plan
from ailb_gen.network.fabric import Cable, Network
from ailb_gen.network.sessions import discovered, local_as
from tests.conftest import missing, need_tool

RUN = Path("/run/bird")
SYSCTLS = {
    "net.ipv6.conf.all.forwarding": 1,
    "net.ipv6.conf.default.accept_dad": 0,
    "net.ipv6.conf.all.accept_dad": 0,
    "net.ipv6.conf.default.accept_ra": 0,
}


@dataclass(frozen=True)
class Measured:
    """What a switch shows: its routes, its sessions, and the links and gateways of the kernel's routes."""

    routes: tuple[RibRoute, ...]
    sessions: Mapping[str, SessionState]
    kernel: Mapping[Prefix, frozenset[kernel.KernelNextHop]]


@dataclass(frozen=True)
class Failure:
    """What went wrong while a request was answered."""

    text: str


@dataclass
class Running:
    """A fabric that runs; names of namespaces and files start with its tag."""

    tag: str
    network: Network
    plan: LabPlan
    translations: dict[str, Translation] = field(default_factory=dict)
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def space(self, device: str) -> str:
        return f"{self.tag}{device}"

    def bird(self, device: str) -> Bird:
        return Bird(RUN / f"{self.space(device)}.ctl")


def peers(network: Network, planned: LabPlan, name: str) -> dict[str, BirdPeer]:
    """Give the neighbors of a switch whose router advertisements it would hear."""
    found = {}
    for port, entry in planned.switches[name].ports.items():
        other = network.switches.get(entry.far.device)
        unit = f"{entry.far.port}.0"
        if other is None or unit not in other.advertisements:
            continue
        table = discovered(other)
        asn = local_as(other, other.groups[table[unit]]) if unit in table else other.asn
        far = planned.switches[entry.far.device].ports[entry.far.port]
        found[f"{port}.0"] = BirdPeer(link_local(far.mac), asn or 0)
    return found


def build(tag: str, network: Network) -> Running:
    """Make namespaces, cables and addresses."""
    running = Running(tag, network, plan(network))
    spaces = [running.space(name) for name in running.plan.switches]
    namespaces.add(spaces)
    for space in spaces:
        namespaces.write_sysctl(space, SYSCTLS)
    lines = []
    for cable in network.links:
        a, b = (running.plan.switches[end.device].ports[end.port] for end in (cable.a, cable.b))
        near, far = running.space(cable.a.device), running.space(cable.b.device)
        lines.append(
            f"link add {a.link} address {a.mac} netns {near} type veth peer name {b.link} address {b.mac} netns {far}"
        )
    namespaces.batch(lines)
    for name in running.plan.switches:
        namespaces.batch([f"link set {link} up" for link in links(running, name)], running.space(name))
    for name, switch in network.switches.items():
        routed = {vlan.irb for vlan in switch.vlans if vlan.vlan_id is not None}
        units = (
            unit
            for port in switch.ports.values()
            for unit in port.units
            if not port.disabled and not unit.disabled and (port.name != "irb" or unit.name in routed)
        )
        # Every address on lo: the tests look at routes, not at bridges.
        lines = [
            f"address add {address_text(one.value)}/{one.prefix.length} dev lo nodad"
            for unit in units
            for one in unit.addresses
        ]
        namespaces.batch(lines, running.space(name))
    return running


def links(running: Running, name: str) -> list[str]:
    """Give the links of a switch to other switches."""
    ports = running.plan.switches[name].ports.values()
    return [port.link for port in ports if port.far.device in running.plan.switches]


def start(running: Running) -> None:
    """Wait for link-local addresses, then start the daemons."""
    RUN.mkdir(exist_ok=True)
    for name in running.network.switches:
        wanted = len(links(running, name))
        _wait_for(lambda name=name, wanted=wanted: _link_locals(running, name) >= wanted)
    for name in running.network.switches:
        configure(running, name, first=True)


def _link_locals(running: Running, name: str) -> int:
    text = namespaces.output(running.space(name), ("ip", "-o", "-6", "address", "show", "scope", "link"))
    return len(text.splitlines()) - text.count("tentative")


def _wait_for(holds: Any, patience_s: float = 10.0) -> None:
    until = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < until, "not in time"
        time.sleep(0.05)


def configure(running: Running, name: str, first: bool = False) -> None:
    """Write a switch's configuration, and start its daemon or let it read that again."""
    found = render(
        running.network.switches[name], running.plan.switches[name], peers(running.network, running.plan, name)
    )
    running.translations[name] = found
    path = RUN / f"{running.space(name)}.conf"
    path.write_text(found.text)
    if not first:
        running.bird(name).configure()
        return
    control, pid, log = (path.with_suffix(suffix) for suffix in (".ctl", ".pid", ".log"))
    words = ("bird", "-f", "-c", str(path), "-s", str(control), "-P", str(pid))
    running.daemons[name] = namespaces.spawn(running.space(name), words, stderr=log.open("wb"))
    _wait_for(control.exists)


def set_cable(running: Running, cable: Cable, up: bool) -> None:
    """Take a cable down or put it back, at both ends."""
    for end in (cable.a, cable.b):
        link = running.plan.switches[end.device].ports[end.port].link
        namespaces.batch([f"link set {link} {'up' if up else 'down'}"], running.space(end.device))


def measure(running: Running) -> dict[str, Measured]:
    """Read what every switch shows."""
    return {
        name: Measured(
            parse.rib(running.bird(name)),
            parse.sessions(running.bird(name)),
            kernel.routes(running.space(name), protocol=kernel.BIRD),
        )
        for name in running.network.switches
    }


def stop(running: Running) -> None:
    """End the daemons and remove the namespaces."""
    for daemon in running.daemons.values():
        daemon.kill()
        daemon.wait()
    namespaces.batch([f"netns delete {running.space(name)}" for name in running.plan.switches])


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more: (what, tag, argument)."""
    fabrics: dict[str, Running] = {}
    while True:
        try:
            what, tag, argument = pickle.load(requests)
        except EOFError:
            return
        try:
            answer = respond(fabrics, what, tag, argument)
        except Exception:  # noqa: BLE001 - whatever it is, the test that waits shows it
            answer = Failure(traceback.format_exc())
        pickle.dump(answer, answers)
        answers.flush()


def respond(fabrics: dict[str, Running], what: str, tag: str, argument: Any) -> object:
    """Do what a request asks for."""
    if what == "build":
        fabrics[tag] = build(tag, argument)
    elif what == "start":
        start(fabrics[tag])
        return fabrics[tag].translations
    elif what == "cable":
        set_cable(fabrics[tag], *argument)
    elif what == "measure":
        return measure(fabrics[tag])
    elif what == "plain ecmp":
        for protocol in (ECMP_PIPE, ECMP_KERNEL):
            fabrics[tag].bird(argument).command(f"enable {protocol}")
    elif what == "ecmp table":
        return kernel.routes(fabrics[tag].space(argument), ECMP_TABLE)
    elif tag in fabrics:
        stop(fabrics.pop(tag))
    return None


class Twin:
    """The client's end: a process in namespaces of its own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            (sys.executable, "-c", "from tests.lab.bird.twin import main; main()"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, what: str, tag: str, argument: object = None) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        pickle.dump((what, tag, argument), self.process.stdin)
        self.process.stdin.flush()
        answer = pickle.load(self.process.stdout)
        assert not isinstance(answer, Failure), answer.text
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def need_twin() -> None:
    """Skip without BIRD, or where namespaces are not allowed."""
    need_tool("bird")
    options = "-nmp" if os.geteuid() == 0 else "-Urnmp"
    done = subprocess.run(("unshare", options, "--fork", "true"), capture_output=True, text=True, check=False)
    if done.returncode:
        missing(f"this system does not allow namespaces: {done.stderr.strip()}")


def main() -> None:
    namespaces.isolate()
    serve(sys.stdin.buffer, sys.stdout.buffer)
