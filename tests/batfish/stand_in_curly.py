"""Curly Junos text as `set` lines, each with its line of the text and with the braces around it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.batfish.plain_text import Line, PlainError

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = re.compile(r'/\*.*?\*/|#[^\n]*|"(?:\\.|[^"\\])*"|[{};\[\]]|[^\s{};\[\]"#]+|\n', re.DOTALL)


@dataclass(slots=True)
class _Block:
    """An open block: how many words stand in front of its brace, and the lines of both braces."""

    words: int
    opened: int
    closed: int = 0


@dataclass(slots=True)
class _Reader:
    file: str
    found: list[tuple[tuple[str, ...], int, list[_Block]]] = field(default_factory=list)
    before: list[list[str]] = field(default_factory=list)
    blocks: list[_Block] = field(default_factory=list)
    words: list[tuple[str, int]] = field(default_factory=list)
    listed: list[tuple[str, int]] | None = None

    def take(self, token: str, number: int) -> None:
        match token:
            case "{":
                self.before.append([word for word, _ in self.words])
                self.blocks.append(_Block(sum(map(len, self.before)), number))
                self.words = []
            case "}":
                if not self.blocks or self.words:
                    raise PlainError(f"{self.file}:{number}: '}}' where none can be")
                self.blocks.pop().closed = number
                self.before.pop()
            case "[":
                self.listed = []
            case "]":
                pass
            case ";":
                self.end()
            case _:
                (self.words if self.listed is None else self.listed).append((token, number))

    def end(self) -> None:
        """End a statement; one with `[ A B ]` is several."""
        before = [word for words in self.before for word in words]
        own = [word for word, _ in self.words]
        # Batfish, like Junos, takes what is marked as inactive for absent.
        if "inactive:" not in (*before, *own):
            for last in [[]] if self.listed is None else [[one] for one in self.listed]:
                words = (*before, *own, *(word for word, _ in last))
                self.found.append((words, (last or self.words)[-1][1], list(self.blocks)))
        self.words, self.listed = [], None


def curly_lines(text: str, file: str) -> Iterator[Line]:
    """Read curly text. Raises PlainError for braces that do not match."""
    reader, number = _Reader(file), 1
    for token in TOKEN.findall(text):
        if token[0] not in "#\n" and not token.startswith("/*"):
            reader.take(token, number)
        number += token.count("\n")
    if reader.blocks or reader.words:
        raise PlainError(f"{file}: the text ends inside a statement")
    for words, line, blocks in reader.found:
        braces = tuple((block.words, block.opened, block.closed) for block in blocks)
        yield Line(tuple(word.strip('"') for word in words), line, f"set {' '.join(words)}", braces)
