"""Prefixes that the fabric treats alike: routes are computed for one of them, and hold for all.

Two prefixes are alike when exchanging their owners changes nothing that routes depend on. A fabric of 512 leaves with
eight prefixes each has eight kinds of prefixes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace

from ailb_gen.addresses import Prefix
from ailb_gen.network.policy import Term
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.policy import Lists, matches_prefix
from ailb_gen.routing.route import Route
from ailb_gen.routing.solve import Candidate, LocRib, Selection, State, ranked, sent_by

Condition = tuple[Term, Lists]
# Prefixes that are alike, each with its destination.
Kind = list[tuple[int, Prefix]]


def kinds(graph: Graph, destinations: Mapping[int, tuple[Prefix, ...]]) -> Iterator[Kind]:
    """Group prefixes, with the destination of each, by everything but the owner that routes can depend on."""
    found: dict[object, list[tuple[int, Prefix]]] = defaultdict(list)
    for device, prefix, trait in traits(graph, destinations):
        found[trait].append((device, prefix))
    yield from found.values()


def traits(graph: Graph, destinations: Mapping[int, tuple[Prefix, ...]]) -> Iterator[tuple[int, Prefix, Hashable]]:
    """Yield every prefix with its destination and everything but the owner that routes can depend on.

    That is the owner's class, what it sends, how every policy with a condition on prefixes sees the prefix, where the
    owner stands among the neighbors of each class, and which of its sessions share an AS number. A prefix of several
    owners is on its own, and so is one whose owner shares an AS number with another device: its trait is the prefix.
    """
    conditions = tuple(_conditions(graph))
    for device, prefixes in destinations.items():
        stands = tuple(
            (number, tuple(bundle for bundle, _ in around.places[device]))
            for number, around in enumerate(graph.classes)
            if device in around.places
        )
        numbers = [entry.own_asn for entry in graph.adjacencies[device]]
        alone = any(len(graph.asn_owners[asn]) > 1 for asn in set(numbers))
        shared = tuple(map(numbers.index, numbers))
        for prefix in prefixes:
            if alone or graph.owners[prefix] != (device,):
                yield device, prefix, prefix
                continue
            seen = tuple(matches_prefix(term, lists, prefix) for term, lists in conditions)
            yield device, prefix, (graph.class_of[device], stands, shared, seen, sent_by(graph, device, prefix))


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
        usable = [candidate for candidate in rib.candidates if not candidate.hidden]
        first = min(map(ranked, usable), default=None)
        ties = {row[at].peer for candidate in usable if ranked(candidate) == first for at in candidate.positions}
        if owner in ties and len(ties) > 1:
            return False
    return True


def exchanged(graph: Graph, state: State, other: int, prefix: Prefix) -> State:
    """Return the state of a prefix of another owner from the state of one that is alike and symmetric."""
    (owner,) = state.singles
    pairs = zip(graph.adjacencies[owner], graph.adjacencies[other], strict=True)
    numbers = {one.own_asn: two.own_asn for one, two in pairs}
    known: dict[Route, Route] = {}
    nodes: dict[int, LocRib] = {}
    for node, rib in state.nodes.items():
        places = graph.class_at(graph.device(node)).places
        both = zip(places.get(owner, ()), places.get(other, ()), strict=True)
        moved = {own: place for (_, own), (_, place) in both}
        nodes[graph.alone(other) if node == graph.alone(owner) else node] = LocRib(
            rib.local,
            tuple(
                Candidate(_moved(one.positions, moved), one.group, _renumbered(one.route, numbers, known), one.hidden)
                for one in rib.candidates
            ),
            _selected(rib.selection, moved, numbers, known),
            tuple(route and _renumbered(route, numbers, known) for route in rib.sent),
        )
    return State(prefix, frozenset({other}), nodes, state.stable)


def _selected(
    selection: Selection, moved: Mapping[int, int], numbers: Mapping[int, int], known: dict[Route, Route]
) -> Selection:
    if selection.active is None:
        return selection
    best = tuple(sorted(_moved(selection.best, moved)))
    position = moved.get(selection.position, selection.position)
    return Selection(best, _renumbered(selection.active, numbers, known), position)


def _moved(positions: tuple[int, ...], moved: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(moved.get(at, at) for at in positions)


def _renumbered(route: Route, numbers: Mapping[int, int], known: dict[Route, Route]) -> Route:
    """Return a route with the AS numbers of another owner in its path."""
    found = known.get(route)
    if found is None:
        path = tuple(numbers.get(number, number) for number in route.as_path)
        found = known[route] = replace(route, as_path=path) if path != route.as_path else route
    return found
