"""The verb `gids`: the GID tables, or the environment that follows from them."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..console import DIFFERENT, OK, report, table
from ..environment import first_color_index, with_index
from ..files import HostError, PlannedServer, load_host
from ..gids import RdmaPort, findings, own_addresses, read_ports

COLUMNS = ("nic", "port", "state", "index", "color", "address", "version")


def add_gids(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser("gids", help="GIDs of all RDMA devices, their colors, and what is wrong with them")
    what = verb.add_mutually_exclusive_group()
    what.add_argument("--env", action="store_true", help="print the variables of NCCL and UCX with the GID index found")
    what.add_argument("--json", action="store_true", help="print JSON")
    verb.set_defaults(run=gids)


def gids(arguments: argparse.Namespace) -> int:
    """Print the GID tables, or the environment that follows from them."""
    host = load_host(arguments.root)
    ports = read_ports(arguments.root)
    if arguments.env:
        if not host.environment:
            raise HostError("this server has no GPUs, and no environment of NCCL")
        index = first_color_index(host, ports, arguments.root)
        print("\n".join(with_index(host.environment, index)))
        return OK
    found, rows = findings(host, ports, arguments.root), _rows(host, ports, arguments.root)
    if arguments.json:
        # Without an indent, which json writes in Python, and much slower.
        print(json.dumps({"gids": rows, "findings": [one._asdict() for one in found]}))
    else:
        print("\n".join(table(COLUMNS, [[str(row[key]) for key in COLUMNS] for row in rows])))
        report(found)
    return DIFFERENT if found else OK


def _rows(host: PlannedServer, ports: list[RdmaPort], root: str) -> list[dict[str, Any]]:
    nics = {nic.rdma: nic for nic in host.nics}
    colors = {
        (nic.rdma, address): color.name
        for nic in host.nics
        for color, address in zip(nic.colors, own_addresses(nic, root))
    }
    return [
        {
            "nic": gid.netdev or (nics[port.device].name if port.device in nics else "-"),
            "port": port.name,
            "state": port.state,
            "index": gid.gid_index,
            "color": colors.get((port.device, gid.address), "-"),
            "address": str(gid.address.ipv4_mapped or gid.address),
            "version": gid.version or "-",
        }
        for port in ports
        for gid in port.gids
    ]
