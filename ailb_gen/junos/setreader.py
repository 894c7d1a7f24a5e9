"""Set text to a tree: `set`, `delete`, `deactivate` and the other commands that `display set` and `load set` know."""

from __future__ import annotations

from itertools import pairwise

from ailb_gen.junos.commands import COMMANDS, FLAGS, MOVES, REFUSED, Command, command_at
from ailb_gen.junos.edit import Order, move_of, unquoted
from ailb_gen.junos.grammar import ONELINER_WORDS
from ailb_gen.junos.tokens import SPECIAL, Words, goes_last, marked, note, plain, put, unquote, walk, wrong
from ailb_gen.junos.tree import DELETE, ENDS, FLAT, INACTIVE, QUOTED, REPLACE, Node

# White space but for the space, the `?` that stands for what Latin-1 lacks, and what escapes a quote.
OTHER = "\t\r\x85\xa0?\\".encode("latin-1")


class SetReader:
    """Follows the commands of a text."""

    __slots__ = ("comments", "deleted", "file", "levels", "named", "orders", "root", "text")

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.root = Node("", 0, FLAT)
        # Where `edit` went, outermost first.
        self.levels = [self.root]
        self.comments: list[str] = []
        self.deleted: list[Node] = []
        # What commands named that set nothing, from where: it counts only if something else sets it.
        self.named: list[tuple[Node, Words]] = []
        # How the entries of a block were moved, which it takes over at the end.
        self.orders: dict[Node, Order] = {}

    def read(self, offset: int, number: int) -> Node:
        """Read everything behind an offset, which is where the line `number` starts. Raises JunosSyntaxError."""
        marks = marked(self.text, SPECIAL + OTHER) + b"\n\0"
        mark = marks.find(0, offset)
        lines = iter(self.text[offset:].split("\n"))
        number -= 1
        for line in lines:
            start = offset
            offset += len(line) + 1
            number += 1
            if mark >= offset:
                words = line.split()
                flags = ENDS
            elif line[-1:] == '"' and marks.find(0, mark + 1) == offset - 2:
                # The only quotes are around the last word, as in a description.
                head, _, last = line[:-1].partition(' "')
                words = [*head.split(), last] if last else []
                flags = ENDS | QUOTED
                mark = marks.find(0, offset)
            else:
                words = []
            if words and words[0] == "set" and not self.comments and self._add(words, number, flags):
                continue
            command, offset, more = command_at(self.text, self.file, start, number)
            self._run(command)
            for _ in range(more):
                next(lines, None)
            number += more
            if mark < offset:
                mark = marks.find(0, offset)
        self._finish()
        return self.root

    def _add(self, words: list[str], number: int, flags: int) -> bool:
        """Add a statement of plain words behind `set`; False for one that needs a closer look, and nothing is done."""
        node = self.levels[-1]
        left = iter(words)
        next(left)
        for word in left:
            child = node.children.get(word)
            if child is None:
                break
            node = child
        else:
            return False
        if not ONELINER_WORDS.isdisjoint(words[:-2]):
            return False
        node.children[word] = node = Node(word, number)
        for word in left:
            node.children[word] = node = Node(word, number)
        node.flags = flags
        return True

    def _finish(self) -> None:
        """Settle what only the end tells: comments without a statement, what was deleted, what was only named."""
        for order in self.orders.values():
            order.apply()
        if self.comments:
            note(self.root, self.comments)
        for node in self.deleted:
            if node.children or node.flags & ENDS:
                # Deleted, then set again.
                node.flags = node.flags & ~DELETE | REPLACE
            else:
                node.flags |= ENDS
        for base, named in reversed(self.named):
            _forget(base, named)

    def _run(self, command: Command) -> None:
        """Carry out a command; a line without one leaves its comments for the next."""
        if not command.verb:
            self.comments += command.comments
            return
        try:
            node = self._change(command.verb, command.words, command.line)
        except ValueError as error:
            raise wrong(self.file, self.text, command.offset, str(error)) from error
        if node is not None and (self.comments or command.comments):
            note(node, self.comments + command.comments)
            self.comments = []

    def _change(self, verb: str, words: Words, number: int) -> Node | None:
        """Change the tree; return the node that was named, None for a move. Raises ValueError."""
        base = self.levels[-1]
        if verb in MOVES:
            self._move(verb, words, number)
            return None
        if verb in REFUSED:
            raise ValueError(f"{verb!r} depends on the existing configuration; write the result as set lines")
        if verb not in COMMANDS:
            raise ValueError(f"{str(verb)[:40]!r} is not a command of set text, such as set, delete or deactivate")
        if not words:
            raise ValueError(f"nothing after {verb!r}")
        if verb == "set":
            return self._set(base, words, number)
        if verb == "annotate":
            if len(words) < 2 or not isinstance(words[-1], str) or words[-1][0] != '"':
                raise ValueError("annotate takes a statement and a comment in quotes")
            if "*/" in words[-1]:
                # In curly text, what follows would be statements.
                raise ValueError("a comment cannot hold '*/'")
            node = walk(base, words[:-1], number)
            self.named.append((base, words[:-1]))
            note(node, [f"/* {unquote(words[-1])} */"])
            return node
        if verb == "insert":
            return self._insert(base, words)
        node = walk(base, words, number)
        if verb == "delete":
            node.children.clear()
            self.orders.pop(node, None)
            node.flags = DELETE
            self.root.flags |= DELETE
            self.deleted.append(node)
        else:
            on, off = FLAGS[verb]
            self.named.append((base, words))
            node.flags = (node.flags | on) & ~off
            if on & INACTIVE:
                # What is said of an inactive statement is said of the command that made it so.
                node.line = number
            self.root.flags |= on
        return node

    def _set(self, base: Node, words: Words, number: int) -> Node:
        """Add a statement; a value that is written again may go to the end of its block."""
        around = base.get(*map(plain, words[:-1])) if self.orders else None
        order = self.orders.get(around) if around is not None else None
        if around is None or order is None:
            return put(base, words, number)
        order.update()
        word = plain(words[-1])
        moved = word if goes_last(around, word) else None
        node = put(base, words, number)
        order.update(moved)
        return node

    def _insert(self, base: Node, words: Words) -> Node:
        """Move an entry of a block; return it. Raises ValueError."""
        around, moved, other, is_behind = move_of(base, unquoted(words))
        if around not in self.orders:
            self.orders[around] = Order(around)
        self.orders[around].move(moved, other, is_behind)
        return around.children[moved]

    def _move(self, verb: str, words: Words, number: int) -> None:
        if verb == "edit":
            self.levels.append(walk(self.levels[-1], words, number))
        elif words:
            raise ValueError(f"nothing is allowed after {verb!r}")
        elif verb == "top":
            del self.levels[1:]
        elif len(self.levels) > 1:
            self.levels.pop()
        else:
            raise ValueError(f"{verb!r} at the top level")


def _forget(base: Node, words: Words) -> None:
    """Take out words that nothing sets; what is inactive or deleted stays, and comments go to what is around."""
    path = [base]
    for word in words:
        child = path[-1].children.get(plain(word))
        if child is None:
            return
        path.append(child)
    for around, node in reversed(list(pairwise(path))):
        if node.children or node.flags & (ENDS | INACTIVE | DELETE):
            return
        del around.children[node.word]
        if node.comment:
            note(around, node.comment)
