"""Where the packets of flows must be counted: the routes of the files say through which ports they go."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.accept.counters import HEADERS, OVERHEADS, Readings, packets_of_size
from ailb_gen.accept.flows import AcceptFlow
from ailb_gen.accept.traffic import TrafficCounts
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

    `senders` are the last ports before it that have sent all, on the paths of flows that lost packets if any did;
    `receivers` are the devices that its ports lead to.
    """

    crossing: Crossing
    expected: int
    counted: int
    colors: tuple[str, ...]
    senders: tuple[End, ...] = ()
    receivers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PortComparison:
    """The first place of every path with too few packets; how many places agree; ports that gave no numbers."""

    deviations: tuple[PortDeviation, ...]
    agreeing: int
    compared: int
    uncounted: tuple[End, ...]


def compare_ports(
    routing: Routing,
    flows: Sequence[AcceptFlow],
    counts: TrafficCounts,
    readings: Readings,
    payload: int,
) -> PortComparison:
    """Compare the packets that every place on the paths of flows has counted with those sent through it."""
    sent = counts.sent
    paths = [(flow, tuple(crossings(routing, flow))) for flow in flows]
    expected: Counter[Crossing] = Counter()
    colors: dict[Crossing, set[str]] = {}
    for flow, path in paths:
        for one in path:
            expected[one] += sent.get(flow.number, 0)
            colors.setdefault(one, set()).add(flow.color)
    uncounted = {port for one in expected for port in one.ports if port not in readings.ports}
    compared = [one for one in expected if uncounted.isdisjoint(one.ports)]
    counted = _counted(readings, payload, {one: expected[one] for one in compared})
    short = {one for one in compared if counted[one] < expected[one]}
    # Behind a place that lacks packets of a flow, all others lack them, too.
    explained = {one for _, path in paths for one in path[_first(path, short) + 1 :]}
    senders: dict[Crossing, dict[bool, set[End]]] = {}
    receivers: dict[Crossing, set[str]] = defaultdict(set)
    for flow, path in paths:
        at = _first(path, short)
        if at < len(path) and path[at] not in explained:
            lost = counts.received.get(flow.number, 0) < sent.get(flow.number, 0)
            before = [one.ports for one in path[:at] if one.output]
            senders.setdefault(path[at], {}).setdefault(lost, set()).update(before[-1] if before else ())
            if path[at].output:
                receivers[path[at]] |= {port.device for port in path[at + 1].ports}
    found = []
    for one, by_loss in sorted(senders.items()):
        last = tuple(sorted(by_loss.get(True) or by_loss.get(False) or ()))
        row = (tuple(sorted(colors[one])), last, tuple(sorted(receivers[one])))
        found.append(PortDeviation(one, expected[one], counted[one], *row))
    agreeing = sum(counted[one] == expected[one] for one in compared)
    return PortComparison(tuple(found), agreeing, len(compared), tuple(sorted(uncounted)))


def _first(path: tuple[Crossing, ...], short: set[Crossing]) -> int:
    """Return the position of the first place of a path that lacks packets; its length if none does."""
    return next((at for at, one in enumerate(path) if one in short), len(path))


def _counted(readings: Readings, payload: int, expected: Mapping[Crossing, int]) -> dict[Crossing, int]:
    """Return how many packets with a payload every place has counted.

    A device counts the same octets of every packet: those that most of its places agree with.
    """
    by_device: dict[str, dict[Crossing, int]] = defaultdict(dict)
    for one, number in expected.items():
        by_device[one.ports[0].device][one] = number
    found: dict[Crossing, int] = {}
    for places in by_device.values():
        tries = [
            {one: _packets(one, readings, payload + HEADERS + overhead, number) for one, number in places.items()}
            for overhead in OVERHEADS
        ]
        found |= max(tries, key=lambda counts: sum(counts[one] == number for one, number in places.items()))
    return found


def _packets(crossing: Crossing, readings: Readings, size: int, expected: int) -> int:
    rows = [readings.ports[port] for port in crossing.ports]
    packets = sum(row.output_packets if crossing.output else row.input_packets for row in rows)
    octets = sum(row.output_bytes if crossing.output else row.input_bytes for row in rows)
    return packets_of_size(packets, octets, size, expected)
