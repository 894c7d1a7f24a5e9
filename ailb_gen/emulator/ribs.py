"""Routes of the emulated fabric, and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ailb_gen.addresses import Prefix
from ailb_gen.emulator.fabric_state import PrefixCounts, RouteTotals
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch
from ailb_gen.network.policy import Policy
from ailb_gen.routing.fib import held
from ailb_gen.routing.policy import Lists, matches
from ailb_gen.routing.rib import Routing
from ailb_gen.routing.route import BGP, Route
from ailb_gen.routing.solve import EMPTY, LocRib
from ailb_gen.routing.speaker import direct, direct_prefixes, exported, lists_of, originated, rules

# The position under which the totals of all sessions are counted.
WHOLE = -1


class CountedRouting(Routing):
    """The routes of every prefix, with the counts that `show bgp summary` prints."""

    def __init__(self, network: Network) -> None:
        super().__init__(network)
        self._by_class: dict[int, Counter[tuple[int, int]]] = {}
        self._by_device: dict[str, Counter[tuple[int, int]]] = {}

    def counts(self, name: str) -> dict[str, PrefixCounts]:
        """Count a device's prefixes by the interface of their session; one without prefixes is missing."""
        total = self._total(name)
        return {
            entry.interface: PrefixCounts(*(total[at, field] for field in range(len(PrefixCounts._fields))))
            for at, entry in enumerate(self.graph.adjacencies[self.graph.index[name]])
            if total[at, 1]
        }

    def totals(self, name: str) -> RouteTotals:
        """Count the routes that a device learned by BGP."""
        total = self._total(name)
        return RouteTotals(*(total[WHOLE, field] for field in range(len(RouteTotals._fields))))

    def _total(self, name: str) -> Counter[tuple[int, int]]:
        if name not in self._by_device:
            self._by_device[name] = self._counts(name)
        return self._by_device[name]

    def _counts(self, name: str) -> Counter[tuple[int, int]]:
        device = self.graph.index[name]
        number = self.graph.class_of[device]
        if number not in self._by_class:
            self._by_class[number] = self._class_counts(number)
        total = Counter(self._by_class[number])
        # Its class holds the same, but for the prefixes for which the device stands alone.
        for prefix in self.prefixes:
            state = self.state(prefix)
            if device in state.singles:
                total.subtract(_counted(state.nodes.get(number, EMPTY)))
                total.update(_counted(held(self.graph, state, device)))
        return total

    def _class_counts(self, number: int) -> Counter[tuple[int, int]]:
        total: Counter[tuple[int, int]] = Counter()
        for prefix in self.prefixes:
            total.update(_counted(self.state(prefix).nodes.get(number, EMPTY)))
        return total


def _counted(rib: LocRib) -> Iterator[tuple[int, int]]:
    """Yield (position, field of PrefixCounts) for every path; as on Junos, every path of a multipath is active.

    The fields of RouteTotals have the position WHOLE.
    """
    for position in rib.selection.best:
        yield position, 0
    if rib.selection.best:
        yield WHOLE, 0
    if rib.candidates and not rib.local:
        yield WHOLE, 1
    for candidate in rib.candidates:
        for position in candidate.positions:
            yield position, 1
            yield WHOLE, 3
            yield (WHOLE if candidate.hidden else position), 2


def own_routes(switch: Switch, group: int) -> dict[Prefix, Route]:
    """Return the direct routes that a switch sends over the sessions of a group; its own AS is not in the path yet.

    A prefix of `fabric-advertise` needs no export policy; Junos ignores it for a prefix that the switch does not have.
    """
    rule, lists = rules(switch, switch.groups[group]), lists_of(switch)
    advertised = {route.prefix: route for route in switch.routes}
    found = {}
    for prefix in direct_prefixes(switch):
        own = advertised.get(prefix)
        route = originated(switch, own, rule) if own is not None else None
        route = route or exported(rule, lists, prefix, direct())
        if route is not None:
            found[prefix] = route
    return found


def transit_routes(routing: CountedRouting, name: str, group: int, prefixes: Iterable[Prefix]) -> dict[Prefix, Route]:
    """Return the routes of others, of some prefixes, that a device sends over the sessions of a group."""
    device = routing.graph.index.get(name)
    if device is None:
        return {}
    groups = routing.graph.classes[routing.graph.class_of[device]].groups
    if group not in groups:
        return {}
    at = groups.index(group)
    sent = {prefix: routing.held(device, prefix).sent for prefix in prefixes}
    return {prefix: route for prefix, row in sent.items() if row and (route := row[at]) is not None}


def never_exported(chain: tuple[Policy, ...], lists: Lists, prefix: Prefix) -> bool:
    """Return whether an export chain rejects a prefix learned by BGP with any attributes.

    False where that depends on communities, or on a condition that is not evaluated.
    """
    plain = Route(protocol=BGP)
    for policy in chain:
        for term in policy.terms:
            if term.communities:
                return False
            if not matches(term, lists, prefix, plain):
                continue
            if term.verdict in ("accept", "reject"):
                return term.verdict == "reject"
            if term.verdict == "next-policy":
                break
    return False
