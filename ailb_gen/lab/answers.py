"""Answers of BIRD and of the kernel, kept for a moment: one question of an operator asks for the same several times."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import TypeVar

T = TypeVar("T")
# How long an answer counts, in seconds; one that took long counts as many times as long as it took.
VALID_S, TIMES = 0.2, 5.0


class AnswerCache:
    """The latest answers of one switch by question; a commit forgets them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[Hashable, tuple[float, object]] = {}

    def get(self, question: Hashable, ask: Callable[[], T]) -> T:
        """Return the answer to a question: the one that is kept while it counts, else what `ask` returns."""
        kept = self._kept.get(question)
        begin = self._clock()
        if kept is not None and begin < kept[0]:
            return kept[1]  # type: ignore[return-value]
        answer = ask()
        end = self._clock()
        self._kept[question] = (end + max(VALID_S, TIMES * (end - begin)), answer)
        return answer

    def forget(self) -> None:
        """Forget all answers."""
        self._kept.clear()
