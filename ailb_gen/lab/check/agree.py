"""Compare a lab with this program's own model of the same files: sessions, paths, next hops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ailb_gen.addresses import Prefix
from ailb_gen.checks import subjects as about
from ailb_gen.checks.families.lab import AGREE_HOPS, AGREE_RIB, AGREE_SESSIONS
from ailb_gen.checks.model import Check, Findings
from ailb_gen.lab.check.measured import HIDDEN, INACTIVE, Hops, Measured, SeenPath
from ailb_gen.lab.check.routes import ports_text, told
from ailb_gen.network.fabric import End
from ailb_gen.network.sessions import Side
from ailb_gen.routing.fib import fib_entry, members_of
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Path, Routing
from ailb_gen.routing.solve import State

# What is compared of a path that is hidden: policies may have changed the rest before one rejected it.
Compared = tuple[str, str, tuple[int, ...], frozenset[str], int | None, int, int | None]
NOTHING: frozenset[str] = frozenset()


def port_of(interface: str) -> str:
    """Return the port of a logical interface."""
    return interface.rpartition(".")[0]


def computed_hops(graph: Graph, states: Mapping[Prefix, State]) -> Hops:
    """Return the next hops that this program computes, of every switch that has a BGP route to the prefix."""
    found: dict[str, dict[Prefix, frozenset[str]]] = {name: {} for name in graph.names}
    ports: dict[tuple[int, tuple[int, ...]], frozenset[str]] = {}
    for prefix, state in states.items():
        for node in state.nodes:
            ways = fib_entry(graph, state, node)
            for device in members_of(graph, state, node) if ways else ():
                if (device, ways) not in ports:
                    row = graph.adjacencies[device]
                    ports[device, ways] = frozenset(port_of(row[at].interface) for at in ways)
                found[graph.names[device]][prefix] = ports[device, ways]
    return found


def judge_agreement(routing: Routing, seen: Measured, down: frozenset[End], findings: Findings) -> None:
    """Add where the lab and this program differ, with the links of some ends down."""
    _sessions(routing.graph, seen, down, findings)
    _paths(routing, seen, findings)
    disagreements(computed_hops(routing.graph, routing.states), seen.hops, AGREE_HOPS, "", findings)


def disagreements(ours: Hops, hops: Hops, check: Check, failure: str, findings: Findings) -> None:
    """Add, by switch, where next hops differ; `failure` begins the message, empty for none."""
    for device in hops:
        mine, theirs = ours.get(device, {}), hops[device]
        findings.look(check, len(mine))
        if mine == theirs:
            continue
        wrong = [
            f"{prefix} goes over {ports_text(theirs.get(prefix, NOTHING))} in the lab, "
            f"over {ports_text(mine.get(prefix, NOTHING))} in this program"
            for prefix in sorted(mine.keys() | theirs.keys())
            if mine.get(prefix, NOTHING) != theirs.get(prefix, NOTHING)
        ]
        findings.add(check, device, f"{failure}{told(wrong)}")


def _sessions(graph: Graph, seen: Measured, down: frozenset[End], findings: Findings) -> None:
    pairs = [
        pair
        for session in graph.sessions.up
        if down.isdisjoint((session.cable.a, session.cable.b))
        for pair in ((session.a, session.b), (session.b, session.a))
    ]
    sides = {_end(side): (side.asn, peer.asn) for side, peer in pairs}
    peers = {_end(side): _end(peer) for side, peer in pairs}
    up = {end: (one.own_asn, one.peer_asn) for end, one in seen.sessions.items() if one.established}
    findings.look(AGREE_SESSIONS, len(sides))
    for end in sorted(sides.keys() | up.keys()):
        if end.device in seen.devices and sides.get(end) != up.get(end):
            message = f"the session is {_numbers(up.get(end))} in the lab, {_numbers(sides.get(end))} in this program"
            peer = peers.get(end)
            involves = (peer.device, about.end(peer)) if peer is not None else ()
            findings.add(AGREE_SESSIONS, end.device, message, involves=involves, part=end.port)


def sessions_missing(routing: Routing, seen: Measured) -> frozenset[End]:
    """Return both ends of the links with a session that this program computes, and that one end lacks in the lab."""
    up = {end for end, one in seen.sessions.items() if one.established}
    pairs = ((one.cable.a, one.cable.b) for one in routing.graph.sessions.up)
    return frozenset(end for pair in pairs if any(one not in up for one in pair) for end in pair)


def _end(side: Side) -> End:
    return End(side.device, port_of(side.interface))


def _numbers(numbers: tuple[int | None, int | None] | None) -> str:
    return f"up between AS {numbers[0]} and {numbers[1]}" if numbers is not None else "down"


def _paths(routing: Routing, seen: Measured, findings: Findings) -> None:
    index = routing.graph.index
    for device, rib in seen.ribs.items():
        wrong = []
        for prefix in seen.examined if device in index else ():
            mine = Counter(_computed(path) for path in routing.paths(index[device], prefix) if path.interface)
            theirs = Counter(_seen(path) for path in rib.get(prefix, ()))
            findings.look(AGREE_RIB, mine.total())
            if mine != theirs:
                wrong.append(f"{prefix}: {_difference(mine, theirs)}")
        if wrong:
            findings.add(AGREE_RIB, device, told(wrong))


def _computed(path: Path) -> Compared:
    status = INACTIVE if path.status == "multipath" else path.status
    route = path.route
    if status == HIDDEN:
        return (port_of(path.interface), status, route.as_path, NOTHING, None, 0, None)
    aigp, preference = route.aigp, route.local_preference
    return (port_of(path.interface), status, route.as_path, route.communities, aigp, preference, route.med)


def _seen(path: SeenPath) -> Compared:
    if path.status == HIDDEN:
        return (path.port, HIDDEN, path.as_path, NOTHING, None, 0, None)
    return (path.port, path.status, path.as_path, path.communities, path.aigp, path.local_preference, path.med)


def _difference(mine: Counter[Compared], theirs: Counter[Compared]) -> str:
    """Write the first path that only one of the two has, each beside the other's of the same port if there is one."""
    lab, own = sorted((theirs - mine).elements(), key=str), sorted((mine - theirs).elements(), key=str)
    first = (lab or own)[0]
    beside = next((path for path in own if path[0] == first[0]), None) if lab else None
    if not lab:
        return f"the lab has no path {_text(first)}"
    return f"the lab has {_text(first)}, this program " + (_text(beside) if beside is not None else "no such path")


def _text(path: Compared) -> str:
    port, status, as_path, communities, aigp, preference, med = path
    text = f"{status} by {port}, AS path {' '.join(map(str, as_path))}"
    if status != HIDDEN:
        text += f", {' '.join(sorted(communities)) or 'no communities'}"
        text += f", AIGP {aigp}, preference {preference}, MED {med}"
    return f"({text})"
