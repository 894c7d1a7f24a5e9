"""Links of a lab that are down, its servers' ports, and the places that findings about them have in the files."""

from __future__ import annotations

from dataclasses import dataclass

from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import port_override
from ailb_gen.errors import Place
from ailb_gen.layout import NETPLAN
from ailb_gen.network.fabric import End


@dataclass(frozen=True, slots=True)
class DownLinks:
    """Both ends of the links that carry nothing: those that have failed on purpose, and others, which are `dark`.

    The intent knows of the first alone; waiting for what only the others could carry would be in vain.
    """

    failed: frozenset[End] = frozenset()
    dark: frozenset[End] = frozenset()

    @property
    def all(self) -> frozenset[End]:
        """All of them."""
        return self.failed | self.dark


NO_LINKS_DOWN = DownLinks()


def leaf_ports(context: Context) -> dict[End, End]:
    """Return the port of the leaf of every NIC whose cable is in service."""
    cables = ((End(cable.b_device, cable.b_port), End(cable.a_device, cable.a_port)) for cable in context.cabling.hosts)
    return {nic: port for nic, port in cables if not port_override(context.expected, port).disabled}


def bgp_place(context: Context, device: str, port: str = "") -> Place | None:
    """Return where a switch configures BGP, or the group with the neighbor on a port; None without a file."""
    switch = context.network.switches.get(device)
    if switch is None:
        return None
    groups = (group.line for group in switch.groups if f"{port}.0" in dict(group.interfaces))
    return Place(switch.file, next(groups, switch.bgp_line) or 1)


def host_place(context: Context, server: str) -> Place | None:
    """Return the netplan file of a server; None without files."""
    host = context.network.hosts.get(server)
    return Place(f"{host.profile.folder}/{NETPLAN}") if host is not None else None
