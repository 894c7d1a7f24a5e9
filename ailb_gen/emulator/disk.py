"""The state of a device on disk: configurations by the hash of their text, and one index that names them.

A configuration is written and synced before the index that names it, and the index is replaced in one step: a process
that is killed, or a machine that loses power, leaves the old state or the new one.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from ailb_gen.atomic import replace_file
from ailb_gen.errors import OutputError

FORMAT = 1
INDEX = "index.json"


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """One entry of the commit history.

    `sequence` is 0 for the newest; `client` is `netconf`, `cli` or `other`; `when` is in seconds since 1970; `comment`
    is Junos's own (`commit confirmed, rollback in 2mins`, or nothing), `log` the user's;
    `revision` is `re0-<seconds>-<number>`.
    """

    sequence: int
    user: str
    client: str
    when: float
    comment: str
    log: str
    revision: str


@dataclass(frozen=True, slots=True)
class Saved:
    """The state of a configuration database.

    `entries` are commits and their texts, newest first; `candidate` is the text that is being edited, or nothing;
    `deadline` (seconds since 1970) and `revert` belong to a commit that waits for its confirmation, 0 and nothing if
    none does; `count` is how many commits there ever were; `rescue` is the text of the rescue configuration, if any.
    """

    entries: tuple[tuple[CommitRecord, str], ...]
    candidate: str
    deadline: float
    revert: str
    count: int
    rescue: str = ""


class Disk:
    """The folder of one device."""

    def __init__(self, directory: Path) -> None:
        """Make the folder if it is missing. Raises OutputError."""
        self._directory = directory
        # Texts that are on disk, so that a commit writes only new ones.
        self._there: dict[str, str] = {}
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{directory}: the emulator cannot keep its state there: {error.strerror}") from error

    def read(self) -> Saved | None:
        """Return the state, or None if there is none yet. Raises OutputError for one that cannot be read."""
        path = self._directory / INDEX
        try:
            index = json.loads(path.read_bytes())
            if index["format"] != FORMAT:
                raise ValueError(f"format {index['format']}")
            entries = tuple((CommitRecord(**row["commit"]), self._text(row["text"])) for row in index["entries"])
            # States of older versions have no rescue configuration.
            names = (index["candidate"], index["revert"], index.get("rescue", ""))
            candidate, revert, rescue = (self._text(name) if name else "" for name in names)
            self._sweep()
            return Saved(entries, candidate, index["deadline"], revert, index["count"], rescue)
        except FileNotFoundError as error:
            if not path.exists():
                return None
            raise OutputError(f"{error.filename}: missing, though {path} names it; remove {path.parent}") from error
        except OSError as error:
            raise OutputError(f"{error.filename}: cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise OutputError(f"{path}: not a state of this emulator ({error}); remove {path.parent}") from error

    def write(self, saved: Saved) -> None:
        """Keep a state. Raises OSError; the old state is there then."""
        names = {text: self._keep(text) for text in {text for _, text in saved.entries}}
        index = {
            "format": FORMAT,
            "entries": [{"commit": asdict(commit), "text": names[text]} for commit, text in saved.entries],
            "candidate": self._keep(saved.candidate) if saved.candidate else "",
            "deadline": saved.deadline,
            "revert": self._keep(saved.revert) if saved.revert else "",
            "count": saved.count,
            "rescue": self._keep(saved.rescue) if saved.rescue else "",
        }
        replace_file(self._directory / INDEX, json.dumps(index).encode())
        self._sync()
        self._forget({*names.values(), *(index[name] for name in ("candidate", "revert", "rescue"))})

    def _text(self, name: str) -> str:
        text = (self._directory / name).read_bytes().decode()
        self._there[text] = name
        return text

    def _keep(self, text: str) -> str:
        """Write a text unless it is there; return the name of its file."""
        if text not in self._there:
            name = f"{blake2b(text.encode(), digest_size=16).hexdigest()}.conf"
            replace_file(self._directory / name, text.encode())
            self._sync()
            self._there[text] = name
        return self._there[text]

    def _forget(self, named: set[object]) -> None:
        for text, name in list(self._there.items()):
            if name not in named:
                (self._directory / name).unlink(missing_ok=True)
                del self._there[text]

    def _sweep(self) -> None:
        """Remove files that a killed process had begun to write."""
        named = {INDEX, *self._there.values()}
        for path in self._directory.iterdir():
            if path.name not in named and (path.suffix == ".conf" or path.name[0] == "."):
                path.unlink()

    def _sync(self) -> None:
        """Make the names in the folder durable."""
        descriptor = os.open(self._directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
