"""The commands of set text, one by one: what `display set` prints and `load set` takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ailb_gen.junos.capture import line_fault
from ailb_gen.junos.tokens import COMMAND_TOKEN, Words, bad, check_string, wrong
from ailb_gen.junos.tree import INACTIVE, PROTECT

# Command to the flag it sets and the flag it clears.
FLAGS = {
    "deactivate": (INACTIVE, 0),
    "activate": (0, INACTIVE),
    "protect": (PROTECT, 0),
    "unprotect": (0, PROTECT),
}
MOVES = ("edit", "top", "exit")
# No statement of curly text starts with one of these.
COMMANDS = frozenset({"set", "delete", "annotate", "insert", *MOVES, *FLAGS})
# Commands whose result depends on what is on the device already.
REFUSED = frozenset({"rename", "copy", "replace", "wildcard", "load", "rollback", "commit", "run"})


class Command(NamedTuple):
    """One command; `words` are as written, `line` and `offset` where it starts. Without a verb: comments alone."""

    verb: str
    words: Words
    comments: list[str]
    line: int
    offset: int


def command_at(text: str, file: str, offset: int, number: int) -> tuple[Command, int, int]:
    """Read the command of a line, which goes on if a quoted string does; `number` is that of the line.

    Returns it, the offset behind, and how many lines more it took. Raises JunosSyntaxError.
    """
    words: Words = []
    comments: list[str] = []
    values: list[str] | None = None
    line, first, at, after = number, number, offset, len(text) + 1
    if reason := line_fault(text, offset):
        raise wrong(file, text, offset, reason)
    for found in COMMAND_TOKEN.finditer(text, offset):
        kind, start, end = found.lastgroup, found.start(), found.end()
        breaks = text.count("\n", start, end) if kind in ("space", "string", "comment") else 0
        if kind == "space" and breaks:
            after, line = text.index("\n", start) + 1, line + 1
            break
        if kind == "comment":
            comments.append(found[0])
        elif kind == "bad":
            raise bad(file, text, start)
        elif kind == "mark":
            values = _bracket(text, file, found[0], start, words, values)
        elif kind != "space":
            if kind == "string":
                check_string(file, text, start, end)
            if not words:
                first, at = line, start
            (words if values is None else values).append(found[0])
        line += breaks
    if values is not None:
        raise wrong(file, text, at, "a list is not closed at the end of the line")
    verb = str(words[0]) if words else ""
    return Command(verb, words[1:], comments, first, at), after, line - number - (after <= len(text))


def commands(text: str, file: str = "") -> Iterator[Command]:
    """Iterate over the commands of a text, comments left out. Raises JunosSyntaxError."""
    offset, number = 0, 1
    while offset < len(text):
        command, offset, more = command_at(text, file, offset, number)
        number += more + 1
        if command.verb:
            yield command


def _bracket(text: str, file: str, mark: str, start: int, words: Words, values: list[str] | None) -> list[str] | None:
    """Take a bracket; return the list that is open then."""
    if mark == "[" and values is None and len(words) > 1:
        return []
    if mark == "]" and values:
        words.append(values)
        return None
    reason = "an empty list" if mark == "]" and values is not None else f"{mark!r} is not allowed here in a set line"
    raise wrong(file, text, start, reason)
