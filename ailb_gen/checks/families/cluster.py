"""Check the fabrics of a cluster together: what no two of them may share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ailb_gen.addresses import Prefix
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.manifest import Directory, check_directory, server_files
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings, Severity
from ailb_gen.errors import Place
from ailb_gen.intent.cluster import Cluster
from ailb_gen.layout import MANIFEST, NETPLAN, PROFILES, SERVERS
from ailb_gen.network.model import Switch

MEANINGS = {
    "input_sha256": "the cluster file, a fabric file or a CSV file has changed since everything was generated: "
}


class _FabricUse(NamedTuple):
    """A name or number of a device that no other fabric may have; `what` names it in messages."""

    check: Check
    what: str
    value: str
    device: str
    place: Place


def check_cluster(cluster: Cluster, fabrics: Mapping[str, Context], root: Path, findings: Findings) -> None:
    """Compare the fabrics of a cluster, by name, with each other, and the files below `root` with their manifest."""
    known: dict[tuple[str, str, str], tuple[str, str]] = {}
    for fabric, context in fabrics.items():
        own: dict[tuple[str, str, str], tuple[str, str]] = {}
        for use in (*_of_switches(fabric, context), *_of_servers(context)):
            findings.look(use.check)
            key = (use.check.id, use.what, use.value)
            own.setdefault(key, (use.device, fabric))
            if key in known:
                device, other = known[key]
                message = f"{use.what} {use.value} is already that of {device} in fabric {other}"
                findings.add(use.check, use.device, message, use.place, found=use.value, involves=(device,))
        known = own | known
    _check_prefixes(fabrics, findings)
    _check_files(cluster, fabrics, root, findings)


def _place(fabric: str, switch: Switch, line: int) -> Place:
    return Place(f"{fabric}/{switch.file}", line or 1)


def _of_switches(fabric: str, context: Context) -> Iterator[_FabricUse]:
    for name, switch in context.network.switches.items():
        at = partial(_place, fabric, switch)
        yield _FabricUse(NAMES, "the name", name.lower(), name, at(switch.host_name_line))
        if switch.asn is not None:
            yield _FabricUse(ASNS, "AS number", str(switch.asn), name, at(switch.asn_line))
        if switch.router_id is not None:
            yield _FabricUse(ROUTERS, "router-id", switch.router_id, name, at(switch.router_id_line))
        for unit in switch.ports["lo0"].units if "lo0" in switch.ports else ():
            for address in unit.addresses:
                yield _FabricUse(ROUTERS, "loopback", str(address.prefix), name, at(address.line))
        for interface, text in switch.management.addresses:
            found = switch.unit(interface)
            place = at(found.line if found is not None else 1)
            yield _FabricUse(MANAGEMENT, "management address", text.partition("/")[0], name, place)


def _of_servers(context: Context) -> Iterator[_FabricUse]:
    for name, expected in context.hosts.items():
        host = context.network.hosts.get(name)
        found = host.profile.nics if host is not None else {}
        folder = host.profile.folder if host is not None else name
        for nic in expected.nics:
            line = found[nic.name].line if nic.name in found else 1
            place = Place(f"{folder}/{NETPLAN}", line)
            use = partial(_FabricUse, device=name, place=place)
            yield use(NICS, f"on {name} the NIC", nic.name.lower())
            yield use(NICS, f"on {name} the RDMA device", nic.rdma)
            if nic.mac:
                yield use(MACS, "MAC address", nic.mac.lower())
            for table in nic.tables:
                yield use(TABLES, f"on {name} table", str(table.id))
                yield use(TABLES, f"on {name} the table name", table.name)
                yield use(TABLES, f"on {name} rule priority", str(table.priority))


def _check_prefixes(fabrics: Mapping[str, Context], findings: Findings) -> None:
    """Compare the prefixes of the fabrics' servers: sorted, one that overlaps others follows them."""
    rows = [
        (address.prefix, fabric, name, _place(fabric, switch, address.line))
        for fabric, context in fabrics.items()
        for name, switch in context.network.switches.items()
        for unit in (switch.ports["irb"].units if "irb" in switch.ports else ())
        for address in unit.addresses
    ]
    findings.look(PREFIXES, len(rows))
    above: list[tuple[Prefix, str, str]] = []
    for prefix, fabric, name, place in sorted(rows):
        above = [row for row in above if row[0].contains(prefix)]
        other = next((row for row in above if row[1] != fabric), None)
        if other is not None:
            message = f"prefix {prefix} is within {other[0]} of {other[2]} in fabric {other[1]}"
            findings.add(PREFIXES, name, message, place, found=prefix, involves=(other[2],))
        above.append((prefix, fabric, name))


