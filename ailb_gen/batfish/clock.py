"""The clock that pybatfish waits by while the service works."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

# Seconds between two looks at a piece of work, while it is young.
POLL_S = 0.01
# Later it waits for this part of the work's age.
SHARE = 20


class Clock:
    """Replaces the module `time` in pybatfish, which sleeps 100 ms and more: longer than most questions take."""

    def __init__(self, sleep: Callable[[float], None] = time.sleep, now: Callable[[], float] = time.monotonic) -> None:
        self._sleep, self._now, self._last, self._start = sleep, now, math.inf, 0.0

    def sleep(self, seconds: float) -> None:
        """Sleep for 10 ms, or a twentieth of the age of the work, but never longer than asked to.

        pybatfish asks for more each time; for less than the last time means another piece of work.
        """
        if seconds < self._last:
            self._start = self._now()
        self._last = seconds
        self._sleep(min(seconds, max(POLL_S, (self._now() - self._start) / SHARE)))
