"""The last router advertisement of an interface (RFC 4861, section 6.2.5): a router's lifetime of 0.

Junos sends it when advertisements are no longer configured. BIRD 2.0 also sends a last one, with the usual lifetime.
"""

from __future__ import annotations

import socket
import struct

from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import inside

# Type, code, checksum, hop limit, flags, lifetime of the router, reachable time, retransmission timer.
ADVERTISEMENT = struct.pack("!BBHBBHII", 134, 0, 0, 0, 0, 0, 0, 0)
ALL_NODES = "ff02::1"
HOP_LIMIT = 255


def cease(name: str, link: str) -> None:
    """Send it from a link of a device; nothing where the link is down or without an address. Raises LabError."""
    with inside(name):
        try:
            sending = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        except OSError as error:
            raise LabError(f"{name}: no raw socket for router advertisements: {error.strerror}") from error
        with sending:
            sending.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, HOP_LIMIT)
            try:
                sending.sendto(ADVERTISEMENT, (ALL_NODES, 0, 0, socket.if_nametoindex(link)))
            except OSError:
                # The link is gone, and so is its receiver.
                return
