"""The order of a push: one canary, then spines a color at a time, leaves a rail at a time, a server, all servers.

A switch that is being changed counts as away. A wave of spines is made smaller, down to one, as long as it would leave
two leaves with fewer paths between them than asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from ailb_gen.errors import UsageError


@dataclass(frozen=True, slots=True)
class Wave:
    """Devices that are changed together; `name` says what they are."""

    name: str
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Position of a device in the order: `role`, and a spine's color, a leaf's rail or a server's stripe as group."""

    role: str
    group: str
    name: str


@dataclass(frozen=True, slots=True)
class Paths:
    """The spines over which every leaf has a session that is up now."""

    spines: Mapping[str, frozenset[str]]

    def without(self, away: Collection[str]) -> tuple[Paths, Paths]:
        """Return the paths of the leaves that are left while devices are away: now, and then."""
        gone = frozenset(away)
        here = {leaf: spines for leaf, spines in self.spines.items() if leaf not in gone}
        return Paths(here), Paths({leaf: spines - gone for leaf, spines in here.items()})


def waves(seats: Iterable[Position], colors: Sequence[str], paths: Paths, min_paths: int) -> tuple[Wave, ...]:
    """Order devices to be changed; `colors` are the fabric's, in order. Raises UsageError where no order will do."""
    rest = sorted(seats, key=lambda seat: (_ROLES.index(seat.role), _key(seat, colors)))
    if not rest:
        return ()
    first, canaries = rest[0], {rest[0].role}
    found = [Wave(f"canary {first.role}", next(_fitting([first.name], paths, min_paths)))]
    by_group: dict[tuple[str, str], list[str]] = {}
    order = sorted(rest[1:], key=lambda seat: (_ORDER[seat.role], _key(seat, colors)))
    for seat in order:
        by_group.setdefault((seat.role, seat.group), []).append(seat.name)
    for (role, group), names in by_group.items():
        if role == "server" and role not in canaries:
            canaries.add(role)
            found.append(Wave("canary server", (names.pop(0),)))
        parts = list(_fitting(names, paths, min_paths)) if role == "spine" else [tuple(names)] if names else []
        for number, part in enumerate(parts, 1):
            suffix = f", {number} of {len(parts)}" if len(parts) > 1 else ""
            found.append(Wave(_TITLES[role].format(group=group) + suffix, part))
    return tuple(found)


# The canary is a leaf where there is one: it has the smallest part of the traffic.
_ROLES = ("leaf", "spine", "server")
_ORDER = {"spine": 0, "leaf": 1, "server": 2}
_TITLES = {"spine": "spines of {group}", "leaf": "leaves of rail {group}", "server": "servers of stripe {group}"}


def _key(seat: Position, colors: Sequence[str]) -> tuple[int, int, str]:
    """Order colors as the fabric has them, and numbers as numbers."""
    group = colors.index(seat.group) if seat.group in colors else len(colors)
    return group, int(seat.group) if seat.group.isdecimal() else 0, seat.name


def _fitting(names: Sequence[str], paths: Paths, min_paths: int) -> Iterator[tuple[str, ...]]:
    """Cut a group of spines into parts that may be away at once. Raises UsageError when one alone may not."""
    part: list[str] = []
    for name in names:
        if lost_paths(*paths.without([*part, name]), min_paths) is None:
            part.append(name)
            continue
        lost = lost_paths(*paths.without([name]), min_paths)
        if lost is not None:
            left, now, (one, other) = lost
            raise UsageError(
                f"while {name} is changed, {one} and {other} would have {left} of their {now} paths left, fewer than "
                f"--min-paths {min_paths} or than they have now; bring up what is down, or allow fewer"
            )
        yield tuple(part)
        part = [name]
    if part:
        yield tuple(part)


def lost_paths(now: Paths, then: Paths, min_paths: int) -> tuple[int, int, tuple[str, str]] | None:
    """Return a pair of leaves that would have fewer than `min_paths` paths and fewer than now: left, now, the pair."""
    # Leaves with the same spines are alike; a fabric has few different sets.
    alike: dict[tuple[frozenset[str], frozenset[str]], list[str]] = {}
    for leaf, spines in now.spines.items():
        alike.setdefault((spines, then.spines.get(leaf, frozenset())), []).append(leaf)
    for one, other in combinations_with_replacement(alike, 2):
        if one is other and len(alike[one]) < 2:
            continue
        before, left = len(one[0] & other[0]), len(one[1] & other[1])
        if left < min(min_paths, before):
            return left, before, (alike[one][0], alike[other][-1])
    return None
