"""What a switch forwards with, against what its file says: MTUs of ports, next hops of routes, load balancing.

Every question but the last is one RPC; names of replies and elements are those of Junos's XML output. No RPC says what
the forwarding plane makes of DLB: the statements that are active are read, groups inherited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from lxml.etree import _Element

from ailb_gen.addresses import Prefix
from ailb_gen.deploy.fabric_model import FabricModel, switch_of
from ailb_gen.deploy.memory import ONE_AT_A_TIME
from ailb_gen.deploy.switch import Switch
from ailb_gen.deploy.transaction import tree_of
from ailb_gen.network.model import LoadBalancing, Port
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import plural, some

# The Ethernet header, which counts in the MTU of a port and not in that of IPv6.
HEADER = 14
# Of routes that have the same next hops one is asked for, of so many kinds: on a spine every leaf is one.
ROUTES = 16
# What is said in every report of `verify`.
NOT_READ = (
    "verify does not read class of service, firewall filters, optics and error counters, nor what the forwarding plane "
    f"makes of DLB (only its statements); of routes with the same next hops it reads one, of up to {ROUTES} kinds on a "
    "switch. drift compares all statements."
)


@dataclass(frozen=True, slots=True)
class Forwarding:
    """What a switch forwards with, as it must be or as it was seen.

    `mtus` are those of ports in bytes with the Ethernet header, `inet6_mtus` those of logical interfaces, as text.
    `routes` are the outgoing interfaces of some prefixes.
    """

    mtus: Mapping[str, str]
    inet6_mtus: Mapping[str, str]
    routes: Mapping[Prefix, frozenset[str]]
    balancing: LoadBalancing

    def differences(self, seen: Forwarding) -> Iterator[str]:
        """Yield what was seen and is not as it must be, in words."""
        pairs = (("MTU", self.mtus, seen.mtus), ("IPv6 MTU", self.inet6_mtus, seen.inet6_mtus))
        for what, expected, found in pairs:
            for interface, mtu in expected.items():
                if interface not in found:
                    yield f"there is no interface {interface}"
                elif found[interface] != mtu:
                    yield f"the {what} of {interface} is {found[interface] or 'not shown'}, expected {mtu}"
        for prefix, hops in self.routes.items():
            if seen.routes[prefix] != hops:
                many = f"{_counted(seen.routes[prefix])}, expected {_counted(hops)}"
                yield f"{prefix} is forwarded to {many}"
        for statement, show in BALANCING:
            now, then = show(seen.balancing), show(self.balancing)
            if now != then:
                yield f"{statement}: {some(sorted(now - then))}, expected {some(sorted(then - now))}"


def read_forwarding(name: str, switch: Switch, prefixes: Iterable[Prefix]) -> Forwarding:
    """Read what a switch forwards with, the next hops of some prefixes. Raises DeviceError."""
    reply = switch.ask("get-interface-information")
    physical = {_text(entry, "name"): _text(entry, "mtu") for entry in reply.iter("physical-interface")}
    logical = {_text(entry, "name"): _inet6_mtu(entry) for entry in reply.iter("logical-interface")}
    routes = {prefix: _next_hops(switch, str(prefix)) for prefix in prefixes}
    text = switch.running()
    with ONE_AT_A_TIME:
        balancing = switch_of(name, tree_of(name, text)).balancing
    return Forwarding(physical, logical, routes, balancing)


def _next_hops(switch: Switch, prefix: str) -> frozenset[str]:
    """Read `show route forwarding-table destination PREFIX`: the outgoing interfaces."""
    reply = switch.ask("get-forwarding-table-information", family="inet6", destination=prefix)
    entries = [entry for entry in reply.iter("rt-entry") if _text(entry, "rt-destination") == prefix]
    return frozenset(_text(hop, "via") for entry in entries for hop in entry.iter("nh")) - {""}


# Load balancing by the statements that are active: what it is called, and the words for it.
BALANCING: tuple[tuple[str, Callable[[LoadBalancing], set[str]]], ...] = (
    ("load balancing of all routes per flow (forwarding-table export)", lambda one: {_on(one.per_packet)}),
    ("ecmp-fast-reroute", lambda one: {_on(one.fast_reroute)}),
    ("maximum-ecmp", lambda one: {str(one.maximum_ecmp)}),
    ("DLB (ecmp-dlb)", lambda one: {text for text, _ in one.dlb}),
    ("global load balancing", lambda one: {one.glb or "off"}),
)


def _on(value: bool) -> str:
    return "on" if value else "off"


def without(graph: Graph, down: Iterable[tuple[str, str]]) -> Routing:
    """Return the routes of a fabric while the sessions on some logical interfaces, (switch, name), are down."""
    off = frozenset(down)
    failed = frozenset(
        number
        for number, session in enumerate(graph.sessions.up)
        if not off.isdisjoint((side.device, side.interface) for side in (session.a, session.b))
    )
    return Routing(graph.network, graph=graph.without(failed) if failed else graph)


def expected_forwarding(model: FabricModel, routing: Routing, name: str, prefixes: Iterable[Prefix]) -> Forwarding:
    """Return what a switch must forward with."""
    found = model.switches[name]
    cabled = {end.port for cable in model.cables.get(name, ()) for end in (cable.a, cable.b) if end.device == name}
    cabled |= {port for _, port in model.servers.get(name, ())}
    ports = [port for port in found.ports.values() if port.name in cabled and not port.disabled]
    irb = [found.ports["irb"]] if "irb" in found.ports else []
    return Forwarding(
        {port.name: str(port.mtu) for port in ports if port.mtu is not None},
        {unit: str(mtu) for port in (*ports, *irb) for unit, mtu in _inet6_mtus(port)},
        {prefix: _outgoing(routing, name, prefix) for prefix in prefixes},
        found.balancing,
    )


def sampled(routing: Routing, name: str) -> tuple[Prefix, ...]:
    """Return one prefix for each set of next hops of a switch; of many sets those that are spread over all."""
    kinds: dict[frozenset[str], Prefix] = {}
    for prefix in routing.prefixes:
        hops = _outgoing(routing, name, prefix)
        if hops:
            kinds.setdefault(hops, prefix)
    rows = tuple(kinds.values())
    return tuple(rows[len(rows) * at // ROUTES] for at in range(ROUTES)) if len(rows) > ROUTES else rows


def _outgoing(routing: Routing, name: str, prefix: Prefix) -> frozenset[str]:
    return frozenset(hop.interface for hop in routing.next_hops(routing.graph.index[name], prefix))


def _inet6_mtus(port: Port) -> Iterator[tuple[str, int]]:
    """Yield the IPv6 MTU of every logical interface: as configured, else that of the port without its header."""
    for unit in port.units:
        mtu = unit.inet6_mtu or (port.mtu - HEADER if port.mtu is not None else None)
        if unit.inet6 and mtu is not None and not unit.disabled:
            yield unit.name, mtu


def _inet6_mtu(entry: _Element) -> str:
    families = (one for one in entry.iter("address-family") if _text(one, "address-family-name") == "inet6")
    return next((_text(one, "mtu") for one in families), "")


def _text(entry: _Element, name: str) -> str:
    return (entry.findtext(name) or "").strip()


def _counted(interfaces: frozenset[str]) -> str:
    listed = f" ({some(sorted(interfaces))})" if interfaces else ""
    return f"{len(interfaces)} {plural('next hop', len(interfaces))}{listed}"
