"""The limit of the kernel's neighbor table: one for all namespaces, 1,024 entries by default.

A link between switches needs two entries. Only the initial network namespace has the limit, and only root may change
it. The limit before is kept until the last lab that needs more is gone.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from ailb_gen.background import running
from ailb_gen.errors import LabError
from ailb_gen.lab.registry import LAB

# See arp(7): from the second on the kernel throws entries out, the third is the most there are.
LIMITS = Path("/proc/sys/net/ipv6/neigh/default")
NAMES = ("gc_thresh2", "gc_thresh3")
# As long as the kernel runs, like the limits themselves.
RECORD = Path("/run/ailb-gen/neighbor-table.json")
ENTRIES_OF_A_LINK = 2


@dataclass(slots=True)
class _Record:
    """The limits before the first lab that needed more, empty without one, and the needs of labs by directory."""

    before: dict[str, int]
    labs: dict[str, int]


def reserve(directory: Path, needed: int) -> str:
    """Raise the limits of the initial namespace, if all labs with that of a directory need more; also tidies up.

    Returns a note for the user: the raised limit, or why the lab may lack entries; empty if there is room. Must be
    called in the initial network namespace, with the directory locked. Raises LabError.
    """
    limit = _read("gc_thresh3")
    if limit is None:
        return ""
    if os.geteuid() != 0:
        return "" if needed <= limit else _too_few(limit, needed)
    with _record() as record:
        limit = record.before.get("gc_thresh3", limit)
        _forget_ended(record)
        others = sum(record.labs.values())
        record.labs[str(directory)] = needed
        raised = _settle(record)
    if raised <= limit:
        return ""
    return (
        f"net.ipv6.neigh.default.gc_thresh3 of this machine is {raised} now, {limit} again when the lab is down: "
        f"the links of all labs need up to {needed + others} neighbor entries"
    )


def release(directory: Path | None = None) -> None:
    """Restore the limits raised for the lab of a directory, if given, and for labs that ended. Raises LabError.

    Where the kernel shows no limits, in a namespace, the next one who sees them does it.
    """
    if os.geteuid() != 0 or not RECORD.exists() or _read(NAMES[-1]) is None:
        return
    with _record() as record:
        if directory is not None:
            record.labs.pop(str(directory), None)
        _forget_ended(record)
        _settle(record)


def _too_few(limit: int, needed: int) -> str:
    return (
        f"the kernel's neighbor table is limited to {limit} entries (net.ipv6.neigh.default.gc_thresh3), enough for "
        f"about {limit // ENTRIES_OF_A_LINK} links; this lab needs up to {needed}, and only root can change that: "
        f"sudo sysctl -w net.ipv6.neigh.default.gc_thresh3={2 * needed + limit}"
    )


def _settle(record: _Record) -> int:
    """Set the limits that the labs on record need, twice over, or those of before if these suffice; return the last."""
    before, most = record.before or {name: _read(name) or 0 for name in NAMES}, sum(record.labs.values())
    more = 2 * most if most > before["gc_thresh3"] else 0
    for name, value in before.items() if more or record.before else ():
        _write(name, value + more)
    record.before = before if more else {}
    return before["gc_thresh3"] + more


def _forget_ended(record: _Record) -> None:
    record.labs = {one: needed for one, needed in record.labs.items() if running(Path(one), LAB) is not None}


def _read(name: str) -> int | None:
    """Return a limit; None where the kernel shows none: in a namespace, such as a container's."""
    try:
        return int((LIMITS / name).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _write(name: str, value: int) -> None:
    try:
        (LIMITS / name).write_text(f"{value}\n", encoding="ascii")
    except OSError as error:
        raise LabError(f"{LIMITS / name} = {value} cannot be set: {error.strerror}") from error


@contextmanager
def _record() -> Iterator[_Record]:
    """Yield the record to change, locked. Raises LabError."""
    try:
        RECORD.parent.mkdir(mode=0o755, exist_ok=True)
        file = os.fdopen(os.open(RECORD, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644), "r+")
    except OSError as error:
        raise LabError(f"{RECORD}: {error.strerror}") from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            kept = json.loads(file.read() or "{}")
        except ValueError as error:
            raise LabError(f"{RECORD}: not JSON: {error}; restore {LIMITS} by hand and delete the file") from error
        record = _Record(kept.get("before", {}), kept.get("labs", {}))
        yield record
        file.seek(0)
        file.truncate()
        file.write(f"{json.dumps(asdict(record))}\n")
