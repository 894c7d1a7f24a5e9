"""A job that runs repeatedly: on the first server over SSH, or as a command where this program runs."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from ailb_gen.accept.hosts import MOST_BYTES, run_on_host
from ailb_gen.accept.nccl_tests import NcclRun, parse_run
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.switch_driver import Phase
from ailb_gen.errors import DeployError, UsageError

# A job of the largest sizes on a large cluster takes minutes.
JOB_S = 3600.0
LOOK_S, GRACE_S = 0.1, 5.0
# The process group of a job on a server, by which it is ended.
GROUP = "/run/ailb-job"
_BUSY = f"a job of another acceptance runs here; wait for it, or end it: kill -- -$(cat {GROUP})"
_REFUSE = f'if [ -s {GROUP} ] && kill -s 0 -- -$(cat {GROUP}) 2>/dev/null; then echo "{_BUSY}" >&2; exit 75; fi'
# `setsid` makes the shell that waits for the job the leader of a group of its own.
START = f'{_REFUSE}; echo $$ >{GROUP}; "$@"; code=$?; rm -f {GROUP}; exit $code'
_KILL = f"kill -s TERM -- -$(cat {GROUP}); sleep 1; kill -s KILL -- -$(cat {GROUP})"
STOP = f"if [ -s {GROUP} ]; then {_KILL}; fi 2>/dev/null; rm -f {GROUP}"


def run_on_server(session: DeploySession, name: str, words: Sequence[str]) -> NcclRun:
    """Run a job on a server, and read its output. Raises DeployError, UsageError for output that is none."""

    def work(_: str, server: ServerConnection) -> str:
        return run_on_host(server, "setsid", "--wait", "sh", "-c", START, "sh", *words, timeout_s=JOB_S, codes=(0,))

    found = session.pool.run([name], work, Phase.READ)
    if session.pool.signals():
        session.pool.run([name], stop_on_server, Phase.READ)
    for error in found.bad.values():
        raise error
    return parse_run(found.good[name])


def stop_on_server(_: str, server: ServerConnection) -> None:
    """End the job that runs on a server, if one does. Raises DeviceError."""
    run_on_host(server, "sh", "-c", STOP, timeout_s=30.0)


def run_here(command: str, signals: Callable[[], int]) -> NcclRun:
    """Run a command here without a shell, and read its output; a signal ends it. Raises DeployError, UsageError."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--command {command[:80]!r}: {error}") from error
    if not words:
        raise UsageError("--command is empty; give the command that starts the job")
    before = signals()
    with tempfile.TemporaryFile() as output:
        try:
            # Ctrl-C in a terminal is for this program, which ends the job in order.
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        except OSError as error:
            raise UsageError(f"--command: {words[0]} cannot be started: {error.strerror}") from error
        reason = _wait(process, output.fileno(), lambda: signals() > before)
        output.seek(0)
        text = output.read(MOST_BYTES).decode("utf-8", "replace")
    if reason:
        raise DeployError(f"the job {reason}")
    if process.returncode:
        last = next((line for line in reversed(text.splitlines()) if line.strip()), "it printed nothing")
        raise DeployError(f"the job ended with {process.returncode}: {last[:200]!a}")
    return parse_run(text)


def _wait(process: subprocess.Popen[bytes], output: int, stopped: Callable[[], bool]) -> str:
    """Wait for a process; end it, with all that it started, when there is a reason, which is returned."""
    until, reason = time.monotonic() + JOB_S, ""
    try:
        while process.poll() is None and not reason:
            time.sleep(LOOK_S)
            if stopped():
                reason = "was interrupted"
            elif time.monotonic() > until:
                reason = f"took longer than {JOB_S / 60:.0f} minutes"
            elif os.fstat(output).st_size > MOST_BYTES:
                reason = f"printed more than {MOST_BYTES >> 20} MiB"
    finally:
        # Also what it leaves behind: the group has its number as long as one of it lives.
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, number)
                process.wait(GRACE_S)
    return reason
