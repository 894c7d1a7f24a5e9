"""One SSH channel of a device: a NETCONF session, a command line, or commands that end with their output."""

from __future__ import annotations

import asyncssh

from ailb_gen.emulator.host import Host
from ailb_gen.emulator.netconf import NetconfSession
from ailb_gen.emulator.terminal import Terminal

NETCONF_COMMANDS = frozenset({"netconf", "xml-mode netconf need-trailer"})


class Channel(asyncssh.SSHServerSession[bytes]):
    """A channel that a client opens in a connection."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._channel: asyncssh.SSHServerChannel[bytes] | None = None
        self._inner: NetconfSession | Terminal | None = None
        self._command: str | None = None
        self._size: tuple[int, int] | None = None

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        """Take the channel."""
        self._channel = chan

    def pty_requested(self, term_type: str, term_size: tuple[int, int, int, int], term_modes: object) -> bool:
        """Echo what is typed, and show a screen at a time."""
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
        """Hand on what arrives."""
        if self._inner is not None:
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
        """Close when the client does; a command line first does what was typed."""
        if isinstance(self._inner, Terminal):
            self._inner.eof()
            return True
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up."""
        if self._inner is not None:
            self._inner.end()
