"""Curly Junos text as `set` lines: the same statements, one per line, as `display set` prints them."""

import re
from collections.abc import Iterator

from ailb_gen.errors import TemplateError

SYMBOL = re.compile(
    r'(?P<comment>/\*.*?\*/|\#[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<mark>[{};\[\]])|(?P<word>[^\s{};\[\]"]+)'
    r"|(?P<space>\s+)|(?P<bad>.)",
    re.DOTALL,
)
# One-line statements that hold several: (parent, keyword) -> words that start a statement of their own,
# with the number of values each takes (YANG: junos:cli-feature "oneliner").
ONELINERS = {("forwarding-classes", "class"): {"queue-num": 1, "no-loss": 0, "pfc-priority": 1}}


def _symbols(text: str, subject: str) -> Iterator[tuple[str, int]]:
    for found in SYMBOL.finditer(text):
        kind = found.lastgroup or ""
        if kind in ("comment", "space"):
            continue
        if kind == "bad":
            line = text.count("\n", 0, found.start()) + 1
            raise TemplateError(f"{subject}:{line}: a quoted string is not closed")
        yield found.group(), found.start()


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


class _Reader:
    """Follows the braces; `feed` takes one symbol and returns the statements that it ends."""

    __slots__ = ("opened", "path", "values", "words")

    def __init__(self) -> None:
        self.path: list[str] = []
        self.opened: list[tuple[int, int]] = []
        self.words: list[str] = []
        self.values: list[str] | None = None

    def feed(self, symbol: str, start: int) -> list[list[str]]:
        """Take one symbol. Raises ValueError with the reason when it cannot stand here."""
        if self.values is not None and symbol != "]":
            if symbol in "{};[":
                raise ValueError(f"{symbol!r} inside a list")
            self.values.append(symbol)
        elif symbol == ";":
            return self._end()
        elif symbol in MARKS:
            MARKS[symbol](self, start)
        else:
            self.words.append(symbol)
        return []

    def _open_list(self, _: int) -> None:
        self.values = []

    def _close_list(self, _: int) -> None:
        if self.values is None:
            raise ValueError("']' without '['")
        # A list ends a statement; its values are kept as one word until the semicolon.
        self.words.append("\0".join(self.values))
        self.values = None

    def _open(self, start: int) -> None:
        if not self.words:
            raise ValueError("'{' without a statement")
        self.opened.append((len(self.words), start))
        self.path += self.words
        self.words = []

    def _close(self, _: int) -> None:
        if self.words:
            raise ValueError("';' is missing before '}'")
        if not self.opened:
            raise ValueError("'}' without '{'")
        size, _ = self.opened.pop()
        del self.path[-size:]

    def _end(self) -> list[list[str]]:
        words, self.words = self.words, []
        if not words:
            return []
        if "\0" in words[-1]:
            return [[*self.path, *words[:-1], value] for value in words[-1].split("\0")]
        return [[*self.path, *row] for row in _split(self.path, words)]


MARKS = {"{": _Reader._open, "}": _Reader._close, "[": _Reader._open_list, "]": _Reader._close_list}


def statements(text: str, subject: str) -> Iterator[list[str]]:
    """Yield every statement of curly text as its full path of words; a list gives one statement per value.

    Raises TemplateError with the line when braces, brackets or semicolons do not match.
    """
    reader = _Reader()
    for symbol, start in _symbols(text, subject):
        try:
            yield from reader.feed(symbol, start)
        except ValueError as error:
            raise _unbalanced(text, subject, start, str(error)) from error
    if reader.opened:
        raise _unbalanced(text, subject, reader.opened[-1][1], "'{' is never closed")
    if reader.words or reader.values is not None:
        raise _unbalanced(text, subject, len(text.rstrip()) - 1, "';' is missing at the end")


def _unbalanced(text: str, subject: str, start: int, reason: str) -> TemplateError:
    line = text.count("\n", 0, start) + 1
    return TemplateError(f"{subject}:{line}: {reason}")


def to_set(text: str, subject: str) -> str:
    """Write curly text as set lines; comments are left out. Raises TemplateError for unbalanced text."""
    return "".join(f"set {' '.join(words)}\n" for words in statements(text, subject))
