"""Evaluating routing policies from their text: terms in order, conditions, actions, the default at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from ailb_gen.addresses import Prefix
from ailb_gen.junos.regex import community_pattern, is_pattern
from ailb_gen.network.policy import Community, Policy, PrefixList, RouteFilter, Term
from ailb_gen.routing.route import WELL_KNOWN, Route


@dataclass(frozen=True, slots=True)
class Lists:
    """Definitions that policies refer to by name."""

    communities: Mapping[str, Community]
    prefix_lists: Mapping[str, PrefixList]


class PolicyVerdict(NamedTuple):
    """The result of a chain of policies for a route; `by` names the deciding policy and term, empty for the default."""

    accepted: bool
    route: Route
    by: str
    line: int = 0


def evaluate(chain: tuple[Policy, ...], lists: Lists, prefix: Prefix, route: Route, default: bool) -> PolicyVerdict:
    """Send a route through a chain of policies (Junos: import, export); `default` is what happens at its end."""
    for policy in chain:
        for term in policy.terms:
            if not matches(term, lists, prefix, route):
                continue
            route = _changed(term, lists, route)
            if term.verdict in ("accept", "reject"):
                by = f"{policy.name} term {term.name}" if term.name else policy.name
                return PolicyVerdict(term.verdict == "accept", route, by, term.line)
            if term.verdict == "next-policy":
                break
    return PolicyVerdict(default, route, "")


def matches(term: Term, lists: Lists, prefix: Prefix, route: Route) -> bool:
    """Return whether all kinds of conditions of a term hold.

    Prefix lists and route filters are one kind: any of them suffices. A condition that is not evaluated never holds;
    the checks name such terms.
    """
    if any(text.startswith(("from", "to")) for text, _ in term.unknown):
        return False
    # All routes here are IPv6 unicast.
    if term.families and "inet6" not in term.families:
        return False
    if term.protocols and route.protocol not in term.protocols:
        return False
    if term.communities and not any(
        has_community(lists.communities.get(name), route.communities) for name in term.communities
    ):
        return False
    return matches_prefix(term, lists, prefix)


def matches_prefix(term: Term, lists: Lists, prefix: Prefix) -> bool:
    """Return whether the conditions of a term on prefixes hold: any of them, or there are none."""
    if not (term.prefix_lists or term.prefix_list_filters or term.route_filters):
        return True
    listed = [(name, "exact") for name in term.prefix_lists] + list(term.prefix_list_filters)
    for name, match in listed:
        found = lists.prefix_lists.get(name)
        if found is not None and any(_fits(entry, match, prefix) for entry in found.prefixes):
            return True
    return _filtered(term.route_filters, prefix)


def _fits(entry: Prefix, match: str, prefix: Prefix) -> bool:
    if match == "exact":
        return entry == prefix
    return entry.contains(prefix) and (match == "orlonger" or prefix.length > entry.length)


def _filtered(filters: tuple[RouteFilter, ...], prefix: Prefix) -> bool:
    """Of several route filters only those with the longest prefix that holds the route are looked at."""
    holding = [entry for entry in filters if entry.prefix.contains(prefix)]
    longest = max((entry.prefix.length for entry in holding), default=0)
    for entry in holding:
        if entry.prefix.length < longest:
            continue
        if entry.match in ("upto", "prefix-length-range"):
            if entry.low <= prefix.length <= entry.high:
                return True
        elif _fits(entry.prefix, entry.match, prefix):
            return True
    return False


def has_community(community: Community | None, values: frozenset[str]) -> bool:
    """Return whether a route has all members of a community; one that is not defined matches nothing."""
    if community is None or not community.members:
        return False
    return all(_has_member(member, values) for member in community.members)


def _has_member(member: str, values: frozenset[str]) -> bool:
    member = WELL_KNOWN.get(member, member)
    if not is_pattern(member):
        return member in values
    return any(_stands_for(member, value) for value in values)


@lru_cache(maxsize=65536)
def _stands_for(member: str, value: str) -> bool:
    """Return whether a pattern holds for a value; one that is no expression, which the checks name, never does."""
    try:
        return community_pattern(member).fullmatch(value) is not None
    except ValueError:
        return False


def members(community: Community | None) -> frozenset[str]:
    """Return the values that adding a community adds: its members without wildcards, well-known ones as numbers."""
    if community is None:
        return frozenset()
    return frozenset(WELL_KNOWN.get(member, member) for member in community.members if not is_pattern(member))


def referred(chain: Iterable[Policy], lists: Lists) -> object:
    """Return the contents of the lists that policies refer to: what a name stands for decides, not the name."""
    terms = [term for policy in chain for term in policy.terms]
    used = {name for term in terms for name in (*term.communities, *(name for _, name in term.changes))}
    listed = {name for term in terms for name in (*term.prefix_lists, *(name for name, _ in term.prefix_list_filters))}
    communities = tuple((name, lists.communities.get(name)) for name in sorted(used))
    return communities, tuple((name, lists.prefix_lists.get(name)) for name in sorted(listed))


def _changed(term: Term, lists: Lists, route: Route) -> Route:
    values = route.communities
    for how, name in term.changes:
        community = lists.communities.get(name)
        if how == "add":
            values = values | members(community)
        elif how == "set":
            values = members(community)
        elif community is not None:
            gone = {
                value
                for value in values
                if any(_has_member(member, frozenset({value})) for member in community.members)
            }
            values = values - gone
    if values != route.communities:
        route = replace(route, communities=values)
    if term.local_preference is not None:
        route = replace(route, local_preference=term.local_preference)
    if term.metric is not None:
        route = replace(route, med=term.metric)
    return route
