"""A pool of processes whose pending work nobody but its own manager cancels; slow to import, so only where used."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


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
