"""How long work reports its progress, and its warnings: callbacks that every service takes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Advance(Protocol):
    """Counts the units of a piece of work that are done."""

    def __call__(self, count: int) -> None:
        """Note that `count` more units are done."""

    def step(self, name: str) -> None:
        """Name the step that begins."""

    def stage(self, name: str, total: int) -> None:
        """Begin to count anew: `total` units of another kind follow."""


# Begins a piece of work, such as "checking", of so many units; its context gives what counts them.
Progress = Callable[[str, int], AbstractContextManager[Advance]]
# Is called with every warning, a sentence, as soon as it is known.
Warn = Callable[[str], None]


class Silent:
    """An Advance that reports nothing."""

    def __call__(self, count: int) -> None:
        """Report nothing."""

    def step(self, name: str) -> None:
        """Report nothing."""

    def stage(self, name: str, total: int) -> None:
        """Report nothing."""


def quiet(what: str, total: int) -> AbstractContextManager[Advance]:
    """Report no progress."""
    return nullcontext(Silent())


def unheeded(warning: str) -> None:
    """Report no warning: for callers that read warnings from the result."""
