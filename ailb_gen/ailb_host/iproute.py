"""`ip` of iproute2: how the program asks and changes the kernel."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from .files import HostError

# Users who are not root often have no sbin on their PATH.
MORE_PLACES = ("/usr/sbin", "/sbin")


def quoted(word: str) -> str:
    """Quote a word for a shell and a terminal: what is not printable ASCII as the numbers of its bytes."""
    if word.isascii() and word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(f"\\x{byte:02x}" for byte in os.fsencode(word)) + "'"


def command_text(words: Sequence[str]) -> str:
    """Return a command of `ip` as users type it."""
    return " ".join(quoted(word) for word in ("ip", *words))


def query(*words: str) -> list[dict[str, Any]]:
    """Return the objects that `ip` prints in JSON; numbers stay numbers. Raises HostError."""
    # Names of interfaces are bytes, and control characters are among them.
    words = ("-N", "-j", *words)
    done = _run(words)
    try:
        if done.returncode == 0:
            # It prints empty objects for what it leaves out.
            return [row for row in json.loads(os.fsdecode(done.stdout) or "[]", strict=False) if row]
        reason = _error(done)
    except ValueError:
        reason = "it printed no JSON; install a newer iproute2"
    raise HostError(f"cannot read the kernel's state: {command_text(words)}: {reason}")


def change(words: Sequence[str]) -> str:
    """Run a command that changes the kernel; return why it failed, empty when it did not. Raises HostError."""
    done = _run(words)
    reason = _error(done) if done.returncode else ""
    if "Operation not permitted" in reason:
        raise HostError(f"{command_text(words)}: only root may do this; run it with sudo")
    return reason


def _run(words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    places = os.pathsep.join((os.environ.get("PATH") or os.defpath, *MORE_PLACES))
    program = shutil.which("ip", path=places)
    if program is None:
        raise HostError("there is no program ip; install iproute2")
    # The reason of a failure is read: it must be English.
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run([program, *words], capture_output=True, check=False, env=environment)


def _error(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode(errors="replace").splitlines()
    return lines[0] if lines else f"exit code {done.returncode}"
