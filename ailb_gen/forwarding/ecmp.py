"""What hashing flows over equal paths (ECMP) makes of the same traffic: a Monte-Carlo run to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ailb_gen.forwarding.loads import Links, Volumes

# Draws are cut down where flows times links would take longer than the rest of the validation.
DRAWS = 50
WORK = 4_000_000
EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class Hashed:
    """The mean over all draws of the most loaded link's load over the mean load, per tier, and how often it was 1."""

    up: float
    down: float
    perfect: int
    draws: int


def monte_carlo(links: Links, matrix: Volumes, pairs_per_flow: int, seed: int) -> Hashed | None:
    """Hash every queue pair of every flow over all uplinks of its leaf; None when nothing crosses a spine.

    `matrix` are numbers of flows between devices, `pairs_per_flow` the queue pairs of each. The spine's link down is
    the one to the destination; of several to the same leaf each takes its share.
    """
    graph = links.graph
    sources = [device for device in range(len(graph.names)) if matrix[device].any() and graph.adjacencies[device]]
    if not sources:
        return None
    random = np.random.default_rng(seed)
    width = max(len(graph.adjacencies[device]) for device in sources)
    flows = int((matrix > 0).sum())
    draws = max(1, min(DRAWS, WORK // (flows * width)))
    ups, downs, perfect = [], [], 0
    for _ in range(draws):
        load = np.zeros(links.count)
        down = np.zeros((len(graph.names), len(graph.names)))
        for device in sources:
            _hash(links, device, matrix[device], pairs_per_flow, random, load, down)
        for spine in np.flatnonzero(down.any(axis=1)):
            peers, shares = links.peers[spine]
            load[links.of[spine]] += down[spine, peers] * shares
        up, into = _ratio(load[0::2]), _ratio(load[1::2])
        ups.append(up)
        downs.append(into)
        perfect += up < 1 + EXACT and into < 1 + EXACT
    return Hashed(float(np.mean(ups)), float(np.mean(downs)), perfect, draws)


def _ratio(load: Volumes) -> float:
    mean = float(load.mean())
    return float(load.max()) / mean if mean else 1.0


def _hash(
    links: Links,
    device: int,
    row: Volumes,
    pairs: int,
    random: np.random.Generator,
    load: Volumes,
    down: Volumes,
) -> None:
    """Hash the flows of one source: queue pairs per destination and uplink; `down` is by spine and destination."""
    ways = links.peers[device][0]
    targets = np.flatnonzero(row)
    counts = (row[targets] * pairs).astype(np.int64)
    drawn = random.multinomial(counts, np.full(len(ways), 1.0 / len(ways)))
    np.add.at(load, links.of[device], drawn.sum(axis=0))
    np.add.at(down, (ways[:, None], targets[None, :]), drawn.T)
