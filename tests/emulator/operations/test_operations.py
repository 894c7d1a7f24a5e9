"""Every getter of NAPALM, every table of PyEZ that a switch can fill, and Ansible's facts, on the lab fabric."""

# Importing these libraries changes json and PyYAML for the whole process, so it waits until a test runs.
# ruff: noqa: PLC0415
from __future__ import annotations

import json
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from lxml import etree

from ailb_gen.addresses import address_text
from ailb_gen.emulator.device import EmulatedDevice, Spec
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.emulator.load_config import load_set
from tests.emulator.operations.lab import LEAF, NAMES, SPINE, address, tree_of
from tests.network.lab import LAB

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::SyntaxWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
MORE = """
set system login user admin class super-user
set system login user admin authentication encrypted-password x
set system ntp server 192.0.2.10
set snmp location hall-3
set snmp contact noc@example.net
set snmp community public authorization read-only
"""
PORTS = [f"et-0/0/{number}" for number in (0, 1, 2, 3, 16, 17)]
UNITS = [f"{port}.0" for port in PORTS[:4]]
# How far the clocks of the test and of the device may be apart, in seconds.
CLOSE_S = 60


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    specs = [Spec(name, load_set(tree_of(name), MORE)[0]) for name in NAMES]
    with Fleet(specs, EmulatedFabric.read(LAB), FleetLogin("admin", "secret")) as running:
        yield running


@pytest.fixture(scope="module")
def napalm(fleet: Fleet) -> Iterator[Any]:
    from napalm.junos.junos import JunOSDriver

    driver = JunOSDriver("127.0.0.1", "admin", "secret", optional_args={"port": fleet.port(LEAF)})
    driver.open()
    yield driver
    driver.close()


@contextmanager
def without_spine(fleet: Fleet) -> Iterator[None]:
    """Switch the first spine off for a while."""
    fleet.do(SPINE, EmulatedDevice.power_off)
    try:
        yield
    finally:
        fleet.do(SPINE, EmulatedDevice.power_on)


