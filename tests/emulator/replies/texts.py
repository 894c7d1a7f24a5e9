"""The layout of replies as text: header lines, labels and indentation; never values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import dedent

# The prompt of an engine, and the end of a page.
PROMPT = re.compile(r"^\{\w+(:\w+)*\}(\[.*\])?$|^\S+@\S+[>#%]|^---\(more|^\S+:-+$|^-{20,}$")
WORDS = re.compile(r"\S+")


def rows_of(text: str) -> list[str]:
    """Return the lines of a reply without the indentation of all, prompts and the command."""
    kept = [line.expandtabs().rstrip() for line in text.strip("\n").splitlines()]
    first = next((line for line in kept if line.strip()), "")
    if first.strip().startswith(("show ", "ping ", "traceroute ", "file ")):
        kept = kept[kept.index(first) + 1 :]
    return dedent("\n".join(line for line in kept if not PROMPT.match(line.strip()))).splitlines()


def signatures(text: str) -> dict[str, str]:
    """Return what is the same on every device, in order: header lines, and the labels of other lines.

    The values are how they are written: with their indentation, and a header with its columns.
    """
    found: dict[str, str] = {}
    for line in rows_of(text):
        indent = line[: len(line) - len(line.lstrip())]
        if labels := _labels(line):
            found.setdefault("  ".join(labels), f"{indent}{'  '.join(labels)}")
        elif _is_header(line):
            found.setdefault(" ".join(line.split()), line)
    return found


def _labels(line: str) -> list[str]:
    """Return the labels of a line: words up to a colon; what holds a digit or ends in a comma is a value."""
    found: list[str] = []
    words: list[str] = []
    end = 0
    for match in WORDS.finditer(line):
        word = match.group()
        if match.start() - end > 1:
            words = []
        end = match.end()
        words.append(word)
        if word[-1] == ":" and not any(sign.isdigit() for sign in word) and word[0].isalpha():
            found.append(" ".join(words))
            words = []
        elif any(sign.isdigit() for sign in word) or word[-1] in ",>)]":
            words = []
    return found


def _is_header(line: str) -> bool:
    """Return whether a line names columns: several words without digits, most of them capitalized."""
    words = line.split()
    if len(words) < 2 or any(sign.isdigit() or sign in ":;{}[]," for sign in line) or "  " not in line.strip():
        return False
    return words[0][0].isupper() and sum(word[0].isupper() for word in words) * 3 >= len(words) * 2


def differences(ours: Iterable[str], real: Iterable[tuple[str, bool]]) -> list[str]:
    """Return where the lines of our replies differ from those of the real ones, each with whether it kept its blanks.

    Without them only columns are compared, with the one sample that has them as they are here.
    """
    mine: dict[str, str] = {}
    for text in ours:
        mine = signatures(text) | mine
    rows = [(found, exact) for text, exact in real if (found := signatures(text))]
    if not rows:
        return [f"has {line}" for line in mine]
    always = set(rows[0][0]).intersection(*(found for found, _ in rows))
    lacking = [f"lacks {line}" for line in rows[0][0] if line in always and line not in mine]
    return lacking + [text for line, written in mine.items() if (text := _misplaced(line, written, rows))]


def _misplaced(line: str, written: str, rows: list[tuple[dict[str, str], bool]]) -> str:
    """Say how a line of ours is unlike all real ones; nothing if one is alike."""
    forms = {form[line] for form, _ in rows if line in form}
    exact = {form[line] for form, kept in rows if kept and line in form}
    if not forms:
        return f"has {line}"
    theirs, one = (exact, written) if exact else ({form.strip() for form in forms}, written.strip())
    return "" if one in theirs else f"has {one!r}, there {' or '.join(sorted(map(repr, theirs)))}"
