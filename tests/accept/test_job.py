"""Jobs that run here: their output, and every way in which they end."""

from __future__ import annotations

import re
import shlex
import sys
from itertools import count
from pathlib import Path

import pytest

from ailb_gen.accept import job
from ailb_gen.accept.job import run_here
from ailb_gen.errors import DeployError, UsageError
from tests.accept.standin import OUTPUT


def python(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


def no_signal() -> int:
    return 0


def test_a_job() -> None:
    assert run_here(python(f"print({OUTPUT!r})"), no_signal).average == 42.33


@pytest.mark.parametrize(
    ("command", "error", "reason"),
    [
        ("", UsageError, "--command is empty"),
        ("'", UsageError, "No closing quotation"),
        ("/nowhere/job", UsageError, "/nowhere/job cannot be started: No such file or directory"),
        (python("import sys; print('no slots'); sys.exit(3)"), DeployError, "the job ended with 3: 'no slots'"),
        (python("import sys; sys.exit(3)"), DeployError, "the job ended with 3: 'it printed nothing'"),
        (python("print('hello')"), UsageError, "no table of nccl-tests; its last line: 'hello'"),
    ],
)
def test_jobs_that_fail(command: str, error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=re.escape(reason)):
        run_here(command, no_signal)


def test_a_signal_ends_a_job_with_all_that_it_started(tmp_path: Path) -> None:
    signals = count()
    script = f"(sleep 2; touch {tmp_path}/late) & sleep 60"
    with pytest.raises(DeployError, match="the job was interrupted"):
        run_here(shlex.join(["sh", "-c", script]), lambda: next(signals))
    assert not (tmp_path / "late").exists()


@pytest.mark.parametrize(
    ("limit", "value", "code", "reason"),
    [
        ("JOB_S", 0.2, "import time; time.sleep(60)", "took longer than 0 minutes"),
        ("MOST_BYTES", 1000, "while True: print('x' * 500)", "printed more than 0 MiB"),
    ],
)
def test_limits(monkeypatch: pytest.MonkeyPatch, limit: str, value: float, code: str, reason: str) -> None:
    monkeypatch.setattr(job, limit, value)
    with pytest.raises(DeployError, match=reason):
        run_here(python(code), no_signal)
