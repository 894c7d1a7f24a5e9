"""Other words for those of a tree: a copy of it that shares what stays the same."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from ailb_gen.junos.capture import line_fault
from ailb_gen.junos.commands import COMMANDS, REFUSED
from ailb_gen.junos.grammar import KEYWORDS
from ailb_gen.junos.line_layout import LineLayout, words_of
from ailb_gen.junos.tokens import MAX_DIGITS, TAGS
from ailb_gen.junos.tree import FLAT, Node

# Words with a meaning to the readers, in some place or other.
MEANING = KEYWORDS | TAGS.keys() | COMMANDS | REFUSED
PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/-"
AROUND = b' \n;{"'
WORD = re.compile(r"[^ ]+")
COMMENT = re.compile(r" *#[\w .,:/#=-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line with other words: its number, its words so far, where the others stand, which of the new words each is."""

    line: int
    words: list[str]
    at: tuple[int, ...]
    new: tuple[int, ...]
    is_plain: bool


class _OneWord(NamedTuple):
    """A line with one other word and none in quotes: its number, what is around the word, which of the new words it is.

    The others are rows.
    """

    line: int
    before: str
    after: str
    new: int


@dataclass(frozen=True, slots=True)
class _Copied:
    """A node that is copied: where the copy of its parent is, its new word if it has one.

    `is_only` tells that it is the only child, `is_full` that it has children that are not all copied.
    """

    node: Node
    parent: int
    new: int | None
    is_only: bool
    is_full: bool


class OtherWord(NamedTuple):
    """Where another word stands below a node of the text before: the words down to it, which of the new words it is.

    `is_only` tells that nothing stands beside it.
    """

    path: tuple[str, ...]
    new: int
    is_only: bool


@dataclass(frozen=True, slots=True, eq=False)
class Substitution:
    """Which `lines` of a text have other words in another one, and what that means for the tree.

    `single` and `rows` are the words of these lines. `notes` are comments: the line, and which copy has it. `renamed`
    are the copies whose children have other words; `others` are the other words below each node that is copied, by its
    id.
    """

    lines: list[int]
    single: list[_OneWord]
    rows: list[_Row]
    notes: list[tuple[int, int]]
    copied: list[_Copied]
    renamed: list[int]
    words: int
    is_set: bool
    others: dict[int, list[OtherWord]]

    def carried_out(self, root: Node, old: list[str], new: list[str]) -> Node | None:
        """Return the tree of the new lines from that of the old ones; None if something else differs, too."""
        words = self._words(old, new)
        if words is None:
            return None
        copies: list[Node] = [_twin(root)]
        for one in self.copied:
            node = one.node
            twin = Adapted(node, node.word if one.new is None else words[one.new], self, words)
            if one.is_full:
                twin.children = node.children.copy()
            copies.append(twin)
            copies[one.parent].children[twin.word if one.is_only else node.word] = twin
        for at in self.renamed:
            copy = copies[at]
            number = len(copy.children)
            copy.children = {child.word: child for child in copy.children.values()}
            if len(copy.children) != number:
                return None
        for line, at in self.notes:
            if not COMMENT.fullmatch(new[line]):
                return None
            before, after = old[line].lstrip(" "), new[line].lstrip(" ")
            copies[at].comment = [after if text == before else text for text in copies[at].comment or ()]
        return copies[0]

    def _words(self, old: list[str], new: list[str]) -> list[str] | None:
        """Return the new words; None if they are not all that differs, or mean something to the readers."""
        before, after = ("\n".join([text[at] for at in self.lines]) for text in (old, new))
        if _frame(before) != _frame(after):
            return None
        found = [""] * self.words
        for at, lead, rest, number in self.single:
            line = new[at]
            # It has no blank: what is no letter or digit is the same.
            word = line[len(lead) : len(line) - len(rest)]
            if not word or f"{lead}{word}{rest}" != line or (found[number] and found[number] != word):
                return None
            found[number] = word
        for row in self.rows:
            line = new[row.line]
            words = self._split(line, old[row.line]) if row.is_plain else words_of(line, self.is_set)
            known = row.words
            if not words or len(words) != len(known):
                return None
            for at, number in zip(row.at, row.new, strict=True):
                word = words[at]
                if found[number] and found[number] != word:
                    return None
                found[number] = word
                words[at] = known[at]
            if words != known or (not row.is_plain and line_fault(line, 0)):
                return None
        return found if _are_names(found) else None

    def _split(self, line: str, old: str) -> list[str] | None:
        """Return the words of a line that has none in quotes, and whose frame is that of another one."""
        if self.is_set:
            return line.split()[1:] if line.startswith("set ") else None
        return line[:-1].split() if line[-1] == old[-1] else None


class Adapted(Node):
    """A node like that of another tree, with the new `words` of a substitution below it or as its own word."""

    __slots__ = ("like", "substitution", "words")

    def __init__(self, like: Node, word: str, substitution: Substitution, words: list[str]) -> None:
        self.word, self.line, self.flags, self.comment = word, like.line, like.flags, like.comment
        self.children = {}
        self.like, self.substitution, self.words = like, substitution, words


