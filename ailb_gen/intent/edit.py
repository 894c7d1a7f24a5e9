"""YAML text edited in place: one value changes, and every other character stays as people wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from copy import deepcopy
from typing import Any

import yaml

from ailb_gen.errors import IntentError, UsageError
from ailb_gen.yaml_text import inline
from ailb_gen.yamlio import Path, dotted, read_yaml

# What may follow the end of a value on its line, in a block and in brackets.
BLANK = re.compile(r"[ \t]*(?:#.*)?")
AFTER_ITEM = re.compile(r"[ \t]*,?[ \t]*(?:#.*)?")
BEFORE_ITEM = re.compile(r"[ \t]*-[ \t]+")
COMMA = re.compile(r"[ \t]*,[ \t]*")
# A comment that follows needs the blank before it.
OWN_COMMA = re.compile(r"[ \t]*,(?:[ \t]*(?=[^ \t#]))?")
BY_HAND = "it is written in a form that cannot be edited in place (such as an anchor, or several values in one line)"
Child = tuple[yaml.Node, yaml.Node]


def edit(text: str, path: Path, value: object, file: str) -> str:
    """Return YAML text in which `path` has another value: plain data, or None to remove it; the rest is as it was.

    A key that is missing, or the index behind the last item of a list, is added, with what leads to it. What has no
    brackets cannot be empty: its last item or key takes it along. Comments on the lines of a removed value, and within
    a replaced one, go with it. Raises IntentError for what is no YAML, UsageError where only a person can edit.
    """
    before, root = read_yaml(text, file).data, _composed(text)
    path, value = _whole(root, path, value)
    result = _Editor(text).changed(root, path, value)
    if result is None or not _holds(result, _with(deepcopy(before), path, value)):
        raise _by_hand("remove" if value is None else "change", path, file)
    return result


def add_items(text: str, path: Path, values: Sequence[object], file: str) -> str:
    """Return YAML text with more items behind the last one of the list at `path`; raises as `edit` does."""
    before, root = read_yaml(text, file).data, _composed(text)
    expected = deepcopy(before)
    items = _at(expected, path)
    if not items:
        return edit(text, path, [*values], file)
    end = (*path, len(items))
    result: str | None = text
    # Each stands in front of those that were added before it.
    for value in reversed(values):
        result = _Editor(result).changed(root, end, value) if result is not None else None
    items.extend(values)
    if result is None or not _holds(result, expected):
        raise _by_hand("change", end, file)
    return result


def remove_items(text: str, path: Path, indexes: Collection[int], file: str) -> str:
    """Return YAML text without some items of the list at `path`, which goes with the last one where it has no brackets.

    Raises as `edit` does.
    """
    before, root = read_yaml(text, file).data, _composed(text)
    first, *others = sorted(indexes)
    expected = deepcopy(before)
    items = _at(expected, path)
    result: str | None = text
    # From the end on: what comes before stays where it is.
    for index in reversed(others):
        result = _Editor(result).changed(root, (*path, index), None) if result is not None else None
        items.pop(index)
    if result is None or (others and not _holds(result, expected)):
        raise _by_hand("remove", path, file)
    return edit(result, (*path, first), None, file)


def _composed(text: str) -> yaml.Node:
    """Return the nodes of a text; those of an empty one are a mapping without keys."""
    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    return root if root is not None else yaml.MappingNode("", [], _mark(text), _mark(text), flow_style=False)


def _by_hand(verb: str, path: Path, file: str) -> UsageError:
    return UsageError(f"{file}: cannot {verb} {dotted(path)}: {BY_HAND}; edit it by hand")


def _at(data: Any, path: Path) -> Any:
    """Return what is at a path of data."""
    for part in path:
        data = data[part]
    return data


def _holds(text: str, expected: object) -> bool:
    """Return whether a text is YAML with these data: aliases, for instance, repeat elsewhere what was edited."""
    try:
        return bool((read_yaml(text, "").data or {}) == expected)
    except IntentError:
        return False


def _mark(text: str) -> yaml.Mark:
    """Return the end of a text that holds comments at most."""
    return yaml.Mark("", len(text), text.count("\n"), 0, None, 0)


def _children(node: yaml.Node) -> list[Child]:
    """Return the keys with their values, or the items of a list, each twice; none of a scalar."""
    if isinstance(node, yaml.MappingNode):
        return list(node.value)
    return [(item, item) for item in node.value] if isinstance(node, yaml.SequenceNode) else []


def _is_block(node: yaml.Node) -> bool:
    """Return whether a node holds others without brackets."""
    return isinstance(node, yaml.CollectionNode) and not node.flow_style


def _position(node: yaml.Node, part: str | int) -> int | None:
    """Return which child a part of a path names."""
    if isinstance(node, yaml.SequenceNode):
        return part if isinstance(part, int) and part < len(node.value) else None
    return next((n for n, (key, _) in enumerate(_children(node)) if key.value == str(part)), None)


def _whole(root: yaml.Node, path: Path, value: object) -> tuple[Path, object]:
    """Return what changes as a whole: what is added with keys that lead to it, what is removed with what it empties."""
    nodes = [root]
    for part in path:
        at = _position(nodes[-1], part)
        if at is None:
            break
        nodes.append(_children(nodes[-1])[at][1])
    if value is None:
        while len(path) > 1 and _is_block(nodes[len(path) - 1]) and len(nodes[len(path) - 1].value) == 1:
            path = path[:-1]
        return path, None
    while len(path) > len(nodes):
        value, path = ([value] if isinstance(path[-1], int) else {path[-1]: value}), path[:-1]
    return path, value


def _with(data: Any, path: Path, value: object) -> Any:
    """Return data with the value at a path replaced, added or removed."""
    data = {} if data is None else data
    parent = _at(data, path[:-1])
    if value is None:
        parent.pop(path[-1])
    elif isinstance(parent, list) and path[-1] == len(parent):
        parent.append(value)
    else:
        parent[path[-1]] = value
    return data


def _entry(indent: str, key: str | int, value: object, brackets: bool) -> list[str]:
    """Return the lines of a new key of a block; with `brackets` a mapping of single values, or a list, stands in them.

    Below a mapping that is added, only mappings of others stand without them.
    """
    parts = value.values() if isinstance(value, dict) else ()
    flat = isinstance(value, list) or not any(isinstance(part, dict | list) for part in parts)
    if not isinstance(value, dict | list) or not value or (brackets and flat):
        return [f"{indent}{inline(key)}: {inline(value)}"]
    head = f"{indent}{inline(key)}:"
    if isinstance(value, list):
        return [head, *(f"{indent}  - {inline(item)}" for item in value)]
    return [head, *(line for name, part in value.items() for line in _entry(f"{indent}  ", name, part, True))]


class _Editor:
    """The text and where its lines are; each method returns the new text, or None where it cannot be edited."""

    def __init__(self, text: str) -> None:
        self.text = text

    def changed(self, root: yaml.Node, path: Path, value: object) -> str | None:
        """Return the text with the value at a path replaced, added or removed."""
        node = root
        for part in path[:-1]:
            at = _position(node, part)
            if at is None:
                return None
            node = _children(node)[at][1]
        if not isinstance(node, yaml.CollectionNode):
            return None
        at = _position(node, path[-1])
        if value is None:
            remove: Callable[..., str | None] = self.removed_lines if _is_block(node) else self.removed_in_brackets
            return None if at is None else remove(node, at)
        if at is not None:
            return self.replaced(*_children(node)[at], value)
        if isinstance(node, yaml.SequenceNode) and path[-1] != len(node.value):
            return None
        add: Callable[..., str] = self.added_lines if _is_block(node) else self.added_in_brackets
        return add(node, path[-1], value)

    def spliced(self, start: int, end: int, new: str) -> str:
        """Return the text with another part in place of that between two indexes."""
        return f"{self.text[:start]}{new}{self.text[end:]}"

    def end(self, node: yaml.Node) -> int:
        """Return the index behind a value; that of a block is behind its last value, before comments that follow."""
        children = _children(node)
        if _is_block(node) and children:
            return self.end(children[-1][1])
        return int(node.end_mark.index)

    def line_start(self, at: int) -> int:
        """Return where the line of an index begins."""
        return self.text.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Return where the line of an index ends, before what ends it; an index behind a whole line stays."""
        if at == self.line_start(at):
            return at
        found = self.text.find("\n", at)
        end = len(self.text) if found < 0 else found
        return end - 1 if self.text[end - 1 : end] == "\r" and end > at else end

    def newline(self, at: int) -> str:
        """Return what ends the line of an index, or the line above where it is the last."""
        found = self.text.find("\n", at)
        found = self.text.rfind("\n", 0, at) if found < 0 else found
        return "\r\n" if self.text.endswith("\r\n", 0, found + 1) else "\n"

    def replaced(self, key: yaml.Node, node: yaml.Node, value: object) -> str:
        """Return the text with another value in place of one; a key without a value gets a blank before it."""
        start = int(node.start_mark.index)
        # A text of several lines ends before the line that follows.
        end = start + len(self.text[start : self.end(node)].rstrip())
        if _is_block(node) and key is not node:
            # Lines below a key: the value takes its place beside the key, before a comment.
            start = self.text.index(":", key.end_mark.index) + 1
            return self.spliced(start, end, f" {inline(value)}{self.rest(start)}")
        return self.spliced(start, end, inline(value) if end > start else f" {inline(value)}")

    def added_lines(self, node: yaml.Node, part: str | int, value: object) -> str:
        """Return the text with a key or an item behind the last one of a block."""
        children = _children(node)
        at = self.line_end(self.end(children[-1][1])) if children else len(self.text)
        indent = " " * node.start_mark.column
        if isinstance(node, yaml.SequenceNode):
            lines = [f"{indent}- {inline(value)}"]
        else:
            # Below the top level, as the one above it.
            above = children[-1][1] if children and indent else None
            lines = _entry(indent, part, value, isinstance(above, yaml.CollectionNode) and not _is_block(above))
        # Behind a whole line; the last one of a file may lack its end, and then the new one does, too.
        behind = at == self.line_start(at)
        newline = self.newline(at - 1 if behind else at)
        new = newline.join(lines)
        return self.spliced(at, at, f"{new}{newline}" if behind else f"{newline}{new}")

    def added_in_brackets(self, node: yaml.Node, part: str | int, value: object) -> str:
        """Return the text with a key or an item behind the last one in brackets."""
        new = inline(value) if isinstance(node, yaml.SequenceNode) else f"{inline(part)}: {inline(value)}"
        children = _children(node)
        if children:
            at = self.end(children[-1][1])
            return self.spliced(at, at, f", {new}")
        at = self.text.index("[" if isinstance(node, yaml.SequenceNode) else "{", node.start_mark.index) + 1
        return self.spliced(at, at, new)

    def removed_lines(self, node: yaml.Node, at: int) -> str | None:
        """Return the text without the lines of a key or an item of a block."""
        key, value = _children(node)[at]
        start, end = self.line_start(key.start_mark.index), self.end(value)
        before = self.text[start : key.start_mark.index]
        own = BEFORE_ITEM.fullmatch(before) if isinstance(node, yaml.SequenceNode) else not before.strip()
        return self.without_lines(start, end) if own and BLANK.fullmatch(self.rest(end)) else None

    def removed_in_brackets(self, node: yaml.Node, at: int) -> str:
        """Return the text without a key or an item in brackets, and its comma."""
        children = _children(node)
        start, end = int(children[at][0].start_mark.index), self.end(children[at][1])
        if not self.text[self.line_start(start) : start].strip() and AFTER_ITEM.fullmatch(self.rest(end)):
            return self.without_lines(self.line_start(start), end)
        if at and COMMA.fullmatch(self.text, self.end(children[at - 1][1]), start):
            return self.spliced(self.end(children[at - 1][1]), end, "")
        comma = OWN_COMMA.match(self.text, end)
        return self.spliced(start, comma.end() if comma else end, "")

    def rest(self, at: int) -> str:
        """Return what follows an index on its line."""
        return self.text[at : self.line_end(at)]

    def without_lines(self, start: int, end: int) -> str:
        """Return the text without the lines from one index to another, and one end of a line."""
        last = self.line_end(end)
        if last == end and end == self.line_start(end):
            return self.spliced(start, end, "")
        if last < len(self.text):
            return self.spliced(start, last + len(self.newline(last)), "")
        # The last line of a file whose end it lacks: that of the line above goes with it.
        before = start - (2 if self.text[:start].endswith("\r\n") else 1)
        return self.spliced(max(before, 0), last, "")
