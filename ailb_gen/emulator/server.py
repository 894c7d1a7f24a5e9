"""The SSH server of a device: authentication, the faults at login, and the channels of a connection."""

from __future__ import annotations

import asyncio
import hmac

import asyncssh

from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.host import DeviceHost
from ailb_gen.emulator.netconf import NetconfSession
from ailb_gen.emulator.terminal import Terminal
from ailb_gen.emulator.uploads import upload_session

NETCONF_COMMANDS = frozenset({"netconf", "xml-mode netconf need-trailer"})


class SshConnection(asyncssh.SSHServer):
    """One SSH connection to a device."""

    def __init__(self, host: DeviceHost) -> None:
        self._host = host
        self._connection: asyncssh.SSHServerConnection | None = None
        self._faults: tuple[Fault, ...] = host.device.faults.take("connect")
        host.present_key()

    def _has(self, kind: str) -> Fault | None:
        return next((fault for fault in self._faults if fault.kind == kind), None)

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Take a connection, or drop it for a fault."""
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
        """Ask for a password or key, after the delay of a fault."""
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
        """Drop the connection for a fault."""
        if self._has("drop-after") and self._connection is not None:
            self._connection.abort()

    def session_requested(self) -> Channel:
        """Open a channel."""
        return Channel(self._host)


class Channel(asyncssh.SSHServerSession[bytes]):
    """A channel that a client opens in a connection: NETCONF, a command line, commands that end, or a copied file."""

    def __init__(self, host: DeviceHost) -> None:
        self._host = host
        self._channel: asyncssh.SSHServerChannel[bytes] | None = None
        self._inner: NetconfSession | Terminal | None = None
        self._upload: asyncssh.SSHServerSession[bytes] | None = None
        self._command: str | None = None
        self._size: tuple[int, int] | None = None

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        """Take the channel."""
        self._channel = chan

    def pty_requested(self, term_type: str, term_size: tuple[int, int, int, int], term_modes: object) -> bool:
        """Echo typed characters, and show a screen at a time."""
        self._size = term_size[:2]
        return True

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        """Show larger or smaller screens."""
        if isinstance(self._inner, Terminal):
            self._inner.resize(width, height)

    def subsystem_requested(self, subsystem: str) -> bool:
        """Open NETCONF, the only subsystem."""
        self._command = subsystem
        return subsystem == "netconf"

    def shell_requested(self) -> bool:
        """Open the command line."""
        return True

    def exec_requested(self, command: str) -> bool:
        """Open NETCONF as command, or run commands of the command line."""
        self._command = command.strip()
        return True

    def session_started(self) -> None:
        """Begin."""
        assert self._channel is not None  # noqa: S101 - asyncssh calls connection_made first
        words = (self._command or "").split()
        if words[:1] == ["scp"] and "-t" in words:
            self._upload = upload_session(self._host)
            self._upload.connection_made(self._channel)
            self._upload.session_started()
            return
        user = str(self._channel.get_extra_info("username"))
        if self._command in NETCONF_COMMANDS:
            self._inner = NetconfSession(self._host, self._channel, user)
            return
        terminal = Terminal(self._host, self._channel, user, self._size)
        self._inner = terminal
        if self._command is None:
            terminal.greet()
        else:
            terminal.run_all(self._command)

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Hand on received bytes."""
        if self._upload is not None:
            self._upload.data_received(data, datatype)
        elif self._inner is not None:
            self._inner.feed(data)

    def break_received(self, msec: int) -> bool:
        """Take a break as Ctrl-C."""
        return self._interrupt()

    def signal_received(self, signal: str) -> None:
        """Take an interrupt as Ctrl-C."""
        self._interrupt()

    def _interrupt(self) -> bool:
        if isinstance(self._inner, Terminal):
            self._inner.feed(b"\x03")
            return True
        return False

    def eof_received(self) -> bool:
        """Close when the client does; a command line first carries out the typed lines."""
        if self._upload is not None:
            return bool(self._upload.eof_received())
        if isinstance(self._inner, Terminal):
            self._inner.eof()
            return True
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up."""
        if self._upload is not None:
            self._upload.connection_lost(exc)
        if self._inner is not None:
            self._inner.end()
