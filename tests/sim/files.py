"""Fabrics of the simulator from golden trees, and random small ones with a server below every leaf."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ailb_gen.addresses import Prefix
from ailb_gen.hosts.model import Host, NetplanNic, Rule, ServerProfile, ServerRoute
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.model import RaPrefix, RouterAdvertisement, Switch
from ailb_gen.sim.fabric import LOCAL, FabricArrays
from ailb_gen.sim.from_network import from_network
from tests.forwarding.examples import network, routing
from tests.routing.fabrics import interface
from tests.sim.walk import links_of

SPEED = 4 * 10**11
ANYWHERE = Prefix(0, 0)


@cache
def fabric(name: str) -> FabricArrays:
    """The fabric of a golden tree."""
    return from_network(network(name), routing(name))


def prefixes_of(switch: Switch) -> list[Prefix]:
    """The prefixes of a leaf's IRB."""
    irb = switch.ports.get("irb")
    return [address.prefix for unit in irb.units for address in unit.addresses] if irb is not None else []


def with_servers(given: Network) -> Network:
    """Cable one server with one NIC to every leaf that has an IRB; all ports get a speed."""
    switches: dict[str, Switch] = {}
    hosts: dict[str, Host] = {}
    attachments: dict[tuple[str, str], End] = {}
    for name, switch in given.switches.items():
        ports = {port.name: replace(port, speed_bps=SPEED) for port in switch.ports.values()}
        prefixes = prefixes_of(switch)
        advertisements = dict(switch.advertisements)
        if prefixes:
            port = interface("et-0/0/99")
            unit = replace(port.units[0], inet6=False, switching=True, mode="access", vlans=(("v2", 1),))
            ports[port.name] = replace(port, speed_bps=SPEED, units=(unit,))
            announced = tuple(RaPrefix(prefix, on_link=True, autonomous=True) for prefix in prefixes)
            advertisements["irb.2"] = RouterAdvertisement("irb.2", announced, (), None, None, None)
            server = f"server{len(hosts) + 1}"
            hosts[server] = Host(server, profile(server, prefixes))
            attachments[server, "gpu0"] = End(name, port.name)
        switches[name] = replace(switch, ports=ports, advertisements=advertisements)
    return replace(given, switches=switches, hosts=hosts, attachments=attachments)


def profile(server: str, prefixes: list[Prefix]) -> ServerProfile:
    """The files of a server with one NIC and a table for every prefix."""
    rules = tuple(Rule("gpu0", prefix, 100 + k, 100 + k) for k, prefix in enumerate(prefixes))
    routes = {
        100 + k: (
            ServerRoute("gpu0", prefix, None, 100 + k, on_link=False, scope="link"),
            ServerRoute("gpu0", ANYWHERE, prefix.value + 1, 100 + k, on_link=True, scope=""),
        )
        for k, prefix in enumerate(prefixes)
    }
    nic = NetplanNic("gpu0", {}, (), tuple(one for row in routes.values() for one in row), rules)
    return ServerProfile(server, frozenset(), {"gpu0": nic}, (), routes, rules, (), (), (), {}, {}, None, None, ())


def entry(found: FabricArrays, switch: str, prefix: int, state: int = 0) -> list[str] | str:
    """The names of the links of a FIB entry; `local` at the destination, `none` where packets are dropped."""
    node = found.names.index(switch) - found.host_count
    number = int(found.forwarding[state].next_hops[node, prefix])
    if number < 0:
        return "local" if number == LOCAL else "none"
    return [found.link_names[link] for link in links_of(found, number)]
