"""A time limit for work that has none of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(limit_s: float, work: Callable[[], T]) -> T:
    """Do the work and return its result. Raises TimeoutError after the limit (seconds), and what the work raises.

    A thread does it, and is left alone when its time is up. The limits of requests are for a single read: a server
    that drips bytes, the look-up of a name and pybatfish's asking whether work is done have none. Ctrl-C ends the
    waiting at once, and the thread does not keep the program from ending.
    """
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - the one who waits raises it
            result.set_exception(error)

    threading.Thread(target=run, name="batfish", daemon=True).start()
    return result.result(limit_s)
