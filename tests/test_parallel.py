"""A pool of processes: what it gives back, and how it ends when it is cut short."""

from __future__ import annotations

import signal
import threading
import time
from multiprocessing import active_children, forkserver

import pytest

from ailb_gen.errors import WorkerError
from ailb_gen.parallel import process_pool

LONG_S = 100
# The thread of a pool that hears of dead workers.
MANAGER = "_ExecutorManagerThread"


def nothing() -> None:
    """Prepare nothing."""


def patient(number: int) -> int:
    """Give the first number at once, and take very long for all others."""
    if number:
        time.sleep(LONG_S)
    return number


@pytest.mark.parametrize("chunksize", [1, 3, 20])
def test_results_are_in_order(chunksize: int) -> None:
    with process_pool(2, nothing) as executor:
        assert list(executor.map(pow, range(7), [2] * 7, chunksize=chunksize)) == [n**2 for n in range(7)]
        assert list(executor.map(abs, [])) == []


def test_a_worker_that_dies_after_the_work_was_cut_short_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread of the pool ends with a traceback, and nobody waits for what never comes."""
    died: list[object] = []
    monkeypatch.setattr(threading, "excepthook", died.append)
    others = set(active_children())
    with pytest.raises(WorkerError, match="a worker process died"), process_pool(2, nothing) as executor:
        results = executor.map(patient, range(40))
        assert next(results) == 0
        # As an interrupt does it: the one who waits for the next result waits no longer.
        results.close()  # type: ignore[attr-defined]
        for worker in set(active_children()) - others:
            worker.kill()
        while any(type(thread).__name__ == MANAGER for thread in threading.enumerate()):
            time.sleep(0.01)
        executor.submit(abs, -1)
    assert not died
    assert set(active_children()) <= others


def test_a_signal_while_workers_start_leaves_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    start = forkserver.ensure_running

    def interrupted() -> None:
        start()
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(forkserver, "ensure_running", interrupted)
    threads, children = {*threading.enumerate()}, {*active_children()}
    with pytest.raises(KeyboardInterrupt), process_pool(2, nothing):
        pytest.fail("the pool is used")
    assert ({*threading.enumerate()} <= threads, {*active_children()} <= children) == (True, True)
