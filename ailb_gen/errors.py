"""The one tree of errors, the problems they carry, and the exit codes of the command line.

Every error says what is wrong, where, why and what to do; every problem has a stable code that is documented
in `docs/errors.md`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What the command line returns; documented in `docs/errors.md`."""

    OK = 0
    FINDINGS = 1
    BAD_INPUT = 2
    ENVIRONMENT = 3
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a text file; line and column count from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the input: a stable code, the place, the path in the document, the reason and a way out."""

    code: str
    place: Place
    path: str
    reason: str
    hint: str = ""
    severity: str = "error"

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{self.place}: {self.severity}[{self.code}]: {where}{self.reason}{hint}"


class AilbError(Exception):
    """Root of everything this program raises on purpose."""

    exit_code: ClassVar[ExitCode] = ExitCode.BAD_INPUT


class IntentError(AilbError):
    """The intent cannot be used; `problems` holds every reason found, in document order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.place, p.path, p.code, p.reason)))
        super().__init__("\n".join(map(str, self.problems)))


class UsageError(AilbError):
    """An argument of the command cannot be used as given."""


class TemplateError(AilbError):
    """A template cannot be found, parsed or filled."""


class OutputError(AilbError):
    """The output tree cannot be read or written as asked; nothing in it was changed."""

    exit_code = ExitCode.ENVIRONMENT
