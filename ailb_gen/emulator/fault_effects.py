"""The effects of injected faults on a request: before it, instead of it, and after it."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from typing import TypeVar

from ailb_gen.emulator.config_database import disk_full
from ailb_gen.emulator.host import Host
from ailb_gen.emulator.messages import RefusedError, RpcError
from ailb_gen.errors import LabError

Result = TypeVar("Result")


class DroppedError(Exception):
    """A fault ends the session without an answer."""


async def with_faults(host: Host, phase: str, open_still: Callable[[], bool], act: Callable[[], Result]) -> Result:
    """Carry out a request with the faults of its phase, unless the session has ended meanwhile.

    Raises DroppedError, and RefusedError, also when the fabric that the device is in cannot be asked.
    """
    device = host.device
    faults = {fault.kind: fault for fault in device.faults.take(phase)}
    if "slow" in faults:
        await asyncio.sleep(faults["slow"].lasts_s)
    if "drop-before" in faults or not open_still():
        raise DroppedError
    if "locked" in faults:
        raise device.database.locked_by(device.other_operator())
    if "disk-full" in faults:
        raise disk_full(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    if "error" in faults:
        raise RefusedError(RpcError(f"{phase} fails: an injected fault", type="application", daemon="mgd"))
    try:
        result = act()
    except LabError as error:
        raise RefusedError(RpcError(str(error), type="application", daemon="rpd")) from error
    if "session-down" in faults:
        device.keep_session_down()
    if "reboot" in faults:
        host.reboot(faults["reboot"].lasts_s)
        raise DroppedError
    if "drop-after" in faults:
        raise DroppedError
    return result
