"""Kernels that are read again only after a change, which nobody misses."""

from __future__ import annotations

from unittest import mock

import pytest

from ailb_gen.errors import LabError
from ailb_gen.lab import kernel
from ailb_gen.lab.namespaces import add, batch, write_sysctl
from ailb_gen.lab.watched import Kernels
from tests.lab.isolated import isolated
from tests.lab.labs import carrier, until

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
    routes = mock.Mock(wraps=kernel.routes)

    def look() -> None:
        # What is read right after a change is read once more.
        for _ in range(5):
            found, links = kernels.routes(LEAF), kernels.links(LEAF)
        hops = sorted(hop.link for row in found.values() for hop in row)
        seen.append((len(found), hops, links["u1"].carrier, routes.call_count))

    with mock.patch.object(kernel, "routes", routes):
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
