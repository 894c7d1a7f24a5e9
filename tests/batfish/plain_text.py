"""The statements of an IPv4 shadow: every kind of `set` line that is known, and nothing else.

A line of another kind is an error that names file, line and text: a writer that begins to use a statement learns at
once that nothing here judges it.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A word of a pattern: `*` is any word, `#` a number, `#:#` a standard community, `a|b` one of several; these are kept,
# others stand for themselves.
TERM = "policy-options policy-statement * term *"
GROUP = "protocols bgp group *"
PEER = {
    "family": "family inet unicast",
    "multipath": "multipath",
    "multiple-as": "multipath multiple-as",
    "import": "import *",
    "export": "export *",
    "peer-as": "peer-as #",
    "local-as": "local-as #",
    "local-address": "local-address *",
}
PATTERNS = {
    "host-name": "system host-name *",
    "router-id": "routing-options router-id *",
    "as": "routing-options autonomous-system #",
    "table-export": "routing-options forwarding-table export *",
    "mtu": "interfaces * mtu #",
    "description": "interfaces * description *",
    "disable": "interfaces * disable",
    "address": "interfaces * unit # family inet address *",
    "mode": "interfaces * unit 0 family ethernet-switching interface-mode access|trunk",
    "member": "interfaces * unit 0 family ethernet-switching vlan members *",
    "vlan-id": "vlans * vlan-id #",
    "l3-interface": "vlans * l3-interface *",
    "prefix-list": "policy-options prefix-list * *",
    "community": "policy-options community * members #:#",
    "balance": "policy-options policy-statement * then load-balance per-packet",
    "from-protocol": f"{TERM} from protocol direct|bgp",
    "from-prefix-list": f"{TERM} from prefix-list *",
    "from-prefix-list-filter": f"{TERM} from prefix-list-filter * exact|orlonger|longer",
    "from-route-filter": f"{TERM} from route-filter * exact|orlonger|longer",
    "from-route-filter-to": f"{TERM} from route-filter * upto|prefix-length-range *",
    "from-community": f"{TERM} from community *",
    "then-verdict": f"{TERM} then accept|reject",
    "then-next": f"{TERM} then next term|policy",
    "then-community": f"{TERM} then community add|set|delete *",
    "then-local-preference": f"{TERM} then local-preference #",
    "then-metric": f"{TERM} then metric #",
    "then-as-path-prepend": f"{TERM} then as-path-prepend *",
    "group": f"{GROUP} type external",
    "neighbor": f"{GROUP} neighbor *",
    **{f"group-{kind}": f"{GROUP} {words}" for kind, words in PEER.items()},
    **{f"neighbor-{kind}": f"{GROUP} neighbor * {words}" for kind, words in PEER.items()},
}
KEPT = {"*": re.compile(".*"), "#": re.compile(r"\d+"), "#:#": re.compile(r"\d{1,5}:\d{1,5}")}
SPLIT = {kind: pattern.split() for kind, pattern in PATTERNS.items()}


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


@dataclass(frozen=True, slots=True)
class Statement:
    """A kind of statement, and the words that its pattern keeps."""

    kind: str
    values: tuple[str, ...]


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


def statement(line: Line, file: str) -> Statement:
    """Tell what kind of statement a line is. Raises PlainError for one that is of none."""
    found = [Statement(kind, values) for kind in SPLIT if (values := match(SPLIT[kind], line.words)) is not None]
    if len(found) != 1:
        raise PlainError(f"{file}:{line.number}: not a statement of an IPv4 shadow: {line.text}")
    return found[0]


def match(pattern: Sequence[str], words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the words that a pattern keeps; None if it is another statement."""
    if len(pattern) != len(words):
        return None
    pairs = list(zip(pattern, words, strict=True))
    if not all(_fits(known, word) for known, word in pairs):
        return None
    return tuple(word for known, word in pairs if known in KEPT or "|" in known)


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
