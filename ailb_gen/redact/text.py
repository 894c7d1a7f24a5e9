"""The one redaction: of messages, records, reports, differences and files."""

import re
from itertools import groupby

from ailb_gen.redact.forms import mask_forms
from ailb_gen.redact.lines import DIFF, mask_lines
from ailb_gen.redact.statements import mask_statements

# The beginning of a comment, behind the sign of a diff.
COMMENT = re.compile(r"[-+]?[ \t]*(?:#+|//|;+|!+)[ \t]?")
SIGNS = ("#", "//", ";", "!")


def redact(text: str) -> str:
    """Return text with every secret replaced, whatever it is; names and everything else stay, lines stay lines.

    Configurations as curly, set or patch text, unified diffs, XML; files of servers; messages. The text may be a part,
    or cut off. Too much is hidden rather than too little.
    """
    text = _annotations(text) if "*/" in text else text
    return _masked(_comments(text) if any(sign in text for sign in SIGNS) else text)


def _masked(text: str) -> str:
    return mask_lines(mask_forms(mask_statements(text)))


def _annotations(text: str) -> str:
    """Return text with the secrets replaced that are within `/* */`."""
    pieces: list[str] = []
    end = 0
    while (start := text.find("/*", end)) >= 0 and (stop := text.find("*/", start + 2)) >= 0:
        inner = text[start + 2 : stop]
        body = inner.rstrip()
        pieces += [text[end : start + 2], _masked(body), inner[len(body) :]]
        end = stop
    return "".join([*pieces, text[end:]])


def _comments(text: str) -> str:
    """Return text with the secrets replaced that are in comments now, as `# password hunter2`."""
    sign = DIFF.search(text) is not None
    # The signs that `show | compare` puts in front of statements that are deactivated or moved.
    patch = "[edit" in text
    lines = [(0 if patch and line.startswith("!") else _lead(line, sign), line) for line in text.split("\n")]
    shown: list[str] = []
    for commented, some in groupby(lines, key=lambda row: row[0] > 0):
        rows = list(some)
        bodies = [line[at:] for at, line in rows]
        if commented:
            bodies = _masked("\n".join(bodies)).split("\n")
        shown += [line[:at] + body for (at, line), body in zip(rows, bodies, strict=True)]
    return "\n".join(shown)


def _lead(line: str, sign: bool) -> int:
    """Return how many letters make a line a comment; 0 if it is none."""
    found = COMMENT.match(line) if sign or not line.startswith(("-", "+")) else None
    return found.end() if found else 0
