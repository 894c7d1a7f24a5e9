"""The SSH connections of a device: authentication, and the faults at login."""

from __future__ import annotations

import asyncio
import hmac

import asyncssh

from ailb_gen.emulator.channel import Channel
from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.host import Host


class Connection(asyncssh.SSHServer):
    """One SSH connection to a device."""

    def __init__(self, host: Host) -> None:
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
