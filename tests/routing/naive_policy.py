"""Policies a second time: what the second control plane makes of a route, term by term."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ailb_gen.addresses import Prefix
from ailb_gen.network.model import Switch
from ailb_gen.network.policy import RouteFilter, Term


@dataclass(frozen=True)
class Route:
    """A route with the attributes that matter; `path` has the nearest AS first."""

    path: tuple[int, ...] = ()
    communities: frozenset[str] = frozenset()
    aigp: int | None = None
    preference: int = 100
    med: int | None = None
    protocol: str = "bgp"


def one_value(switch: Switch, name: str | None) -> str | None:
    """Return what a color community's name stands for; a name for nothing or for several values is no color."""
    community = switch.communities.get(name or "")
    return community.members[0] if community is not None and len(community.members) == 1 else None


def number(member: str) -> str:
    """Return a community as two numbers; RFC 1997 names three of AS 65535."""
    if member == "no-export":
        return "65535:65281"
    if member == "no-advertise":
        return "65535:65282"
    return "65535:65283" if member == "no-export-subconfed" else member


def policies(switch: Switch, names: tuple[str, ...], prefix: Prefix, route: Route, default: bool) -> tuple[bool, Route]:
    """Walk a route through policies, term by term; those that are not defined are passed over."""
    for policy in [switch.policies[name] for name in names if name in switch.policies]:
        for term in policy.terms:
            if not holds(switch, term, prefix, route):
                continue
            for how, name in term.changes:
                community = switch.communities.get(name)
                values = frozenset(map(number, community.members)) if community is not None else frozenset()
                old = route.communities
                new = {"add": old | values, "set": values, "delete": old - values}[how]
                route = replace(route, communities=new)
            if term.local_preference is not None:
                route = replace(route, preference=term.local_preference)
            if term.metric is not None:
                route = replace(route, med=term.metric)
            if term.verdict in ("accept", "reject"):
                return term.verdict == "accept", route
            if term.verdict == "next-policy":
                break
    return default, route


def holds(switch: Switch, term: Term, prefix: Prefix, route: Route) -> bool:
    if term.protocols and route.protocol not in term.protocols:
        return False
    if term.families and "inet6" not in term.families:
        return False
    named = [switch.communities[name] for name in term.communities if name in switch.communities]
    if term.communities and not any(set(map(number, community.members)) <= route.communities for community in named):
        return False
    lists = [(name, "exact") for name in term.prefix_lists] + list(term.prefix_list_filters)
    if not lists and not term.route_filters:
        return True
    for name, match in lists:
        found = switch.prefix_lists.get(name)
        if found is not None and any(fits(RouteFilter(entry, match), prefix) for entry in found.prefixes):
            return True
    around = [entry for entry in term.route_filters if inside(prefix, entry.prefix)]
    longest = max([entry.prefix.length for entry in around], default=0)
    return any(fits(entry, prefix) for entry in around if entry.prefix.length == longest)


def inside(prefix: Prefix, wide: Prefix) -> bool:
    return (
        prefix.length >= wide.length and f"{prefix.value:0128b}"[: wide.length] == f"{wide.value:0128b}"[: wide.length]
    )


def fits(entry: RouteFilter, prefix: Prefix) -> bool:
    lengths = {
        "exact": (entry.prefix.length, entry.prefix.length),
        "orlonger": (entry.prefix.length, 128),
        "longer": (entry.prefix.length + 1, 128),
    }
    low, high = lengths.get(entry.match, (entry.low, entry.high))
    return inside(prefix, entry.prefix) and low <= prefix.length <= high
