"""Memory that the answers of all devices share."""

from __future__ import annotations

import socket
from threading import Event

import pytest

from ailb_gen.deploy import resource_limits
from ailb_gen.deploy.resource_limits import FREE_BYTES, BoundedSocket, Share, Shared, TooMuchError

MIB = 1 << 20


def test_what_is_held_counts_until_the_device_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource_limits, "PATIENCE_S", 0.0)
    shared = Shared(6 * MIB)
    one, other = Share(shared), Share(shared)
    one.need(FREE_BYTES + 4 * MIB)
    one.whole()
    one.held = FREE_BYTES + 3 * MIB
    # The next answer of the same device comes beside it.
    one.done()
    assert (one.taken, shared.left) == (3 * MIB, 3 * MIB)
    one.need(2 * MIB)
    with pytest.raises(TooMuchError):
        other.need(FREE_BYTES + 2 * MIB)
    one.rest()
    other.need(FREE_BYTES + 2 * MIB)
    other.rest()
    assert (one.taken, one.held, shared.left) == (0, 0, 6 * MIB)


def test_what_comes_at_once_is_received_at_once_and_given_as_it_is_asked_for() -> None:
    near, far = socket.socketpair()
    connection = BoundedSocket(near, Event())
    connection.settimeout(0.01)
    with far:
        far.sendall(b"SSH-2.0-x\r\n" + b"y" * 90)
        assert connection.recv(4) == b"SSH-"
        # Nothing is left with the kernel.
        with pytest.raises(TimeoutError):
            near.recv(1)
        assert connection.recv(7) + connection.recv(1000) == b"2.0-x\r\n" + b"y" * 90
        with pytest.raises(TimeoutError):
            connection.recv(1)
    assert connection.recv(1) == b""
    connection.close()


def test_what_was_received_ahead_is_not_given_once_it_has_been_enough() -> None:
    near, far = socket.socketpair()
    stop = Event()
    connection = BoundedSocket(near, stop)
    with far:
        far.sendall(b"SSH-2.0-x")
        assert connection.recv(1) == b"S"
        stop.set()
        with pytest.raises(OSError, match="stopped"):
            connection.recv(1)
    connection.close()
