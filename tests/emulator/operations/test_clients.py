"""PyEZ and NAPALM, as they are installed, read every reply that they ask for."""

# Importing these libraries changes json and PyYAML for the whole process, so it waits until a test runs.
# ruff: noqa: PLC0415

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from lxml import etree

from ailb_gen.emulator.disk import CommitRecord
from tests.emulator.operations.lab import LEAF, NOW, SPINE, STARTED, Fake, ask, plain, pyez

if TYPE_CHECKING:
    from jnpr.junos.device import Device

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::SyntaxWarning"),
]
UP = {"is_up": True, "is_enabled": True, "last_flapped": NOW - STARTED, "speed": 400000.0}


@pytest.fixture
def device(leaf: Fake) -> Device:
    return pyez(leaf)


@pytest.fixture
def napalm(device: Device) -> Any:
    from napalm.junos.junos import JunOSDriver

    driver = JunOSDriver("192.0.2.1", "admin", "x")
    driver.device = device
    return driver


def test_facts(device: Device) -> None:
    facts = dict(device.facts)
    expected = {
        "hostname": LEAF,
        "fqdn": LEAF,
        "model": "QFX5240-64OD",
        "version": "25.4R1.12-EVO",
        "version_RE0": "25.4R1.12-EVO",
        "serialnumber": "YX0123456789",
        "personality": "SWITCH",
        "ifd_style": "SWITCH",
        "switch_style": "VLAN_L2NG",
        "current_re": ["re0"],
        "master": "RE0",
        "2RE": False,
        "RE1": None,
        "vc_capable": False,
        "srx_cluster": None,
        "vmhost": False,
        "_is_linux": True,
        "HOME": "/var/home/admin",
    }
    assert {name: device.facts[name] for name in expected} == expected
    assert facts["RE0"]["mastership_state"] == "Master"
    assert facts["version_info"].major == (25, 4)
    assert device.uptime == NOW - STARTED


def table(device: Device, module: str, name: str) -> Any:
    """Return one of PyEZ's tables of a device; their modules are made of YAML files when they are imported."""
    return getattr(import_module(f"jnpr.junos.op.{module}"), name)(device)


def test_tables_of_pyez(device: Device) -> None:
    peers = table(device, "bgp", "bgpTable").get()
    assert [(peer.peer_as, peer.local_as, peer.route_received) for peer in peers] == [
        (str(65000 + number), "65101", "12") for number in range(1, 5)
    ]
    assert {(row.interface, row.state) for row in table(device, "bfd", "BfdSessionTable").get()} == {
        (f"et-0/0/{number}.0", "Up") for number in range(4)
    }
    ports = table(device, "ethport", "EthPortTable").get()
    assert [port.name for port in ports] == [f"et-0/0/{number}" for number in (0, 1, 2, 3, 16, 17)]
    assert (ports[0].oper, ports[0].admin, ports[0].mtu, ports[0].running) == ("up", "up", 9216, True)
    assert table(device, "phyport", "PhyPortTable").get()[0].speed == "400Gbps"
    assert (
        table(device, "phyport", "PhyPortStatsTable").get()[0].rx_bytes,
        table(device, "phyport", "PhyPortErrorTable").get()[0].rx_err_frame,
    ) == (0, 0)
    neighbors = table(device, "lldp", "LLDPNeighborTable").get()
    assert [(row.local_int, row.remote_sysname, row.remote_port_id) for row in neighbors] == [
        (f"et-0/0/{number - 1}", f"spine{number}", "et-0/0/0") for number in range(1, 5)
    ]
    assert {row.router for row in table(device, "nd", "NdTable").get()} == {"yes"}
    [route] = table(device, "routes", "RouteTable").get("fc00:2:1:1::/64")
    assert route.key == "fc00:2:1:1::/64"
    # Of several entries the view shows the first, the active one.
    assert (route.protocol, route.via) == ("BGP", "et-0/0/0.0")


def test_get_facts(napalm: Any) -> None:
    assert napalm.get_facts() == {
        "vendor": "Juniper",
        "model": "QFX5240-64OD",
        "serial_number": "YX0123456789",
        "os_version": "25.4R1.12-EVO",
        "hostname": LEAF,
        "fqdn": LEAF,
        "uptime": NOW - STARTED,
        "interface_list": [*(f"et-0/0/{number}" for number in (0, 1, 2, 3, 16, 17)), "irb", "lo0"],
    }


def test_get_interfaces(napalm: Any, leaf: Fake) -> None:
    leaf.fabric.power_off(SPINE)
    found = napalm.get_interfaces()
    first, second = found["et-0/0/0"], found["et-0/0/1"]
    assert first["is_up"] is False
    assert {key: second[key] for key in UP} == UP
    assert (second["mtu"], second["description"]) == (9216, "facing_spine2:et-0/0/0")
    assert second["mac_address"] == "16:ED:B8:49:9C:27"
    assert found["irb.2"]["is_up"] is True


