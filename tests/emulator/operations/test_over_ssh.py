"""The same clients over real SSH on loopback."""

# Importing these libraries changes json and PyYAML for the whole process, so it waits until a test runs.
# ruff: noqa: PLC0415
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ailb_gen.emulator.device import Spec
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.host import Login
from ailb_gen.emulator.operations.bgp import peer_address
from tests.emulator.operations.lab import LEAF, NAMES, SPINE, tree_of
from tests.network.lab import LAB

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::SyntaxWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    with Fleet(
        [Spec(name, tree_of(name)) for name in NAMES], EmulatedFabric.read(LAB), Login("admin", "secret")
    ) as running:
        yield running


@pytest.fixture
def napalm(fleet: Fleet) -> Iterator[Any]:
    from napalm.junos.junos import JunOSDriver

    driver = JunOSDriver("127.0.0.1", "admin", "secret", optional_args={"port": fleet.port(LEAF)})
    driver.open()
    yield driver
    driver.close()


def test_facts(napalm: Any) -> None:
    facts = dict(napalm.device.facts)
    assert (facts["hostname"], facts["model"], facts["version"]) == (LEAF, "QFX5240-64OD", "25.4R1.12-EVO")
    assert napalm.device.uptime >= 0
    assert napalm.is_alive() == {"is_alive": True}


def test_getters(napalm: Any) -> None:
    assert napalm.get_facts()["hostname"] == LEAF
    assert napalm.get_interfaces()["et-0/0/0"]["is_up"] is True
    assert "irb.2" in napalm.get_interfaces_ip()
    peers = napalm.get_bgp_neighbors()["global"]["peers"]
    assert [row["address_family"]["ipv6"]["sent_prefixes"] for row in peers.values()] == [4] * 4
    assert len(napalm.get_bgp_neighbors_detail()["global"]) == 4
    assert len(napalm.get_lldp_neighbors()) == 4
    assert napalm.get_environment()["power"]
    shown = napalm.cli(["show version"])["show version"]
    assert shown.strip().splitlines() == [f"Hostname: {LEAF}", "Model: qfx5240-64od", "Junos: 25.4R1.12-EVO"]


def test_verification(fleet: Fleet, napalm: Any) -> None:
    """What is asked after a change: sessions, and what is advertised over them, also while one is kept down."""
    fabric = fleet.devices[LEAF].fabric
    rpc = napalm.device.rpc
    states = [peer.findtext("peer-state") for peer in rpc.get_bgp_summary_information().iter("bgp-peer")]
    assert states == ["Established"] * 4
    neighbor = peer_address(fabric, fabric.sessions(LEAF)[2])
    routes = rpc.get_route_information(advertising_protocol_name="bgp", neighbor=neighbor, detail=True)
    found = [
        (rt.findtext("rt-destination"), rt.findtext(".//extended-community"), rt.findtext(".//bgp-aigp"))
        for rt in routes.iter("rt")
    ]
    assert found == [(f"fc00:1:1:{n}::", "color:0:3", "0" if n == 3 else None) for n in range(1, 5)]
    fleet.do(SPINE, lambda device: device.power_off())
    try:
        assert len(rpc.get_bgp_summary_information().findall("bgp-peer")) == 3
    finally:
        fleet.do(SPINE, lambda device: device.power_on())
    assert len(rpc.get_bgp_summary_information().findall("bgp-peer")) == 4
