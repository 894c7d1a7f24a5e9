"""The patch that `show | compare` prints: the changes at each level of the hierarchy.

Source: Juniper, CLI User Guide, "Compare Configuration Changes with a Prior Version".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ailb_gen.junos.block_layout import lay_out
from ailb_gen.junos.grammar import FIRST_COUNTS, form_of, inside
from ailb_gen.junos.tree import FLAT, Node
from ailb_gen.junos.writer import MARK, statements, tags_of

# How far a changed value, a list entry, and anything else stand from the mark at the start of their line.
CHANGED, ENTRY, OTHER = "  ", "    ", "   "


@dataclass(frozen=True, slots=True)
class PatchStatement:
    """A statement as it is written: `head` without tags and marks, `block` None if it has no braces."""

    head: str
    tags: str
    mark: str
    block: dict[str, PatchStatement] | None

    def lines(self, indent: str = "") -> Iterator[str]:
        """Iterate over the lines of the statement."""
        if self.block is None:
            yield f"{indent}{self.tags}{self.head};{self.mark}"
            return
        yield f"{indent}{self.tags}{self.head} {{{self.mark}"
        for below in self.block.values():
            yield from below.lines(indent + "    ")
        yield f"{indent}}}"

    def short(self) -> str:
        """Return the statement on one line."""
        return f"{self.head};" if self.block is None else f"{self.head} {{ ... }}"


def patch(old: Node, new: Node) -> str:
    """Return the patch from the first tree to the second, as Junos prints it; empty if they are equal."""
    for tree in (old, new):
        if tree.flags & FLAT:
            lay_out(tree)
    return "".join(f"{line}\n" for line in _compare(_blocks(old), _blocks(new), (), ""))


def _blocks(block: Node) -> dict[str, PatchStatement]:
    return {
        text: PatchStatement(
            text, tags_of(flags), f" {MARK}" if MARK in comments else "", None if below is None else _blocks(below)
        )
        for text, below, flags, comments in statements(block)
    }


def _compare(
    old: dict[str, PatchStatement], new: dict[str, PatchStatement], path: Sequence[str], parent: str
) -> Iterator[str]:
    changes = list(_changes(old, new, parent))
    if changes:
        yield f"[edit{''.join(f' {head}' for head in path)}]"
        yield from changes
    for head, after in new.items():
        before = old.get(head)
        if before is not None and before.block is not None and after.block is not None:
            yield from _compare(before.block, after.block, (*path, head), _below(parent, head))


def _below(parent: str, head: str) -> str:
    """Return the name by which the grammar knows the block that a statement opens."""
    words = head.split()
    if words[0] == "family" and len(words) > 1:
        return inside(inside(parent, words[0]), words[1])
    return inside(parent, words[0])


def _changes(old: dict[str, PatchStatement], new: dict[str, PatchStatement], parent: str) -> Iterator[str]:
    """Iterate over the lines of the changes right in a block."""
    gone = {_subject(head, parent): head for head in old if head not in new}
    pairs = {head: gone[_subject(head, parent)] for head in new if head not in old and _subject(head, parent) in gone}
    moved = _moved(old, new)
    paired = set(pairs.values())
    for head, before in old.items():
        if head not in new and head not in paired:
            yield from _marked("-", before, _indent(head, parent))
    last: PatchStatement | None = None
    for head, after in new.items():
        earlier = old.get(head)
        if earlier is None:
            if head in pairs:
                yield from _marked("-", old[pairs[head]], CHANGED)
                yield from _marked("+", after, CHANGED)
            else:
                if last is not None and _counts(head) and _counts(last.head):
                    yield f" {ENTRY}{last.short()}"
                yield from _marked("+", after, _indent(head, parent))
        elif (earlier.block is None) != (after.block is None):
            yield from _marked("-", earlier, _indent(head, parent))
            yield from _marked("+", after, _indent(head, parent))
        else:
            if earlier.tags != after.tags:
                yield f"!{OTHER}{_switched(earlier.tags, after.tags)}{after.short()}"
            if head in moved:
                yield f"!{ENTRY}{after.short()}"
        last = after


def _subject(head: str, parent: str) -> str:
    """Return the subject of a statement: its first word, with keys its whole head."""
    word = head.split(None, 1)[0]
    keys, _ = form_of(parent, word)
    return head if keys or " " not in head or word == "family" else f"{word} "


def _switched(before: str, after: str) -> str:
    if after:
        return after
    return before.replace("inactive", "active").replace("protect", "unprotect")


def _indent(head: str, parent: str) -> str:
    return ENTRY if form_of(parent, head.split(None, 1)[0])[0] else OTHER


def _counts(head: str) -> bool:
    """Return whether the place of a statement among its neighbors matters."""
    return FIRST_COUNTS.get(head.split(None, 1)[0], False)


def _moved(old: dict[str, PatchStatement], new: dict[str, PatchStatement]) -> set[str]:
    """Return the entries that both have, whose order counts, and that stand elsewhere now."""
    first = [head for head in old if head in new and _counts(head)]
    second = [head for head in new if head in old and _counts(head)]
    if first == second:
        return set()
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    stay = {head for block in blocks for head in second[block.b : block.b + block.size]}
    return set(second) - stay


def _marked(mark: str, statement: PatchStatement, indent: str) -> Iterator[str]:
    for line in statement.lines():
        yield f"{mark}{indent}{line}"
