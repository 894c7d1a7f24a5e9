"""What is reached from outside: listening sockets, and connections that are passed on."""

from __future__ import annotations

import socket
import threading
from contextlib import closing

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.lab.ports import forwarded, listeners


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as found:
        port: int = found.getsockname()[1]
        return port


def echo_once(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection:
        while piece := connection.recv(1000):
            connection.sendall(piece.upper())


def test_connections_are_passed_on() -> None:
    outside = listeners("127.0.0.1", 0, ["leaf1", "away"])
    with closing(socket.create_server(("127.0.0.1", 0))) as inside:
        answering = threading.Thread(target=echo_once, args=(inside,))
        answering.start()
        with forwarded(outside, {"leaf1": inside.getsockname()[1], "away": free_port()}):
            with socket.create_connection(outside["leaf1"].getsockname(), timeout=10) as client:
                client.sendall(b"hello")
                assert client.recv(100) == b"HELLO"
                client.shutdown(socket.SHUT_WR)
                assert client.recv(100) == b""
            with socket.create_connection(outside["away"].getsockname(), timeout=10) as client:
                assert client.recv(100) == b"", "a device that is away closes the connection"
        answering.join()


def test_consecutive_ports() -> None:
    for first in range(31000, 60000, 10):
        try:
            found = listeners("127.0.0.1", first, ["a", "b"])
        except UsageError:
            continue
        assert [one.getsockname()[1] for one in found.values()] == [first, first + 1]
        with pytest.raises(
            UsageError, match=rf"c: cannot listen on 127\.0\.0\.1 port {first}: .*; choose another --base"
        ):
            listeners("127.0.0.1", first, ["c"])
        for one in found.values():
            one.close()
        return
    raise AssertionError("no free ports")


def test_ports_that_there_are_not() -> None:
    with pytest.raises(UsageError, match="3 devices do not fit above port 65534; choose a lower --base-port"):
        listeners("127.0.0.1", 65534, ["a", "b", "c"])
