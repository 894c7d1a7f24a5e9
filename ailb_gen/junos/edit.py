"""Changing a tree as a device changes its configuration: merge and replace, and the commands of set text.

Source: Juniper, "Junos XML Management Protocol Developer Guide", `<load-configuration>`; CLI User Guide, "Load
Configuration Files". A statement that takes one value keeps the last; one that takes a list of them adds.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ailb_gen.junos.block_layout import lay_out
from ailb_gen.junos.commands import FLAGS, Command, commands
from ailb_gen.junos.grammar import BLOCK, PREFIX, VALUE, form_of, inside, one_line, place_of
from ailb_gen.junos.renaming import NOT_FOUND, copy_entry, rename, replace_pattern
from ailb_gen.junos.tokens import Words, joined, put, unquote, wrong
from ailb_gen.junos.tree import DELETE, ENDS, FLAT, INACTIVE, LIST, PROTECT, QUOTED, REPLACE, Node, copy


class Order:
    """The entries of a block, each with the one in front of it and the one behind; None is in front of the first.

    Entries that the block gets in the meantime count at the next move. Between two updates the block may move one entry
    of its own to its end, and get none besides.
    """

    __slots__ = ("around", "before", "behind", "last")

    def __init__(self, around: Node) -> None:
        self.around = around
        self.before: dict[str | None, str | None] = {None: None}
        self.behind: dict[str | None, str | None] = {None: None}
        self.last: str | None = None

    def move(self, moved: str, other: str, is_behind: bool) -> None:
        """Put one entry in front of another, or behind it."""
        self.update()
        if moved != other:
            self._take_out(moved)
            self._put_behind(moved, other if is_behind else self.before[other])

    def apply(self) -> None:
        """Give the block's entries this order."""
        self.update()
        children, self.around.children = self.around.children, {}
        word = self.behind[None]
        while word is not None:
            self.around.children[word] = children[word]
            word = self.behind[word]

    def update(self, moved: str | None = None) -> None:
        """Append what the block has at its end since the last time, and at last the entry that it `moved` there."""
        unknown = len(self.around.children) - len(self.before) + 1
        more: list[str] = []
        for word in reversed(self.around.children):
            if not unknown and word == self.last:
                break
            unknown -= word not in self.before
            more.append(word)
        for word in reversed(more):
            if word in self.before:
                self._take_out(word)
            self._put_behind(word, self.before[None])
        if moved is not None and self.before[None] != moved:
            self._take_out(moved)
            self._put_behind(moved, self.before[None])
        self.last = next(reversed(self.around.children), None)

    def _take_out(self, word: str) -> None:
        front, back = self.before[word], self.behind[word]
        self.behind[front], self.before[back] = back, front

    def _put_behind(self, word: str, front: str | None) -> None:
        back = self.behind[front]
        self.before[word], self.behind[word] = front, back
        self.behind[front] = self.before[back] = word


MARKS = INACTIVE | PROTECT
# What a statement that is merged says of the one that is there.
SAYS = ENDS | LIST | QUOTED | MARKS


def merge(
    target: Node,
    source: Node,
    replace: bool = False,
    marks: bool = False,
    fresh: set[int] | None = None,
    share: bool = False,
) -> None:
    """Put every statement of `source` into `target`, in place; `source` is not changed.

    What is tagged `delete:` goes; with `replace`, what is tagged `replace:` is taken whole. A device keeps a statement
    inactive or protected that is merged without a tag; with `marks`, `source` decides, about lines as well. `fresh`
    holds the ids of the nodes that lines of set text have made: of what the grammar does not know, only these may take
    further words. With `share`, both trees have the nodes of what is new and has no tags: a later change of one changes
    the other.
    """
    if source.flags & FLAT:
        source = copy(source)
        lay_out(source)
    if target.flags & FLAT:
        lay_out(target)
    target.flags |= source.flags & MARKS
    share = share and not source.flags & (DELETE | REPLACE)
    # Block, what is merged into it, the keys still to come, and as what the grammar knows the block.
    stack: list[tuple[Node, Node, int, str]] = [(target, source, 0, "")]
    while stack:
        here, there, keys, parent = stack.pop()
        for child in there:
            left, form = (keys - 1, BLOCK) if keys else form_of(parent, child.word)
            below = parent if keys else inside(parent, child.word)
            found = here.children.get(child.word)
            if child.flags & DELETE:
                here.children.pop(child.word, None)
            elif found is None or (replace and child.flags & REPLACE):
                made = here.children[child.word] = child if share else copy(child, done=True)
                if fresh is not None:
                    fresh |= {id(node) for node in made.below()}
            else:
                found.flags = (found.flags & ~MARKS if marks else found.flags) | (child.flags & SAYS)
                found.comment = child.comment or found.comment
                found.line = child.line if marks else found.line
                if not left:
                    _make_room(found, child, form, there.word, fresh or ())
                stack.append((found, child, left, below))


