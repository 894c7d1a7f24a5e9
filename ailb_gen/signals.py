"""Signals that ask for an end: the first ends what is being done in order, a second one at once."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# Ctrl-C, the end of a service, Ctrl-\ and a closed terminal.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)
# Signals within this time after one of them are the same wish, in seconds: a closing terminal sends several at once.
TOGETHER_S = 0.2


class Signals:
    """The signals that have come, and their number when called; what works looks for them between its steps.

    `on_signal` is called in the handler with that number, and may raise KeyboardInterrupt to end at once.
    """

    def __init__(self, on_signal: Callable[[int], None] = lambda count: None) -> None:
        self.on_signal = on_signal
        self.numbers: list[int] = []
        self._last, self._interrupting = -TOGETHER_S, False

    def __call__(self) -> int:
        """Return how many signals have come."""
        return len(self.numbers)

    def handle(self, number: int, _frame: FrameType | None = None) -> None:
        """Take a signal: the handler of all of them."""
        now = time.monotonic()
        together, self._last = now - self._last < TOGETHER_S, now
        if not together:
            self.numbers.append(number)
            self.on_signal(len(self.numbers))
            if self._interrupting:
                raise KeyboardInterrupt

    @contextmanager
    def handled(self) -> Iterator["Signals"]:
        """Handle the signals of ENDING; one that is ignored, such as SIGHUP under nohup, stays so."""
        before = {number: signal.getsignal(number) for number in ENDING}
        chosen = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
        try:
            for number in chosen:
                signal.signal(number, self.handle)
            yield self
        finally:
            for number in chosen:
                signal.signal(number, before[number] or signal.SIG_DFL)

    def ask(self, question: Callable[[], bool]) -> bool:
        """Ask a person something; a signal is a no, one that came before as well."""
        self._interrupting = True
        try:
            return not self.numbers and question()
        except KeyboardInterrupt:
            return False
        finally:
            self._interrupting = False


# Where nothing looks for signals.
NO_SIGNALS = Signals()
