"""Loads of prefixes that the fabric treats alike: routes are computed for one of them, and hold for all.

Two prefixes are alike when exchanging their owners changes nothing that routes depend on. A fabric of 512 leaves with
eight prefixes each has eight kinds of prefixes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping

import numpy as np

from ailb_gen.addresses import Prefix
from ailb_gen.forwarding.loads import MAX_HOPS, Indices, Links, Volumes, spread
from ailb_gen.network.policy import Term
from ailb_gen.routing.fib import fib_entry
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.policy import Lists, matches_prefix
from ailb_gen.routing.rib import Routing
from ailb_gen.routing.solve import State, sent_by

Condition = tuple[Term, Lists]
# Prefixes that are alike, each with its destination.
Kind = list[tuple[int, Prefix]]


def loads_alike(
    routing: Routing,
    links: Links,
    destinations: Mapping[int, tuple[Prefix, ...]],
    matrix: Volumes,
    groups: Iterable[Kind] | None = None,
    seed: int = 1,
) -> tuple[Volumes, float]:
    """Return what `loads` returns, computing the routes of one prefix of every kind, and of another by the seed.

    A flow is split evenly over the prefixes of its destination. What is not certain to be alike is computed alone.
    `groups` are the `kinds` of the destinations, where they are known. Raises AssertionError when the other prefix
    of a kind loads other links.
    """
    graph, load, lost = routing.graph, np.zeros(links.count), 0.0
    for kind in kinds(graph, destinations) if groups is None else groups:
        owners = np.array([owner for owner, _ in kind], dtype=np.int64)
        shares = np.array([len(destinations[int(owner)]) for owner in owners])
        demand: Volumes = matrix[:, owners] / shares
        state = routing.state(kind[0][1])
        if is_symmetric(graph, state, int(owners[0])):
            demand[owners, np.arange(len(owners))] = 0.0
            lost += _spread(links, state, owners, demand, load)
            _compare(routing, links, kind, demand, seed % len(kind))
            continue
        for number, (_, prefix) in enumerate(kind):
            if demand[:, number].any():
                lost += spread(links, routing.state(prefix), demand[:, number], load)
    return load, lost


def _compare(routing: Routing, links: Links, kind: Kind, demand: Volumes, number: int) -> None:
    """Compare the loads of one prefix of a kind with those by its own routes."""
    found, expected, only = np.zeros(links.count), np.zeros(links.count), np.zeros_like(demand)
    owner, prefix = kind[number]
    only[:, number] = demand[:, number]
    state = routing.state(kind[0][1])
    missing = _spread(links, state, np.array([one for one, _ in kind], dtype=np.int64), only, found)
    lost = spread(links, routing.state(prefix), demand[:, number], expected)
    if not np.allclose(np.append(found, missing), np.append(expected, lost)):
        name = routing.graph.names[owner]
        raise AssertionError(f"prefixes that should be alike are not: {prefix} of {name} loads other links than others")


def kinds(graph: Graph, destinations: Mapping[int, tuple[Prefix, ...]]) -> Iterator[Kind]:
    """Group prefixes, with the destination of each, by everything but the owner that routes can depend on."""
    found: dict[object, list[tuple[int, Prefix]]] = defaultdict(list)
    for device, prefix, trait in traits(graph, destinations):
        found[trait].append((device, prefix))
    yield from found.values()


def traits(graph: Graph, destinations: Mapping[int, tuple[Prefix, ...]]) -> Iterator[tuple[int, Prefix, Hashable]]:
    """Yield every prefix with its destination and everything but the owner that routes can depend on.

    That is the owner's class, what it sends, how every policy with a condition on prefixes sees the prefix, and where
    the owner stands among the neighbors of each class. A prefix of several owners is on its own, and so is one whose
    owner shares an AS number with another device: its trait is the prefix.
    """
    conditions = tuple(_conditions(graph))
    for device, prefixes in destinations.items():
        stands = tuple(
            (number, tuple(bundle for bundle, _ in around.places[device]))
            for number, around in enumerate(graph.classes)
            if device in around.places
        )
        own = {entry.own_asn for entry in graph.adjacencies[device]}
        alone = any(len(graph.asn_owners[asn]) > 1 for asn in own)
        for prefix in prefixes:
            if alone or graph.owners[prefix] != (device,):
                yield device, prefix, prefix
                continue
            seen = tuple(matches_prefix(term, lists, prefix) for term, lists in conditions)
            yield device, prefix, (graph.class_of[device], stands, seen, sent_by(graph, device, prefix))


def _conditions(graph: Graph) -> Iterator[Condition]:
    """Yield every condition on prefixes of any policy once."""
    known: set[object] = set()
    for switch, lists in zip(graph.switches, graph.lists, strict=True):
        if (id(switch.policies), id(switch.prefix_lists)) in known:
            continue
        known.add((id(switch.policies), id(switch.prefix_lists)))
        for term in (term for policy in switch.policies.values() for term in policy.terms):
            if term.prefix_lists or term.prefix_list_filters or term.route_filters:
                names = (*term.prefix_lists, *(name for name, _ in term.prefix_list_filters))
                key = (term, tuple(lists.prefix_lists.get(name) for name in names))
                if key not in known:
                    known.add(key)
                    yield term, lists


def is_symmetric(graph: Graph, state: State, owner: int) -> bool:
    """Return whether the routes hold for prefixes of other devices of the owner's class, with the owners exchanged.

    No other device of that class may offer a path, and no tie may be between the owner and another device: ties are
    broken by router-id, which differs.
    """
    others = graph.class_at(owner).members - {owner}
    if not state.stable or state.singles != {owner}:
        return False
    for node, rib in state.nodes.items():
        row = graph.adjacencies[graph.device(node)]
        if any(row[at].peer in others for candidate in rib.candidates for at in candidate.positions):
            return False
        best = {row[at].peer for at in rib.selection.best}
        if owner in best and len(best) > 1:
            return False
    return True


def _spread(links: Links, state: State, owners: Indices, demand: Volumes, load: Volumes) -> float:
    """Add what `demand` (from every device, to every owner) puts on the links to `load`; return what is lost.

    The state is that of the first owner's prefix.
    """
    graph = links.graph
    first, at = int(owners[0]), np.arange(len(owners))
    # By class, where each owner stands among the neighbors: the n-th of its links in the n-th row.
    places = {
        number: np.array([[position for _, position in found.places[int(owner)]] for owner in owners], dtype=np.int64).T
        for number, found in enumerate(graph.classes)
        if first in found.places
    }
    todo: list[tuple[int, Indices, Volumes]] = [
        (number, members, demand[members]) for number, members in enumerate(links.members)
    ]
    lost = 0.0
    for _ in range(MAX_HOPS + 1):
        arriving: dict[int, Volumes] = {}
        for number, members, volume in todo:
            if not volume.any():
                continue
            ways = fib_entry(graph, state, number)
            if not ways:
                lost += float(volume.sum())
                continue
            rows = np.searchsorted(links.members[number], members)
            row, share = graph.adjacencies[graph.classes[number].representative], volume / len(ways)
            to_owner = [position for _, position in graph.classes[number].places.get(first, ())]
            for way in ways:
                peer = row[way].peer
                if peer == first:
                    columns = places[number][to_owner.index(way)]
                    np.add.at(load, links.matrix[number][rows[:, None], columns[at]], share)
                else:
                    load[links.matrix[number][rows, way]] += share.sum(axis=1)
                    arriving[peer] = arriving.get(peer, 0.0) + share.sum(axis=0)
        todo = [(graph.class_of[device], np.array([device]), volume[None, :]) for device, volume in arriving.items()]
        if not todo:
            return lost
    return lost + sum(float(volume.sum()) for _, _, volume in todo)
