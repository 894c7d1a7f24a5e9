"""A fabric from rendered or collected files: cables, speeds, FIBs, and the addresses of the servers' NICs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.model import Switch
from ailb_gen.network.rails import without_gpus
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from ailb_gen.sim.fabric import (
    HOST,
    LEAF,
    PS_PER_US,
    SPINE,
    UNREACHABLE,
    FabricArrays,
    Forwarding,
    Int32,
    Int64,
    NextHopSets,
)
from ailb_gen.sim.failures import Broken, Outage, scheduled
from ailb_gen.sim.fibs import Column, Fibs, Holders
from ailb_gen.sim.nics import ServerNic, server_nics
from ailb_gen.wording import some

TIERS = {"leaf": LEAF, "spine": SPINE}


def from_network(
    network: Network, routing: Routing, *, delay_ps: int = PS_PER_US, outages: Sequence[Outage] = ()
) -> FabricArrays:
    """Build the fabric that files describe.

    Hosts are the NICs of servers, named `SERVER:NIC`, by server, then NIC, in natural order. Destination k of a host is
    the address of its k-th queue pair; what the files do not make usable is left out (`ailb_gen.sim.nics`). A host
    without an enabled cable has no links, and packets to its addresses are dropped at the switch with the prefix.
    `delay_ps` holds for every link. During `outages` the FIBs are those that follow from the files then. Raises
    UsageError without servers, without any usable address, if the speed of a cable is not known, if a port has several
    cables, or for names of outages that do not exist.
    """
    nics = server_nics(network)
    if not nics:
        raise UsageError("there are no servers with GPU NICs in these files: nothing sends or receives")
    if not any(nic.pairs for nic in nics):
        reasons = some(doubt for nic in nics for doubt in nic.doubts)
        raise UsageError(f"no NIC of any server has an address that a queue pair can use: {reasons}")
    cables = _Cables(network, routing.graph, nics)
    sets, others = NextHopSets(), without_gpus(network)
    hosts, first, columns, prefix_of = _destinations(nics, routing)
    access = cables.access_sets(sets)
    fibs = Fibs(routing, columns, cables.session_links)
    forwarding = Forwarding(0, fibs.next_hops(sets, routing.states))
    set_first, set_links = sets.arrays()
    fabric = FabricArrays(
        names=(*(nic.name for nic in nics), *routing.graph.names),
        host_count=len(nics),
        tier=np.array(
            [HOST] * len(nics) + [TIERS[network.roles[name]] for name in routing.graph.names], dtype=np.int32
        ),
        link_names=cables.names,
        link_source=cables.source,
        link_target=cables.target,
        link_reverse=(np.arange(len(cables.source)) ^ 1).astype(np.int32),
        rate_bps=cables.rate_bps,
        delay_ps=np.full(len(cables.source), delay_ps, dtype=np.int64),
        first_destination=first,
        destination_prefix=prefix_of,
        host_set=access[:, 0].copy(),
        delivery_set=access[hosts, 1],
        set_first=set_first,
        set_links=set_links,
        forwarding=(forwarding,),
        prefix_names=tuple(
            f"{prefixes[0] if prefixes else 'no prefix'} at {routing.graph.names[leaf] if leaf >= 0 else 'no leaf'}"
            for prefixes, leaf in columns
        ),
        without_gpus=frozenset(number for number, nic in enumerate(nics) if nic.server in others),
    )
    return scheduled(fabric, outages, sets, lambda broken: _after(fibs, cables, fabric, sets, broken))


def _after(fibs: Fibs, cables: _Cables, fabric: FabricArrays, sets: NextHopSets, broken: Broken) -> Int32:
    """Return the FIBs that follow from the files while something is broken."""
    # The sessions of a dead switch end with it.
    dead = frozenset(node - fabric.host_count for node in broken.switches)
    down = np.isin(cables.session_links[:, 0], list(broken.links))
    ends = fabric.link_source[cables.session_links] - fabric.host_count
    sessions = np.flatnonzero(down & ~np.isin(ends, list(dead)).any(axis=1))
    return fibs.after(sets, frozenset(sessions.tolist()), dead)


class _Cables:
    """Cables as directed links: 2 i of cable i from its first end, 2 i + 1 back; those to servers first."""

    def __init__(self, network: Network, graph: Graph, nics: Sequence[ServerNic]) -> None:
        cabled = [(number, nic) for number, nic in enumerate(nics) if nic.leaf is not None]
        ends = [(End(nic.server, nic.nic), nic.leaf) for _, nic in cabled if nic.leaf is not None]
        nodes = [
            (number, len(nics) + graph.index[leaf.device]) for (number, _), (_, leaf) in zip(cabled, ends, strict=True)
        ]
        links = [cable for cable in network.links if all(_enabled(network, end) for end in (cable.a, cable.b))]
        speeds = [_speed(network, (leaf,), network.attachment_bps.get(leaf)) for _, leaf in ends]
        speeds += [_speed(network, (cable.a, cable.b), cable.speed_bps) for cable in links]
        ends += [(cable.a, cable.b) for cable in links]
        nodes += [(len(nics) + graph.index[cable.a.device], len(nics) + graph.index[cable.b.device]) for cable in links]
        used = Counter(end for pair in ends for end in pair)
        if twice := [end for end, count in used.items() if count > 1]:
            raise UsageError(f"the files have several cables for one port: {some(twice)}; a port takes one")
        unknown = [f"{a} - {b}" for (a, b), speed in zip(ends, speeds, strict=True) if not speed]
        if unknown:
            hint = "write it at the ports (`speed`) or in cabling.csv"
            raise UsageError(f"no file says how fast these cables are: {some(unknown)}; {hint}")
        pairs = np.array(nodes, dtype=np.int32).reshape(-1, 2)
        self.names = tuple(str(end) for pair in ends for end in pair)
        self.source: Int32 = pairs.ravel()
        self.target: Int32 = pairs[:, ::-1].ravel()
        self.rate_bps: Int64 = np.repeat(np.array(speeds, dtype=np.int64), 2)
        self._cabled = np.array([number for number, _ in cabled], dtype=np.int64)
        self._hosts = len(nics)
        first = {(cable.a, cable.b): 2 * number for number, cable in enumerate(links, len(cabled))}
        up = [first[session.cable.a, session.cable.b] for session in graph.sessions.up]
        # Of every session, the link from its first end, which is the cable's, and the one back.
        self.session_links: Int32 = np.array([(link, link + 1) for link in up], dtype=np.int32).reshape(-1, 2)

    def access_sets(self, sets: NextHopSets) -> Int32:
        """Add the sets of every NIC's link and of the link to it; returns their numbers, shape (hosts, 2)."""
        found = np.full((self._hosts, 2), UNREACHABLE, dtype=np.int32)
        links = np.arange(2 * len(self._cabled), dtype=np.int32)
        found[self._cabled] = sets.add(links[:, None]) + links.reshape(-1, 2)
        return found


