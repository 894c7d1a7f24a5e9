"""The changes of a push, for people: contents of deleted blocks, old and new values, counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ailb_gen.addresses import address_text
from ailb_gen.deploy.ownership import digest, expected_configuration, fingerprint
from ailb_gen.deploy.resource_limits import ONE_AT_A_TIME
from ailb_gen.deploy.servers.files import Tree
from ailb_gen.deploy.servers.files import fingerprint as files_digest
from ailb_gen.deploy.servers.script import observe as host_state
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.side_by_side import files_side_by_side, packed, side_by_side
from ailb_gen.deploy.switch_driver import SwitchDriver
from ailb_gen.deploy.switch_state import acting_of, alarms, bgp_sessions, model_of
from ailb_gen.deploy.transaction import MARK, ConfigurationChange, ConfigurationSource, FileSource, tree_of
from ailb_gen.deploy.unmanaged import unmanaged_effects
from ailb_gen.junos.commands import commands
from ailb_gen.junos.diff import Change, diff
from ailb_gen.junos.edit import unquoted
from ailb_gen.junos.grammar import step
from ailb_gen.junos.tree import Node
from ailb_gen.junos.writer import set_lines
from ailb_gen.network.model import Switch
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


def edit_row(edit: Edit) -> dict[str, Any]:
    """Return an edit as JSON has it."""
    row: dict[str, Any] = {"kind": edit.kind, "statement": edit.statement}
    if edit.kind == REPLACE:
        row |= {"old": edit.old, "new": edit.new}
    if edit.kind == REMOVE:
        row["held"] = list(edit.held)
    return row


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


@dataclass(frozen=True, slots=True)
class SwitchDiff:
    """A switch as it was found: the fingerprint of its configuration, what it does, and what is up and wrong on it.

    `commands` make of it what its file asks for, secrets replaced, and `digest` identifies them as they are; `after`
    is what it will do then. `up` are the logical interfaces with an established session. `unmanaged` are the effects
    of its unmanaged statements, also after a push, each with its statement if it has one; `warnings` are the reasons
    why the next push may not reach it; `lines` are the lines of the file that the commands come from, 0 for none.
    `first`: whole entries go, and no commit in its history is this program's.
    `compared` are the rows of the comparison, packed. The fingerprint and the rows are empty where nothing needs them.
    """

    name: str
    fingerprint: str
    before: Switch
    after: Switch
    commands: tuple[str, ...]
    up: frozenset[str]
    alarms: frozenset[str]
    digest: str
    unmanaged: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    compact_edits: tuple[Edit | str, ...] = ()
    first: bool = False
    compared: bytes = b""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The commands as people read them."""
        return tuple(map(edit_of, self.compact_edits))

    @property
    def notices(self) -> Iterator[str]:
        """Unmanaged statements that affect the fabric, and threats to the next push, as lines."""
        if self.unmanaged:
            yield f"{self.name} also has unmanaged statements that affect the fabric; a push does not change them:"
            yield from (f"  ! {text}" for text in self.unmanaged)
        if self.warnings:
            yield f"The next push may not reach {self.name}:"
            yield from (f"  ! {text}" for text in self.warnings)

    @property
    def foreign(self) -> tuple[Edit, ...]:
        """The entries and blocks that go and were never this program's, by the device's history."""
        return tuple(edit for edit in self.edits if edit.block) if self.first else ()

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of added and deleted statements."""
        # What only comes is a command, and one statement; a first push has nothing else.
        edits = [edit for edit in self.compact_edits if isinstance(edit, Edit)]
        added = len(self.compact_edits) - len(edits) + sum(edit.added for edit in edits)
        return added, sum(edit.removed for edit in edits)


@dataclass(frozen=True, slots=True)
class ServerDiff:
    """A server as it was found: the fingerprint of its files, and what a push does with them.

    `digest` identifies all files that it is to have, `files` are the digests of those that are put there, by path.
    """

    name: str
    fingerprint: str
    commands: tuple[str, ...]
    digest: str
    compared: bytes = b""
    files: Mapping[str, str] = field(default_factory=dict)


def switch_diff(
    name: str, source: ConfigurationSource, switch: SwitchDriver, identify: bool = False, compare: bool = False
) -> SwitchDiff:
    """Compare a switch with its expected configuration, and find the unmanaged statements that act. Raises DeviceError.

    Its fingerprint takes as long as all comparing: without anything to change it is computed only to `identify` it.
    With `compare`, the changes are also kept side by side.
    """
    # The configuration last: of each device the last answer is what memory is kept for.
    found, wrong = bgp_sessions(switch), alarms(switch)
    peers = [peer.interface or peer.address for peer in found if peer.up]
    del found
    text = switch.running()
    target = source(switch, text)
    with ONE_AT_A_TIME:
        by_file = source if isinstance(source, FileSource) else None
        seen = compare_texts(name, text, target, by_file, identify, compare)
    # Only where it matters: it is one question more to every switch.
    blocks = any(isinstance(edit, Edit) and edit.block for edit in seen.compact_edits)
    first = blocks and not any(one.log.startswith(MARK) for one in switch.commits())
    # A static neighbor is shown without its interface.
    neighbors = (one for group in seen.before.groups for one in group.neighbors)
    static = {address_text(one.address): one.interface for one in neighbors if one.address is not None}
    up = frozenset(static.get(peer, peer) for peer in peers)
    return replace(seen, up=up, alarms=wrong, first=first)


def compare_texts(
    name: str,
    text: str,
    source: ConfigurationChange,
    file_source: FileSource | None,
    identify: bool = False,
    compare: bool = False,
) -> SwitchDiff:
    """Compare what a switch has with what it is to have, and what it then does with what the file says.

    What is to be is the file of `file_source`, else what `source` makes of the running configuration. Sessions and
    alarms are left empty. Raises DeviceError, UsageError.

    Of a large configuration no more is kept at a time than the next step needs.
    """
    running = tree_of(name, text)
    file = file_source.file() if file_source is not None else None
    if file_source is not None and file is not None:
        target = expected_configuration(running, file, file_source.rights)
    else:
        target = source(running)
    changes = tuple(diff(running, target))
    commands = "".join(f"{change}\n" for change in changes)
    identity, changed = digest(commands), bool(changes)
    mark = fingerprint(running) if changed or identify else ""
    lines = tuple(line for change in changes for line in _lines(change, target))
    compared = packed(side_by_side(running, target)) if changed and compare else b""
    shown = tuple(redact(commands).splitlines())
    del commands
    edits = edits_of(running, changes, shown)
    del changes
    acting = acting_of(name, running)
    del running
    before = after = model_of(name, acting)
    if changed:
        del acting
        acting = acting_of(name, target)
    del target
    # The file shares nodes with its target, whose lines the model takes: an error would name the wrong ones.
    alone = acting_of(name, file) if file is not None else None
    del file
    if changed:
        after = model_of(name, acting)
    others: dict[str, str] = {}
    if file_source is not None and alone is not None:
        others = unmanaged_effects(
            after, acting, lambda: model_of(name, alone), alone, file_source.rights, file_source.pool
        )
    return SwitchDiff(
        name=name,
        fingerprint=mark,
        before=before,
        after=after,
        commands=shown,
        up=frozenset(),
        alarms=frozenset(),
        digest=identity,
        lines=lines,
        compact_edits=edits,
        compared=compared,
        unmanaged={_shown(text): _shown(statement) for text, statement in others.items()},
    )


def _shown(statement: str) -> str:
    return redact(f"set {statement}").removeprefix("set ")


def _lines(change: Change, target: Node) -> Iterator[int]:
    """Yield the line of the file that a change comes from, for each of its own: else of the block around it."""
    line, node = change.line, target
    if change.command.startswith("delete "):
        line = 0
        for word in change.command.split()[1:]:
            below = node.children.get(word)
            if below is None:
                break
            line, node = below.line, below
    yield from [line] * len(change.command.splitlines())


def server_diff(files: Tree, server: ServerConnection, compare: bool = False) -> ServerDiff:
    """Compare a server with its files; with `compare`, the changes are also kept side by side. Raises DeviceError."""
    found = host_state(server, files)
    commands = tuple(f"{found.changes[path]} /{path}" for path in found.changed)
    compared = packed(files_side_by_side(found.found, files)) if commands and compare else b""
    put = {path: files[path].digest for path in found.changed if path in files}
    return ServerDiff(server.name, found.fingerprint, commands, files_digest(files), compared, put)
