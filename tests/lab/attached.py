"""Leaves for servers alone: a bridge with the gateways and router advertisements of the switch's file."""

from __future__ import annotations

import sys
from pathlib import Path

from ailb_gen.addresses import address_text
from ailb_gen.lab.namespaces import add, batch, spawn, write_sysctl
from ailb_gen.lab.plan import LabPlan
from ailb_gen.network.fabric import Network
from tests.deploy.servers import machine

QUIET = {f"net.ipv6.conf.{which}.accept_dad": 0 for which in ("all", "default")}


def attach(plan: LabPlan, network: Network) -> None:
    """Make the namespaces of leaves and servers, cables between them, and what the leaves announce."""
    leaves = [name for name, switch in plan.switches.items() if switch.role == "leaf"]
    add((*leaves, *plan.servers))
    for leaf in leaves:
        write_sysctl(leaf, QUIET | {"net.ipv6.conf.all.forwarding": 1})
        batch(["link add irb type bridge"], leaf)
    cables = []
    for name, server in plan.servers.items():
        for nic in server.nics.values():
            if nic.leaf is not None:
                link = plan.switches[nic.leaf.device].ports[nic.leaf.port].link
                own = f"{nic.nic} address {nic.mac} netns {name}"
                cables.append(f"link add {own} type veth peer name {link} netns {nic.leaf.device}")
    batch(cables)
    for leaf in leaves:
        _leaf(leaf, plan, network)


def _leaf(leaf: str, plan: LabPlan, network: Network) -> None:
    links = [port.link for port in plan.switches[leaf].ports.values() if port.far.device in plan.servers]
    batch([f"link set {link} mtu 9216 master irb up" for link in links] + ["link set irb up"], leaf)
    switch = network.switches[leaf]
    units = [unit for unit in switch.ports["irb"].units if unit.addresses]
    lines = [
        f"addr add {address_text(one.value)}/{one.prefix.length} dev irb" for unit in units for one in unit.addresses
    ]
    batch(lines, leaf, "-6")
    announced = [
        str(one.prefix).removesuffix("/64") for unit in units for one in switch.advertisements[unit.name].prefixes
    ]
    spawn(leaf, (sys.executable, str(Path(machine.__file__)), ",".join(["irb", *announced])), cwd=Path.cwd())
