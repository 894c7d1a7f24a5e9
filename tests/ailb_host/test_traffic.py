"""`ailb-host traffic`: packets counted to the packet, one sender and one receiver at a time, nothing left behind."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from ailb_gen.ailb_host.traffic import HEADER, MARK, ROCE_PORT, SEND_ONLY, Arrivals
from ailb_gen.layout import HOST_PROGRAM
from tests.ailb_host.servers import oldest_python, run
from tests.lab.isolated import isolated

# A namespace of its own has the port for itself, and fewer programs.
FLOWS = {"flows": [{"flow": flow, "source": "::1", "port": 50000 + flow, "target": "::1"} for flow in (3, 8)]}


def packet(flow: int, sequence: int, mark: bytes = MARK) -> bytes:
    return HEADER.pack(SEND_ONLY, 0, 0xFFFF, 0x10, sequence, mark, flow, sequence)


@pytest.mark.parametrize(
    ("sequences", "expected"),
    [
        ((0, 1, 2), [3, 0, 0, 3]),
        ((0, 2, 1), [3, 1, 1, 3]),
        ((0, 5, 6), [3, 0, 4, 7]),
    ],
)
def test_arrivals(sequences: tuple[int, ...], expected: list[int]) -> None:
    arrivals = Arrivals()
    for sequence in sequences:
        assert arrivals.take(packet(7, sequence))
    assert arrivals.flows == {7: expected}


@pytest.mark.parametrize("data", [b"", b"x" * 23, b"x" * 9000, packet(7, 0, b"else")])
def test_packets_of_others(data: bytes) -> None:
    arrivals = Arrivals()
    assert not arrivals.take(data)
    assert arrivals.flows == {}


def sent(root: Path, *words: str, flows: object = FLOWS) -> subprocess.CompletedProcess[str]:
    command = [oldest_python(), "-I", str(root / HOST_PROGRAM), "--root", str(root), "traffic", "send", *words]
    return subprocess.run(command, input=json.dumps(flows), capture_output=True, text=True, check=False)


def whole(root: Path) -> dict[str, Any]:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    found: dict[str, Any] = {"nothing": run(root, "traffic", "stop").stdout}
    found["receive"] = run(root, "traffic", "receive", "--mark", "01020304").returncode
    again = run(root, "traffic", "receive")
    found["again"] = (again.returncode, again.stderr)
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as stranger:
        stranger.sendto(packet(3, 0), ("::1", ROCE_PORT))
    found["send"] = json.loads(sent(root, "--mark", "01020304", "--count", "300").stdout)
    found["stop"] = json.loads(run(root, "traffic", "stop").stdout)
    found["left"] = [str(path) for path in (root / "run").rglob("*")]
    return found


def test_every_packet_is_counted_and_nothing_is_left(tmp_path: Path) -> None:
    found = isolated(whole, tmp_path)
    assert json.loads(found["nothing"]) == {"format": 1, "received": {}}
    assert found["receive"] == 0
    assert found["again"] == (3, "ailb-host: traffic receive runs already; end it: ailb-host traffic stop\n")
    assert found["send"] == {"format": 1, "sent": {"3": 300, "8": 300}}
    assert found["stop"] == {"format": 1, "received": {"3": [300, 0, 0, 300], "8": [300, 0, 0, 300]}}
    assert found["left"] == []


def ended(root: Path) -> tuple[int, dict[str, int], float]:
    """Stop a sender that has minutes to go."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    run(root, "traffic", "stop")
    command = [oldest_python(), "-I", str(root / HOST_PROGRAM), "--root", str(root), "traffic", "send", "--rate", "1"]
    sender = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert sender.stdin is not None
    sender.stdin.write(json.dumps(FLOWS))
    sender.stdin.close()
    lock, until = root / "run/ailb-host/send", time.monotonic() + 20
    while not (lock.exists() and lock.read_text()) and time.monotonic() < until:
        time.sleep(0.01)
    run(root, "traffic", "stop")
    assert sender.stdout is not None
    printed = json.loads(sender.stdout.read())
    return sender.wait(), printed["sent"], time.monotonic()


