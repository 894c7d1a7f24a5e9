"""The difference of two configurations: the commands that turn the first tree into the second."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ailb_gen.junos.edit import is_value
from ailb_gen.junos.grammar import FIRST_COUNTS, PREFIX, form_of, place_of
from ailb_gen.junos.tokens import written
from ailb_gen.junos.tree import ENDS, INACTIVE, PROTECT, Node
from ailb_gen.junos.writer import set_lines

COMMUNITIES = ["then", "community"]
MARKS = ((INACTIVE, "deactivate", "activate"), (PROTECT, "protect", "unprotect"))


@dataclass(frozen=True, slots=True)
class Change:
    """One command; `line` is where the statement stands: for `delete` in the first text, else in the second."""

    command: str
    line: int

    def __str__(self) -> str:
        return self.command


def diff(first: Node, second: Node) -> Iterator[Change]:
    """Iterate over the commands that turn the first tree into the second; none if they say the same.

    The order of statements counts only where it counts in Junos: terms, policy chains and the other words of
    FIRST_COUNTS, and for what a policy does to communities. Comments, quotes and grouping do not count. What is
    protected is unprotected before it changes. Neither tree is changed.
    """
    return _differences(first, second, [], unlike_nodes(first, second))


def unlike_nodes(first: Node, second: Node) -> frozenset[int]:
    """Return the ids of the nodes of the first tree that are not the same as in the second, marks and order included.

    Most of two configurations is the same: what is, is not looked at any further.
    """
    pairs: list[tuple[Node, Node, int]] = [(first, second, -1)]
    found = bytearray()
    for at, (old, new, _) in enumerate(pairs):
        ours, theirs = old.children, new.children
        found.append((old.flags ^ new.flags) & (INACTIVE | PROTECT) != 0 or list(ours) != list(theirs))
        for word, child in ours.items():
            twin = theirs.get(word)
            # What has nothing below it and has the same marks needs no pair of its own, nor does what both trees share.
            if (
                twin is not None
                and child is not twin
                and (child.children or twin.children or child.flags != twin.flags)
            ):
                pairs.append((child, twin, at))
    for at in range(len(pairs) - 1, 0, -1):
        if found[at]:
            found[pairs[at][2]] = True
    return frozenset(id(pairs[at][0]) for at, unlike in enumerate(found) if unlike)


def _differences(first: Node, second: Node, path: list[str], unlike: frozenset[int]) -> Iterator[Change]:
    """Iterate over the commands for two nodes at a path, which is in use meanwhile; only `unlike` ones are entered."""
    top = len(path)
    stack = [iter([(first, second)])]
    entered: list[tuple[int, int, Node]] = []
    while stack:
        pair = next(stack[-1], None)
        if pair is None:
            stack.pop()
            if entered:
                yield from _marked(*entered.pop(), path)
            if len(path) > top:
                path.pop()
            continue
        old, new = pair
        if old is not first:
            path.append(written(new))
        flags = old.flags
        inner = old is not first
        if (
            inner
            and flags & PROTECT
            and (not new.flags & PROTECT or next(_differences(old, new, list(path), unlike), None))
        ):
            yield Change(f"unprotect {' '.join(path)}", new.line)
            flags &= ~PROTECT
        # No `insert` moves one action in front of another of a different kind.
        if (path[-2:] == COMMUNITIES and _order(old, new) != list(new.children)) or _outgrows(old, new, path):
            yield Change(f"delete {' '.join(path)}", old.line)
            old, flags = Node(old.word), 0
        yield from _changed(old, new, path)
        # Deleting all that is in a statement may take it with its marks; telling them again does no harm.
        again = flags if flags & (INACTIVE | PROTECT) and not _survives(old, new, path) else 0
        entered.append((0 if _gives_way(old, new, path) else flags, again, new))
        common = [child for child in old if id(child) in unlike and child.word in new.children]
        stack.append(iter([(child, new.children[child.word]) for child in common]))


def _order(old: Node, new: Node) -> list[str]:
    """Return the words behind a node after what is missing has been set: at the end, as devices do it."""
    kept = [word for word in old.children if word in new.children]
    return [*kept, *(word for word in new.children if word not in old.children)]


def _gives_way(old: Node, new: Node, path: Sequence[str]) -> bool:
    """Return whether what stands behind a word is a value that gives way to another one, or to none."""
    if not path or not old.children or any(child.children or child.word in new.children for child in old):
        return False
    return not _names_entries(path)


def _outgrows(old: Node, new: Node, path: Sequence[str]) -> bool:
    """Return whether a device would take what is added for the one value of a word that the grammar does not know."""
    if len(new.children) < 2 or not path or not is_value(old, ""):
        return False
    parent, keys = place_of(path[:-1])
    return not keys and form_of(parent, path[-1]) == (0, "")


def _survives(old: Node, new: Node, path: Sequence[str]) -> bool:
    """Return whether a statement stays while what goes is deleted: without anything in it, it would lose its marks."""
    stack = [(old, new, path)]
    while stack:
        one, other, words = stack.pop()
        if not one.children:
            return True
        if not _outgrows(one, other, words):
            common = [child for child in one if child.word in other.children]
            stack += [(child, other.children[child.word], [*words, child.word]) for child in common]
    return False


def _names_entries(path: Sequence[str]) -> bool:
    """Return whether the words behind a path are keys: a device deletes an entry by all of them."""
    return place_of(path)[1] > 0 or (path[-1:] == [PREFIX] and not place_of(path[:-1])[1])


def _changed(old: Node, new: Node, path: list[str]) -> Iterator[Change]:
    if _gives_way(old, new, path):
        # A device deletes a value by its word alone.
        yield Change(f"delete {' '.join(path)}", old.line)
        if not new.children:
            yield Change(f"set {' '.join(path)}", new.line)
    else:
        for child in old:
            if child.word not in new.children:
                yield from _deleted(child, path)
        if path and old.children and not new.children and new.flags & ENDS:
            yield Change(f"set {' '.join(path)}", new.line)
    for child in new:
        if child.word not in old.children:
            for line in set_lines([child], list(path)):
                yield Change(line, child.line)
    if len(new.children) > 1 and new.word in FIRST_COUNTS and not place_of(path[:-1])[1]:
        yield from _moved(_order(old, new), new, path)


def _deleted(node: Node, path: Sequence[str]) -> Iterator[Change]:
    """Iterate over the commands that take away a word and all behind it; of keys, every one is named."""
    stack = [(node, [*path, written(node)])]
    while stack:
        one, words = stack.pop()
        if one.children and _names_entries(words):
            stack += [(child, [*words, written(child)]) for child in reversed(one.children.values())]
            continue
        yield from _unprotected(one, words)
        yield Change(f"delete {' '.join(words)}", one.line)


def _unprotected(node: Node, path: Sequence[str]) -> Iterator[Change]:
    """Iterate over the commands without which a device keeps something of a block that is deleted."""
    stack = [(node, path)]
    while stack:
        one, words = stack.pop()
        if one.flags & PROTECT:
            yield Change(f"unprotect {' '.join(words)}", one.line)
        stack += [(child, [*words, written(child)]) for child in one]


def _moved(words: Sequence[str], new: Node, path: list[str]) -> Iterator[Change]:
    """Iterate over the fewest `insert` commands that put words in the order of the children of a node."""
    place = {word: at for at, word in enumerate(words)}
    stay = rising([place[word] for word in new.children])
    before: Node | None = None
    listed = [written(new)] if FIRST_COUNTS[new.word] else []
    first = next(word for word in new.children if place[word] in stay)
    for child in new:
        if place[child.word] not in stay:
            side, other = ("after", before) if before is not None else ("before", new.children[first])
            where = " ".join([side, *listed, written(other)])
            yield Change(f"insert {' '.join([*path, written(child)])} {where}", child.line)
        before = child


def rising(numbers: list[int]) -> set[int]:
    """Return the numbers of a longest rising subsequence."""
    tails: list[int] = []
    behind: dict[int, int | None] = {}
    for number in numbers:
        at = bisect_left(tails, number)
        behind[number] = tails[at - 1] if at else None
        tails[at : at + 1] = [number]
    found = set()
    last: int | None = tails[-1]
    while last is not None:
        found.add(last)
        last = behind[last]
    return found


def _marked(before: int, again: int, new: Node, path: list[str]) -> Iterator[Change]:
    """Iterate over the marks that a statement gets or loses; of `before` it has the flags, of `again` it may have."""
    for flag, command, undo in MARKS:
        if path and ((before ^ new.flags) | again) & flag:
            yield Change(f"{command if new.flags & flag else undo} {' '.join(path)}", new.line)
