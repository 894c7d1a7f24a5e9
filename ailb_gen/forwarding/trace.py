"""The path of a packet: through the switches by longest prefix and hash, and of a queue pair from server to server."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from ailb_gen.addresses import Prefix, address_text
from ailb_gen.forwarding.endpoints import Endpoint, leave
from ailb_gen.hosts.lookup import Lookup
from ailb_gen.network.fabric import Network
from ailb_gen.routing.rib import NextHop, Routing

MAX_HOPS = 16


@dataclass(frozen=True, slots=True)
class Hop:
    """A switch on the path.

    `arrived` is the interface that the packet came in on, empty at the first switch; `prefix` what matched. `ways`
    are the next hops of the FIB entry, `taken` is the index of the one that the hash picks; without next hops the
    prefix is directly connected, or there is none.
    """

    device: str
    arrived: str
    prefix: Prefix | None
    ways: tuple[NextHop, ...] = ()
    taken: int = 0

    @property
    def color(self) -> str:
        """The color of the session that the next hop comes from; empty without one."""
        return self.ways[self.taken].color if self.ways else ""


@dataclass(frozen=True, slots=True)
class Trace:
    """The switches that a packet passes; `problem` is empty when it arrives at the last one's own prefix."""

    hops: tuple[Hop, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A fabric with something down: `switches` are dead, `nics` (server, NIC) have no link."""

    network: Network
    routing: Routing
    switches: frozenset[str]
    nics: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PathTrace:
    """A path from server to server: the server's lookup, the switches, and why it fails, empty if it does not.

    `entered` is the leaf's port that the packet comes in on.
    """

    source: Endpoint
    target: Endpoint
    lookup: Lookup
    entered: str
    hops: tuple[Hop, ...]
    problem: str


def mixed(*parts: object) -> int:
    """Return a 64-bit hash, the same in every run; a CRC would send flows that differ in one digit the same way."""
    return int.from_bytes(blake2b(" ".join(map(str, parts)).encode(), digest_size=8).digest(), "big")


def trace(routing: Routing, start: int, address: int, flow: int = 0) -> Trace:
    """Follow a packet from a device to an address; `flow` is the hash of its header, mixed with each switch's name."""
    graph = routing.graph
    hops: list[Hop] = []
    device, arrived = start, ""
    while len(hops) < MAX_HOPS:
        name = graph.names[device]
        prefix = routing.longest_match(device, address)
        if prefix is None:
            return Trace((*hops, Hop(name, arrived, None)), f"no route at {name}")
        ways = routing.next_hops(device, prefix)
        if not ways:
            return Trace((*hops, Hop(name, arrived, prefix)))
        taken = mixed(flow, name) % len(ways)
        hops.append(Hop(name, arrived, prefix, ways, taken))
        arrived = ways[taken].peer_interface
        device = graph.index[ways[taken].peer]
    return Trace(tuple(hops), f"forwarding loop: more than {MAX_HOPS} hops")


def trace_pair(view: View, source: Endpoint, target: Endpoint, number: int) -> PathTrace:
    """Follow a packet of a queue pair from server to server; `number` stands for the ports that switches hash."""
    network, routing = view.network, view.routing
    lookup = leave(network, source, target.address)
    problem = _before_leaf(view, source, target, lookup)
    if problem:
        return PathTrace(source, target, lookup, "", (), problem)
    leaf = network.attachments[source.device, lookup.nic]
    flow = mixed(source.address, target.address, number)
    found = trace(routing, routing.graph.index[leaf.device], target.address, flow)
    problem = found.problem or _behind_leaf(view, target, found.hops[-1].device)
    return PathTrace(source, target, lookup, leaf.port, found.hops, problem)


def _before_leaf(view: View, source: Endpoint, target: Endpoint, lookup: Lookup) -> str:
    """Return why a packet does not even reach the server's leaf; empty if it does."""
    if lookup.route is None:
        return f"{source.device} has no route to {target.text}"
    leaf = view.network.attachments.get((source.device, lookup.nic))
    if leaf is None or leaf.device not in view.network.switches:
        return f"{lookup.nic} of {source.device} is cabled to no known switch"
    if leaf.device in view.switches:
        return f"{leaf.device} is down"
    if (source.device, lookup.nic) in view.nics:
        return f"the cable from {lookup.nic} to {leaf} is down"
    ports = view.network.switches[leaf.device].ports.values()
    addresses = {address.value for port in ports for unit in port.units for address in unit.addresses}
    if lookup.gateway is not None and lookup.gateway not in addresses:
        return f"the gateway {address_text(lookup.gateway)} is not an address of {leaf.device}"
    return ""


def _behind_leaf(view: View, target: Endpoint, last: str) -> str:
    """Return why a packet that reached a switch with the prefix does not reach the target; empty if it does."""
    if target.leaf is None:
        return f"arrives at {last}; {target.port} of {target.device} is cabled to no known switch"
    if target.leaf.device != last:
        where = f"; {target.port} of {target.device} is cabled to {target.leaf}" if target.pair else ""
        return f"arrives at {last}, not at {target.leaf.device}{where}"
    if (target.device, target.port) in view.nics:
        return f"the cable from {target.leaf} to {target.port} is down"
    return ""
