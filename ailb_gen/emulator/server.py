"""The SSH side of a device: one listener, NETCONF sessions on it, and the faults that happen at each phase.

All devices of a fleet live in one event loop. Source: RFC 6242; Juniper's `xml-mode netconf need-trailer`.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import os
from dataclasses import dataclass, field
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
from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from ailb_gen.emulator.device import Device
    from ailb_gen.emulator.faults import Fault
    from ailb_gen.emulator.store import Session

NETCONF_COMMANDS = frozenset({"netconf", "xml-mode netconf need-trailer"})
KEY = "ssh-ed25519"


@dataclass(frozen=True, slots=True)
class Login:
    """Who may log in: `keys` are public keys; an empty password lets nobody in by password."""

    user: str
    password: str = field(repr=False)
    keys: tuple[asyncssh.SSHKey, ...] = ()


class DroppedError(Exception):
    """A fault ends the session without an answer."""


class Host:
    """A device behind a port."""

    def __init__(self, device: Device, key: asyncssh.SSHKey, login: Login, address: str, port: int) -> None:
        self.device, self.key, self.login = device, key, login
        self.address, self.port = address, port
        self.netconf: dict[int, NetconfSession] = {}
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self._listener: asyncssh.SSHAcceptor | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._wrong_key = False
        self._options = asyncssh.SSHServerConnectionOptions(
            server_factory=lambda: Door(self),
            server_host_keys=[key],
            login_timeout=120,
            compression_algs=None,
            gss_host=None,
            encoding=None,
            allow_scp=False,
            x11_forwarding=False,
            agent_forwarding=False,
            sftp_factory=None,
        )

    async def start(self) -> None:
        """Listen. Raises UsageError when the port is in use."""
        try:
            self._listener = await asyncssh.listen(
                self.address, self.port, options=self._options, reuse_address=True, backlog=100
            )
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES, errno.EADDRNOTAVAIL):
                raise
            reason = os.strerror(error.errno)
            raise UsageError(
                f"{self.device.name}: cannot listen on {self.address} port {self.port}: {reason}; "
                "choose another --base-port"
            ) from error
        self.port = self._listener.get_port()
        self._wrong_key = False
        self.present_key()
        self.watch()

    async def stop(self) -> None:
        """Close the listener and every session."""
        for task in tuple(self._tasks):
            task.cancel()
        if self._timer is not None:
            self._timer.cancel()
        await self._leave()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _leave(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.close()
        for connection in tuple(self.connections):
            connection.abort()
        if listener is not None:
            await listener.wait_closed()

    def watch(self) -> None:
        """Wake up when a commit is to be rolled back, if one waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pending = self.device.store.pending
        if pending is not None:
            delay = max(pending.deadline - self.device.now(), 0)
            self._timer = asyncio.get_running_loop().call_later(delay, self._expire)

    def _expire(self) -> None:
        try:
            self.device.store.expire()
        finally:
            self.watch()

    def reboot(self, away_s: float) -> None:
        """Drop every session and refuse the port for so many seconds."""
        self.run(self._reboot(away_s))

    async def _reboot(self, away_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.device.power_off()
        await self._leave()
        await asyncio.sleep(away_s)
        self.device.power_on()
        await self.start()

    def run(self, work: Coroutine[object, object, None]) -> None:
        """Run something that ends at the latest when the host stops."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def faults_changed(self, cleared: bool) -> None:
        """Do what cannot wait until a request comes."""
        if cleared:
            self.device.restore_session()
        self.present_key()

    def present_key(self) -> None:
        """Show the device's own key from the next connection on, or another one if a fault says so."""
        wrong = any(fault.kind == "wrong-host-key" for fault in self.device.faults.active())
        if wrong != self._wrong_key and self._listener is not None:
            key = asyncssh.generate_private_key(KEY) if wrong else self.key
            self._listener.update(server_host_keys=[key])
            self._wrong_key = wrong


class Door(asyncssh.SSHServer):
    """One SSH connection: who comes in."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._connection: asyncssh.SSHServerConnection | None = None
        self._faults: tuple[Fault, ...] = host.device.faults.take("connect")

    def _has(self, kind: str) -> Fault | None:
        return next((fault for fault in self._faults if fault.kind == kind), None)

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Take a connection, or what a fault makes of it."""
        self._connection = conn
        self._host.connections.add(conn)
        if self._has("drop-before"):
            conn.abort()
        reboot = self._has("reboot")
        if reboot is not None:
            self._host.reboot(reboot.lasts_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._connection is not None:
            self._host.connections.discard(self._connection)

    async def begin_auth(self, username: str) -> bool:
        """Ask for a password or key, slowly if a fault says so."""
        slow = self._has("slow")
        if slow is not None:
            await asyncio.sleep(slow.lasts_s)
        return True

    def password_auth_supported(self) -> bool:
        """Take passwords, if there is one."""
        return bool(self._host.login.password)

    def validate_password(self, username: str, password: str) -> bool:
        """Compare user and password."""
        right = hmac.compare_digest(password.encode(), self._host.login.password.encode())
        return right and username == self._host.login.user and self._has("refuse-auth") is None

    def public_key_auth_supported(self) -> bool:
        """Take keys, if there are any."""
        return bool(self._host.login.keys)

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Look for the key."""
        known = any(key.public_data == one.public_data for one in self._host.login.keys)
        return known and username == self._host.login.user and self._has("refuse-auth") is None

    def auth_completed(self) -> None:
        """Let a fault end what has just begun."""
        if self._has("drop-after") and self._connection is not None:
            self._connection.abort()

    def session_requested(self) -> NetconfSession:
        """Open a channel."""
        return NetconfSession(self._host)


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
            if self._channel is not None:
                self._channel.get_connection().abort()
        finally:
            self._busy = False

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
