"""Addresses of GPU ports that go wrong one by one on a host; hardware from a sysfs of ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ailb_gen.addresses import prefix_value
from ailb_gen.deploy.servers.addresses import (
    FLUSH,
    Advertised,
    NicHardware,
    addresses,
    read_hardware,
    read_interfaces,
    speeds,
)
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.servers.verify import ExpectedServer, observe
from tests.deploy.servers.sandbox import Host, run
from tests.deploy.servers.steps import sysfs

Told = Callable[..., list[str]]
NIC, PREFIX = "gpu0_eth", "fc00:1:1:2::/64"
OWN = "fc00:1:1:2:a288:c2ff:fe3b:1"
ADDRESS = f"h ip addr {{}} {OWN}/64 dev {NIC}"
SYSCTL = f"h sysctl -q net.ipv6.conf.{NIC}"
LOOK = "on the leaf: show ipv6 router-advertisement"
# What is done on the host (h) or beyond it (g), how it is undone, and what is told, as a pattern.
DAMAGES = {
    "IPv4": (
        [f"h ip addr add 10.9.0.1/24 dev {NIC}"],
        [f"h ip addr del 10.9.0.1/24 dev {NIC}"],
        rf"{NIC}: the IPv4 address 10.9.0.1/24 takes a GID; remove it: ip addr del 10.9.0.1/24 dev {NIC}",
    ),
    "temporary": (
        [
            f"{SYSCTL}.use_tempaddr=2",
            f"{ADDRESS.format('change')} mngtmpaddr valid_lft 9000 preferred_lft 8000",
            f"{SYSCTL}.use_tempaddr=0",
        ],
        [ADDRESS.format("del"), f"{ADDRESS.format('add')} nodad"],
        rf"{NIC}: the temporary address (fc00:1:1:2:\S+) \(use_tempaddr must be 0\) takes a GID; {FLUSH}",
    ),
    "stale": (
        [f"h ip addr add fc00:8::1/64 dev {NIC} nodad valid_lft 900 preferred_lft 0"],
        [f"h ip addr del fc00:8::1/64 dev {NIC}"],
        rf"{NIC}: fc00:8::1, which was advertised and is of no color, takes a GID; {FLUSH}",
    ),
    "foreign": (
        [f"h ip addr add fc00:8::1/64 dev {NIC} nodad"],
        [f"h ip addr del fc00:8::1/64 dev {NIC}"],
        rf"{NIC}: fc00:8::1, which is of no color, takes a GID; remove it: ip addr del fc00:8::1/64 dev {NIC}",
    ),
    "second": (
        [f"h ip addr add fc00:1:1:2::9/64 dev {NIC} nodad"],
        [f"h ip addr del fc00:1:1:2::9/64 dev {NIC}"],
        rf"{NIC}: fc00:1:1:2::9, a second address in {PREFIX}, takes a GID; "
        rf"remove it: ip addr del fc00:1:1:2::9/64 dev {NIC}",
    ),
    "not of the MAC": (
        [f"h ip addr add fc00:1:1:2::9/64 dev {NIC} nodad", ADDRESS.format("del")],
        [f"h ip addr del fc00:1:1:2::9/64 dev {NIC}", f"{ADDRESS.format('add')} nodad"],
        rf"{NIC}: fc00:1:1:2::9, not the {OWN} of its MAC \(addr_gen_mode must be 0\), takes a GID; "
        rf"remove it: ip addr del fc00:1:1:2::9/64 dev {NIC}",
    ),
    "color of another NIC": (
        ["h ip addr add fc00:1:1:2::9/64 dev gpu1_eth nodad"],
        ["h ip addr del fc00:1:1:2::9/64 dev gpu1_eth"],
        r"gpu1_eth: fc00:1:1:2::9, which is of no color, takes a GID; "
        r"remove it: ip addr del fc00:1:1:2::9/64 dev gpu1_eth",
    ),
    "on another interface": (
        ["h ip addr add fc00:1:1:2::9/128 dev mgmt0 nodad"],
        ["h ip addr del fc00:1:1:2::9/128 dev mgmt0"],
        rf"mgmt0: fc00:1:1:2::9 is in a prefix of {NIC}; remove it: ip addr del fc00:1:1:2::9/128 dev mgmt0",
    ),
    "tentative": (
        [f"{SYSCTL}.accept_dad=1", f"{SYSCTL}.dad_transmits=60", ADDRESS.format("del"), ADDRESS.format("add")],
        [
            f"{SYSCTL}.accept_dad=0",
            f"{SYSCTL}.dad_transmits=1",
            ADDRESS.format("del"),
            f"{ADDRESS.format('add')} nodad",
        ],
        rf"{NIC}: {OWN} is tentative: its detection of duplicates has not ended; is the link up\?",
    ),
    "duplicate": (
        [
            f"g ip addr add {OWN}/64 dev leaf0 nodad",
            f"{SYSCTL}.accept_dad=1",
            ADDRESS.format("del"),
            ADDRESS.format("add"),
            "h sleep 2.5",
        ],
        [
            f"g ip addr del {OWN}/64 dev leaf0",
            f"{SYSCTL}.accept_dad=0",
            ADDRESS.format("del"),
            f"{ADDRESS.format('add')} nodad",
        ],
        rf"{NIC}: {OWN} is a duplicate: another NIC has this address; look for a second one with the same MAC",
    ),
    "lifetime is over": (
        [f"{ADDRESS.format('change')} valid_lft 900 preferred_lft 0"],
        [f"{ADDRESS.format('change')} valid_lft forever preferred_lft forever"],
        rf"{NIC}: {OWN} is deprecated: the leaf no longer advertises {PREFIX}; {LOOK}",
    ),
}


def do(host: Host, commands: list[str]) -> None:
    for command in commands:
        where, *words = command.split()
        run("ip", "netns", "exec", {"h": host.netns, "g": host.outside}[where], *words)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", DAMAGES)
def test_an_address_that_is_wrong_is_told_in_one_line(shared: Host, all_told: Told, name: str) -> None:
    damage, repair, pattern = DAMAGES[name]
    assert all_told() == []
    do(shared, damage)
    try:
        (message,) = all_told()
        assert re.fullmatch(pattern, message), message
    finally:
        do(shared, repair)
    assert all_told() == []


def test_a_leaf_that_has_stopped_advertising(shared: Host, all_told: Told, expected: ExpectedServer) -> None:
    """The lifetime of an address says when its prefix was advertised last."""
    prefix = prefix_value(PREFIX)
    assert prefix is not None
    port = replace(expected.ports[NIC], advertised={prefix: Advertised(604_800, 30)})
    leaf = replace(expected, ports={**expected.ports, NIC: port})
    change = f"{ADDRESS.format('change')} valid_lft 2592000 preferred_lft"
    try:
        do(shared, [f"{change} 604750"])
        assert all_told(leaf) == []
        do(shared, [f"{change} 604000"])
        (message,) = all_told(leaf)
        pattern = rf"{NIC}: {PREFIX} was last advertised 8\d\d s ago, and must be every 30 s; {LOOK}"
        assert re.fullmatch(pattern, message), message
    finally:
        do(shared, [f"{ADDRESS.format('change')} valid_lft forever preferred_lft forever"])


def test_the_mac_of_a_nic(all_told: Told, expected: ExpectedServer) -> None:
    ports = {NIC: replace(expected.ports[NIC], mac="a0:88:c2:3b:00:09")}
    assert all_told(replace(expected, ports={**expected.ports, **ports})) == [
        f"{NIC}: its MAC is 'a0:88:c2:3b:00:01', the files have a0:88:c2:3b:00:09; correct the one that is wrong"
    ]


def test_speed_driver_and_firmware(
    shared: Host, shared_server: ServerConnection, tmp_path: Path, all_told: Told, expected: ExpectedServer
) -> None:
    fast = {name: replace(port, speed_bps=400_000_000_000) for name, port in expected.ports.items()}
    # Nobody says how fast a virtual interface is.
    assert all_told(replace(expected, ports=fast)) == []
    with sysfs(shared, tmp_path / "class", "mlx5_0"):
        assert observe(shared_server, expected).hardware == {
            NIC: NicHardware(200_000, "mlx5_core", "28.39.1002"),
            "gpu1_eth": NicHardware(None, "", ""),
        }
        assert observe(shared_server, expected).functions == frozenset()
        (tmp_path / "class/net/gpu0_v0/device/physfn").mkdir(parents=True)
        assert observe(shared_server, expected).functions == {"gpu0_v0"}
        (speed,) = speeds("h", fast, observe(shared_server, expected).hardware)
    assert speed.message == f"{NIC}: the link has 200 Gbit/s, the leaf's port 400g; check NIC, cable and optics"


def test_hardware_that_is_not_known() -> None:
    found = read_hardware([f"{NIC} -1 mlx5_core 28.39.1002 (MT_0000000838)", "gpu1_eth 100000 - -", "c 4294967295 e -"])
    assert found == {
        NIC: NicHardware(None, "mlx5_core", "28.39.1002 (MT_0000000838)"),
        "gpu1_eth": NicHardware(100_000, "", ""),
        "c": NicHardware(None, "e", ""),
    }
    with pytest.raises(ValueError, match="unpack"):
        read_hardware(["x"])
    with pytest.raises(ValueError, match="speed"):
        read_hardware([f"{NIC} {PREFIX} fc00:1:1:2::1 {OWN} yes"])


@pytest.mark.parametrize(
    "row",
    [
        {"ifname": "x" * 16, "addr_info": []},
        {"ifname": "\x1b[2J", "addr_info": []},
        {"ifname": 7, "addr_info": []},
        {"ifname": "a", "addr_info": [{"local": "fc00::g", "family": "inet6", "scope": "global", "prefixlen": 64}]},
        {"ifname": "a", "addr_info": [{"local": "fc00::1", "family": "inet6", "scope": "global", "prefixlen": "64"}]},
    ],
)
def test_interfaces_that_are_none(row: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        read_interfaces([row])


def test_a_mac_that_is_none(expected: ExpectedServer) -> None:
    found = read_interfaces([{"ifname": NIC, "address": "\x1b[2J", "addr_info": [{}]}])
    (finding,) = addresses("h", expected.ports, found)
    assert finding.message == f"{NIC}: its MAC is '\\x1b[2J', and gives no addresses; is it the NIC's name?"
