"""Where work that is independent runs: here, in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import gc
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ailb_gen.errors import UsageError, WorkerError
from ailb_gen.workers import process_pool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from ailb_gen.checks.model import RunOptions

# Starting processes costs more than reading this many switches.
SMALL = 96
# How long a scheduler may take to answer, in seconds.
PATIENCE_S = 10


@contextmanager
def executor_of(options: RunOptions, switches: int) -> Iterator[Executor | None]:
    """Give the executor that was asked for; None is this process.

    Processes are used from a certain size of the fabric on. With Dask the workers must see the artifact directory
    and the directory for temporary files. Raises UsageError and WorkerError.
    """
    kind, _, address = options.executor.partition(":")
    if kind == "dask":
        with _dask(address) as executor:
            yield executor
    elif kind == "processes" and options.jobs > 1 and switches >= SMALL:
        with process_pool(options.jobs, gc.disable) as executor:
            yield executor
    else:
        yield None


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise UsageError("--executor dask: Dask is not installed; pip install 'ailb-gen[dask]'") from error
    try:
        client = Client(address, timeout=PATIENCE_S)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise WorkerError(f"--executor dask:{address}: no scheduler answers there: {error}") from error
    with client, client.get_executor(pure=False) as executor:  # type: ignore[no-untyped-call]
        try:
            yield executor
        except KilledWorker as error:
            raise WorkerError(
                f"--executor dask:{address}: workers died, perhaps for want of memory: {error}"
            ) from error
        except CancelledError as error:
            raise WorkerError(f"--executor dask:{address}: the connection to the scheduler was lost") from error
