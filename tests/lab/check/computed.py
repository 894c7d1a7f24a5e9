"""A lab that is computed: what a real one must show if BIRD and kernels do what this program says of the files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from ailb_gen.addresses import Prefix, eui64
from ailb_gen.forwarding.endpoints import Endpoint
from ailb_gen.forwarding.trace import View, trace_pair
from ailb_gen.lab.advertisements import Advertisement, AnnouncedPrefix
from ailb_gen.lab.bird.model import BfdState, SessionState
from ailb_gen.lab.check.agreement import computed_hops
from ailb_gen.lab.check.failures import sessions_at
from ailb_gen.lab.check.observed import Hops, Observed, ObservedRecoloring, ObservedTrace, Pair, Samples
from ailb_gen.lab.check.trials import Recoloring, with_probe
from ailb_gen.lab.faults import FaultKind
from ailb_gen.lab.kernel import KernelNextHop, KernelRule
from ailb_gen.lab.links import settings
from ailb_gen.lab.plan import plan, port_of
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.model import RouterAdvertisement, Switch
from ailb_gen.network.sessions import Side
from ailb_gen.routing.fib import held
from ailb_gen.routing.rib import Routing


class ComputedLab:
    """The lab of a network, which may be that of damaged files; `before` are ends of links that are down already."""

    def __init__(self, network: Network, before: frozenset[End] = frozenset()) -> None:
        self.network = network
        self.routing = Routing(network)
        self.before = self.broken = before
        self.failed: list[tuple[End, ...]] = []
        self.recolored: list[Recoloring] = []

    def hops(self) -> Hops:
        """The next hops with the links down that are down."""
        graph = self.routing.graph
        return computed_hops(graph, self.routing.after(sessions_at(graph, self.broken)))

    def down(self) -> frozenset[End]:
        """What was down from the beginning."""
        return self.before

    @property
    def dark(self) -> frozenset[End]:
        """All links carry something."""
        return frozenset()

    def recolor(self, change: Recoloring) -> ObservedRecoloring:
        """Nothing is lost where nothing flows."""
        self.recolored.append(change)
        return ObservedRecoloring(1000)

    def fail(self, ends: Iterable[End], kind: FaultKind = FaultKind.CARRIER) -> None:
        """Take links down; those that lose packets are, too, as BFD takes them out of service."""
        self.failed.append(tuple(ends))
        self.broken |= frozenset(self.failed[-1])

    def repair(self) -> None:
        """Put all links up."""
        self.broken = self.before

    def measure(self, look: Samples) -> Observed:
        """Everything that there is to see."""
        network, graph = self.network, self.routing.graph
        gone = sessions_at(graph, self.before)
        routing = Routing(network, gone, graph)
        planned = plan(network)
        macs = {End(name, nic.nic): nic.mac for name, one in planned.servers.items() for nic in one.nics.values()}
        up = [one for at, one in enumerate(graph.sessions.up) if at not in gone]
        sides = [pair for one in up for pair in ((one.a, one.b), (one.b, one.a))]
        traces = tuple(_trace(network, routing, macs, pair) for pair in look.pairs)
        mtus = _mtus(network)
        heard = {end: told for end, told in _on_links(network).items() if end not in self.before}
        return Observed(
            devices=frozenset(planned.devices),
            advertisements={**heard, **_at_nics(network)},
            addresses={**_of_nics(network, macs), **_of_irbs(network)},
            macs=macs,
            rules={
                name: frozenset(
                    KernelRule(rule.priority or 0, rule.source, rule.table or 0)
                    for rule in host.profile.rules
                    if rule.source is not None
                )
                for name, host in network.hosts.items()
            },
            tables={
                name: {
                    table: {
                        one.to: frozenset([KernelNextHop(one.nic, one.via)]) for one in routes if one.to is not None
                    }
                    for table, routes in host.profile.routes.items()
                }
                for name, host in network.hosts.items()
            },
            sessions={
                End(own.device, port_of(own.interface)): SessionState("Established", own.asn, peer.asn)
                for own, peer in sides
            },
            examined=look.prefixes,
            ribs={
                name: {
                    prefix: tuple(path for path in routing.paths(device, prefix) if path.interface)
                    for prefix in look.prefixes
                }
                for device, name in enumerate(routing.graph.names)
            },
            hops=self.hops(),
            traces=traces,
            sizes=tuple(_size(mtus, network, one) for one in traces),
            mtus=mtus,
            bfd=dict(_bfd(network, [(one.a, one.b) for one in up])),
            probed={leaf: _probed(network, leaf, prefix) for leaf, prefix in look.probes.items()},
        )


def _mtus(network: Network) -> dict[End, int]:
    planned = plan(network)
    found = {
        End(name, port.port if (port := by_link.get(link)) else link): wanted.mtu
        for name, switch in network.switches.items()
        for by_link in [{port.link: port for port in planned.switches[name].ports.values()}]
        for link, wanted in settings(planned, switch).items()
    }
    for name, host in network.hosts.items():
        found |= {End(name, nic): int(str(one.value("mtu") or 1500)) for nic, one in host.profile.nics.items()}
    return found


def _size(mtus: dict[End, int], network: Network, trace: ObservedTrace) -> ObservedTrace:
    """What becomes of a packet of the NIC's MTU: a veth takes four bytes more than its MTU, for a VLAN."""
    size, ends = min(mtus[trace.source], mtus[trace.target]), []
    path = [trace.source.device, *trace.hops, trace.target.device]
    for one, other in pairwise(path if trace.hops else []):
        ends += [
            end
            for cable in network.links
            if {cable.a.device, cable.b.device} == {one, other}
            for end in (cable.a, cable.b)
        ]
    ends += [network.attachments[nic.device, nic.port] for nic in (trace.source, trace.target)]
    lost = next((end for end in (*ends, trace.target) if mtus[end] + 4 < size), None)
    return trace._replace(hops=(), end=f"{lost} takes {mtus[lost]}" if lost else "", size=size)


