"""Memory that the answers of all devices of a run share: many hostile devices take no more than a few.

Nobody can keep others waiting by holding what a slow answer has taken: of those that still read, the one with the most
gives way.
"""

import ctypes
from collections.abc import Callable
from threading import Condition, Lock
from time import monotonic

# What an answer may take before it counts, and what all that is more may take together, of all devices of a run.
FREE_BYTES, SHARED_BYTES = 1 << 20, 40 << 20
# What is kept of all devices together beyond what each of them may have, written one behind the other.
KEPT_BYTES = 2 << 20
# Seconds that a long answer waits for memory; that it may read on while others wait; between two looks.
PATIENCE_S, LEASE_S, SLICE_S = 60.0, 5.0, 0.2
# glibc keeps what a thread has freed in an arena for later: threads share a few, as they share the interpreter
# (mallopt(3)).
M_ARENA_MAX, ARENAS = -8, 2
# Devices are read in parallel, but threads do not compute in parallel, and would keep all trees in memory.
ONE_AT_A_TIME = Lock()
TOO_MUCH = "the answers of all devices together take too much memory; use fewer at once (--jobs)"
TOO_SLOW = "it is long and slow, and other devices need the memory"


class TooMuchError(Exception):
    """There is no memory for an answer."""


def share_arenas() -> None:
    """Let all threads that are started from now on share a few arenas; other C libraries than glibc have none."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, ARENAS)


class Shared:
    """Memory that all devices of a run share; who wants more than there is waits a while for others to be done."""

    def __init__(self, size: int = SHARED_BYTES) -> None:
        self.left, self._changed = size, Condition()
        # Those that have some and whose answer is not whole yet, and since when.
        self._reading: dict[Share, float] = {}

    def take(self, share: "Share", size: int) -> None:
        """Take some. Raises TooMuchError when there is none, also later, or when the share has to give way."""
        until = monotonic() + PATIENCE_S
        with self._changed:
            while self.left < size:
                self._oust()
                if share.ousted or monotonic() >= until:
                    raise TooMuchError(TOO_SLOW if share.ousted else TOO_MUCH)
                self._changed.wait(min(SLICE_S, PATIENCE_S))
            self.left -= size
            share.taken += size
            self._reading.setdefault(share, monotonic())

    def _oust(self) -> None:
        """End the connection of the one that has the most of those that have read for long enough; one at a time."""
        if any(share.ousted for share in self._reading):
            return
        slow = [share for share, since in self._reading.items() if monotonic() >= since + LEASE_S]
        if slow:
            most = max(slow, key=lambda share: share.taken)
            most.ousted = True
            most.oust()

    def whole(self, share: "Share") -> None:
        """Note that an answer is whole: nobody waits for its device any more."""
        with self._changed:
            self._reading.pop(share, None)

    def give(self, share: "Share", size: int) -> None:
        """Give back some of what a share has."""
        with self._changed:
            self._reading.pop(share, None)
            self.left += size
            share.taken -= size
            self._changed.notify_all()


SHARED = Shared()


class Kept:
    """Room for what a run keeps of all devices until its end: some for each of them, and some more for all together."""

    def __init__(self, more: int = KEPT_BYTES) -> None:
        self._more, self._lock = more, Lock()

    def take(self, size: int, own: int) -> None:
        """Take room for `size` bytes, of which `own` count for this device alone. Raises TooMuchError."""
        missing = max(0, size - own)
        with self._lock:
            if missing > self._more:
                raise TooMuchError(f"{size >> 10:,} KiB")
            self._more -= missing


class Share:
    """What one session has of the shared memory: nothing for answers of usual length.

    `oust` ends the connection, from any thread and without waiting; `ousted` is whether that was done; `held` are the
    bytes of earlier answers that are still needed.
    """

    def __init__(self, shared: Shared = SHARED, oust: Callable[[], None] = lambda: None) -> None:
        self.shared, self.oust = shared, oust
        self.taken, self.ousted, self.held = 0, False, 0

    def need(self, size: int) -> None:
        """Make sure that there is memory for `size` bytes. Raises TooMuchError."""
        missing = self.held + size - FREE_BYTES - self.taken
        if missing > 0:
            # In steps, as every call waits for a lock.
            self.shared.take(self, max(missing, FREE_BYTES))

    def whole(self) -> None:
        """Note that the answer is whole."""
        if self.taken:
            self.shared.whole(self)

    def done(self) -> None:
        """Give back what was taken for the last answer."""
        over = self.taken - max(0, self.held - FREE_BYTES)
        if over > 0:
            self.shared.give(self, over)

    def rest(self) -> None:
        """Give back everything."""
        self.held = 0
        self.done()
