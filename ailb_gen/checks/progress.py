"""The steps of a run of the checks, for a progress bar: each has a name and a weight."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

# In the order in which they run; with its part of the work on a large fabric.
WEIGHTS = {
    "YANG models": 5,
    "reading": 25,
    "files and servers": 5,
    "sessions": 3,
    "routes": 3,
    "colors": 4,
    "paths": 3,
    "balance": 7,
    "failures": 45,
}
# Steps that a reader sees under another name.
CALLED = {
    "reading": "reading files",
    "sessions": "bringing up BGP sessions",
    "routes": "computing routes",
    "paths": "tracing paths",
    "balance": "computing link loads",
    "failures": "simulating failures",
}
STEPS = sum(WEIGHTS.values())
_STARTS = dict(zip(WEIGHTS, accumulate(WEIGHTS.values(), initial=0), strict=False))


class RunProgress:
    """Converts counts of things into the STEPS steps of a progress bar."""

    __slots__ = ("_reported", "advance", "step")

    def __init__(self, advance: Callable[[int], None], step: Callable[[str], None]) -> None:
        self.advance, self.step = advance, step
        self._reported = 0

    def begin(self, name: str, total: int, also: str = "") -> Callable[[int], None]:
        """Begin a step of `total` things; return the function to call with the number of things done.

        All steps before it are over. `also` names work that is done along with it.
        """
        start, weight = _STARTS[name], WEIGHTS[name]
        self._report(start)
        called = CALLED.get(name, name)
        self.step(f"{called}, {also}" if also else called)
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done = min(total, done + count)
            self._report(start + weight * done // max(total, 1))

        return advance

    def finish(self) -> None:
        """Report that all is done."""
        self._report(STEPS)

    def _report(self, steps: int) -> None:
        if steps > self._reported:
            self.advance(steps - self._reported)
            self._reported = steps


# For runs without a progress bar.
NO_PROGRESS = RunProgress(lambda count: None, lambda name: None)
