"""RIBs of a switch as its operator sees them, from BIRD's routes and the kernel's next hops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ailb_gen.addresses import Prefix
from ailb_gen.emulator.fabric_state import RouteTotals
from ailb_gen.lab.bird.model import DIRECT, RibRoute
from ailb_gen.routing.rib import ORDER, Path
from ailb_gen.routing.route import DIRECT as DIRECT_ROUTE
from ailb_gen.routing.route import Route, rank

# Where a session goes: the logical interface, the peer, and the name of the group.
Ends = tuple[str, str, str]


def by_prefix(routes: Iterable[RibRoute]) -> dict[Prefix, tuple[RibRoute, ...]]:
    """Sort routes into prefixes, which are in order."""
    found: dict[Prefix, list[RibRoute]] = defaultdict(list)
    for route in routes:
        found[route.prefix].append(route)
    return {prefix: tuple(found[prefix]) for prefix in sorted(found)}


def paths(
    routes: Iterable[RibRoute], sessions: Mapping[str, Ends], used: frozenset[str], reasons: Mapping[int, str]
) -> tuple[Path, ...]:
    """Return the paths of one prefix, the best ones first, the hidden ones last.

    `sessions` are by the name of their protocol, in the order of paths; `used` are the logical interfaces of the next
    hops in the kernel, `reasons` those for which BIRD hides routes.
    """
    held = {route.protocol: route for route in routes}
    best = next((route for route in held.values() if route.active), None)
    local = best is not None and best.protocol == DIRECT
    active = best.route if best is not None and not local else None
    found = [Path(Route(protocol=DIRECT_ROUTE), "active")] if local else []
    for protocol, (interface, peer, group) in sessions.items():
        one = held.get(protocol)
        if one is not None:
            status, reason = _status(one, active, interface in used, held.values(), reasons)
            found.append(Path(one.route, status, reason, peer, interface, group))
    return tuple(sorted(found, key=lambda path: ORDER[path.status]))


def _status(
    one: RibRoute, active: Route | None, used: bool, held: Iterable[RibRoute], reasons: Mapping[int, str]
) -> tuple[str, str]:
    if one.hidden:
        return "hidden", reasons.get(one.hidden, "rejected by import policy")
    if one.active:
        return "active", ""
    if active is None:
        return "inactive", "Route Preference"
    if used:
        return "multipath", ""
    return "inactive", _lost(one.route, active, held)


def _lost(route: Route, best: Route, held: Iterable[RibRoute]) -> str:
    """Return why a path lost against the active one, in the words of `show route extensive`."""
    if route.local_preference != best.local_preference:
        return "Local Preference"
    if route.aigp != best.aigp:
        return "AIGP"
    if len(route.as_path) != len(best.as_path):
        return "AS path"
    equal = (one.route for one in held if one.protocol != DIRECT and not one.hidden)
    meds = [one.med or 0 for one in equal if one.as_path[:1] == route.as_path[:1] and rank(one) == rank(best)]
    if (route.med or 0) > min(meds, default=0):
        return "Route Metric or MED comparison"
    return "Not Best in its group - Router ID"


def totals(held: Mapping[Prefix, Iterable[RibRoute]], sessions: Mapping[str, Ends]) -> RouteTotals:
    """Count the prefixes and paths that were learned by BGP."""
    active = destinations = hidden = paths = 0
    for routes in held.values():
        learned = [route for route in routes if route.protocol in sessions]
        active += any(route.active for route in learned)
        destinations += bool(learned) and not any(route.protocol == DIRECT for route in routes)
        hidden += sum(1 for route in learned if route.hidden)
        paths += len(learned)
    return RouteTotals(active, destinations, hidden, paths)
