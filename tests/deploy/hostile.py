"""Servers on loopback that behave as no SSH server does, or as one in somebody else's hands."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread

import paramiko

Behave = Callable[[socket.socket, Event], None]
Talk = Callable[[paramiko.Channel, Event], None]
HOST_KEY = paramiko.ECDSAKey.generate()
# The end of a message of NETCONF.
END = "]]>]]>"
HELLO = (
    '<hello xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><capabilities><capability>'
    f"urn:ietf:params:netconf:base:1.0</capability></capabilities><session-id>7</session-id></hello>{END}"
)
REQUEST = re.compile(rb'message-id="([^"]*)"[^>]*>\s*<([A-Za-z0-9-]+)')


@contextmanager
def serving(behave: Behave, port: int = 0) -> Iterator[int]:
    """Let every connection to a port be treated like that; returns the port."""
    stop = Event()
    with socket.create_server(("127.0.0.1", port)) as listener:
        listener.settimeout(0.05)

        def treat(connection: socket.socket) -> None:
            with connection, suppress(OSError, EOFError, paramiko.SSHException):
                behave(connection, stop)

        def accept() -> None:
            while not stop.is_set():
                with suppress(TimeoutError):
                    connection, _ = listener.accept()
                    threads.append(Thread(target=treat, args=(connection,)))
                    threads[-1].start()

        threads = [Thread(target=accept)]
        threads[0].start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            stop.set()
            for thread in threads:
                thread.join(60)
            assert not any(thread.is_alive() for thread in threads)


def endless(text: bytes, first: bytes = b"") -> Behave:
    """Send without end."""

    def behave(connection: socket.socket, stop: Event) -> None:
        connection.sendall(first)
        connection.settimeout(0.2)
        while not stop.is_set():
            with suppress(TimeoutError):
                connection.send(text)

    return behave


def dripping(text: bytes, pause: float = 0.02) -> Behave:
    """Send a byte now and then."""

    def behave(connection: socket.socket, stop: Event) -> None:
        while True:
            for byte in text:
                connection.sendall(bytes([byte]))
                if stop.wait(pause):
                    return

    return behave


def silent(first: bytes = b"", seconds: float = 60) -> Behave:
    """Send something, and nothing any more; hang up after a time."""

    def behave(connection: socket.socket, stop: Event) -> None:
        connection.sendall(first)
        stop.wait(seconds)

    return behave


class Host(paramiko.ServerInterface):
    """An SSH server that hangs where it is told to: auth, channel, request; else it calls `talk` with the channel."""

    def __init__(self, stop: Event, hang: str, talk: Talk | None) -> None:
        self.stop, self.hang, self.talk = stop, hang, talk
        self.threads: list[Thread] = []

    def _wait(self, where: str) -> None:
        if self.hang == where:
            self.stop.wait(60)

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        self._wait("auth")
        return int(paramiko.common.AUTH_SUCCESSFUL)

    def check_channel_request(self, kind: str, chanid: int) -> int:
        self._wait("channel")
        return int(paramiko.common.OPEN_SUCCEEDED)

    def _request(self, channel: paramiko.Channel) -> bool:
        self._wait("request")
        if self.talk is not None:
            self.threads.append(Thread(target=self._talk, args=(channel,)))
            self.threads[-1].start()
        return True

    def _talk(self, channel: paramiko.Channel) -> None:
        assert self.talk is not None
        with suppress(OSError, EOFError):
            self.talk(channel, self.stop)

    def check_channel_subsystem_request(self, channel: paramiko.Channel, name: str) -> bool:
        return self._request(channel)

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        return self._request(channel)


def ssh(
    hang: str = "",
    talk: Talk | None = None,
    keys: Sequence[paramiko.PKey] = (HOST_KEY,),
    host: type[Host] = Host,
) -> Behave:
    """Serve SSH; every login is good."""

    def behave(connection: socket.socket, stop: Event) -> None:
        transport = paramiko.Transport(connection)
        for key in keys:
            transport.add_server_key(key)
        server = host(stop, hang, talk)
        transport.start_server(server=server)
        while transport.is_active() and not stop.wait(0.05):
            pass
        transport.close()
        for thread in server.threads:
            thread.join(60)

    return behave


def netconf(answer: Callable[[str], Iterable[bytes]], hello: bytes = HELLO.encode()) -> Behave:
    """Speak NETCONF: a hello, then the pieces of an answer for every kind of request, `%ID%` being its message-id."""

    def talk(channel: paramiko.Channel, stop: Event) -> None:
        channel.settimeout(0.2)
        channel.sendall(hello)
        requests = b""
        while not stop.is_set() and not channel.closed:
            with suppress(TimeoutError):
                data = channel.recv(1 << 16)
                if not data:
                    return
                requests += data
            while END.encode() in requests:
                request, _, requests = requests.partition(END.encode())
                found = REQUEST.search(request)
                if found is None:
                    continue
                for piece in answer(found[2].decode()):
                    if stop.is_set() or channel.closed:
                        return
                    send(channel, piece.replace(b"%ID%", found[1]), stop)

    return ssh(talk=talk)


def send(channel: paramiko.Channel, data: bytes, stop: Event) -> None:
    """Send as long as anybody takes it."""
    while data and not stop.is_set() and not channel.closed:
        with suppress(TimeoutError):
            data = data[channel.send(data) :]
