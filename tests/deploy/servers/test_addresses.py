"""Lifetimes of addresses on a host, hardware from a sysfs of ours, and answers that make no sense.

Addresses that go wrong one by one: test_ways.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ailb_gen.addresses import prefix_value
from ailb_gen.deploy.servers.addresses import (
    Advertised,
    NicHardware,
    addresses,
    read_hardware,
    read_interfaces,
    speeds,
)
from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.observed import observe
from ailb_gen.deploy.servers.ssh import ServerConnection
from tests.deploy.servers.sandbox import Host, run
from tests.deploy.servers.steps import sysfs

Told = Callable[..., list[str]]
NIC, PREFIX = "gpu0_eth", "fc00:1:1:2::/64"
OWN = "fc00:1:1:2:a288:c2ff:fe3b:1"
ADDRESS = f"h ip addr {{}} {OWN}/64 dev {NIC}"
LOOK = "on the leaf: show ipv6 router-advertisement"


def do(host: Host, commands: list[str]) -> None:
    for command in commands:
        where, *words = command.split()
        run("ip", "netns", "exec", {"h": host.netns, "g": host.outside}[where], *words)


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
