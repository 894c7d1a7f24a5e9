"""Signals end a verb at once, with its documented code and one line, and take all workers along."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.deploy.fabric import run

# Enough switches for worker processes, and enough work to be caught in.
LARGE = """\
name: large
platform: generic
stripes: 20
rails: 4
spines: 16
servers: 2
"""
WORKERS = 2
# The verb itself, the server of forks, and what multiprocessing starts to clean up after it.
OTHERS = 3


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    (folder / "fabric.yaml").write_text(LARGE, encoding="utf-8")
    subprocess.run(command("generate", "fabric.yaml", "-o", "out", "-j", "1"), cwd=folder, check=True, env=ENVIRONMENT)
    return folder


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "ailb_gen", *words]


def members(session: int) -> Iterator[tuple[int, float]]:
    """Give the processes of a session that still run, with the seconds of processor time that they had."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(stat[3]) == session and stat[0] not in "ZX":
                yield int(entry.name), (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def started(tree: Path, *words: str) -> subprocess.Popen[str]:
    line = command("validate", "fabric.yaml", "out", *words)
    return subprocess.Popen(
        line,
        cwd=tree,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def working(process: subprocess.Popen[str], many: bool) -> bool:
    """Tell whether the verb is at work: all workers have been busy, or it itself for long enough to have begun."""
    assert process.poll() is None, process.communicate()
    found = dict(members(process.pid))
    if not many:
        return found.get(process.pid, 0) > 1.5
    return sum(used > 0.05 for used in found.values()) >= WORKERS + 1 and len(found) >= WORKERS + OTHERS


@pytest.mark.sampled(4)
@pytest.mark.parametrize("executor", ["serial", "processes"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP])
@pytest.mark.parametrize("group", [True, False], ids=["group", "alone"])
def test_a_signal_ends_validate(tree: Path, executor: str, number: signal.Signals, group: bool) -> None:
    process = started(tree, "--executor", executor, "-j", str(WORKERS))
    try:
        wait(lambda: working(process, executor == "processes"))
        (os.killpg if group else os.kill)(process.pid, number)
        out, errors = process.communicate(timeout=100)
        assert process.returncode == 128 + number
        assert out == ""
        assert errors.startswith("ailb-gen: ") and errors.count("\n") == 1, errors
        wait(lambda: not list(members(process.pid)))
    finally:
        for pid, _ in members(process.pid):
            os.kill(pid, signal.SIGKILL)


def test_workers_do_not_outlive_a_verb_that_is_killed(tree: Path) -> None:
    process = started(tree, "-j", str(WORKERS))
    wait(lambda: working(process, many=True))
    os.kill(process.pid, signal.SIGKILL)
    # Workers have the pipes, too: there is an end of them only when no worker is left.
    process.communicate(timeout=100)
    wait(lambda: not list(members(process.pid)))


@pytest.mark.parametrize(
    "when", ["os.fsync", "ailb_gen.report.html.verdict_page.verdict_html"], ids=["written", "made"]
)
def test_ctrl_c_while_a_page_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, when: str) -> None:
    """One line, and the page that was there stays, with nothing beside it."""

    def interrupt(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)

    page = tmp_path / "page.html"
    page.write_text("the one before")
    monkeypatch.setattr(when, interrupt)
    lab = (str(ROOT / "examples/lab/fabric.yaml"), str(ROOT / "tests/golden/lab"))
    done = run("validate", *lab, "--checks", "roce", "--report", f"html={page}")
    assert (done.code, done.out, done.err) == (130, "", "ailb-gen: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert page.read_text() == "the one before"
