"""Compute from the intent alone, without what it takes out of service, the links by which leaves reach prefixes.

Leaves whose links are the same are one kind, so that the size of the fabric does not matter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from ailb_gen.checks.expected import ExpectedFabric
from ailb_gen.checks.expected_switches import ALL_COLORS, ExpectedColor

# How many links a leaf has in service, by spine and color value.
Links = dict[tuple[str, str], int]
# Spines and color values.
Pairs = frozenset[tuple[str, str]]


class ExpectedPaths:
    """The links of every leaf that are in service, and what follows for single prefixes.

    Colors are given by value. `kinds` are the different sets of links, `kind_of` says which one a leaf has. The links
    of `in_shutdown`, the spines in graceful shutdown, carry what has no path over others.
    """

    def __init__(self, expected: ExpectedFabric) -> None:
        self.expected = expected
        self.in_shutdown = expected.drained.in_shutdown
        values = {color.name: color.value for color in expected.colors}
        whole: Links = Counter(
            (spine.name, values[name])
            for number, spine in enumerate(expected.spines)
            for name in expected.link_colors(number)
        )
        self.kinds: list[Links] = []
        self.kind_of: dict[str, int] = {}
        numbers: dict[frozenset[tuple[tuple[str, str], int]], int] = {}
        for leaf in expected.leaves:
            missing = expected.drained.missing.get(leaf.name, {})
            key = frozenset(missing.items())
            if key not in numbers:
                numbers[key] = len(self.kinds)
                gone = {(spine, values[name]): count for (spine, name), count in missing.items()}
                left = {link: count - gone.get(link, 0) for link, count in whole.items()}
                self.kinds.append({link: count for link, count in left.items() if count > 0})
            self.kind_of[leaf.name] = numbers[key]
        self.backups = {color.value: frozenset(_backups(expected, color)) for color in expected.colors}
        self._advertised: dict[tuple[int, str], Mapping[str, frozenset[str]]] = {}

    def links(self, leaf: str) -> Links:
        """Return the links of a leaf that are in service."""
        return self.kinds[self.kind_of[leaf]]

    def pinned(self, leaf: str, owner: str, color: str) -> Pairs:
        """Return where a leaf reaches an owner's prefix in its own color: over spines that have both in that color."""
        return self._pinned(leaf, owner, color, in_shutdown=False)

    def _pinned(self, leaf: str, owner: str, color: str, in_shutdown: bool) -> Pairs:
        there = self.links(owner)
        return frozenset(
            link
            for link in self.links(leaf)
            if link[1] == color and link in there and (link[0] in self.in_shutdown) == in_shutdown
        )

    def advertised_colors(self, owner: str, color: str) -> Mapping[str, frozenset[str]]:
        """Return in which colors every spine may pass on an owner's prefix.

        It sends its active route alone: that of the prefix's own color where it has it, because of AIGP, else any one
        of the backups.
        """
        key = (self.kind_of[owner], color)
        if key not in self._advertised:
            found: dict[str, set[str]] = defaultdict(set)
            for spine, name in self.kinds[key[0]]:
                if name == color or name in self.backups[color]:
                    found[spine].add(name)
            pinning = self.expected.fabric.aigp or not self.backups[color]
            self._advertised[key] = {
                spine: frozenset({color} if color in names and pinning else names) for spine, names in found.items()
            }
        return self._advertised[key]

    def backed_up(self, leaf: str, owner: str, color: str) -> tuple[Pairs, frozenset[str]]:
        """Return where a leaf may reach an owner's prefix by its backups, and the spines that it surely uses.

        Without a spine that it surely uses, those in graceful shutdown come next, in the prefix's own color first.
        """
        possible, sure = self._backed_up(leaf, owner, color, in_shutdown=False)
        if sure or not self.in_shutdown:
            return possible, sure
        pinned = self._pinned(leaf, owner, color, in_shutdown=True)
        spines = frozenset(spine for spine, _ in pinned)
        more, surely = (pinned, spines) if pinned else self._backed_up(leaf, owner, color, in_shutdown=True)
        return (possible | more, frozenset()) if possible else (more, surely)

    def _backed_up(self, leaf: str, owner: str, color: str, in_shutdown: bool) -> tuple[Pairs, frozenset[str]]:
        here = self.links(leaf)
        possible: set[tuple[str, str]] = set()
        sure = set()
        for spine, names in self.advertised_colors(owner, color).items():
            if color in names or (spine in self.in_shutdown) != in_shutdown:
                continue
            found = {(spine, name) for name in names} & here.keys()
            possible |= found
            if len(found) == len(names):
                sure.add(spine)
        return frozenset(possible), frozenset(sure)

    def partitions(self) -> Iterator[tuple[str, str, ExpectedColor]]:
        """Yield pairs of leaves without a path in a color: one pair for every two kinds of leaves.

        A spine in graceful shutdown is no path: it may go at any time.
        """
        members: dict[int, list[str]] = defaultdict(list)
        for leaf, kind in self.kind_of.items():
            members[kind].append(leaf)
        for near, sources in members.items():
            for far, targets in members.items():
                if near == far and len(sources) < 2:
                    continue
                source, target = sources[0], targets[1 if near == far else 0]
                for color in self.expected.colors:
                    if self.pinned(source, target, color.value):
                        continue
                    if not self._backed_up(source, target, color.value, in_shutdown=False)[1]:
                        yield source, target, color


def _backups(expected: ExpectedFabric, color: ExpectedColor) -> Iterator[str]:
    for other in expected.colors:
        if other is not color and color.backup in (ALL_COLORS, other.name):
            yield other.value