def _enabled(network: Network, end: End) -> bool:
    switch = network.switches.get(end.device)
    port = switch.ports.get(end.port) if switch is not None else None
    return port is not None and not port.disabled


def _speed(network: Network, ends: Iterable[End], listed: int | None) -> int | None:
    """Return the speed of a cable in bit/s: the lowest that its ports are set to, else what the list of cables says."""
    ports = (_configured(network.switches[end.device], end.port) for end in ends)
    return min((speed for speed in ports if speed), default=listed)


def _configured(switch: Switch, name: str) -> int | None:
    """Return the speed that a port is set to; one that is split off has that of the port that was split."""
    rows = (switch.ports.get(word) for word in (name, name.partition(":")[0]))
    return next((port.speed_bps for port in rows if port is not None and port.speed_bps), None)


def _destinations(nics: Sequence[ServerNic], routing: Routing) -> tuple[Int32, Int32, list[Column], Int32]:
    """Return the host of every destination, the first one of every host, the columns, and every destination's."""
    graph = routing.graph
    holders = Holders(routing.prefixes)
    numbers: dict[Column, int] = {}
    found: dict[tuple[int, int], int] = {}
    prefix_of: list[int] = []
    for nic in nics:
        leaf = graph.index[nic.leaf.device] if nic.leaf is not None else -1
        for pair in nic.pairs:
            key = pair.address, leaf
            if key not in found:
                column = holders.of(pair.address), leaf
                found[key] = numbers.setdefault(column, len(numbers))
            prefix_of.append(found[key])
    counts = np.array([len(nic.pairs) for nic in nics])
    hosts = np.repeat(np.arange(len(nics), dtype=np.int32), counts)
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return hosts, first, list(numbers), np.array(prefix_of, dtype=np.int32)
