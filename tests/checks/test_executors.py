"""Where work runs: the same findings here, in processes and on a real Dask cluster; what happens when workers die."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event, Timer
from unittest.mock import create_autospec

import pytest
from distributed import Client, LocalCluster

from ailb_gen import parallel
from ailb_gen.checks import failure_outcomes
from ailb_gen.checks.catalogue import BY_ID
from ailb_gen.checks.model import Run, RunOptions
from ailb_gen.checks.run import run
from ailb_gen.errors import UsageError, WorkerError
from ailb_gen.intent.load import load
from ailb_gen.optional import how_to_install
from ailb_gen.parallel import SMALL, executor_of
from tests.checks.trees import GOLDEN
from tests.conftest import EXAMPLES, ROOT

OPTIONS = RunOptions(frozenset(BY_ID), None, 1, "serial", 2)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler with two workers in processes of their own."""
    folder = tmp_path_factory.mktemp("dask")
    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(folder)
    ) as cluster:
        yield cluster.scheduler_address


@cache
def proved(options: RunOptions) -> Run:
    return run(load(EXAMPLES / "lab" / "fabric.yaml"), GOLDEN / "lab", options)


def die(code: int) -> None:
    os._exit(code)


def test_small_fabrics_stay_in_this_process() -> None:
    with executor_of("processes", 2, SMALL - 1) as executor:
        assert executor is None
    with executor_of("processes", 1, SMALL) as executor:
        assert executor is None
    with executor_of("serial", 2, SMALL) as executor:
        assert executor is None


def test_processes_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = proved(OPTIONS)
    monkeypatch.setattr(parallel, "SMALL", 1)
    monkeypatch.setattr(failure_outcomes, "CHUNK", 16)
    with executor_of("processes", 2, 2) as executor:
        assert isinstance(executor, ProcessPoolExecutor)
        assert set(executor.map(_process, range(8))).isdisjoint({os.getpid()})
    assert proved(replace(OPTIONS, executor="processes")) == expected
    assert sum(result.examined for result in expected.results if result.check.id.startswith("AILB5")) > 32


def _process(_: int) -> int:
    return os.getpid()


def test_dask_finds_the_same(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failure_outcomes, "CHUNK", 16)
    assert proved(replace(OPTIONS, executor=f"dask:{scheduler}")) == proved(OPTIONS)


def test_a_dead_worker_process_is_an_error_of_the_environment() -> None:
    with (
        pytest.raises(WorkerError, match=r"worker process died.*smaller -j"),
        executor_of("processes", 2, SMALL) as executor,
    ):
        assert executor is not None
        list(executor.map(die, [9]))


@pytest.mark.long
def test_a_dead_dask_worker_is_an_error_of_the_environment(scheduler: str) -> None:
    with (
        pytest.raises(WorkerError, match=f"dask:{scheduler}: .*worker"),
        executor_of(f"dask:{scheduler}", 2, 1) as executor,
    ):
        assert executor is not None
        list(executor.map(die, [9]))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "127.0.0.1:1"])
def test_no_scheduler_there(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "PATIENCE_S", 1)
    with (
        pytest.raises(WorkerError, match="no scheduler answers"),
        executor_of(f"dask:{address}", 2, 1),
    ):
        pass


def test_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(UsageError, match=re.escape(how_to_install("dask"))),
        executor_of("dask:tcp://127.0.0.1:8786", 2, 1),
    ):
        pass


def test_workers_that_do_not_see_the_files(scheduler: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such directory"):
        run(load(EXAMPLES / "lab" / "fabric.yaml"), tmp_path / "none", replace(OPTIONS, executor=f"dask:{scheduler}"))


@contextmanager
def cluster(workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start workers and a scheduler, the last process, as an administrator does; nobody starts them again."""
    with ExitStack() as stack:

        def start(module: str, *words: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.{module}", *words, "--no-dashboard"]
            process = stack.enter_context(
                subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
            )
            stack.callback(process.kill)
            return process

        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        scheduler = start("dask_scheduler", "--host", "127.0.0.1", "--port", str(port))
        address = f"tcp://127.0.0.1:{port}"
        started = [start("dask_worker", address, "--no-nanny", "--nthreads", "1") for _ in range(workers)]
        with Client(address, timeout=60) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(workers, timeout=60)
        yield address, [*started, scheduler]


@pytest.mark.long
def test_a_dask_worker_that_is_killed_midway_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failure_outcomes, "CHUNK", 16)
    with cluster(2) as (address, (first, *_)):
        killing = Timer(0.5, first.kill)
        killing.start()
        assert proved(replace(OPTIONS, executor=f"dask:{address}")) == proved(OPTIONS)
        killing.join()
        assert first.wait(10) == -signal.SIGKILL


@pytest.mark.long
def test_a_cluster_without_workers_is_an_error_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the last one dies midway; the work that it had is not waited for."""
    monkeypatch.setattr(parallel, "WORKERLESS_S", 3.0)
    with cluster(1) as (address, (only, _)):
        killing = Timer(1, only.kill)
        killing.start()
        expected = f"dask:{re.escape(address)}: there are no workers"
        with pytest.raises(WorkerError, match=expected), executor_of(f"dask:{address}", 2, 1) as executor:
            assert executor is not None
            list(executor.map(time.sleep, [30, 30]))
        with pytest.raises(WorkerError, match=expected), executor_of(f"dask:{address}", 2, 1) as executor:
            assert executor is not None
            executor.submit(time.sleep, 1).result()


WAITING = """\
import sys, time
from ailb_gen.errors import WorkerError
from ailb_gen.parallel import executor_of
try:
    with executor_of(sys.argv[1], 2, 1) as executor:
        waiting = executor.submit(time.sleep, 60)
        print("ready", flush=True)
        waiting.result()
except WorkerError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""


@pytest.mark.long
def test_a_lost_scheduler_is_said_in_one_line() -> None:
    with cluster(1) as (address, (_, scheduler)):
        command = [sys.executable, "-c", WAITING, f"dask:{address}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as client:
            assert client.stdout is not None
            assert client.stdout.readline() == "ready\n"
            scheduler.kill()
            _, said = client.communicate(timeout=100)
    assert client.returncode == 3
    assert said == f"--executor dask:{address}: the connection to the scheduler was lost\n"


def test_a_client_that_lost_its_scheduler_has_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that it knows then is an empty dictionary."""
    monkeypatch.setattr(parallel, "WORKERLESS_S", 0.0)
    monkeypatch.setattr(parallel, "LOOK_S", 0.01)
    client = create_autospec(Client, instance=True, futures={})
    client.scheduler_info.return_value = {}
    gone = Event()
    parallel._end_without_workers(client, gone, Event())
    assert gone.is_set()
