"""Independent work: in this process, in processes of this machine, or on a Dask cluster.

Processes leave signals to this one, and never outlive it. Slow to import.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice
from multiprocessing import active_children, forkserver, get_context, parent_process, resource_tracker
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from ailb_gen.errors import WorkerError
from ailb_gen.optional import without_extra

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)
# Starting processes costs more than reading this many switches.
SMALL = 96
# Those of Dask that have a level of their own.
DASK_LOGGERS = ("distributed", "distributed.client")
# How long a scheduler may take to answer, in seconds.
PATIENCE_S = 10
# How long a cluster may be without any worker, one that starts them on demand for one; and how often that is looked at.
WORKERLESS_S, LOOK_S = 60.0, 1.0


@contextmanager
def executor_of(
    kind: str,
    jobs: int,
    items: int,
    small: int | None = None,
    prepare: Callable[..., None] = gc.disable,
    arguments: tuple[object, ...] = (),
) -> Iterator[Executor | None]:
    """Yield the executor `serial`, `processes` or `dask:ADDRESS` for so many items of work; None is this process.

    Processes are used from `small` items on (default: SMALL); in each of them `prepare(*arguments)` runs first. With
    Dask the workers must see the artifact directory and the directory for temporary files. Raises UsageError and
    WorkerError.
    """
    kind, _, address = kind.partition(":")
    if kind == "dask":
        with _dask(address) as executor:
            yield executor
    elif kind == "processes" and jobs > 1 and items >= (SMALL if small is None else small):
        with process_pool(jobs, prepare, *arguments) as executor:
            yield executor
    else:
        yield None


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client, KilledWorker  # noqa: PLC0415 an extra, and slow
    except ImportError as error:
        raise without_extra("--executor dask", "Dask is not installed", "dask") from error
    try:
        client = Client(address, timeout=PATIENCE_S)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise WorkerError(f"--executor dask:{address}: no scheduler answers: {error}") from error
    gone, over = threading.Event(), threading.Event()
    watch = threading.Thread(target=_end_without_workers, args=(client, gone, over), daemon=True)
    with _unlogged(), client, client.get_executor(pure=False) as executor:  # type: ignore[no-untyped-call]
        watch.start()
        try:
            yield executor
        except KilledWorker as error:
            raise WorkerError(
                f"--executor dask:{address}: workers died, perhaps for lack of memory: {error}"
            ) from error
        except CancelledError as error:
            lost = "there are no workers" if gone.is_set() else "the connection to the scheduler was lost"
            raise WorkerError(f"--executor dask:{address}: {lost}") from error
        finally:
            over.set()


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep Dask from logging tracebacks of what is raised here, too: a lost connection, a worker that died."""
    loggers = [logging.getLogger(name) for name in DASK_LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _end_without_workers(client: Client, gone: threading.Event, over: threading.Event) -> None:
    """Cancel the work of a client when there have been no workers for a while: it would wait for ever.

    A client that lost its scheduler knows of none.
    """
    from distributed import Future  # noqa: PLC0415 slow

    since = time.monotonic()
    while not over.wait(LOOK_S):
        if client.scheduler_info().get("workers"):
            since = time.monotonic()
        elif time.monotonic() >= since + WORKERLESS_S:
            gone.set()
            left: list[Future[Any]] = [Future(key, client=client) for key in list(client.futures)]
            client.cancel(left, force=True)  # type: ignore[no-untyped-call]
            return


@contextmanager
def process_pool(jobs: int, prepare: Callable[..., None], *arguments: object) -> Iterator[Executor]:
    """Yield a pool of `jobs` processes, in each of which `prepare(*arguments)` has run.

    Ctrl-C goes to all processes of a terminal: workers ignore it. When the work ends early they are killed at once and
    silently. Raises WorkerError when one dies by itself.
    """
    others = set(active_children())
    # Not forked from here: this process may have threads by then, the progress bar's for one.
    context, executor = get_context("forkserver"), None
    try:
        with _signals_held():
            # It ignores what it unblocks then, but dies of what it does not know.
            resource_tracker.ensure_running()
            signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
            # The server of forks hands its mask on to all workers, from their first moment on.
            forkserver.ensure_running()
            executor = ProcessPool(jobs, context, initializer=_prepare, initargs=(prepare, arguments))
            # A worker that is started later could be cut off half started.
            with _main_hidden():
                for _ in range(jobs):
                    executor.submit(_nothing)
        yield executor
        executor.shutdown()
    except BaseException as error:
        with _signals_held():
            for worker in set(active_children()) - others:
                worker.kill()
            if executor is not None:
                executor.shutdown(cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            raise WorkerError("a worker process died, perhaps for lack of memory; try a smaller -j") from error
        raise


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let signals that stop this program wait for a moment; processes started meanwhile never hear them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[int] = []
    # Another thread may be given a signal that this one blocks, and Python would still handle it here.
    handlers = {number: signal.signal(number, lambda number, _: pending.append(number)) for number in STOPPING}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)
        if pending:
            signal.raise_signal(pending[0])


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Let processes that start not import the script that runs: without a guard, its work would begin again in each."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _prepare(prepare: Callable[..., None], arguments: tuple[object, ...]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare(*arguments)


def _end_with_parent() -> None:
    """End this worker when the program that started it is gone, even killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _nothing() -> None:
    """Keep a worker busy for a moment, so that the next one is started."""


class ProcessPool(ProcessPoolExecutor):
    """A ProcessPoolExecutor whose `map` does not cancel the rest when it is cut short.

    The manager thread of the pool fails all pending futures when a worker has died, and itself dies with an
    InvalidStateError, its traceback on standard error, if one of them was cancelled meanwhile from another thread.
    """

    def map(
        self, fn: Callable[..., T], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[T]:
        """Return the results in order, as Executor.map; `timeout` is that of every chunk, in seconds."""
        rows = zip(*iterables, strict=False)
        chunks = iter(lambda: list(islice(rows, chunksize)), [])
        futures = [self.submit(partial(_each, fn), chunk) for chunk in chunks]
        return (result for future in futures for result in future.result(timeout))


def _each(fn: Callable[..., T], rows: list[tuple[object, ...]]) -> list[T]:
    return [fn(*row) for row in rows]
