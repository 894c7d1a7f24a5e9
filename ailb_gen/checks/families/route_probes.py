"""Routes that stand for all routes that a chain of policies can tell apart.

A verdict depends on which filters hold the prefix, on its length, and on protocol and communities. Going through the
address space, what holds a prefix changes only where some filter begins or has ended: a prefix at each of these edges
is as good as all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ailb_gen.addresses import BITS, Prefix
from ailb_gen.network.policy import Policy, Term
from ailb_gen.routing.policy import Lists
from ailb_gen.routing.route import BGP, DIRECT, STATIC, Route

SUBNET = 64
# What a leaf hears from a spine: some path, and the AIGP that the origin put on.
HEARD = Route(as_path=(64512,), aigp=0)


def terms_of(chain: Iterable[Policy]) -> Iterator[Term]:
    """Iterate over the terms of a chain of policies."""
    for policy in chain:
        yield from policy.terms


def prefixes(chain: tuple[Policy, ...], lists: Lists, pools: Iterable[Prefix]) -> tuple[Prefix, ...]:
    """Return prefixes in, around and far from the pools and whatever the policies name, subnets first."""
    edges = {Prefix(0, 0), Prefix(0, SUBNET)}
    for pool in {*pools, *_named(chain, lists)}:
        size = max(pool.length, SUBNET)
        beyond = (pool.value + (1 << BITS - pool.length)) % (1 << BITS)
        edges |= {pool, Prefix(pool.value, size), Prefix(beyond, size), Prefix(pool.value, BITS)}
    return tuple(sorted(edges, key=lambda prefix: (prefix.length != SUBNET, prefix)))


def _named(chain: tuple[Policy, ...], lists: Lists) -> Iterator[Prefix]:
    for term in terms_of(chain):
        yield from (entry.prefix for entry in term.route_filters)
        for name in (*term.prefix_lists, *(name for name, _ in term.prefix_list_filters)):
            found = lists.prefix_lists.get(name)
            yield from found.prefixes if found is not None else ()


def looks_at_communities(chain: tuple[Policy, ...]) -> bool:
    """Return whether it matters to a chain which communities a route has, but for those that it adds."""
    return any(term.communities or any(how != "add" for how, _ in term.changes) for term in terms_of(chain))


def heard(chain: tuple[Policy, ...], colors: tuple[str, ...], marks: Iterable[frozenset[str]]) -> tuple[Route, ...]:
    """Return BGP routes of each color and of none, bare and with each of some sets of communities."""
    needed = colors if looks_at_communities(chain) else colors[:1]
    bare = [frozenset({color}) for color in needed] + [frozenset()]
    return tuple(
        Route(HEARD.as_path, communities | mark, HEARD.aigp) for mark in (frozenset(), *marks) for communities in bare
    )


def local(chain: tuple[Policy, ...]) -> tuple[Route, ...]:
    """Return routes that no peer sent: direct, static, and of every other protocol that the policies name."""
    named = {protocol for term in terms_of(chain) for protocol in term.protocols}
    return tuple(Route(protocol=protocol) for protocol in sorted({*named, DIRECT, STATIC} - {BGP}))
