"""Golden fabrics for tests of forwarding, read and computed once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from ailb_gen.addresses import Prefix, address_value
from ailb_gen.network.fabric import Network
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from tests.checks.trees import GOLDEN, network_of, rendered

if TYPE_CHECKING:
    from ailb_gen.forwarding.loads import Volumes

LAB_LEAVES = ("stripe1-leaf1", "stripe1-leaf2", "stripe2-leaf1", "stripe2-leaf2")


def address(text: str) -> int:
    found = address_value(text)
    assert found is not None
    return found


@cache
def network(name: str) -> Network:
    return network_of(GOLDEN / name)


@cache
def generated(text: str) -> Network:
    """The network of a fabric file given as text."""
    with TemporaryDirectory() as folder:
        return network_of(rendered(text, Path(folder))[1])


@cache
def routing(name: str, *failed: str) -> Routing:
    """The routes of an example; `failed` are links as `LEAF SPINE`."""
    graph = Graph(network(name))
    pairs = [f"{session.a.device} {session.b.device}" for session in graph.sessions.up]
    return Routing(graph.network, frozenset(pairs.index(pair) for pair in failed), graph)


def advertised(found: Routing) -> dict[int, tuple[Prefix, ...]]:
    """The prefixes of every leaf that advertises some; one that two leaves have is the first one's."""
    taken: set[Prefix] = set()
    rows = {}
    for device, row in enumerate(found.graph.advertised):
        rows[device] = tuple(prefix for prefix in row if prefix not in taken)
        taken.update(row)
    return {device: row for device, row in rows.items() if row}


def all_pairs(found: Routing) -> Volumes:
    """A matrix in which every leaf sends 1 to every other one."""
    leaves = list(advertised(found))
    matrix: Volumes = np.zeros((len(found.graph.names), len(found.graph.names)))
    matrix[np.ix_(leaves, leaves)] = 1.0
    np.fill_diagonal(matrix, 0.0)
    return matrix


def by_name(found: Routing, load: Volumes) -> dict[str, float]:
    """The load of every link in each direction, as `FROM TO`."""
    rows = {}
    for number, session in enumerate(found.graph.sessions.up):
        rows[f"{session.a.device} {session.b.device}"] = round(float(load[2 * number]), 9)
        rows[f"{session.b.device} {session.a.device}"] = round(float(load[2 * number + 1]), 9)
    return rows
