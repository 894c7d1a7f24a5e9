"""Going into a device of a lab from the terminal: its network, and a server's files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ailb_gen.errors import UsageError
from ailb_gen.lab.namespaces import inside
from ailb_gen.lab.plan import Plan
from ailb_gen.lab.servers.boot import command
from ailb_gen.wording import did_you_mean


def known_device(plan: Plan, name: str) -> str:
    """Return the name of a device that there is. Raises UsageError for another."""
    if name not in plan.devices:
        raise UsageError(
            f"there is no device {name!r} in this lab; {did_you_mean(name, plan.devices) or 'see: ailb-gen lab status'}"
        )
    return name


def execute_in(plan: Plan, device: str, words: Sequence[str]) -> int:
    """Run a program in a device, with this process's terminal; return its exit code. Raises UsageError, LabError."""
    argv = command(device, words) if known_device(plan, device) in plan.servers else tuple(words)
    with inside(device):
        child = os.fork()
        if not child:
            try:
                os.execvp(argv[0], argv)  # noqa: S606 - what the user asked for
            except OSError as error:
                os.write(2, f"ailb-gen: {argv[0]}: {error.strerror}\n".encode())
                os._exit(127)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code
