"""A connection that cannot be held open by the other end: every read has a deadline, and what comes has a limit.

Paramiko's thread reads from it alone, looks for data ten times a second, and ends with the first error:
so everything that waits for it ends as well, wherever the other end has stopped: before SSH, during the login, or
in the middle of an answer.
"""

import errno
import os
import select
import shlex
import socket
import subprocess
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

import paramiko

# What may come before SSH's first line, and until the login is over: key exchange and banners take 10 KiB.
GREETING_BYTES, LOGIN_BYTES = 32 << 10, 1 << 20
# A channel's window, and what may wait in memory until it is read, whatever the window says; how long to wait when that
# is full.
WINDOW_BYTES, UNREAD_BYTES, PAUSE_S = 256 << 10, 512 << 10, 0.02
SLICE_S = 0.2
# The longest packet: OpenSSH's are 256 KiB, those of RFC 4253 a seventh of that.
PACKET_BYTES = 512 << 10
TOO_LARGE = "it sends packets that are too large for SSH"
TOO_MUCH = "it sends too much before the login is over"
LATE, STOPPED, OUSTED = "no answer in time", "stopped", "too slow for a long answer"
# A host that dies sends nothing: it is gone when nothing is acknowledged any more (tcp(7)).
DEAD_MS = 45_000


class BoundedSocket:
    """A socket for paramiko; `ended` is the reason why this side closed it, empty otherwise."""

    def __init__(self, connection: socket.socket, stop: Event, process: subprocess.Popen[bytes] | None = None) -> None:
        self.connection, self.stop, self.process = connection, stop, process
        self.until: float | None = None
        self.ended = ""
        # How much has come that nobody has taken yet: paramiko keeps all that comes, whatever its window says.
        self._unread: Callable[[], int] = int
        self._head: bytearray | None = bytearray()
        self._received, self._trusted = 0, False

    def limit(self, seconds: float | None) -> None:
        """Set the time until which the other end may take; None for ever."""
        self.until = None if seconds is None else time.monotonic() + seconds

    def trust(self) -> None:
        """Let as much come as will: the login is over, and answers have limits of their own."""
        self._trusted = True

    def watch(self, channel: paramiko.Channel) -> None:
        """Stop receiving while too much waits to be read of a channel."""
        self._unread = lambda: len(channel.in_buffer) + len(channel.in_stderr_buffer)

    def oust(self) -> None:
        """End the connection with the next read, from any thread and without waiting."""
        self.ended = self.ended or OUSTED

    def _check(self) -> None:
        if self.stop.is_set():
            self.ended = self.ended or STOPPED
        elif self.until is not None and time.monotonic() >= self.until:
            self.ended = self.ended or LATE
        if self.ended:
            raise OSError(errno.ECONNABORTED, self.ended)

    def recv(self, size: int) -> bytes:
        """Receive. Raises TimeoutError as a socket does, OSError when it has been enough."""
        self._check()
        if size > PACKET_BYTES:
            # Paramiko asks for the rest of a packet at once, and would keep two gigabytes.
            self.ended = TOO_MUCH if not self._trusted else TOO_LARGE
            raise OSError(errno.ECONNABORTED, self.ended)
        if self._unread() > UNREAD_BYTES:
            time.sleep(PAUSE_S)
            raise TimeoutError
        data = self.connection.recv(size)
        if not self._trusted:
            self._count(data)
        return data

    def _count(self, data: bytes) -> None:
        self._received += len(data)
        if self._head is not None:
            self._head += data
            if self._head.startswith(b"SSH-") or b"\nSSH-" in self._head:
                self._head = None
        if self._received > (LOGIN_BYTES if self._head is None else GREETING_BYTES):
            self.ended = TOO_MUCH
            raise OSError(errno.ECONNABORTED, self.ended)

    def send(self, data: bytes) -> int:
        """Send."""
        self._check()
        return self.connection.send(data)

    def settimeout(self, seconds: float | None) -> None:
        """Set how long one call may wait."""
        self.connection.settimeout(seconds)

    def getpeername(self) -> object:
        """Return the address of the other end."""
        return self.connection.getpeername()

    @property
    def _closed(self) -> bool:
        # Paramiko asks sockets by this name.
        return self.connection.fileno() < 0

    def close(self) -> None:
        """Close the connection, and end the command that stands for it."""
        self.connection.close()
        if self.process is not None:
            # Not waited for here: a command that does not end would hold everything up.
            process, self.process = self.process, None
            process.kill()
            Thread(target=process.wait, daemon=True).start()


def connect(hostname: str, port: int, proxy_command: str, seconds: float, stop: Event) -> BoundedSocket:
    """Open a connection, or start the command that stands for it. Raises OSError, TimeoutError after `seconds`."""
    until = time.monotonic() + seconds
    if proxy_command:
        return _through(proxy_command, stop)
    error: OSError = TimeoutError(LATE)
    for family, address in _addresses(hostname, port, until, stop):
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            _connect(connection, address, until, stop)
        except OSError as failure:
            connection.close()
            error = failure
            continue
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_MS)
        return BoundedSocket(connection, stop)
    raise error


def _addresses(hostname: str, port: int, until: float, stop: Event) -> list[tuple[int, tuple[str, int]]]:
    """Look a name up in a thread of its own: the resolver has deadlines of its own, and they are long."""
    found: SimpleQueue[list[Any] | OSError] = SimpleQueue()

    def look() -> None:
        try:
            found.put(socket.getaddrinfo(hostname, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.put(error if isinstance(error, OSError) else OSError(errno.EINVAL, "not a host name"))

    Thread(target=look, daemon=True).start()
    while not stop.is_set() and (left := until - time.monotonic()) > 0:
        try:
            rows = found.get(timeout=min(left, SLICE_S))
        except Empty:
            continue
        if isinstance(rows, OSError):
            raise rows
        return [(family, address) for family, _, _, _, address in rows]
    raise TimeoutError(LATE)


def _connect(connection: socket.socket, address: tuple[str, int], until: float, stop: Event) -> None:
    connection.setblocking(False)
    started = connection.connect_ex(address)
    poll = select.poll()
    poll.register(connection, select.POLLOUT)
    while started == errno.EINPROGRESS:
        left = until - time.monotonic()
        if left <= 0 or stop.is_set():
            raise TimeoutError(LATE)
        if poll.poll(1000 * min(left, SLICE_S)):
            started = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if started:
        raise OSError(started, os.strerror(started))


def _through(command: str, stop: Event) -> BoundedSocket:
    """Start a ProxyCommand, split into words and not run by a shell; its error output is discarded."""
    ours, theirs = socket.socketpair()
    with theirs:
        end = theirs.fileno()
        try:
            # In a session of its own: Ctrl-C at the terminal must not end the connections of a push.
            process = subprocess.Popen(
                shlex.split(command), stdin=end, stdout=end, stderr=subprocess.DEVNULL, start_new_session=True
            )
        except (OSError, ValueError) as error:
            ours.close()
            reason = getattr(error, "strerror", None) or "not a command"
            raise OSError(errno.ENOEXEC, f"the ProxyCommand cannot be run: {reason}") from error
    return BoundedSocket(ours, stop, process)
