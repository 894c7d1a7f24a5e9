"""Which interface is which NIC of the plan: by its MAC, else by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .files import PlannedNic, names, read_text
from .iproute import query, quoted

# Kinds of interfaces that stand on others and have their MAC.
STACKED = frozenset({"bond", "bridge", "ipvlan", "macsec", "macvlan", "macvtap", "team", "vlan", "vrf"})


class ServerInterface(NamedTuple):
    """An interface of the server; `macs` are its permanent MAC and the one that it has now, `bond` is empty in none."""

    name: str
    macs: tuple[str, str]
    stacked: bool
    up: bool
    bond: str


class Choice(NamedTuple):
    """The interface taken for a NIC of the plan; `note` says why where its name or its MAC differs."""

    nic: PlannedNic
    interface: ServerInterface
    note: str


def read_interfaces() -> list[ServerInterface]:
    """Return the interfaces of the server. Raises HostError."""
    return [_interface(row) for row in query("-d", "link", "show")]


def _interface(row: dict[str, Any]) -> ServerInterface:
    details, mac = row.get("linkinfo", {}), row.get("address", "")
    bond = row.get("master", "") if details.get("info_slave_kind") == "bond" else ""
    # A NIC in a bond has the MAC of the bond.
    macs = (row.get("permaddr", mac), mac)
    return ServerInterface(row["ifname"], macs, details.get("info_kind") in STACKED, "UP" in row.get("flags", ()), bond)


def choose(
    nics: Sequence[PlannedNic], interfaces: Sequence[ServerInterface], root: str
) -> tuple[list[Choice], list[str]]:
    """Return the interface of every NIC, and a line for each NIC that none or more than one fits."""
    by_name = {one.name: one for one in interfaces}
    macs = {nic.mac.lower() for nic in nics}
    by_mac = {nic.name: _with_mac(nic.mac.lower(), macs, interfaces) for nic in nics}
    owners = {one.name: name for name, found in by_mac.items() for one in found}
    choices, refused = [], []
    for nic in nics:
        found, named = by_mac[nic.name], by_name.get(nic.name)
        if len(found) == 1:
            other = found[0].name != nic.name
            note = f"{nic.name} is {quoted(found[0].name)} here, which has its MAC {nic.mac}" if other else ""
            choices.append(Choice(nic, found[0], note))
        elif found:
            both = " and ".join(quoted(one.name) for one in found)
            refused.append(f"{nic.name}: {both} have its MAC {nic.mac}; set the MAC of one of them to its own")
        elif named is None:
            refused.append(f"{nic.name}: {_absent(nic, root)}")
        elif nic.name in owners:
            absent = f"no interface has its MAC {nic.mac}, and " if nic.mac else ""
            reason = f"{absent}the one of its name has the MAC of {owners[nic.name]}"
            refused.append(f"{nic.name}: {reason}; correct mac in the fabric file")
        else:
            mac = f"no interface has its MAC {nic.mac}, and this one has {named.macs[1]}"
            choices.append(Choice(nic, named, f"{nic.name} is taken by its name: {mac}" if nic.mac else ""))
    return choices, refused


def _with_mac(mac: str, planned: set[str], interfaces: Sequence[ServerInterface]) -> list[ServerInterface]:
    """Return the interfaces with that permanent MAC, else those that have it now and are no other NIC of the plan.

    What stands on other interfaces is left out.
    """
    physical = [one for one in interfaces if mac and not one.stacked]
    permanent = [one for one in physical if one.macs[0] == mac]
    return permanent or [one for one in physical if one.macs[1] == mac and one.macs[0] not in planned]


def _absent(nic: PlannedNic, root: str) -> str:
    """Return what is missing, and the repair; the RDMA device of the plan may tell the present name."""
    reason = f"no interface has this name{f' or the MAC {nic.mac}' if nic.mac else ''}"
    devices = names(root, f"sys/class/infiniband/{nic.rdma}/device/net")
    if len(devices) != 1:
        return f"{reason}; check the NIC and its driver: ip link"
    return f"{reason}; {nic.rdma} is {quoted(devices[0])}: name that {nic.name}, or set mac in the fabric file"


def obstacle(interface: ServerInterface, root: str) -> str:
    """Return why an interface can have no IPv6 routes, and the repair; empty when it can."""
    name = quoted(interface.name)
    if interface.bond:
        return f"{name} is part of {quoted(interface.bond)}; take it out: ip link set {name} nomaster"
    if not interface.up:
        return f"{name} is down; set it up: ip link set {name} up"
    if read_text(root, f"proc/sys/net/ipv6/conf/{interface.name}/disable_ipv6") == "1":
        return f"IPv6 is disabled on {name}; enable it: sysctl -w net/ipv6/conf/{name}/disable_ipv6=0"
    return ""
