"""Kernels: read from text of ip(8) and from a namespace where everything is known, and again only after a change."""

from __future__ import annotations

import socket
from typing import Any
from unittest import mock

import pytest

from ailb_gen.addresses import address_value
from ailb_gen.errors import LabError
from ailb_gen.lab import kernel
from ailb_gen.lab.kernel import (
    BIRD,
    KernelAddress,
    KernelLink,
    KernelNextHop,
    KernelRule,
    Kernels,
    addresses,
    counters,
    links,
    read_routes,
    routes,
    rules,
)
from ailb_gen.lab.namespaces import add, batch, inside, write_sysctl
from tests.lab.isolated import isolated
from tests.lab.labs import carrier, until
from tests.routing.fabrics import prefix


def hop(link: str, gateway: str = "") -> KernelNextHop:
    return KernelNextHop(link, address_value(gateway) if gateway else None)


ONE, TWO = hop("u1", "fe80::1"), hop("u2", "fe80::2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fc00:1::/64 via fe80::1 dev u1 proto 12 metric 32 pref medium", {"fc00:1::/64": {ONE}}),
        ("default via fe80::1 dev u1 proto ra metric 1024 expires 1790sec pref medium", {"::/0": {ONE}}),
        ("fd6c:6162::1 dev lo proto 2 metric 256 pref medium", {"fd6c:6162::1/128": {hop("lo")}}),
        (
            "fc00::/64 proto 12 metric 32 pref medium\\\tnexthop via fe80::1 dev u1 weight 1 "
            "\\\tnexthop via fe80::2 dev u2 weight 1 ",
            {"fc00::/64": {ONE, TWO}},
        ),
        (
            "fc00::/64 proto 12 metric 32 pref medium\\\tnexthop via fe80::1 dev u1 weight 1 dead linkdown "
            "\\\tnexthop via fe80::2 dev u2 weight 1 linkdown ",
            {"fc00::/64": {TWO}},
        ),
        ("fc00::/64 via fe80::1 dev u1 proto 12 metric 32 dead linkdown pref medium", {"fc00::/64": set()}),
        ("unreachable fc00::/64 dev lo proto 12 metric 32 pref medium", {"fc00::/64": set()}),
        (
            "fe80::/64 dev u1 proto 2 metric 256\nfe80::/64 dev u2 proto 2 metric 256",
            {"fe80::/64": {hop("u1"), hop("u2")}},
        ),
        (
            "fc00::/64 dev irb.2 proto 2 metric 256\nfc00::/64 via fe80::1 dev u1 proto 12 metric 32",
            {"fc00::/64": {ONE}},
        ),
        (
            "fc00::/64 via fe80::1 dev u1 proto 12 metric 32\nfc00::/64 dev irb.2 proto 2 metric 256",
            {"fc00::/64": {ONE}},
        ),
        ("fc00::/64 nhid 7 via fe80::1 dev u1 proto 12 metric 32 pref medium", {"fc00::/64": {ONE}}),
        ("", {}),
    ],
)
def test_routes_as_text(text: str, expected: dict[str, set[KernelNextHop]]) -> None:
    assert read_routes(text) == {prefix(key): hops for key, hops in expected.items()}


def test_what_is_no_prefix() -> None:
    with pytest.raises(LabError, match="writes 'nonsense' instead of a prefix"):
        read_routes("nonsense dev u1 metric 1")


def measured() -> list[Any]:
    """Ask for everything that two connected devices have."""
    add(["one", "two"])
    for name in ("one", "two"):
        write_sysctl(name, {"net.ipv6.conf.default.accept_dad": 0, "net.ipv6.conf.all.forwarding": 1})
    near, far = "u1 address 02:00:00:01:00:01 netns one", "v1 address 02:00:00:02:00:01 netns two"
    batch([f"link add {near} type veth peer name {far}"])
    batch(["link set v1 up", "address add fd00::2/64 dev v1 nodad"], "two")
    lines = ["link set u1 mtu 9000 group 5 up", "address add fd00::1/64 dev u1 nodad"]
    lines += [
        "link add irb.2 address 02:01:00:01:00:02 type bridge",
        "route add fc00:1::/64 via fe80::2 dev u1 proto bird",
    ]
    lines += ["route add default via fd00::2 dev u1 table 10000", "route add unreachable fc00:2::/64 proto bird"]
    lines += ["rule add from fc00::/64 lookup 10000 priority 10000", "rule add dsfield 0x20 lookup 4791 priority 9"]
    batch(lines, "one", "-6")
    before = counters("one")["u1"]
    with inside("one"), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as there:
        there.sendto(bytes(100), ("fd00::2", 4791))
    after = counters("one")["u1"]
    return [
        links("one"),
        addresses("one"),
        routes("one", protocol=BIRD),
        routes("one", 10000),
        routes("one", 4791),
        rules("one"),
        (after.output_packets - before.output_packets, after.output_bytes - before.output_bytes),
    ]