def _bfd(network: Network, sessions: list[tuple[Side, Side]]) -> Iterator[tuple[End, BfdState]]:
    for one, other in sessions:
        for own, peer in ((one, other), (other, one)):
            here, there = (network.switches[side.device].groups[side.group].bfd for side in (own, peer))
            if here is not None:
                interval = max(here.interval_ms or 0, there.interval_ms or 0) if there else 1000
                multiplier = (there.multiplier or 3) if there else 0
                yield (
                    End(own.device, port_of(own.interface)),
                    BfdState(there is not None, interval, interval * multiplier),
                )


def _told(told: RouterAdvertisement) -> Advertisement:
    return Advertisement(
        told.lifetime if told.lifetime is not None else 1800,
        tuple(
            AnnouncedPrefix(
                one.prefix, one.on_link, one.autonomous, int(one.valid or 2592000), int(one.preferred or 604800)
            )
            for one in told.prefixes
        ),
    )


def _on_links(network: Network) -> dict[End, Advertisement]:
    found = {}
    for cable in network.links:
        for end, sender in ((cable.a, cable.b), (cable.b, cable.a)):
            told = network.switches[sender.device].advertisements.get(f"{sender.port}.0")
            if told is not None:
                found[end] = _told(told)
    return found


def _irb(switch: Switch) -> str:
    return next(vlan.irb for vlan in switch.vlans if vlan.irb)


def _at_nics(network: Network) -> dict[End, Advertisement]:
    switches = ((End(*nic), network.switches[leaf.device]) for nic, leaf in network.attachments.items())
    return {nic: _told(one.advertisements[_irb(one)]) for nic, one in switches}


def _of_nics(network: Network, macs: dict[End, str]) -> dict[End, frozenset[int]]:
    return {
        nic: frozenset(one.prefix.value + eui64(macs[nic]) for one in heard.prefixes if one.autonomous)
        for nic, heard in _at_nics(network).items()
    }


def _of_irbs(network: Network) -> dict[End, frozenset[int]]:
    return {
        End(name, unit.name): frozenset(address.value for address in unit.addresses)
        for name, switch in network.switches.items()
        for unit in (switch.ports["irb"].units if "irb" in switch.ports else ())
    }


def _trace(network: Network, routing: Routing, macs: dict[End, str], pair: Pair) -> ObservedTrace:
    source, target = (_endpoint(network, macs, nic, pair.number) for nic in (pair.source, pair.target))
    found = trace_pair(View(network, routing, frozenset(), frozenset()), source, target, 1)
    hops = tuple(hop.device for hop in found.hops) if found.lookup.gateway is not None else ()
    return ObservedTrace(*pair, hops, found.problem)


def _endpoint(network: Network, macs: dict[End, str], nic: End, number: int) -> Endpoint:
    leaf = network.attachments[nic.device, nic.port]
    unit = next(unit for unit in network.switches[leaf.device].ports["irb"].units)
    prefix = unit.addresses[number - 1].prefix
    return Endpoint(nic.device, nic.port, number, prefix, prefix.value + eui64(macs[nic]), True, True, leaf)


def _probed(network: Network, leaf: str, probe: Prefix) -> dict[str, frozenset[str]]:
    switches = {**network.switches, leaf: with_probe(network.switches[leaf], probe)}
    routing = Routing(replace(network, switches=switches))
    graph, state = routing.graph, routing.states[probe]
    return {
        name: frozenset(
            port_of(graph.adjacencies[device][at].interface)
            for candidate in held(graph, state, device).candidates
            for at in candidate.positions
        )
        for device, name in enumerate(graph.names)
    }
