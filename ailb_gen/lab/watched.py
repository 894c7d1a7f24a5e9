"""Links and routes of kernels, read again only after they have reported a change (rtnetlink(7)).

Whoever waits for them looks ten times a second, and a program that prints all routes takes milliseconds.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping

from ailb_gen.addresses import Prefix
from ailb_gen.errors import LabError
from ailb_gen.lab import kernel
from ailb_gen.lab.namespaces import inside

# RTMGRP_… of linux/rtnetlink.h.
LINKS, ADDRESSES, ROUTES = 0x1, 0x100, 0x400
LARGEST = 65535


def subscribe(name: str, groups: int) -> socket.socket:
    """Return a socket by which the kernel of a device reports changes. Raises LabError."""
    with inside(name):
        try:
            made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
            made.bind((0, groups))
        except OSError as error:
            raise LabError(f"{name}: no socket for changes in the kernel: {error.strerror}") from error
    return made


def drain(changes: socket.socket) -> bool:
    """Take everything from such a socket; returns whether there was something. Raises LabError."""
    found = False
    while True:
        try:
            changes.recv(LARGEST, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return found
        except OSError as error:
            # More than fits; that there were some is all that counts.
            if error.errno != errno.ENOBUFS:
                raise LabError(f"changes in the kernel cannot be received: {error.strerror}") from error
        found = True


class Kernels:
    """The links of devices, and the routes that BIRD gave them. Methods raise LabError.

    Threads may ask at once, but not about the same device.
    """

    def __init__(self) -> None:
        self._changes: dict[str, socket.socket] = {}
        self._changing: set[str] = set()
        self._links: dict[str, Mapping[str, kernel.KernelLink]] = {}
        self._routes: dict[str, Mapping[Prefix, frozenset[kernel.KernelNextHop]]] = {}

    def links(self, name: str) -> Mapping[str, kernel.KernelLink]:
        """Return the links of a device by name."""
        self._forget_changed(name)
        if name not in self._links:
            self._links[name] = kernel.links(name)
        return self._links[name]

    def routes(self, name: str) -> Mapping[Prefix, frozenset[kernel.KernelNextHop]]:
        """Return the next hops that a device uses for BIRD's prefixes, as `kernel.routes` does."""
        self._forget_changed(name)
        if name not in self._routes:
            self._routes[name] = kernel.routes(name, protocol=kernel.BIRD)
        return self._routes[name]

    def _forget_changed(self, name: str) -> None:
        if name not in self._changes:
            self._changes[name] = subscribe(name, LINKS | ROUTES)
            return
        changed = drain(self._changes[name])
        if changed or name in self._changing:
            self._links.pop(name, None)
            # The kernel does not use routes over a link without carrier, and reports the link alone.
            self._routes.pop(name, None)
        # It may report before it has done that: values read right after a change are read once more.
        (self._changing.add if changed else self._changing.discard)(name)

    def close(self) -> None:
        """Close the sockets."""
        for one in self._changes.values():
            one.close()
