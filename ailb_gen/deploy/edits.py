"""The changes of a push, for people: contents of deleted blocks, old and new values, counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from ailb_gen.junos.commands import commands
from ailb_gen.junos.diff import Change
from ailb_gen.junos.edit import unquoted
from ailb_gen.junos.grammar import step
from ailb_gen.junos.tree import Node
from ailb_gen.junos.writer import set_lines
from ailb_gen.redact.text import redact

ADD, REMOVE, REPLACE, OTHER = "add", "remove", "replace", "other"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change; secrets are replaced.

    `statement` is a path: of `add` with its value, of `remove` what goes, `held` being the statements that it holds;
    of `replace` without the value, which was `old` and becomes `new`. Of any `other` change, such as an order, it is
    the command. `block`: a whole entry or block goes.
    """

    kind: str
    statement: str
    old: str = ""
    new: str = ""
    held: tuple[str, ...] = ()
    block: bool = False

    @property
    def added(self) -> int:
        """Number of added statements."""
        return int(self.kind in (ADD, REPLACE))

    @property
    def removed(self) -> int:
        """Number of deleted statements."""
        return max(1, len(self.held)) if self.kind == REMOVE else int(self.kind == REPLACE)


def edits_of(running: Node, changes: Sequence[Change], shown: Sequence[str]) -> tuple[Edit | str, ...]:
    """Return the changes of a running configuration; `shown` are their commands without secrets.

    What only comes is its command: a first push has thousands, and they are kept once.
    """
    if len(shown) != len(changes):
        # A value has several lines.
        shown = [redact(change.command) for change in changes]
    texts = dict(zip((change.command for change in changes), shown, strict=True))
    values = _values(changes)
    taken: set[str] = set()
    found: list[Edit | str] = []
    for change in changes:
        verb, _, path = change.command.partition(" ")
        if verb == "set":
            if change.command not in taken:
                found.append(texts[change.command])
        elif verb == "delete":
            words = unquoted(next(commands(change.command)).words)
            node, new = running.get(*words), values.get(path, ())
            if node is not None and new and node.children and not any(child.children for child in node):
                sets = [f"set {path} {value}" for value in new]
                taken.update(sets)
                old = " ".join(_without_secrets(path, line.removeprefix("set ")) for line in set_lines(node, []))
                found.append(
                    Edit(REPLACE, path, old, " ".join(texts[one].removeprefix(f"set {path} ") for one in sets))
                )
            elif node is not None:
                found.append(_removed(path, words, node))
        else:
            found.append(Edit(OTHER, texts[change.command]))
    return tuple(found)


def edit_of(change: Edit | str) -> Edit:
    """Return a change that may be just the command of what comes."""
    return change if isinstance(change, Edit) else Edit(ADD, change.removeprefix("set "))


def _without_secrets(path: str, value: str) -> str:
    return redact(f"set {path} {value}").removeprefix(f"set {path} ")


def _values(changes: Sequence[Change]) -> dict[str, list[str]]:
    """Return, by path of what is deleted, the single words that are set behind it."""
    gone = {change.command.removeprefix("delete ") for change in changes if change.command.startswith("delete ")}
    found: dict[str, list[str]] = {}
    for change in changes:
        verb, _, path = change.command.partition(" ")
        # Only quoted values have more than one word behind their path.
        if verb == "set" and ('"' in path or path.rpartition(" ")[0] in gone):
            words = [str(word) for word in next(commands(change.command)).words]
            found.setdefault(" ".join(words[:-1]), []).append(words[-1])
    return found


def _removed(path: str, words: Sequence[str], node: Node) -> Edit:
    above = path.split()[:-1] if len(path.split()) == len(words) else list(words[:-1])
    lines = [line for line in set_lines([node], above) if line.startswith("set ")]
    # Most have no secret, and looking at each by itself takes long.
    text = "\n".join(lines)
    shown = redact(text).split("\n") if text.count("\n") < len(lines) else list(map(redact, lines))
    held = tuple(line.removeprefix("set ") for line in shown if line)
    parent, before, keys = "", 0, 0
    for word in words:
        before = keys
        parent, keys = step(parent, keys, word)
    entry = before > 0 and keys == 0
    statement = redact(f"delete {path}").removeprefix("delete ")
    return Edit(
        REMOVE, statement, held=held if node.children else (), block=entry or any(child.children for child in node)
    )
