"""A whole lab of an artifact directory, in the namespaces of this process: switches and servers, until nothing happens.

It runs as long as the process that calls it.
"""

from __future__ import annotations

from pathlib import Path

from ailb_gen.junos.reader import read_file
from ailb_gen.lab.convergence import start
from ailb_gen.lab.links import create
from ailb_gen.lab.plan import LabPlan, plan
from ailb_gen.lab.router_discovery import RaListener
from ailb_gen.lab.servers.boot import boot, wait
from ailb_gen.lab.state import LabFabric
from ailb_gen.network.read import read_network

PATIENCE_S = 60.0
# What must not be collected while the lab runs.
KEPT: list[object] = []


def brought_up(root: Path, hosts: str = "script") -> tuple[LabPlan, LabFabric]:
    """Bring all devices of an artifact directory up, as far as its files allow."""
    network = read_network(root, lambda written, tree: None).network
    made = plan(network)
    create(made)
    booting = boot(made, network, root, hosts)
    booting.__enter__()
    fabric = LabFabric(made)
    listener = RaListener(made)
    listener.start(fabric.hear)
    for file in sorted((root / "switches").glob("*.conf")):
        fabric.commit(file.stem, read_file(file))
    start(fabric, PATIENCE_S)
    wait(made, network.hosts)
    KEPT.extend((booting, listener, fabric))
    return made, fabric
