"""The expected and the found state of a server, and their differences."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from stat import S_IFLNK, S_IFREG, S_ISLNK


@dataclass(frozen=True, slots=True)
class HostFile:
    """A file: `mode` with its type bits, as in `st_mode`; of a symbolic link `content` is the target.

    What is neither a file nor a link has no content.
    """

    content: bytes
    mode: int
    owner: tuple[int, int] = (0, 0)

    @property
    def digest(self) -> str:
        """The SHA-256 of the content, in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def is_link(self) -> bool:
        """Whether this is a symbolic link."""
        return S_ISLNK(self.mode)


def plain(content: bytes, permissions: int) -> HostFile:
    """Return a file of root's."""
    return HostFile(content, S_IFREG | permissions)


def link(target: str) -> HostFile:
    """Return a symbolic link."""
    return HostFile(target.encode(), S_IFLNK | 0o777)


# Files of a server by their paths, relative to its root.
Tree = Mapping[str, HostFile]


def fingerprint(tree: Tree) -> str:
    """Return what identifies files with names, kinds, modes and owners: a SHA-256 in hexadecimal."""
    rows = (f"{file.digest} {file.mode:o} {file.owner} {path}\n" for path, file in sorted(tree.items()))
    return hashlib.sha256("".join(rows).encode()).hexdigest()


class Change(StrEnum):
    """The operation of a push on a file."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class HostState:
    """The state of the files on a server that are expected there or were installed before.

    `changes` says what a push does with each path; `edited` are files that were changed or removed since they were put
    there; `fingerprint` identifies what is there.
    """

    found: Mapping[str, HostFile]
    changes: Mapping[str, Change]
    edited: tuple[str, ...]
    fingerprint: str

    @property
    def changed(self) -> tuple[str, ...]:
        """The paths that a push changes."""
        return tuple(path for path, change in self.changes.items() if change is not Change.SAME)


class RunState(StrEnum):
    """The state of a run on a host; the names are those of the script on the host.

    UNKNOWN: the host does not know it. ARMED: the old files are saved, nothing has changed. MOVING: between old
    and new. APPLIED: new, to be taken back. RESTORING: between new and old.
    """

    UNKNOWN = "unknown"
    ARMED = "armed"
    MOVING = "moving"
    APPLIED = "applied"
    CONFIRMED = "confirmed"
    RESTORING = "restoring"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class HostStatus:
    """The runs that a host reports.

    `state` is that of the run it was asked about; `pending` is the run that is neither confirmed nor restored, with
    the seconds `remaining` until the host restores it, 0 when that time is over or the host was restarted since;
    `current` is the run that was confirmed last. `busy`: a call is under way, and the rest may change.
    `way` is how the host sets its network: `netplan` or `ailb-net`.
    """

    name: str
    state: RunState
    pending: str
    pending_state: RunState | None
    remaining: int
    current: str
    busy: bool
    way: str


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """An item on a server that differs from the files.

    `kind` is one of file, nic, address, rule, route, sysctl, gateway.
    """

    kind: str
    item: str
    reason: str

    def __str__(self) -> str:
        return f"{self.item}: {self.reason}"
