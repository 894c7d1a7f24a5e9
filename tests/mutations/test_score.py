"""Every kind of damage is found by a check that names it. `python -m tests.mutations.score` shows more.

One class per example: pytest-xdist gives each to a worker of its own.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from ailb_gen.checks.catalogue import BY_ID
from tests.conftest import ROOT, need_shared
from tests.mutations.catalogue import KINDS
from tests.mutations.score import ALL, findings

YANG = "yang/24.4R1-EVO"


def score(example: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Print the score of an example; it must be high enough. A process of its own is not slowed by coverage."""
    need_shared(YANG)
    command = [sys.executable, "-m", "tests.mutations.score", "--example", example, "--jobs", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    with capfd.disabled():
        # Standard output of a worker process goes nowhere.
        sys.stderr.write(f"\n{example}: {done.stdout.splitlines()[-1] if done.stdout else done.stderr}\n")
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


class TestLab:
    def test_clean_tree_gives_no_finding(self) -> None:
        need_shared(YANG)
        assert findings("lab", {}, ALL) == ()

    @pytest.mark.long
    def test_score(self, capfd: pytest.CaptureFixture[str]) -> None:
        score("lab", capfd)


class TestJvd:
    def test_clean_tree_gives_no_finding(self) -> None:
        need_shared(YANG)
        assert findings("jvd", {}, ALL) == ()

    @pytest.mark.long
    def test_score(self, capfd: pytest.CaptureFixture[str]) -> None:
        score("jvd", capfd)


class TestBrownfield:
    @pytest.mark.long
    def test_score(self, capfd: pytest.CaptureFixture[str]) -> None:
        score("brownfield", capfd)


def test_named_checks_exist() -> None:
    assert {check for row in KINDS for check in row.named_by} <= set(BY_ID)
