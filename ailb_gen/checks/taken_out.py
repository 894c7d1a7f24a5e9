"""Statements that a file holds and takes out again: by commands of set text, and as comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from ailb_gen.errors import AilbError
from ailb_gen.junos.commands import commands
from ailb_gen.junos.reader import read
from ailb_gen.junos.tokens import plain
from ailb_gen.junos.tree import Node

Words = tuple[str, ...]
# What the commands do, and the words behind which they name another place of the same statement.
VERBS = {"delete": "is deleted", "insert": "is moved"}
PLACES = ("before", "after")
# A line that was a statement before `#` came in front of it.
LINE = re.compile(r"^([ \t]*)#+(?=[ \t]*(?:set[ \t]|[^#\n]*[;{}][ \t]*$))", re.MULTILINE)
# What a comment has that holds statements.
STATEMENTS = re.compile(r"[;{}]|^\s*set\s")


def taken_out(text: str, file: str, written: Node, is_set: bool) -> dict[Words, tuple[int, str]]:
    """Return the statements taken out of a file that was read as `written`: line and manner, by path."""
    found: dict[Words, tuple[int, str]] = {}
    if is_set and any(verb in text for verb in VERBS):
        for command in commands(text, file):
            if command.verb in VERBS:
                words = takewhile(lambda word: word not in PLACES, map(plain, command.words))
                found[tuple(words)] = (command.line, VERBS[command.verb])
    opened = LINE.sub(r"\1", "".join(_without_marks(text)))
    if opened != text:
        try:
            found |= {words: (line, "is a comment") for words, line in _more(read(opened, file), written)}
        except AilbError:
            # Such comments are no statements.
            return found
    return found


def _without_marks(text: str) -> Iterator[str]:
    """Yield a text in pieces, with blanks for the marks of comments that hold statements."""
    done = 0
    while (start := text.find("/*", done)) >= 0 and (end := text.find("*/", start + 2)) >= 0:
        inside, stop = text[start + 2 : end], end + 2
        yield text[done:start]
        yield f"  {inside}  " if STATEMENTS.search(inside) else text[start:stop]
        done = stop
    yield text[done:]


def _more(opened: Node, written: Node) -> Iterator[tuple[Words, int]]:
    """Yield the paths that only the first of two trees has, each to where it leaves the second, with its line."""
    stack: list[tuple[Words, Node, Node]] = [((), opened, written)]
    while stack:
        words, node, known = stack.pop()
        for child in node:
            other = known.get(child.word)
            if other is None:
                yield (*words, child.word), child.line
            else:
                stack.append(((*words, child.word), child, other))
