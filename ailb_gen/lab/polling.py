"""Read kernels and daemons again and again: until a value is as it should be, and no more often than needed."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import TypeVar

T = TypeVar("T")
# How long an answer counts, in seconds; one that took long counts as many times as long as it took.
VALID_S, TIMES = 0.2, 5.0


def settled(
    read: Callable[[], T],
    done: Callable[[T], object],
    timeout_s: float,
    quiet_s: float = float("inf"),
    pause_s: float = 0.05,
) -> T:
    """Return the first value that is done, or the last one: unchanged for `quiet_s`, or read after `timeout_s`."""
    began = changed = time.monotonic()
    value = read()
    while not done(value):
        now = time.monotonic()
        if now - changed > quiet_s or now - began > timeout_s:
            break
        time.sleep(pause_s)
        if (new := read()) != value:
            value, changed = new, time.monotonic()
    return value


class AnswerCache:
    """The latest answers of one switch by question: an operator's one question asks for the same several times."""

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
        """Forget all answers; a commit does."""
        self._kept.clear()
