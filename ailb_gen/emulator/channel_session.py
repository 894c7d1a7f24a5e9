"""The common part of NETCONF and the command line: a session on a channel that serves one request after another."""

from __future__ import annotations

from abc import ABC, abstractmethod

import asyncssh

from ailb_gen.emulator.fault_effects import DroppedError
from ailb_gen.emulator.host import Host


class ChannelSession(ABC):
    """One session of a device on one channel."""

    def __init__(self, host: Host, channel: asyncssh.SSHServerChannel[bytes], user: str, client: str) -> None:
        """Open the session."""
        self._host, self._channel = host, channel
        self._who = host.device.session(user, client)
        self._busy = self._ended = False
        host.sessions[self._who.number] = self

    def end(self) -> None:
        """Release the lock and discard what was edited under it; no more requests are answered."""
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
        """Serve what waits. Raises DroppedError when a fault ends the session."""

    def _wake(self) -> None:
        """Serve what waits, unless that is going on."""
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
