"""Single spines and links down in the shadow: forks of it, compared with this program's own engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.answers import UPDATE, Answer, Batfish, Row, parse_interface, parse_ipv4, shadow_nodes
from ailb_gen.batfish.hops import Hops, batfish_hops, own_hops
from ailb_gen.batfish.numbering import PREFIX_LENGTH, PREFIXES
from ailb_gen.batfish.routes import SNAPSHOT, add_disagreements, first_of
from ailb_gen.batfish.shadow import Shadow
from ailb_gen.checks.expected_routes import ExpectedRoutes
from ailb_gen.checks.families.batfish import AGREE_LINK, AGREE_SPINE, LINK_REACH, SPINE_REACH
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import BatfishError, Place
from ailb_gen.layout import CABLING
from ailb_gen.network.fabric import Cable, End
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import plural

# About routes, and about reachability (of a spine) or interfaces (of a link).
Answers = tuple[Answer, Answer]
# Packets of servers enter at the IRBs of the leaves.
START = "@enter(/.*/[/irb/])"


@dataclass(frozen=True, slots=True)
class ShadowFailure:
    """A spine that goes down, or the two ends of a cable; its checks, and where findings about it belong."""

    name: str
    device: str
    reach: Check
    agree: Check
    spine: str = ""
    ends: tuple[End, ...] = ()
    place: Place | None = None
    part: str = ""


def spine_failure(name: str) -> ShadowFailure:
    """Return the failure of a spine."""
    return ShadowFailure(name, name, SPINE_REACH, AGREE_SPINE, spine=name)


def link_failure(cable: Cable) -> ShadowFailure:
    """Return the failure of a cable."""
    a, b = cable.a, cable.b
    place = Place(CABLING, cable.line or 1)
    return ShadowFailure(f"{a} - {b}", a.device, LINK_REACH, AGREE_LINK, ends=(a, b), place=place, part=a.port)


def check_failures(
    batfish: Batfish,
    shadow: Shadow,
    intent: ExpectedRoutes,
    routing: Routing,
    failures: Iterable[ShadowFailure],
    findings: Findings,
    advance: Callable[[], None],
) -> None:
    """Take spines or links down, one after the other, and add lost prefixes and disagreements. Raises BatfishError."""
    graph, network = routing.graph, routing.graph.network
    whole = network.switches.keys() - shadow.narrowed
    for failure, (routes, rest) in _ahead(batfish, failures):
        rows, other_rows = routes(), rest()
        _check_down(batfish, failure, rows, other_rows)
        hops = batfish_hops(network, shadow.numbering, rows)
        gone = frozenset(failure.ends)
        # A cable that shares a port with the one that fails, by mistake of the table, goes down with it.
        down = frozenset(at for at, up in enumerate(graph.sessions.up) if {up.cable.a, up.cable.b} & gone)
        dead = frozenset({graph.index[failure.spine]} if failure.spine else ())
        own, head = own_hops(graph, routing.after(down, dead)), f"{failure.name} fails: "
        add_disagreements(network, hops, own, failure.agree, head, findings, shadow.narrowed)
        lost = _without_route(intent, hops, network.switches)
        if failure.spine:
            lost += _changed(shadow, intent, other_rows)
        left = intent.without(
            end for ends in intent.ends() for end in ends if end.device == failure.spine or end in gone
        )
        cut = [pair for pair in dict.fromkeys(lost) if left.next_hops(*pair).needed]
        findings.look(failure.reach)
        for message in (*_lost(cut), *_narrow(left, hops, whole - {failure.spine})):
            findings.add(failure.reach, failure.device, f"{head}{message}", failure.place, part=failure.part)
        advance()


def _ahead(batfish: Batfish, failures: Iterable[ShadowFailure]) -> Iterator[tuple[ShadowFailure, Answers]]:
    """Yield every failure with the answers about it.

    The next one is begun before: the service has work while we check, and never more than two failures of it.
    """
    begun: list[tuple[ShadowFailure, Answers]] = []
    for number, failure in enumerate(failures, start=1):
        begun.append((failure, _begin(batfish, number, failure)))
        if len(begun) > 1:
            yield begun.pop(0)
    yield from begun


def _begin(batfish: Batfish, number: int, failure: ShadowFailure) -> Answers:
    """Fork the shadow; return the answers about routes, and about reachability (a spine) or interfaces (a link)."""
    if failure.spine:
        fork = f"spine-{number}"
        batfish.fork(SNAPSHOT, fork, nodes=[failure.spine.lower()])
        routes = batfish.ask("routes", fork, protocols="bgp")
        reach = batfish.ask("differentialReachability", fork, SNAPSHOT, dst_ips=str(PREFIXES), start=START)
        return routes, reach
    fork = f"link-{number}"
    batfish.fork(SNAPSHOT, fork, interfaces=[(end.device.lower(), end.port) for end in failure.ends])
    state = batfish.ask("interfaceProperties", fork, properties="Active")
    return batfish.ask("routes", fork, protocols="bgp"), state


def _check_down(batfish: Batfish, failure: ShadowFailure, routes: Sequence[Row], interfaces: Sequence[Row]) -> None:
    """Make sure that Batfish took the spine or the ports down: names that it does not know it ignores silently."""
    if failure.spine and any(str(row["Node"]) == failure.spine.lower() for row in routes):
        raise _ignored(batfish, failure.spine, "still computes routes for it")
    active = {} if failure.spine else {parse_interface(row["Interface"]): row["Active"] for row in interfaces}
    for end in failure.ends:
        if active.get((end.device.lower(), end.port)) is not False:
            raise _ignored(batfish, str(end), "says that it is up")


def _ignored(batfish: Batfish, part: str, instead: str) -> BatfishError:
    return BatfishError(f"Batfish {batfish.version} was asked to deactivate {part}, and {instead}; {UPDATE}")


def _without_route(intent: ExpectedRoutes, hops: Hops, names: Collection[str]) -> list[tuple[str, Prefix]]:
    """Return the leaves and prefixes between which Batfish has no route."""
    return [
        (leaf, prefix)
        for leaf, prefix in intent.remote_prefixes()
        if leaf in names and intent.owners[prefix][0] in names and (leaf, prefix) not in hops
    ]


def _changed(shadow: Shadow, intent: ExpectedRoutes, rows: Sequence[Row]) -> list[tuple[str, Prefix]]:
    """Return the leaves and prefixes of flows that arrive in one of two snapshots only."""
    names = shadow_nodes(intent.leaves)
    changed = []
    for row in rows:
        network = IPv4Network((parse_ipv4(row["Flow.dstIp"]), PREFIX_LENGTH), strict=False)
        prefix = shadow.numbering.meanings.get(network)
        leaf = names.get(str(row["Flow.ingressNode"]))
        owner = intent.owners.get(prefix) if prefix is not None else None
        if prefix is not None and owner is not None and leaf is not None and owner[0] != leaf:
            changed.append((leaf, prefix))
    return changed


def _lost(lost: list[tuple[str, Prefix]]) -> Iterator[str]:
    if lost:
        yield f"in Batfish {first_of([f'{leaf} loses {prefix}' for leaf, prefix in lost])}"


def _narrow(intent: ExpectedRoutes, hops: Hops, names: Collection[str]) -> Iterator[str]:
    """Yield where a switch with one of some names has a route with fewer next hops than it should."""
    few = [
        f"{name} has {len(ports)} {plural('next hop', len(ports))} to {prefix}, not {fewest}"
        for (name, prefix), ports in sorted(hops.items())
        if name in names
        and intent.owners.get(prefix, (name,))[0] != name
        and len(ports) < (fewest := intent.next_hops(name, prefix).fewest)
    ]
    if few:
        yield f"in Batfish {first_of(few)}"
