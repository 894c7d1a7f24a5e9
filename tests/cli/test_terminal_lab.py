"""What the verbs of a lab show on a terminal of 80 columns: one lab, from up to down; `make golden` renews it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.terminal import Case, Shown, once
from tests.cli.verbs import run
from tests.conftest import ROOT, need_root, need_tool

LINK = "stripe1-leaf1:et-0/0/2"
NIC = "gpu-s1-1:gpu0_eth"
# In this order.
CASES = (
    Case("lab-up", "lab up fabric.yaml out --inventory inventory"),
    Case("lab-status", "lab status"),
    Case("lab-exec", "lab exec stripe1-leaf1 -- sysctl net.ipv6.conf.all.forwarding"),
    Case("lab-exec-unknown", "lab exec stripe1-laef1 -- true", 2),
    # A shell that reads nothing ends at once, and says nothing.
    Case("lab-shell", "lab shell spine1"),
    Case("lab-capture", "lab capture spine1 et-0/0/0 -o packets.pcap --count 1"),
    Case("lab-traffic", "lab traffic --count 50 --rate 100"),
    Case("lab-check", "lab check fabric.yaml out --rounds 0"),
    Case("lab-check-fails", "lab check other.yaml out --rounds 0 --checks AILBL0*", 1),
    Case("lab-fail", f"lab fail {LINK}"),
    Case("lab-status-failed", "lab status"),
    Case("lab-repair", "lab repair"),
    Case("lab-repair-nothing", "lab repair"),
    Case("lab-fail-silent", f"lab fail {NIC} --silent --no-wait"),
    Case("lab-traffic-lost", "lab traffic --count 50 --rate 100"),
    Case("lab-down", "lab down"),
)


@pytest.mark.long
def test_what_the_verbs_of_a_lab_show(tmp_path: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    need_root()
    for tool in ("bird", "ip", "nft"):
        need_tool(tool)
    shutil.copytree(ROOT / "tests/golden/lab", tmp_path / "out", symlinks=True)
    text = (ROOT / "examples/lab/fabric.yaml").read_text()
    (tmp_path / "fabric.yaml").write_text(text)
    (tmp_path / "other.yaml").write_text(text.replace("65101-", "65111-"))
    try:
        for case in CASES:
            once(case.name, shown(case.words.split(), tmp_path, case.code, True))
    finally:
        monkeypatch.setitem(os.environ, "XDG_STATE_HOME", str(tmp_path / "state"))
        run("lab", "down")
