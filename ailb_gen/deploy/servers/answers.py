"""Answers of the script on a host, parsed as untrusted data: the machine may be in an attacker's hands.

Tenants can be root on servers. No answer of a host is trusted to have the right form, and no name in it
is used before it is one that a push can have written.
"""

import base64
import json
import re
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath
from stat import S_IFLNK, S_ISLNK, S_ISREG
from typing import Any

from ailb_gen.deploy.servers.agent import RUN
from ailb_gen.deploy.servers.files import PATH, permissions
from ailb_gen.deploy.servers.model import HostFile, HostStatus, RunState
from ailb_gen.deploy.servers.ssh import Answer
from ailb_gen.deploy.switch import DeviceError, Phase
from ailb_gen.hosts.text import MAX_BYTES

# What a host may answer with: a hundred times the files of a push, names as long as Linux has them; 16,000 routes.
MAX_FILES, MAX_NAME, MAX_PATH = 2000, 255, 1024
MAX_LINES, MAX_SECTIONS, MAX_JSON = 10_000, 16, 2 << 20
# Bytes of the longest answer with other letters than those of ASCII: one takes four bytes for every letter of a text.
MAX_WIDE = 1 << 20
# The first line of a file: its kind and mode (st_mode, hexadecimal), its owner and group, its name.
RECORD = re.compile(r"(?P<mode>[0-9a-f]{4}) (?P<uid>[0-9]{1,10}) (?P<gid>[0-9]{1,10}) (?P<path>.*)")
DIGEST = re.compile(r"[0-9a-f]{64}")
HOSTILE = "its answers may have been tampered with: look at it before you go on"
WAYS = ("netplan", "ailb-net")


def sections(name: str, answer: Answer, titles: Iterable[str]) -> dict[str, str]:
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
    # One record more than there may be: the rest stays in one piece, and the number is told.
    first, *records = ("\n" + text).split("\n= ", MAX_FILES + 1)
    heads = [RECORD.fullmatch(record.partition("\n")[0]) for record in records]
    found = [head for head in heads if head is not None]
    if first.strip() or len(found) < len(heads):
        raise DeviceError(name, Phase.READ, "the files of the host cannot be read: no list of files", HOSTILE)
    check_paths(name, [head["path"] for head in found])
    return {
        head["path"]: _file(name, head, record.partition("\n")[2]) for head, record in zip(found, records, strict=True)
    }


def _file(name: str, head: re.Match[str], body: str) -> HostFile:
    path, mode, owner = head["path"], int(head["mode"], 16), (int(head["uid"]), int(head["gid"]))
    try:
        content = base64.b64decode(body.replace("\n", ""), validate=True)
    except ValueError as error:
        raise DeviceError(name, Phase.READ, f"/{path} cannot be read: it is not in base64", HOSTILE) from error
    if len(content) > MAX_BYTES:
        reason = f"/{path} is larger there than {MAX_BYTES >> 20} MiB"
        raise DeviceError(name, Phase.READ, reason, "no push has written such a file; look at it, and move it away")
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
    """Read what earlier pushes put on a host: digests by path. Raises DeviceError."""
    rows = [line.split(" ", 1) for line in lines_of(name, text)]
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
    return rows
