"""Lines of Junos files: `set` lines and curly text, and the statements of an IPv4 shadow, which are all there may be.

A line of another kind in a shadow is an error that names file, line and text: a writer that begins to use a statement
learns at once that nothing here checks it.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A word of a pattern: `*` is any word, `#` a number, `#:#` a standard community, `a|b` one of several; these are kept,
# others stand for themselves.
TERM = "policy-options policy-statement * term *"
GROUP = "protocols bgp group *"
PEER = (
    "family inet unicast",
    "multipath",
    "multipath multiple-as",
    "import *",
    "export *",
    "peer-as #",
    "local-as #",
    "local-address *",
)
PATTERNS = (
    "system host-name *",
    "routing-options router-id *",
    "routing-options autonomous-system #",
    "routing-options forwarding-table export *",
    "interfaces * mtu #",
    "interfaces * description *",
    "interfaces * disable",
    "interfaces * unit # family inet address *",
    "interfaces * unit 0 family ethernet-switching interface-mode access|trunk",
    "interfaces * unit 0 family ethernet-switching vlan members *",
    "vlans * vlan-id #",
    "vlans * l3-interface *",
    "policy-options prefix-list * *",
    "policy-options community * members #:#",
    "policy-options policy-statement * then load-balance per-packet",
    f"{TERM} from protocol direct|bgp",
    f"{TERM} from prefix-list *",
    f"{TERM} from prefix-list-filter * exact|orlonger|longer",
    f"{TERM} from route-filter * exact|orlonger|longer",
    f"{TERM} from route-filter * upto|prefix-length-range *",
    f"{TERM} from community *",
    f"{TERM} then accept|reject",
    f"{TERM} then next term|policy",
    f"{TERM} then community add|set|delete *",
    f"{TERM} then local-preference #",
    f"{TERM} then metric #",
    f"{TERM} then as-path-prepend *",
    f"{GROUP} type external",
    f"{GROUP} neighbor *",
    *(f"{GROUP} {words}" for words in PEER),
    *(f"{GROUP} neighbor * {words}" for words in PEER),
)
TOKEN = re.compile(r'/\*.*?\*/|#[^\n]*|"(?:\\.|[^"\\])*"|[{};\[\]]|[^\s{};\[\]"#]+|\n', re.DOTALL)
KEPT = {"*": re.compile(".*"), "#": re.compile(r"\d+"), "#:#": re.compile(r"\d{1,5}:\d{1,5}")}
STATEMENTS = [pattern.split() for pattern in PATTERNS]


class PlainError(Exception):
    """A snapshot that the plain interpreter does not understand, or that cannot be one."""


@dataclass(frozen=True, slots=True)
class Line:
    """The words of a statement behind `set`, unquoted, its line, and how it is written as a `set` line.

    `blocks` are the braces around it in curly text: how many words stand in front, and the lines of both.
    """

    words: tuple[str, ...]
    number: int
    text: str
    blocks: tuple[tuple[int, int, int], ...] = ()


def set_lines(text: str, file: str) -> Iterator[Line]:
    """Read the `set` lines of a file; one with `[ A B ]` is several. Raises PlainError for any other line."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            try:
                first, *words = shlex.split(line)
                found = list(_without_brackets(words))
            except ValueError as error:
                raise PlainError(f"{file}:{number}: {error}: {line}") from error
            if first != "set":
                raise PlainError(f"{file}:{number}: not a set line: {line}")
            yield from (Line(tuple(each), number, line.strip()) for each in found)


def check_statement(line: Line, file: str) -> None:
    """Raise PlainError for a line that is no statement of an IPv4 shadow, or of more than one kind."""
    if sum(match(pattern, line.words) is not None for pattern in STATEMENTS) != 1:
        raise PlainError(f"{file}:{line.number}: not a statement of an IPv4 shadow: {line.text}")


def match(pattern: Sequence[str], words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the words that a pattern keeps; None if it is another statement."""
    if len(pattern) != len(words):
        return None
    for known, word in zip(pattern, words, strict=True):
        if known != word and not _fits(known, word):
            return None
    return tuple(word for known, word in zip(pattern, words, strict=True) if is_kept(known))


def is_kept(known: str) -> bool:
    """Say whether a word of a pattern stands for others, which are kept."""
    return known in KEPT or "|" in known


def _fits(known: str, word: str) -> bool:
    if known in KEPT:
        return KEPT[known].fullmatch(word) is not None
    return word in known.split("|")


def _without_brackets(words: list[str]) -> Iterator[list[str]]:
    """Write `export [ A B ]` as the lines that it stands for. Raises ValueError."""
    if "[" not in words:
        yield words
        return
    start, end = words.index("["), words.index("]")
    for word in words[start + 1 : end]:
        yield [*words[:start], word, *words[end + 1 :]]


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
