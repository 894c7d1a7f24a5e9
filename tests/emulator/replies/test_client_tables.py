"""What PyEZ's tables, and NAPALM's with them, find in real replies they find in those of the emulator.

The tables read replies from files, as PyEZ can. Only replies of which nothing was left out count.
"""

# Importing these libraries changes json and PyYAML for the whole process, so it waits until a test runs.
# ruff: noqa: PLC0415
from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from ailb_gen.emulator.operations import reply_of
from tests.conftest import need_shared
from tests.emulator.operations.lab import plain
from tests.emulator.replies import trees
from tests.emulator.replies.compare import subjects
from tests.emulator.replies.ours import devices, requests
from tests.emulator.replies.samples import samples

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::SyntaxWarning"),
]
# Items that a table looks at in one reply: interfaces have many, and all alike.
ITEMS = 6
EMPTY = "every item"
# What real replies have for a table and ours do not, and why.
KNOWN = {
    "no servers are emulated, so nothing is learned from them": {
        "arp.ArpTable": {EMPTY},
        "junos_views.junos_arp_table": {EMPTY},
        "elsethernetswitchingtable.ElsEthernetSwitchingTable": {EMPTY},
        "ethernetswitchingtable.EthernetSwitchingTable": {EMPTY},
        "junos_views.junos_mac_address_table_switch": {EMPTY},
        "junos_views.junos_mac_address_table_switch_l2ng": {EMPTY},
    },
    "a fabric has no probes": {"junos_views.junos_rpm_probes_results_table": {EMPTY}},
    "the table is of switches before Enhanced Layer 2 Software": {
        "vlan.VlanTable": {EMPTY},
        "junos_views.junos_vlans_table_switch": {EMPTY},
    },
    "the table reads optics of one lane, and these have eight": {
        "intopticdiag.PhyPortDiagTable": {"rx_optic_power", "tx_optic_power"},
        "junos_views.junos_intf_optics_table": {EMPTY},
    },
}


@cache
def tables() -> dict[str, Any]:
    """Return the tables of both libraries that read an RPC, by module and name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jnpr.junos.op

        names = sorted(f"jnpr.junos.op.{path.stem}" for path in Path(jnpr.junos.op.__path__[0]).glob("*.yml"))
        found: dict[str, Any] = {}
        for name in (*names, "napalm.junos.utils.junos_views"):
            module = import_module(name)
            found |= {
                f"{name.rpartition('.')[2]}.{key}": table
                for key, table in vars(module).items()
                if hasattr(table, "GET_RPC") and hasattr(table, "VIEW")
            }
    return found


def _asked() -> dict[str, str]:
    """Return the folder of samples by the tag of the RPC that the emulator answers for it, the plain command first."""
    found: dict[str, str] = {}
    for folder, form in sorted(subjects(), key=lambda subject: len(subject[0])):
        if form == "tree":
            found.setdefault(str(requests(folder, samples()[folder], form)[0][1].tag), folder)
    return found


def _fields(table: Any, replies: list[etree._Element], folder: Path) -> list[set[str]]:
    """Return the names of the fields with a value, of every item that a table finds in some replies."""
    found = []
    for number, reply in enumerate(replies):
        path = folder / f"{number}.xml"
        path.write_bytes(etree.tostring(reply))
        read = table(path=str(path))
        read.get()
        found += [names for item in islice(read, ITEMS) if (names := _filled(item))]
    return found


def _filled(item: Any) -> set[str]:
    """Return the names of the fields that have a value; none for an interface that the table would not ask for."""
    try:
        return {name for name, value in dict(item.items()).items() if value is not None}
    except RuntimeError:
        # The MTU of a loopback is no number, which PyEZ cannot read.
        return set()


def _bare(root: etree._Element) -> etree._Element:
    """Take away namespaces, as the transport of both libraries does."""
    for node in plain(root).iter(etree.Element):
        node.tag = trees.name(node)
    return root


def _request(table: Any, device: Any) -> etree._Element:
    """Return what a table asks a device, with its own arguments."""
    rpc = etree.Element(table.GET_RPC)
    for name, value in (getattr(table, "GET_ARGS", None) or {}).items():
        if name != "interface_name":
            etree.SubElement(rpc, name.replace("_", "-")).text = None if value is True else str(value)
    return reply_of(device, rpc)


@pytest.mark.long
def test_tables_find_the_same(tmp_path: Path) -> None:
    need_shared("junos-replies/INDEX.csv")
    asked = _asked()
    compared: set[str] = set()
    lacking: dict[str, set[str]] = {}
    for name, table in tables().items():
        rows = samples().get(asked.get(table.GET_RPC, ""), [])
        whole = [row for row in rows if row.form != "text" and row.source.whole]
        real = _fields(table, [_bare(reply) for row in whole for reply in trees.parse(row)], tmp_path)
        if not real:
            continue
        ours = _fields(table, [_bare(_request(table, device)) for device in devices()], tmp_path)
        compared.add(name)
        missing = real[0].intersection(*real) - ours[0].union(*ours) if ours else {EMPTY}
        if missing:
            lacking[name] = missing
    assert lacking == {name: fields for found in KNOWN.values() for name, fields in found.items()}
    bgp = {"bgp.bgpTable", "junos_views.junos_bgp_table", "junos_views.junos_bgp_neighbors_table"}
    assert {*bgp, "routes.RouteTable", "junos_views.junos_protocol_route_table"} <= compared
