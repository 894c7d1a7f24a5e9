"""Single spines and links down in the shadow: forks of it, compared with our own engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from ipaddress import IPv4Network
from typing import TypeVar

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.hops import ExpectedRoutes, Hops, batfish_hops, own_hops
from ailb_gen.batfish.model import Answer, Batfish, Row
from ailb_gen.batfish.numbering import PREFIX_LENGTH, PREFIXES
from ailb_gen.batfish.places import UPDATE, address_of, interface, shadow_nodes
from ailb_gen.batfish.routes import SNAPSHOT, disagreements, first_of
from ailb_gen.batfish.sample import Sample, link_sample, sizes, spine_sample
from ailb_gen.batfish.shadow import Shadow
from ailb_gen.checks.families.batfish import AGREE_LINK, AGREE_SPINE, LINK_REACH, SPINE_REACH
from ailb_gen.checks.model import Findings
from ailb_gen.errors import BatfishError, Place
from ailb_gen.layout import CABLING
from ailb_gen.network.fabric import Cable
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import plural

T = TypeVar("T")
U = TypeVar("U")
# Packets of servers enter at the IRBs of the leaves.
START = "@enter(/.*/[/irb/])"


def failure_samples(
    routing: Routing, intent: ExpectedRoutes, seed: int, most: int | None = None
) -> tuple[tuple[str, ...], Sample, Sample]:
    """Return the spines that are there, which of them fail, and which links; `most` as `sizes` has it."""
    graph = routing.graph
    spines = tuple(name for name in intent.spines() if name in graph.network.switches)
    of_spines, of_links = sizes(graph, len(intent.owners), len(spines), most)
    return spines, spine_sample(graph, spines, of_spines, seed), link_sample(graph, of_links, seed)


def judge_spines(
    batfish: Batfish,
    shadow: Shadow,
    intent: ExpectedRoutes,
    routing: Routing,
    spines: Iterable[str],
    findings: Findings,
    advance: Callable[[], None],
) -> None:
    """Take spines down, one after the other, and add what is lost or disagreed on. Raises BatfishError."""
    graph, network = routing.graph, routing.graph.network
    there = network.switches.keys() - shadow.narrowed

    def begin(number: int, spine: str) -> tuple[Answer, Answer]:
        fork = f"spine-{number}"
        batfish.fork(SNAPSHOT, fork, nodes=[spine.lower()])
        routes = batfish.ask("routes", fork, protocols="bgp")
        reach = batfish.ask("differentialReachability", fork, SNAPSHOT, dst_ips=str(PREFIXES), start=START)
        return routes, reach

    for spine, (routes, reach) in _ahead(spines, begin):
        rows = routes()
        if any(str(row["Node"]) == spine.lower() for row in rows):
            raise _ignored(batfish, spine, "still computes routes for it")
        theirs = batfish_hops(network, shadow.numbering, rows)
        ours = own_hops(graph, routing.after(dead=frozenset({graph.index[spine]})))
        disagreements(network, theirs, ours, AGREE_SPINE, _fails(spine), findings, shadow.narrowed)
        lost = _without_route(intent, theirs, network.switches) + _changed(shadow, intent, reach())
        cut = [pair for pair in dict.fromkeys(lost) if intent.reachable(*pair, spine=spine)]
        findings.look(SPINE_REACH)
        for message in (*_lost(cut), *_narrow(intent.widths(spine=spine), theirs, there)):
            findings.add(SPINE_REACH, spine, f"{_fails(spine)}{message}")
        advance()


def judge_links(
    batfish: Batfish,
    shadow: Shadow,
    intent: ExpectedRoutes,
    routing: Routing,
    links: Iterable[int],
    findings: Findings,
    advance: Callable[[], None],
) -> None:
    """Take the links of sessions down, one after the other, and add what is lost or disagreed on.

    Raises BatfishError.
    """
    graph, network = routing.graph, routing.graph.network
    there = network.switches.keys() - shadow.narrowed

    def begin(number: int, cable: Cable) -> tuple[Answer, Answer]:
        fork = f"link-{number}"
        batfish.fork(SNAPSHOT, fork, interfaces=[(end.device.lower(), end.port) for end in (cable.a, cable.b)])
        state = batfish.ask("interfaceProperties", fork, properties="Active")
        return state, batfish.ask("routes", fork, protocols="bgp")

    for cable, (state, routes) in _ahead([graph.sessions.up[at].cable for at in links], begin):
        gone = frozenset({cable.a, cable.b})
        _check_down(batfish, cable, state())
        theirs = batfish_hops(network, shadow.numbering, routes())
        # What shares a port with the cable, by mistake of the table, goes down with it.
        down = frozenset(
            other for other, up in enumerate(graph.sessions.up) if not {up.cable.a, up.cable.b}.isdisjoint(gone)
        )
        ours = own_hops(graph, routing.after(down))
        name = f"{cable.a} - {cable.b}"
        disagreements(network, theirs, ours, AGREE_LINK, _fails(name), findings, shadow.narrowed)
        lost = _without_route(intent, theirs, network.switches)
        cut = [pair for pair in lost if intent.reachable(*pair, ends=gone)]
        findings.look(LINK_REACH)
        place = Place(CABLING, cable.line or 1)
        for message in (*_lost(cut), *_narrow(intent.widths(ends=gone), theirs, there)):
            findings.add(LINK_REACH, cable.a.device, f"{_fails(name)}{message}", place, part=cable.a.port)
        advance()


def _ahead(failures: Iterable[T], begin: Callable[[int, T], U]) -> Iterator[tuple[T, U]]:
    """Yield every failure with what `begin`, given its number from 1, returns for it.

    The next one is begun before: the service has work while we judge, and never more than two failures of it.
    """
    begun: list[tuple[T, U]] = []
    for number, failure in enumerate(failures, start=1):
        begun.append((failure, begin(number, failure)))
        if len(begun) > 1:
            yield begun.pop(0)
    yield from begun


def _fails(name: str) -> str:
    return f"{name} fails: "


def _check_down(batfish: Batfish, cable: Cable, rows: Sequence[Row]) -> None:
    """Make sure that Batfish took the ports down: names that it does not know it ignores silently."""
    active = {interface(row["Interface"]): row["Active"] for row in rows}
    for end in (cable.a, cable.b):
        if active.get((end.device.lower(), end.port)) is not False:
            raise _ignored(batfish, str(end), "says that it is up")


def _ignored(batfish: Batfish, what: str, instead: str) -> BatfishError:
    return BatfishError(f"Batfish {batfish.version} was asked to take {what} down, and {instead}; {UPDATE}")


def _without_route(intent: ExpectedRoutes, found: Hops, there: Iterable[str]) -> list[tuple[str, Prefix]]:
    """Return the leaves and prefixes between which Batfish has no route."""
    names = set(there)
    return [
        (leaf, prefix)
        for leaf, prefix, _ in intent.pinned()
        if leaf in names and intent.owners[prefix][0] in names and (leaf, prefix) not in found
    ]


def _changed(shadow: Shadow, intent: ExpectedRoutes, rows: Sequence[Row]) -> list[tuple[str, Prefix]]:
    """Return the leaves and prefixes of flows that arrive in one of two snapshots only."""
    names = shadow_nodes(intent.uplinks)
    found = []
    for row in rows:
        network = IPv4Network((address_of(row["Flow.dstIp"]), PREFIX_LENGTH), strict=False)
        prefix = shadow.numbering.meanings.get(network)
        leaf = names.get(str(row["Flow.ingressNode"]))
        owner = intent.owners.get(prefix) if prefix is not None else None
        if prefix is not None and owner is not None and leaf is not None and owner[0] != leaf:
            found.append((leaf, prefix))
    return found


def _lost(lost: list[tuple[str, Prefix]]) -> Iterator[str]:
    if lost:
        yield f"in Batfish {first_of([f'{leaf} loses {prefix}' for leaf, prefix in lost])}"


def _narrow(widths: Iterable[tuple[str, Prefix, int]], found: Hops, there: Collection[str]) -> Iterator[str]:
    """Yield where a switch of those that are there has a route with fewer next hops than it should."""
    few = [
        f"{name} has {count} {plural('next hop', count)} to {prefix}, not {width}"
        for name, prefix, width in widths
        if name in there and 0 < (count := len(found.get((name, prefix), ()))) < width
    ]
    if few:
        yield f"in Batfish {first_of(few)}"
