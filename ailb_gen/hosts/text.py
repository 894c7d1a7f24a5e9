"""Text files of a server as lines: size limits, here-documents, INI files, assignments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from ailb_gen.errors import IntentError, Place
from ailb_gen.hosts.model import HostDefect, Setting
from ailb_gen.textio import read_text

# A server of 64 NICs with 64 tables each needs less than half of this.
MAX_BYTES = 2 * 1024 * 1024
HERE_DOCUMENT = re.compile(r"^\s*cat <<'?([A-Z]+)'?\s*$")
ASSIGNMENT = re.compile(r"^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$")
SYSCTL = re.compile(r"^-?\s*([^\s=]+)\s*=\s*(.*?)\s*$")


class Folder:
    """The files of one server; collects their defects instead of raising."""

    __slots__ = ("defects", "files", "name", "root")

    def __init__(self, root: Path, name: str) -> None:
        self.root, self.name = root, name
        self.files: set[str] = set()
        self.defects: list[HostDefect] = []

    def defect(self, file: str, reason: str, line: int = 1, column: int = 1) -> None:
        """Note a defect of a file."""
        path = f"{self.name}/{file}" if file else self.name
        self.defects.append(HostDefect(self.name, reason, Place(path, line, column)))

    def read(self, file: str) -> str | None:
        """Return the text of a file, or None with a defect noted; a file that is not there is no defect."""
        path = self.root / self.name / file
        try:
            if not path.is_symlink() and not path.exists():
                return None
            size = path.stat().st_size
            if size > MAX_BYTES:
                self.defect(file, f"the file is larger than {MAX_BYTES >> 20} MiB ({size:,} bytes)")
                return None
            text = read_text(path, file)
        except OSError as error:
            self.defect(file, f"cannot read the file: {error.strerror or error}")
            return None
        except IntentError as error:
            for problem in error.problems:
                self.defect(file, problem.reason, problem.place.line, problem.place.column)
            return None
        if "\0" in text:
            self.defect(file, "the file is not text: it holds a zero byte", text.count("\n", 0, text.index("\0")) + 1)
            return None
        self.files.add(file)
        return text


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Iterate over the lines that are neither empty nor comments, without surrounding blanks, with their numbers."""
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare and not bare.startswith("#"):
            yield number, bare


def here_document(text: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Split a script into the lines of its first `cat <<'WORD'` document and the rest, both as `numbered` gives them.

    The lines that open and close the document belong to the rest.
    """
    inside: list[tuple[int, str]] = []
    rest: list[tuple[int, str]] = []
    word = ""
    seen = False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        opened = HERE_DOCUMENT.match(line) if not seen else None
        if word and line == word:
            word = ""
        elif word:
            inside.append((number, bare))
            continue
        elif opened:
            word, seen = opened[1], True
        if bare and (number == 1 or not bare.startswith("#")):
            rest.append((number, bare))
    return inside, rest


def ini(text: str) -> Iterator[Setting]:
    """Iterate over the settings of a systemd file; a line that is no setting has an empty key."""
    section = ""
    for number, line in numbered(text):
        if line.startswith(";"):
            continue
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
            continue
        key, equals, value = line.partition("=")
        yield Setting(key.strip(), value.strip(), section, number) if equals else Setting("", line, section, number)


def sysctls(text: str) -> Iterator[Setting]:
    """Iterate over the settings of a sysctl.d file; a line that is no setting has an empty key."""
    for number, line in numbered(text):
        found = SYSCTL.match(line)
        if found:
            yield Setting(found[1].replace("/", "."), found[2], "", number)
        elif not line.startswith(";"):
            yield Setting("", line, "", number)


def assignments(text: str) -> Iterator[Setting]:
    """Iterate over the variables of a shell environment file, quotes removed; other lines have an empty key."""
    for number, line in numbered(text):
        found = ASSIGNMENT.match(line)
        try:
            words = shlex.split(found[2]) if found else []
        except ValueError:
            found, words = None, []
        if found and len(words) <= 1:
            yield Setting(found[1], "".join(words), "", number)
        else:
            yield Setting("", line, "", number)
