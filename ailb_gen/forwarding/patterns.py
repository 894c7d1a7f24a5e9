"""Traffic matrices of collectives between the leaves, from where the servers' NICs are cabled."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ailb_gen.forwarding.loads import Volumes
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.rails import cabled_nics, natural, rails_of, without_gpus

# By rail and server: the leaf, and the rate as a multiple of the lowest one in the fabric.
Rails = list[list[int]]
Rates = list[list[float]]
LINE_RATE: Rates = []


def rails_and_rates(network: Network, index: Mapping[str, int]) -> tuple[Rails, Rates]:
    """Return, for every rail, the leaf and the rate of every GPU server's NIC; servers by their first leaf and name.

    `index` are the switches that are known; a NIC on another one takes no part. A rate is the speed of the NIC over
    that of the slowest one; 1 where a speed is not known.
    """
    ends = _ends(network, index)
    speeds = [[network.attachment_bps.get(end) for end in row] for row in ends]
    lowest = min((speed for row in speeds for speed in row if speed), default=1)
    rates = [[(speed or lowest) / lowest for speed in row] for row in speeds]
    return [[index[end.device] for end in row] for row in ends], rates


def _ends(network: Network, index: Mapping[str, int]) -> list[list[End]]:
    others = without_gpus(network)
    found: dict[str, dict[int, End]] = {}
    for server, names in cabled_nics(network).items():
        if server not in others:
            on = ((rail, network.attachments[server, nic]) for nic, rail in rails_of(network, server, names).items())
            found[server] = {rail: end for rail, end in on if end.device in index}

    def first(server: str) -> tuple[int, object]:
        return min(index[end.device] for end in found[server].values()), natural(server)

    servers = sorted(filter(found.get, found), key=first)
    width = max((rail + 1 for row in found.values() for rail in row), default=0)
    return [[found[name][rail] for name in servers if rail in found[name]] for rail in range(width)]


def all_to_all(rows: Rails, devices: int, speeds: Rates = LINE_RATE) -> Volumes:
    """Send from every NIC to every NIC of another leaf, one unit each; at most as much as the slower of both takes."""
    leaves = np.array([leaf for row in rows for leaf in row], dtype=np.int64)
    own = np.array([speed for row in speeds for speed in row]) if speeds else np.ones(len(leaves))
    matrix, below = np.zeros((devices, devices)), 0.0
    # `np.unique` imports what nothing else here needs.
    for speed in sorted(set(own.tolist())):
        count = np.bincount(leaves[own >= speed], minlength=devices).astype(float)
        # Row by row: whole, each of the products would be as large as the matrix.
        for leaf in np.flatnonzero(count):
            matrix[leaf] += (speed - below) * (count[leaf] * count)
        below = speed
    np.fill_diagonal(matrix, 0.0)
    return matrix


def ring(rows: Rails, devices: int, speeds: Rates = LINE_RATE) -> Volumes:
    """Send along every rail from each server to the next one: a ring all-reduce."""
    return shifted(rows, devices, 1, speeds)


def permutation(rows: Rails, devices: int, speeds: Rates = LINE_RATE) -> Volumes:
    """Send along the rails half way round: where there are two stripes no leaf can keep that to itself."""
    return shifted(rows, devices, max((len(row) for row in rows), default=0) // 2, speeds)


def shifted(rows: Rails, devices: int, by: int, speeds: Rates = LINE_RATE) -> Volumes:
    """Send one unit from the n-th server of every rail to the (n + by)-th; at most as much as the slower one takes."""
    matrix = np.zeros((devices, devices))
    for row, own in zip(rows, speeds or [[1.0] * len(row) for row in rows], strict=True):
        for at, leaf in enumerate(row):
            to = (at + by) % len(row)
            matrix[leaf, row[to]] += min(own[at], own[to])
    np.fill_diagonal(matrix, 0.0)
    return matrix


# By the names that users give them.
PATTERNS: dict[str, Callable[[Rails, int, Rates], Volumes]] = {
    "all-to-all": all_to_all,
    "ring": ring,
    "permutation": permutation,
}
