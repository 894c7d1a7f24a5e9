"""Devices of a lab as users name them: run a program in one, find the link of a port."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ailb_gen.errors import UsageError
from ailb_gen.lab.namespaces import environment, exit_code, inside, see_files
from ailb_gen.lab.plan import LabPlan, unit_link
from ailb_gen.lab.registry import Lab
from ailb_gen.lab.servers.boot import command
from ailb_gen.wording import did_you_mean


def known_device(plan: LabPlan, name: str) -> str:
    """Return the name of a device of the lab. Raises UsageError for another."""
    if name not in plan.devices:
        hint = did_you_mean(name, plan.devices) or "see: ailb-gen lab status"
        raise UsageError(f"there is no device {name!r} in this lab; {hint}")
    return name


def link_of(plan: LabPlan, device: str, port: str) -> str:
    """Return the link of a port of a switch, such as `et-0/0/0` or `irb.2`, or of a NIC. Raises UsageError."""
    if known_device(plan, device) in plan.switches:
        switch = plan.switches[device]
        known = {name: one.link for name, one in switch.ports.items()}
        link = known.get(port) or unit_link(switch, port)
    else:
        known = {name: name for name in plan.servers[device].nics}
        link = known.get(port)
    if link is None:
        hint = did_you_mean(port, known) or f"it has {', '.join([*known][:8])}"
        raise UsageError(f"{device} has no port {port!r} with a cable; {hint}")
    return link


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
                os.execvpe(argv[0], argv, environment())  # noqa: S606 - the program that the user named
            except OSError as error:
                os.write(2, f"ailb-gen: {argv[0]}: {error.strerror}\n".encode())
                os._exit(127)
    return exit_code(os.waitpid(child, 0)[1])
