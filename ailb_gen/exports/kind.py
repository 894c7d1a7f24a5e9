"""A kind of export: a name, and the function that turns a design into files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ailb_gen.design.model import Design
from ailb_gen.exports.print_request import PrintRequest
from ailb_gen.jobs.command import JobRequest
from ailb_gen.progress import Progress, quiet

# The bytes of each file by its path, relative to the folder of the export, with `/`.
Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class BootOptions:
    """How switches boot: who logs in with which public keys, and where files and addresses come from.

    `url` is the directory of the day-0 files as switches fetch them; `prefix6` the prefix of the management network
    for DHCPv6; `nic_type` the PCI device of the servers' NICs. Empty where not given.
    """

    user: str = "automation"
    ssh_keys: tuple[Path, ...] = ()
    url: str = ""
    prefix6: str = ""
    nic_type: str = ""


@dataclass(frozen=True, slots=True)
class ExportInput:
    """Everything that an export may use; an option that is not given has its default.

    `artifacts` is the folder of the generated files, None where it is not given. `tell` takes lines for people, such
    as devices that are left out.
    """

    design: Design
    artifacts: Path | None = None
    job: JobRequest = field(default_factory=JobRequest)
    printed: PrintRequest = field(default_factory=PrintRequest)
    boot: BootOptions = BootOptions()
    tell: Callable[[str], None] = lambda line: None
    progress: Progress = quiet


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of export, with a line that says who reads it, and the options of `ailb-gen export` that it takes.

    `write` raises UsageError for a design that lacks a part of the export, and names it.
    """

    name: str
    summary: str
    write: Callable[[ExportInput], Files]
    options: tuple[str, ...] = ()


def one_file(name: str, text: Callable[[ExportInput], str]) -> Callable[[ExportInput], Files]:
    """Return the function of an export of one text file."""
    return lambda given: {name: text(given).encode()}
