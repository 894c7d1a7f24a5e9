"""Text around a configuration that files often hold: terminal sessions, several devices, other formats.

Also where the indentation of curly text contradicts its braces: what was cut out stands long before a brace is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ailb_gen.junos.tree import Node

ALONE = "a file holds the configuration of one device and nothing else"
SAVE = f"{ALONE}; save `show configuration | no-more` of each device in a file of its own"
# What a terminal prints at the start of a line, and what it is; no statement of Junos starts like that.
LINES = (
    (r"[^\s{};\"]+@[^\s{};\"]*[>#%](?=\s|$)", "a prompt of a terminal session"),
    (r"\{(?:master|backup|primary|secondary|linecard|line-card)\b[^{};\s]*\}", "printed around a prompt"),
    (r"\[edit\b[^\]\n]*\]", "printed around a prompt"),
    (r"-{2,}\s?\(?[Mm]ore\b[^\n]*", "printed by a pager between pages"),
    (r"[+-](?=\s)", "a line of `show | compare`"),
)
LINE = re.compile("[ \t]*(?:" + "|".join(f"({pattern})" for pattern, _ in LINES) + ")", re.ASCII)
OTHER_FORMATS = (
    (re.compile(r"<(?:\?xml|!|rpc-reply|data|configuration|nc:)"), "XML"),
    (re.compile(r'\{\s*"'), "JSON"),
    # Cisco's and Arista's first lines; a statement of Junos ends with `;` or opens a block.
    (
        re.compile(
            r"![^\n]*\n|(?:hostname|version|interface|feature)[ \t]+[^;{}\n]+\n(?:!|[a-z ])|Building configuration"
        ),
        "the configuration of another vendor's device",
    ),
)
_SYSTEM = re.compile(r"^(?:[a-z]+: )*system\s*\{", re.MULTILINE)
_HEADING = re.compile(r"^\s*(?:#|/\*)", re.MULTILINE)
# A comment that is one word, such as the name of a device; nothing in front of it on its line.
_NAMED = re.compile(r"(?:#+|/\*)[ \t=*#-]*([A-Za-z][\w.-]*?)[ \t=*#:-]*(?:\*/)?[ \t]*$", re.MULTILINE | re.ASCII)
_NUMBER = re.compile(r"[0-9]+")


def line_fault(text: str, start: int) -> str | None:
    """Return why a line cannot be part of a configuration if a terminal printed it, else None."""
    found = LINE.match(text, start)
    if found is None or found.lastindex is None:
        return None
    shown = text[start : text.find("\n", start) if "\n" in text[start : start + 1000] else start + 1000].strip()
    return f"{shown[:60]!r} is {LINES[found.lastindex - 1][1]}; {SAVE}"


def format_fault(text: str, start: int) -> str | None:
    """Return what is wrong with a text that is no Junos text at all, else None."""
    for pattern, what in OTHER_FORMATS:
        if pattern.match(text, start):
            return f"this is {what}; save `show configuration | no-more`, or with `| display set`"
    return None


def heading_fault(heading: str, statement: str) -> str:
    """Return why a line without an end in front of a hierarchy of Junos is refused."""
    return f"{heading[:60]!r} before {statement!r} is not a statement, or lacks its ';'; if it is a heading: {ALONE}"


def second_device(root: Node, text: str, is_set: bool) -> tuple[int, str] | None:
    """Return the line of a second device and why it is taken for one, or None.

    Two host names may be an oversight. With a block of their own they are two devices; in set text with a heading, or
    if what stands behind the first name begins again behind the second.
    """
    node = root.get("system", "host-name")
    if node is None or len(node.children) < 2:
        return None
    first, second = list(node)[:2]
    lines = text.split("\n")
    between = lines[first.line : second.line]
    again = is_set and len(_tops(between) & _tops(lines[second.line :])) > 1
    if not again and not (_HEADING if is_set else _SYSTEM).search("\n".join(between)):
        return None
    reason = f"host-name {second.word[:60]!r} is another device than {first.word[:60]!r} in line {first.line}; {ALONE}"
    return second.line, reason


def _tops(lines: list[str]) -> set[str]:
    """Return the hierarchies that lines of set text are about, without `system`."""
    return {words[1] for line in lines if len(words := line.split(None, 2)) == 3 and words[1] != "system"}


def second_heading(root: Node, text: str, file: str) -> tuple[int, str] | None:
    """Return the line of the heading of a second device, and why it is taken for one, or None.

    Headings are comments of one word. One is the name of this device, or the first line of a text that names none; the
    other has the same letters and other numbers.
    """
    found = [heading for start in sorted(_comments(text)) if (heading := _NAMED.match(text, start))]
    alike: dict[str, list[re.Match[str]]] = {}
    for heading in found:
        several = alike.setdefault(_NUMBER.sub("0", heading[1]), [])
        if heading[1] not in (other[1] for other in several[:2]):
            several.append(heading)
    node = root.get("system", "host-name")
    own = [Path(file).stem, *(one.word for one in islice(node or (), 2))]
    begins = node is None and bool(found) and not text[: found[0].start()].strip()
    for several in alike.values():
        mine = any(_names(one[1], own) or (begins and one is found[0]) for one in several[:2])
        if len(several) > 1 and mine:
            shown = several[1][0].strip()[:60]
            return text.count("\n", 0, several[1].start()) + 1, f"{shown!r} is the heading of a second device; {ALONE}"
    return None


def _comments(text: str) -> Iterator[int]:
    """Yield where lines start that are comments: an expression would try every line, which takes ten times as long."""
    for mark in ("#", "/*"):
        # Slashes are everywhere in addresses.
        behind = text.find(mark[-1]) + 1
        while behind:
            start = behind - len(mark)
            if text.startswith(mark, start) and (not start or text[start - 1] == "\n"):
                yield start
            behind = text.find(mark[-1], behind) + 1


def _names(heading: str, devices: list[str]) -> bool:
    return any(name == heading or name.endswith((f"-{heading}", f"_{heading}")) for name in devices)


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
