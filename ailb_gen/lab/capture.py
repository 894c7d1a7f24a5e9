"""Capture the packets of a port of a lab, both directions, to a file as tcpdump and Wireshark read it.

The format is the classic one with times in nanoseconds (draft-ietf-opsawg-pcap, 4). Packets are as the kernel has them:
those that a device sends itself may not have their checksums yet.
"""

from __future__ import annotations

import errno
import select
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import inside, open_socket, widen

# Magic number of times in nanoseconds, version, time zone, accuracy, bytes kept of a packet, link type Ethernet.
FILE_HEADER = struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
RECORD = struct.Struct("=IIII")
MOST_BYTES = 65535
# From linux/if_ether.h, linux/socket.h, linux/if_packet.h and asm-generic/socket.h.
ALL_PROTOCOLS, PACKET_OPTIONS, MEMBERSHIP, STATISTICS = 0x0003, 263, 1, 6
PROMISCUOUS = 1
TIMES = 35
TIME = struct.Struct("=qq")
BUFFER_BYTES = 1 << 25
LOOK_S = 0.2


@dataclass(frozen=True, slots=True)
class Captured:
    """Numbers of packets written, and of packets lost because they came too fast."""

    packets: int
    dropped: int


def capture(
    device: str,
    link: str,
    file: BinaryIO,
    count: int = 0,
    seconds: float = 0.0,
    started: Callable[[], None] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Captured:
    """Write the packets of a link until there are `count`, `seconds` are over or `stopped` says so; 0 is no limit.

    `started` is called when no packet is missed any more. Ctrl-C ends it, too. Raises LabError.
    """
    until = time.monotonic() + seconds if seconds else None
    written = 0
    with _socket(device, link) as packets:
        file.write(FILE_HEADER)
        file.flush()
        started()
        with suppress(KeyboardInterrupt):
            while not stopped() and (until is None or time.monotonic() < until) and not (count and written >= count):
                left = LOOK_S if until is None else min(LOOK_S, max(0.0, until - time.monotonic()))
                if select.select([packets], [], [], left)[0]:
                    written += _write(packets, file, count - written if count else 0)
                    file.flush()
        _, dropped = struct.unpack("=II", packets.getsockopt(PACKET_OPTIONS, STATISTICS, 8))
    return Captured(written, dropped)


def _socket(device: str, link: str) -> socket.socket:
    made = open_socket(device, socket.AF_PACKET, socket.SOCK_RAW)
    try:
        widen(made, BUFFER_BYTES)
        made.setsockopt(socket.SOL_SOCKET, TIMES, 1)
        made.setblocking(False)
        # It hears nothing before it is bound, and then this link alone.
        made.bind((link, ALL_PROTOCOLS))
        with inside(device):
            index = socket.if_nametoindex(link)
        made.setsockopt(PACKET_OPTIONS, MEMBERSHIP, struct.pack("=iHH8s", index, PROMISCUOUS, 0, b""))
    except OSError as error:
        made.close()
        raise LabError(f"{device}: packets of {link} cannot be captured: {error.strerror}") from error
    return made


def _write(packets: socket.socket, file: BinaryIO, most: int) -> int:
    """Write the packets that are there, `most` of them at most; 0 is no limit. Returns how many."""
    written = 0
    while not most or written < most:
        try:
            data, extra, _, _ = packets.recvmsg(MOST_BYTES, 64)
        except BlockingIOError:
            break
        except OSError as error:
            # The socket reports once that the link is down; packets arrive again when it is up.
            if error.errno != errno.ENETDOWN:
                raise LabError(f"packets cannot be read: {error.strerror}") from error
            continue
        stamp = next((value for level, kind, value in extra if (level, kind) == (socket.SOL_SOCKET, TIMES)), b"")
        seconds, nanoseconds = TIME.unpack(stamp) if len(stamp) == TIME.size else divmod(time.time_ns(), 10**9)
        file.write(RECORD.pack(seconds & 0xFFFFFFFF, nanoseconds, len(data), len(data)))
        file.write(data)
        written += 1
    return written
