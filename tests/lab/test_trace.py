"""Traceroutes: read from hostile bytes, and made over real kernels."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.lab.namespaces import batch
from ailb_gen.lab.trace import MARK, PAYLOAD, PORT, SOURCE_PORT, Probe, answer, arrive, named, trace
from tests.lab.isolated import isolated
from tests.lab.wired import ADDRESSES, LOOPBACKS, SWITCHES, build, value

IPV6 = struct.pack("!IHBB16s16s", 6 << 28, 17, 17, 1, bytes(16), bytes(16))
UDP = struct.pack("!HHHH", SOURCE_PORT, PORT, 17, 0)


def error(kind: int, code: int = 0, payload: bytes = PAYLOAD.pack(MARK, 7, 3)) -> bytes:
    return bytes([kind, code]) + bytes(6) + IPV6 + UDP + payload


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (error(3), (3, 7, 3, 0)),
        (error(1, 4), (3, 7, 1, 4)),
        (error(2), (3, 7, 2, 0)),
        (error(2)[:4] + struct.pack("!I", 1500) + error(2)[8:], (3, 7, 2, 1500)),
        (error(4), None),
        (error(129), None),
        (error(3, payload=PAYLOAD.pack(b"else", 7, 3)), None),
        (error(3)[:-1], None),
        (b"", None),
    ],
)
def test_answers(data: bytes, expected: tuple[int, int, int, int] | None) -> None:
    assert answer(data) == expected


@given(st.binary(max_size=200), st.integers(0, 64))
def test_hostile_answers(data: bytes, cut: int) -> None:
    assert answer(data) is None
    read = answer(error(3)[:cut] + data)
    assert read is None or read.kind == 3


def pairs() -> list[Probe]:
    one, two = (tuple(map(value, ADDRESSES[name])) for name in ("h1", "h2"))
    ways = [Probe("h1", source, target) for source in one for target in two]
    return ways + [Probe("h2", source, target) for source in two for target in one]


def traced() -> list[tuple[Probe, tuple[str, ...], str]]:
    build()
    owners = {value(address): name for name, address in LOOPBACKS.items()}
    owners |= {value(f"fc00:{n}:{k}::1"): f"leaf{n}" for n in (1, 2) for k in (1, 2)}
    owners |= {
        value(f"fd00:{n}:{k}::{end}"): node
        for n in (1, 2)
        for k in (1, 2)
        for end, node in ((1, f"leaf{n}"), (2, f"spine{k}"))
    }
    many = pairs() * 100
    found = [(one.probe, hops, one.end) for one, hops in named(trace(many), owners)]
    assert [probe for probe, _, _ in found] == many
    return found


def test_every_pair_takes_the_spine_of_its_prefix() -> None:
    for probe, hops, end in isolated(traced):
        color = next(k for k in (1, 2) if probe.target >> 80 & 0xFFFF == k)
        first, last = ("leaf1", "leaf2") if probe.server == "h1" else ("leaf2", "leaf1")
        assert (hops, end) == ((first, f"spine{color}", last), "")


def broken() -> list[tuple[tuple[str, ...], str]]:
    build()
    batch(["link set leaf2 down"], "spine1")
    batch(["route del fc00:2:2::/64"], "leaf1", "-6")
    source = value(ADDRESSES["h1"][0])
    answered = [Probe("h1", source, value(address)) for address in ADDRESSES["h2"]]
    silent = [Probe("h1", source, value("fc00:1:1::99")), Probe("h1", value("fc00:9::1"), source)]
    owners = {value(LOOPBACKS[name]): name for name in SWITCHES}
    owners |= {value("fc00:1:1::1"): "leaf1", value("fd00:1:1::2"): "spine1"}
    # After three seconds the kernel itself says that an absent neighbor is unreachable.
    found = [*trace(answered, timeout_s=1.0), *trace(silent, timeout_s=0.3)]
    return [(hops, one.end) for one, hops in named(found, owners)]


def test_where_packets_are_lost() -> None:
    cut, no_route, absent, stranger = isolated(broken)
    assert cut == (("leaf1", "spine1"), "no route")
    assert no_route == (("leaf1",), "no route")
    assert absent == ((), "no answer")
    assert stranger == ((), "no answer")


def large() -> list[list[tuple[tuple[str, ...], str]]]:
    build()
    owners = {value("fd00:1:1::2"): "spine1", value(LOOPBACKS["spine1"]): "spine1"}
    probes = [
        Probe("h1", value(near), value(far), size=1500)
        for near, far in zip(ADDRESSES["h1"], ADDRESSES["h2"], strict=True)
    ]
    seen = []
    for device, link, mtu in (("h1", "gpu0", 1500), ("spine1", "leaf2", 1400), ("spine2", "leaf1", 1495)):
        batch([f"link set {link} mtu {mtu}"], device)
        # A veth takes four bytes more than its MTU, for a VLAN. A smaller MTU that was heard of is not kept to.
        for _ in range(2):
            seen.append([(hops, one.end) for one, hops in named(arrive(probes, 1.0), owners)])
    return seen


def test_packets_of_a_size_arrive_whole_or_not_at_all() -> None:
    arrived = ((), "")
    told = (("spine1",), "the MTU of the next link is 1400 bytes")
    lost = ((), "no answer")
    once = [[arrived, arrived], [told, arrived], [told, lost]]
    assert isolated(large) == [row for row in once for _ in range(2)]
