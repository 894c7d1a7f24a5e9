"""Traffic matrices of collectives between the leaves, from where the servers' NICs are cabled."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping

import numpy as np

from ailb_gen.forwarding.loads import Volumes
from ailb_gen.network.fabric import Network

MOST_DIGITS = 1000
PARTS = re.compile(r"[0-9]+|[^0-9]")

Rails = list[list[int]]


def rails(network: Network, index: Mapping[str, int]) -> Rails:
    """Return, for every rail, the leaf of every server's NIC, servers in the order of their first leaf and name.

    The n-th cabled NIC of each server in the order of its names is on the n-th rail. `index` are the switches that
    are known; a NIC on another one takes no part.
    """
    nics: dict[str, list[str]] = defaultdict(list)
    for server, nic in network.attachments:
        nics[server].append(nic)
    leaves: dict[str, dict[int, int]] = {}
    for server, names in nics.items():
        ends = [network.attachments[server, nic].device for nic in sorted(names, key=natural)]
        leaves[server] = {rail: index[device] for rail, device in enumerate(ends) if device in index}
    servers = sorted(filter(leaves.get, leaves), key=lambda name: (min(leaves[name].values()), natural(name)))
    width = max((rail + 1 for row in leaves.values() for rail in row), default=0)
    return [[leaves[name][rail] for name in servers if rail in leaves[name]] for rail in range(width)]


def natural(text: str) -> tuple[tuple[int, int | str], ...]:
    """Order numbers within names by value: gpu2 before gpu10."""
    # Numbers of any length are text of a file; behind so many digits no name differs.
    return tuple(
        (0, int(part[:MOST_DIGITS])) if part.isascii() and part.isdigit() else (1, part)
        for part in (*PARTS.findall(text), "")
    )


def all_to_all(rows: Rails, devices: int) -> Volumes:
    """Send from every NIC to every NIC of another leaf, one unit each."""
    count = np.zeros(devices)
    for row in rows:
        np.add.at(count, list(row), 1.0)
    matrix = np.outer(count, count)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def ring(rows: Rails, devices: int) -> Volumes:
    """Send along every rail from each server to the next one: a ring all-reduce."""
    return shifted(rows, devices, 1)


def permutation(rows: Rails, devices: int) -> Volumes:
    """Send along the rails half way round: where there are two stripes no leaf can keep that to itself."""
    return shifted(rows, devices, max((len(row) for row in rows), default=0) // 2)


def shifted(rows: Rails, devices: int, by: int) -> Volumes:
    """Send one unit from the n-th server of every rail to the (n + by)-th."""
    matrix = np.zeros((devices, devices))
    for row in rows:
        for at, leaf in enumerate(row):
            matrix[leaf, row[(at + by) % len(row)]] += 1.0
    np.fill_diagonal(matrix, 0.0)
    return matrix


# By the names that users give them.
PATTERNS: dict[str, Callable[[Rails, int], Volumes]] = {
    "all-to-all": all_to_all,
    "ring": ring,
    "permutation": permutation,
}
