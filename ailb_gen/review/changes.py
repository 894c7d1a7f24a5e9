"""The changes of devices: statements of switches, files of servers, cables, in groups that change in the same way.

Two switches are in one group when the same kinds of statements change in the same way; names and numbers that identify
a device or a part of it may differ (IDENTITIES). Values such as an MTU may not, so that an odd one is seen.
"""

from __future__ import annotations

import filecmp
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from ailb_gen.deploy.device_diff import Edit, edit_of, edits_of
from ailb_gen.deploy.switch_state import model_of
from ailb_gen.errors import ExpansionError, IntentError, JunosSyntaxError, UsageError
from ailb_gen.junos.diff import diff
from ailb_gen.junos.grammar import step
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.reader import read_whole
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch
from ailb_gen.network.read import CHUNK, switch_files
from ailb_gen.redact.text import redact
from ailb_gen.review.base import is_below
from ailb_gen.selection import ROLES
from ailb_gen.textio import read_text

Kind = Literal["new", "changed", "deleted", "unreadable"]
ANY = "*"
# Statements whose values differ from device to device, or from port to port.
DESCRIPTION = "description"
IDENTITIES = frozenset(
    (
        *("address", "as-path", "autonomous-system", "community", DESCRIPTION, "interface", "l3-interface"),
        *("local-address", "local-as", "members", "native-vlan-id", "peer-as", "prefix-list", "route-filter"),
        *("host-name", "router-id", "vlan-id", "vlans"),
    )
)
# The order in which people read devices.
ORDER = [role for names in ROLES.values() for role in names]


