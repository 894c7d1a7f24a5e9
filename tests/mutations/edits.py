"""Kinds of damage to spots. Every edit returns all damages it can do, one for each place; none changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter

from tests.mutations.spots import Selector, Spot, files
from tests.mutations.tree import Changes, Tree, bytes_of, text_of


@dataclass(frozen=True, slots=True)
class Damage:
    """One mutation, at one place."""

    label: str
    changes: Changes


Edit = Callable[[Tree], list[Damage]]
# The new text of what a pattern captured: a constant, or computed from the old one.
New = str | Callable[[str], str]


def add(number: int) -> Callable[[str], str]:
    """Return a function from a decimal number to that number plus `number`."""
    return lambda old: str(int(old) + number)


def _piece(tree: Tree, spot: Spot) -> str:
    return text_of(tree, spot.file)[spot.start : spot.end]


def _rewrite(tree: Tree, label: str, changes: Iterable[tuple[Spot, str]]) -> Iterator[Damage]:
    """Yield the damage that puts new text into spots, unless it is the old text."""
    texts: dict[str, str] = {}
    for spot, new in sorted(changes, key=lambda change: (change[0].file, -change[0].start)):
        old = texts.get(spot.file, text_of(tree, spot.file))
        texts[spot.file] = old[: spot.start] + new + old[spot.end :]
    found: Changes = {file: text.encode() for file, text in texts.items() if text.encode() != tree[file]}
    if found:
        yield Damage(f"{' '.join(found)}: {label}", found)


def _group(found: re.Match[str]) -> tuple[int, int]:
    """Return the span of a match's first group, of the whole match without groups."""
    return found.span(1 if found.re.groups else 0)


def _inner(tree: Tree, spot: Spot, pattern: str) -> Spot | None:
    """Narrow a spot to what the pattern captures in it."""
    found = re.search(pattern, _piece(tree, spot), re.MULTILINE)
    if found is None:
        return None
    start, end = _group(found)
    return Spot(spot.file, spot.start + start, spot.start + end, spot.label)


def _inners(tree: Tree, selector: Selector, pattern: str) -> list[Spot]:
    return [inner for spot in selector(tree) if (inner := _inner(tree, spot, pattern))]


def delete(selector: Selector) -> Edit:
    """Delete the spot."""
    return lambda tree: [d for spot in selector(tree) for d in _rewrite(tree, f"deleted {spot.label}", [(spot, "")])]


def replace(selector: Selector, pattern: str, new: New) -> Edit:
    """Put `new` where the pattern's first group, or the whole pattern without one, first matches in the spot."""

    def edit(tree: Tree) -> list[Damage]:
        return [
            damage
            for spot in _inners(tree, selector, pattern)
            for text in (new if isinstance(new, str) else new(_piece(tree, spot)),)
            for damage in _rewrite(tree, f"{spot.label}: {_piece(tree, spot)!r} -> {text!r}", [(spot, text)])
        ]

    return edit


def insert(selector: Selector, line: str) -> Edit:
    """Insert text as the first statement inside a block, or behind a statement without a block."""

    def edit(tree: Tree) -> list[Damage]:
        found: list[Damage] = []
        for spot in selector(tree):
            head, newline, rest = _piece(tree, spot).partition("\n")
            found += _rewrite(tree, f"{spot.label}: added {line}", [(spot, f"{head}{newline}{line}\n{rest}")])
        return found

    return edit


def deactivate(selector: Selector) -> Edit:
    """Make statements inactive."""
    return replace(selector, r"^ *()\S", "inactive: ")


def _partners(tree: Tree, spots: list[Spot], across: bool) -> Iterator[tuple[Spot, Spot]]:
    """Pair every spot with the next one in its file, or with the one at the same rank in the next file."""
    by_file = [list(group) for _, group in groupby(spots, key=attrgetter("file"))]
    if across:
        for one, other in pairwise(by_file):
            yield from zip(one, other, strict=False)
    else:
        for group in by_file:
            yield from pairwise(group)


def swap(selector: Selector, pattern: str = r"(?s).+", across: bool = False) -> Edit:
    """Exchange what the pattern captures in two spots: neighbours in a file, or `across` two files."""

    def edit(tree: Tree) -> list[Damage]:
        return [
            damage
            for one, other in _partners(tree, _inners(tree, selector, pattern), across)
            for a, b in ((_piece(tree, one), _piece(tree, other)),)
            for damage in _rewrite(tree, f"{one.label}: {a!r} <-> {b!r}", [(one, b), (other, a)])
        ]

    return edit