def test_get_interfaces_ip(napalm: Any) -> None:
    found = napalm.get_interfaces_ip()
    gateways = {address for address in found["irb.2"]["ipv6"] if not address.startswith("fe80")}
    assert gateways == {f"fc00:1:1:{number}::1" for number in range(1, 5)}
    assert found["lo0.0"] == {"ipv4": {"10.255.16.1": {"prefix_length": 32}}}
    assert [list(row["ipv6"].values()) for name, row in found.items() if name.startswith("et-")] == [
        [{"prefix_length": 64}]
    ] * 4


def test_get_bgp_neighbors(napalm: Any, leaf: Fake) -> None:
    leaf.fabric.keep_down(LEAF, "et-0/0/3.0")
    found = napalm.get_bgp_neighbors()["global"]
    assert found["router_id"] == "10.255.16.1"
    peers = {address.partition("%")[2]: row for address, row in found["peers"].items()}
    counts = {"received_prefixes": 12, "accepted_prefixes": 12, "sent_prefixes": 4}
    for number in range(3):
        row = peers[f"et-0/0/{number}.0"]
        assert row["address_family"]["ipv6"] == counts
        assert (row["remote_as"], row["local_as"], row["is_up"]) == (65001 + number, 65101, True)
        assert row["uptime"] == NOW - STARTED
    assert peers["et-0/0/3.0"]["is_up"] is False


def test_get_bgp_neighbors_detail(napalm: Any) -> None:
    [row] = napalm.get_bgp_neighbors_detail()["global"][65001]
    expected = {
        "up": True,
        "local_as": 65101,
        "router_id": "10.255.0.1",
        "connection_state": "Established",
        "export_policy": "FABRIC-OUT",
        "multipath": True,
        "holdtime": 90,
        "received_prefix_count": 12,
        "advertised_prefix_count": 4,
        "suppress_4byte_as": False,
    }
    assert {key: row[key] for key in expected} == expected
    assert row["remote_address"].endswith("%et-0/0/0.0")


def test_other_getters(napalm: Any) -> None:
    assert napalm.get_lldp_neighbors()["et-0/0/2"] == [{"hostname": "spine3", "port": "et-0/0/0"}]
    [detail] = napalm.get_lldp_neighbors_detail()["et-0/0/2"]
    assert (detail["remote_system_name"], detail["remote_system_capab"]) == ("spine3", ["bridge", "router"])
    environment = napalm.get_environment()
    assert environment["memory"] == {"available_ram": 32768, "used_ram": 4915}
    assert all(row["status"] for row in (*environment["power"].values(), *environment["fans"].values()))
    assert not any(row["is_alert"] for row in environment["temperature"].values())
    assert napalm.get_vlans() == {"2": {"name": "vn2", "interfaces": ["et-0/0/16.0", "et-0/0/17.0"]}}
    assert {row["interface"] for row in napalm.get_ipv6_neighbors_table()} == {f"et-0/0/{n}.0" for n in range(4)}
    assert napalm.get_interfaces_counters()["et-0/0/0"]["rx_octets"] == 0
    assert napalm.get_mac_address_table() == []
    assert napalm.get_arp_table() == []
    paths = napalm.get_route_to("fc00:2:1:1::/64")["fc00:2:1:1::/64"]
    assert [path["current_active"] for path in paths] == [True, False, False, False]


def test_cli(napalm: Any) -> None:
    shown = napalm.cli(["show version", "show bgp summary | match Establ"])
    assert shown["show version"].split("\n")[1] == f"Hostname: {LEAF}"
    assert len(shown["show bgp summary | match Establ"].splitlines()) == 4


def test_pending_commits(leaf: Fake) -> None:
    from napalm.junos.junos import JunOSDriver

    driver = JunOSDriver("192.0.2.1", "admin", "x")
    comment = "commit confirmed, rollback in 5mins"
    for history, pending in (
        ((CommitRecord(0, "admin", "netconf", NOW - 60, comment, "", "re0-1-1"),), {"re0-1-1": 240}),
        ((CommitRecord(0, "admin", "netconf", NOW - 60, "", "", "re0-1-2"),), {}),
    ):
        driver.device = pyez(Fake(LEAF, leaf.emulated, history=history))
        assert driver._get_pending_commits() == pending


def test_attributes_of_junos_are_in_its_namespace(leaf: Fake) -> None:
    reply = ask(leaf, "get-bgp-summary-information")
    text = etree.tostring(reply, encoding="unicode")
    # Declared once, at the root.
    assert text.count("xmlns:junos=") == 1
    assert 'junos:seconds="' in text
    assert plain(reply).find("bgp-peer/elapsed-time[@seconds]") is not None
