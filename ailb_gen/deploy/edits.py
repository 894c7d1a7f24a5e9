"""What a push changes, for people: what a deleted block held, a value as old and new, and how much of it there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ailb_gen.deploy.redact import redact_config
from ailb_gen.junos.commands import commands
from ailb_gen.junos.edit import unquoted
from ailb_gen.junos.grammar import step
from ailb_gen.junos.writer import set_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ailb_gen.junos.diff import Change
    from ailb_gen.junos.tree import Node

ADD, REMOVE, REPLACE, OTHER = "add", "remove", "replace", "other"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change; secrets are replaced.

    `statement` is a path: of `add` with its value, of `remove` what goes, `held` being the statements that it holds;
    of `replace` without the value, which was `old` and becomes `new`. Of any `other` change, such as an order, it is
    the command. `block` tells that a whole entry or block goes.
    """

    kind: str
    statement: str
    old: str = ""
    new: str = ""
    held: tuple[str, ...] = ()
    block: bool = False

    @property
    def added(self) -> int:
        """How many statements come."""
        return int(self.kind in (ADD, REPLACE))

    @property
    def removed(self) -> int:
        """How many statements go."""
        return max(1, len(self.held)) if self.kind == REMOVE else int(self.kind == REPLACE)


def edits_of(running: Node, changes: Sequence[Change]) -> tuple[Edit, ...]:
    """Tell the changes of a running configuration."""
    values = _values(changes)
    taken: set[str] = set()
    found: list[Edit] = []
    for change in changes:
        verb, _, path = change.command.partition(" ")
        if verb == "set":
            if change.command not in taken:
                found.append(Edit(ADD, path))
        elif verb == "delete":
            words = unquoted(next(commands(change.command)).words)
            node = running.get(*words)
            new = values.get(path, ())
            if node is None:
                found.append(Edit(REMOVE, path))
            elif new and node.children and not any(child.children for child in node):
                taken |= {f"set {path} {value}" for value in new}
                found.append(Edit(REPLACE, path, _joined(node), " ".join(new)))
            else:
                found.append(_removed(path, words, node))
        else:
            found.append(Edit(OTHER, change.command))
    return _redacted(found)


def _values(changes: Iterable[Change]) -> dict[str, list[str]]:
    """Return, by path, the single words that are set behind it."""
    found: dict[str, list[str]] = {}
    for change in changes:
        if change.command.startswith("set "):
            words = [str(word) for word in next(commands(change.command)).words]
            found.setdefault(" ".join(words[:-1]), []).append(words[-1])
    return found


def _joined(node: Node) -> str:
    return " ".join(line.removeprefix("set ") for line in set_lines(node, []) if line.startswith("set "))


def _removed(path: str, words: Sequence[str], node: Node) -> Edit:
    above = path.split()[:-1] if len(path.split()) == len(words) else list(words[:-1])
    held = tuple(line.removeprefix("set ") for line in set_lines([node], above) if line.startswith("set "))
    parent, before, keys = "", 0, 0
    for word in words:
        before = keys
        parent, keys = step(parent, keys, word)
    entry = before > 0 and keys == 0
    return Edit(REMOVE, path, held=held if node.children else (), block=entry or any(child.children for child in node))


def _redacted(found: Sequence[Edit]) -> tuple[Edit, ...]:
    """Replace the secrets of all at once: most have none, and looking at each by itself takes long."""
    rows: list[str] = []
    for edit in found:
        if edit.kind == REPLACE:
            rows += (f"set {edit.statement} {edit.old}", f"set {edit.statement} {edit.new}")
        else:
            command = edit.statement if edit.kind == OTHER else f"set {edit.statement}"
            rows += (command, *(f"set {line}" for line in edit.held))
    if any("\n" in row for row in rows):
        told = iter([redact_config(row) for row in rows])
    else:
        told = iter(redact_config("\n".join(rows)).split("\n"))
    done = []
    for edit in found:
        first = next(told)
        if edit.kind == OTHER:
            done.append(Edit(OTHER, first))
            continue
        if edit.kind == REPLACE:
            start = f"set {edit.statement} "
            done.append(Edit(REPLACE, edit.statement, first.removeprefix(start), next(told).removeprefix(start)))
            continue
        held = tuple(next(told).removeprefix("set ") for _ in edit.held)
        done.append(Edit(edit.kind, first.removeprefix("set "), held=held, block=edit.block))
    return tuple(done)
