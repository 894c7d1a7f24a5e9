"""The expected and the found state of a server, and their differences."""

import base64
import hashlib
import json
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from stat import S_IFLNK, S_IFREG, S_ISLNK, S_ISREG
from typing import Any

from ailb_gen.deploy.servers.ssh import ScriptAnswer
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.hosts.model import Host
from ailb_gen.hosts.text import MAX_BYTES, ini


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
    """Return the digest of files with names, kinds, modes and owners: a SHA-256 in hexadecimal."""
    rows = (f"{file.digest} {file.mode:o} {file.owner} {path}\n" for path, file in sorted(tree.items()))
    return hashlib.sha256("".join(rows).encode()).hexdigest()


class FileChange(StrEnum):
    """The operation of a push on a file."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class HostState:
    """The state of the files on a server that are expected there or were installed before.

    `changes` says what a push does with each path; `fingerprint` identifies what is there.
    """

    found: Mapping[str, HostFile]
    changes: Mapping[str, FileChange]
    fingerprint: str

    @property
    def changed(self) -> tuple[str, ...]:
        """The paths that a push changes."""
        return tuple(path for path, change in self.changes.items() if change is not FileChange.SAME)


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

    `state` is that of the given run; `pending` is the run that is neither confirmed nor restored, with
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


# Where files of a fabric may go on a server, and with which permissions. Netplan warns about files that others can
# read; version control keeps no more of a mode than whether the file can be executed.
PLACES = (("etc/netplan/", 0o600), ("usr/local/sbin/", 0o755), ("etc/", 0o644), ("usr/local/", 0o644))
PATH = re.compile(r"(?!.*(?:^|/)\.{1,2}(?:/|$))[A-Za-z0-9@._+:-]+(?:/[A-Za-z0-9@._+:-]+)+")
UNITS = "etc/systemd/system"
SERVICE = re.compile(rf"^{UNITS}/([^/]+\.service)$")


def files_of(root: Path, host: Host) -> Tree:
    """Read the files of a server below the artifact directory. Raises DeviceError for what cannot be pushed."""
    if host.profile.defects:
        defect = host.profile.defects[0]
        raise DeviceError(host.name, Phase.READ, f"{defect.place}: {defect.reason}", "run 'ailb-gen validate'")
    folder = root / host.profile.folder
    tree = {path: _file(host.name, folder, path) for path in sorted(_paths(host.name, folder))}
    if not tree:
        raise DeviceError(host.name, Phase.READ, f"{folder} holds no files", "generate the artifacts again")
    return {**tree, **dict(_enabled(tree))}


def _paths(name: str, folder: Path) -> Iterator[str]:

    def fail(error: OSError) -> None:
        raise DeviceError(name, Phase.READ, f"{error.filename}: {error.strerror}") from error

    for at, _, files in os.walk(folder, onerror=fail):
        yield from (str((Path(at) / file).relative_to(folder)) for file in files)


def permissions(path: str) -> int | None:
    """Return the permissions of a file by its place on the server; None where no file of a fabric goes."""
    return next((mode for place, mode in PLACES if path.startswith(place)), None)


def _file(name: str, folder: Path, path: str) -> HostFile:
    mode = permissions(path)
    if mode is None or PATH.fullmatch(path) is None:
        places = ", ".join(place for place, _ in PLACES)
        reason = f"{folder / path!s}: a push does not handle this file"
        raise DeviceError(name, Phase.READ, reason, f"move it away: files go to {places}, with plain names")
    try:
        status = (folder / path).lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            reason = f"{folder / path!s}: only plain files of up to {MAX_BYTES >> 20} MiB are pushed"
            raise DeviceError(name, Phase.READ, reason, "move it away")
        return plain((folder / path).read_bytes(), mode)
    except OSError as error:
        raise DeviceError(name, Phase.READ, f"{folder / path!s}: {error.strerror or error}") from error


def _enabled(tree: Tree) -> Iterator[tuple[str, HostFile]]:
    """Yield the links that `systemctl enable` would make: so they are backed up and restored like any file."""
    for path, file in tree.items():
        found = SERVICE.match(path)
        if found is None:
            continue
        for setting in ini(file.content.decode("utf-8", "replace")):
            if (setting.section, setting.key) == ("Install", "WantedBy"):
                for target in str(setting.value).split():
                    yield f"{UNITS}/{target}.wants/{found[1]}", link(f"/{path}")


# What a host may answer with: a hundred times the files of a push, names as long as Linux has them; 16,000 routes.
MAX_FILES, MAX_NAME, MAX_PATH = 2000, 255, 1024
MAX_LINES, MAX_SECTIONS, MAX_JSON = 10_000, 16, 2 << 20
# Bytes of the longest answer with other letters than those of ASCII: one takes four bytes for every letter of a text.
MAX_WIDE = 1 << 20
# The first line of a file: its kind and mode (st_mode, hexadecimal), its owner and group, its name.
RECORD = re.compile(r"(?P<mode>[0-9a-f]{4}) (?P<uid>[0-9]{1,10}) (?P<gid>[0-9]{1,10}) (?P<path>.*)")
DIGEST = re.compile(r"[0-9a-f]{64}")
# The name of a run on a host.
RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}")
HOSTILE = "its answers may have been tampered with: inspect it before you continue"
WAYS = ("netplan", "ailb-net")


def sections(name: str, answer: ScriptAnswer, titles: Iterable[str]) -> dict[str, str]:
    """Split an answer at its lines `== TITLE`. Raises DeviceError when it is not text, or lacks a section."""
    if len(answer.out) > MAX_WIDE and not answer.out.isascii():
        raise DeviceError(name, Phase.READ, f"the host's answer is not ASCII, and longer than {MAX_WIDE >> 20} MiB")
    parts = (b"\n" + answer.out).split(b"\n== ", MAX_SECTIONS)[1:]
    try:
        found = {title.decode(): body.decode() for title, _, body in (part.partition(b"\n") for part in parts)}
    except UnicodeDecodeError as error:
        raise DeviceError(name, Phase.READ, "the host's answer is not text") from error
    missing = [title for title in titles if title not in found]
    if missing:
        raise DeviceError(name, Phase.READ, f"the host's answer is not complete: {', '.join(missing)} missing")
    return found


def lines_of(name: str, text: str) -> list[str]:
    """Split a section into lines. Raises DeviceError for more than any host has to say."""
    if text.count("\n") > MAX_LINES:
        raise DeviceError(name, Phase.READ, f"the host's answer has more than {MAX_LINES} lines", HOSTILE)
    return text.splitlines()


def unpack(name: str, text: str) -> dict[str, HostFile]:
    """Read files as the script on the host sends them (`contents` in probe.sh). Raises DeviceError.

    The host may be in an attacker's hands: names must be those of places that a push writes to (`check_paths`).
    """
    # One record more than there may be: the rest stays in one piece, and the number is reported.
    first, *records = ("\n" + text).split("\n= ", MAX_FILES + 1)
    heads = [RECORD.fullmatch(record.partition("\n")[0]) for record in records]
    found = [head for head in heads if head is not None]
    if first.strip() or len(found) < len(heads):
        raise DeviceError(name, Phase.READ, "the files of the host cannot be read: no list of files", HOSTILE)
    check_paths(name, [head["path"] for head in found])
    return {
        head["path"]: _received_file(name, head, record.partition("\n")[2])
        for head, record in zip(found, records, strict=True)
    }


def _received_file(name: str, head: re.Match[str], body: str) -> HostFile:
    path, mode, owner = head["path"], int(head["mode"], 16), (int(head["uid"]), int(head["gid"]))
    try:
        content = base64.b64decode(body.replace("\n", ""), validate=True)
    except ValueError as error:
        raise DeviceError(name, Phase.READ, f"/{path} cannot be read: it is not in base64", HOSTILE) from error
    if len(content) > MAX_BYTES:
        reason = f"/{path} is larger than {MAX_BYTES >> 20} MiB"
        raise DeviceError(name, Phase.READ, reason, "no push has written such a file; inspect it, and move it away")
    if S_ISLNK(mode):
        return HostFile(content, S_IFLNK | 0o777, owner)
    return HostFile(content if S_ISREG(mode) else b"", mode, owner)


def check_paths(name: str, paths: Collection[str]) -> None:
    """Refuse names that no push has written. Raises DeviceError.

    Relative and plain (`files.PATH`), below the places of `files.PLACES`, each once whatever the case of its letters,
    and none of them a folder of another.
    """
    if len(paths) > MAX_FILES:
        raise DeviceError(
            name, Phase.READ, f"the host's answer names {len(paths)} files, more than {MAX_FILES}", HOSTILE
        )
    long = next((path for path in paths if len(path) > MAX_PATH), "")
    if long:
        reason = f"the host's answer names a file of {len(long)} letters: {long[:40]!a}…"
        raise DeviceError(name, Phase.READ, reason, HOSTILE)
    folded = {path.casefold() for path in paths}
    if len(folded) < len(paths):
        raise DeviceError(name, Phase.READ, "the host's answer names a file twice", HOSTILE)
    for path in paths:
        known = PATH.fullmatch(path) and permissions(path) is not None and max(map(len, path.split("/"))) <= MAX_NAME
        parents = {str(parent).casefold() for parent in PurePosixPath(path).parents} if known else set()
        if not known or parents & folded:
            reason = f"the host's answer names a file that no push has written: {path[:200]!a}"
            raise DeviceError(name, Phase.READ, reason, HOSTILE)


def listing(name: str, text: str) -> dict[str, str]:
    """Read the list of files that earlier pushes put on a host: digests by path. Raises DeviceError."""
    rows = [line.split(" ", 1) for line in lines_of(name, text)]
    if not all(len(row) == 2 and DIGEST.fullmatch(row[0]) for row in rows):
        raise DeviceError(name, Phase.READ, "its list of files is not one of digests and names")
    found = {path: digest for digest, path in rows}
    check_paths(name, found)
    return found


def status_of(name: str, answer: ScriptAnswer) -> HostStatus:
    """Read the state of the runs of a host. Raises DeviceError."""
    try:
        row = json.loads(answer.out)
        pending = _run(row["pending"])
        return HostStatus(
            name=name,
            state=RunState(row["run"] or RunState.UNKNOWN),
            pending=pending,
            pending_state=RunState(row["pending_state"]) if pending else None,
            remaining=whole(row["remaining"]),
            current=_run(row["current"]),
            busy=row["busy"] is True,
            way=WAYS[WAYS.index(row["way"])],
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        text = ascii(answer.out[:200].decode("utf-8", "replace"))
        raise DeviceError(name, Phase.READ, f"the host's answer cannot be read: {text}") from error


def _run(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or RUN.fullmatch(value) is None:
        raise TypeError
    return value


def whole(value: object) -> int:
    """Return a whole number of JSON that 64 bits hold. Raises TypeError."""
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >> 63:
        raise TypeError
    return value


def objects(text: str) -> list[dict[str, Any]]:
    """Read a list of objects in JSON. Raises ValueError, TypeError, RecursionError."""
    # Values take up to thirty times the memory of their text.
    if len(text) > MAX_JSON:
        raise ValueError(f"a list of more than {MAX_JSON >> 20} MiB")
    rows = json.loads(text)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TypeError("not a list of objects")
    # Old versions of ip print {} instead of what they leave out.
    return [row for row in rows if row]