def _make_room(old: Node, new: Node, form: str, before: str, fresh: Collection[int]) -> None:
    """Take out the value of a statement that another one replaces; `before` is the word in front of it."""
    attributes = lead_attributes(before, old.word)
    if attributes is not None:
        value = lead(new, attributes)
        if value is not None:
            rest = {word: child for word, child in old.children.items() if child is not lead(old, attributes)}
            old.children = {value.word: copy(value), **rest}
    elif not form and id(old) in fresh and old.children:
        old.flags |= ENDS
    elif is_value(old, form) and is_value(new, form) and old.children.keys() != new.children.keys():
        old.children.clear()


def is_value(node: Node, form: str) -> bool:
    """Return whether a statement of a form is a word with its one value, not a block or a list."""
    if form not in (VALUE, "") or node.flags & LIST or (not form and node.flags & ENDS):
        return False
    return len(node.children) == 1 and not any(child.children for child in node)


def lead_attributes(before: str, word: str) -> dict[str, int] | None:
    """Return the attributes of a one-line statement that has a value in front of them; None for another."""
    found = one_line(before, word)
    return found[2] if found is not None and found[1] and not found[0] else None


def lead(node: Node, attributes: dict[str, int]) -> Node | None:
    """Return the value in front of the attributes of a one-line statement."""
    return next((child for child in node if child.word not in attributes and not child.children), None)


def apply(root: Node, text: str) -> tuple[Node, list[str]]:
    """Return a tree after a list of set commands, and a warning for each that found nothing (`statement not found`).

    Knows set, delete, activate, deactivate, protect, unprotect, annotate, insert, rename, copy, replace, edit, up, top
    and exit. The tree itself is not changed. Raises JunosSyntaxError.
    """
    result = copy(root)
    if result.flags & FLAT:
        lay_out(result)
    warnings: list[str] = []
    level: Words = []
    fresh: set[int] = set()
    for command in commands(text):
        try:
            path = [*level, *command.words]
            _check(command, path)
            if command.verb in ("edit", "top", "up", "exit"):
                level = path if command.verb == "edit" else [] if command.verb == "top" else level[:-1]
                continue
            guard = None if command.verb in UNGUARDED else guarded(result, path)
            if guard is not None:
                warnings.append(guard)
                continue
            if command.verb == "set":
                small = Node("", 0, FLAT)
                put(small, path, command.line)
                lay_out(small)
                merge(result, small, fresh=fresh)
                continue
            fresh.clear()
            if command.verb == "replace":
                _replace(result, unquoted(level), unquoted(command.words))
            elif command.verb in MOVING:
                MOVING[command.verb](result, unquoted(path))
            elif not _change(result, command.verb, unquoted(path)):
                warnings.append(NOT_FOUND)
        except ValueError as error:
            raise wrong("", text, command.offset, str(error)) from error
    return result, warnings


def guarded(root: Node, path: Words) -> str | None:
    """Return what a device says of a change to a statement that is protected, or stands in one that is; else None."""
    node: Node | None = root
    done: list[str] = []
    for word in path:
        node = node.children.get(unquote(word) if word[0] == '"' else word) if node and isinstance(word, str) else None
        if node is None:
            return None
        done.append(node.word)
        if node.flags & PROTECT:
            whole = " ".join(str(one) for one in path)
            return f"[{' '.join(done)}] is protected, '{whole}' cannot be changed"
    return None


