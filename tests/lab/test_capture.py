"""Captured packets: both directions, in a file that tcpdump reads."""

from __future__ import annotations

import re
import struct
import subprocess
import threading
from io import BytesIO
from pathlib import Path

import pytest

from ailb_gen.errors import LabError, UsageError
from ailb_gen.lab.capture import FILE_HEADER, RECORD, Captured, capture
from ailb_gen.lab.devices import link_of
from ailb_gen.lab.namespaces import batch, output
from ailb_gen.lab.plan import plan
from tests.checks.trees import GOLDEN, network_of
from tests.conftest import need_tool
from tests.lab.isolated import isolated
from tests.lab.wired import ADDRESSES, build


def pinged() -> tuple[Captured, bytes, str]:
    build()
    file, started, done = BytesIO(), threading.Event(), threading.Event()
    found: list[Captured] = []

    def work() -> None:
        found.append(capture("spine1", "leaf1", file, started=started.set, stopped=done.is_set))

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(30)
    batch(["link set leaf1 mtu 1600"], "spine1")
    near, far = ADDRESSES["h1"][0], ADDRESSES["h2"][0]
    output("h1", ("ping", "-6", "-q", "-c", "3", "-i", "0.2", "-s", "700", "-I", near, far))
    done.set()
    thread.join()
    Path("/run/captured.pcap").write_bytes(file.getvalue())
    read = output("", ("tcpdump", "-n", "-r", "/run/captured.pcap", "icmp6 and ip6[40] >= 128 and ip6[40] <= 129"))
    return found[0], file.getvalue(), read


def test_both_directions_are_captured() -> None:
    need_tool("tcpdump")
    found, data, read = isolated(pinged, tools=("ip", "ping"))

    # On a busy machine the next request may come before a reply.
    packets = re.findall(r"echo (request|reply), id \d+, seq (\d)", read)
    assert sorted(packets) == [(kind, number) for kind in ("reply", "request") for number in "123"]
    assert all(packets.index(("request", number)) < packets.index(("reply", number)) for number in "123")
    assert found.dropped == 0
    sizes = list(records(data))
    assert len(sizes) == found.packets
    # ICMPv6 and IPv6 headers, and Ethernet's.
    assert sizes.count(700 + 8 + 40 + 14) == 6


def records(data: bytes) -> list[int]:
    assert data.startswith(FILE_HEADER)
    at, sizes = len(FILE_HEADER), []
    while at < len(data):
        *_, kept, size = RECORD.unpack_from(data, at)
        assert kept == size
        sizes.append(size)
        at += RECORD.size + kept
    assert at == len(data)
    return sizes


def limited() -> tuple[int, str]:
    build()
    words = ["ip", "netns", "exec", "h1", "ping", "-6", "-q", "-i", "0.2", "fc00:1:1::1"]
    pings = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    few = capture("h1", "gpu0", BytesIO(), count=4).packets
    pings.kill()
    pings.wait()
    capture("h1", "gpu0", BytesIO(), seconds=0.1)
    with pytest.raises(LabError) as raised:
        capture("h1", "gpu9", BytesIO(), count=1)
    return few, str(raised.value)


def test_limits() -> None:
    refused = "h1: packets of gpu9 cannot be captured: No such device"
    assert isolated(limited, tools=("ip", "ping")) == (4, refused)


def test_ports() -> None:
    made = plan(network_of(GOLDEN / "lab"))
    assert link_of(made, "stripe1-leaf1", "et-0/0/16") == "et-0-0-16"
    assert link_of(made, "stripe1-leaf1", "irb.2") == "irb.2"
    assert link_of(made, "gpu-s1-1", "gpu1_eth") == "gpu1_eth"
    for device, port, text in (
        ("stripe1-leaf1", "et-0/0/61", "has no port 'et-0/0/61' with a cable; did you mean 'et-0/0/16'?"),
        ("gpu-s1-1", "eth0", "has no port 'eth0' with a cable; did you mean 'gpu0_eth'?"),
        ("spine9", "et-0/0/0", "there is no device 'spine9' in this lab; did you mean 'spine4'?"),
    ):
        with pytest.raises(UsageError) as raised:
            link_of(made, device, port)
        assert text.partition("did you mean")[0] in str(raised.value)


def test_the_header_says_ethernet_and_nanoseconds() -> None:
    magic, major, minor, _, _, kept, kind = struct.unpack("=IHHiIII", FILE_HEADER)
    assert (magic, major, minor, kept, kind) == (0xA1B23C4D, 2, 4, 65535, 1)
