"""Loads of the same traffic hashed over equal paths (ECMP): a Monte Carlo run for comparison."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ailb_gen.forwarding.loads import Indices, Links, Volumes

# Draws are cut down where flows times links would take longer than the rest of the validation.
DRAWS = 50
# Flows times links; where a single draw takes more, sums of flows are drawn (see `_Sums`).
WORK = 4_000_000
# Flows times links that are hashed at once: some megabytes.
BATCH = 1_000_000
EXACT = 1e-9
Down = defaultdict[int, Volumes]


@dataclass(frozen=True, slots=True)
class Hashed:
    """The mean over all draws of the most loaded link's load over the mean load, per tier, and how often it was 1."""

    up: float
    down: float
    perfect: int
    draws: int


def monte_carlo(
    links: Links, matrix: Volumes, pairs_per_flow: int, seed: int, volumes: Volumes | None = None
) -> Hashed | None:
    """Hash every queue pair of every flow over all uplinks of its leaf; None when nothing crosses a spine.

    `matrix` are numbers of flows between devices, `volumes` what they carry together (default: one unit each),
    `pairs_per_flow` the queue pairs of each. The spine's link down is the one to the destination; of several to the
    same leaf each takes its share.
    """
    graph = links.graph
    sources = [device for device in range(len(graph.names)) if matrix[device].any() and graph.adjacencies[device]]
    if not sources:
        return None
    random = np.random.default_rng(seed)
    width = max(len(graph.adjacencies[device]) for device in sources)
    flows = int((matrix > 0).sum())
    draws = max(1, min(DRAWS, WORK // (flows * width)))
    carried = matrix if volumes is None else volumes
    made = (_Batch(links, row, matrix, pairs_per_flow, carried) for row in _batches(links, sources, matrix))
    batches: Iterable[_Batch | _Sums] = list(made) if flows * width <= WORK else _sums(links, made)
    ups, downs, perfect = [], [], 0
    for _ in range(draws):
        load = np.zeros(links.count)
        # By spine: what it sends to every destination.
        down: Down = defaultdict(lambda: np.zeros(len(graph.names)))
        for batch in batches:
            batch.hash(random, load, down)
        for spine, row in down.items():
            peers, shares = links.peers[spine]
            load[links.of[spine]] += row[peers] * shares
        up, into = _ratio(load[0::2]), _ratio(load[1::2])
        ups.append(up)
        downs.append(into)
        perfect += up < 1 + EXACT and into < 1 + EXACT
    return Hashed(float(np.mean(ups)), float(np.mean(downs)), perfect, draws)


def _ratio(load: Volumes) -> float:
    mean = float(load.mean())
    return float(load.max()) / mean if mean else 1.0


def _batches(links: Links, sources: Iterable[int], matrix: Volumes) -> Iterator[list[int]]:
    """Cut sources into runs with the same peers, and of no more flows times uplinks than BATCH if possible."""
    batch: list[int] = []
    work = 0
    for device in sources:
        peers = links.peers[device][0]
        size = int((matrix[device] > 0).sum()) * len(peers)
        if batch and (work + size > BATCH or not np.array_equal(peers, links.peers[batch[0]][0])):
            yield batch
            batch, work = [], 0
        batch.append(device)
        work += size
    yield batch


def _sums(links: Links, batches: Iterable[_Batch]) -> Iterator[_Sums]:
    """Add the flows of batches up by what decides how they are drawn: the peers, and what a queue pair carries."""
    found: dict[tuple[bytes, float], _Sums] = {}
    for batch in batches:
        for each in (1.0,) if batch.each is None else sorted(set(batch.each.tolist())):
            key = batch.peers.tobytes(), each
            if key not in found:
                found[key] = _Sums(batch, each, len(links.graph.names))
            found[key].add(batch)
    yield from found.values()


class _Sums:
    """The flows of sources with the same peers, whose queue pairs carry the same: hashed as sums, up and down apart.

    Queue pairs choose their uplinks independently and with the same chances, so what one source sends up is one
    multinomial draw, and what comes down to one destination is another. The two are drawn independently here: the
    mean of the highest load of a tier does not depend on the other tier.
    """

    def __init__(self, batch: _Batch, each: float, devices: int) -> None:
        self.each, self.spines, self.chances = each, batch.spines, batch.chances
        self.uplinks: list[Indices] = []
        self.sent: list[Indices] = []
        self.arriving = np.zeros(devices, dtype=np.int64)

    def add(self, batch: _Batch) -> None:
        """Add the flows of a batch whose queue pairs carry what those here do."""
        counts = batch.counts if batch.each is None else np.where(batch.each == self.each, batch.counts, 0)
        self.uplinks.append(batch.uplinks)
        self.sent.append(np.add.reduceat(counts, batch.first))
        np.add.at(self.arriving, batch.targets, counts)

    def hash(self, random: np.random.Generator, load: Volumes, down: Down) -> None:
        """Draw how many queue pairs take every uplink, and every spine's way down; add what they carry."""
        hashed = random.multinomial(np.concatenate(self.sent), self.chances)
        load[np.concatenate(self.uplinks)] += hashed * self.each
        chances = np.array([len(columns) for _, columns in self.spines]) / len(self.chances)
        arrived = random.multinomial(self.arriving, chances)
        for (spine, _), column in zip(self.spines, arrived.T, strict=True):
            down[spine] += column * self.each


class _Batch:
    """The flows of sources with the same peers, hashed at once: a row for each flow."""

    def __init__(self, links: Links, sources: list[int], matrix: Volumes, pairs: int, volumes: Volumes) -> None:
        rows, targets = np.nonzero(matrix[sources])
        self.each = None if volumes is matrix else (volumes[sources] / np.maximum(matrix[sources], 1))[rows, targets]
        self.counts = (matrix[sources][rows, targets] * pairs).astype(np.int64)
        self.targets = targets
        self.first = np.searchsorted(rows, np.arange(len(sources)))
        self.uplinks = np.stack([links.of[device] for device in sources])
        self.peers = peers = links.peers[sources[0]][0]
        # By spine: its columns among the uplinks, several where cables are parallel.
        self.spines = [(spine, np.flatnonzero(peers == spine)) for spine in sorted(set(peers.tolist()))]
        self.chances = np.full(len(peers), 1.0 / len(peers))

    def hash(self, random: np.random.Generator, load: Volumes, down: Down) -> None:
        """Draw the uplink of every queue pair; add what goes up to `load`, what comes down to `down`."""
        hashed = random.multinomial(self.counts, self.chances)
        drawn = hashed if self.each is None else hashed * self.each[:, None]
        load[self.uplinks] += np.add.reduceat(drawn, self.first, axis=0)
        for spine, columns in self.spines:
            targets = np.repeat(self.targets, len(columns))
            row = down[spine]
            row += np.bincount(targets, drawn[:, columns].ravel(), len(row))