def _check_files(cluster: Cluster, fabrics: Mapping[str, Context], root: Path, findings: Findings) -> None:
    """Compare the servers' files, and the manifests of the fabrics, with the manifest of the cluster."""
    top = {MANIFEST, SERVERS, PROFILES}
    generated = chain.from_iterable(server_files(context.network.hosts) for context in fabrics.values())

    def compares(name: str) -> bool:
        """Tell whether a file is in no folder of a fabric, or its manifest, which has the others."""
        folder, _, rest = name.partition("/")
        return folder not in fabrics or (rest == MANIFEST and (root / name).exists())

    check_directory(
        Directory(
            root,
            cluster.name,
            cluster.digest,
            "",
            MEANINGS,
            FILES,
            FILES,
            compares,
            dict.fromkeys(generated),
            lambda name: name in top or name in fabrics,
        ),
        findings,
    )


_of_cluster = partial(Check, layer=Layer.TOPOLOGY)
NAMES = _of_cluster(
    "AILBX01",
    "no two fabrics of the cluster have a switch of one name",
    "a switch has the name of a switch of another fabric",
    "Inventories, DNS and pushes know devices by name: one is mistaken for the other.",
    "Give the fabrics different 'names' patterns.",
)
PREFIXES = _of_cluster(
    "AILBX02",
    "the prefixes of different fabrics do not overlap",
    "a prefix of a leaf is within one of another fabric",
    "A server in both would send packets of one fabric into the other, where they are lost.",
    "Give each fabric a pool of its own: 'addressing: {pool: ...}'.",
)
ASNS = _of_cluster(
    "AILBX03",
    "no AS number is in two fabrics",
    "a switch has the AS number of a switch of another fabric",
    "Nothing fails as long as no route goes from one fabric to another; after that, BGP's loop check drops routes. "
    "Monitoring by AS number mixes the fabrics up.",
    "Give each fabric ranges of its own: 'asn: {leaves: ..., spines: ...}'; or waive it.",
    severity=Severity.WARNING,
)
ROUTERS = _of_cluster(
    "AILBX04",
    "no router-id or loopback address is in two fabrics",
    "a switch has the router-id or a loopback address of a switch of another fabric",
    "Collectors of BGP and flows identify a switch by its router-id: they take two for one.",
    "Give each fabric networks of its own: 'router_ids' and 'loopbacks'.",
)
MANAGEMENT = _of_cluster(
    "AILBX05",
    "no management address is in two fabrics",
    "a switch has the management address of a switch of another fabric",
    "Both are on the management network: a push reaches one of them, or neither.",
    "Give the fabrics different rows of addresses: 'management'.",
)
NICS = _of_cluster(
    "AILBX06",
    "every NIC and RDMA device of a server is in one fabric",
    "two fabrics use one NIC or one RDMA device of a server",
    "A NIC has one cable: in one of the fabrics the port of the leaf stays empty, and the server misses a rail.",
    "Let the NICs of each fabric begin behind those of the one before ('hosts: {first_nic: ...}'), or name them.",
)
TABLES = _of_cluster(
    "AILBX07",
    "the routing tables of a server have different numbers, names and rule priorities in all fabrics",
    "a number, a name or a rule priority of a server's table is that of a table of another fabric",
    "The routes of both fabrics are in one table: packets leave by the NIC of the wrong fabric.",
    "Set 'hosts: {first_nic: ...}', from which they follow, or 'tables' in one of the fabric files.",
)
MACS = _of_cluster(
    "AILBX08",
    "no MAC address of a NIC is in two fabrics",
    "two fabrics have a NIC with one MAC address",
    "netplan finds NICs by it: one of the two gets the name and the tables of the other.",
    "Read the addresses on the server ('ip link'), and correct the fabric files.",
)
FILES = Check(
    "AILBX09",
    "every file of the servers is as generated from this cluster file, by its manifest.json, and no others are beside",
    "a server's file was edited after it was generated, was generated from other input, or does not belong here",
    "The next generate overwrites edits by hand, and they were not reviewed in the intent.",
    "Put the change into a fabric file or a template, and generate again. Move other files elsewhere.",
    severity=Severity.WARNING,
    layer=Layer.REPETITIONS,
)
