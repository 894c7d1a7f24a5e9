"""The files of devices inside a report: without secrets, and within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ailb_gen.errors import IntentError
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.layout import SUFFIXES, switch_file
from ailb_gen.network.model import Switch
from ailb_gen.redact.files import redact_file
from ailb_gen.report.html.page import Packed, packed
from ailb_gen.textio import read_text
from ailb_gen.wording import clean

# Bytes of the page that files may take, of one file before it is compressed, and how many files a folder may have.
BUDGET = 9_000_000
LARGEST = 2_000_000
MOST = 64


@dataclass(frozen=True, slots=True)
class FileFolder:
    """A group of devices: a switch with its file, or servers with the files that they share.

    `key` is unique: the name of a switch, or a folder. `files` are relative to the artifact directory.
    """

    key: str
    devices: tuple[str, ...]
    files: tuple[str, ...] = ()

    @classmethod
    def of_switch(cls, name: str, switch: Switch | None, root: Path) -> FileFolder:
        """Return the file of a switch, also one that cannot be used; none where there is none."""
        known = [switch.file] if switch is not None else [switch_file(name, suffix) for suffix in SUFFIXES]
        return cls(name, (name,), tuple(file for file in known if (root / file).is_file())[:1])

    @classmethod
    def of_profile(cls, profile: ServerProfile, devices: tuple[str, ...]) -> FileFolder:
        """Return the files of servers with the same configuration."""
        files = sorted(f"{profile.folder}/{file}" for file in (*profile.files, *(one.path for one in profile.extras)))
        return cls(profile.folder, devices, tuple(files))


def packed_files(root: Path, folders: Iterable[FileFolder]) -> tuple[Mapping[str, Packed], list[FileFolder]]:
    """Return the texts of the files by folder, as long as the budget lasts, and the folders that are left out."""
    found: dict[str, Packed] = {}
    left_out: list[FileFolder] = []
    spent = 0
    for folder in folders:
        if not folder.files:
            continue
        text = packed(dict(_texts(root, folder.files)))
        if spent + len(text) > BUDGET:
            left_out.append(folder)
            continue
        spent += len(text)
        found[folder.key] = Packed(text)
    return found, left_out


def _texts(root: Path, files: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of a folder's files without secrets, or why a text is not shown."""
    for number, file in enumerate(files):
        try:
            size = (root / file).stat().st_size
            if number >= MOST or size > LARGEST:
                why = f"the page shows {MOST} files of a folder, each of up to {LARGEST:,} bytes"
                yield clean(file), f"This file, of {size:,} bytes, is not shown: {why}.\n"
                continue
            text = read_text(root / file, file)
        except (IntentError, OSError):
            # What cannot be read is a finding; here it is only not shown.
            continue
        yield clean(file), visible(redact_file(file, text))


def visible(text: str) -> str:
    """Return a file's text with characters that would not print as themselves written out; lines stay lines."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "\n".join(clean(line.expandtabs(8)) for line in text.split("\n"))
