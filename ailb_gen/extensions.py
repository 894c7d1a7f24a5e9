"""Extensions: checks, report formats and exports that other distributions add by entry points."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Literal

from ailb_gen.errors import ExtensionError

# What can be added; the group of its entry points is `ailb_gen.` and this.
Kind = Literal["checks", "reports", "exports"]


@dataclass(frozen=True, slots=True)
class Extension:
    """An entry point of a distribution, by the name that users write."""

    kind: Kind
    name: str
    entry: EntryPoint

    @property
    def origin(self) -> str:
        """The distribution and its version."""
        found = self.entry.dist
        return f"{found.name} {found.version}" if found is not None else self.entry.value

    def load(self) -> object:
        """Import the object. Raises ExtensionError, whatever its module raises."""
        try:
            with redirect_stdout(sys.stderr):
                return self.entry.load()
        except (Exception, SystemExit) as error:
            raise self.error(f"cannot be imported: {type(error).__name__}: {error}") from error

    def text(self, argument: object) -> str:
        """Call the function that it names with an argument; return its text. Raises ExtensionError."""
        function = self.load()
        if not callable(function):
            raise self.error("is not a function")
        try:
            with redirect_stdout(sys.stderr):
                text = function(argument)
        except (Exception, SystemExit) as error:
            raise self.error(f"fails: {type(error).__name__}: {error}") from error
        if not isinstance(text, str):
            raise self.error(f"must return text, not {type(text).__name__}")
        return text

    def error(self, reason: str) -> ExtensionError:
        """Return the error of this extension."""
        return ExtensionError(f"{self.origin}: its entry point {self.name!r} of ailb_gen.{self.kind} {reason}")


def installed(kind: Kind) -> tuple[Extension, ...]:
    """Return the installed extensions of a kind, by name; nothing is imported."""
    found = (Extension(kind, entry.name, entry) for entry in entry_points(group=f"ailb_gen.{kind}"))
    return tuple(sorted(found, key=lambda extension: (extension.name, extension.origin)))
