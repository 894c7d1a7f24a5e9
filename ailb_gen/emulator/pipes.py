"""Pipes of the command line: filters of lines, and forms of output.

Source: Juniper, CLI User Guide, "Filter Operational Mode Command Output" and "Pipe ( | ) Filter Functions".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile, filterfalse
from typing import TYPE_CHECKING, NamedTuple

from ailb_gen.emulator.messages import refusal
from ailb_gen.junos.regex import regex

if TYPE_CHECKING:
    import re2

# A word, or something in quotes.
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\||[^\s|"]+')
# Forms of output, and the word that may follow each. Without scripts and omitted statements, some change nothing.
DISPLAYS = {
    "commit-scripts": "", "inheritance": "no-comments", "json": "", "omit": "", "set": "relative",
    "translation-scripts": "", "xml": "rpc",
}  # fmt: skip
# Forms that Junos has and this emulator lacks.
LACKING = frozenset({"changed", "detail"})
# An output has one of these forms at most.
FORMS = frozenset({"json", "set", "xml"})
# Pipes without effect, and how many words may follow: the output is complete, and its pager is the terminal's.
WITHOUT_EFFECT = {"hold": 0, "no-more": 0, "resolve": 1}
# Pipes that would write a file.
WITH_FILES = frozenset({"append", "save", "tee"})


@dataclass(frozen=True, slots=True)
class Pipe:
    """One filter: its full name and the words behind it."""

    name: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypedLine:
    """A command as typed: its words without quotes, the command as text with them, and its filters.

    `piped` is all from the first `|` on, as text.
    """

    words: tuple[str, ...]
    text: str
    pipes: tuple[Pipe, ...] = ()
    piped: str = ""

    def display(self, *names: str) -> bool:
        """Return whether the line names one of some forms of output."""
        return any(pipe.name == "display" and pipe.words[:1] == (name,) for pipe in self.pipes for name in names)

    def check_forms(self, refused: str, *known: str) -> None:
        """Raise RpcRefusedError for a form of output that is not known, or a comparison, with its name in a text."""
        for pipe in self.pipes:
            name = pipe.words[0] if pipe.name == "display" else pipe.name
            if pipe.name in ("compare", "display") and name not in known:
                raise refusal(refused.format(name), element=name)


def read_line(text: str) -> TypedLine:
    """Split a typed line. Raises RpcRefusedError for a filter that does not exist, or is not complete."""
    tokens = TOKEN.findall(text)
    parts: list[list[str]] = [[]]
    for sign in tokens:
        if sign == "|":
            parts.append([])
        else:
            parts[-1].append(sign)
    command = " ".join(parts[0])
    pipes = tuple(_pipe([_plain(word) for word in part]) for part in parts[1:])
    piped = " ".join(tokens[len(parts[0]) :])
    _check_forms(pipes)
    return TypedLine(tuple(map(_plain, parts[0])), command, pipes, piped)


def _check_forms(pipes: Sequence[Pipe]) -> None:
    """Refuse two forms of one output, and a comparison in any. Raises RpcRefusedError."""
    displays = [pipe.words[0] for pipe in pipes if pipe.name == "display"]
    forms = [name for name in displays if name in FORMS]
    compared = any(pipe.name == "compare" for pipe in pipes)
    if compared and displays:
        raise refusal(f"a comparison is not available as '{displays[0]}' in this emulator", element=displays[0])
    if len(forms) > 1:
        raise refusal(f"choose one form of output, not both '{forms[0]}' and '{forms[1]}'", element=forms[1])


def _plain(token: str) -> str:
    return token[1:-1].replace('\\"', '"') if token[:1] == '"' and len(token) > 1 else token


def _pipe(words: list[str]) -> Pipe:
    if not words:
        raise refusal("syntax error, nothing after '|'", element="|")
    name = choose(words[0], (*FILTERS, *WITHOUT_EFFECT, *WITH_FILES, "display", "compare"))
    rest = words[1:]
    if name in WITH_FILES:
        raise refusal(f"this emulator has no files: '{name}' is not possible", element=name)
    if name == "display":
        rest = _display(rest)
    most = FILTERS[name].most if name in FILTERS else WITHOUT_EFFECT.get(name)
    if most is not None and len(rest) > most:
        raise refusal("syntax error", element=rest[most])
    if name in FILTERS and most is None and not rest:
        raise refusal(f"syntax error, {name} takes a pattern", element=name)
    return Pipe(name, tuple(rest))


def _display(words: list[str]) -> list[str]:
    """Return the name of a form in full, and the word behind it. Raises RpcRefusedError."""
    if not words:
        raise refusal(f"syntax error, display takes {', '.join(DISPLAYS)}", element="display")
    name = choose(words[0], (*DISPLAYS, *LACKING))
    if name in LACKING:
        raise refusal(f"this emulator has no 'display {name}'", element=name)
    if any(word != DISPLAYS[name] for word in words[1:2]) or len(words) > 2:
        raise refusal(f"syntax error, {name} takes {DISPLAYS[name] or 'nothing'}", element=words[-1])
    return [name, *words[1:]]


def as_it_is(text: str, line: TypedLine) -> str:
    """Return an output that has no other form, as the filters of lines leave it. Raises RpcRefusedError."""
    line.check_forms("this output is not available as '{}'")
    return filtered(text, line.pipes)


def check_displays(line: TypedLine) -> None:
    """Refuse the forms that only a configuration has. Raises RpcRefusedError."""
    line.check_forms("syntax error, only a configuration has '{}'", "json", "xml")


def choose(word: str, names: Iterable[str]) -> str:
    """Return the name that a word begins. Raises RpcRefusedError for none, or several."""
    known = sorted(set(names))
    found = [name for name in known if name.startswith(word)]
    if word in found:
        return word
    if not found:
        raise refusal(f"syntax error, expecting one of {', '.join(known)}", element=word)
    if len(found) > 1:
        raise refusal(f"'{word}' is ambiguous: {', '.join(found)}", element=word)
    return found[0]


def filtered(text: str, pipes: Sequence[Pipe]) -> str:
    """Return an output as the filters of lines leave it. Raises RpcRefusedError."""
    for pipe in pipes:
        if pipe.name in FILTERS:
            lines = FILTERS[pipe.name].act(text.splitlines(), pipe.words)
            text = "".join(f"{line}\n" for line in lines)
    return text


def _pattern(words: Sequence[str]) -> re2._Regexp[str]:
    """Compile the pattern of a filter; upper and lower case are the same, as on Junos. Raises RpcRefusedError."""
    try:
        return regex(" ".join(words), ignore_case=True)
    except ValueError as error:
        raise refusal(f"invalid regular expression: {error}", element=words[0]) from error


def _match(lines: list[str], words: Sequence[str]) -> list[str]:
    return list(filter(_pattern(words).search, lines))


def _except(lines: list[str], words: Sequence[str]) -> list[str]:
    return list(filterfalse(_pattern(words).search, lines))


def _find(lines: list[str], words: Sequence[str]) -> list[str]:
    pattern = _pattern(words)
    return list(dropwhile(lambda line: not pattern.search(line), lines)) or ["", "Pattern not found"]


def _count(lines: list[str], words: Sequence[str]) -> list[str]:
    return [f"Count: {len(lines)} lines"]


def _last(lines: list[str], words: Sequence[str]) -> list[str]:
    count = _number(words, SCREEN)
    return lines[-count:] if count else []


def _trim(lines: list[str], words: Sequence[str]) -> list[str]:
    columns = _number(words, 0)
    return [line[columns:] for line in lines]


def _number(words: Sequence[str], default: int) -> int:
    if not words:
        return default
    if not words[0].isdecimal():
        raise refusal(f"invalid numeric value: '{words[0]}'", element=words[0])
    return int(words[0])


# The lines that `last` shows by default.
SCREEN = 24


class LineFilter(NamedTuple):
    """A filter of lines, and how many words may follow it; None for a pattern, of any number, but one at least."""

    act: Callable[[list[str], Sequence[str]], list[str]]
    most: int | None = None


FILTERS = {
    "count": LineFilter(_count, 0),
    "except": LineFilter(_except),
    "find": LineFilter(_find),
    "last": LineFilter(_last, 1),
    "match": LineFilter(_match),
    "trim": LineFilter(_trim, 1),
}
