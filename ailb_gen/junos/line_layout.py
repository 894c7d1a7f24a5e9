"""The place in the tree of every line of a text that has a statement on each of its lines.

That is how devices print configurations, and how `ailb-gen generate` writes them.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from ailb_gen.junos.curly import DIVIDED
from ailb_gen.junos.grammar import ONELINER_WORDS
from ailb_gen.junos.tree import FLAT, Node

# What the readers take by its words alone, in curly and in set text; whether the last word is a string.
WORD = r'[^"\[\]#(;{}*\\\t]'
CURLY_LINE = re.compile(rf"{WORD}+(?:;|(?<= )\{{)")
CURLY_STRING = re.compile(rf'{WORD}+ "{WORD}+";')
SET_LINE = re.compile(rf"set {WORD}+")
SET_STRING = re.compile(rf'set {WORD}+ "{WORD}+"')
# Headings with a wildcard are read by their tokens, to the same nodes.
WILDCARD_HEADING = re.compile(r'[^"\[\]#({};\\\t]+ \{')
# `annotate` works only from the block around.
EDIT = re.compile(rf"edit {WORD}+")
# A statement with something else in it that ends on its line, too.
WHOLE = re.compile(r'(?:[^"#{};\\]|"[^"\\]*")*;? *')
# More uses than a text has lines.
MANY = 1 << 40
DEEPEST = 100
COMMENT = re.compile(r" *(?:#.*|/\*[^*/]*\*/ *)?")


@dataclass(frozen=True, slots=True)
class LineLayout:
    """Where the statements of a text are in its tree.

    `blocks` has for every line the node below which its statement starts; None for blank lines, comments, closing
    braces, and for what is more than words. `uses` counts by the id of a node how many lines name it, `parents` are
    the nodes around, by the id of a node; `noted` the nodes with comments that no other has, by the comment.
    """

    blocks: list[Node | None]
    uses: Counter[int]
    parents: dict[int, Node]
    noted: dict[str, Node]


class _IrregularError(Exception):
    """A line has no statement of its own."""


def words_of(line: str, is_set: bool) -> list[str] | None:
    """Return the words of a statement that is a path of words, as in the tree; None for another one."""
    if is_set:
        if SET_LINE.fullmatch(line):
            words = line.split()[1:]
        elif SET_STRING.fullmatch(line):
            head, _, last = line[:-1].partition(' "')
            words = [*head.split()[1:], last]
        else:
            return None
        return words if words and ONELINER_WORDS.isdisjoint(words[:-2]) else None
    if CURLY_LINE.fullmatch(line):
        words = line[:-1].split()
        # A blank in front of the semicolon, or a word like a tag: read by its tokens.
        if line[-1] == ";" and line[-2] in " :":
            return None
        names = words if line[-1] == "{" else words[:-1] if len(words) > 2 else []
    elif CURLY_STRING.fullmatch(line):
        head, _, last = line[:-2].partition(' "')
        names = head.split()
        words = [*names, last] if names else []
    else:
        return None
    if not words or ((len(words) > 1 or line[-1] == "{") and words[0][-1] == ":"):
        return None
    return words if len(names) < 2 or DIVIDED.isdisjoint(names) else None


def line_layout(lines: list[str], root: Node) -> LineLayout | None:
    """Return where the lines of a text are in its tree; None unless every line has a statement of its own."""
    parents, noted = {}, Counter[str]()
    owners: dict[str, Node] = {}
    for node in root.below():
        for child in node.children.values():
            parents[id(child)] = node
        for comment in node.comment or ():
            noted[comment] += 1
            owners[comment] = node
    found = LineLayout([], Counter(), parents, {text: node for text, node in owners.items() if noted[text] == 1})
    try:
        stack = _follow(lines, root, found)
    except _IrregularError:
        return None
    return found if not stack and len(found.blocks) == len(lines) else None


def _follow(lines: list[str], root: Node, found: LineLayout) -> list[Node]:
    """Fill in the blocks and uses; return the blocks that are left open. Raises _IrregularError."""
    is_set = bool(root.flags & FLAT)
    stack: list[Node] = []
    block, uses = root, found.uses
    for line in lines:
        words = words_of(line, is_set)
        found.blocks.append(block if words is not None else None)
        if words is None and not is_set:
            words = _wildcard_heading(line)
        if words is not None:
            node = block
            for word in words:
                below = node.children.get(word)
                if below is None:
                    raise _IrregularError
                node = below
                uses[id(node)] += 1
            if line[-1] == "{" and not is_set:
                stack.append(block)
                block = node
                if len(stack) > DEEPEST:
                    raise _IrregularError
        elif line.strip(" ") == "}" and stack and not is_set:
            block = stack.pop()
        elif is_set and (line == "top" or EDIT.fullmatch(line)):
            block = root if line == "top" else _reserved(line.split()[1:], block, uses, whole=True)
        elif not COMMENT.fullmatch(line):
            _reserve(line, block, uses, is_set)
    return stack


def _wildcard_heading(line: str) -> list[str] | None:
    if not WILDCARD_HEADING.fullmatch(line) or "/*" in line:
        return None
    words = line[:-1].split()
    return words if words and words[0][-1] != ":" and DIVIDED.isdisjoint(words) else None


def _reserve(line: str, block: Node, uses: Counter[int], is_set: bool) -> None:
    """Count as used by others what a line that is more than words may have named."""
    if " /*" in line or not WHOLE.fullmatch(line) or (not is_set and ("/*" in line or line.rstrip(" ")[-1] != ";")):
        raise _IrregularError
    words = line.split()
    if is_set and words.pop(0) not in ("set", "annotate"):
        raise _IrregularError
    for one in _reserved(words, block, uses).below():
        uses[id(one)] += MANY


def _reserved(words: list[str], block: Node, uses: Counter[int], whole: bool = False) -> Node:
    """Count as used by others the nodes of words, the `whole` path or as far as words are all; return the last one."""
    node = block
    for word in words:
        below = node.children.get(word)
        if below is None:
            break
        node = below
        uses[id(node)] += MANY
        if word in DIVIDED and not whole:
            break
    if node is block or (whole and node is not block.get(*words)):
        raise _IrregularError
    return node
