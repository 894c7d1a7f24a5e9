"""The routes that follow from an artifact directory, with some cables and switches down."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ailb_gen.addresses import Prefix
    from ailb_gen.forwarding.trace import PathTrace, View
    from ailb_gen.network.fabric import End, Network
    from ailb_gen.routing.graph import Graph
    from ailb_gen.routing.rib import NextHop, Routing
    from ailb_gen.routing.rib import Path as RibPath


@dataclass(frozen=True, slots=True)
class Routes:
    """The RIBs and FIBs of all switches; `warnings` say which files could not be used."""

    view: View
    warnings: tuple[str, ...] = ()

    @property
    def switches(self) -> tuple[str, ...]:
        """The names of the switches that are up and have a usable file."""
        return tuple(name for name in self.view.routing.graph.names if name not in self.view.switches)

    def prefixes(self, text: str | None = None) -> tuple[Prefix, ...]:
        """Return the prefixes within a prefix or around it, all of them for None. Raises UsageError."""
        return prefixes_of(self.view.routing, text)

    def rib(self, switch: str, prefix: str | None = None) -> dict[Prefix, tuple[RibPath, ...]]:
        """Return every path that a switch has by prefix: active ones first, hidden ones last. Raises UsageError."""
        index = device_of(self.view, switch)
        return {row: self.view.routing.paths(index, row) for row in self.prefixes(prefix)}

    def fib(self, switch: str, prefix: str | None = None) -> dict[Prefix, tuple[NextHop, ...]]:
        """Return the next hops of a switch by prefix, of an address only the longest match; none for direct routes.

        Raises UsageError.
        """
        from ailb_gen.addresses import address_value

        routing, index = self.view.routing, device_of(self.view, switch)
        value = address_value(prefix) if prefix is not None else None
        if value is None:
            return {row: routing.next_hops(index, row) for row in self.prefixes(prefix)}
        best = routing.longest_match(index, value)
        return {best: routing.next_hops(index, best)} if best is not None else {}

    def is_direct(self, switch: str, prefix: Prefix) -> bool:
        """Tell whether a switch has an address in a prefix. Raises UsageError."""
        return bool(self.view.routing.held(device_of(self.view, switch), prefix).local)

    def trace(
        self, source: str, destination: str, queue_pair: int | None = None, number: int = 0
    ) -> tuple[PathTrace, ...]:
        """Follow the queue pairs between two servers, `SERVER:NIC` or addresses, or one of them, hop by hop.

        `number` is the hash that picks one of several next hops. Raises UsageError.
        """
        from ailb_gen.forwarding.endpoints import flows
        from ailb_gen.forwarding.trace import trace_pair

        ends = flows(self.view.network, source, destination, queue_pair)
        return tuple(trace_pair(self.view, start, end, number) for start, end in ends)

    def unsettled(self, prefixes: Iterable[Prefix]) -> tuple[Prefix, ...]:
        """Return the prefixes whose routes do not converge: of those, one state of many is known."""
        routing = self.view.routing
        return tuple(prefix for prefix in dict.fromkeys(prefixes) if not routing.state(prefix).stable)


def compute_routes(artifacts: str | Path, failures: Sequence[str] = ()) -> Routes:
    """Read an artifact directory and compute its routes.

    `failures` are links (`leaf1:et-0/0/0`, `leaf1:spine1`) and switches that are down. Raises UsageError.
    """
    from ailb_gen.forwarding.trace import View
    from ailb_gen.network.read import network_of
    from ailb_gen.routing.graph import Graph
    from ailb_gen.routing.rib import Routing

    network = network_of(Path(artifacts))
    graph = Graph(network)
    down, dead, nics = outage(graph, failures)
    view = View(network, Routing(network, graph=graph.without(down)), dead, nics)
    return Routes(view, tuple(doubts(network)))


def outage(
    graph: Graph, failed: Sequence[str] | None
) -> tuple[frozenset[int], frozenset[str], frozenset[tuple[str, str]]]:
    """Return the sessions, the switches and the NICs (server, NIC) that are down. Raises UsageError."""
    from ailb_gen.network.links import cables_named

    network = graph.network
    sessions = {(session.cable.a, session.cable.b): number for number, session in enumerate(graph.sessions.up)}
    dead = frozenset(word for word in failed or [] if word in network.switches)
    every = list(_cables(network))
    cables = {ends for word in failed or [] if word not in dead for ends in cables_named(every, word, "--fail")}
    cables |= {ends for ends in every if not dead.isdisjoint({ends[0].device, ends[1].device})}
    nics = frozenset((b.device, b.port) for _, b in cables if b.device not in network.switches)
    # A cable without a session carries nothing that could be lost.
    return frozenset(sessions[ends] for ends in cables if ends in sessions), dead, nics


def doubts(network: Network) -> Iterator[str]:
    """Yield what makes the answer less than the truth: files that are missing, or that could not be read."""
    yield from (f"{defect.place or defect.scope}: {defect.message}" for defect in network.defects)
    faulty = {defect.scope for defect in network.defects}
    for name in _without_file(network):
        if name not in faulty:
            yield f"{name}: it has cables but no usable file: it is treated as down"


def _without_file(network: Network) -> list[str]:
    """Return the switches that cables lead to and that have no usable file."""
    known = {end.device for end in network.link_ends()}
    known |= {end.device for end in network.attachments.values()}
    return sorted(known - network.switches.keys())


def _cables(network: Network) -> Iterator[tuple[End, End]]:
    """Yield both ends of every cable; to a server the switch comes first."""
    from ailb_gen.network.fabric import End

    yield from ((cable.a, cable.b) for cable in network.links)
    yield from ((end, End(*nic)) for nic, end in network.attachments.items())


def check_device(artifacts: str | Path, name: str, kind: Literal["switch", "server"]) -> None:
    """Refuse a name that no device has, before any configuration is read. Raises UsageError.

    Only `topology.json` has all names; without it, or for a device of the other kind, reading the files says more.
    """
    from ailb_gen.layout import TOPOLOGY
    from ailb_gen.network.read import optional, switch_files
    from ailb_gen.network.topology import read_topology

    root = Path(artifacts)
    files, _ = switch_files(root)
    roles = optional(root, TOPOLOGY, read_topology).roles
    if roles and name not in {*roles, *(Path(file).stem for file in files)}:
        raise _unknown(
            name, kind, [one for one, role in sorted(roles.items()) if (role == "server") == (kind == "server")]
        )


def _unknown(name: str, kind: str, names: Sequence[str]) -> UsageError:
    from ailb_gen.wording import did_you_mean, some

    hint = did_you_mean(name, names) or f"there are {len(names)}: {some(names)}"
    reason = f"there is no server called {name!r}" if kind == "server" else "no switch of the files is called that"
    return UsageError(f"{name!r}: {reason}; {hint}")


def device_of(found: View, name: str) -> int:
    """Return the index of a switch. Raises UsageError."""
    if name in found.switches:
        raise UsageError(f"{name!r}: this switch is down (--fail)")
    graph = found.routing.graph
    if name in graph.index:
        return graph.index[name]
    if name in found.network.hosts:
        leaves = dict.fromkeys(end.device for nic, end in found.network.attachments.items() if nic[0] == name)
        on = ", ".join(leaves) or "no known switch"
        raise UsageError(f"{name!r}: this is a server, on {on}; name a switch")
    defect = next((defect.message for defect in found.network.defects if defect.scope == name), "")
    if defect or name in _without_file(found.network):
        reason = f": {defect}" if defect else ""
        raise UsageError(f"{name!r}: there is no usable file of this switch{reason}")
    raise _unknown(name, "switch", graph.names)


def prefixes_of(routing: Routing, text: str | None) -> tuple[Prefix, ...]:
    """Return the prefixes that a text picks: those within it, else those around it. Raises UsageError."""
    from ailb_gen.addresses import BITS, Prefix, address_value, interface_value

    if text is None:
        return routing.prefixes
    value, wide = address_value(text), interface_value(text)
    if value is not None:
        wide = value, Prefix(value, BITS)
    if wide is None:
        raise UsageError(f"{text!r}: not an IPv6 address or prefix")
    within = tuple(prefix for prefix in routing.prefixes if wide[1].contains(prefix))
    around = tuple(prefix for prefix in routing.prefixes if prefix.contains(wide[1]))
    if not within and not around:
        raise UsageError(f"{text}: no switch has a prefix there; 'ailb-gen fib SWITCH' lists all")
    return within or around
