"""One SSH connection to a server, and shell scripts that run there as root.

The host key is checked before a credential is sent. The password for sudo is sent when sudo asks for it, over the
standard input: never in a command line, and never to anything else.
"""

import select
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import paramiko
from paramiko.ssh_exception import SSHException

from ailb_gen.deploy.credentials import Credentials
from ailb_gen.deploy.login import KEEPALIVE_S, SshReach, log_in
from ailb_gen.deploy.resource_limits import SHARED_BYTES, TOO_SLOW, WINDOW_BYTES, BoundedSocket, Share, TooMuchError
from ailb_gen.deploy.switch_driver import DeviceError, Phase, RequestRefusedError, UnknownOutcomeError

# What may come, in bytes, before the shell is there: greetings, and what start-up files print.
BEFORE_READY = 64 << 10
PIECE = 1 << 16
# Bytes of an answer that is only a few lines.
SHORT_ANSWER = 256 << 10
# Bytes in memory for each of an answer: copies while it is read; what its JSON becomes is up to thirty times as long.
MEMORY = 16
READY, PROMPT = b"ailb-ready\n", b"ailb-sudo-password:"
START = f"sh -c 'echo {READY.decode().strip()}; exec sh -s'"


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """The output of a script, and its exit code."""

    code: int
    out: bytes
    err: str


class ServerConnection:
    """A server over one connection, on paramiko.

    After an UnknownOutcomeError the connection is of no use any more and is to be closed.
    """

    def __init__(self, reach: SshReach) -> None:
        self.reach = reach
        self._client: paramiko.SSHClient | None = None
        self._connection: BoundedSocket | None = None
        self.share = Share()

    @property
    def name(self) -> str:
        """The server's name in the inventory."""
        return self.reach.name

    def open(self) -> None:
        """Connect and log in. Raises DeviceError."""
        self._client, self._connection = log_in(self.reach)
        self._connection.limit(None)
        self.share.oust = self._connection.oust
        transport = self._client.get_transport()
        if transport is not None:
            transport.set_keepalive(KEEPALIVE_S)

    def close(self) -> None:
        """End the connection."""
        self.share.rest()
        client, self._client = self._client, None
        if client is not None and self._connection is not None:
            client.close()
            self._connection.close()

    def rest(self) -> None:
        """Let go of the memory of the last answer."""
        self.share.rest()

    def run(self, script: str, phase: Phase, timeout_s: float, most: int = SHORT_ANSWER) -> ScriptAnswer:
        """Run a shell script as root. Raises DeviceError, before the script or without knowing what it did."""
        transport = self._client.get_transport() if self._client is not None else None
        if transport is None or self._connection is None:
            raise DeviceError(self.name, phase, "there is no session")
        # The last answer is let go.
        self.share.done()
        # Paramiko waits for some answers without end; the connection does not.
        self._connection.limit(timeout_s + self.reach.connect_s)
        try:
            channel = transport.open_session(WINDOW_BYTES, timeout=self.reach.connect_s)
        except (SSHException, OSError, EOFError) as error:
            hint = "its state is read again"
            raise UnknownOutcomeError(
                self.name, phase, f"the session was lost ({type(error).__name__})", hint
            ) from error
        self._connection.watch(channel)
        talk = _Talk(self.name, phase, channel, time.monotonic() + timeout_s, most, self.share)
        try:
            answer = talk.run(script, self.reach.credentials)
        except DeviceError:
            self.share.done()
            raise
        finally:
            # Of a connection that has ended, paramiko cannot close a channel.
            with suppress(SSHException, OSError, EOFError):
                channel.close()
        self.share.whole()
        self._connection.limit(None)
        return answer


class _Talk:
    """One command: its output so far, and its deadline."""

    def __init__(
        self, name: str, phase: Phase, channel: paramiko.Channel, until: float, most: int, share: Share
    ) -> None:
        self.name, self.phase, self.channel, self.until, self.most = name, phase, channel, until, most
        self.share = share
        self.out, self.err = bytearray(), bytearray()
        self.poll = select.poll()

    def run(self, script: str, login: Credentials) -> ScriptAnswer:
        try:
            self._start(login)
            self.channel.settimeout(self._left())
            self.channel.sendall(script.encode())
            self.channel.shutdown_write()
            self._listen(lambda: False, self.most)
            self.channel.status_event.wait(self._left())
            code = self.channel.exit_status if self.channel.status_event.is_set() else -1
        except (SSHException, OSError, EOFError) as error:
            raise self._unknown(f"the session was lost ({type(error).__name__})") from error
        if code < 0:
            raise self._unknown("the session was lost before the end of the answer")
        del self.out[: self.out.index(READY) + len(READY)]
        return ScriptAnswer(code, bytes(self.out), self.err.decode("utf-8", "replace"))

    def _start(self, login: Credentials) -> None:
        self.poll.register(self.channel.fileno(), select.POLLIN)
        root = login.user() == "root"
        sudo = f"sudo -S -p {PROMPT.decode()} --" if login.sudo_password else "sudo -n --"
        self.channel.exec_command(START if root else f"{sudo} {START}")
        self._listen(lambda: READY in self.out or PROMPT in self.err, BEFORE_READY)
        if PROMPT in self.err and login.sudo_password and READY not in self.out:
            self.channel.sendall(f"{login.sudo_password.reveal()}\n".encode())
            self._listen(lambda: READY in self.out or self.err.count(PROMPT) > 1, BEFORE_READY)
            if READY not in self.out and self.err.count(PROMPT) > 1:
                raise RequestRefusedError(self.name, Phase.CONNECT, "sudo rejects the password", "check sudo_password")
        if READY not in self.out:
            output = (
                " ".join(self.err.replace(PROMPT, b"").decode("utf-8", "replace").split())[:300] or "it exits at once"
            )
            hint = "log in as root, allow sudo without a password, or give sudo_password"
            raise RequestRefusedError(self.name, Phase.CONNECT, f"no root shell: {output}", hint)

    def _listen(self, enough: Callable[[], bool], most: int) -> None:
        """Collect output until it is enough, or the end; `most` bytes are kept."""
        channel = self.channel
        while True:
            if self.share.ousted:
                raise self._refused(TOO_SLOW)
            ended = channel.eof_received or channel.closed
            while channel.recv_ready() or channel.recv_stderr_ready():
                if channel.recv_ready():
                    self.out += channel.recv(PIECE)
                if channel.recv_stderr_ready():
                    self.err += channel.recv_stderr(PIECE)
                if len(self.out) + len(self.err) > most:
                    raise self._refused(f"its answer is longer than {most >> 10} KiB")
                self._take(MEMORY * (len(self.out) + len(self.err)))
                self._left()
            if ended or enough():
                return
            self.poll.poll(self._left() * 1000)

    def _left(self) -> float:
        """Return the seconds that are left. Raises UnknownOutcomeError when none are."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise self._unknown("no answer in time")
        return left

    def _take(self, size: int) -> None:
        """Make sure that there is memory for an answer. Raises DeviceError."""
        try:
            self.share.need(min(size, SHARED_BYTES))
        except TooMuchError as error:
            raise self._refused(str(error)) from error

    def _refused(self, reason: str) -> DeviceError:
        # Where something was to be done, it may have been done all the same.
        if self.phase in (Phase.READ, Phase.VERIFY):
            return RequestRefusedError(self.name, self.phase, reason)
        return self._unknown(reason)

    def _unknown(self, reason: str) -> UnknownOutcomeError:
        return UnknownOutcomeError(self.name, self.phase, reason, "its state is read again")
