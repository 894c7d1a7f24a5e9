"""`make demo-deploy`: the script that it runs does what it says, from emulating to repairing."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT


def free_ports(count: int) -> int:
    """Return the first of consecutive ports that nobody listens on now."""
    for port in range(30000, 60000, count):
        sockets = [socket.socket() for _ in range(count)]
        try:
            for number, one in enumerate(sockets):
                one.bind(("127.0.0.1", port + number))
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
        return port
    raise AssertionError("no free ports")


@pytest.mark.long
def test_the_demo(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", str(ROOT / "examples/lab/demo.sh"), str(tmp_path / "demo"), sys.executable],
        env={**os.environ, "PYTHONPATH": str(ROOT), "AILB_PORT": str(free_ports(8))},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    parts = done.stdout.split("\n$ ")[1:]
    drifts = [part for part in parts if part.startswith("ailb-gen drift")]
    broken, repaired = drifts
    assert "protocols bgp group fabric-green fabric-color green: is missing" in broken
    assert "interfaces et-0/0/1 disable: is not in the file" in broken
    assert "FAIL: 2 errors" in broken
    assert "PASS: no findings" in repaired
    verified = [part for part in parts if part.startswith("ailb-gen verify")]
    assert ["\nPASS: " in part for part in verified] == [True, False, True]
    # Nothing is left running.
    assert not [
        path
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if str(tmp_path / "demo").encode() in _read(path) and path.parent.name != str(os.getpid())
    ]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
