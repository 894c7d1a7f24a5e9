"""Check the prose: proselint, and the project's own style in the tables below.

Usage: python docs/site/prose.py; run at the root of the checkout by `make prose`, after codespell. Pages are checked
without their code; the program's text is checked for spelling and for words that users should not have to guess.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from proselint.checks import __register__
from proselint.config import DEFAULT, Config
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

ROOT = Path(__file__).parents[2]
PAGES = ("*.md", "docs/**/*.md", "examples/**/*.md", "inventory/*.md")
PROGRAM = ("ailb_gen/**/*.py", "ailb_gen/**/*.yaml", "templates/**/*.j2")
# Quotes claims of papers in their own words.
QUOTING = ("docs/studies/",)

Style = Sequence[tuple[str, str]]
# Everywhere: what the pattern finds, and what to write instead.
SPELLING: Style = (
    (r"\b(?:col|behavi|fav|hon|lab|neighb)our(?!-port)\w*", "-or"),
    (r"\b(?:analy|paraly)s(?:e|es|ed|ing)\b", "-yze"),
    (
        r"\b(?:organ|recogn|initial|normal|serial|synchron|random|summar|minim|maxim|optim|util|priorit|author|custom"
        r"|general|visual|categor|emphas)is(?:e|es|ed|ing|ation)\b",
        "-ize",
    ),
    (r"\b(?:centre|metre|fibre|litre)s?\b", "-er"),
    (r"\b(?:licence|defence|offence|pretence)s?\b", "-se"),
    (r"\bartefacts?\b", "artifact"),
    (r"\bjudgement\b", "judgment"),
    (r"\b(?:whilst|amongst)\b", "while, among"),
    (r"\b(?:learnt|spelt|burnt)\b", "-ed"),
    (r"\brooms\b", "packages"),
    (r"\bnobody knows\b", "unknown: say what is not known, and why"),
)
# In pages: marketing, filler, riddles.
WORDS: Style = (
    (r"\b(?:seamless|effortless|blazing|world-class|best-in-class|cutting-edge|state-of-the-art|turnkey)\w*", "a fact"),
    (r"\b(?:leverag(?:e|es|ed|ing)|utiliz(?:e|es|ed|ing))\b", "use"),
    (r"\b(?:game-chang|revolution|next-generation|synerg)\w*", "a fact"),
    (r"\b(?:simply|obviously|of course|needless to say|basically|actually)\b", "nothing"),
    (r"\b(?:is|are|was|were|being|been) told\b", "who says what to whom"),
    (r"\b(?:riddle|magic|somehow)\w*", "what happens"),
    (r"\bin order to\b", "to"),
    (r"\b(?:e\.g\.|i\.e\.)", "for example, that is"),
    (r"\b(\w+) \1\b(?! \1)", "the word once"),
)
# What proselint finds in tables and in typewriter text is nothing: quotes, ellipses, repeated words, résumé.
OFF = ("typography", "lexical_illusions", "hedging")
CODE = re.compile(
    r"^(?P<fence>`{3,})[^\n]*\n.*?^(?P=fence)$|<!--.*?-->|`[^`\n]+`|\]\([^)\n]*\)|https?://[^\s)>]+", re.M | re.S
)


def main() -> int:
    """Print what is wrong, a line each; return the exit code: 1 if anything is."""
    CheckRegistry().register_many(__register__)
    found = [*_in_pages(), *_in_program()]
    sys.stdout.write("".join(f"{line}\n" for line in found))
    return 1 if found else 0


def _in_pages() -> Iterator[str]:
    config = Config(max_errors=DEFAULT["max_errors"], checks={**DEFAULT["checks"], **dict.fromkeys(OFF, False)})
    for path in _files(PAGES):
        name = path.relative_to(ROOT).as_posix()
        text = prose(path.read_text(encoding="utf-8"))
        quotes = name.startswith(QUOTING)
        yield from _styled(name, text, SPELLING if quotes else (*SPELLING, *WORDS))
        if not quotes:
            for one in LintFile(name, text).lint(config):
                yield f"{name}:{one.pos[0]}: {one.check_result.message}"


def _in_program() -> Iterator[str]:
    for path in _files(PROGRAM):
        yield from _styled(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"), SPELLING)


def _files(patterns: Sequence[str]) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def prose(text: str) -> str:
    """Return a page without code, comments and addresses: what is left is at the same line and column."""
    return CODE.sub(lambda code: re.sub(r"[^\n]", "_", code[0]), text)


def _styled(name: str, text: str, style: Style) -> Iterator[str]:
    for pattern, instead in style:
        for hit in re.finditer(pattern, text, re.I):
            yield f"{name}:{text.count(chr(10), 0, hit.start()) + 1}: {hit[0]!r}: write {instead}"


if __name__ == "__main__":
    sys.exit(main())
