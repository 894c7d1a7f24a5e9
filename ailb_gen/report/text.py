"""Text for people: paragraphs of some columns, places that a reader can open."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from textwrap import wrap

from ailb_gen.checks.model import Finding, Run
from ailb_gen.wording import clean

WIDTH = 80
# Stands for a space that no line ends at; clean text has none.
BOUND = "\0"


def wrapped(text: str, indent: str = "", whole: Iterable[str] = (), width: int = WIDTH) -> list[str]:
    """Return one paragraph as lines of at most `width` columns; no line ends inside the phrases of `whole`."""
    text = clean(text)
    for phrase in whole:
        text = text.replace(phrase, phrase.replace(" ", BOUND))
    lines = wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
    return [line.replace(BOUND, " ") for line in lines] or [indent.rstrip()]


def where(finding: Finding) -> str:
    """Return the file, relative to the artifact directory, and the line of a finding; nothing without a place."""
    return f"{clean(finding.place.file)}:{finding.place.line}" if finding.place else ""


def named(finding: Finding) -> str:
    """Return the check, the scope and the place of a finding, by which another report refers to it."""
    return f"{finding.check} {clean(finding.scope)} {where(finding)}".rstrip()


def from_here(run: Run, file: str) -> str:
    """Return the path of a file that is named relative to the artifact directory, as that directory was given."""
    return posixpath.normpath(posixpath.join(run.artifacts, file))


def detail(finding: Finding) -> str:
    """Return the expected and the found text, or nothing."""
    pairs = (("expected", finding.expected), ("found", finding.found))
    return ", ".join(f"{word} {text}" for word, text in pairs if text)
