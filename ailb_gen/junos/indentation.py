"""Where the indentation of curly text contradicts its braces: what was cut out stands long before a brace is left."""

from __future__ import annotations

import re

COMMENT = re.compile(r"/\*.*?\*/|#[^\n]*", re.DOTALL)
STEP = re.compile(r"^( +)\S", re.MULTILINE)


def odd_line(text: str) -> int:
    """Return the first line that is indented unlike its block, counted from 1; 0 without one."""
    bare = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    step = min(map(len, STEP.findall(bare)), default=0)
    if not step:
        return 0
    heads = [-step]
    for number, line in enumerate(bare.split("\n"), 1):
        words = line.strip()
        if not words:
            continue
        here = len(line) - len(line.lstrip())
        if words[0] == "}":
            if len(heads) == 1 or heads.pop() != here:
                return number
            continue
        if heads[-1] + step != here:
            return number
        if words[-1] == "{":
            heads.append(here)
    return 0
