"""One SSH channel of a device: a NETCONF session with the faults that happen at each phase, or one show command.

Source: RFC 6242; Juniper's `xml-mode netconf need-trailer`.
"""

from __future__ import annotations

import asyncio
import errno
import os
from typing import TYPE_CHECKING

import asyncssh

from ailb_gen.emulator.framing import Decoder, FramingError, frame
from ailb_gen.emulator.messages import (
    BASE_1_1,
    OK,
    MessageError,
    RefusedError,
    Rpc,
    RpcError,
    hello,
    parse_hello,
    parse_rpc,
    reply,
)
from ailb_gen.emulator.rpc import answer, disk_full, phase_of, typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.emulator.server import Host
    from ailb_gen.emulator.store import Session

NETCONF_COMMANDS = frozenset({"netconf", "xml-mode netconf need-trailer"})


class DroppedError(Exception):
    """A fault ends the session without an answer."""


class NetconfSession(asyncssh.SSHServerSession[bytes]):
    """One channel: NETCONF, or one show command."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._channel: asyncssh.SSHServerChannel[bytes] | None = None
        self._who: Session | None = None
        self._decoder = Decoder()
        self._greeted = False
        self._command = ""
        self._waiting: list[Rpc] = []
        self._busy = False

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        """Take the channel."""
        self._channel = chan

    def subsystem_requested(self, subsystem: str) -> bool:
        """Open NETCONF, the only subsystem."""
        return subsystem == "netconf"

    def exec_requested(self, command: str) -> bool:
        """Open NETCONF as command, or answer a show command."""
        self._command = command.strip()
        return True

    def session_started(self) -> None:
        """Say hello, or answer."""
        assert self._channel is not None  # noqa: S101 - asyncssh calls connection_made first
        user = str(self._channel.get_extra_info("username"))
        if self._command and self._command not in NETCONF_COMMANDS:
            self._type(self._command)
            return
        self._who = self._host.device.session(user)
        self._host.netconf[self._who.number] = self
        self._channel.write(frame(hello(self._who.number), False))

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Take what arrives; requests are answered one after another."""
        try:
            self._decoder.feed(data)
            while (message := self._decoder.next()) is not None:
                self._take(message)
        except (FramingError, MessageError) as error:
            self._say_malformed(error)
            return
        if self._waiting and not self._busy:
            self._busy = True
            self._host.run(self._serve())

    def eof_received(self) -> bool:
        """Close when the client does."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up: the lock is released, what was edited under it is gone."""
        if self._who is not None:
            self._host.netconf.pop(self._who.number, None)
            self._host.device.store.end(self._who)
            self._who = None

    def close(self) -> None:
        """End the session as a device does that has no more to say."""
        if self._channel is not None:
            self._channel.close()

    def _type(self, command: str) -> None:
        assert self._channel is not None  # noqa: S101 - called when it is there
        try:
            self._channel.write(typed(self._host.device, command).encode())
            self._channel.exit(0)
        except RefusedError as error:
            self._channel.write_stderr(f"error: {error}\n".encode())
            self._channel.exit(1)

    def _take(self, message: bytes) -> None:
        if not self._greeted:
            self._decoder.chunked = BASE_1_1 in parse_hello(message)
            self._greeted = True
        elif message.strip():
            self._waiting.append(parse_rpc(message))

    def _say_malformed(self, error: Exception) -> None:
        """Tell what cannot be understood, and end the session: nothing behind it can be."""
        if self._channel is None or self._channel.is_closing():
            return
        refused = RefusedError(RpcError(str(error), "malformed-message", "rpc"))
        self._send((), refused.xml())
        self.close()

    def _send(self, attributes: Sequence[tuple[str, str]], body: str) -> None:
        if self._channel is not None and not self._channel.is_closing():
            release = self._host.device.version.partition("-")[0].rpartition(".")[0]
            self._channel.write(frame(reply(attributes, body, release), self._decoder.chunked))

    async def _serve(self) -> None:
        """Answer what waits."""
        try:
            while self._waiting and self._who is not None:
                rpc = self._waiting.pop(0)
                try:
                    body = await self._answer(rpc)
                except RefusedError as error:
                    body = error.xml()
                self._send(rpc.attributes, body)
                self._host.watch()
                if rpc.operation.tag == "close-session":
                    self.close()
        except DroppedError:
            self._host.watch()
            self._abort()
        except BaseException:
            # Better no answer than a client that waits for one.
            self._abort()
            raise
        finally:
            self._busy = False

    def _abort(self) -> None:
        if self._channel is not None:
            self._channel.get_connection().abort()

    async def _answer(self, rpc: Rpc) -> str:
        """Answer one request, with what goes wrong before and after. Raises RefusedError, DroppedError."""
        if rpc.operation.tag == "close-session":
            return OK
        if rpc.operation.tag == "kill-session":
            return self._kill(rpc)
        device = self._host.device
        phase = phase_of(device, rpc.operation)
        faults = {fault.kind: fault for fault in device.faults.take(phase)}
        if "slow" in faults:
            await asyncio.sleep(faults["slow"].lasts_s)
        if "drop-before" in faults or self._who is None:
            raise DroppedError
        if "locked" in faults:
            raise device.store.locked_by(device.somebody())
        if "disk-full" in faults:
            raise disk_full(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        if "error" in faults:
            raise RefusedError(RpcError(f"{phase} fails: the emulator was told to", type="application", daemon="mgd"))
        body = answer(device, self._who, rpc.operation)
        if "session-down" in faults:
            device.keep_session_down()
        if "reboot" in faults:
            self._host.reboot(faults["reboot"].lasts_s)
            raise DroppedError
        if "drop-after" in faults:
            raise DroppedError
        return body

    def _kill(self, rpc: Rpc) -> str:
        number = (rpc.operation.findtext("session-id") or "").strip()
        other = self._host.netconf.get(int(number)) if number.isdecimal() else None
        if other is None or other is self:
            raise RefusedError(RpcError(f"session {number or 'without a number'} does not exist", "invalid-value"))
        other.close()
        return OK
