"""The common part of NETCONF and the command line: a session on a channel that serves one request after another.

Injected faults act before a request, instead of it, and after it.
"""

from __future__ import annotations

import asyncio
import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import AnyStr, TypeVar

import asyncssh

from ailb_gen.emulator.config_database import disk_full
from ailb_gen.emulator.host import DeviceHost
from ailb_gen.emulator.messages import RpcError, RpcRefusedError
from ailb_gen.errors import LabError

Result = TypeVar("Result")


class DroppedError(Exception):
    """A fault ends the session without an answer."""


class ChannelSession(ABC):
    """One session of a device on one channel."""

    def __init__(self, host: DeviceHost, channel: asyncssh.SSHServerChannel[bytes], user: str, client: str) -> None:
        """Open the session."""
        self._host, self._channel = host, channel
        self._who = host.device.session(user, client)
        self._busy = self._ended = False
        self._stalls_s = 0.0
        host.sessions[self._who.number] = self

    def end(self) -> None:
        """Release the lock and discard the changes made under it; no more requests are answered."""
        if not self._ended:
            self._ended = True
            self._forget()
            self._host.sessions.pop(self._who.number, None)
            self._host.device.end(self._who)

    def close(self) -> None:
        """End the session and close its channel."""
        self.end()
        self._channel.close()

    @abstractmethod
    def _forget(self) -> None:
        """Drop the requests that have not been served."""

    @abstractmethod
    async def _serve(self) -> None:
        """Serve the waiting requests. Raises DroppedError when a fault ends the session."""

    def _wake(self) -> None:
        """Serve the waiting requests, unless they are being served."""
        if not self._busy and not self._ended:
            self._busy = True
            self._host.run(self._serve_all())

    async def _serve_all(self) -> None:
        try:
            await self._serve()
        except DroppedError:
            self._host.watch()
            self._abort()
        except BaseException:
            # A client must not wait for an answer that never comes.
            self._abort()
            raise
        finally:
            self._busy = False

    def _abort(self) -> None:
        self.end()
        # A channel that is closed has no connection any more.
        if not self._channel.is_closing():
            self._channel.get_connection().abort()

    async def _with_faults(self, phase: str, act: Callable[[], Result]) -> Result:
        """Carry out a request with the faults of its phase, unless the session has ended meanwhile.

        Raises DroppedError, and RpcRefusedError, also when the fabric of the device does not answer.
        """
        device = self._host.device
        faults = {fault.kind: fault for fault in device.faults.take(phase)}
        if "slow" in faults:
            await asyncio.sleep(faults["slow"].lasts_s)
        if "drop-before" in faults or self._ended:
            raise DroppedError
        if "locked" in faults:
            raise device.database.locked_by(device.other_operator())
        if "disk-full" in faults:
            raise disk_full(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        if "error" in faults:
            raise RpcRefusedError(RpcError(f"{phase} fails: an injected fault", type="application", daemon="mgd"))
        if "bad-package" in faults:
            device.software.refusing = True
        try:
            result = act()
        except LabError as error:
            raise RpcRefusedError(RpcError(str(error), type="application", daemon="rpd")) from error
        if "session-down" in faults:
            device.keep_session_down()
        if "reboot" in faults:
            self._host.reboot(faults["reboot"].lasts_s)
            raise DroppedError
        if "drop-after" in faults:
            raise DroppedError
        if "stall" in faults:
            self._stalls_s = faults["stall"].lasts_s
        return result

    async def _stalled(self, answer: AnyStr, write: Callable[[AnyStr], None]) -> AnyStr:
        """Return what is left to write of an answer: all, or its second half after a fault that stalls it."""
        if not self._stalls_s:
            return answer
        seconds, self._stalls_s = self._stalls_s, 0.0
        half = len(answer) // 2
        write(answer[:half])
        await asyncio.sleep(seconds)
        return answer[half:]
