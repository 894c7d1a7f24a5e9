"""A tree to curly text, set text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ailb_gen.junos.block_layout import lay_out
from ailb_gen.junos.grammar import one_line
from ailb_gen.junos.tokens import quote, reach, written
from ailb_gen.junos.tree import DELETE, ENDS, FLAT, INACTIVE, LIST, PROTECT, REPLACE, TAGGED, Node

TAGS = ((INACTIVE, "inactive: "), (PROTECT, "protect: "), (REPLACE, "replace: "), (DELETE, "delete: "))
NAMES = ((INACTIVE, "inactive"), (PROTECT, "protect"), (REPLACE, "replace"), (DELETE, "delete"), (LIST, "list"))
COMMANDS = ((INACTIVE, "deactivate"), (PROTECT, "protect"))
# Devices mark the lines of secrets with this; set lines they do not mark.
MARK = "## SECRET-DATA"
# Deeper blocks are not indented further: a text of a thousand levels is valid, and would be mostly spaces.
INDENTS = tuple("    " * level for level in range(65))


def to_curly(root: Node) -> str:
    """Write a tree as curly text, statements grouped as they were read.

    In the tree of a set text, the boundaries of blocks are marked first, in place.
    """
    if root.flags & FLAT:
        lay_out(root)
    lines: list[str] = []
    stack = [statements(root)]
    while stack:
        indent = INDENTS[min(len(stack) - 1, len(INDENTS) - 1)]
        for text, node, flags, comments in stack[-1]:
            behind = ""
            for comment in comments:
                if comment == MARK:
                    behind = f" {MARK}"
                else:
                    lines.append(f"{indent}{comment}")
            if node is None:
                lines.append(f"{indent}{tags_of(flags)}{text};{behind}")
            else:
                lines.append(f"{indent}{tags_of(flags)}{text} {{{behind}")
                stack.append(statements(node))
                break
        else:
            stack.pop()
            if stack:
                lines.append(f"{INDENTS[min(len(stack) - 1, len(INDENTS) - 1)]}}}")
    lines += root.comment or ()
    return "".join(f"{line}\n" for line in lines)


def tags_of(flags: int) -> str:
    """Return the tags that flags stand for, as they are written in front of a word."""
    return "".join(tag for flag, tag in TAGS if flags & flag) if flags & TAGGED else ""


def statements(block: Node) -> Iterator[tuple[str, Node | None, int, list[str]]]:
    """Iterate over the statements of a block: text, the node if it is a block itself, flags, comments."""
    words: list[str] = []
    flags: list[int] = []
    comments: list[str] = []
    stack = [iter(block.children.values())]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            if words:
                words.pop()
                flags.pop()
            continue
        before = words[-1] if words else block.word
        words.append(written(node))
        flags.append(node.flags & TAGGED)
        comments += node.comment or ()
        joined = _joined(node, words, before, block.word)
        if joined is not None or node.flags & ENDS or not node.children:
            if joined is not None:
                comments += (comment for child in node for comment in child.comment or ())
            inner = node if node.children and joined is None else None
            front, text = _placed(block.word, [*words, *(joined or ())], flags, inner is not None)
            yield " ".join(text), inner, front, comments
            words.pop()
            flags.pop()
            comments = []
        else:
            stack.append(iter(node.children.values()))


def _placed(parent: str, words: list[str], flags: list[int], opens: bool) -> tuple[int, list[str]]:
    """Return the tags in front of a statement, and its words with the tags that stand further on.

    Tags in front are about the block that opens, else about the words that name the statement.
    """
    if not any(flags):
        return 0, words
    named = len(flags) - 1 if opens else reach(parent, [*words])
    front = 0
    text = list(words)
    for at, flag in enumerate(flags):
        if at <= named:
            front |= flag
        elif flag:
            # What is named with its keys has the tag in front of its keyword.
            start = next((one for one in range(at, named, -1) if one + reach(words[one - 1], [*words[one:]]) == at), at)
            text[start] = tags_of(flag) + text[start]
    return front, text


def _joined(node: Node, words: list[str], before: str, parent: str) -> list[str] | None:
    """Return what stands behind a node if several statements share its line: a list, or attributes; else None.

    `before` is the word in front of the node, `parent` that of the block.
    """
    if not node.children or node.flags & ENDS:
        return None
    if node.flags & LIST and not any(child.children for child in node):
        return _values(node)
    if len(node.children) == 1:
        return None
    found = one_line(before, node.word)
    if found is not None and not found[0]:
        return _attributes(node, found[1], found[2])
    found = one_line(words[-3] if len(words) > 2 else parent, before) if len(words) > 1 else None
    if found is not None and found[0]:
        return _attributes(node, found[1], found[2])
    return None


def _attributes(node: Node, lead: bool, counts: dict[str, int]) -> list[str] | None:
    """Return the attributes behind a node as words, or None if there is one that does not go with the others."""
    first: list[str] = []
    rest: list[str] = []
    for child in node:
        behind = _attribute(child, counts.get(child.word))
        if behind is not None:
            rest += behind
        elif lead and not first and child.word not in counts and not child.children:
            # A value that was set again stands behind the attributes.
            first.append(tags_of(child.flags) + written(child))
        else:
            return None
    return first + rest


def _attribute(node: Node, count: int | None) -> list[str] | None:
    """Return an attribute and its value as words, or None if it is none, or stands for itself."""
    if count is None or (node.children and node.flags & ENDS):
        return None
    if len(node.children) > 1 and not node.flags & LIST:
        return None
    if bool(node.children) != bool(count) or any(child.children for child in node):
        return None
    return [tags_of(node.flags) + written(node), *(_values(node) if node.children else ())]


def _values(node: Node) -> list[str]:
    values = [tags_of(child.flags) + written(child) for child in node]
    return ["[", *values, "]"] if node.flags & LIST else values


def to_set(root: Node, comments: bool = True) -> str:
    """Write a tree as set lines, as `display set` prints them.

    Inactive and protected statements get a line more, behind those that set them; what is to be deleted or replaced
    gets one before. With `comments`, those that the device keeps (`/* */`) become `annotate`, others lines.
    `annotate` needs the level of a statement: in the tree of a set text, blocks are marked first, in place.
    """
    if comments and root.flags & FLAT:
        lay_out(root)
    lines = [*set_lines(root.children.values(), [], comments), *(root.comment or () if comments else ())]
    return "".join(f"{line}\n" for line in lines)


def set_lines(statements: Iterable[Node], path: list[str], comments: bool = False) -> Iterator[str]:
    """Iterate over the set lines of statements below a path of words as written; the path is in use meanwhile."""
    stack = [iter(statements)]
    nodes: list[Node] = []
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            if nodes:
                yield from _behind(nodes.pop(), path, nodes, comments)
                path.pop()
            continue
        path.append(written(node))
        if comments and node.comment:
            yield from (text for text in node.comment if text[0] == "#" and text != MARK)
        if node.flags & (DELETE | REPLACE):
            yield f"delete {' '.join(path)}"
        if node.children and not node.flags & DELETE:
            stack.append(iter(node.children.values()))
            nodes.append(node)
            continue
        if node.flags & ENDS and not node.flags & DELETE:
            yield f"set {' '.join(path)}"
        yield from _behind(node, path, nodes, comments)
        path.pop()


def _behind(node: Node, path: list[str], nodes: list[Node], comments: bool) -> Iterator[str]:
    """Iterate over the lines that say more of a statement that is set."""
    for flag, command in COMMANDS:
        if node.flags & flag:
            yield f"{command} {' '.join(path)}"
    for text in (node.comment or ()) if comments else ():
        if text.startswith("/*"):
            # `annotate` takes a statement at the level that is edited.
            start = max((depth for depth, around in enumerate(nodes, 1) if around.flags & ENDS), default=0)
            if start:
                yield f"edit {' '.join(path[:start])}"
            yield f"annotate {' '.join(path[start:])} {quote(text[2:-2].strip())}"
            if start:
                yield "top"


def to_json(root: Node) -> str:
    """Write a tree as JSON: every word is a key, and its value an object of the words behind it, empty at the end.

    What else is known of a word stands beside it under `@word`: `inactive`, `protect`, `replace`, `delete`, `list`
    (`[ a b ]`), each true, and `comment`, a list of texts.
    """
    parts = ["{"]
    stack = [iter(root.children.values())]
    first = True
    while stack:
        node = next(stack[-1], None)
        indent = "\n" + " " * min(len(stack), 64)
        if node is None:
            stack.pop()
            parts.append("}" if first else f"{indent[:-1]}}}")
            first = False
            continue
        parts.append(("" if first else ",") + indent)
        about = _about(node)
        if about:
            parts.append(f"{json.dumps(f'@{node.word}')}: {json.dumps(about)},{indent}")
        parts.append(f"{json.dumps(node.word)}: {{")
        stack.append(iter(node.children.values()))
        first = True
    return "".join(parts) + "\n"


def _about(node: Node) -> dict[str, bool | list[str]]:
    about: dict[str, bool | list[str]] = {name: True for flag, name in NAMES if node.flags & flag}
    if node.comment:
        about["comment"] = node.comment
    return about
