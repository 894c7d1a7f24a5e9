"""Address arithmetic: the plan never overlaps, EUI-64 goes both ways, text is canonical."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netaddr import EUI

from ailb_gen.addresses import address_text, eui64
from ailb_gen.design.numbers import capacity, ipv4_text, network
from ailb_gen.intent.plans import Addressing
from ailb_gen.intent.scalars import Cidr
from tests.conftest import design_of

MACS = st.binary(min_size=6, max_size=6).map(lambda raw: ":".join(f"{octet:02x}" for octet in raw))


def mac_of(interface_id: int) -> str:
    """Return the MAC address whose modified EUI-64 is `interface_id`."""
    octets = interface_id.to_bytes(8, "big")
    return ":".join(f"{octet:02x}" for octet in (octets[0] ^ 2, *octets[1:3], *octets[5:]))


@given(MACS)
def test_every_eui64_round_trips(mac: str) -> None:
    assert mac_of(eui64(mac)) == mac


@given(MACS)
def test_eui64_is_what_netaddr_computes(mac: str) -> None:
    assert eui64(mac) == int(EUI(mac).modified_eui64())


@pytest.mark.parametrize(
    ("mac", "suffix"),
    [
        ("a0:88:c2:3b:50:66", "a288:c2ff:fe3b:5066"),
        # Erratum of Table 4: it prints another suffix for this one.
        ("58:a2:e1:46:c6:ca", "5aa2:e1ff:fe46:c6ca"),
        ("a0:88:c2:3b:50:6e", "a288:c2ff:fe3b:506e"),
    ],
)
def test_table_4_suffixes(mac: str, suffix: str) -> None:
    assert address_text((0xFC00 << 112) | (1 << 96) | (1 << 80) | (1 << 64) | eui64(mac)) == f"fc00:1:1:1:{suffix}"


@given(st.integers(0, 2**128 - 1))
def test_ipv6_text_is_the_address(value: int) -> None:
    assert int(ipaddress.IPv6Address(address_text(value))) == value


@given(st.integers(0, 2**32 - 1))
def test_ipv4_text_is_the_address(value: int) -> None:
    assert ipv4_text(value) == str(ipaddress.IPv4Address(value))


@st.composite
def plans(draw: st.DrawFn) -> Addressing:
    """Draw a plan: a pool, and three fields in any order in the bits that are left."""
    length = draw(st.integers(8, 60))
    cuts = sorted(draw(st.lists(st.integers(length + 1, 63), min_size=2, max_size=2, unique=True)))
    spans = draw(st.permutations([(length, cuts[0] - 1), (cuts[0], cuts[1] - 1), (cuts[1], 63)]))
    pool = draw(st.integers(0, 2**length - 1)) << (128 - length)
    return Addressing.model_construct(
        pool=Cidr(6, pool, length), stripe=spans[0], leaf=spans[1], uplink=spans[2], gateway=1
    )


@given(plans(), st.data())
def test_no_two_leaves_share_a_prefix(plan: Addressing, data: st.DataObject) -> None:
    def draw_number(bits: tuple[int, int]) -> int:
        return data.draw(st.integers(1, capacity(bits)))

    def draw_place() -> tuple[int, int, int]:
        return draw_number(plan.stripe), draw_number(plan.leaf), draw_number(plan.uplink)

    one, two = draw_place(), draw_place()
    value = network(plan, *one)
    assert (value == network(plan, *two)) == (one == two)
    assert value & (2**64 - 1) == 0, "a prefix is a /64"
    outside = 128 - plan.pool.length
    assert value >> outside == plan.pool.address >> outside, "it lies in the pool"


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 6), st.integers(1, 3), st.integers(0, 3))
def test_prefixes_of_a_whole_fabric_are_distinct(
    stripes: int, rails: int, spines: int, links: int, servers: int
) -> None:
    text = (
        f"name: f\nplatform: generic\nstripes: {stripes}\nrails: {rails}\nspines: {spines}\ncolors: {{backup: none}}\n"
    )
    design = design_of(text + f"links_per_spine: {links}\nservers: {servers}\nhost_ports: {{first_port: 100}}\n")
    prefixes = [prefix.network for leaf in design.leaves for prefix in leaf.prefixes]
    assert len(set(prefixes)) == len(prefixes) == stripes * rails * spines * links
    tables = [[t.id for nic in s.config.nics for t in nic.tables] for s in design.servers]
    assert all(len(set(ids)) == len(ids) == rails * spines * links for ids in tables)
