"""A lab of an artifact directory for tests, in the namespaces of this process: switches, and NICs without servers.

It runs until the process ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.junos.reader import read_file
from ailb_gen.junos.tree import Node
from ailb_gen.lab.convergence import start
from ailb_gen.lab.links import create
from ailb_gen.lab.namespaces import batch
from ailb_gen.lab.plan import LabPlan, plan
from ailb_gen.lab.router_discovery import RaListener
from ailb_gen.lab.state import LabFabric
from ailb_gen.network.read import read_network

PATIENCE_S = 60.0


def trees(root: Path) -> dict[str, Node]:
    """Read the configurations of all switches."""
    return {file.stem: read_file(file) for file in sorted((root / "switches").glob("*.conf"))}


def planned(root: Path) -> LabPlan:
    """Plan the lab of an artifact directory."""
    return plan(read_network(root, lambda written, tree: None).network)


def wired(root: Path) -> LabFabric:
    """Make namespaces and links; NICs of servers are up, switches are not configured."""
    found = planned(root)
    create(found)
    for name, server in found.servers.items():
        batch([f"link set {nic} up" for nic in server.nics], name)
    fabric = LabFabric(found)
    fabric.listen(RaListener(found))
    return fabric


def running(root: Path, changed: Mapping[str, Node] | None = None) -> LabFabric:
    """Run all switches of an artifact directory, some with another configuration, until nothing happens any more."""
    fabric = wired(root)
    for name, tree in (trees(root) | dict(changed or {})).items():
        fabric.commit(name, tree)
    missing = start(fabric, PATIENCE_S)
    assert not missing, missing
    return fabric


def emulated(root: Path) -> EmulatedFabric:
    """Compute the same fabric."""
    fabric = EmulatedFabric.read(root)
    for name, tree in trees(root).items():
        fabric.commit(name, tree)
    return fabric
