"""Memory that the answers of all devices of a run share: many hostile devices take no more than a few."""

from threading import Condition

# What an answer may take before it counts, and what all that is more may take together, of all devices of a run.
FREE_BYTES, SHARED_BYTES, PATIENCE_S = 2 << 20, 64 << 20, 20.0


class TooMuchError(Exception):
    """There is no memory for an answer."""


class Shared:
    """Memory that all devices of a run share; who wants more than there is waits a while for others to be done."""

    def __init__(self, size: int = SHARED_BYTES) -> None:
        self.left, self._changed = size, Condition()

    def take(self, size: int) -> None:
        """Take some. Raises TooMuchError when there is none, also later."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.left >= size, PATIENCE_S):
                raise TooMuchError(
                    "the answers of all devices together take too much memory; use fewer at once (--jobs)"
                )
            self.left -= size

    def give(self, size: int) -> None:
        """Give it back."""
        with self._changed:
            self.left += size
            self._changed.notify_all()


SHARED = Shared()


class Share:
    """What one session has of the shared memory: nothing for answers of usual length."""

    def __init__(self, shared: Shared = SHARED) -> None:
        self.shared, self.taken = shared, 0

    def need(self, size: int) -> None:
        """Make sure that there is memory for `size` bytes. Raises TooMuchError."""
        missing = size - FREE_BYTES - self.taken
        if missing > 0:
            # In steps, as every call waits for a lock.
            step = max(missing, FREE_BYTES)
            self.shared.take(step)
            self.taken += step

    def done(self) -> None:
        """Give back what was taken."""
        taken, self.taken = self.taken, 0
        if taken:
            self.shared.give(taken)
