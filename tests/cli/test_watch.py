"""`ailb-gen watch`: what it prints, how it ends, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from urllib.request import urlopen

import pytest

from ailb_gen.cli.watch import listening, seconds
from ailb_gen.emulator.faults import Fault
from ailb_gen.errors import UsageError
from tests.cli.verbs import by_hand, refused
from tests.conftest import ROOT
from tests.deploy.fabric import CANARY, PASSWORD, SPINES, VARIABLE, Site, run

Cli = Callable[..., tuple[int, str, str]]
LINE = "protocols bgp group fabric-blue description"


@contextmanager
def started(*words: str, stdout: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    """Run the program in a process of its own; it is killed if it does not end by itself."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: PASSWORD}
    command = [sys.executable, "-m", "ailb_gen", *words]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=stdout, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--every", "0s"], "--every '0s': write a number and its unit, s, m or h, from 1s to 24h, such as 5m"),
        (["--every", "5"], "--every '5'"),
        (["--every", "25h"], "--every '25h'"),
        (["--every", "-1m"], "--every '-1m'"),
        (["--deadline", "x"], "--deadline 'x'"),
        (["--rounds", "0"], "Input should be greater than or equal to 1"),
        (["--listen", "host:99999"], "--listen 'host:99999': write a port, or ADDRESS:PORT"),
        (["--listen", "70000"], "--listen '70000'"),
        (["--limit", "nobody"], "no device is called that"),
        (["--jobs", "0"], "Input should be greater than or equal to 1"),
    ],
)
def test_options_that_cannot_be_used(pushed: Site, cli: Cli, words: list[str], message: str) -> None:
    refused(cli(*pushed.place("watch"), *words), message)


def test_files_that_cannot_be_used(cli: Cli) -> None:
    refused(cli("watch", "no/fabric.yaml", "out"), "no/fabric.yaml")


@pytest.mark.parametrize(("text", "value"), [("1s", 1), ("5m", 300), (" 24h ", 86_400)])
def test_times(text: str, value: int) -> None:
    assert seconds("--every", text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("9477", ("127.0.0.1", 9477)), ("[::1]:0", ("::1", 0)), ("0.0.0.0:80", ("0.0.0.0", 80))],
)
def test_addresses(text: str, value: tuple[str, int]) -> None:
    assert listening(text) == value


@pytest.mark.parametrize("text", ["", ":", "localhost:80", "::1:80", "1.2.3.4:", "999999"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError, match="write a port"):
        listening(text)


def test_nothing_to_tell(pushed: Site) -> None:
    done = run(*pushed.place("watch"), "--rounds", "2", "--every", "1s")
    assert (done.code, done.out) == (0, "")
    assert done.err == "round 1: 4 of 4 devices read in 0:00, 0 findings; the next one in 1s\n".replace(
        "0:00", done.err.split(" read in ")[1].split(",")[0]
    )


def test_what_was_changed_by_hand(pushed: Site) -> None:
    by_hand(pushed, CANARY, f"set {LINE} x\n")
    pushed.fleet.add_faults(SPINES[0], Fault("refuse-auth", "connect", count=0))
    done = run(*pushed.place("watch"), "--rounds", "1", "--color", "always")
    assert done.code == 1
    silent, came = sorted(done.out.splitlines(), key=lambda line: "finding came" in line)
    assert f"{CANARY} AILBD02 error: finding came: {LINE}: is not in the file" in came
    assert f"{SPINES[0]}: does not answer since " in silent
    assert "round 1: 3 of 4 devices read in " in done.err and ", 1 finding, 1 not answering\n" in done.err


def test_every_change_is_a_line_of_json(pushed: Site) -> None:
    by_hand(pushed, CANARY, f"set {LINE} x\n")
    done = run(*pushed.place("watch"), "--rounds", "2", "--every", "1s", "--json", "-q")
    assert (done.code, done.err) == (1, "")
    (line,) = done.out.splitlines()
    row = json.loads(line)
    assert time.strptime(row.pop("time"), "%Y-%m-%dT%H:%M:%SZ")
    assert row == {
        "version": 1,
        "round": 1,
        "change": "finding came",
        "device": CANARY,
        "check": "AILBD02",
        "severity": "error",
        "message": f"{LINE}: is not in the file",
        "since": None,
    }


def test_many_changes_are_counted(pushed: Site) -> None:
    by_hand(
        pushed, CANARY, "".join(f"set {LINE.replace('blue description', f'x{at} type external')}\n" for at in range(60))
    )
    done = run(*pushed.place("watch"), "--rounds", "1", "-q")
    lines = done.out.splitlines()
    assert (done.code, len(lines)) == (1, 51)
    assert lines[-1].endswith(" more changes; --json prints all")


def test_a_port_that_is_in_use(pushed: Site) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = run(*pushed.place("watch"), "--listen", str(port))
    assert (done.code, done.out) == (3, "")
    assert f"--listen 127.0.0.1:{port}: metrics cannot be served there: Address already in use" in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_middle_of_a_round(pushed: Site, number: signal.Signals) -> None:
    pushed.fleet.add_faults(SPINES[0], Fault("slow", "running", count=0, seconds=600))
    with started(*pushed.place("watch"), "--listen", "0", "--every", "1s") as process:
        assert process.stderr is not None and process.stdout is not None
        url = process.stderr.readline().removeprefix("metrics: ").strip()
        assert "ailb_watch" not in urlopen(url, timeout=10).read().decode()
        time.sleep(1)
        process.send_signal(number)
        assert process.wait(15) == 0
        assert process.stdout.read() == ""
        assert process.stderr.read().endswith("ailb-gen: stopping: connections are being closed\n")


def test_a_closed_pipe_ends_it(pushed: Site) -> None:
    by_hand(pushed, CANARY, f"set {LINE} x\n")
    reading, writing = os.pipe()
    os.close(reading)
    with started(*pushed.place("watch"), "--every", "1s", stdout=writing) as process:
        os.close(writing)
        assert process.stderr is not None
        # What is printed is written by a thread: the next round knows.
        by_hand(pushed, CANARY, f"set {LINE} y\n")
        assert process.wait(30) == 3
        assert "ailb-gen: standard output: Broken pipe; the watch has ended" in process.stderr.read()
