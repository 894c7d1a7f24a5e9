"""Curly Junos text as statements: enough to check a user's own text and to write it as set lines."""

import re
from collections.abc import Iterator

SYMBOL = re.compile(
    r'(?P<comment>/\*.*?\*/|\#[^\n]*)|(?P<open>/\*)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<mark>[{};\[\]])'
    r'|(?P<word>(?:(?!/\*)[^\s{};\[\]"\x00-\x1f\x7f])+)|(?P<space>\s+)|(?P<bad>.)',
    re.DOTALL,
)
# One-line statements that hold several: (parent, keyword) -> words that start a statement of their own,
# with the number of values each takes (YANG: junos:cli-feature "oneliner").
ONELINERS = {("forwarding-classes", "class"): {"queue-num": 1, "no-loss": 0, "pfc-priority": 1}}
Words = list[str]


class JunosTextError(ValueError):
    """Text whose braces, brackets, quotes or semicolons do not match; `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line, self.reason = line, reason


def _symbols(text: str) -> Iterator[tuple[str, int]]:
    for found in SYMBOL.finditer(text):
        kind = found.lastgroup
        if kind == "open":
            raise JunosTextError(_line(text, found.start()), "a comment is not closed")
        if kind == "bad":
            reason = (
                "a quoted string is not closed" if found.group() == '"' else f"a control character {found.group()!r}"
            )
            raise JunosTextError(_line(text, found.start()), reason)
        if kind not in ("comment", "space"):
            yield found.group(), found.start()


def _line(text: str, start: int) -> int:
    return text.count("\n", 0, start) + 1


def _split(path: Words, words: Words) -> list[Words]:
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

    __slots__ = ("listed", "opened", "path", "seen", "values", "words")

    def __init__(self) -> None:
        self.path: Words = []
        self.opened: list[tuple[int, int]] = []
        # Whether the block that is open now holds a statement; one entry per open block.
        self.seen: list[bool] = []
        self.words: Words = []
        self.values: Words | None = None
        self.listed: Words | None = None

    def feed(self, symbol: str, start: int) -> list[Words]:
        """Take one symbol. Raises ValueError with the reason when it cannot stand here."""
        if self.values is not None and symbol != "]":
            if symbol in "{};[":
                raise ValueError(f"{symbol!r} inside a list")
            self.values.append(symbol)
            return []
        if symbol in MARKS:
            return MARKS[symbol](self, start)
        if self.listed is not None:
            raise ValueError(f"{symbol!r} behind a list")
        self.words.append(symbol)
        return []

    def open_list(self, _: int) -> list[Words]:
        if not self.words or self.listed is not None:
            raise ValueError("'[' without a statement")
        self.values = []
        return []

    def close_list(self, _: int) -> list[Words]:
        if self.values is None:
            raise ValueError("']' without '['")
        if not self.values:
            raise ValueError("an empty list")
        self.listed, self.values = self.values, None
        return []

    def open(self, start: int) -> list[Words]:
        if not self.words or self.listed is not None:
            raise ValueError("'{' without a statement")
        self.opened.append((len(self.words), start))
        self.seen.append(False)
        self.path += self.words
        self.words = []
        return []

    def close(self, _: int) -> list[Words]:
        if self.words:
            raise ValueError("';' is missing before '}'")
        if not self.opened:
            raise ValueError("'}' without '{'")
        size, _ = self.opened.pop()
        rows = [] if self.seen.pop() else [list(self.path)]
        del self.path[-size:]
        self._note()
        return rows

    def end(self, _: int) -> list[Words]:
        words, self.words = self.words, []
        values, self.listed = self.listed, None
        if not words:
            return []
        self._note()
        if values is not None:
            return [[*self.path, *words, value] for value in values]
        return [[*self.path, *row] for row in _split(self.path, words)]

    def _note(self) -> None:
        if self.seen:
            self.seen[-1] = True


MARKS = {"{": _Reader.open, "}": _Reader.close, "[": _Reader.open_list, "]": _Reader.close_list, ";": _Reader.end}


def statements(text: str) -> Iterator[Words]:
    """Yield every statement of curly text as its full path of words; a list gives one statement per value.

    Raises JunosTextError when braces, brackets, quotes or semicolons do not match.
    """
    reader = _Reader()
    for symbol, start in _symbols(text):
        try:
            yield from reader.feed(symbol, start)
        except ValueError as error:
            raise JunosTextError(_line(text, start), str(error)) from error
    if reader.opened:
        raise JunosTextError(_line(text, reader.opened[-1][1]), "'{' is never closed")
    if reader.words or reader.values is not None:
        raise JunosTextError(_line(text, len(text.rstrip()) - 1), "';' is missing at the end")