def test_stop_ends_a_sender_in_order(tmp_path: Path) -> None:
    code, numbers, _ = isolated(ended, tmp_path)
    assert code == 0
    assert all(number < 1000 for number in numbers.values())


def killed(root: Path) -> dict[str, Any]:
    """Kill a receiver, let its number be another's, and stop; then the lock of a program that is not the sender's."""
    run(root, "traffic", "receive")
    folder = root / "run/ailb-host"
    until = time.monotonic() + 20
    while not (folder / "receive").read_text("ascii") and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(int((folder / "receive").read_text("ascii")), signal.SIGKILL)
    with subprocess.Popen(["sleep", "60"]) as other, (folder / "send").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(str(other.pid).encode())
        lock.flush()
        Timer(1, lambda: fcntl.flock(lock, fcntl.LOCK_UN)).start()
        done = run(root, "traffic", "stop")
        lives = other.poll() is None
        other.kill()
    left = [str(path) for path in (root / "run").rglob("*")]
    return {"code": done.returncode, "out": json.loads(done.stdout), "err": done.stderr, "lives": lives, "left": left}


def test_stop_after_a_kill_loses_the_counts_and_ends_no_other(tmp_path: Path) -> None:
    found = isolated(killed, tmp_path)
    assert (found["code"], found["out"]) == (1, {"format": 1, "received": None})
    assert found["err"].startswith("ailb-host: traffic receive ended without its counts: it was killed")
    assert found["lives"] and found["left"] == []


@pytest.mark.parametrize("data", [b"", b"\xff\0", b"1", b"0", b"-1", b"9" * 5000, "²".encode()])
def test_locks_that_nobody_holds(tmp_path: Path, data: bytes) -> None:
    folder = tmp_path / "run/ailb-host"
    folder.mkdir(parents=True)
    for name in ("send", "receive"):
        (folder / name).write_bytes(data)
    done = run(tmp_path, "traffic", "stop")
    assert done.returncode == (1 if data else 0) and done.stderr.count("\n") == done.returncode
    assert list((tmp_path / "run").iterdir()) == []


def test_run_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("", "utf-8")
    for words in (("traffic", "receive"), ("traffic", "stop")):
        done = run(tmp_path, *words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
        assert done.stderr.startswith(f"ailb-host: {tmp_path}/run/ailb-host") and "Not a directory" in done.stderr


@pytest.mark.parametrize(
    ("words", "flows", "code", "reason"),
    [
        ((), {"flows": []}, 3, "standard input: no flows"),
        ((), [1], 3, "standard input: no flows (TypeError"),
        (
            (),
            {"flows": [{**FLOWS["flows"][0], "port": 65536}]},
            3,
            "standard input: no flows (ValueError: flow 3 or port",
        ),
        (
            (),
            {"flows": [{**FLOWS["flows"][0], "flow": 1 << 32}]},
            3,
            "standard input: no flows (ValueError: flow 42949",
        ),
        ((), {"flows": [{**FLOWS["flows"][0], "flow": 1e999}]}, 3, "standard input: no flows (OverflowError"),
        ((), {"flows": [{**FLOWS["flows"][0], "target": "b"}]}, 3, "standard input: no flows (AddressValueError"),
        (("--size", "8"), FLOWS, 2, "argument --size"),
        (("--rate", "0"), FLOWS, 2, "argument --rate"),
        (("--mark", "0102"), FLOWS, 2, "argument --mark"),
        (
            (),
            {"flows": [{"flow": 1, "source": "fc00::9", "port": 50000, "target": "::1"}]},
            3,
            "cannot send from fc00::9 port 50000: Cannot assign requested address; does the NIC have its addresses?",
        ),
    ],
)
def test_wrong_input(tmp_path: Path, words: tuple[str, ...], flows: object, code: int, reason: str) -> None:
    run(tmp_path, "traffic", "stop")
    done = sent(tmp_path, *words, flows=flows)
    assert (done.returncode, reason in done.stderr) == (code, True), done.stderr
