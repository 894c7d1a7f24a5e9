"""The program: streams that are closed or full, signals, and what its start imports."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.verbs import program
from tests.conftest import EXAMPLES, ROOT, Cli
from tests.deploy.fabric import run
from tests.render.test_golden import GOLDEN, snapshot

JVD = str(EXAMPLES / "jvd" / "fabric.yaml")


@pytest.mark.parametrize("words", [("generate", JVD, "-o", "out"), ("explain", JVD, "spine1"), ("schema",)])
def test_a_full_standard_output_is_told(tmp_path: Path, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = program(*words, cwd=tmp_path, stdout=full)
    assert (done.returncode, done.stderr) == (3, "ailb-gen: standard output: No space left on device\n")


def test_a_reader_may_go_away(tmp_path: Path) -> None:
    """As `head` does: that is no error, and what was asked for is done."""
    reader, writer = os.pipe()
    os.close(reader)
    tree = str(GOLDEN / "jvd")
    for words in (
        ("schema",),
        ("rib", "spine1", "-C", tree),
        ("path", "h100-01", "h100-04", "-C", tree),
        ("generate", JVD, "-o", "out"),
    ):
        done = program(*words, cwd=tmp_path, stdout=writer)
        assert (done.returncode, done.stderr) == (0, ""), words
    os.close(writer)
    assert snapshot(tmp_path / "out") == snapshot(GOLDEN / "jvd")


def test_interrupt_leaves_with_130(tmp_path: Path) -> None:
    code = (
        "import ailb_gen.cli as c, ailb_gen.intent.load as l\n"
        "def stop(path): raise KeyboardInterrupt\n"
        f"l.load = stop\nimport sys; sys.argv = ['ailb-gen', 'explain', {JVD!r}, 'spine1']; c.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (130, "ailb-gen: interrupted\n")


def in_shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    command = f"{sys.executable} -m ailb_gen {line}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [f"generate {JVD} -o out", "schema", f"explain {JVD} spine1", "--help"])
def test_a_closed_standard_output_is_told(tmp_path: Path, words: str) -> None:
    done = in_shell(tmp_path, f"{words} >&-")
    assert (done.returncode, done.stderr) == (3, "ailb-gen: standard output: Bad file descriptor\n")


def test_closed_and_full_standard_error_keep_the_exit_code(tmp_path: Path) -> None:
    assert in_shell(tmp_path, f"generate {JVD} -o out 2>&-").returncode == 0
    assert in_shell(tmp_path, "generate missing.yaml -o q 2>/dev/full").returncode == 2
    assert (tmp_path / "out" / "manifest.json").is_file()


def test_help_imports_nothing_heavy() -> None:
    code = "import sys, ailb_gen.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    heavy = {"jinja2", "pydantic", "yaml", "netaddr", "rich", "concurrent.futures", "numba", "pyarrow", "numpy"}
    assert not heavy & set(done.stdout.split())


def test_help_and_version(cli: Cli) -> None:
    code, out, _ = cli("--help")
    assert code == 0
    for verb in ("init", "generate", "explain", "schema"):
        assert re.search(rf"^  {verb} ", out, re.M)
        assert cli(verb, "--help")[0] == 0
    assert cli("--version") == (0, "ailb-gen 0.1.0\n", "")


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
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def started(large: Path, *words: str) -> subprocess.Popen[str]:
    line = command("validate", "fabric.yaml", "out", *words)
    return subprocess.Popen(
        line,
        cwd=large,
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
def test_a_signal_ends_validate(large: Path, executor: str, number: signal.Signals, group: bool) -> None:
    process = started(large, "--executor", executor, "-j", str(WORKERS))
    try:
        wait_for(lambda: working(process, executor == "processes"))
        (os.killpg if group else os.kill)(process.pid, number)
        out, errors = process.communicate(timeout=100)
        assert process.returncode == 128 + number
        assert out == ""
        assert errors.startswith("ailb-gen: ") and errors.count("\n") == 1, errors
        wait_for(lambda: not list(members(process.pid)))
    finally:
        for pid, _ in members(process.pid):
            os.kill(pid, signal.SIGKILL)


def test_workers_do_not_outlive_a_verb_that_is_killed(large: Path) -> None:
    process = started(large, "-j", str(WORKERS))
    wait_for(lambda: working(process, many=True))
    os.kill(process.pid, signal.SIGKILL)
    # Workers have the pipes, too: there is an end of them only when no worker is left.
    process.communicate(timeout=100)
    wait_for(lambda: not list(members(process.pid)))


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
