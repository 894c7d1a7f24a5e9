"""IPv4 numbers for prefixes, addresses and cables: in order, exact, and never the same for two."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from ipaddress import IPv4Address, IPv4Network
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.addresses import BITS, Prefix, interface_value
from ailb_gen.batfish import numbering
from ailb_gen.batfish.numbering import Numbering, addresses_of, number
from ailb_gen.errors import UsageError
from ailb_gen.junos.reader import read
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.model import Address, FabricRoute, Port, Switch, Unit
from ailb_gen.network.switch import switch
from tests.checks.trees import GOLDEN, network_of

PLAIN = switch("leaf1", "switches/leaf1.conf", read("", "leaf1.conf"))


def address(text: str) -> Address:
    found = interface_value(text)
    assert found is not None
    return Address(*found)


def prefix(text: str) -> Prefix:
    return address(text).prefix


def port(*addresses: Address, name: str = "irb", disabled: bool = False) -> Port:
    unit = Unit(f"{name}.2", True, None, addresses, (), (), False, None, (), False)
    return Port(name, "", None, None, None, None, disabled, (unit,))


def leaf(*addresses: Address, name: str = "leaf1", routes: tuple[Prefix, ...] = ()) -> Switch:
    found = tuple(FabricRoute(route, None, None) for route in routes)
    return replace(PLAIN, named=name, ports={"irb": port(*addresses)}, routes=found)


def network(*switches: Switch, links: tuple[Cable, ...] = ()) -> Network:
    return Network({one.named: one for one in switches}, {}, {}, links, {}, ())


def numbered(*texts: str) -> Numbering:
    return number(network(leaf(*map(address, texts))))


def test_prefixes_keep_their_order_and_follow_each_other() -> None:
    found = numbered("fc00:2::1/64", "fc00:1:1:2::1/64", "fc00:1:1:1::1/64", "fc00:1::/48", "fc00:1:1:1:8::1/80")
    assert {str(wide): str(narrow) for wide, narrow in found.prefixes.items()} == {
        "fc00:1::/48": "10.0.0.0/24",
        "fc00:1:1:1::/64": "10.0.1.0/24",
        "fc00:1:1:1:8::/80": "10.0.2.0/24",
        "fc00:1:1:2::/64": "10.0.3.0/24",
        "fc00:2::/64": "10.0.4.0/24",
    }
    assert list(found.prefixes) == sorted(found.prefixes)


def test_single_addresses_have_numbers_of_their_own() -> None:
    found = numbered("fd00:ff::2/128", "fc00:1:1:1::1/64", "fd00:ff::1/128", "fd00:ff::/126")
    assert {str(wide): str(narrow) for wide, narrow in found.prefixes.items()} == {
        "fc00:1:1:1::/64": "10.0.0.0/24",
        "fd00:ff::/126": "10.0.1.0/24",
        "fd00:ff::1/128": "10.192.0.0/32",
        "fd00:ff::2/128": "10.192.0.1/32",
    }
    assert found.interface(address("fd00:ff::2/128")) == "10.192.0.1/32"
    assert found.interface(address("fd00:ff::/126")) == "10.0.1.1/24"


def test_equal_addresses_are_equal_and_different_ones_different() -> None:
    both = address("fc00:1:1:1::1/64"), address("fc00:1:1:1::9/64")
    other = leaf(address("fc00:1:1:1::5/64"), both[1], address("fc00:1:1:2::1/64"), name="leaf2")
    found = number(network(leaf(*both), other))
    assert [found.interface(one) for one in both] == ["10.0.0.1/24", "10.0.0.3/24"]
    assert [found.interface(one) for one in addresses_of(other)] == ["10.0.0.2/24", "10.0.0.3/24", "10.0.1.1/24"]


def test_interfaces_that_are_disabled_have_numbers_too() -> None:
    off = replace(PLAIN, ports={"lo0": port(address("fc00:1::1/64"), name="lo0", disabled=True)})
    assert number(network(off)).interface(address("fc00:1::1/64")) == "10.0.0.1/24"


def test_routes_whose_prefix_nobody_has_are_numbered_without_taking_an_address() -> None:
    routes = (prefix("fc00:1:1:2::/64"), prefix("fc00:1:1:1::/64"), prefix("fd00::1/128"))
    found = number(network(leaf(address("fc00:1:1:3::1/64"), address("fc00:1:1:1::1/64"), routes=routes)))
    assert {str(wide): str(narrow) for wide, narrow in found.prefixes.items()} == {
        "fc00:1:1:1::/64": "10.0.0.0/24",
        "fc00:1:1:2::/64": "10.0.1.0/24",
        "fc00:1:1:3::/64": "10.0.2.0/24",
        "fd00::1/128": "10.192.0.0/32",
    }
    assert {str(wide): place for (_, wide), place in found.places.items()} == {
        "fc00:1:1:1::/64": 1,
        "fc00:1:1:3::/64": 1,
    }


def test_an_empty_fabric_has_no_numbers() -> None:
    assert number(network()) == Numbering({}, {}, ())


CABLES = (
    Cable(End("leaf1", "et-0/0/0"), End("spine1", "et-0/0/0"), "green"),
    Cable(End("leaf1", "et-0/0/1"), End("spine2", "et-0/0/0"), "blue"),
    Cable(End("leaf2", "et-0/0/0"), End("spine1", "et-0/0/1"), "green"),
)


def test_every_cable_has_an_address_at_both_ends() -> None:
    found = number(network(links=CABLES))
    assert found.links == (
        (CABLES[0], IPv4Address("10.128.0.0"), IPv4Address("10.128.0.1")),
        (CABLES[1], IPv4Address("10.128.0.2"), IPv4Address("10.128.0.3")),
        (CABLES[2], IPv4Address("10.128.0.4"), IPv4Address("10.128.0.5")),
    )
    assert found.ends == {
        IPv4Address("10.128.0.0"): (CABLES[0].a, CABLES[0].b),
        IPv4Address("10.128.0.1"): (CABLES[0].b, CABLES[0].a),
        IPv4Address("10.128.0.2"): (CABLES[1].a, CABLES[1].b),
        IPv4Address("10.128.0.3"): (CABLES[1].b, CABLES[1].a),
        IPv4Address("10.128.0.4"): (CABLES[2].a, CABLES[2].b),
        IPv4Address("10.128.0.5"): (CABLES[2].b, CABLES[2].a),
    }


def test_the_pools_do_not_overlap() -> None:
    pools = (numbering.PREFIXES, numbering.LINKS, numbering.HOSTS)
    assert not any(one.overlaps(other) for one, other in pairwise(pools))
    assert not pools[0].overlaps(pools[2])
    assert all(one.subnet_of(IPv4Network("10.0.0.0/8")) for one in pools)


# Ranges


@cache
def of_many() -> Numbering:
    """Number 40 prefixes, so that ranges begin and end anywhere, and 10 single addresses."""
    wide = [Address((0xFC00 << 112) + (at << 64) + 1, Prefix((0xFC00 << 112) + (at << 64), 64)) for at in range(40)]
    single = [Address(value, Prefix(value, BITS)) for value in range(0xFD << 120, (0xFD << 120) + 10)]
    return number(network(leaf(*wide, *single)))


@given(st.sets(st.sampled_from(sorted(of_many().prefixes))))
def test_ranges_hold_exactly_the_networks_of_some_prefixes(chosen: set[Prefix]) -> None:
    known = of_many().prefixes
    ranges = of_many().ranges(sorted(chosen))
    for one, found in known.items():
        assert any(found.subnet_of(each) for each in ranges) is (one in chosen)
    # Nothing besides, nothing twice.
    assert sum(each.num_addresses for each in ranges) == sum(known[one].num_addresses for one in chosen)
    assert all(each.supernet() not in {other.supernet() for other in ranges if other != each} for each in ranges)


# Room


@pytest.mark.parametrize(
    ("pool", "addresses", "links", "message"),
    [
        (
            "PREFIXES",
            ("fc00:1::1/64", "fc00:2::1/64", "fc00:3::1/64"),
            (),
            "the IPv4 shadow has addresses for 2 prefixes, the files have 3",
        ),
        (
            "HOSTS",
            ("fc00::1/128", "fc00::2/128", "fc00::3/128"),
            (),
            "the IPv4 shadow has addresses for 2 single addresses, the files have 3",
        ),
        ("LINKS", (), CABLES, "the IPv4 shadow has addresses for 2 cables between switches, the files have 3"),
    ],
)
def test_pools_that_are_too_small(
    monkeypatch: pytest.MonkeyPatch, pool: str, addresses: tuple[str, ...], links: tuple[Cable, ...], message: str
) -> None:
    lengths = {"PREFIXES": 23, "HOSTS": 31, "LINKS": 30}
    monkeypatch.setattr(numbering, pool, IPv4Network((int(getattr(numbering, pool)[0]), lengths[pool])))
    fits = network(leaf(*map(address, addresses[:2])), links=links[:2])
    assert len(number(fits).prefixes) + len(number(fits).links) == 2
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        number(network(leaf(*map(address, addresses)), links=links))


def test_a_prefix_has_room_for_so_many_addresses() -> None:
    base = prefix("fc00:1::/64")
    most = [Address(base.value + at, base) for at in range(254)]
    found = number(network(leaf(*most)))
    assert [found.interface(most[0]), found.interface(most[-1])] == ["10.0.0.1/24", "10.0.0.254/24"]
    message = "the IPv4 shadow has 254 addresses in fc00:1::/64, the files have 255"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        number(network(leaf(*most, Address(base.value + 254, base))))


@pytest.mark.long
def test_512_leaves_with_64_colors_fit_and_no_prefix_more() -> None:
    many = [
        Address((0xFC00 << 112) + (at << 64) + 1, Prefix((0xFC00 << 112) + (at << 64), 64)) for at in range(512 * 64)
    ]
    spines = tuple(
        Cable(End(f"leaf{at % 512}", f"{at // 512}"), End(f"spine{at // 512}", f"{at % 512}")) for at in range(512 * 64)
    )
    found = number(network(leaf(*many), links=spines))
    assert str(found.interface(many[-1])) == "10.127.255.1/24"
    assert [str(one) for one in found.links[-1][1:]] == ["10.128.255.254", "10.128.255.255"]
    message = "the IPv4 shadow has addresses for 32,768 prefixes, the files have 32,769"
    with pytest.raises(UsageError, match=f"^{message}$"):
        number(network(leaf(*many, address("fd00::1/64"))))


@pytest.mark.parametrize("name", ["lab", "jvd"])
def test_the_numbers_of_an_example(name: str) -> None:
    fabric = network_of(GOLDEN / name)
    found = number(fabric)
    owned = [one for switch in fabric.switches.values() for one in addresses_of(switch)]
    assert sorted(found.prefixes) == sorted({one.prefix for one in owned})
    # Every leaf has the first, and only, address in each of its prefixes.
    assert {found.interface(one) for one in owned} == {
        f"{narrow.network_address + 1}/24" for narrow in found.prefixes.values()
    }
    assert [cable for cable, _, _ in found.links] == list(fabric.links)
    assert len(found.ends) == 2 * len(fabric.links)
