"""Routes of an IPv4 shadow: policies, what BGP sends and chooses, repeated until nothing changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING, Any

from tests.batfish.fake.text import PlainError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tests.batfish.fake.model import Range, Term
    from tests.batfish.fake.snapshot import Links, Session


DEFAULT_LOCAL_PREFERENCE = 100
# RFC 1997: no-export and no-advertise.
KEPT = frozenset({"65535:65281", "65535:65282"})
NOBODY = IPv4Address(0)
MOST_ROUNDS = 1000


@dataclass(frozen=True, slots=True)
class Route:
    """A route of one switch; one from BGP has the address it came from, which is also its next hop."""

    network: IPv4Network
    protocol: str
    peer: IPv4Address
    peer_id: IPv4Address
    as_path: tuple[int, ...] = ()
    local_preference: int = DEFAULT_LOCAL_PREFERENCE
    metric: int = 0
    communities: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tables:
    """What every switch knows when nothing changes any more."""

    links: Links

    @cached_property
    def received(self) -> Mapping[str, Mapping[IPv4Network, Sequence[Route]]]:
        """All BGP routes of every switch that its import policies accept. Raises PlainError if it never settles."""
        established = [session for session in self.links.sessions if session.remote is not None]
        state: dict[str, dict[IPv4Network, list[Route]]] = {node: {} for node in self.links.devices}
        for _ in range(MOST_ROUNDS):
            exported = {node: self._exported(node, routes) for node, routes in state.items()}
            after: dict[str, dict[IPv4Network, list[Route]]] = {node: {} for node in self.links.devices}
            for session in established:
                for route in self._arriving(session, exported):
                    after[session.neighbor.node].setdefault(route.network, []).append(route)
            if after == state:
                return state
            state = after
        raise PlainError(f"BGP does not settle in {MOST_ROUNDS} rounds")

    @cached_property
    def chosen(self) -> Mapping[str, Mapping[IPv4Network, Sequence[Route]]]:
        """The routes of every switch that are as good as its best one, which comes first."""
        return {
            node: {network: self._choose(node, routes) for network, routes in table.items()}
            for node, table in self.received.items()
        }

    @cached_property
    def main(self) -> Mapping[str, Mapping[IPv4Network, Sequence[Route]]]:
        """The BGP routes that forward: a network of an interface of the switch's own wins."""
        return {
            node: {network: found for network, found in table.items() if network not in self.links.direct[node]}
            for node, table in self.chosen.items()
        }

    def _exported(self, node: str, received: Mapping[IPv4Network, Sequence[Route]]) -> list[Route]:
        """Return what a switch may send: its interfaces' networks, and its best route to each other network."""
        direct = self.links.direct[node]
        best = (self._choose(node, routes)[0] for network, routes in received.items() if network not in direct)
        return [*(Route(network, "direct", NOBODY, NOBODY) for network in sorted(direct)), *best]

    def _arriving(self, session: Session, exported: Mapping[str, list[Route]]) -> Iterator[Route]:
        """Send the other side's routes through its export policies and our import policies."""
        ours, theirs = session.neighbor, session.remote
        if theirs is None:
            return
        sender = self.links.devices[theirs.node]
        for route in exported[theirs.node]:
            if route.as_path[:1] == (ours.local_as,) or route.communities & KEPT:
                continue
            without_metric = replace(route, metric=0) if route.metric else route
            sent = through(theirs.exports, without_metric, accept=route.protocol == "bgp")
            if sent is None or ours.local_as in (theirs.local_as, *sent.as_path):
                continue
            arrived = replace(
                sent,
                protocol="bgp",
                as_path=(theirs.local_as, *sent.as_path),
                local_preference=DEFAULT_LOCAL_PREFERENCE,
                peer=ours.address,
                peer_id=sender.router_id,
            )
            accepted = through(ours.imports, arrived, accept=True)
            if accepted is not None:
                yield accepted

    def _choose(self, node: str, routes: Sequence[Route]) -> list[Route]:
        best = _keep(routes, lambda route: -route.local_preference)
        best = _keep(best, lambda route: len(route.as_path))
        best = [route for route in best if route.metric == min(one.metric for one in best if _same_as(one, route))]
        best.sort(key=lambda route: (route.peer_id, route.peer))
        neighbors = self.links.devices[node].neighbors
        # Batfish forces a switch whose groups differ to the lesser.
        if not all(neighbor.multipath for neighbor in neighbors):
            return best[:1]
        if not all(neighbor.multiple_as for neighbor in neighbors):
            return [route for route in best if _same_as(route, best[0])]
        return best


def through(policies: Iterable[Sequence[Term]], route: Route, *, accept: bool) -> Route | None:
    """Send a route through a chain of policies; the default is for one that no term accepts or rejects."""
    for policy in policies:
        verdict, route = _policy(policy, route)
        if verdict in ("accept", "reject"):
            return route if verdict == "accept" else None
    return route if accept else None


def _policy(policy: Sequence[Term], route: Route) -> tuple[str, Route]:
    for term in policy:
        if _matches(term, route):
            route = _changed(term, route)
            if term.verdict in ("accept", "reject", "policy"):
                return term.verdict, route
    return "", route


def _matches(term: Term, route: Route) -> bool:
    if term.protocols is not None and route.protocol not in term.protocols:
        return False
    if term.communities is not None and not any(intended <= route.communities for intended in term.communities):
        return False
    if term.lists is None and term.filters is None:
        return True
    return any(one.holds(route.network) for one in term.lists or ()) or _filtered(term.filters or (), route.network)


def _filtered(filters: Sequence[Range], network: IPv4Network) -> bool:
    """Junos looks only at the route-filters with the longest prefix that holds the route."""
    around = [one for one in filters if network.subnet_of(one.prefix)]
    longest = max((one.prefix.prefixlen for one in around), default=0)
    return any(one.holds(network) for one in around if one.prefix.prefixlen == longest)


def _changed(term: Term, route: Route) -> Route:
    changed: dict[str, Any] = {}
    if term.local_preference is not None:
        changed["local_preference"] = term.local_preference
    if term.metric is not None:
        changed["metric"] = term.metric
    if term.prepend:
        changed["as_path"] = (*term.prepend, *route.as_path)
    communities = route.communities
    for how, members in term.changes:
        communities = {"add": communities | members, "set": members, "delete": communities - members}[how]
    if communities != route.communities:
        changed["communities"] = communities
    return replace(route, **changed) if changed else route


def _keep(routes: Sequence[Route], key: Callable[[Route], int]) -> list[Route]:
    """Return the routes with the lowest number."""
    lowest = min(map(key, routes))
    return [route for route in routes if key(route) == lowest]


def _same_as(one: Route, other: Route) -> bool:
    return one.as_path[:1] == other.as_path[:1]
