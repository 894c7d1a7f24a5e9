"""Real replies of Junos devices, from the shared test data, and how much each of their sources tells.

The index names for every file the command or RPC, the form and the source; its README.md says what to know.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache

from tests.conftest import SHARED

FOLDER = SHARED / "junos-replies"
# Switches of the release that the emulator has are nearest.
NEAREST = "25.4"


@dataclass(frozen=True, slots=True)
class Source:
    """What a public project has kept: `rank` 0 is nearest.

    `spaces` are namespaces and the prefixes of attributes, `whole` is a reply of which nothing was left out, `blanks`
    are the indentation of text and the width of its columns.
    """

    rank: int
    spaces: bool = True
    whole: bool = True
    blanks: bool = True


SOURCES = {
    "batfish": Source(1),
    "ttp": Source(1),
    "exporter": Source(1),
    "onos": Source(1),
    "scrapli": Source(1),
    "genie": Source(1, blanks=False),
    "ntc": Source(1),
    "napalm": Source(2, spaces=False),
    "jsnapy": Source(2, spaces=False),
    "pyez": Source(3, whole=False),
    "ansible": Source(3, whole=False),
    "netconf-java": Source(3, whole=False),
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One real reply: its file, what was asked as the index has it, and its form (`xml`, `json`, `text`)."""

    file: str
    asked: str
    form: str
    release: str

    @property
    def folder(self) -> str:
        return self.file.partition("/")[0]

    @property
    def source(self) -> Source:
        name = re.split(r"-\d+\.", self.file.partition("/")[2])[0]
        found = SOURCES[name]
        return replace(found, rank=0) if NEAREST in self.release else found

    def text(self) -> str:
        return (FOLDER / self.file).read_text(encoding="utf-8", errors="replace")


@cache
def samples() -> dict[str, list[Sample]]:
    """Return the samples by folder; none without the shared test data."""
    found: dict[str, list[Sample]] = defaultdict(list)
    if not (FOLDER / "INDEX.csv").is_file():
        return found
    with (FOLDER / "INDEX.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sample = Sample(row["file"], row["command_or_rpc"], row["format"], row["junos_or_platform"])
            found[sample.folder].append(sample)
    return found
