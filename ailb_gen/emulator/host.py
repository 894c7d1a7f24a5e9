"""A device behind a port: its listener and open sessions, and its own acts: rollbacks and reboots.

All devices of a fleet run in one event loop.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Protocol

import asyncssh

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.messages import RpcRefusedError
from ailb_gen.errors import UsageError

KEY = "ssh-ed25519"
# Seconds after which a rollback that failed is tried again.
RETRY_S = 1.0


@dataclass(frozen=True, slots=True)
class FleetLogin:
    """The login of a fleet: `keys` are public keys; with an empty password only they are accepted."""

    user: str
    password: str = field(repr=False)
    keys: tuple[asyncssh.SSHKey, ...] = ()


class ClosableSession(Protocol):
    """A NETCONF session or a command line that another one can end."""

    def close(self) -> None:
        """End it at once."""


class SecondListener(Protocol):
    """What listens on another port of a device, and is away while the device is."""

    async def start(self) -> None:
        """Listen. Raises UsageError."""

    async def stop(self) -> None:
        """Close the port and everything that is open."""


class DeviceHost:
    """A device behind a port; `connect` makes the SSH server of each connection to it, `second` is its other port."""

    def __init__(
        self,
        device: EmulatedDevice,
        key: asyncssh.SSHKey,
        login: FleetLogin,
        address: str,
        port: int,
        connect: Callable[[DeviceHost], asyncssh.SSHServer],
        second: SecondListener | None = None,
    ) -> None:
        self.device, self.key, self.login = device, key, login
        self.address, self.port = address, port
        self.sessions: dict[int, ClosableSession] = {}
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self._listener: asyncssh.SSHAcceptor | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._second = second
        self._wrong_key = False
        self._options = asyncssh.SSHServerConnectionOptions(
            server_factory=lambda: connect(self),
            server_host_keys=[key],
            login_timeout=120,
            compression_algs=None,
            gss_host=None,
            encoding=None,
            line_editor=False,
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
        if self._second is not None:
            await self._second.start()
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
        if self._second is not None:
            await self._second.stop()
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.close()
        for connection in tuple(self.connections):
            connection.abort()
        if listener is not None:
            await listener.wait_closed()

    def watch(self) -> None:
        """Set the timer of a commit that waits for its confirmation."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pending = self.device.database.pending
        if pending is not None:
            delay = max(pending.deadline - self.device.now(), 0)
            self._timer = asyncio.get_running_loop().call_later(delay, self._expire)

    def _expire(self) -> None:
        try:
            self.device.database.expire()
        except RpcRefusedError:
            # The disk is full: the rollback is tried again until it is done.
            self._timer = asyncio.get_running_loop().call_later(RETRY_S, self._expire)
            raise
        self.watch()

    def reboot(self, away_s: float, soon_s: float = 0.0) -> None:
        """Drop every session, in `soon_s` seconds, and refuse the port for `away_s` seconds."""
        self.run(self._reboot(away_s, soon_s))

    async def _reboot(self, away_s: float, soon_s: float) -> None:
        if soon_s:
            await asyncio.sleep(soon_s)
        if self._timer is not None:
            self._timer.cancel()
        faults = {fault.kind: fault for fault in self.device.faults.take("restart")}
        self.device.power_off()
        await self._leave()
        if "no-return" in faults:
            return
        await asyncio.sleep(faults["slow"].lasts_s if "slow" in faults else away_s)
        if "old-release" in faults:
            self.device.software.following = self.device.software.running
        self.device.power_on()
        await self.start()

    def kill(self, number: int) -> bool:
        """End a session; return whether there was one."""
        found = self.sessions.get(number)
        if found is not None:
            found.close()
        return found is not None

    def run(self, work: Coroutine[object, object, None]) -> None:
        """Run a task that is canceled when the host stops."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            message = f"{self.device.name}: the emulator failed, or lost its port"
            task.get_loop().call_exception_handler({"message": message, "exception": task.exception()})

    def add_faults(self, *faults: Fault) -> None:
        """Switch faults on."""
        self.device.faults.add(*faults)
        self.present_key()

    def clear_faults(self) -> None:
        """Switch all faults off, and let a BGP session that one has kept down come up."""
        self.device.faults.clear()
        self.device.restore_session()
        self.present_key()

    def present_key(self) -> None:
        """Present the device's host key from the next connection on, or another one for a fault."""
        wrong = any(fault.kind == "wrong-host-key" for fault in self.device.faults.active())
        if wrong != self._wrong_key and self._listener is not None:
            key = asyncssh.generate_private_key(KEY) if wrong else self.key
            self._listener.update(server_host_keys=[key])
            self._wrong_key = wrong
