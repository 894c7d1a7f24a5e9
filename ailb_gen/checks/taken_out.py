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
LINE = re.compile(r"^(\s*)#+(?=\s*(?:set\s|[^#\n]*[;{}]\s*$))", re.MULTILINE)
# Comments are no longer than a file, and have no beginning in them.
BLOCK = re.compile(r"/\*([^*]*[;{}][^*]*)\*/|/\*(\s*set\s[^*]*)\*/")


def taken_out(text: str, file: str, written: Node, is_set: bool) -> dict[Words, tuple[int, str]]:
    """Return what is taken out of a file that was read as `written`: its line, and how, by its path."""
    found: dict[Words, tuple[int, str]] = {}
    if is_set and any(verb in text for verb in VERBS):
        for command in commands(text, file):
            if command.verb in VERBS:
                words = takewhile(lambda word: word not in PLACES, map(plain, command.words))
                found[tuple(words)] = (command.line, VERBS[command.verb])
    opened = LINE.sub(r"\1", BLOCK.sub(lambda match: f"  {match[1] or match[2]}  ", text))
    if opened != text:
        try:
            found |= {words: (line, "is a comment") for words, line in _more(read(opened, file), written)}
        except AilbError:
            # Such comments are no statements.
            return found
    return found


def _more(opened: Node, written: Node) -> Iterator[tuple[Words, int]]:
    """Yield the paths that only the first of two trees has, each to where it leaves the second, with its line."""
    for child in opened:
        other = written.get(child.word)
        if other is None:
            yield (child.word,), child.line
        else:
            yield from (((child.word, *words), line) for words, line in _more(child, other))