def test_facts_of_pyez(fleet: Fleet, napalm: Any) -> None:
    facts = dict(napalm.device.facts)
    expected = {
        "hostname": LEAF,
        "fqdn": LEAF,
        "model": "QFX5240-64OD",
        "version": "25.4R1.12-EVO",
        "version_RE0": "25.4R1.12-EVO",
        "serialnumber": fleet.devices[LEAF].serial,
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
    assert {name: napalm.device.facts[name] for name in expected} == expected
    assert facts["RE0"]["mastership_state"] == "Master"
    assert facts["version_info"].major == (25, 4)
    assert napalm.device.uptime == pytest.approx(fleet.devices[LEAF].up_s, abs=CLOSE_S)


def test_facts_of_napalm(fleet: Fleet, napalm: Any) -> None:
    facts = napalm.get_facts()
    assert facts.pop("uptime") == pytest.approx(fleet.devices[LEAF].up_s, abs=CLOSE_S)
    assert facts == {
        "vendor": "Juniper",
        "model": "QFX5240-64OD",
        "serial_number": fleet.devices[LEAF].serial,
        "os_version": "25.4R1.12-EVO",
        "hostname": LEAF,
        "fqdn": LEAF,
        "interface_list": [*PORTS, "irb", "lo0"],
    }
    config = napalm.get_config(format="set")
    assert "set system host-name" in config["running"]
    assert napalm.is_alive() == {"is_alive": True}


def test_interfaces(fleet: Fleet, napalm: Any) -> None:
    with without_spine(fleet):
        found = napalm.get_interfaces()
    first, second = found["et-0/0/0"], found["et-0/0/1"]
    assert first["is_up"] is False
    assert second.pop("last_flapped") == pytest.approx(fleet.devices[LEAF].up_s, abs=CLOSE_S)
    assert second == {
        "is_up": True,
        "is_enabled": True,
        "speed": 400000.0,
        "mtu": 9216,
        "description": "facing_spine2:et-0/0/0",
        "mac_address": "16:ED:B8:49:9C:27",
    }
    assert found["irb.2"]["is_up"] is True
    assert {napalm.get_interfaces_counters()["et-0/0/0"][way] for way in ("rx_octets", "tx_octets")} == {0}
    optics = napalm.get_optics()["et-0/0/0"]["physical_channels"]["channel"]
    assert [channel["state"]["input_power"]["instant"] for channel in optics] == [-1.2] * 8


def test_addresses(napalm: Any) -> None:
    found = napalm.get_interfaces_ip()
    gateways = {gateway for gateway in found["irb.2"]["ipv6"] if not gateway.startswith("fe80")}
    assert gateways == {f"fc00:1:1:{number}::1" for number in range(1, 5)}
    assert found["lo0.0"] == {"ipv4": {"10.255.16.1": {"prefix_length": 32}}}
    assert [list(found[unit]["ipv6"].values()) for unit in UNITS] == [[{"prefix_length": 64}]] * 4


def test_bgp(fleet: Fleet, napalm: Any) -> None:
    fabric = fleet.devices[LEAF].fabric
    fleet.do(LEAF, lambda device: fabric.keep_down(LEAF, UNITS[3]))
    try:
        found = napalm.get_bgp_neighbors()["global"]
    finally:
        fleet.do(LEAF, lambda device: fabric.restore(LEAF, UNITS[3]))
    assert found["router_id"] == "10.255.16.1"
    peers = {peer.partition("%")[2]: row for peer, row in found["peers"].items()}
    counts = {"received_prefixes": 12, "accepted_prefixes": 12, "sent_prefixes": 4}
    for number, unit in enumerate(UNITS[:3]):
        row = peers[unit]
        assert row["address_family"]["ipv6"] == counts
        assert (row["remote_as"], row["local_as"], row["is_up"]) == (65001 + number, 65101, True)
        assert row["uptime"] == pytest.approx(fleet.devices[LEAF].up_s, abs=CLOSE_S)
    assert peers[UNITS[3]]["is_up"] is False
    assert napalm.get_bgp_config()


def test_bgp_in_detail(napalm: Any) -> None:
    details = napalm.get_bgp_neighbors_detail()["global"]
    assert len(details) == 4
    [row] = details[65001]
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


def test_neighbors(napalm: Any) -> None:
    neighbors = napalm.get_lldp_neighbors()
    assert neighbors == {f"et-0/0/{at}": [{"hostname": f"spine{at + 1}", "port": "et-0/0/0"}] for at in range(4)}
    details = napalm.get_lldp_neighbors_detail()
    assert {rows[0]["remote_system_name"] for rows in details.values()} == {"spine1", "spine2", "spine3", "spine4"}
    assert details["et-0/0/2"][0]["remote_system_capab"] == ["bridge", "router"]
    assert list(napalm.get_lldp_neighbors_detail("et-0/0/0")) == ["et-0/0/0"]
    assert [row["interface"] for row in napalm.get_ipv6_neighbors_table()] == UNITS


def test_other_getters(napalm: Any) -> None:
    assert napalm.get_network_instances()["default"]["type"] == "DEFAULT_INSTANCE"
    assert napalm.get_vlans() == {"2": {"name": "vn2", "interfaces": ["et-0/0/16.0", "et-0/0/17.0"]}}
    environment = napalm.get_environment()
    assert environment["memory"] == {"available_ram": 32768, "used_ram": 4915}
    assert environment["cpu"]
    assert all(row["status"] for row in (*environment["power"].values(), *environment["fans"].values()))
    assert not any(row["is_alert"] for row in environment["temperature"].values())
    assert napalm.get_users()["admin"]["level"] == 15
    assert napalm.get_snmp_information()["community"] == {"public": {"acl": "", "mode": "ro"}}
    assert napalm.get_ntp_servers() == {"192.0.2.10": {}}
    # NAPALM takes this one from the command line, of which PyEZ warns whatever the filters are.
    with pytest.warns(RuntimeWarning, match=r"cli\('show ntp associations no-resolve'\)"):
        stats = napalm.get_ntp_stats()
    assert [row["remote"] for row in stats] in ([], ["192.0.2.10"])


def test_getters_with_nothing_to_tell(napalm: Any) -> None:
    for getter in ("arp_table", "mac_address_table", "ntp_peers", "probes_config", "probes_results"):
        assert not getattr(napalm, f"get_{getter}")()
    assert napalm.get_route_to("0.0.0.0/0") == {}


def test_reachability(fleet: Fleet, napalm: Any) -> None:
    other = fleet.devices[LEAF].fabric.switch("stripe1-leaf2")
    target = address_text(next(a.value for p in other.ports.values() for u in p.units for a in u.addresses))
    sent = napalm.ping(target, count=3)["success"]
    assert (sent["probes_sent"], sent["packet_loss"], len(sent["results"])) == (3, 0, 3)
    assert len(napalm.traceroute(target)["success"]) == 2
    assert "error" in napalm.ping("192.0.2.1")
    (routes,) = napalm.get_route_to(f"{target}/128").values()
    assert {route["protocol"] for route in routes} == {"BGP"}
    assert [route["current_active"] for route in routes] == [True, False, False, False]


def test_command_lines(napalm: Any) -> None:
    matched = "show bgp summary | match Establ"
    shown = napalm.cli(["show version | match Junos", "show arp", "show interfaces terse | count", matched])
    assert shown["show version | match Junos"].startswith("Junos: ")
    assert all(shown.values())
    assert len(shown[matched].splitlines()) == 4
    version = napalm.cli(["show version"])["show version"].strip().splitlines()
    assert version == [f"Hostname: {LEAF}", "Model: qfx5240-64od", "Junos: 25.4R1.12-EVO"]
    as_json = napalm.cli(["show bgp summary"], encoding="json")["show bgp summary"]
    assert "'peer-count': [{'data': '4'}]" in as_json


def rows_of(napalm: Any, table: str, *arguments: str) -> Any:
    """Return what one of PyEZ's tables reads; their modules are made of YAML files when they are imported."""
    module, name = table.split(".")
    return getattr(import_module(f"jnpr.junos.op.{module}"), name)(napalm.device).get(*arguments)


FILLED = (
    *("bfd.BfdSessionTable", "bgp.bgpTable", "ethport.EthPortTable", "fpc.FpcHwTable", "fpc.FpcInfoTable"),
    *("intopticdiag.PhyPortDiagTable", "lldp.LLDPNeighborTable", "nd.NdTable", "phyport.PhyPortErrorTable"),
    *("phyport.PhyPortStatsTable", "phyport.PhyPortTable", "routes.RouteSummaryTable", "routes.RouteTable"),
    "systemstorage.SystemStorageTable",
)
OTHERS = (
    *("arp.ArpTable", "ethernetswitchingtable.EthernetSwitchingTable", "inventory.ModuleTable"),
    *("isis.IsisAdjacencyTable", "lacp.LacpPortTable", "ldp.LdpNeighborTable", "ospf.OspfNeighborTable"),
    *("vlan.VlanTable", "xcvr.XcvrTable"),
)


@pytest.mark.parametrize("table", [*FILLED, *OTHERS])
def test_every_table_of_pyez_can_be_read(napalm: Any, table: str) -> None:
    found = rows_of(napalm, table)
    assert all(row.items() is not None for row in found)
    assert table in OTHERS or len(found)


def test_tables_of_pyez(napalm: Any) -> None:
    peers = rows_of(napalm, "bgp.bgpTable")
    assert [(peer.peer_as, peer.local_as, peer.route_received) for peer in peers] == [
        (str(65000 + number), "65101", "12") for number in range(1, 5)
    ]
    sessions = rows_of(napalm, "bfd.BfdSessionTable")
    assert [(row.interface, row.state) for row in sessions] == [(unit, "Up") for unit in UNITS]
    ports = rows_of(napalm, "ethport.EthPortTable")
    assert [port.name for port in ports] == PORTS
    assert (ports[0].oper, ports[0].admin, ports[0].mtu, ports[0].running) == ("up", "up", 9216, True)
    assert rows_of(napalm, "phyport.PhyPortTable")[0].speed == "400Gbps"
    assert rows_of(napalm, "phyport.PhyPortStatsTable")[0].rx_bytes == 0
    assert rows_of(napalm, "phyport.PhyPortErrorTable")[0].rx_err_frame == 0
    neighbors = rows_of(napalm, "lldp.LLDPNeighborTable")
    assert [(row.local_int, row.remote_sysname, row.remote_port_id) for row in neighbors] == [
        (f"et-0/0/{number - 1}", f"spine{number}", "et-0/0/0") for number in range(1, 5)
    ]
    assert {row.router for row in rows_of(napalm, "nd.NdTable")} == {"yes"}
    [route] = rows_of(napalm, "routes.RouteTable", "fc00:2:1:1::/64")
    # Of several entries the view shows the first, the active one.
    assert (route.key, route.protocol, route.via) == ("fc00:2:1:1::/64", "BGP", "et-0/0/0.0")


def test_forms_of_pyez(napalm: Any) -> None:
    rpc = napalm.device.rpc
    assert "Peer " in rpc.get_bgp_summary_information({"format": "text"}).text
    assert rpc.get_bgp_summary_information({"format": "json"})["bgp-information"][0]["peer-count"][0]["data"] == "4"
    assert "<" not in napalm.device.cli("show bgp summary", format="text", warning=False)
    assert napalm.device.cli("show version", format="json", warning=False)["software-information"]
    config = rpc.get_config(options={"format": "json"})
    assert config["configuration"]["system"]["host-name"] == LEAF


def test_ansible_facts(napalm: Any) -> None:
    """What junipernetworks.junos.junos_facts sends, and how it reads the answers (collection 9, legacy/base.py)."""

    def ask(rpc: str) -> etree._Element:
        reply = napalm.device._conn.rpc(etree.fromstring(rpc))
        return etree.fromstring(str(reply).encode())

    inventory = ask("<get-chassis-inventory/>")
    assert inventory.findtext(".//chassis-inventory/chassis/serial-number") == napalm.device.facts["serialnumber"]
    assert len(inventory.findall(".//chassis-module")) == 2
    [memory] = ask("<get-system-memory-information/>").iter("system-memory-summary-information")
    assert int(memory.findtext("system-memory-free") or "") < int(memory.findtext("system-memory-total") or "")
    [storage] = ask("<get-system-storage/>").iter("system-storage-information")
    assert all(row.findtext("filesystem-name") for row in storage)
    [engines] = ask("<get-route-engine-information/>").iter("route-engine-information")
    assert [engine.findtext("slot") for engine in engines] == ["0"]
    details = ask("<get-interface-information><detail/></get-interface-information>")[0]
    rows = [{name: row.findtext(name) for name in ("oper-status", "admin-status", "speed", "mtu")} for row in details]
    assert all(all(row.values()) for row in rows if row["speed"])
    [software] = ask("<get-software-information/>").iter("software-information")
    assert software.findtext("host-name") == LEAF
    for form, name in (("xml", "configuration"), ("text", "configuration-text"), ("set", "configuration-set")):
        assert ask(f'<get-configuration format="{form}"/>').find(name) is not None
    assert json.loads(ask('<get-configuration format="json"/>').text or "")["configuration"]


def test_verification(fleet: Fleet, napalm: Any) -> None:
    """What is asked after a change: sessions, and what is advertised over them, also while one is kept down."""
    rpc = napalm.device.rpc
    states = [peer.findtext("peer-state") for peer in rpc.get_bgp_summary_information().iter("bgp-peer")]
    assert states == ["Established"] * 4
    neighbor = address(fleet.devices[LEAF], 2)
    routes = rpc.get_route_information(advertising_protocol_name="bgp", neighbor=neighbor, detail=True)
    found = [
        (rt.findtext("rt-destination"), rt.findtext(".//extended-community"), rt.findtext(".//bgp-aigp"))
        for rt in routes.iter("rt")
    ]
    assert found == [(f"fc00:1:1:{n}::", "color:0:3", "0" if n == 3 else None) for n in range(1, 5)]
    with without_spine(fleet):
        assert len(rpc.get_bgp_summary_information().findall("bgp-peer")) == 3
    assert len(rpc.get_bgp_summary_information().findall("bgp-peer")) == 4
