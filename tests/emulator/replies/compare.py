"""Compare what the emulator answers with the real replies of every command that both have."""

from __future__ import annotations

from functools import cache
from html import unescape

from lxml import etree

from tests.emulator.replies import texts, trees
from tests.emulator.replies.ours import answers, requests
from tests.emulator.replies.samples import SOURCES, Sample, samples
from tests.emulator.replies.trees import Shape

TREE, TEXT = "tree", "text"
OWN = SOURCES["batfish"]


@cache
def subjects() -> tuple[tuple[str, str], ...]:
    """Return (folder, form) of what is compared: a form that has samples, of a command that the emulator answers."""
    found = []
    for folder, rows in samples().items():
        # Answers of NETCONF itself have tests of their own.
        if folder.startswith("netconf-"):
            continue
        for form in (TREE, TEXT):
            if _of(rows, form) and requests(folder, rows, form):
                found.append((folder, form))
    return tuple(found)


def _of(rows: list[Sample], form: str) -> list[Sample]:
    return [row for row in rows if (row.form == "text") == (form == TEXT)]


def differences(folder: str, form: str) -> list[str]:
    """Return where the emulator differs from the real replies of a folder."""
    rows = samples()[folder]
    if form == TEXT:
        ours = [etree.fromstring(text).text or "" for text in answers(folder, rows, "text")]
        return texts.differences(ours, [(row.text(), row.source.blanks) for row in _of(rows, TEXT)])
    real: Shape = {}
    for row in _of(rows, TREE):
        for path, seen in trees.shape(trees.parse(row), row.source).items():
            real.setdefault(path, []).extend(seen)
    if not real:
        return []
    found: dict[str, None] = {}
    for own in ("xml", "json"):
        made = [_read(text, own) for text in answers(folder, rows, own)]
        replies = [reply for one in made for reply in trees.unwrapped(one)]
        found |= dict.fromkeys(trees.differences(trees.shape(replies, OWN), real))
    return list(found)


def _read(text: str, form: str) -> etree._Element:
    return trees.of_json(unescape(text)) if form == "json" else etree.fromstring(text)
