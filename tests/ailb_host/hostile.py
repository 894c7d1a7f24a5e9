"""A peer that answers echo requests in wrong ways; runs as a file in a namespace whose kernel does not answer.

Modes: `identity`, `source` (the second argument), `late` (after seconds in the second argument), `twice`, `flood` (of
replies nobody asked for, to whoever asked once).
"""

from __future__ import annotations

import heapq
import select
import socket
import struct
import sys
import time

REQUEST, REPLY = 128, 129
PKTINFO = struct.Struct("=16sI")


def main(mode: str, argument: str = "") -> None:
    """Answer until killed."""
    here = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    here.setsockopt(socket.IPPROTO_ICMPV6, 1, struct.pack("=8I", *([0xFFFFFFFF] * 4), 0xFFFFFFFE, *([0xFFFFFFFF] * 3)))
    here.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    waiting: list[tuple[float, bytes, bytes, str]] = []
    while True:
        until = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        if not select.select([here], [], [], until)[0]:
            _, reply, source, target = heapq.heappop(waiting)
            send(here, reply, source, target)
            continue
        data, options, _, sender = here.recvmsg(2048, 256)
        own = PKTINFO.unpack(options[0][2])[0]
        answer = bytes([REPLY]) + data[1:]
        if mode == "identity":
            send(here, answer[:12] + bytes(8) + answer[20:], own, sender[0])
        elif mode == "source":
            send(here, answer, socket.inet_pton(socket.AF_INET6, argument), sender[0])
        elif mode == "late":
            heapq.heappush(waiting, (time.monotonic() + float(argument), answer, own, sender[0]))
        elif mode == "twice":
            send(here, answer, own, sender[0])
            send(here, answer, own, sender[0])
        else:
            while True:
                send(here, answer[:8] + bytes(1000), own, sender[0])


def send(here: socket.socket, reply: bytes, source: bytes, target: str) -> None:
    """Send a packet from an address."""
    option = (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, PKTINFO.pack(source, 0))
    here.sendmsg([reply[:2] + bytes(2) + reply[4:]], [option], 0, (target, 0))


if __name__ == "__main__":
    main(*sys.argv[1:])
