"""Ports for emulators of tests that run side by side."""

from __future__ import annotations

import os
import random
import socket


def free_ports(count: int) -> int:
    """Return the first of so many ports in a row that nobody uses, below those of pages and those that clients get."""
    chance = random.Random(os.getpid())
    for _ in range(100):
        first = chance.randint(10000, 20000)
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise AssertionError("no free ports")
