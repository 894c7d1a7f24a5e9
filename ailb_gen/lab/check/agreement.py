"""Compare a lab with this program's own model of the same files: sessions, paths, next hops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ailb_gen.addresses import Prefix
from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import Deviation, deviations, summary
from ailb_gen.checks.families.lab import AGREE_HOPS, AGREE_RIB, AGREE_SESSIONS
from ailb_gen.checks.model import Check, Findings
from ailb_gen.lab.check.observed import HIDDEN, INACTIVE, Hops, Observed
from ailb_gen.lab.plan import port_of
from ailb_gen.network.fabric import End
from ailb_gen.network.sessions import Side
from ailb_gen.routing.fib import fib_entry, members_of
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Path, Routing
from ailb_gen.routing.route import Route
from ailb_gen.routing.solve import State
from ailb_gen.wording import some

# What is compared of a path that is hidden: policies may have changed the rest before one rejected it.
Compared = tuple[str, str, Route]


def computed_hops(graph: Graph, states: Mapping[Prefix, State]) -> Hops:
    """Return the next hops that this program computes, of every switch that has a BGP route to the prefix."""
    hops: dict[str, dict[Prefix, frozenset[str]]] = {name: {} for name in graph.names}
    ports: dict[tuple[int, tuple[int, ...]], frozenset[str]] = {}
    for prefix, state in states.items():
        for node in state.nodes:
            entry = fib_entry(graph, state, node)
            for device in members_of(graph, state, node) if entry else ():
                if (device, entry) not in ports:
                    adjacencies = graph.adjacencies[device]
                    ports[device, entry] = frozenset(port_of(adjacencies[at].interface) for at in entry)
                hops[graph.names[device]][prefix] = ports[device, entry]
    return hops


def check_agreement(routing: Routing, observed: Observed, down: frozenset[End], findings: Findings) -> None:
    """Add where the lab and this program differ, with the links of some ends down."""
    _sessions(routing.graph, observed, down, findings)
    _paths(routing, observed, findings)
    check_same_hops(computed_hops(routing.graph, routing.states), observed.hops, AGREE_HOPS, "", findings)


def check_same_hops(computed: Hops, observed: Hops, check: Check, failure: str, findings: Findings) -> None:
    """Add, by switch, where next hops differ; `failure` begins the message, empty for none."""
    for device, hops in observed.items():
        own = computed.get(device, {})
        findings.look(check, len(own))
        wrong = [
            f"the next hops of {one.subject} are {some(sorted(one.observed or ()))} in the lab, "
            f"{some(sorted(one.expected or ()))} in this program"
            for one in (deviations(own, hops) if own != hops else ())
        ]
        if wrong:
            findings.add(check, device, f"{failure}{summary(wrong)}")


def _sessions(graph: Graph, observed: Observed, down: frozenset[End], findings: Findings) -> None:
    pairs = [
        pair
        for session in graph.sessions.up
        if down.isdisjoint((session.cable.a, session.cable.b))
        for pair in ((session.a, session.b), (session.b, session.a))
    ]
    computed = {_end(own): (own.asn, peer.asn) for own, peer in pairs}
    peers = {_end(own): _end(peer) for own, peer in pairs}
    up = {end: (one.local_as, one.neighbor_as) for end, one in observed.sessions.items() if one.established}
    findings.look(AGREE_SESSIONS, len(computed))
    for one in deviations(computed, up):
        end, peer = one.subject, peers.get(one.subject)
        if end.device in observed.devices:
            message = f"the session is {_numbers(one.observed)} in the lab, {_numbers(one.expected)} in this program"
            involves = (peer.device, about.end(peer)) if peer is not None else ()
            findings.add(AGREE_SESSIONS, end.device, message, involves=involves, part=end.port)


def sessions_missing(routing: Routing, observed: Observed) -> frozenset[End]:
    """Return both ends of the links with a session that this program computes, and that one end lacks in the lab."""
    up = {end for end, one in observed.sessions.items() if one.established}
    pairs = ((one.cable.a, one.cable.b) for one in routing.graph.sessions.up)
    return frozenset(end for pair in pairs if any(one not in up for one in pair) for end in pair)


def _end(side: Side) -> End:
    return End(side.device, port_of(side.interface))


def _numbers(numbers: tuple[int | None, int | None] | None) -> str:
    return f"up between AS {numbers[0]} and {numbers[1]}" if numbers is not None else "down"


def _paths(routing: Routing, observed: Observed, findings: Findings) -> None:
    index = routing.graph.index
    for device, rib in observed.ribs.items():
        prefixes = observed.examined if device in index else ()
        computed = {
            prefix: Counter(_compared(path) for path in routing.paths(index[device], prefix) if path.interface)
            for prefix in prefixes
        }
        have = {prefix: Counter(map(_compared, rib.get(prefix, ()))) for prefix in prefixes}
        findings.look(AGREE_RIB, sum(paths.total() for paths in computed.values()))
        if wrong := [_difference(one) for one in deviations(computed, have)]:
            findings.add(AGREE_RIB, device, summary(wrong))


def _compared(path: Path) -> Compared:
    status, route = INACTIVE if path.status == "multipath" else path.status, path.route
    if status == HIDDEN:
        return (port_of(path.interface), status, Route(route.as_path))
    return (port_of(path.interface), status, route)


def _difference(one: Deviation[Prefix, Counter[Compared], Counter[Compared]]) -> str:
    """Write the first path that only one of the two has, each beside the other's of the same port if there is one."""
    mine, theirs = one.expected or Counter(), one.observed or Counter()
    lab, own = sorted((theirs - mine).elements(), key=str), sorted((mine - theirs).elements(), key=str)
    if not lab:
        return f"{one.subject}: the lab has no path {_text(own[0])}"
    counterpart = next((path for path in own if path[0] == lab[0][0]), None)
    text = _text(counterpart) if counterpart is not None else "no such path"
    return f"{one.subject}: the lab has {_text(lab[0])}, this program {text}"


def _text(path: Compared) -> str:
    port, status, route = path
    text = f"{status} by {port}, AS path {' '.join(map(str, route.as_path))}"
    if status != HIDDEN:
        text += f", {' '.join(sorted(route.communities)) or 'no communities'}"
        text += f", AIGP {route.aigp}, preference {route.local_preference}, MED {route.med}"
    return f"({text})"