def borrow(selector: Selector, pattern: str = r"(?s).+", across: bool = False) -> Edit:
    """Replace what the pattern captures in a spot by what it captures in the next one."""

    def edit(tree: Tree) -> list[Damage]:
        return [
            damage
            for one, other in _partners(tree, _inners(tree, selector, pattern), across)
            for a, b in ((_piece(tree, one), _piece(tree, other)),)
            for damage in _rewrite(tree, f"{one.label}: {a!r} -> {b!r}", [(one, b)])
        ]

    return edit


def everywhere(selector: Selector, pattern: str, new: New) -> Edit:
    """Do the same replacement in all spots of all files at once."""

    def edit(tree: Tree) -> list[Damage]:
        spots = _inners(tree, selector, pattern)
        parts = [(spot, new if isinstance(new, str) else new(_piece(tree, spot))) for spot in spots]
        return list(_rewrite(tree, f"{pattern!r} -> {new if isinstance(new, str) else 'other'!r}", parts))

    return edit


def per_file(selector: Selector, pattern: str, new: New) -> Edit:
    """Do the same replacement in all spots of one file."""

    def edit(tree: Tree) -> list[Damage]:
        found: list[Damage] = []
        for file, group in groupby(_inners(tree, selector, pattern), key=attrgetter("file")):
            parts = [(spot, new if isinstance(new, str) else new(_piece(tree, spot))) for spot in group]
            found += _rewrite(tree, f"{file}: {pattern!r}", parts)
        return found

    return edit


def trade(glob_or_role: Callable[[Tree], list[str]], pattern: str, both: bool = True) -> Edit:
    """Give a file the value of the next one wherever its own value stands, and with `both` the other way around.

    The value is what the pattern captures first in each file.
    """

    def edit(tree: Tree) -> list[Damage]:
        found = []
        for one, other in pairwise(glob_or_role(tree)):
            values = [re.search(pattern, text_of(tree, file), re.MULTILINE) for file in (one, other)]
            if values[0] and values[1] and values[0][1] != values[1][1]:
                a, b = values[0][1], values[1][1]
                changes: Changes = {one: _renamed(text_of(tree, one), a, b)}
                if both:
                    changes[other] = _renamed(text_of(tree, other), b, a)
                found.append(Damage(f"{one} {other}: {a} {'<->' if both else '->'} {b}", changes))
        return found

    return edit


def _renamed(text: str, old: str, new: str) -> bytes:
    return re.sub(rf"(?<![\w.:-]){re.escape(old)}(?![\w.-])", new, text).encode()


def together(*edits: Edit) -> Edit:
    """Do several edits of different files at once, the first damage of each, the second of each, and so on."""

    def edit(tree: Tree) -> list[Damage]:
        found = []
        for damages in zip(*(one(tree) for one in edits), strict=True):
            changes: Changes = {}
            for damage in damages:
                if changes.keys() & damage.changes.keys():
                    raise ValueError(f"{damage.label}: two edits of one file")
                changes |= damage.changes
            found.append(Damage("; ".join(damage.label for damage in damages), changes))
        return found

    return edit


def in_turn(*edits: Edit) -> Edit:
    """Do several edits one after the other, each on the result of those before it; each at its first place."""

    def edit(tree: Tree) -> list[Damage]:
        changes: Changes = {}
        labels = []
        now = tree
        for one in edits:
            damage = one(now)[0]
            labels.append(damage.label)
            changes |= damage.changes
            now = {path: entry for path, entry in (tree | changes).items() if entry is not None}
        return [Damage("; ".join(labels), changes)]

    return edit


def rewrite(glob: str, new: Callable[[bytes], bytes]) -> Edit:
    """Replace the content of one file as a whole."""

    def edit(tree: Tree) -> list[Damage]:
        rows = [(path, bytes_of(tree, path)) for path in files(tree, glob)]
        return [Damage(f"{path}: rewritten", {path: new(old)}) for path, old in rows if new(old) != old]

    return edit


def put(place: Callable[[Tree], Iterable[Changes]]) -> Edit:
    """Change files, links and folders as such."""
    return lambda tree: [Damage(", ".join(changes), changes) for changes in place(tree)]
