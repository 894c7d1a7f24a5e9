"""Next hops of every switch and prefix: Batfish's from the shadow, and this program's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.answers import Row, parse_network, shadow_nodes
from ailb_gen.batfish.numbering import Numbering
from ailb_gen.network.fabric import Network
from ailb_gen.routing.fib import held
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.solve import State

# A switch and a prefix of another one, to the switch's own ports that packets leave by.
Hops = dict[tuple[str, "Prefix"], frozenset[str]]


def batfish_hops(network: Network, numbering: Numbering, rows: Iterable[Row]) -> Hops:
    """Read the rows of `routes`: BGP routes with next hops such as `ip 10.128.0.1`."""
    names = shadow_nodes(network.switches)
    hops: dict[tuple[str, Prefix], set[str]] = {}
    for row in rows:
        name = names.get(str(row["Node"]))
        prefix = numbering.meanings.get(parse_network(row["Network"]))
        if name is not None and prefix is not None:
            hops.setdefault((name, prefix), set()).add(_port(numbering, name, str(row["Next_Hop"])))
    return {key: frozenset(ports) for key, ports in hops.items()}


def _port(numbering: Numbering, name: str, next_hop: str) -> str:
    """Return a switch's own port to a next hop; an address that is at the end of none of its cables stays as it is."""
    ends = numbering.ends_at(next_hop.removeprefix("ip "))
    if ends is None or ends[1].device != name:
        return f"({next_hop})"
    return ends[1].port


def own_hops(graph: Graph, states: Mapping[Prefix, State]) -> Hops:
    """Return this program's own next hops: the best paths of every switch that has no direct route to the prefix."""
    hops: Hops = {}
    for prefix, state in states.items():
        for device, name in enumerate(graph.names):
            rib = held(graph, state, device)
            if rib.selection.best:
                adjacent = graph.adjacencies[device]
                hops[name, prefix] = frozenset(adjacent[at].interface.rpartition(".")[0] for at in rib.selection.best)
    return hops
