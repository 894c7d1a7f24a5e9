"""Loads of links by name, for pictures: a collective, steady or with something down."""

from __future__ import annotations

import numpy as np

from ailb_gen.addresses import Prefix
from ailb_gen.forwarding.alike import loads_alike
from ailb_gen.forwarding.loads import Links, Volumes
from ailb_gen.forwarding.patterns import PATTERNS, rails_and_rates
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing

# From the first end of a link to its second, and back.
LinkLoads = dict[str, tuple[float, float]]


def by_link(graph: Graph, load: Volumes) -> LinkLoads:
    """Return a load per direction by the names of links."""
    pairs = load.reshape(-1, 2).tolist()
    return {graph.link_name(number): (out, back) for number, (out, back) in enumerate(pairs)}


def advertised(routing: Routing) -> dict[int, tuple[Prefix, ...]]:
    """Return the prefixes that every device advertises into the fabric; one that several have is the first one's."""
    taken: set[Prefix] = set()
    found = {}
    for device, row in enumerate(routing.graph.advertised):
        found[device] = tuple(prefix for prefix in sorted(row) if prefix not in taken)
        taken.update(row)
    return {device: row for device, row in found.items() if row}


def loads_of(
    routing: Routing, pattern: str, failed: frozenset[int] = frozenset(), dead: frozenset[int] = frozenset()
) -> LinkLoads:
    """Return what a pattern (a key of PATTERNS) puts on every link, as a multiple of the highest without failures.

    Servers send from the leaves they are cabled to, with a queue pair per advertised prefix. `failed` are sessions
    (indices), `dead` devices. Links that carry no session have no load and no entry.
    """
    graph, links, destinations = routing.graph, Links(routing), advertised(routing)
    rows, speeds = rails_and_rates(graph.network, graph.index)
    matrix = PATTERNS[pattern](rows, len(graph.names), speeds)
    before, _ = loads_alike(routing, links, destinations, matrix)
    highest = float(before.max(initial=0.0)) or 1.0
    if not failed and not dead:
        return by_link(graph, before / highest)
    gone = np.array(sorted(dead), dtype=np.int64)
    matrix[gone], matrix[:, gone] = 0.0, 0.0
    after = Routing(graph.network, graph=graph.without(failed | graph.sessions_of(dead)))
    load, _ = loads_alike(after, Links(after), destinations, matrix)
    return by_link(graph, load / highest)
