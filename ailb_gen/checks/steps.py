"""The steps of a run of the checks, for a progress bar: each has a name and a share of the work."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

# In the order in which they run; how much of the work each is, about, on a large fabric.
SHARES = {
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
# What steps are called while they are waited for, where that is not their name.
CALLED = {
    "reading": "reading files",
    "sessions": "bringing up BGP sessions",
    "routes": "computing routes",
    "paths": "tracing paths",
    "balance": "loading links with collectives",
    "failures": "failing every link and spine",
}
STEPS = sum(SHARES.values())
_STARTS = dict(zip(SHARES, accumulate(SHARES.values(), initial=0), strict=False))


class Steps:
    """Converts counts of things into steps of a progress bar, of which there are STEPS in all."""

    __slots__ = ("_reported", "advance", "step")

    def __init__(self, advance: Callable[[int], None], step: Callable[[str], None]) -> None:
        self.advance, self.step = advance, step
        self._reported = 0

    def begin(self, name: str, total: int, also: str = "") -> Callable[[int], None]:
        """Begin a step of `total` things; return what is called with how many more of them are done.

        All steps before it are over. `also` is what is done along with it, for the reader.
        """
        start, share = _STARTS[name], SHARES[name]
        self._tell(start)
        called = CALLED.get(name, name)
        self.step(f"{called}, {also}" if also else called)
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done = min(total, done + count)
            self._tell(start + share * done // max(total, 1))

        return advance

    def finish(self) -> None:
        """Report that all is done."""
        self._tell(STEPS)

    def _tell(self, steps: int) -> None:
        if steps > self._reported:
            self.advance(steps - self._reported)
            self._reported = steps


# For runs without a progress bar.
NO_STEPS = Steps(lambda count: None, lambda name: None)
