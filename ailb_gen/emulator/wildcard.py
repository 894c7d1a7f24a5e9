"""`wildcard delete` and `wildcard range` of configuration mode: one command for many statements.

Source: Juniper, CLI User Guide, "Use Wildcard Characters to Delete Configuration Statements", "Using Wildcard Ranges".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import product
from math import prod

from ailb_gen.emulator.messages import refusal
from ailb_gen.junos.regex import regex
from ailb_gen.junos.tree import Node

RANGE = re.compile(r"\[([^\]]*)\]")
PART = re.compile(r"(!?)(\d{1,9})(?:-(\d{1,9}))?")
# No command stands for more.
MOST = 10_000


def matching(tree: Node, path: Sequence[str], pattern: str) -> list[str]:
    """Return the words below a path that a wildcard, or a regular expression, fits. Raises RpcRefusedError."""
    try:
        expression = regex(pattern)
    except ValueError:
        # `*/0/0` is a wildcard all the same.
        expression = None
    found = tree.get(*path)
    return [
        child.word
        for child in found or ()
        if fnmatchcase(child.word, pattern) or (expression is not None and expression.fullmatch(child.word))
    ]


def expanded(command: str) -> list[str]:
    """Return the commands that one with ranges stands for: `set interfaces et-0/0/[0-3,7] mtu 9000`.

    Raises RpcRefusedError.
    """
    parts = RANGE.split(command)
    choices = [[part] if at % 2 == 0 else _numbers(part) for at, part in enumerate(parts)]
    if prod(map(len, choices)) > MOST:
        raise refusal(f"more than {MOST:,} statements", element=command)
    return ["".join(words) for words in product(*choices)]


def _numbers(text: str) -> list[str]:
    """Return the numbers of a range such as `0-3,7,!2`. Raises RpcRefusedError."""
    numbers: dict[int, None] = {}
    without: set[int] = set()
    for part in text.split(","):
        found = PART.fullmatch(part.strip())
        first, last = (int(found[2]), int(found[3] or found[2])) if found else (1, 0)
        if found is None or last < first or last - first > MOST:
            raise refusal(f"syntax error, not a range: [{text}]", element=f"[{text}]")
        if found[1]:
            without |= set(range(first, last + 1))
        else:
            numbers |= dict.fromkeys(range(first, last + 1))
    return [str(number) for number in numbers if number not in without]
