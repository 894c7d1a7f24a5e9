"""Sort the statements of a switch: read, known to be harmless, or neither, by an exact grammar of the first two."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Network
from typing import Union

from ailb_gen.junos.substitution import Adapted, Substitution
from ailb_gen.junos.tree import Node, Reuse, anew
from ailb_gen.network.model import Unmodeled
from ailb_gen.network.statements import HARMLESS, READ

# Word -> what may stand below it: None is anything. A key of KINDS stands for all other words of that kind.
Grammar = dict[str, Union["Grammar", None]]
NUMBER, IPV4, SHOW, LOGICAL, OTHERS = "#", "<ipv4>", "<show>", "<port.unit>", "*"
BOGON, SHORT = "<bogon>", "<short>"
# Addresses of hosts themselves, of links, of examples, of groups, and those that nobody was given: no host sends from
# outside with them, so that a route for them takes nobody's access to the switch away.
BOGONS = tuple(
    IPv4Network(prefix)
    for prefix in (
        *("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
)
WRITES_FILE = re.compile(r"\|\s*(?:append|save|tee)\b")


def _is_bogon(word: str) -> bool:
    try:
        network = IPv4Network(word, strict=False)
    except ValueError:
        return False
    return any(network.subnet_of(bogon) for bogon in BOGONS)


KINDS: dict[str, Callable[[str], bool]] = {
    BOGON: _is_bogon,
    SHORT: lambda word: re.fullmatch(r"[0-9]{1,4}", word) is not None,
    NUMBER: lambda word: word[:1].isdigit(),
    IPV4: lambda word: "." in word and ":" not in word,
    SHOW: lambda word: word.startswith("show ") and WRITES_FILE.search(word) is None,
    LOGICAL: lambda word: "." in word,
    OTHERS: lambda word: True,
}
# They say something to tools, or are worked out before; groups that do not exist are found by a check of their own.
ANYWHERE = frozenset({"apply-flags", "apply-groups", "apply-groups-except", "apply-macro"})
# Stand for what is below a statement that ends with its pattern, and below a harmless one.
NOTHING: Grammar = {}
HARMLESS_BELOW: Grammar = {}
# So many words behind the one that is not known are shown.
SHOWN = 8
# Below fewer statements, to look what was found before takes as long as to look at them.
WIDE = 6


def _grammar(read: dict[str, str], harmless: dict[str, str]) -> Grammar:
    """Return the patterns of both tables as one grammar; where they say the same, the second one counts."""
    whole: Grammar = {}
    for above, patterns in read.items():
        for line in filter(str.strip, patterns.split("\n")):
            words = [*above.split(), *line.split()]
            _add(whole, [word for word in words if word != ";"], NOTHING if words[-1] == ";" else None)
    for lines in harmless.values():
        for line in filter(str.strip, lines.split("\n")):
            _add(whole, line.split(), HARMLESS_BELOW)
    return whole


def _add(grammar: Grammar, words: list[str], below_last: Grammar | None) -> None:
    """Add a pattern; `below_last` is what may stand below its last word."""
    first, *rest = words
    for word in first.split("|"):
        if not rest:
            grammar[word] = {} if below_last is NOTHING else below_last
            continue
        # A word that is listed beside `*` says all that may stand below it.
        below = grammar.setdefault(word, {})
        if below is not None and below is not HARMLESS_BELOW:
            _add(below, rest, below_last)


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The words allowed below a statement: by word, by kind of word, and for all others; None allows anything."""

    words: dict[str, Level | None]
    kinds: tuple[tuple[Callable[[str], bool], Level | None], ...] = ()
    others: Level | None = None


# Stand for a word that is not known, and for what is below a harmless statement.
UNKNOWN, HARMLESS_LEVEL = Level({}), Level({})


def _level(grammar: Grammar) -> Level:
    """Return a grammar as what is looked up once for every word."""
    below = {
        word: HARMLESS_LEVEL if rest is HARMLESS_BELOW else None if rest is None else _level(rest)
        for word, rest in grammar.items()
    }
    kinds = tuple((KINDS[kind], below[kind]) for kind in KINDS if kind in below and kind != OTHERS)
    return Level(dict.fromkeys(ANYWHERE) | below, kinds, below.get(OTHERS, UNKNOWN))


KNOWN = _level(_grammar(READ, HARMLESS))


