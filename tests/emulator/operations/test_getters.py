"""Every getter of NAPALM, every table of PyEZ that a switch can fill, and Ansible's facts, on the lab fabric."""

# Importing these libraries changes json and PyYAML for the whole process, so it waits until a test runs.
# ruff: noqa: PLC0415
from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from lxml import etree

from ailb_gen.addresses import address_text
from ailb_gen.emulator.device import Spec
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.emulator.load_config import load_set
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
MORE = """
set system login user admin class super-user
set system login user admin authentication encrypted-password x
set system ntp server 192.0.2.10
set snmp location hall-3
set snmp contact noc@example.net
set snmp community public authorization read-only
"""


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


def test_napalm_getters_from_the_fabric(napalm: Any) -> None:
    counters = napalm.get_interfaces_counters()
    assert counters["et-0/0/0"]["tx_octets"] == 0
    detail = napalm.get_lldp_neighbors_detail()
    assert {rows[0]["remote_system_name"] for rows in detail.values()} == {"spine1", "spine2", "spine3", "spine4"}
    assert list(napalm.get_lldp_neighbors_detail("et-0/0/0")) == ["et-0/0/0"]
    assert len(napalm.get_bgp_neighbors_detail()["global"]) == 4
    assert napalm.get_bgp_config()
    assert len(napalm.get_ipv6_neighbors_table()) == 4
    optics = napalm.get_optics()["et-0/0/0"]["physical_channels"]["channel"]
    assert [channel["state"]["input_power"]["instant"] for channel in optics] == [-1.2] * 8
    assert napalm.get_network_instances()["default"]["type"] == "DEFAULT_INSTANCE"
    assert [row["name"] for row in napalm.get_vlans().values()]
    environment = napalm.get_environment()
    assert (environment["memory"]["available_ram"], environment["cpu"]) != (-1, {})
    assert napalm.get_users()["admin"]["level"] == 15
    assert napalm.get_snmp_information()["community"] == {"public": {"acl": "", "mode": "ro"}}
    assert napalm.get_ntp_servers() == {"192.0.2.10": {}}
    # NAPALM takes this one from the command line, of which PyEZ warns whatever the filters are.
    with pytest.warns(RuntimeWarning, match=r"cli\('show ntp associations no-resolve'\)"):
        stats = napalm.get_ntp_stats()
    assert [row["remote"] for row in stats] in ([], ["192.0.2.10"])
    assert (napalm.get_facts()["hostname"], napalm.device.facts["model"]) == (LEAF, "QFX5240-64OD")
    assert napalm.device.uptime >= 0
    assert napalm.get_interfaces()["et-0/0/0"]["is_up"] is True
    assert "irb.2" in napalm.get_interfaces_ip()
    peers = napalm.get_bgp_neighbors()["global"]["peers"]
    assert [row["address_family"]["ipv6"]["sent_prefixes"] for row in peers.values()] == [4] * 4
    assert len(napalm.get_lldp_neighbors()) == 4
    config = napalm.get_config(format="set")
    assert "set system host-name" in config["running"]
    assert napalm.is_alive() == {"is_alive": True}


def test_napalm_getters_with_nothing_to_tell(napalm: Any) -> None:
    assert napalm.get_arp_table() == []
    assert napalm.get_mac_address_table() == []
    assert napalm.get_ntp_peers() == {}
    assert napalm.get_probes_config() == {}
    assert napalm.get_probes_results() == {}
    assert napalm.get_route_to("0.0.0.0/0") == {}


def test_napalm_reachability(fleet: Fleet, napalm: Any) -> None:
    other = fleet.devices[LEAF].fabric.switch("stripe1-leaf2")
    assert other is not None
    target = address_text(next(a.value for p in other.ports.values() for u in p.units for a in u.addresses))
    sent = napalm.ping(target, count=3)["success"]
    assert (sent["probes_sent"], sent["packet_loss"], len(sent["results"])) == (3, 0, 3)
    assert len(napalm.traceroute(target)["success"]) == 2
    assert "error" in napalm.ping("192.0.2.1")
    (routes,) = napalm.get_route_to(f"{target}/128").values()
    assert {route["protocol"] for route in routes} == {"BGP"}


def test_napalm_cli(napalm: Any) -> None:
    shown = napalm.cli(["show version | match Junos", "show arp", "show interfaces terse | count"])
    assert shown["show version | match Junos"].startswith("Junos: ")
    assert all(shown.values())
    version = napalm.cli(["show version"])["show version"].strip().splitlines()
    assert version == [f"Hostname: {LEAF}", "Model: qfx5240-64od", "Junos: 25.4R1.12-EVO"]
    as_json = napalm.cli(["show bgp summary"], encoding="json")["show bgp summary"]
    assert "'peer-count': [{'data': '4'}]" in as_json


@pytest.mark.parametrize(
    "table",
    [
        "arp.ArpTable",
        "bfd.BfdSessionTable",
        "bgp.bgpTable",
        "ethernetswitchingtable.EthernetSwitchingTable",
        "ethport.EthPortTable",
        "fpc.FpcHwTable",
        "fpc.FpcInfoTable",
        "intopticdiag.PhyPortDiagTable",
        "inventory.ModuleTable",
        "isis.IsisAdjacencyTable",
        "lacp.LacpPortTable",
        "ldp.LdpNeighborTable",
        "lldp.LLDPNeighborTable",
        "nd.NdTable",
        "ospf.OspfNeighborTable",
        "phyport.PhyPortErrorTable",
        "phyport.PhyPortStatsTable",
        "phyport.PhyPortTable",
        "routes.RouteSummaryTable",
        "routes.RouteTable",
        "systemstorage.SystemStorageTable",
        "vlan.VlanTable",
        "xcvr.XcvrTable",
    ],
)
def test_pyez_tables(napalm: Any, table: str) -> None:
    module, name = table.split(".")
    found = getattr(import_module(f"jnpr.junos.op.{module}"), name)(napalm.device).get()
    for row in found:
        assert row.items() is not None
    filled = {"bgp", "bfd", "ethport", "lldp", "nd", "phyport", "routes", "intopticdiag", "systemstorage", "fpc"}
    assert not filled & {module} or len(found)


def test_pyez_forms(napalm: Any) -> None:
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
    memory = ask("<get-system-memory-information/>").find(
        ".//system-memory-information/system-memory-summary-information"
    )
    assert memory is not None
    assert int(memory.findtext("system-memory-free") or "") < int(memory.findtext("system-memory-total") or "")
    storage = ask("<get-system-storage/>").find(".//system-storage-information")
    assert storage is not None
    assert all(row.findtext("filesystem-name") for row in storage)
    engines = ask("<get-route-engine-information/>").find(".//route-engine-information")
    assert engines is not None
    assert [engine.findtext("slot") for engine in engines] == ["0"]
    details = ask("<get-interface-information><detail/></get-interface-information>")[0]
    rows = [{name: row.findtext(name) for name in ("oper-status", "admin-status", "speed", "mtu")} for row in details]
    assert all(all(row.values()) for row in rows if row["speed"])
    software = ask("<get-software-information/>").find(".//software-information")
    assert software is not None
    assert software.findtext("host-name") == LEAF
    for form, name in (("xml", "configuration"), ("text", "configuration-text"), ("set", "configuration-set")):
        assert ask(f'<get-configuration format="{form}"/>').find(name) is not None
    assert json.loads(ask('<get-configuration format="json"/>').text or "")["configuration"]


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
