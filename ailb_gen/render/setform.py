"""Curly Junos text as `set` lines: the same statements, one per line, as `display set` prints them."""

import re
from collections.abc import Iterator

from ailb_gen.errors import TemplateError

TOKEN = re.compile(
    r'(?P<comment>/\*.*?\*/|\#[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<mark>[{};\[\]])|(?P<word>[^\s{};\[\]"]+)'
    r"|(?P<space>\s+)|(?P<bad>.)",
    re.DOTALL,
)
# One-line statements that hold several: (parent, keyword) -> words that start a statement of their own,
# with the number of values each takes (YANG: junos:cli-feature "oneliner").
ONELINERS = {("forwarding-classes", "class"): {"queue-num": 1, "no-loss": 0, "pfc-priority": 1}}


def _tokens(text: str, subject: str) -> Iterator[tuple[str, str, int]]:
    for found in TOKEN.finditer(text):
        kind = found.lastgroup or ""
        if kind in ("comment", "space"):
            continue
        if kind == "bad":
            line = text.count("\n", 0, found.start()) + 1
            raise TemplateError(f"{subject}:{line}: a quoted string is not closed")
        yield kind, found.group(), found.start()


def _split(path: list[str], words: list[str]) -> list[list[str]]:
    """Split a one-line statement into the statements it holds."""
    starts = ONELINERS.get((path[-1] if path else "", words[0]))
    if starts is None or len(words) < 3:
        return [words]
    head, rest = words[:2], words[2:]
    rows = []
    while rest:
        size = 1 + starts.get(rest[0], len(rest))
        rows.append([*head, *rest[:size]])
        rest = rest[size:]
    return rows


def statements(text: str, subject: str) -> Iterator[list[str]]:
    """Yield every statement of curly text as its full path of words; a list gives one statement per value.

    Raises TemplateError with the line when braces, brackets or semicolons do not match.
    """
    path: list[str] = []
    depths: list[tuple[int, int]] = []
    words: list[str] = []
    values: list[str] | None = None
    for _, token, start in _tokens(text, subject):
        if values is not None and token not in ("]",):
            if token in "{};[":
                raise _unbalanced(text, subject, start, f"{token!r} inside a list")
            values.append(token)
        elif token == "[":
            values = []
        elif token == "]":
            if values is None:
                raise _unbalanced(text, subject, start, "']' without '['")
            # A list ends a statement; what it holds is kept as one word until the semicolon.
            words.append("\0".join(values))
            values = None
        elif token == "{":
            if not words:
                raise _unbalanced(text, subject, start, "'{' without a statement")
            depths.append((len(words), start))
            path += words
            words = []
        elif token == "}":
            if words or not depths:
                raise _unbalanced(text, subject, start, "';' is missing before '}'" if words else "'}' too many")
            size, _ = depths.pop()
            del path[-size:]
        elif token == ";":
            if words:
                for row in _split(path, words):
                    yield from _listed([*path, *row])
            words = []
        else:
            words.append(token)
    if depths or words or values is not None:
        where = depths[-1][1] if depths else len(text.rstrip()) - 1
        raise _unbalanced(text, subject, where, "'{' is never closed" if depths else "';' is missing at the end")


def _listed(words: list[str]) -> Iterator[list[str]]:
    if "\0" not in words[-1]:
        yield words
        return
    for value in words[-1].split("\0"):
        yield [*words[:-1], value]


def _unbalanced(text: str, subject: str, start: int, reason: str) -> TemplateError:
    line = text.count("\n", 0, start) + 1
    return TemplateError(f"{subject}:{line}: {reason}")


def to_set(text: str, subject: str) -> str:
    """Write curly text as set lines; comments are left out. Raises TemplateError for unbalanced text."""
    return "".join(f"set {' '.join(words)}\n" for words in statements(text, subject))