def test_a_kernel() -> None:
    found = isolated(measured)

    assert found[0] == {
        "lo": KernelLink("lo", True, True, 65536, "00:00:00:00:00:00", 0),
        "u1": KernelLink("u1", True, True, 9000, "02:00:00:01:00:01", 5),
        "irb.2": KernelLink("irb.2", False, False, 1500, "02:01:00:01:00:02", 0),
    }
    values = {(one.link, one.value, one.length): one for one in found[1] if isinstance(one, KernelAddress)}
    assert values.keys() >= {("lo", 1, 128), ("u1", 0xFD00 << 112 | 1, 64)}
    assert not any(one.duplicate for one in values.values())
    assert found[2] == {prefix("fc00:1::/64"): {hop("u1", "fe80::2")}, prefix("fc00:2::/64"): set()}
    assert found[3] == {prefix("::/0"): {hop("u1", "fd00::2")}}
    assert found[4] == {}
    assert found[5] == (
        KernelRule(0, prefix("::/0"), 255),
        KernelRule(9, prefix("::/0"), 4791, ("tos 0x20",)),
        KernelRule(10000, prefix("fc00::/64"), 10000),
        KernelRule(32766, prefix("::/0"), 254),
    )
    packets, size = found[6]
    assert packets >= 1
    # Ethernet, IPv6 and UDP headers.
    assert size >= 100 + 14 + 40 + 8


LEAF = "leaf1"
ROUTE = f"route add fc00::/64 proto {kernel.BIRD} nexthop via fe80::1 dev u1 nexthop via fe80::2 dev u2"


def watched() -> list[tuple[int, list[str], bool, int]]:
    """What is seen after every change: prefixes, links of next hops, carrier of u1; and how often ip(8) was asked."""
    add([LEAF])
    # No addresses that come later, and their routes.
    write_sysctl(LEAF, {"net.ipv6.conf.default.addr_gen_mode": 1})
    for link in ("u1", "u2"):
        batch(
            [f"link add {link} type veth peer name far-{link}", f"link set {link} up", f"link set far-{link} up"], LEAF
        )
    until(lambda: len(carrier(LEAF)) == 5)
    seen, kernels = [], Kernels()
    asked = mock.Mock(wraps=kernel.routes)

    def look() -> None:
        # What is read right after a change is read once more.
        for _ in range(5):
            found, links_now = kernels.routes(LEAF), kernels.links(LEAF)
        hops = sorted(hop.link for row in found.values() for hop in row)
        seen.append((len(found), hops, links_now["u1"].carrier, asked.call_count))

    with mock.patch.object(kernel, "routes", asked):
        look()
        batch([ROUTE], LEAF, "-6")
        look()
        look()
        batch(["link set u1 down"], LEAF)
        look()
        # More than the socket holds.
        batch([f"route add fc01:{number:x}::/64 dev u2 proto {kernel.BIRD}" for number in range(3000)], LEAF, "-6")
        look()
    kernels.close()
    return seen


def test_a_kernel_is_read_again_only_after_a_change() -> None:
    found = isolated(watched)
    assert [row[:3] for row in found] == [
        (0, [], True),
        (1, ["u1", "u2"], True),
        (1, ["u1", "u2"], True),
        (1, ["u2"], False),
        (3001, ["u2"] * 3001, False),
    ]
    # The kernel tells of the other end of a link when it likes.
    assert [row[3] for row in found[:3]] == [1, 3, 3]


def without_device() -> str:
    with pytest.raises(LabError) as refused:
        Kernels().routes("nowhere")
    return str(refused.value)


def test_a_device_that_is_not_there() -> None:
    assert "there is no namespace of nowhere" in isolated(without_device)
