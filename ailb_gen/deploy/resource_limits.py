"""A connection that cannot be held open by the other end: every read has a deadline, and what comes has a limit.

Paramiko's thread reads from it alone, looks for data ten times a second, and ends with the first error:
so everything that waits for it ends as well, wherever the other end has stopped: before SSH, during the login, or
in the middle of an answer.
"""

import ctypes
import errno
import os
import select
import shlex
import socket
import subprocess
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Condition, Event, Lock, Thread
from time import monotonic
from typing import Any

import paramiko

# What may come before SSH's first line, and until the login is over: key exchange and banners take 10 KiB.
GREETING_BYTES, LOGIN_BYTES = 32 << 10, 1 << 20
# A channel's window, and what may wait in memory until it is read, whatever the window says; how long to wait when that
# is full.
WINDOW_BYTES, UNREAD_BYTES, PAUSE_S = 256 << 10, 512 << 10, 0.02
SLICE_S = 0.2
# What is received at once: paramiko asks for the head of a packet, for its rest and for its signature one by one.
RECEIVED_BYTES = 32 << 10
# The longest packet: OpenSSH's are 256 KiB, those of RFC 4253 a seventh of that.
PACKET_BYTES = 512 << 10
TOO_LARGE = "it sends packets that are too large for SSH"
TOO_MUCH = "it sends too much before the login is complete"
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
        # What has come and paramiko has not asked for.
        self._ahead = b""

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
        if not self._ahead:
            self._ahead = self.connection.recv(max(size, RECEIVED_BYTES))
            if not self._trusted:
                self._count(self._ahead)
        data, self._ahead = self._ahead[:size], self._ahead[size:]
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


# What an answer may take before it counts, and what all that is more may take together, of all devices of a run.
FREE_BYTES, SHARED_BYTES = 1 << 20, 40 << 20
# What is kept of all devices together beyond what each of them may have, written one behind the other.
KEPT_BYTES = 2 << 20
# Seconds that a long answer waits for memory; that it may read on while others wait; between two looks.
PATIENCE_S, LEASE_S = 60.0, 5.0
# glibc keeps what a thread has freed in an arena for later: threads share a few, as they share the interpreter
# (mallopt(3)).
M_ARENA_MAX, ARENAS = -8, 2
# Devices are read in parallel, but threads do not compute in parallel, and would keep all trees in memory.
ONE_AT_A_TIME = Lock()
MEMORY_TAKEN = "the answers of all devices together take too much memory; use fewer at once (--jobs)"
TOO_SLOW = "it is long and slow, and other devices need the memory"


class TooMuchError(Exception):
    """There is no memory for an answer."""


def share_arenas() -> None:
    """Let all threads that are started from now on share a few arenas; other C libraries than glibc have none."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, ARENAS)


class Shared:
    """Memory that all devices of a run share; who wants more than there is waits a while for others to be done."""

    def __init__(self, size: int = SHARED_BYTES) -> None:
        self.left, self._changed = size, Condition()
        # Those that have some and whose answer is not whole yet, and since when.
        self._reading: dict[Share, float] = {}

    def take(self, share: "Share", size: int) -> None:
        """Take some. Raises TooMuchError when there is none, also later, or when the share has to give way."""
        until = monotonic() + PATIENCE_S
        with self._changed:
            while self.left < size:
                self._oust()
                if share.ousted or monotonic() >= until:
                    raise TooMuchError(TOO_SLOW if share.ousted else MEMORY_TAKEN)
                self._changed.wait(min(SLICE_S, PATIENCE_S))
            self.left -= size
            share.taken += size
            self._reading.setdefault(share, monotonic())

    def _oust(self) -> None:
        """End the connection of the one that has the most of those that have read for long enough; one at a time."""
        if any(share.ousted for share in self._reading):
            return
        slow = [share for share, since in self._reading.items() if monotonic() >= since + LEASE_S]
        if slow:
            most = max(slow, key=lambda share: share.taken)
            most.ousted = True
            most.oust()

    def whole(self, share: "Share") -> None:
        """Note that an answer is whole: nobody waits for its device any more."""
        with self._changed:
            self._reading.pop(share, None)

    def give(self, share: "Share", size: int) -> None:
        """Give back some of what a share has."""
        with self._changed:
            self._reading.pop(share, None)
            self.left += size
            share.taken -= size
            self._changed.notify_all()


SHARED = Shared()


class Kept:
    """Room for what a run keeps of all devices until its end: some for each of them, and some more for all together."""

    def __init__(self, more: int = KEPT_BYTES) -> None:
        self._more, self._lock = more, Lock()

    def take(self, size: int, own: int) -> None:
        """Take room for `size` bytes, of which `own` count for this device alone. Raises TooMuchError."""
        missing = max(0, size - own)
        with self._lock:
            if missing > self._more:
                raise TooMuchError(f"{size >> 10:,} KiB")
            self._more -= missing


class Share:
    """What one session has of the shared memory: nothing for answers of usual length.

    `oust` ends the connection, from any thread and without waiting; `ousted` is whether that was done; `held` are the
    bytes of earlier answers that are still needed.
    """

    def __init__(self, shared: Shared = SHARED, oust: Callable[[], None] = lambda: None) -> None:
        self.shared, self.oust = shared, oust
        self.taken, self.ousted, self.held = 0, False, 0

    def need(self, size: int) -> None:
        """Make sure that there is memory for `size` bytes. Raises TooMuchError."""
        missing = self.held + size - FREE_BYTES - self.taken
        if missing > 0:
            # In steps, as every call waits for a lock.
            self.shared.take(self, max(missing, FREE_BYTES))

    def whole(self) -> None:
        """Note that the answer is whole."""
        if self.taken:
            self.shared.whole(self)

    def done(self) -> None:
        """Give back what was taken for the last answer."""
        over = self.taken - max(0, self.held - FREE_BYTES)
        if over > 0:
            self.shared.give(self, over)

    def rest(self) -> None:
        """Give back everything."""
        self.held = 0
        self.done()
