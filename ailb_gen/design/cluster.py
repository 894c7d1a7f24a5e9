"""The designs of a cluster's fabrics together: servers with the NICs of all fabrics, and what two fabrics share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from ailb_gen.design.model import Design, DesignServer, DesignSwitch, HostConfig, HostNic
from ailb_gen.design.problems import collapsed
from ailb_gen.errors import IntentError, Problem
from ailb_gen.intent.cluster import Cluster
from ailb_gen.intent.nccl import DEVICE_LISTS
from ailb_gen.layout import cluster_profile
from ailb_gen.yamlio import Path


class _DesignUse(NamedTuple):
    """A name or number that a device of a fabric has, where its plan is written, and the code of its problem."""

    code: str
    what: str
    value: str
    device: str
    path: Path


def check_cluster(cluster: Cluster, designs: Sequence[Design]) -> tuple[Problem, ...]:
    """Return warnings about what two fabrics share. Raises IntentError for what they must not share."""
    found: list[Problem] = []
    known: dict[tuple[str, str], tuple[str, str]] = {}
    for intent, design in zip(cluster.intents, designs, strict=True):
        own: dict[tuple[str, str], tuple[str, str]] = {}
        for use in _uses(design):
            key = (use.what, use.value)
            own.setdefault(key, (use.device, design.name))
            if key in known:
                device, fabric = known[key]
                reason = f"{use.what} {use.value} of {use.device} is already that of {device} in fabric {fabric}"
                # BGP takes no harm: no route goes from one fabric to another.
                asn = use.code == "duplicate-asn"
                found.append(intent.problem(use.code, use.path, reason, severity="warning" if asn else "error"))
        known = own | known
    found += _conflicts(cluster, designs)
    if any(problem.severity == "error" for problem in found):
        raise IntentError(collapsed(found))
    return tuple(collapsed(found))


def _uses(design: Design) -> Iterator[_DesignUse]:
    """Iterate over the names and numbers of a fabric that no other fabric of a cluster may have."""
    for switch in design.switches:
        yield from _of_switch(switch)
    for server in design.servers:
        if server.management:
            address = server.management.partition("/")[0]
            yield _DesignUse("duplicate-address", "management address", address, server.name, ("management", "servers"))
        for nic in server.config.nics:
            yield from _of_nic(server.name, nic)


def _of_switch(switch: DesignSwitch) -> Iterator[_DesignUse]:
    plans = "leaves" if switch.role == "leaf" else "spines"
    yield _DesignUse("duplicate-name", "the device name", switch.name.lower(), switch.name, ("names", switch.role))
    yield _DesignUse("duplicate-asn", "AS number", str(switch.asn), switch.name, ("asn", plans))
    yield _DesignUse("duplicate-router-id", "router-id", switch.router_id, switch.name, ("router_ids", plans))
    if switch.loopback:
        yield _DesignUse("duplicate-address", "loopback", switch.loopback, switch.name, ("loopbacks", plans))
    if switch.management is not None:
        address = switch.management.address.partition("/")[0]
        yield _DesignUse("duplicate-address", "management address", address, switch.name, ("management", plans))
    for prefix in switch.prefixes:
        yield _DesignUse("overlapping-pools", "prefix", prefix.text, switch.name, ("addressing", "pool"))


def _of_nic(server: str, nic: HostNic) -> Iterator[_DesignUse]:
    owner, first = f"{nic.name} of {server}", ("hosts", "first_nic")
    yield _DesignUse("duplicate-name", f"on {server} the NIC name", nic.name.lower(), owner, first)
    yield _DesignUse("duplicate-name", f"on {server} the RDMA device", nic.rdma, owner, ("hosts", "rdma"))
    if nic.mac:
        yield _DesignUse("duplicate-mac", "MAC address", nic.mac, owner, ("servers",))
    for table in nic.tables:
        yield _DesignUse("conflict", f"on {server} table", str(table.id), owner, ("tables", "first"))
        yield _DesignUse("conflict", f"on {server} table name", table.name, owner, first)
        yield _DesignUse("conflict", f"on {server} rule priority", str(table.priority), owner, ("tables", "priority"))


# What a server has once, for the NICs of all fabrics: where it is decided, and how a message names it.
SHARED = {
    "accept_ra": (("hosts", "forwarding"), "forwarding of packets"),
    "max_addresses": (("colors",), "the number of addresses of a NIC"),
    "qos": (("roce",), "class of service for RoCE"),
}


def _conflicts(cluster: Cluster, designs: Sequence[Design]) -> Iterator[Problem]:
    """Iterate over what servers have once and two fabrics say differently, and over servers that are switches."""
    first: dict[str, tuple[DesignServer, str]] = {}
    switches = {switch.name.lower(): design.name for design in designs for switch in design.switches}
    for intent, design in zip(cluster.intents, designs, strict=True):
        for server in design.servers:
            if switches.get(server.name.lower(), design.name) != design.name:
                reason = f"server {server.name} has the name of a switch in fabric {switches[server.name.lower()]}"
                yield intent.problem("duplicate-name", ("servers",), reason)
            other, fabric = first.setdefault(server.name.lower(), (server, design.name))
            if other.name != server.name:
                reason = f"server {server.name} has the name of server {other.name} in fabric {fabric} in other letters"
                yield intent.problem(
                    "duplicate-name", ("servers",), reason, "spell a server's name alike in all fabrics"
                )
            if other.management and server.management and other.management != server.management:
                reason = f"server {server.name} has the management address {other.management} in fabric {fabric}"
                yield intent.problem("conflict", ("management", "servers"), reason, "give it in one of the fabrics")
            for field, (path, what) in SHARED.items():
                if getattr(server.config, field) != getattr(other.config, field):
                    reason = f"{what} of server {server.name} is another one in fabric {fabric}; a server has one"
                    yield intent.problem("conflict", path, reason)
            for name in _different(other.config, server.config):
                reason = f"{name} of server {server.name} is another one in fabric {fabric}; a server has one"
                yield intent.problem(
                    "conflict", ("nccl",), reason, "give both fabrics the same colors and NCCL settings"
                )


def _different(one: HostConfig, other: HostConfig) -> list[str]:
    """Return the variables of jobs that two fabrics say differently."""
    rows = [dict(each.environment) for each in (one, other)]
    return [key for key in dict.fromkeys(chain(*rows)) if _common(key, rows[0]) != _common(key, rows[1])]


def _common(key: str, variables: Mapping[str, str]) -> str | None:
    """Return what all fabrics of a server must say of a variable: of a list of devices only that there is one."""
    value = variables.get(key)
    return "" if key in DEVICE_LISTS and value is not None and not value.startswith("^") else value


def cluster_servers(designs: Sequence[Design]) -> tuple[DesignServer, ...]:
    """Return the servers of all fabrics, each once with the NICs of all its fabrics."""
    parts: dict[str, list[tuple[str, DesignServer]]] = {}
    for design in designs:
        for server in design.servers:
            parts.setdefault(server.name, []).append((design.name, server))
    configs: dict[tuple[tuple[str, int], ...], HostConfig] = {}
    return tuple(_server(rows, configs) for rows in parts.values())


def _server(
    rows: Sequence[tuple[str, DesignServer]], configs: dict[tuple[tuple[str, int], ...], HostConfig]
) -> DesignServer:
    key = tuple((fabric, id(server.config)) for fabric, server in rows)
    if key not in configs:
        configs[key] = _config([(fabric, server.config) for fabric, server in rows])
    first = rows[0][1]
    ports = tuple(port for _, server in rows for port in server.ports)
    management = next((server.management for _, server in rows if server.management), "")
    return replace(first, management=management, ports=ports, config=configs[key])


def _config(rows: Sequence[tuple[str, HostConfig]]) -> HostConfig:
    first = rows[0][1]
    return replace(
        first,
        profile=cluster_profile([(fabric, config.profile) for fabric, config in rows]),
        nics=tuple(nic for _, config in rows for nic in config.nics),
        environment=tuple(_environment([dict(config.environment) for _, config in rows]).items()),
    )


def _environment(rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the variables of the first fabric, with the RDMA devices of all."""
    lists = {key: _joined([row[key] for row in rows if key in row]) for key in DEVICE_LISTS if key in rows[0]}
    return {**rows[0], **lists}


def _joined(lists: Sequence[str]) -> str:
    """Return one list of devices for several; `=` before it says that names are whole (NCCL_IB_HCA)."""
    mark = "=" if lists[0].startswith("=") else ""
    return mark + ",".join(dict.fromkeys(name for one in lists for name in one.removeprefix("=").split(",")))


def cluster_design(cluster: Cluster, designs: Sequence[Design]) -> Design:
    """Return a design with the devices of all fabrics; what a fabric has once is that of the first."""
    return replace(
        designs[0],
        name=cluster.name,
        digest=cluster.digest,
        leaves=tuple(leaf for design in designs for leaf in design.leaves),
        spines=tuple(spine for design in designs for spine in design.spines),
        servers=cluster_servers(designs),
        links=tuple(link for design in designs for link in design.links),
        drained=tuple(f"{design.name}: {line}" for design in designs for line in design.drained),
    )
