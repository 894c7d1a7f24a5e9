"""The words of CONTRIBUTING.md hold: class names are unique, its tables are in order, banned phrases stay out."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

import pytest

from tests.conftest import ROOT

MODULES = sorted((ROOT / "ailb_gen").rglob("*.py"))
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROSE = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(path for top in ("docs", "examples", "inventory") for path in sorted((ROOT / top).rglob("*.md"))),
]
# A phrase that nobody says, or that another word of the glossary means, and what to write.
BANNED = {
    r"\bunmodelled\b|(?<!-)\bmodelled\b": "unmodeled, modeled",
    r"\bas ever\b": "as without it",
    r"\bhas it not\b": "lacks it",
    r"\bgone? on with\b": "resumed, continued",
    r"\bin the place of\b": "instead of",
    r"\bfor good\b": "permanently",
    r"\bone too many\b": "unexpected",
    r"\bas it was generated\b": "unchanged, edited after it was generated",
    r"\bby the clock\b": "on a schedule",
    r"\bsaid hello\b": "sent its hello",
    r"\bIPv6 alone\b": "IPv6-only",
    r"\bfailures tried\b|\btried one by one\b": "tested",
    r"\bcannot stand (?:here|together)\b": "is not allowed, cannot be combined",
    r"\bwhat is repeated\b": "method",
    r"\blook at this first\b": "needs attention",
    r"\blead(?:s|ing)? nowhere\b": "is broken",
    r"\b(?:came|come) from \{": "received from",
}


def _classes() -> dict[str, list[str]]:
    """Return where each class of the program is defined, by name."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return places


def test_names_of_classes_are_unique() -> None:
    assert {name: places for name, places in _classes().items() if len(places) > 1} == {}


@pytest.mark.parametrize("kind", ["noun", "verb"])
def test_the_words_are_in_order_and_explained_once(kind: str) -> None:
    table = re.search(rf"^\| {kind} \| means \|\n\|---\|---\|\n((?:\|.*\n)+)", TEXT, re.M)
    assert table is not None
    words = [row.split("|")[1].strip() for row in table[1].splitlines()]
    assert words == sorted(set(words), key=str.lower)


@pytest.mark.parametrize("phrase", BANNED)
def test_phrases_stay_out(phrase: str) -> None:
    lines = (
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in (*MODULES, *PROSE)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(phrase, line, re.I)
    )
    assert list(lines) == [], f"write: {BANNED[phrase]}"
