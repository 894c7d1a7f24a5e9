"""Differences from real replies that are known: one line each, under the reason why it is accepted.

`# REASON` begins the differences that are accepted for it, each `FOLDER FORM WHAT`; `*` stands for any text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("differences.txt")


@dataclass(frozen=True, slots=True)
class Known:
    """One line of the table."""

    pattern: str
    reason: str

    def covers(self, difference: str) -> bool:
        """Return whether it is this difference; brackets stand for themselves."""
        return fnmatchcase(difference, self.pattern.replace("[", "[[]").replace("?", "[?]"))


@cache
def known() -> tuple[Known, ...]:
    found, reason = [], ""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            reason = line[2:].strip()
        elif line.strip():
            found.append(Known(line.rstrip(), reason))
    return tuple(found)


def judged(present: Mapping[str, Iterable[str]], table: Iterable[Known]) -> tuple[list[str], list[str]]:
    """Return the differences that no line covers, and the lines that cover none: `present` by subject."""
    rows = list(table)
    flat = [f"{subject} {text}" for subject, texts in present.items() for text in texts]
    unknown = [text for text in flat if not any(row.covers(text) for row in rows)]
    stale = [row.pattern for row in rows if not any(row.covers(text) for text in flat)]
    return unknown, stale
