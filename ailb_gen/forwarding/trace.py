"""One packet's way through the switches: longest prefix, next hop by hash, until it arrives or does not."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from ailb_gen.routing.rib import forwarding_set, held

if TYPE_CHECKING:
    from ailb_gen.addresses import Prefix
    from ailb_gen.routing.rib import Routing

MAX_HOPS = 16


@dataclass(frozen=True, slots=True)
class Hop:
    """A switch on the way.

    `arrived` is the interface that the packet came in on, empty at the first switch; `prefix` what matched. `ways`
    are all (interface, peer) of the FIB entry, `taken` is the index of the one that the hash picks; both are empty
    where the prefix is directly connected.
    """

    device: str
    arrived: str
    prefix: Prefix | None
    ways: tuple[tuple[str, str], ...] = ()
    taken: int = 0
    color: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """The switches that a packet passes; `problem` is empty when it arrives at the last one's own prefix."""

    hops: tuple[Hop, ...]
    problem: str = ""


def longest_match(routing: Routing, device: int, address: int) -> Prefix | None:
    """Return the longest prefix of a device's routes that holds an address."""
    found = [
        prefix
        for prefix in routing.prefixes
        if prefix.holds(address)
        and ((rib := held(routing.graph, routing.states[prefix], device)).local or rib.selection.best)
    ]
    return max(found, key=lambda prefix: prefix.length, default=None)


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
        prefix = longest_match(routing, device, address)
        if prefix is None:
            return Trace((*hops, Hop(name, arrived, None)), f"no route at {name}")
        state = routing.states[prefix]
        if held(graph, state, device).local:
            return Trace((*hops, Hop(name, arrived, prefix)))
        positions = forwarding_set(graph, state, device)
        row = graph.adjacencies[device]
        taken = mixed(flow, name) % len(positions)
        entry = row[positions[taken]]
        ways = tuple((row[at].interface, graph.names[row[at].peer]) for at in positions)
        color = graph.switches[device].groups[entry.own_group].color or ""
        hops.append(Hop(name, arrived, prefix, ways, taken, color))
        session = graph.sessions.up[entry.session]
        arrived = session.b.interface if session.a.device == name else session.a.interface
        device = entry.peer
    return Trace(tuple(hops), f"packets go round: more than {MAX_HOPS} hops")
