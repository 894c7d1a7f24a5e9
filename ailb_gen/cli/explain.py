"""`ailb-gen explain`: the design of a device, or of the whole fabric, as tables, the way a design guide shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import Table, echo_json, echo_table, notify
from ailb_gen.cli.options import FABRIC, JSON
from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from ailb_gen.design.model import Design, DesignServer, DesignSwitch, FabricPort


def explain(
    fabric: FABRIC,
    device: Annotated[
        str | None,
        typer.Argument(
            help="A leaf, a spine or a server; without it, the whole fabric.",
            metavar="DEVICE",
            autocompletion=complete.device,
            show_default=False,
        ),
    ] = None,
    as_json: JSON = False,
) -> None:
    """Print the design of the fabric or of one device as tables.

    Of a fabric: sizes, pools and ports used and left, oversubscription, colors, and how far it can grow. Of a device:
    IRBs and prefixes, ports, BGP groups; NICs, routing tables, environment.
    """
    if device is None:
        from ailb_gen.api.explain import summarize
        from ailb_gen.cli import explain_fabric

        summary = summarize(fabric, notify)
        if as_json:
            echo_json(explain_fabric.data(summary))
        else:
            _print(explain_fabric.tables(summary))
        return
    from ailb_gen.api.generate import compute_design

    tables = _tables(compute_design(fabric, notify), device)
    if as_json:
        body = {
            title: [dict(zip(columns, map(str, row), strict=True)) for row in rows] for title, columns, rows in tables
        }
        echo_json(body)
    else:
        _print(tables)


def _print(tables: Sequence[Table]) -> None:
    for number, row in enumerate(tables):
        typer.echo("", nl=number > 0)
        echo_table(*row)


def _tables(design: Design, name: str) -> list[Table]:
    for switch in design.switches:
        if switch.name == name:
            return _leaf(design, switch) if switch.role == "leaf" else _spine(switch)
    for server in design.servers:
        if server.name == name:
            return _server(server)
    from ailb_gen.wording import did_you_mean, some

    known = list(design.roles)
    hint = did_you_mean(name, known) or f"there are {len(known)}: {some(known)}"
    raise UsageError(f"{name!r}: the fabric has no such device; {hint}")


def _about(switch: DesignSwitch) -> Table:
    rows = [
        ("role", switch.role),
        ("platform", switch.platform),
        ("AS number", switch.asn),
        ("router-id", switch.router_id),
    ]
    if switch.loopback:
        rows.append(("loopback", switch.loopback))
    if switch.management:
        rows.append(("management", f"{switch.management.address} on {switch.management.interface}"))
    return (switch.name, ("what", "value"), rows)


def _fabric_ports(switch: DesignSwitch, title: str) -> Table:
    rows = [
        (port.interface, port.peer, port.peer_interface, port.color.name, port.mtu, _state(port.disabled))
        for port in switch.fabric_ports
    ]
    return (title, ("PORT", "PEER", "PEER PORT", "COLOR", "MTU", "STATE"), rows)


def _state(disabled: bool) -> str:
    return "disabled" if disabled else "in service"


def _groups(switch: DesignSwitch) -> Table:
    members = {row.name: ", ".join(row.members) for row in switch.as_lists}
    rows = [
        (
            group.name,
            color.name,
            color.community,
            members.get(group.as_list) or ", ".join(dict.fromkeys(_peer_asn(port) for port in ports)),
            ", ".join(f"{port.interface}.0" for port in ports),
        )
        for group in switch.groups
        for color in dict.fromkeys(port.color for port in group.ports)
        for ports in [[port for port in group.ports if port.color == color]]
    ]
    on = "SESSIONS ON" if switch.fabric_ports[0].addresses else "AUTO-DISCOVERY ON"
    return ("BGP groups", ("GROUP", "FABRIC-COLOR", "COMMUNITY", "PEER AS", on), rows)


def _peer_asn(port: FabricPort) -> str:
    return str(port.addresses.peer_asn) if port.addresses else ""


def _leaf(design: Design, leaf: DesignSwitch) -> list[Table]:
    from ailb_gen.design.model import HostPort

    irb = leaf.vlan.id if leaf.vlan else 0
    with_gpus = [server.config for server in design.servers if server.config.environment]
    gpu = ", ".join(dict.fromkeys(nic.name for config in with_gpus for nic in config.nics if nic.leaf == leaf.name))
    prefixes = [
        (f"irb.{irb}", irb, n, row.text, row.gateway, row.color.name, row.color.backup or "none", gpu)
        for n, row in enumerate(leaf.prefixes, 1)
    ]
    hosts = [
        (port.interface, port.server, port.nic, f"{port.speed_gbps}g", port.mtu, _state(port.disabled))
        for port in leaf.interfaces
        if isinstance(port, HostPort)
    ]
    columns = ("IRB", "VLAN", "NO", "PREFIX", "GATEWAY", "COLOR", "BACKUP", "GPU NIC")
    return [
        _about(leaf),
        ("IRB, prefixes and fabric-advertise", columns, prefixes),
        _fabric_ports(leaf, "Uplinks"),
        ("Server ports", ("PORT", "SERVER", "NIC", "SPEED", "MTU", "STATE"), hosts),
        *_spare(leaf),
        _groups(leaf),
    ]


def _spare(switch: DesignSwitch) -> list[Table]:
    from ailb_gen.design.model import SparePort

    rows = [(port.interface, port.description) for port in switch.interfaces if isinstance(port, SparePort)]
    return [("Spare ports", ("PORT", "DESCRIPTION"), rows)] if rows else []


def _spine(spine: DesignSwitch) -> list[Table]:
    return [_about(spine), _fabric_ports(spine, "Links to leaves"), *_spare(spine), _groups(spine)]


def _server(server: DesignServer) -> list[Table]:
    about: list[tuple[str, object]] = [("stripe", server.stripe)]
    if server.management:
        about.append(("management", server.management))
    nics = [
        (nic.name, nic.rdma, nic.mac or "unknown", nic.leaf, port, f"irb.{nic.vlan}", f"{nic.speed_gbps}g", nic.mtu)
        for nic, port in zip(server.config.nics, server.ports, strict=True)
    ]
    tables = [
        (nic.name, row.id, row.name, row.prefix.text, row.prefix.gateway, row.priority, row.prefix.color.name)
        for nic in server.config.nics
        for row in nic.tables
    ]
    addresses = [(nic.name, address) for nic in server.config.nics for address in nic.addresses]
    columns = ("INTERFACE", "ID", "TABLE", "PREFIX", "DEFAULT GATEWAY", "RULE PRIORITY", "COLOR")
    result: list[Table] = [
        (server.name, ("what", "value"), about),
        ("NICs", ("NIC", "RDMA", "MAC", "LEAF", "LEAF PORT", "IRB", "SPEED", "MTU"), nics),
        ("Routing tables, routes and rules", columns, tables),
    ]
    if addresses:
        result.append(("SLAAC addresses", ("INTERFACE", "ADDRESS"), addresses))
    if server.config.environment:
        result.append(("NCCL environment", ("VARIABLE", "VALUE"), list(server.config.environment)))
    return result
