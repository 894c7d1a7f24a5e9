"""Twins: switches that can be exchanged without a change to any outcome, so that failures next to them are alike.

Two failures are alike when exchanging twins turns one into the other: the outcome of one is that of the other with the
links exchanged. A fabric of 512 leaves and 64 spines in eight colors has eight kinds of link failures among 32,768.

Twins have the same sessions with the same neighbors, own prefixes that every policy treats alike, and AS numbers that
nobody shares. Router-ids remain: they break ties, so twins are certain only where no tie decides. That holds when
routes take two steps at most, from the owner to switches that pass them on and from these to switches that do not, and
when whoever hears a prefix from several twins takes all paths that tie.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ailb_gen.addresses import Prefix
from ailb_gen.forwarding.baseline import Baseline
from ailb_gen.forwarding.failures import Failure
from ailb_gen.forwarding.loads import Indices
from ailb_gen.routing.alike import traits
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.policy import evaluate
from ailb_gen.routing.route import Route

# Twins that change places, one pair after the other.
Exchanges = tuple[tuple[int, int], ...]


class Twins:
    """The twins of a fabric: `first` is the first twin of every device, itself where it has none before it."""

    def __init__(self, baseline: Baseline) -> None:
        self.graph, self.links, self.highest = baseline.graph, baseline.links, baseline.highest
        self.first = _first_twins(baseline)
        self._place: Indices = np.arange(self.links.count)

    def representative(self, failure: Failure) -> tuple[Failure, Exchanges]:
        """Return the failure that stands for those like a single failure, and the exchanges that lead to it."""
        if failure.dead:
            (device,) = failure.dead
            first = self.first[device]
            return Failure(self.graph.names[first], dead=frozenset({first})), _pairs([(device, first)])
        (session,) = failure.sessions
        exchanges = [(device, self.first[device]) for device, _ in self.graph.ends[session]]
        for device, first in exchanges:
            position = next(at for end, at in self.graph.ends[session] if end == device)
            session = self.graph.adjacencies[first][position].session
        return Failure("", frozenset({session})), _pairs(exchanges)

    def back(self, links: Indices, exchanges: Exchanges) -> Indices:
        """Return links (directions) of a representative as those of the failure that the exchanges start from."""
        if not exchanges:
            return links
        # A copy, because threads share the twins.
        place = self._place.copy()
        for one, other in reversed(exchanges):
            a, b = self.links.of[one], self.links.of[other]
            place[a], place[b], place[a ^ 1], place[b ^ 1] = b, a, b ^ 1, a ^ 1
            links = place[links]
            place[a], place[b], place[a ^ 1], place[b ^ 1] = a, b, a ^ 1, b ^ 1
        return links


def _pairs(exchanges: Iterable[tuple[int, int]]) -> Exchanges:
    return tuple((one, other) for one, other in exchanges if one != other)


def _first_twins(baseline: Baseline) -> tuple[int, ...]:
    graph = baseline.graph
    alone = tuple(range(len(graph.names)))
    if not all(state.stable and len(graph.owners[state.prefix]) == 1 for state in baseline.states):
        return alone
    own: dict[int, list[object]] = {}
    kinds: dict[object, Prefix] = {}
    for device, prefix, trait in traits(graph, baseline.destinations):
        own.setdefault(device, []).append(trait)
        kinds.setdefault(trait, prefix)
    passing = {number for number in range(len(graph.classes)) if _passes_on(graph, number, kinds)}
    if any(_sources(graph, number, passing, own) for number in passing):
        return alone
    certain = [number in passing or _takes_all(graph, number) for number in range(len(graph.classes))]
    known: dict[object, int] = {}
    found = []
    for device in alone:
        number = graph.class_of[device]
        numbering = _as_numbers(graph, device)
        if numbering is None or not all(certain[bundle.peer_class] for bundle in graph.classes[number].bundles):
            found.append(device)
            continue
        found.append(known.setdefault((number, numbering, tuple(own.get(device, ()))), device))
    return tuple(found)


def _passes_on(graph: Graph, number: int, kinds: Mapping[object, Prefix]) -> bool:
    """Return whether switches of a class might send a BGP route of any of these prefixes to anybody."""
    device = graph.classes[number].representative
    chains = {graph.rules[device][group].exports for group in graph.classes[number].groups}
    if any(term.communities for chain in chains for policy in chain for term in policy.terms):
        return True
    lists, route = graph.lists[device], Route()
    return any(
        evaluate(chain, lists, prefix, route, default=True).accepted for chain in chains for prefix in kinds.values()
    )


def _sources(graph: Graph, number: int, passing: set[int], own: Mapping[int, object]) -> bool:
    """Return whether switches that pass routes on own prefixes, or hear routes from others that pass them on."""
    found = graph.classes[number]
    return not found.members.isdisjoint(own) or any(bundle.peer_class in passing for bundle in found.bundles)


def _takes_all(graph: Graph, number: int) -> bool:
    """Return whether switches of a class take all paths that tie."""
    found = graph.classes[number]
    rules, balancing = graph.rules[found.representative], graph.switches[found.representative].balancing
    enough = balancing.per_packet and len(graph.adjacencies[found.representative]) <= balancing.maximum_ecmp
    return enough and all(rules[group].multipath and rules[group].multiple_as for group in found.groups)


def _as_numbers(graph: Graph, device: int) -> tuple[int, ...] | None:
    """Return which sessions of a device share an AS number; None where another device has one of them, too."""
    asns = [entry.own_asn for entry in graph.adjacencies[device]]
    if any(len(graph.asn_owners[asn]) > 1 for asn in set(asns)):
        return None
    return tuple(asns.index(asn) for asn in asns)
