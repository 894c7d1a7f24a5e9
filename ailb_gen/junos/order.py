"""The order of the entries of a block while commands move them: a move takes as long whatever their number."""

from __future__ import annotations

from ailb_gen.junos.tree import Node


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

    def update(self) -> None:
        """Append what the block has at its end since the last time."""
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
        self.last = next(reversed(self.around.children), None)

    def _take_out(self, word: str) -> None:
        front, back = self.before[word], self.behind[word]
        self.behind[front], self.before[back] = back, front

    def _put_behind(self, word: str, front: str | None) -> None:
        back = self.behind[front]
        self.before[word], self.behind[word] = front, back
        self.behind[front] = self.before[back] = word