@dataclass(frozen=True, slots=True)
class DeviceChange:
    """What changes on a device: `edits` of a switch, `files` of a server with their numbers of lines.

    `role` is leaf, spine or server, empty for a device that the fabric files do not have.
    """

    name: str
    role: str
    kind: Kind
    edits: tuple[Edit, ...] = ()
    files: tuple[tuple[str, int, int], ...] = ()

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of added and removed statements, or lines."""
        rows = [(edit.added, edit.removed) for edit in self.edits] + [row[1:] for row in self.files]
        return sum(row[0] for row in rows), sum(row[1] for row in rows)

    @property
    def lines(self) -> Iterator[str]:
        """The lines of a diff."""
        for edit in self.edits:
            if edit.kind == "replace":
                yield f"- {edit.statement} {edit.old}"
                yield f"+ {edit.statement} {edit.new}"
            elif edit.kind == "remove":
                yield from (f"- {line}" for line in edit.held or (edit.statement,))
            else:
                yield f"{'+' if edit.kind == 'add' else '!'} {edit.statement}"
        yield from (f"! {path} (+{added:,} -{removed:,} lines)" for path, added, removed in self.files)


@dataclass(frozen=True, slots=True)
class ChangedSwitch:
    """The change of a switch, and its configuration before and after; None where that is not known."""

    change: DeviceChange
    before: Switch | None = None
    after: Switch | None = None


@dataclass(frozen=True, slots=True)
class DeviceGroup:
    """Devices that change in the same way but for names and numbers; `same`: these are the same, too."""

    changes: tuple[DeviceChange, ...]
    same: bool

    @property
    def example(self) -> DeviceChange:
        """The device that stands for all."""
        return self.changes[0]


def groups_of(changes: Iterable[DeviceChange]) -> tuple[DeviceGroup, ...]:
    """Group devices that change in the same way, the largest groups of a role first."""
    found: dict[object, list[DeviceChange]] = defaultdict(list)
    for change in changes:
        shape = frozenset(Counter(map(_shape, change.edits)).items())
        found[change.role, change.kind, shape, change.files].append(change)
    groups = [DeviceGroup(tuple(rows), all(row.edits == rows[0].edits for row in rows)) for rows in found.values()]
    return tuple(sorted(groups, key=lambda group: (_rank(group.example.role), -len(group.changes), group.example.name)))


def _rank(role: str) -> int:
    return ORDER.index(role) if role in ORDER else len(ORDER)


def _shape(edit: Edit) -> tuple[str, ...]:
    """Return an edit without names and numbers that identify a device or a part of it."""
    statement, last = _anonymous(edit.statement)
    values = ("", "") if last in IDENTITIES else (edit.old, edit.new)
    held = tuple(sorted(_anonymous(line)[0] for line in edit.held))
    return edit.kind, statement, *values, *held


def _anonymous(statement: str) -> tuple[str, str]:
    """Return a statement with the names in it replaced, and its last keyword."""
    words, parent, keys, last = [], "", 0, ""
    for word in statement.split():
        named = last in IDENTITIES
        hidden = keys > 0 or named
        parent, keys = step(parent, keys, word)
        # The entries of some blocks, such as `interfaces`, begin with their name.
        hidden = hidden or parent.endswith("/*")
        words.append(ANY if hidden else word)
        # A description has any number of words, every other name one.
        last = word if not hidden else ANY if named and last != DESCRIPTION else last
    return " ".join(words), last


def changed_switches(
    roots: tuple[Path, Path], roles: Mapping[str, str], executor: Executor | None
) -> tuple[list[ChangedSwitch], dict[str, str]]:
    """Compare the switches of two artifact directories; `roles` are those of both.

    Returns the changed ones, and by name the files of those that are the same. Raises UsageError.
    """
    old, new = ({Path(file).stem: file for file in switch_files(root)[0]} for root in roots)
    same: dict[str, str] = {}
    pairs: list[tuple[str, str, str]] = []
    found = []
    for name in sorted({*old, *new}):
        if name not in old or name not in new:
            found.append(ChangedSwitch(DeviceChange(name, roles.get(name, ""), "new" if name in new else "deleted")))
            continue
        for root, file in zip(roots, (old[name], new[name]), strict=True):
            _check_inside(root, root / file)
        if old[name] == new[name] and _equal(roots[0] / old[name], roots[1] / new[name]):
            same[name] = new[name]
        else:
            pairs.append((name, old[name], new[name]))
    chunks = [pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK)]
    work = partial(_compare_chunk, roots, roles)
    rows = map(work, chunks) if executor is None else executor.map(work, chunks)
    return sorted((*found, *(row for chunk in rows for row in chunk)), key=lambda row: row.change.name), same


def _equal(old: Path, new: Path) -> bool:
    """Return whether two files are the same; one that cannot be read is not, and findings say why."""
    try:
        return filecmp.cmp(old, new, shallow=False)
    except OSError:
        return False


def _check_inside(root: Path, path: Path) -> None:
    """Refuse a file that a link leads out of its directory: a comment would show it. Raises UsageError."""
    if not is_below(root, path):
        raise UsageError(f"{path}: it is a link out of the directory; a review would show another file: delete it")


def _compare_chunk(
    roots: tuple[Path, Path], roles: Mapping[str, str], pairs: Sequence[tuple[str, str, str]]
) -> list[ChangedSwitch]:
    return [_compare(roots, name, roles.get(name, ""), files) for name, *files in pairs]


def _compare(roots: tuple[Path, Path], name: str, role: str, files: Sequence[str]) -> ChangedSwitch:
    """Compare the two files of a switch."""
    try:
        old, new = (
            read_whole(read_text(root / file, file, "utf-8"), file) for root, file in zip(roots, files, strict=True)
        )
        changes = tuple(diff(old, new))
        commands = redact("".join(f"{change}\n" for change in changes)).splitlines()
        edits = tuple(map(edit_of, edits_of(old, changes, commands)))
        switches = [model_of(name, effective(tree)) for tree in (old, new)]
    except (IntentError, JunosSyntaxError, ExpansionError):
        # Findings say what is wrong with it.
        return ChangedSwitch(DeviceChange(name, role, "unreadable"))
    return ChangedSwitch(DeviceChange(name, role, "changed", edits), *switches)


def changed_servers(before: tuple[Path, Network], after: tuple[Path, Network]) -> list[DeviceChange]:
    """Compare the files of the servers of two artifact directories, each given with its network. Raises UsageError."""
    (old_root, old), (new_root, new) = before, after
    found, compared = [], dict[tuple[str, str], tuple[tuple[str, int, int], ...]]()
    for name in sorted({*old.hosts, *new.hosts}):
        if name not in old.hosts or name not in new.hosts:
            found.append(DeviceChange(name, "server", "new" if name in new.hosts else "deleted"))
            continue
        folders = old.hosts[name].profile.folder, new.hosts[name].profile.folder
        if folders not in compared:
            for root, folder in zip((old_root, new_root), folders, strict=True):
                _check_inside(root, root / folder)
            # Servers that share a profile share its changes.
            compared[folders] = tuple(_changed_files(old_root / folders[0], new_root / folders[1]))
        if compared[folders]:
            found.append(DeviceChange(name, "server", "changed", files=compared[folders]))
    return found


def _changed_files(old: Path, new: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the files of a server that change, with how many lines are added and removed."""
    files = [_files(folder) for folder in (old, new)]
    for path in sorted(files[0] | files[1]):
        texts = [
            Counter((folder / path).read_bytes().splitlines() if path in there else ())
            for folder, there in zip((old, new), files, strict=True)
        ]
        if path not in files[0] or path not in files[1] or not filecmp.cmp(old / path, new / path, shallow=False):
            yield path, (texts[1] - texts[0]).total(), (texts[0] - texts[1]).total()


def _files(folder: Path) -> set[str]:
    """Return the files below the folder of a server. Raises UsageError for a link out of it."""
    found = set()
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            _check_inside(folder, path)
            if path.is_file():
                found.add(path.relative_to(folder).as_posix())
    return found


def changed_cables(before: Network, after: Network) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the cables that come, and those that go, by both ends."""
    old, new = _cables(before), _cables(after)
    return tuple(sorted(new - old)), tuple(sorted(old - new))


def _cables(network: Network) -> set[str]:
    servers = (f"{end} - {server}:{nic}" for (server, nic), end in network.attachments.items())
    return {*(cable.name for cable in network.links), *servers}
