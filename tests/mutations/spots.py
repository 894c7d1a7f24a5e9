"""Where damage can be done: statements of switch files and pieces of other files, found by simple means."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from tests.mutations.tree import Tree, text_of

SWITCHES = "switches/*"
LEVEL = " > "


@dataclass(frozen=True, slots=True)
class Spot:
    """A piece of a file's text, whole lines for statements; `label` says what it is."""

    file: str
    start: int
    end: int
    label: str


# Finds all spots of a kind, in the order of files and text.
Selector = Callable[[Tree], list[Spot]]


@lru_cache(maxsize=512)
def statements_of(text: str) -> tuple[tuple[tuple[str, ...], int, int], ...]:
    """Return (path of headers, start, end) of every statement of curly Junos text; ends are behind the newline.

    It relies on the layout that the templates write: one statement, `{` or `}` per line.
    """
    found: list[tuple[tuple[str, ...], int, int]] = []
    stack: list[tuple[str, int]] = []
    position = 0
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        word = line.strip()
        if word.endswith("{"):
            stack.append((word[:-1].rstrip(), start))
        elif word == "}":
            path = tuple(header for header, _ in stack)
            found.append((path, stack.pop()[1], position))
        elif word.endswith(";"):
            found.append(((*(header for header, _ in stack), word[:-1]), start, position))
    return tuple(sorted(found, key=lambda row: row[1]))


def role_of(text: str) -> str:
    """Return what the first line of a switch file says of the switch: leaf or spine."""
    return text.partition("\n")[0].split()[2]


def files(tree: Tree, glob: str) -> list[str]:
    """Return the paths of files, not links, that match the glob; `*` matches slashes too."""
    return [path for path, entry in tree.items() if isinstance(entry, bytes) and fnmatchcase(path, glob)]


def switches(tree: Tree, role: str) -> list[str]:
    """Return the files of the switches of a role; `switch` means both."""
    return [path for path in files(tree, SWITCHES) if role in ("switch", role_of(text_of(tree, path)))]


def junos(role: str, path: str, having: str = "") -> Selector:
    """Select statements by the globs of their headers, such as `protocols > bgp > group *`.

    With `having`, only those whose text contains that regular expression.
    """
    globs = path.split(LEVEL)

    def fits(headers: tuple[str, ...]) -> bool:
        return len(headers) == len(globs) and all(map(fnmatchcase, headers, globs))

    def select(tree: Tree) -> list[Spot]:
        return [
            Spot(file, start, end, LEVEL.join(headers))
            for file in switches(tree, role)
            for text in (text_of(tree, file),)
            for headers, start, end in statements_of(text)
            if fits(headers) and (not having or re.search(having, text[start:end]))
        ]

    return select


def leaf(path: str, having: str = "") -> Selector:
    """Select statements of leaves."""
    return junos("leaf", path, having)


def spine(path: str, having: str = "") -> Selector:
    """Select statements of spines."""
    return junos("spine", path, having)


def switch(path: str, having: str = "") -> Selector:
    """Select statements of all switches."""
    return junos("switch", path, having)


def text(glob: str, pattern: str) -> Selector:
    """Select all matches of a regular expression, with `^` and `$` for lines, in the files that match the glob."""
    compiled = re.compile(pattern, re.MULTILINE)

    def select(tree: Tree) -> list[Spot]:
        return [
            Spot(file, found.start(), found.end(), found[0].strip().partition("\n")[0])
            for file in files(tree, glob)
            for found in compiled.finditer(text_of(tree, file))
        ]

    return select


def line(glob: str, pattern: str) -> Selector:
    """Select whole lines that match the pattern."""
    return text(glob, rf"^{pattern}\n")
