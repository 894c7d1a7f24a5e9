"""Fabrics of BIRDs side by side in the namespaces of this process, which takes all of them with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ailb_gen.addresses import Prefix, address_text
from ailb_gen.lab import kernel, namespaces
from ailb_gen.lab.bird import parse
from ailb_gen.lab.bird.config import render
from ailb_gen.lab.bird.model import BirdPeer, RibRoute, Translation
from ailb_gen.lab.plan import LabPlan, link_local, plan
from ailb_gen.lab.routers import Router
from ailb_gen.network.fabric import Cable, Network
from ailb_gen.network.sessions import local_as, session_groups
from tests.lab.labs import until, with_link_local

SYSCTLS = {
    "net.ipv6.conf.all.forwarding": 1,
    "net.ipv6.conf.default.accept_dad": 0,
    "net.ipv6.conf.all.accept_dad": 0,
    "net.ipv6.conf.default.accept_ra": 0,
}


@dataclass(frozen=True)
class Measured:
    """What a switch shows: its routes, and the links and gateways of the kernel's routes."""

    routes: tuple[RibRoute, ...]
    kernel: Mapping[Prefix, frozenset[kernel.KernelNextHop]]


@dataclass
class Running:
    """A fabric that runs; names of namespaces and files start with its tag."""

    tag: str
    network: Network
    plan: LabPlan
    translations: dict[str, Translation] = field(default_factory=dict)
    daemons: dict[str, Router] = field(default_factory=dict)

    def space(self, device: str) -> str:
        return f"{self.tag}{device}"


def peers(network: Network, planned: LabPlan, name: str) -> dict[str, BirdPeer]:
    """Give the neighbors of a switch whose router advertisements it would hear, and its static ones."""
    found = {}
    static = {one.interface: one for group in network.switches[name].groups for one in group.neighbors}
    for port, entry in planned.switches[name].ports.items():
        other = network.switches.get(entry.far.device)
        unit = f"{entry.far.port}.0"
        if other is None or not (unit in other.advertisements or f"{port}.0" in static):
            continue
        table = session_groups(other)
        asn = local_as(other, other.groups[table[unit]]) if unit in table else other.asn
        far = planned.switches[entry.far.device].ports[entry.far.port]
        neighbor = static.get(f"{port}.0")
        address = neighbor.address if neighbor is not None else None
        found[f"{port}.0"] = BirdPeer(link_local(far.mac) if address is None else address, asn or 0)
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
    spaces = {name: running.space(name) for name in running.network.switches}
    until(lambda: all(with_link_local(space).issuperset(links(running, name)) for name, space in spaces.items()))
    for name, switch in running.network.switches.items():
        found = render(switch, running.plan.switches[name], peers(running.network, running.plan, name))
        running.translations[name] = found
        running.daemons[name] = Router(spaces[name])
        running.daemons[name].begin(found.text)
    for daemon in running.daemons.values():
        daemon.wait()


def cut(running: Running, cable: Cable) -> None:
    """Take a cable down at both ends."""
    for end in (cable.a, cable.b):
        link = running.plan.switches[end.device].ports[end.port].link
        namespaces.batch([f"link set {link} down"], running.space(end.device))


def measure(running: Running) -> dict[str, Measured]:
    """Read what every switch shows."""
    return {
        name: Measured(parse.rib(daemon.control), kernel.routes(daemon.name, protocol=kernel.BIRD))
        for name, daemon in running.daemons.items()
    }