def _frame(text: str) -> bytes:
    """Return what is no letter or digit of words."""
    return text.encode("ascii", "replace").translate(None, PLAIN)


def _are_names(words: list[str]) -> bool:
    """Return whether words mean nothing to the readers, wherever they stand."""
    text = f"\n{chr(10).join(words)}\n"
    return not words or (
        MEANING.isdisjoint(words)
        and not any(odd in text for odd in ("\n\n", "\n-", ":\n"))
        and max(map(len, words)) <= MAX_DIGITS
    )


def substitution(
    layout: LineLayout, root: Node, old: list[str], new: list[str], changed: list[int]
) -> Substitution | None:
    """Return what turns a tree into that of other lines, `changed` of which differ; None for more than other words."""
    is_set = bool(root.flags & FLAT)
    statements = [at for at in changed if layout.blocks[at] is not None]
    before, after = (_frame("\n".join([lines[at] for at in statements])) for lines in (old, new))
    if before != after or before.translate(None, AROUND):
        return None
    rows: list[_Row] = []
    single: list[_OneWord] = []
    renamed: dict[int, tuple[int, Node]] = {}
    uses = Counter[int]()
    for at in statements:
        words, other = words_of(old[at], is_set) or [], words_of(new[at], is_set) or []
        differ = [number for number, (one, two) in enumerate(zip(words, other, strict=False)) if one != two]
        nodes = _nodes(layout.blocks[at], words)
        for number in differ:
            key = id(nodes[number])
            uses[key] += 1
            renamed.setdefault(key, (len(renamed), nodes[number]))
        slots = tuple(renamed[id(nodes[number])][0] for number in differ)
        if '"' not in old[at] and len(slots) == 1:
            start = [found.start() for found in WORD.finditer(old[at])][differ[0] + is_set]
            end = start + len(words[differ[0]])
            single.append(_OneWord(at, old[at][:start], old[at][end:], slots[0]))
        else:
            rows.append(_Row(at, words, tuple(differ), slots, '"' not in old[at]))
    # What a line that is the same names, too, is something else now.
    if any(layout.uses[key] != number for key, number in uses.items()):
        return None
    if not _are_names([node.word for _, node in renamed.values()]):
        return None
    notes = [at for at in changed if layout.blocks[at] is None]
    noted = [layout.noted.get(old[at].lstrip(" ")) if COMMENT.fullmatch(old[at]) else None for at in notes]
    owners = [node for node in noted if node is not None]
    if len(owners) < len(notes):
        return None
    copied = _copied(layout.parents, root, renamed, owners)
    places = {id(root): 0} | {id(one.node): number for number, one in enumerate(copied, 1)}
    around = {one.parent for one in copied if one.new is not None and not one.is_only}
    commented = [(at, places[id(node)]) for at, node in zip(notes, owners, strict=True)]
    return Substitution(
        statements, single, rows, commented, copied, sorted(around), len(renamed), is_set, _other_words(copied)
    )


def _nodes(block: Node | None, words: list[str]) -> list[Node]:
    """Return the nodes of words below a block, which has them."""
    nodes: list[Node] = []
    for word in words:
        block = block.children[word] if block is not None else None
        if block is not None:
            nodes.append(block)
    return nodes


def _copied(
    parents: dict[int, Node], root: Node, renamed: dict[int, tuple[int, Node]], others: list[Node]
) -> list[_Copied]:
    """Return the nodes to copy, each behind its parent: those that differ, and all around them."""
    order: dict[int, tuple[int, Node]] = {id(root): (0, root)}
    for lowest in (*(node for _, node in renamed.values()), *others):
        node, way = lowest, []
        while id(node) not in order:
            way.append(node)
            node = parents[id(node)]
        for one in reversed(way):
            order[id(one)] = len(order), one
    found = []
    for key, (number, node) in order.items():
        if number:
            parent = parents[key]
            new = renamed[key][0] if key in renamed else None
            alone = len(parent.children) == 1 and parent is not root
            is_full = bool(node.children) and not (len(node.children) == 1 and id(next(iter(node))) in order)
            found.append(_Copied(node, order[id(parent)][0], new, alone, is_full))
    return found


def _other_words(copied: list[_Copied]) -> dict[int, list[OtherWord]]:
    """Return the other words below each node that is copied, by its id."""
    found: dict[int, list[OtherWord]] = {id(one.node): [] for one in copied}
    for one in copied:
        if one.new is not None:
            path: tuple[str, ...] = (one.node.word,)
            at = one.parent
            while at:
                # The copy of the root is in front of them.
                around = copied[at - 1]
                found[id(around.node)].append(OtherWord(path, one.new, one.is_only))
                path, at = (around.node.word, *path), around.parent
    return found


def _twin(node: Node) -> Node:
    twin = Node(node.word, node.line, node.flags)
    twin.children = node.children.copy()
    twin.comment = node.comment
    return twin
