"""Edits of the user's own files: all of them are written, or none; what changed meanwhile is not overwritten."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ailb_gen.atomic import replace_file
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.redact.files import redact_file
from ailb_gen.textio import read_bytes, text_of

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A text file before and after an edit, without a byte order mark, which stays; `data` is what was read."""

    file: Path
    data: bytes
    before: str
    after: str

    def diff(self) -> str:
        """Return a unified diff; secrets are replaced."""
        old, new = (text.splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, f"a/{self.file.name}", f"b/{self.file.name}")
        whole = (one if one.endswith("\n") else f"{one}\n\\ No newline at end of file\n" for one in lines)
        return redact_file(self.file.name, "".join(whole))


class EditedFiles:
    """Files of a user that are edited together; a file is read when it is first asked for."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[bytes, str]] = {}
        self._texts: dict[Path, str] = {}

    def text(self, file: Path) -> str:
        """Return the text of a file as edited so far. Raises IntentError if it cannot be read."""
        if file not in self._read:
            data = read_bytes(file, str(file))
            self._read[file] = data, text_of(data, str(file))
        return self._texts.get(file, self._read[file][1])

    def put(self, file: Path, text: str) -> None:
        """Keep another text of a file that was read."""
        self._texts[file] = text

    def edits(self) -> tuple[FileEdit, ...]:
        """Return the files whose text changed."""
        return tuple(self._changed())

    def _changed(self) -> Iterator[FileEdit]:
        for file, text in self._texts.items():
            data, before = self._read[file]
            if text != before:
                yield FileEdit(file, data, before, text)


def write_edits(edits: Sequence[FileEdit]) -> None:
    """Write edited files, unless another program changed one meanwhile; links stay links.

    Raises UsageError and OutputError; then every file is as it was, unless the message names one that is not.
    """
    for edit in edits:
        if read_bytes(edit.file, str(edit.file)) != edit.data:
            reason = "the file was changed by another program meanwhile; nothing was written; run it again"
            raise UsageError(f"{edit.file}: {reason}")
    done: list[FileEdit] = []
    try:
        for edit in edits:
            mark = BYTE_ORDER_MARK if edit.data.startswith(BYTE_ORDER_MARK.encode()) else ""
            _replace(edit.file, f"{mark}{edit.after}".encode())
            done.append(edit)
    except BaseException:
        for edit in done:
            _replace(edit.file, edit.data)
        raise


def _replace(file: Path, data: bytes) -> None:
    try:
        replace_file(file.resolve(), data)
    except OSError as error:
        raise OutputError(f"{file}: cannot write the file: {error.strerror}; it is unchanged") from error
