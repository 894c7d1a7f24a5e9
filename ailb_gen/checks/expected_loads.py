"""Compute the even share of every link from the intent alone: steady, and when a link or spine fails.

A fluid model of the rules in docs/proof.md. Where a spine may pass on any of several backups, the worst for a link is
assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ailb_gen.checks.expected import ExpectedFabric
from ailb_gen.checks.expected_paths import ExpectedPaths

# How many links leaves have, or what each of these carries: the last two axes are spine and color.
Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """The load of one unit from some leaves to others on each link: up from the first, down to the second."""

    up: Table
    down: Table


class ExpectedLoads:
    """Loads of links while leaves send to each other, to every destination over all its prefixes evenly."""

    def __init__(self, expected: ExpectedFabric, paths: ExpectedPaths) -> None:
        spines = {spine.name: number for number, spine in enumerate(expected.spines)}
        colors = {color.value: number for number, color in enumerate(expected.colors)}
        self.kinds = np.zeros((len(paths.kinds), len(spines), len(colors)))
        for kind, links in enumerate(paths.kinds):
            for (spine, color), count in links.items():
                self.kinds[kind, spines[spine], colors[color]] = count
        self.kind_of = paths.kind_of
        self.sizes = np.bincount(list(paths.kind_of.values()), minlength=len(paths.kinds)).astype(float)
        self.others = max(1.0, float(self.sizes.sum()) - 1)
        self.backups = np.zeros((len(colors), len(colors)), dtype=bool)
        for color, others in paths.backups.items():
            self.backups[colors[color], [colors[other] for other in others]] = True
        # Spines in graceful shutdown, with a place for the color.
        self.in_shutdown = np.array([[spine in paths.in_shutdown] for spine in spines])
        self.whole = expected.drained.whole
        words = {color.backup for color in expected.colors}
        # Then all links carry the same, and so do all spines.
        self.symmetric = self.whole and len(words) == 1 and not words & {color.name for color in expected.colors}
        self.up, self.down = self._totals(self.kinds)

    def _totals(self, kinds: Table) -> tuple[Table, Table]:
        """Return the loads of the links of every kind of leaf, up and down, when every leaf sends one unit to all."""
        up, down = np.zeros_like(kinds), np.zeros_like(kinds)
        for kind, table in enumerate(kinds):
            counts = self.sizes.copy()
            counts[kind] -= 1
            weights = (counts / self.others)[:, None, None]
            up[kind] = (weights * self.load(table, kinds).up).sum(axis=0)
            down[kind] = (weights * self.load(kinds, table).down).sum(axis=0)
        return up, down

    def load(self, near: Table, far: Table) -> LinkLoad:
        """Compute the load of one unit from leaves with links `near` to those with `far`; either may be several."""
        first, pinned = _pinned(near * ~self.in_shutdown, far * ~self.in_shutdown)
        up, down, unpinned = first.up, first.down, ~pinned
        if unpinned.any():
            near, far = np.broadcast_to(near, up.shape), np.broadcast_to(far, up.shape)
            for color in np.flatnonzero(unpinned.reshape(-1, unpinned.shape[-1]).any(axis=0)):
                # Only the pairs that lack the color: of many kinds of leaves few do.
                some = unpinned[..., color]
                more = self._unpinned(int(color), near[some], far[some])
                up[some] += more.up
                down[some] += more.down
        return LinkLoad(up, down)

    def _unpinned(self, color: int, near: Table, far: Table) -> LinkLoad:
        """Compute the load of a prefix that no spine in full service has in its own color at both ends.

        What may lack a backup, too, goes over spines in graceful shutdown.
        """
        found, sure = self._backed_up(color, near * ~self.in_shutdown, far * ~self.in_shutdown)
        if self.in_shutdown.any() and not sure.all():
            more = self._over_in_shutdown(color, near[~sure] * self.in_shutdown, far[~sure] * self.in_shutdown)
            found.up[~sure] += more.up
            found.down[~sure] += more.down
        return found

    def _over_in_shutdown(self, color: int, near: Table, far: Table) -> LinkLoad:
        """Compute the load of a prefix over spines in graceful shutdown: in its own color, else by its backups."""
        only = np.arange(near.shape[-1]) == color
        found, pinned = _pinned(near * only, far * only)
        rest = ~pinned[..., color]
        more, _ = self._backed_up(color, near[rest], far[rest])
        found.up[rest] += more.up
        found.down[rest] += more.down
        return found

    def _backed_up(self, color: int, near: Table, far: Table) -> tuple[LinkLoad, NDArray[np.bool_]]:
        """Compute the load of a prefix that no spine has in its own color at both ends, and whether it has a path."""
        heard = (far > 0) & self.backups[color] & ~(far[..., color] > 0)[..., None]
        usable = heard & (near > 0)
        sure = heard.any(axis=-1) & ~(heard & ~usable).any(axis=-1)
        least = np.where(sure, np.where(usable, near, np.inf).min(axis=-1), 0.0)[..., None]
        # The fewest next hops that a leaf may have when it uses a link: of every other spine those of one color.
        hops = least.sum(axis=-2, keepdims=True) - least + near
        share = usable / np.maximum(hops, 1.0) / near.shape[-1]
        links_down = (far * heard).sum(axis=-1, keepdims=True)
        down = heard * (share * near).max(axis=-1, keepdims=True) / np.maximum(links_down, 1.0)
        return LinkLoad(share, down), sure.any(axis=-1)

    def highest(self) -> float:
        """Return the highest load of a link when every leaf sends one unit, evenly to all others."""
        return max(_top(self.up), _top(self.down))

    def without_a_link(self, enough: float = np.inf, leaf: str = "") -> float:
        """Return the highest load of a link when any one link fails.

        Links of leaves like `leaf` are examined first, and no more when a load is `enough`.
        """
        return _first(self._links_gone(self.kind_of.get(leaf, 0)), enough)

    def _links_gone(self, first: int) -> Iterator[float]:
        for kind in sorted(range(len(self.kinds)), key=lambda kind: kind != first):
            table = self.kinds[kind]
            counts = self.sizes.copy()
            counts[kind] -= 1
            # Kinds of which the one leaf is the only member have no other leaf that could suffer.
            rest = counts > 0
            weights = (counts / self.others)[:, None, None]
            to, back = self.load(self.kinds, table), self.load(table, self.kinds)
            for at, (spine, color) in enumerate(np.argwhere(table > 0)):
                if at and self.symmetric:
                    return
                left = table.copy()
                left[spine, color] -= 1
                out, into = self.load(left, self.kinds), self.load(self.kinds, left)
                own = _top((weights * out.up).sum(axis=0)), _top((weights * into.down).sum(axis=0))
                up = self.up + (into.up - to.up) / self.others
                down = self.down + (out.down - back.down) / self.others
                yield max(*own, _top(up[rest]), _top(down[rest]))

    def without_a_spine(self) -> float:
        """Return the highest load of a link when any one spine fails."""
        return max(self._spines_gone(), default=0.0)

    def _spines_gone(self) -> Iterator[float]:
        for spine in range(1 if self.symmetric else self.kinds.shape[1]):
            kinds = self.kinds.copy()
            kinds[:, spine] = 0.0
            yield max(map(_top, self._totals(kinds)))

    def of(self, leaf: str, volumes: Mapping[str, float], out: bool) -> float:
        """Return the highest load of a leaf's links, `out` of the leaf or into it, for volumes by the other leaf."""
        weights = np.zeros(len(self.kinds))
        for other, volume in volumes.items():
            weights[self.kind_of[other]] += volume
        table = self.kinds[self.kind_of[leaf]]
        found = self.load(table, self.kinds).up if out else self.load(self.kinds, table).down
        return _top((weights[:, None, None] * found).sum(axis=0))


def _pinned(near: Table, far: Table) -> tuple[LinkLoad, NDArray[np.bool_]]:
    """Compute the load of prefixes over the links of their own colors, and by color whether there are any."""
    both = (near > 0) & (far > 0)
    hops = (near * both).sum(axis=-2, keepdims=True)
    up = both / np.maximum(hops, 1.0) / both.shape[-1]
    down = np.divide(up * near, far, out=np.zeros_like(up), where=np.broadcast_to(far > 0, up.shape))
    return LinkLoad(up, down), hops[..., 0, :] > 0


def _first(loads: Iterator[float], enough: float) -> float:
    """Return the first load that is enough, else the highest."""
    highest = 0.0
    for load in loads:
        highest = max(highest, load)
        if highest >= enough:
            break
    return highest


def _top(table: Table) -> float:
    return float(table.max(initial=0.0))
