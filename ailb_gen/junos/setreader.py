"""Set text to a tree: `set`, `delete`, `deactivate` and the other commands that `display set` and `load set` know."""

from __future__ import annotations

from ailb_gen.junos.capture import line_fault
from ailb_gen.junos.grammar import ONELINER_WORDS
from ailb_gen.junos.tree import DELETE, ENDS, FLAT, INACTIVE, PROTECT, REPLACE, Node
from ailb_gen.junos.words import SPECIAL, TOKEN, Words, again, bad, check_string, note, put, unquote, walk, wrong

# Command to the flag it sets and the flag it clears.
FLAGS = {
    "deactivate": (INACTIVE, 0),
    "activate": (0, INACTIVE),
    "protect": (PROTECT, 0),
    "unprotect": (0, PROTECT),
}
MOVES = ("edit", "top", "exit")
COMMANDS = frozenset({"set", "delete", "annotate", "insert", *FLAGS, *MOVES})
# Commands whose result depends on what is on the device already.
REFUSED = frozenset({"rename", "copy", "replace", "wildcard", "load", "rollback", "commit", "run"})


class SetReader:
    """Follows the commands of a text."""

    __slots__ = ("comments", "deleted", "file", "levels", "root", "text")

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.root = Node("", 0, FLAT)
        # Where `edit` went, outermost first.
        self.levels = [self.root]
        self.comments: list[str] = []
        self.deleted: list[Node] = []

    def read(self, offset: int, number: int) -> Node:
        """Read everything behind an offset, which is where the line `number` starts. Raises JunosSyntaxError."""
        special, oneliner = SPECIAL.search, ONELINER_WORDS
        lines = iter(self.text[offset:].split("\n"))
        number -= 1
        for line in lines:
            start = offset
            offset += len(line) + 1
            number += 1
            words = line.split()
            if not words:
                continue
            if words[0] == "set" and special(line) is None and oneliner.isdisjoint(words[:-2]) and not self.comments:
                del words[0]
                node = self.levels[-1]
                if words:
                    for word in words:
                        child = node.children.get(word)
                        if child is None:
                            child = node.children[word] = Node(word, number)
                        node = child
                    if node.flags & ENDS:
                        again(self.levels[-1], words)
                    node.flags |= ENDS
                    continue
            offset, more = self.command(start, number)
            for _ in range(more):
                next(lines, None)
            number += more
        if self.comments:
            note(self.root, self.comments)
        for node in self.deleted:
            if node.children or node.flags & ENDS:
                # Deleted, then set again.
                node.flags = node.flags & ~DELETE | REPLACE
            else:
                node.flags |= ENDS
        return self.root

    def command(self, offset: int, number: int) -> tuple[int, int]:
        """Read one line, or more if a quoted string has more; returns the next offset and how many lines more."""
        text = self.text
        words: Words = []
        comments: list[str] = []
        values: list[str] | None = None
        line, after = number, len(text) + 1
        if reason := line_fault(text, offset):
            raise wrong(self.file, text, offset, reason)
        for found in TOKEN.finditer(text, offset):
            kind, start, end = found.lastgroup, found.start(), found.end()
            breaks = text.count("\n", start, end) if kind in ("space", "string", "comment") else 0
            if kind == "space" and breaks:
                after, line = text.index("\n", start) + 1, line + 1
                break
            line += breaks
            if kind == "comment":
                comments.append(found[0])
            elif kind == "bad":
                raise bad(self.file, text, start)
            elif kind == "mark":
                values = self._bracket(found[0], start, words, values)
            elif kind != "space":
                if kind == "string":
                    check_string(self.file, text, start, end)
                (words if values is None else values).append(found[0])
        if values is not None:
            raise wrong(self.file, text, offset, "a list is not closed at the end of the line")
        self._run(words, comments, offset, number)
        return after, line - number - (after <= len(text))

    def _bracket(self, mark: str, start: int, words: Words, values: list[str] | None) -> list[str] | None:
        """Take a bracket; return the list that is open then."""
        if mark == "[" and values is None and len(words) > 1:
            return []
        if mark == "]" and values:
            words.append(values)
            return None
        reason = "an empty list" if mark == "]" and values is not None else f"{mark!r} cannot stand here in a set line"
        raise wrong(self.file, self.text, start, reason)

    def _run(self, words: Words, comments: list[str], offset: int, number: int) -> None:
        """Carry out a command; a line without one leaves its comments for the next."""
        if not words:
            self.comments += comments
            return
        verb, rest = str(words[0]), words[1:]
        try:
            if verb in MOVES:
                self._move(verb, rest)
                return
            node = self._change(verb, rest, number)
        except ValueError as error:
            start = self.text.index(verb, offset)
            raise wrong(self.file, self.text, start, str(error)) from error
        if self.comments or comments:
            note(node, self.comments + comments)
            self.comments = []

    def _change(self, verb: str, words: Words, number: int) -> Node:
        """Change the tree; return the node that was named. Raises ValueError."""
        base = self.levels[-1]
        if verb in REFUSED:
            raise ValueError(f"{verb!r} depends on what the device has already; write the result as set lines")
        if verb not in COMMANDS:
            raise ValueError(f"{str(verb)[:40]!r} is not a command of set text, such as set, delete or deactivate")
        if not words:
            raise ValueError(f"nothing behind {verb!r}")
        if verb == "set":
            return put(base, words, number)
        if verb == "annotate":
            if len(words) < 2 or not isinstance(words[-1], str) or words[-1][0] != '"':
                raise ValueError("annotate takes a statement and a comment in quotes")
            if "*/" in words[-1]:
                # In curly text, what follows would be statements.
                raise ValueError("a comment cannot hold '*/'")
            node = walk(base, words[:-1], number)
            note(node, [f"/* {unquote(words[-1])} */"])
            return node
        if verb == "insert":
            return _insert(base, words)
        node = walk(base, words, number)
        if verb == "delete":
            node.children.clear()
            node.flags = DELETE
            self.root.flags |= DELETE
            self.deleted.append(node)
        else:
            on, off = FLAGS[verb]
            node.flags = (node.flags | on) & ~off
            self.root.flags |= on
        return node

    def _move(self, verb: str, words: Words) -> None:
        """Go to another level. Raises ValueError."""
        if verb == "edit":
            self.levels.append(walk(self.levels[-1], words, 0))
        elif words:
            raise ValueError(f"nothing may stand behind {verb!r}")
        elif verb == "top":
            del self.levels[1:]
        elif len(self.levels) > 1:
            self.levels.pop()
        else:
            raise ValueError(f"{verb!r} at the top level")


def _insert(base: Node, words: Words) -> Node:
    """Put an entry before or after another one; `PATH term a before term b`, or `PATH a before b` in a list."""
    plain = [unquote(word) if word[0] == '"' else word for word in words if isinstance(word, str)]
    at = next((at for at, word in enumerate(plain) if word in ("before", "after") and at), 0)
    around = base.get(*plain[: at - 1]) if at else None
    if (
        around is None
        or plain[at - 1] not in around.children
        or plain[-1] not in around.children
        or not plain[at + 1 :]
    ):
        raise ValueError("insert takes an entry that is set, 'before' or 'after', and another one beside it")
    moved, other = plain[at - 1], plain[-1]
    order = [word for word in around.children if word != moved]
    if moved != other:
        order.insert(order.index(other) + (plain[at] == "after"), moved)
        around.children = {word: around.children[word] for word in order}
    return around.children[moved]
