"""Where the indentation of curly text contradicts its braces: what was cut out stands long before a brace is left."""

from __future__ import annotations

import re

COMMENT = re.compile(r"/\*.*?\*/|#[^\n]*", re.DOTALL)
STEP = re.compile(r"^( +)\S", re.MULTILINE)


def open_comment(text: str) -> int:
    """Return where a comment of several lines starts that holds the start of another one: its end is missing; else -1.

    What stands between both is lost.
    """
    for found in COMMENT.finditer(text):
        if found[0].startswith("/*") and (inside := found[0].find("/*", 2)) >= 0 and "\n" in found[0][:inside]:
            return found.start()
    return -1


def odd_line(text: str) -> tuple[int, str]:
    """Return the first line that is indented unlike its block, counted from 1, and what is wrong; 0 without one."""
    bare = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    step = min(map(len, STEP.findall(bare)), default=0)
    if not step:
        return 0, ""
    heads = [-step]
    # The last line that has words: its number, where it begins, how it ends.
    last = (0, 0, ";")
    for number, line in enumerate(bare.split("\n"), 1):
        words = line.strip()
        if not words:
            continue
        here = len(line) - len(line.lstrip())
        if words[0] == "}":
            if len(heads) == 1 or heads.pop() != here:
                return number, f"lines or a brace are missing before line {number}"
            last = (number, here, "}")
            continue
        if heads[-1] + step != here:
            if last[2] not in "{};" and here == last[1] + step:
                return last[0], f"line {last[0]} lacks its '{{'"
            return number, f"lines or a brace are missing before line {number}"
        if words[-1] == "{":
            heads.append(here)
        last = (number, here, words[-1])
    return 0, ""