def is_read(words: tuple[str, ...]) -> bool:
    """Return whether a statement, from the top, is one that is read, and its last word one that a pattern lists."""
    level: Level | None = KNOWN
    listed = False
    for word in words:
        if level is None:
            return False
        listed = word in level.words and word not in ANYWHERE
        fitting = (rest for fits, rest in level.kinds if fits(word))
        level = level.words[word] if word in level.words else next(fitting, level.others)
        if level is UNKNOWN or level is HARMLESS_LEVEL:
            return False
    return listed


@dataclass(frozen=True, slots=True)
class Judged:
    """The statements of a switch that nothing here reads: those that are harmless, as text, and those that may not be.

    What is harmless is there to be compared with what the intent specifies.
    """

    unmodeled: tuple[Unmodeled, ...]
    harmless: frozenset[str]


def judged(root: Node, reuse: Reuse = anew) -> Judged:
    """Return the statements of an effective tree that are not read."""
    harmless: list[str] = []
    unmodeled: list[Unmodeled] = []
    _judge(root, reuse, KNOWN, (), unmodeled, harmless)
    return Judged(tuple(unmodeled), frozenset(harmless))


class Standing(StrEnum):
    """What is known of a statement: its value is read, it is harmless, or neither."""

    READ = "read"
    HARMLESS = "harmless"
    UNMODELED = "unmodeled"


def standing(words: Sequence[str]) -> tuple[Standing, int]:
    """Return what is known of the statement of some words, unquoted, and how many of them that takes."""
    level = KNOWN
    for count, word in enumerate(words, 1):
        below = _below(level, word)
        if below is None:
            return Standing.READ, count
        if below is UNKNOWN:
            return Standing.UNMODELED, count
        if below is HARMLESS_LEVEL:
            return Standing.HARMLESS, count
        level = below
    return Standing.READ, len(words)


def _below(level: Level, word: str) -> Level | None:
    """Return what may stand below a word."""
    below = level.words.get(word, UNKNOWN)
    if below is UNKNOWN:
        kinds = level.kinds
        return next((rest for fits, rest in kinds if fits(word)), level.others) if kinds else level.others
    return below


def _all_read(above: Node, reuse: Reuse, level: Level) -> bool:
    """Return whether every statement below one is read."""
    is_wide = len(above.children) > WIDE
    for word, node in above.children.items():
        below = _below(level, word)
        if below is None:
            continue
        if below is UNKNOWN or below is HARMLESS_LEVEL:
            return False
        if node.children and not (_reuse_all_read(node, reuse, below) if is_wide else _all_read(node, reuse, below)):
            return False
    return True


def _reuse_all_read(node: Node, reuse: Reuse, level: Level) -> bool:
    """Return the same, from before if it was asked of the same statement, or of one like it."""
    if isinstance(node, Adapted):
        looked_up = reuse(_looked_up, node.like, level, node.substitution)
        if all(_below(around, node.words[number]) is below for around, number, below in looked_up):
            node = node.like
    return reuse(_all_read, node, level)


def _looked_up(node: Node, _: Reuse, level: Level, substitution: Substitution) -> list[tuple[Level, int, Level | None]]:
    """Return which of the words that a substitution changes below a statement are looked up.

    Each with where that is done, and what was found for the word before.
    """
    found = []
    for other in substitution.others[id(node)]:
        around: Level | None = level
        for word in other.path[:-1]:
            around = _below(around, word) if around is not None else None
        # What is below a value is not looked up.
        if around is not None:
            found.append((around, other.new, _below(around, other.path[-1])))
    return found


def _judge(
    above: Node, reuse: Reuse, level: Level, path: tuple[str, ...], unmodeled: list[Unmodeled], harmless: list[str]
) -> None:
    """Sort the statements below one: the first word that is not known names a statement."""
    for word, node in above.children.items():
        below = _below(level, word)
        if below is None:
            continue
        if below is UNKNOWN:
            text = " ".join((*path, word))
            unmodeled.append(Unmodeled(text, " ".join((text, *_rest(node))), node.line))
        elif below is HARMLESS_LEVEL:
            harmless.extend(" ".join((*path, *words)) for words in node.paths())
        elif node.children and not ((path or isinstance(node, Adapted)) and _reuse_all_read(node, reuse, below)):
            _judge(node, reuse, below, (*path, word), unmodeled, harmless)


def _rest(node: Node) -> Iterator[str]:
    """Yield the words that follow, as far as there is one statement alone."""
    for _ in range(SHOWN):
        if len(node.children) != 1:
            return
        node = next(iter(node.children.values()))
        yield node.word
