"""Curly text to a tree: lines split at their spaces where that is all they need, exact tokens elsewhere."""

from __future__ import annotations

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.capture import heading_fault, line_fault
from ailb_gen.junos.grammar import ONELINER_WORDS, STARTS, TOP
from ailb_gen.junos.tokens import (
    SPECIAL,
    TAGS,
    TOKEN,
    Tagged,
    Words,
    again,
    bad,
    check_string,
    has_lead,
    has_tags,
    marked,
    note,
    plain,
    put,
    reach,
    statement_node,
    walk,
    wrong,
)
from ailb_gen.junos.tree import DELETE, ENDS, QUOTED, REPLACE, Node

# With several words behind these, or behind tags, a line is more than a path of words.
DIVIDED = ONELINER_WORDS | TAGS.keys()
UNOPENED, UNCLOSED = "'}' without '{'", "'{' is never closed"


class CurlyReader:
    """Follows the braces of a text."""

    __slots__ = (
        "block",
        "comments",
        "file",
        "flags",
        "fresh",
        "last",
        "line",
        "root",
        "stack",
        "start",
        "tagged",
        "text",
        "values",
        "words",
    )

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.root = self.block = Node("")
        # The blocks around the one that is open, and the line and column (0: the last brace of the line) of its `{`.
        self.stack: list[tuple[Node, int, int]] = []
        # The statement in the making: where it starts, its words, the list that is open, the tags of the next word.
        self.line = self.start = 0
        self.words: Words = []
        self.values: list[str] | None = None
        self.tagged, self.flags = False, 0
        # Where the first word of the line stands, once a statement goes on behind a line.
        self.fresh = -1
        # Comments that wait for their statement, and the statement that a comment on the same line belongs to.
        self.comments: list[str] = []
        self.last: Node | None = None

    def read(self, offset: int, number: int) -> Node:  # noqa: PLR0912, PLR0915 - calls would take half the time
        """Read everything behind an offset, which is where the line `number` starts. Raises JunosSyntaxError."""
        stack, oneliner = self.stack, DIVIDED
        # The last character of a line is looked at below.
        marks = marked(self.text, SPECIAL).replace(b"\0\n", b"\n\n") + b"\n\0"
        mark = marks.find(0, offset)
        lines = iter(self.text[offset:].split("\n"))
        block = self.root
        number -= 1
        for line in lines:
            start = offset
            offset += len(line) + 1
            number += 1
            words = line.split()
            if not words:
                continue
            if mark >= offset and words[0][-1] != ":":
                end = words[-1]
                if end == "{":
                    words.pop()
                    if words and (len(words) < 2 or oneliner.isdisjoint(words)):
                        stack.append((block, number, 0))
                        for word in words:
                            node = block.children.get(word)
                            if node is None:
                                node = block.children[word] = Node(word, number)
                            block = node
                        block.flags |= ENDS
                        continue
                elif end[-1] == ";":
                    if len(end) > 1 and end[-2] != ":" and (len(words) < 3 or oneliner.isdisjoint(words[:-1])):
                        words[-1] = end[:-1]
                        node = block
                        for word in words:
                            children = node.children
                            if word in children:
                                node = children[word]
                            else:
                                children[word] = node = Node(word, number)
                        if node.flags & ENDS:
                            again(block, words)
                        node.flags |= ENDS
                        continue
                elif end == "}" and len(words) == 1 and stack:
                    block = stack.pop()[0]
                    continue
            elif line[-2:] == '";' and marks.find(0, mark + 1) == offset - 3 and self.string(block, line, number):
                mark = marks.find(0, offset)
                continue
            self.block = block
            offset, more = self.tokens(start, number)
            block = self.block
            for _ in range(more):
                next(lines, None)
            number += more
            if mark < offset:
                mark = marks.find(0, offset)
        self.finish()
        return self.root

    def string(self, block: Node, line: str, number: int) -> bool:
        """Add a statement whose only string is its last word; False for one that needs a closer look."""
        head, _, last = line[:-2].partition(' "')
        words = head.split()
        if not (words and last) or "\\" in last or line_fault(line, 0):
            return False
        if words[0][-1] == ":" or (len(words) > 1 and not DIVIDED.isdisjoint(words)):
            return False
        node = walk(block, words, number)
        if last in node.children:
            return False
        node.children[last] = Node(last, number, ENDS | QUOTED)
        return True

    def tokens(self, offset: int, number: int) -> tuple[int, int]:
        """Read tokens up to the end of a line at which no statement is open.

        Returns where the next line starts and how many lines more than one were read.
        """
        text, line = self.text, number
        self.last = None
        self.check_line(offset)
        for found in TOKEN.finditer(text, offset):
            kind, start = found.lastgroup, found.start()
            if kind == "space":
                breaks = text.count("\n", start, found.end())
                line += breaks
                if breaks and not (self.words or self.comments or self.tagged):
                    return text.rfind("\n", start, found.end()) + 1, line - number - 1
                if breaks:
                    self.last = None
                    self.fresh = found.end()
                    self.check_line(self.fresh)
            elif kind == "comment":
                self.comment(found[0])
                line += text.count("\n", start, found.end())
            elif kind == "mark":
                self.mark(found[0], start, line)
            elif kind == "bad":
                raise bad(self.file, text, start)
            else:
                self.word(found[0], start, line)
                if kind == "string":
                    check_string(self.file, text, start, found.end())
                    line += text.count("\n", start, found.end())
        return len(text) + 1, line - number

    def check_line(self, start: int) -> None:
        """Refuse a line that a terminal printed."""
        if reason := line_fault(self.text, start):
            raise self.wrong(start, reason)

    def wrong(self, start: int, reason: str) -> JunosSyntaxError:
        """Make the error for an offset."""
        return wrong(self.file, self.text, start, reason)

    def comment(self, text: str) -> None:
        """Keep a comment: for the statement it stands behind on the same line, else for the next one."""
        if self.last is not None and not self.words:
            note(self.last, [text])
        else:
            self.comments.append(text)

    def word(self, token: str, start: int, line: int) -> None:
        """Take a word or a quoted string."""
        if token in TAGS:
            self.flags |= TAGS[token]
            self.tagged = True
            return
        if self.tagged:
            self.root.flags |= self.flags
            token = Tagged(token, self.flags)
            self.tagged, self.flags = False, 0
        if self.values is not None:
            self.values.append(token)
            return
        if not self.words:
            self.line, self.start = line, start
        elif start == self.fresh and not self.stack and token in STARTS and self.words[0] not in TOP:
            heading = self.text[self.start : self.text.index("\n", self.start)].rstrip()
            raise self.wrong(self.start, heading_fault(heading, token))
        elif isinstance(self.words[-1], list) and ONELINER_WORDS.isdisjoint(
            word for word in self.words if isinstance(word, str)
        ):
            raise self.wrong(start, f"{token!r} after a list")
        self.words.append(token)

    def mark(self, symbol: str, start: int, line: int) -> None:
        """Take a brace, a bracket or a semicolon."""
        if self.tagged:
            raise self.wrong(start, "a tag without a statement")
        if self.values is not None and symbol != "]":
            raise self.wrong(start, f"{symbol!r} inside a list")
        if symbol == ";":
            self.end(start)
        elif symbol == "{":
            self.open(start, line)
        elif symbol == "}":
            self.close(start)
        elif symbol == "[":
            if not self.words or isinstance(self.words[-1], list):
                raise self.wrong(start, "'[' without a statement")
            self.values = []
        else:
            if self.values is None:
                raise self.wrong(start, "']' without '['")
            if not self.values:
                raise self.wrong(start, "an empty list")
            self.words.append(self.values)
            self.values = None

    def done(self, node: Node) -> None:
        """Attach comments to a statement."""
        if self.comments:
            note(node, self.comments)
        self.words, self.comments, self.last = [], [], node

    def check_order(self, block: bool) -> None:
        """Refuse a tag that undoes what the text has said: `load replace` carries it out, `load override` does not."""
        for at, word in enumerate(self.words):
            if isinstance(word, Tagged) and word.flags & (REPLACE | DELETE):
                path = [plain(one) for one in self.words]
                before = path[at - 1] if at else self.block.word
                end = len(path) if block else at + 1 + reach(before, self.words[at:])
                found = self.block.get(*path[:end])
                # One value after the other has the tag where a statement has several.
                if found is not None and (block or not found.flags & word.flags):
                    shown = " ".join(path[:end])[:60]
                    raise self.wrong(self.start, f"a load tag before {shown!r}, which is already defined above")

    def end(self, start: int) -> None:
        """Take a semicolon."""
        if self.words:
            if has_tags(self.words):
                self.check_order(block=False)
            try:
                put(self.block, self.words, self.line)
            except ValueError as error:
                raise self.wrong(start, str(error)) from error
            self.done(statement_node(self.block, self.words))

    def open(self, start: int, line: int) -> None:
        """Take an opening brace."""
        if not self.words or isinstance(self.words[-1], list):
            raise self.wrong(start, "'{' without a statement")
        self.check_order(block=True)
        if has_lead(self.words, self.block.word):
            # `file X { size 1m; }` is written `file X size 1m;` as well: the value and its attributes are side by side.
            put(self.block, self.words, self.line)
            node = walk(self.block, self.words[:-1], self.line)
        else:
            node = walk(self.block, self.words, self.line)
            node.flags |= ENDS
        for word in self.words:
            if isinstance(word, Tagged):
                node.flags |= word.flags
        self.stack.append((self.block, line, start - self.text.rfind("\n", 0, start)))
        self.block = node
        self.done(node)

    def close(self, start: int) -> None:
        """Take a closing brace."""
        if self.words:
            raise self.wrong(len(self.text[:start].rstrip()) - 1, "';' is missing before '}'")
        if not self.stack:
            raise self.wrong(start, UNOPENED)
        if self.comments:
            # Nothing follows them in the block: they are about the block.
            note(self.block, self.comments)
            self.comments = []
        self.block, self.last = self.stack.pop()[0], None

    def finish(self) -> None:
        """Check that nothing is left open."""
        if self.stack:
            _, line, column = self.stack[-1]
            if not column:
                column = self.text.split("\n", line)[line - 1].rindex("{") + 1
            raise JunosSyntaxError(self.file, line, column, UNCLOSED)
        if self.words or self.tagged:
            raise self.wrong(max(len(self.text.rstrip()) - 1, 0), "';' is missing at the end")
        if self.comments:
            note(self.root, self.comments)
