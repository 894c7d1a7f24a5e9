"""Values once, and their numbers elsewhere: how the data of sections stays small."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Numbered(Generic[T]):
    """Values, each with its number: in the order in which they are first asked for."""

    __slots__ = ("values",)

    def __init__(self, values: Iterable[T] = ()) -> None:
        self.values: dict[T, int] = {}
        for value in values:
            self(value)

    def __call__(self, value: T) -> int:
        """Return the number of a value, a new one for a new value."""
        return self.values.setdefault(value, len(self.values))
