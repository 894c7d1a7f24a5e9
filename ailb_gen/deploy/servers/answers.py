"""Answers of the script on a host, parsed as untrusted data: the machine may be in an attacker's hands.

Tenants can be root on servers. No answer of a host is trusted to have the right form, and no name in it
is used before it is one that a push can have written.
"""

import base64
import binascii
import io
import json
import os
import re
import tarfile
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath
from stat import S_IFLNK, S_IFREG

from ailb_gen.deploy.servers.agent import RUN
from ailb_gen.deploy.servers.files import PATH, permissions
from ailb_gen.deploy.servers.model import HostFile, HostStatus, RunState
from ailb_gen.deploy.servers.ssh import Answer
from ailb_gen.deploy.switch import DeviceError, Phase
from ailb_gen.hosts.text import MAX_BYTES

# What a host may answer with: a hundred times the files of a push, names as long as Linux has them.
MAX_FILES, MAX_NAME = 2000, 255
DIGEST = re.compile(r"[0-9a-f]{64}")
HOSTILE = "its answers may have been tampered with: look at it before you go on"
WAYS = ("netplan", "ailb-net")


def sections(name: str, answer: Answer, titles: Iterable[str]) -> dict[str, str]:
    """Split an answer at its lines `== TITLE`. Raises DeviceError when it is not text, or lacks a section."""
    try:
        text = answer.out.decode()
    except UnicodeDecodeError as error:
        raise DeviceError(name, Phase.READ, "the host's answer is not text") from error
    parts = ("\n" + text).split("\n== ")[1:]
    found = {title: body for title, _, body in (part.partition("\n") for part in parts)}
    missing = [title for title in titles if title not in found]
    if missing:
        raise DeviceError(name, Phase.READ, f"the host's answer is not complete: {', '.join(missing)} missing")
    return found


def unpack(name: str, text: str) -> dict[str, HostFile]:
    """Read an archive that the host made. Raises DeviceError.

    The host may be in an attacker's hands: names must be those of places that a push writes to (`check_paths`).
    """
    try:
        data = io.BytesIO(base64.b64decode(text))
        with tarfile.open(fileobj=data, mode="r:") as archive:
            members = archive.getmembers()
            check_paths(name, [member.name for member in members])
            return {member.name: _member(archive, member) for member in members}
    except DeviceError:
        raise
    # Its headers come from the host, too, and tarfile does not catch what reading them raises.
    except (tarfile.TarError, binascii.Error, OSError, EOFError, ValueError, ArithmeticError, LookupError) as error:
        raise DeviceError(name, Phase.READ, f"the files of the host cannot be read: {type(error).__name__}") from error


def check_paths(name: str, paths: Collection[str]) -> None:
    """Refuse names that no push has written. Raises DeviceError.

    Relative and plain (`files.PATH`), below the places of `files.PLACES`, each once whatever the case of its letters,
    and none of them a folder of another.
    """
    if len(paths) > MAX_FILES:
        raise DeviceError(
            name, Phase.READ, f"the host's answer names {len(paths)} files, more than {MAX_FILES}", HOSTILE
        )
    folded = {path.casefold() for path in paths}
    if len(folded) < len(paths):
        raise DeviceError(name, Phase.READ, "the host's answer names a file twice", HOSTILE)
    for path in paths:
        known = PATH.fullmatch(path) and permissions(path) is not None and max(map(len, path.split("/"))) <= MAX_NAME
        parents = {str(parent).casefold() for parent in PurePosixPath(path).parents} if known else set()
        if not known or parents & folded:
            reason = f"the host's answer names a file that no push has written: {path[:200]!a}"
            raise DeviceError(name, Phase.READ, reason, HOSTILE)


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> HostFile:
    owner = (member.uid, member.gid)
    if member.issym():
        return HostFile(os.fsencode(member.linkname), S_IFLNK | 0o777, owner)
    # A sparse file could be larger than any memory.
    if member.issparse() or member.size > MAX_BYTES:
        raise tarfile.ReadError
    file = archive.extractfile(member) if member.isreg() else None
    if file is None:
        return HostFile(b"", member.mode, owner)
    return HostFile(file.read(), S_IFREG | member.mode, owner)


def listing(name: str, text: str) -> dict[str, str]:
    """Read what earlier pushes put on a host: digests by path. Raises DeviceError."""
    rows = [line.split(" ", 1) for line in text.splitlines()]
    if not all(len(row) == 2 and DIGEST.fullmatch(row[0]) for row in rows):
        raise DeviceError(name, Phase.READ, "its list of files is not one of digests and names")
    found = {path: digest for digest, path in rows}
    check_paths(name, found)
    return found


def status_of(name: str, answer: Answer) -> HostStatus:
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
    """Return the name of a run, empty for none. Raises TypeError."""
    if value is None:
        return ""
    if not isinstance(value, str) or RUN.fullmatch(value) is None:
        raise TypeError
    return value


def whole(value: object) -> int:
    """Return a whole number of JSON. Raises TypeError."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value