def _check(command: Command, path: Words) -> None:
    verb = command.verb
    if verb not in KNOWN:
        raise ValueError(f"syntax error, {verb[:40]!r} is not a command that can be loaded")
    if verb not in ("top", "up", "exit") and not (path if verb == "delete" else command.words):
        raise ValueError(f"syntax error, nothing after {verb!r}")


def unquoted(words: Words) -> list[str]:
    """Return words without quotes, an expression in round brackets as one. Raises ValueError for a list."""
    words = joined(words)
    if any(isinstance(word, list) for word in words):
        raise ValueError("syntax error, a list is not allowed here")
    return [unquote(word) if word[0] == '"' else word for word in words if isinstance(word, str)]


def _change(root: Node, verb: str, words: list[str]) -> bool:
    """Delete, annotate or mark a statement; return whether it is there. Raises ValueError."""
    note = words.pop() if verb == "annotate" else ""
    node = root.get(*words)
    if node is None or not words:
        return False
    if verb == "delete":
        delete(root, words)
    elif verb == "annotate":
        if "*/" in note:
            raise ValueError("syntax error, a comment cannot hold '*/'")
        node.comment = [f"/* {note} */"] if note else None
    else:
        on, off = FLAGS[verb]
        node.flags = (node.flags | on) & ~off
        root.flags |= on
    return True


def delete(root: Node, words: list[str]) -> None:
    """Take a statement out that is there, and the words around it that then stand for nothing."""
    way = [root]
    for word in words:
        way.append(way[-1].children[word])
    del way[-2].children[words[-1]]
    for depth in range(len(words) - 1, 0, -1):
        node = way[depth]
        if node.children or (node.flags & ENDS and not _vanishes(words[:depth])):
            return
        del way[depth - 1].children[node.word]


def _vanishes(words: list[str]) -> bool:
    """Return whether an empty block means nothing: a container or a list of the hierarchy, no entry, no family."""
    parent, keys = place_of(words[:-1])
    if keys or parent == PREFIX:
        return False
    more, form = form_of(parent, words[-1])
    return more > 0 or form == BLOCK or words[-1] == PREFIX


def _replace(root: Node, level: list[str], words: list[str]) -> None:
    """Carry out `replace pattern A with B [upto N]` at a level. Raises ValueError."""
    keywords, values = tuple(words[::2]), words[1::2]
    if keywords not in (("pattern", "with"), ("pattern", "with", "upto")) or len(words) % 2:
        raise ValueError("syntax error, expecting 'pattern PATTERN with TEXT [upto NUMBER]'")
    most = values[2] if len(values) > 2 else "0"
    if not most.isdecimal():
        raise ValueError(f"syntax error, not a number: {most!r}")
    replace_pattern(root, level, values[0], values[1], int(most))


def move_of(root: Node, words: Sequence[str]) -> tuple[Node, str, str, bool]:
    """Return what `insert` moves: `PATH term a before term b`, or `PATH a before b` in a list.

    That is the block, the entry, the one beside it, and whether the entry goes behind that. Raises ValueError.
    """
    at = next((at for at, word in enumerate(words) if word in ("before", "after") and at), 0)
    around = root.get(*words[: at - 1]) if at else None
    if (
        around is None
        or words[at - 1] not in around.children
        or words[-1] not in around.children
        or not words[at + 1 :]
    ):
        raise ValueError("insert takes an entry that is set, 'before' or 'after', and another one beside it")
    return around, words[at - 1], words[-1], words[at] == "after"


def insert(root: Node, words: Sequence[str]) -> Node:
    """Put an entry before or after another one, and return it. Raises ValueError."""
    around, moved, other, is_behind = move_of(root, words)
    order = Order(around)
    order.move(moved, other, is_behind)
    order.apply()
    return around.children[moved]


MOVING = {"insert": insert, "rename": rename, "copy": copy_entry}
# Commands that what is protected does not stop.
UNGUARDED = frozenset({"protect", "unprotect"})
KNOWN = frozenset({"set", "delete", "annotate", "edit", "top", "up", "exit", "replace", *MOVING, *FLAGS})
