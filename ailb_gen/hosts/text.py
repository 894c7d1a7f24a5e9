"""Text files of a server as lines: size limits, here-documents, INI files, assignments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from ailb_gen.errors import IntentError, Place
from ailb_gen.hosts.alike_yaml import AlikeYaml
from ailb_gen.hosts.model import HostDefect, Setting
from ailb_gen.layout import HOST_FILE
from ailb_gen.textio import character_name, odd_characters, read_bytes, text_of, text_problem

# A server of 64 NICs with 64 tables each needs less than half of this.
MAX_BYTES = 2 * 1024 * 1024
HERE_DOCUMENT = re.compile(r"^\s*cat <<'?([A-Z]+)'?\s*$")
ASSIGNMENT = re.compile(r"^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$")
SYSCTL = re.compile(r"^-?\s*([^\s=]+)\s*=\s*(.*?)\s*$")
BOM = "\ufeff"
# What the reader of a file takes besides blanks and ends of lines: netplan and systemd pass over a byte order mark and
# know the ends of lines of Windows, sysctl and iproute2 these alone. To a kernel that looks for `#!`, and to a shell,
# both are part of a word. Source: systemd's `read_line` and `config_parse`, libyaml, `rt_names.c` of iproute2.
TAKEN = (
    ("etc/netplan/", f"\r{BOM}"),
    ("etc/systemd/", f"\r{BOM}"),
    ("etc/sysctl.d/", "\r"),
    ("etc/iproute2/", "\r"),
    (HOST_FILE, "\r"),
)
REMARK = re.compile(r"(?:^|[ \t])#|^[ \t]*;")


class Folder:
    """The files of one server; collects their defects instead of raising. `yaml` reads those of several servers."""

    __slots__ = ("defects", "files", "name", "root", "yaml")

    def __init__(self, root: Path, name: str, yaml: AlikeYaml | None = None) -> None:
        self.root, self.name, self.yaml = root, name, yaml or AlikeYaml()
        self.files: set[str] = set()
        self.defects: list[HostDefect] = []

    def defect(self, file: str, reason: str, line: int = 1, column: int = 1) -> None:
        """Note a defect of a file."""
        path = f"{self.name}/{file}" if file else self.name
        self.defects.append(HostDefect(self.name, reason, Place(path, line, column)))

    def read(self, file: str) -> str | None:
        """Return the text of a file, or None with a defect noted; a file that is not there is no defect."""
        return self._take(file, _checked)

    def digest(self, file: str) -> str | None:
        """Return the SHA-256 of a file in hexadecimal, or None as `read` does."""
        return self._take(file, _digest)

    def _take(self, file: str, taken: Callable[[Path, str], str]) -> str | None:
        path = self.root / self.name / file
        try:
            if not path.is_symlink() and not path.exists():
                return None
            found = taken(path, file)
        except OSError as error:
            self.defect(file, f"cannot read the file: {error.strerror or error}")
            return None
        except IntentError as error:
            for problem in error.problems:
                self.defect(file, problem.reason, problem.place.line, problem.place.column)
            return None
        self.files.add(file)
        return found


def _digest(path: Path, file: str) -> str:
    return sha256(read_bytes(path, file)).hexdigest()


def _checked(path: Path, file: str) -> str:
    """Return the text of a file as its reader takes it. Raises OSError, IntentError."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise text_problem(file, "too-large", f"the file is larger than {MAX_BYTES >> 20} MiB ({size:,} bytes)")
    text = text_of(read_bytes(path, file), file, "utf-8")
    if odd_characters(text):
        _check_characters(text, file)
    return text.removeprefix(BOM)


def _check_characters(text: str, file: str) -> None:
    """Refuse what nobody sees and the reader of a file takes for part of a word; remarks may hold it."""
    taken = next((characters for folder, characters in TAKEN if file.startswith(folder)), "")
    for number, line in enumerate(text.split("\n"), 1):
        code = line.removesuffix("\r") if "\r" in taken else line
        if number == 1 and BOM in taken:
            code = code.removeprefix(BOM)
        remark = REMARK.search(code)
        odd = odd_characters(code[: remark.start()] if remark is not None and code[:2] != "#!" else code)
        # To some readers they end a line, and with it a remark.
        odd |= {"\0", "\r"}.intersection(line.removesuffix("\r") if "\r" in taken else line)
        if odd:
            column = min(line.index(one) for one in odd)
            reason = f"{character_name(line[column])} is part of a word here; write a space, or delete it"
            raise text_problem(file, "unreadable", reason, number, column + 1)


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
        # A kernel looks for `#!` at the very beginning of a script.
        if number == 1:
            rest.append((number, line.rstrip()))
        elif bare and not bare.startswith("#"):
            rest.append((number, bare))
    return inside, rest


def ini(text: str) -> Iterator[Setting]:
    """Iterate over the settings of a systemd file; a line that is no setting has an empty key."""
    section, heading = "", 0
    for number, line in numbered(text):
        if line.startswith(";"):
            continue
        if line.startswith("[") and line.endswith("]"):
            section, heading = line[1:-1], number
            continue
        key, equals, value = line.partition("=")
        words = (key.strip(), value.strip()) if equals else ("", line)
        yield Setting(*words, section, number, heading)


def sysctls(text: str) -> Iterator[Setting]:
    """Iterate over the settings of a sysctl.d file; a line that is no setting has an empty key."""
    for number, line in numbered(text):
        found = SYSCTL.match(line)
        if found:
            yield Setting(found[1].replace("/", "."), found[2], "", number)
        elif not line.startswith(";"):
            yield Setting("", line, "", number)


def conf_nic(key: str) -> str:
    """Return the interface of a kernel parameter such as `net.ipv6.conf.NIC.accept_ra`; empty for others."""
    words = key.split(".")
    return words[3] if words[:3] == ["net", "ipv6", "conf"] and len(words) > 4 else ""


def device_unit(nic: str) -> str:
    """Return the systemd unit of a NIC (systemd.unit(5), string escaping)."""
    return f"sys-subsystem-net-devices-{nic.replace('-', chr(92) + 'x2d')}.device"


def assignments(text: str) -> Iterator[Setting]:
    """Iterate over the variables of a shell environment file, quotes removed; other lines have an empty key.

    Behind `NAME=` and a blank a shell takes a command, which it runs.
    """
    for number, line in numbered(text):
        found = ASSIGNMENT.match(line)
        try:
            words = shlex.split(found[2]) if found else []
        except ValueError:
            found, words = None, []
        if found and len(words) <= 1 and not (words and found[2][0].isspace()):
            yield Setting(found[1], "".join(words), "", number)
        else:
            yield Setting("", line, "", number)
