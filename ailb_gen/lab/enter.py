"""Going into a device of a lab from the terminal: its network, and a server's files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ailb_gen.errors import UsageError
from ailb_gen.lab.namespaces import environment, inside, see_files
from ailb_gen.lab.plan import LabPlan
from ailb_gen.lab.registry import Lab
from ailb_gen.lab.servers.boot import command
from ailb_gen.wording import did_you_mean


def known_device(plan: LabPlan, name: str) -> str:
    """Return the name of a device that there is. Raises UsageError for another."""
    if name not in plan.devices:
        raise UsageError(
            f"there is no device {name!r} in this lab; {did_you_mean(name, plan.devices) or 'see: ailb-gen lab status'}"
        )
    return name


def execute_in(lab: Lab, plan: LabPlan, device: str, words: Sequence[str]) -> int:
    """Run a program in a device of a lab that was joined, with this process's terminal; return its exit code.

    From then on this process sees the files of the lab. Raises UsageError, LabError.
    """
    known_device(plan, device)
    see_files(lab.process)
    argv = command(device, words) if device in plan.servers else tuple(words)
    with inside(device):
        child = os.fork()
        if not child:
            try:
                os.execvpe(argv[0], argv, environment())  # noqa: S606 - what the user asked for
            except OSError as error:
                os.write(2, f"ailb-gen: {argv[0]}: {error.strerror}\n".encode())
                os._exit(127)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code
