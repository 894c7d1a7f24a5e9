"""Labs of artifact directories for tests, in the namespaces of this process; they run until it ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.junos.reader import read_file
from ailb_gen.junos.tree import Node
from ailb_gen.lab.convergence import start
from ailb_gen.lab.kernel import addresses, links
from ailb_gen.lab.links import LinkSettings, apply, create, settings
from ailb_gen.lab.namespaces import batch
from ailb_gen.lab.plan import LabPlan, SwitchPlan, plan
from ailb_gen.lab.router_discovery import RaListener
from ailb_gen.lab.servers.boot import boot, wait
from ailb_gen.lab.state import LabFabric
from ailb_gen.network.fabric import Network
from ailb_gen.network.read import read_network
from tests.checks.trees import GOLDEN, network_of

PATIENCE_S = 60.0
LINK_LOCAL = 0xFE80 >> 6
# A step that takes longer hangs.
SECONDS = 30
# What must not be collected while a lab runs.
KEPT: list[object] = []


def until(condition: Callable[[], bool]) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "waited for in vain"
        time.sleep(0.01)


def let_go(lock: Path) -> None:
    """Let go of what holds a lock until its process has ended: here that is the process of the tests."""
    for path in list(Path("/proc/self/fd").iterdir()):
        with suppress(FileNotFoundError):
            if path.readlink() == lock:
                os.close(int(path.name))


def wired_up(name: str = "lab") -> tuple[Network, LabPlan, dict[str, LinkSettings]]:
    """Make the namespaces and links of an example, its switches configured, nothing running; returns the settings."""
    network = network_of(GOLDEN / name)
    made = plan(network)
    create(made)
    configured = {name: settings(made, switch) for name, switch in network.switches.items()}
    for switch, one in configured.items():
        apply(switch, None, one)
    until(lambda: all(map(_up, made.switches.values())))
    return network, made, configured


def _up(switch: SwitchPlan) -> bool:
    """Whether the cables to other switches have carrier and an address; those to servers have none yet."""
    cables = {port.link for port in switch.ports.values() if port.far.port.startswith("et-")}
    return cables <= carrier(switch.name) & with_link_local(switch.name)


def carrier(name: str) -> frozenset[str]:
    """The links of a device that have carrier."""
    return frozenset(link.name for link in links(name).values() if link.carrier)


def with_link_local(name: str) -> frozenset[str]:
    """The links of a device that have a link-local address."""
    return frozenset(found.link for found in addresses(name) if found.value >> 118 == LINK_LOCAL)


def trees(root: Path) -> dict[str, Node]:
    """Read the configurations of all switches."""
    return {file.stem: read_file(file) for file in sorted((root / "switches").glob("*.conf"))}


def wired(root: Path) -> LabFabric:
    """Make namespaces and links; NICs of servers are up, switches are not configured."""
    made = plan(read_network(root, lambda written, tree: None).network)
    create(made)
    for name, server in made.servers.items():
        batch([f"link set {nic} up" for nic in server.nics], name)
    fabric = LabFabric(made)
    fabric.listen(RaListener(made))
    return fabric


def running(root: Path) -> LabFabric:
    """Run all switches of an artifact directory, with NICs but no servers, until nothing happens any more."""
    fabric = wired(root)
    for name, tree in trees(root).items():
        fabric.commit(name, tree)
    missing = start(fabric, PATIENCE_S)
    assert not missing, missing
    return fabric


def with_servers(root: Path, hosts: str = "script") -> LabPlan:
    """Run all switches and servers of an artifact directory, as far as its files allow."""
    network = read_network(root, lambda written, tree: None).network
    made = plan(network)
    create(made)
    booting = boot(made, network, root, hosts)
    booting.__enter__()
    fabric = LabFabric(made)
    listener = RaListener(made)
    listener.start(fabric.hear)
    for name, tree in trees(root).items():
        fabric.commit(name, tree)
    start(fabric, PATIENCE_S)
    wait(made, network.hosts)
    KEPT.extend((booting, listener, fabric))
    return made


def emulated(root: Path) -> EmulatedFabric:
    """Compute the same fabric."""
    fabric = EmulatedFabric.read(root)
    for name, tree in trees(root).items():
        fabric.commit(name, tree)
    return fabric
