"""What a push changes, side by side: what a device has, and what it is to have, with the statements around each change.

Statements are compared block by block, so that their order counts only where it counts in Junos. Blocks without a
change, and statements far from any, are left out and counted. Secrets are replaced.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from ailb_gen.deploy.servers.files import HostFile
from ailb_gen.junos.block_layout import lay_out
from ailb_gen.junos.diff import rising, unlike_nodes
from ailb_gen.junos.tree import FLAT, Node
from ailb_gen.junos.writer import MARK, statements, tags_of
from ailb_gen.redact.files import redact_file
from ailb_gen.redact.text import redact
from ailb_gen.wording import counted

# Kinds of rows: the same left and right, added, removed, replaced, moved away from and to a place, left out.
SAME, ADDED, REMOVED, REPLACED, MOVED_AWAY, MOVED_HERE, HIDDEN = " ", "+", "-", "~", "<", ">", "…"
CHANGES = frozenset({ADDED, REMOVED, REPLACED, MOVED_AWAY, MOVED_HERE})
# The number of statements that are shown around a change.
AROUND = 3
# Files of more lines are not compared line by line: no push has written one, and equal lines take their square.
MOST_LINES = 5_000
# Deeper blocks are shown folded: a text of a thousand levels is valid.
DEEPEST = 60
FOLDED = "{ … }"
# What a set of statements in a block begins with whose order counts; communities only where a policy acts on them.
ORDERED = ("term", "rule")


class SideBySideRow(NamedTuple):
    """A line of the comparison; `depth` counts the blocks around it. A side that has nothing is empty.

    `left` of a HIDDEN row is the number of statements that are left out.
    """

    kind: str
    depth: int
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class ComparedStatement:
    """A statement: its words, the tags in front, its block if it has one, and whether the device marks it as secret."""

    words: str
    tags: str
    block: Node | None
    secret: bool

    @property
    def text(self) -> str:
        """The line that it is, or that its block begins with."""
        return f"{self.tags}{self.words}{' {' if self.block is not None else ';'}{f' {MARK}' if self.secret else ''}"

    @property
    def folded(self) -> str:
        """The same with its block on one line, without what is in it."""
        return f"{self.tags}{self.words} {FOLDED}" if self.block is not None else self.text

    @property
    def lead(self) -> str:
        """What stands in front of the value."""
        front, bracket, _ = self.words.partition(" [ ")
        return front if bracket else self.words.rpartition(" ")[0]


def side_by_side(running: Node, target: Node) -> tuple[SideBySideRow, ...]:
    """Compare what a switch has with what it is to have; secrets are replaced."""
    for tree in (running, target):
        if tree.flags & FLAT:
            lay_out(tree)
    return _redacted(_block(running, target, 0, unlike_nodes(running, target)))


def files_side_by_side(found: Mapping[str, HostFile], wanted: Mapping[str, HostFile]) -> tuple[SideBySideRow, ...]:
    """Compare files of a server by path, line by line; secrets are replaced."""
    rows: list[SideBySideRow] = []
    for path in sorted({*found, *wanted}):
        old, new = found.get(path), wanted.get(path)
        if old == new:
            continue
        name = f"/{path}"
        rows.append(SideBySideRow(_kind(old is not None, new is not None), 0, name if old else "", name if new else ""))
        rows += _lines_compared(path, _lines(old), _lines(new))
    return tuple(rows)


def packed(rows: Iterable[SideBySideRow]) -> bytes:
    """Return rows compressed: a large fabric has millions."""
    return zlib.compress(json.dumps([*rows], ensure_ascii=False).encode("utf-8", "backslashreplace"), 1)


def unpacked(data: bytes) -> tuple[SideBySideRow, ...]:
    """Return the rows that were packed."""
    return tuple(SideBySideRow(*row) for row in json.loads(zlib.decompress(data))) if data else ()


def changes_of(rows: Iterable[SideBySideRow]) -> Iterator[tuple[str, ...]]:
    """Yield the changed rows with the blocks around them: the same for two devices with the same change."""
    path: list[str] = []
    for row in rows:
        del path[row.depth :]
        if row.kind in CHANGES:
            yield (row.kind, *path, row.left, row.right)
        path.append(row.right or row.left)


def _block(old: Node, new: Node, depth: int, unlike: frozenset[int]) -> list[SideBySideRow]:
    """Compare two blocks; no rows if nothing in them differs."""
    before, after = list(_statements(old)), list(_statements(new))
    twins = _twins(before, after)
    moved = _moved(before, after, twins, old.word == "then")
    # Behind which statement of the first block what is new, or was moved, belongs.
    added: dict[int, list[SideBySideRow]] = {}
    anchor = -1
    origin = {there: here for here, there in twins.items()}
    for at, statement in enumerate(after):
        if at not in origin:
            added.setdefault(anchor, []).extend(_all(statement, depth, ADDED))
        elif origin[at] in moved:
            added.setdefault(anchor, []).append(SideBySideRow(MOVED_HERE, depth, "", statement.folded))
        else:
            anchor = origin[at]
    items: list[tuple[bool, list[SideBySideRow]]] = [(True, added[-1])] if -1 in added else []
    for at, statement in enumerate(before):
        rows: list[SideBySideRow] = []
        if at not in twins:
            rows = list(_all(statement, depth, REMOVED))
        else:
            rows = list(_pair(statement, after[twins[at]], depth, unlike, at in moved))
        items.append((bool(rows), rows or [SideBySideRow(SAME, depth, statement.folded, statement.folded)]))
        if at in added:
            items.append((True, added[at]))
    return list(_around(items, depth)) if any(changed for changed, _ in items) else []


def _statements(block: Node) -> Iterator[ComparedStatement]:
    for words, inner, flags, comments in statements(block):
        yield ComparedStatement(words, tags_of(flags), inner, MARK in comments)


def _twins(before: Sequence[ComparedStatement], after: Sequence[ComparedStatement]) -> dict[int, int]:
    """Return which statement of the second block is which of the first: the same words, else another value."""
    places = {statement.words: at for at, statement in enumerate(after)}
    twins = {at: places[one.words] for at, one in enumerate(before) if one.words in places}
    taken = set(twins.values())
    left: dict[str, list[int]] = {}
    right: dict[str, list[int]] = {}
    for leads, listed, done in ((left, before, twins.keys()), (right, after, taken)):
        for at, one in enumerate(listed):
            if at not in done and one.block is None and one.lead:
                leads.setdefault(one.lead, []).append(at)
    twins.update({ats[0]: right[lead][0] for lead, ats in left.items() if len(ats) == len(right.get(lead, ())) == 1})
    return twins


def _moved(
    before: Sequence[ComparedStatement], after: Sequence[ComparedStatement], twins: Mapping[int, int], acts: bool
) -> frozenset[int]:
    """Return the statements of the first block that stand elsewhere in the second, where their order counts."""
    found: set[int] = set()
    for word in (*ORDERED, *(("community",) if acts else ())):
        listed = [at for at in sorted(twins) if before[at].words.startswith(f"{word} ")]
        stay = rising([twins[at] for at in listed]) if listed else set()
        found |= {at for at in listed if twins[at] not in stay}
    return frozenset(found)


def _pair(
    old: ComparedStatement, new: ComparedStatement, depth: int, unlike: frozenset[int], moved: bool
) -> Iterator[SideBySideRow]:
    """Compare a statement with its twin; nothing if they are the same."""
    inner: list[SideBySideRow] = []
    if old.block is not None and new.block is not None:
        if id(old.block) in unlike:
            inner = _block(old.block, new.block, depth + 1, unlike) if depth < DEEPEST else []
            if not inner and depth >= DEEPEST:
                yield SideBySideRow(REPLACED, depth, old.folded, new.folded)
                return
    elif (block := old.block or new.block) is not None:
        inner = [row for one in _statements(block) for row in _all(one, depth + 1, REMOVED if old.block else ADDED)]
    if moved:
        yield SideBySideRow(MOVED_AWAY, depth, old.folded, "")
    same = (old.tags, old.words) == (new.tags, new.words) and not inner
    if same or (moved and not inner):
        return
    kind = SAME if (old.tags, old.words, old.block is None) == (new.tags, new.words, new.block is None) else REPLACED
    yield SideBySideRow(kind, depth, old.text if inner else old.folded, new.text if inner else new.folded)
    yield from inner
    if inner:
        ours, theirs = old.block is not None, new.block is not None
        yield SideBySideRow(_kind(ours, theirs), depth, "}" if ours else "", "}" if theirs else "")


def _all(statement: ComparedStatement, depth: int, kind: str) -> Iterator[SideBySideRow]:
    """Yield all lines of a statement that one side alone has."""

    def row(text: str, level: int) -> SideBySideRow:
        return SideBySideRow(kind, level, *((text, "") if kind == REMOVED else ("", text)))

    stack = [iter([statement])]
    while stack:
        level = depth + len(stack) - 1
        one = next(stack[-1], None)
        if one is None:
            stack.pop()
            if stack:
                yield row("}", level - 1)
        elif one.block is None or level >= DEEPEST:
            yield row(one.folded, level)
        else:
            yield row(one.text, level)
            stack.append(_statements(one.block))


def _around(items: Sequence[tuple[bool, list[SideBySideRow]]], depth: int) -> Iterator[SideBySideRow]:
    """Yield the rows of what changes and of what stands around it; the others are counted.

    Around a block that only holds a change nothing is shown: its own statements say enough.
    """
    changed = [at for at, (differs, rows) in enumerate(items) if differs and rows[0].kind in CHANGES]
    near = {other for at in changed for other in range(at - AROUND, at + AROUND + 1)}
    hidden = 0
    for at, (differs, rows) in enumerate(items):
        if not differs and at not in near:
            hidden += 1
            continue
        if hidden and changed:
            yield SideBySideRow(HIDDEN, depth, str(hidden), "")
        hidden = 0
        yield from rows
    if hidden and changed:
        yield SideBySideRow(HIDDEN, depth, str(hidden), "")


def _kind(left: bool, right: bool) -> str:
    return SAME if left and right else REMOVED if left else ADDED


def _redacted(rows: Sequence[SideBySideRow]) -> tuple[SideBySideRow, ...]:
    """Replace secrets, left and right each as one text: the blocks around a word say what it is."""
    left = _side_redacted([row.left if row.kind != HIDDEN else "" for row in rows])
    right = _side_redacted([row.right for row in rows])
    return tuple(
        row if row.kind == HIDDEN else SideBySideRow(row.kind, row.depth, one, other)
        for row, one, other in zip(rows, left, right, strict=True)
    )


def _side_redacted(texts: Sequence[str]) -> list[str]:
    # A value may have several lines.
    heights = [text.count("\n") + 1 for text in texts]
    lines = redact("\n".join(texts)).split("\n")
    if len(lines) != sum(heights):
        lines, heights = [redact(text) for text in texts], [1] * len(texts)
    found, at = [], 0
    for height in heights:
        found.append("\n".join(lines[at : at + height]).removesuffix(f" {MARK}"))
        at += height
    return found


def _lines(file: HostFile | None) -> list[str]:
    """Return a file's lines; of a link where it leads, of what is no text its size."""
    if file is None:
        return []
    if file.is_link:
        return [f"link to {file.content.decode('utf-8', 'backslashreplace')}"]
    try:
        return [f"mode {file.mode & 0o7777:o}", *file.content.decode().splitlines()]
    except UnicodeDecodeError:
        return [f"{len(file.content)} bytes, SHA-256 {file.digest}"]


def _shown(path: str, lines: Sequence[str]) -> list[str]:
    others = redact_file(path, "\n".join(lines[1:])).split("\n") if len(lines) > 1 else []
    return [*map(redact, lines[:1]), *others]


def _lines_compared(path: str, before: Sequence[str], after: Sequence[str]) -> Iterator[SideBySideRow]:
    ours, theirs = _shown(path, before), _shown(path, after)
    if len(before) > MOST_LINES:
        yield SideBySideRow(REPLACED, 1, counted(len(before), "line"), counted(len(after), "line"))
        return
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(AROUND):
        for verb, start, stop, begin, end in group:
            if verb == "equal":
                yield from (SideBySideRow(SAME, 1, line, line) for line in ours[start:stop])
                continue
            both = min(stop - start, end - begin)
            pairs = zip(ours[start : start + both], theirs[begin : begin + both], strict=True)
            yield from (SideBySideRow(REPLACED, 1, *pair) for pair in pairs)
            yield from (SideBySideRow(REMOVED, 1, line, "") for line in ours[start + both : stop])
            yield from (SideBySideRow(ADDED, 1, "", line) for line in theirs[begin + both : end])
