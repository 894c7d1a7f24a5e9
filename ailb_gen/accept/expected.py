"""Where the packets of flows must be counted: the routes of the files say through which ports they go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.accept.counters import Readings, packets_of_size
from ailb_gen.accept.flows import AcceptFlow
from ailb_gen.network.fabric import End
from ailb_gen.routing.rib import Routing

# A path has at most so many switches: leaf, spine, leaf, and a detour.
MOST_HOPS = 6


@dataclass(frozen=True, slots=True, order=True)
class Crossing:
    """A place where packets are counted: ports that share them (one, unless several next hops do), and a direction."""

    ports: tuple[End, ...]
    output: bool

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.ports))} {'out' if self.output else 'in'}"


def crossings(routing: Routing, flow: AcceptFlow) -> Iterator[Crossing]:
    """Yield where the packets of a flow are counted, in order, from NIC to NIC; it ends where no route leads on."""
    graph = routing.graph
    yield Crossing((flow.source.end,), output=True)
    yield Crossing((flow.source.leaf,), output=False)
    here = {flow.source.leaf.device}
    for _ in range(MOST_HOPS):
        if here == {flow.target.leaf.device}:
            yield Crossing((flow.target.leaf,), output=True)
            yield Crossing((flow.target.end,), output=False)
            return
        hops = [(name, hop) for name in sorted(here) for hop in routing.next_hops(graph.index[name], flow.prefix)]
        if not hops:
            return
        yield Crossing(tuple(sorted({End(name, _port(hop.interface)) for name, hop in hops})), output=True)
        yield Crossing(tuple(sorted({End(hop.peer, _port(hop.peer_interface)) for _, hop in hops})), output=False)
        here = {hop.peer for _, hop in hops}


def _port(interface: str) -> str:
    return interface.rpartition(".")[0] or interface


@dataclass(frozen=True, slots=True)
class PortDeviation:
    """A place that counted other packets than were sent through it, with the colors of the flows that cross it.

    `sender` is the last place before it that has sent them all; empty where there is none.
    """

    crossing: Crossing
    expected: int
    counted: int
    colors: tuple[str, ...]
    sender: str = ""


def compare_ports(
    routing: Routing, flows: Sequence[AcceptFlow], sent: Mapping[int, int], readings: Readings, payload: int
) -> tuple[tuple[PortDeviation, ...], int]:
    """Compare counted with sent packets; return the first place of every path with too few, and the number compared."""
    paths = [(flow, tuple(crossings(routing, flow))) for flow in flows]
    expected: Counter[Crossing] = Counter()
    colors: dict[Crossing, set[str]] = {}
    for flow, path in paths:
        for one in path:
            expected[one] += sent.get(flow.number, 0)
            colors.setdefault(one, set()).add(flow.color)
    compared = [one for one in expected if all(port in readings.ports for port in one.ports)]
    counted = {one: _counted(one, readings, payload, expected[one]) for one in compared}
    short = {one for one in compared if counted[one] < expected[one]}
    # Behind a place that lacks packets of a flow, all others lack them, too.
    explained = {one for _, path in paths for one in path[_first(path, short) + 1 :]}
    found: dict[Crossing, PortDeviation] = {}
    for _, path in paths:
        at = _first(path, short)
        if at < len(path) and path[at] not in explained:
            one, senders = path[at], [before for before in path[:at] if before.output]
            sender = " and ".join(map(str, senders[-1].ports)) if senders else ""
            found[one] = PortDeviation(one, expected[one], counted[one], tuple(sorted(colors[one])), sender)
    return tuple(sorted(found.values(), key=lambda row: row.crossing)), len(compared)


def _first(path: tuple[Crossing, ...], short: set[Crossing]) -> int:
    """Return the position of the first place of a path that lacks packets; its length if none does."""
    return next((at for at, one in enumerate(path) if one in short), len(path))


def _counted(crossing: Crossing, readings: Readings, payload: int, expected: int) -> int:
    rows = [readings.ports[port] for port in crossing.ports]
    packets = sum(row.output_packets if crossing.output else row.input_packets for row in rows)
    octets = sum(row.output_bytes if crossing.output else row.input_bytes for row in rows)
    return packets_of_size(packets, octets, payload, expected)
