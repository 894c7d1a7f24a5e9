"""Every kind of damage is found by a check that names it. `python -m tests.mutations.score` shows more.

One class per example: pytest-xdist gives each to a worker of its own.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from ailb_gen.checks.catalogue import BY_ID, CATALOGUE
from tests.conftest import ROOT, need_shared
from tests.mutations.catalogue import KINDS

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
    @pytest.mark.long
    def test_score(self, capfd: pytest.CaptureFixture[str]) -> None:
        score("lab", capfd)


class TestJvd:
    @pytest.mark.long
    def test_score(self, capfd: pytest.CaptureFixture[str]) -> None:
        score("jvd", capfd)


class TestBrownfield:
    @pytest.mark.long
    def test_score(self, capfd: pytest.CaptureFixture[str]) -> None:
        score("brownfield", capfd)


class TestMixed:
    def test_score(self, capfd: pytest.CaptureFixture[str]) -> None:
        score("mixed", capfd)


class TestStatic:
    def test_score(self, capfd: pytest.CaptureFixture[str]) -> None:
        score("static", capfd)


# What only follows from damage that other checks name, what is known of no file, and what needs other settings.
UNDAMAGED = {
    *("AILB310", "AILB402", "AILB403", "AILB404", "AILB405", "AILB409", "AILB707"),
    *(f"AILB50{number}" for number in range(1, 8)),
    *("AILB619", "AILB711", "AILB905", "AILB907", "AILB908"),
}


def test_every_check_has_a_kind_of_damage() -> None:
    named = {check for row in KINDS for check in row.named_by}
    assert named <= set(BY_ID)
    assert {check.id for check in CATALOGUE if check.run is not None} - named == UNDAMAGED
