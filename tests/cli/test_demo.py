"""`make demo-deploy` and `make demo-lab`: the scripts that they run do what they say, from start to end."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, need_root, need_tool
from tests.ports import free_ports


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


@pytest.mark.long
def test_the_demo_of_a_lab(tmp_path: Path) -> None:
    need_root()
    for tool in ("bird", "ip", "nft"):
        need_tool(tool)
    done = subprocess.run(
        ["sh", str(ROOT / "examples/lab/demo-lab.sh"), str(tmp_path / "demo"), sys.executable],
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    parts = done.stdout.split("\n$ ")[1:]
    assert ["\nPASS: " in part for part in parts if part.startswith("ailb-gen lab check")] == [True, True]
    steady, failed = [part for part in parts if part.startswith("ailb-gen lab traffic")]
    assert re.search(r"^pinned +32 +32,000 +0 +0 +0 +1\.000$", steady, re.M)
    ecmp = re.search(r"^ECMP +32 +32,000 +0 +0 +0 +([0-9.]+)$", steady, re.M)
    # How uneven it is depends on the seed that a kernel draws for its hash once.
    assert ecmp is not None and float(ecmp[1]) > 1
    # It says that the lab ends, and how to start it again.
    assert parts[-1].startswith("ailb-gen lab down demo-lab")
    assert f"/ailb-gen lab up {tmp_path}/demo/fabric.yaml {tmp_path}/demo/generated --lab demo-lab" in parts[-1]
    # The failed uplink of one leaf carries nothing, and nothing is lost.
    assert re.search(r"^  et-0/0/0 +spine1 +0\.000", failed, re.M)
    assert re.search(r"^pinned +32 +32,000 +0 +0 ", failed, re.M)
    assert not list((tmp_path / "state/ailb-gen/labs").glob("*"))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
