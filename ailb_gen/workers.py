"""Processes of this machine that share work: they leave signals to this process, and never outlive it."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ailb_gen.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)


@contextmanager
def process_pool(jobs: int, prepare: Callable[..., None], *arguments: object) -> Iterator[Executor]:
    """Give a pool of `jobs` processes, in each of which `prepare(*arguments)` has run.

    Ctrl-C goes to all processes of a terminal: workers do not hear it. Whatever ends the work early ends them at once,
    without a word. Raises WorkerError when one dies by itself.
    """
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, forkserver, get_context, resource_tracker

    from ailb_gen.pool import ProcessPool

    others = set(active_children())
    # Not forked from here: this process may have threads by then, the progress bar's for one.
    context = get_context("forkserver")
    with _signals_held():
        # It ignores what it unblocks then, but dies of what it does not know.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        # The server of forks hands its mask on to all workers, from their first moment on.
        forkserver.ensure_running()
        executor = ProcessPool(jobs, context, initializer=_prepare, initargs=(prepare, arguments))
        # A worker that is started later could be cut off half started.
        for _ in range(jobs):
            executor.submit(_nothing)
    try:
        yield executor
        executor.shutdown()
    except BaseException as error:
        with _signals_held():
            for worker in set(active_children()) - others:
                worker.kill()
            executor.shutdown(cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            raise WorkerError("a worker process died, perhaps for want of memory; try a smaller -j") from error
        raise


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let signals that stop this program wait for a moment; processes started meanwhile never hear them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    # Another thread may be given a signal that this one blocks, and Python would still handle it here.
    handlers = {number: signal.signal(number, lambda number, _: came.append(number)) for number in STOPPING}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)
        if came:
            signal.raise_signal(came[0])


def _prepare(prepare: Callable[..., None], arguments: tuple[object, ...]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare(*arguments)


def _end_with_parent() -> None:
    """End this worker when the program that started it is gone, even killed."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _nothing() -> None:
    """Keep a worker busy for a moment, so that the next one is started."""
