"""Router advertisements: read from hostile bytes, heard over real links."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.addresses import Prefix
from ailb_gen.errors import LabError
from ailb_gen.lab import router_discovery
from ailb_gen.lab.advertisements import Advertisement, AnnouncedPrefix, capture, parse
from ailb_gen.lab.namespaces import batch, inside, write_sysctl
from ailb_gen.lab.plan import irb_mac, link_local
from ailb_gen.lab.router_discovery import RaListener
from tests.lab.isolated import isolated
from tests.lab.labs import until, wired_up, with_link_local

HEADER = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0xC0, 1800, 0, 0)
# A filter of ICMPv6: a bit that is set blocks the type (RFC 3542, 3.2).
ONLY_SOLICITATIONS = (~(1 << 133) & (1 << 256) - 1).to_bytes(32, "little")
FC00 = 0xFC00 << 112
SOURCE = bytes([1, 1, 2, 0, 0, 1, 0, 7])
MTU = struct.pack("!BBHI", 5, 1, 0, 9170)


def option(value: int, length: int = 64, flags: int = 0xC0, valid: int = 100, preferred: int = 50) -> bytes:
    return struct.pack("!BBBBIII", 3, 4, length, flags, valid, preferred, 0) + value.to_bytes(16, "big")


def test_an_advertisement() -> None:
    assert parse(HEADER + SOURCE + MTU + option(FC00 | 5, flags=0x80), "leaf1", "irb.2", 7, 1.5) == Advertisement(
        lifetime_s=1800,
        prefixes=(AnnouncedPrefix(Prefix(FC00, 64), True, False, 100, 50),),
        device="leaf1",
        link="irb.2",
        source=7,
        at=1.5,
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        HEADER[:-1],
        b"\x85" + HEADER[1:],
        HEADER[:1] + b"\x01" + HEADER[2:],
        HEADER + b"\x01",
        HEADER + bytes([1, 0, 0, 0, 0, 0, 0, 0]),
        HEADER + option(FC00)[:-1],
        HEADER + SOURCE + bytes([3, 255]) + bytes(6),
    ],
)
def test_what_is_no_advertisement(data: bytes) -> None:
    assert parse(data) is None


def test_options_that_are_none_of_ours() -> None:
    found = parse(HEADER + bytes([3, 1]) + bytes(6) + option(FC00, length=129) + bytes([200, 1]) + bytes(6))

    assert found is not None
    assert found.prefixes == ()


@given(st.binary(max_size=200), st.integers(0, 120))
def test_hostile_bytes(data: bytes, cut: int) -> None:
    for text in (data, HEADER + data, (HEADER + option(FC00) + SOURCE)[:cut] + data):
        found = parse(text)
        if found is not None:
            assert len(text) >= len(HEADER)
            assert all(prefix.prefix.length <= 128 for prefix in found.prefixes)


def send(device: str, link: str, lifetime: int, hop_limit: int = 255, to: str = "ff02::1") -> None:
    """Send an advertisement out of a link."""
    with inside(device), socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as there:
        there.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, hop_limit)
        data = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, lifetime, 0, 0)
        there.sendto(data, (to, 0, 0, socket.if_nametoindex(link)))


def listened() -> tuple[list[str], list[Advertisement]]:
    """Listen while routers come, withdraw, and fall silent; the first call fails."""
    _, made, _ = wired_up()
    first, second, third = (
        link_local(made.switches[leaf].ports["et-0/0/0"].mac)
        for leaf in ("stripe1-leaf1", "stripe1-leaf2", "stripe2-leaf1")
    )
    told: list[dict[str, int]] = []
    failed: list[str] = []

    def tell(device: str, routers: Mapping[str, int]) -> None:
        if not failed:
            failed.append(device)
            raise LabError("the daemon does not answer")
        assert device == "spine1", (device, routers)
        told.append(dict(routers))

    def learned(**routers: int) -> None:
        expected = {link.replace("_", "-"): address for link, address in routers.items()}
        until(lambda: told[-1:] == [expected])
        assert listener.routers("spine1") == expected

    with RaListener(made) as listener:
        # Heard before anybody is told; from too far away it is no router.
        send("stripe1-leaf1", "et-0-0-0", 30)
        send("stripe1-leaf1", "et-0-0-2", 30, hop_limit=254)
        listener.start(tell)
        learned(et_0_0_0=first)
        heard = list(listener.advertisements("spine1"))
        send("stripe1-leaf2", "et-0-0-0", 30)
        send("stripe2-leaf1", "et-0-0-0", 3)
        learned(et_0_0_0=first, et_0_0_1=second, et_0_0_2=third)
        # It says nothing more.
        learned(et_0_0_0=first, et_0_0_1=second)
        calls = len(told)
        send("stripe1-leaf1", "et-0-0-0", 60)
        until(lambda: 60 in {one.lifetime_s for one in listener.advertisements("spine1")})
        assert len(told) == calls
        send("stripe1-leaf1", "et-0-0-0", 0)
        learned(et_0_0_1=second)
        assert listener.routers("spine3") == {}
    return failed, heard


def test_routers_come_and_go() -> None:
    failed, heard = isolated(listened)

    assert failed == ["spine1"]
    assert [(one.device, one.link, one.lifetime_s) for one in heard] == [("spine1", "et-0-0-0", 30)]


def asked() -> tuple[bytes, float, list[Advertisement]]:
    """Capture at a NIC, answering its first solicitation."""
    wired_up()
    batch(["link set gpu0_eth up"], "gpu-s1-1")
    until(lambda: "gpu0_eth" in with_link_local("gpu-s1-1"))
    heard: list[bytes] = []
    with inside("stripe1-leaf1"):
        router = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        index = socket.if_nametoindex("irb.2")
        member = socket.inet_pton(socket.AF_INET6, "ff02::2") + struct.pack("@i", index)
        router.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, member)

    def answer() -> None:
        while not heard:
            data, _ = router.recvfrom(2000)
            if data[0] == 133:
                heard.append(data)
                send("stripe1-leaf1", "irb.2", 30)

    thread = threading.Thread(target=answer)
    thread.start()
    start = time.monotonic()
    found = capture([("gpu-s1-1", "gpu0_eth")], 20)
    thread.join()
    assert capture([("gpu-s1-2", "gpu0_eth")], 0.1) == ()
    return heard[0], time.monotonic() - start, list(found)


def test_capture_asks_and_ends_when_all_is_heard() -> None:
    data, seconds, found = isolated(asked)

    assert data[:2] == b"\x85\0"
    assert seconds < 20
    assert [(one.device, one.link, one.lifetime_s) for one in found] == [("gpu-s1-1", "gpu0_eth", 30)]
    assert found[0].source == link_local(irb_mac(5, 2))


def solicited() -> list[bytes]:
    """Give a link a new address, long before it would be asked again."""
    router_discovery.ASK_S = router_discovery.ASK_MOST_S = 3600.0
    _, made, _ = wired_up()
    with inside("spine1"):
        there = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    there.settimeout(20)
    there.setsockopt(socket.IPPROTO_ICMPV6, 1, ONLY_SOLICITATIONS)
    off = "net/ipv6/conf/et-0-0-0/disable_ipv6"
    with there, RaListener(made) as listener:
        listener.start(lambda device, routers: None)
        heard = [there.recv(100) for _ in range(4)]
        write_sysctl("stripe1-leaf1", {off: 1})
        write_sysctl("stripe1-leaf1", {off: 0})
        return [*heard, there.recv(100)]


def test_a_link_with_a_new_address_asks_for_routers() -> None:
    assert {data[0] for data in isolated(solicited)} == {133}
