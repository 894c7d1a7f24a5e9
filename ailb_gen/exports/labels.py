"""Devices and uplinks as inventories and monitoring name them: addresses, groups, labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ailb_gen.design.model import Design, DesignServer, DesignSwitch, FabricPort


@dataclass(frozen=True, slots=True)
class UplinkEnd:
    """One end of a leaf-spine link that is in service; `stripe` and `rail` are those of its leaf."""

    device: str
    interface: str
    color: str
    peer: str
    peer_interface: str
    role: str
    stripe: str
    rail: str


def address(device: DesignSwitch | DesignServer) -> str:
    """Return the management address without its length, else the device's name, which DNS must know then."""
    if isinstance(device, DesignServer):
        given = device.management
    else:
        given = device.management.address if device.management else ""
    return given.partition("/")[0] or device.name


def fabric_ports(switch: DesignSwitch) -> tuple[FabricPort, ...]:
    """Return the ports of a switch to leaves or spines that are in service."""
    return tuple(port for port in switch.fabric_ports if not port.disabled)


def uplinks(design: Design) -> Iterator[UplinkEnd]:
    """Iterate over both ends of all leaf-spine links in service, by switch."""
    places = {leaf.name: (str(leaf.stripe), str(leaf.number - 1)) for leaf in design.leaves}
    for switch in design.switches:
        for port in fabric_ports(switch):
            place = places[switch.name if switch.role == "leaf" else port.peer]
            ends = (switch.name, port.interface, port.color.name, port.peer, port.peer_interface)
            yield UplinkEnd(*ends, switch.role, *place)


def colors(switch: DesignSwitch) -> list[str]:
    """Return the colors of the links of a switch, in the fabric's order."""
    found = {port.color.number: port.color.name for port in switch.fabric_ports}
    return [found[number] for number in sorted(found)]


def groups(device: DesignSwitch | DesignServer) -> list[str]:
    """Return the groups of a device, the most specific first: those that the inventory of `deploy` has."""
    if isinstance(device, DesignServer):
        own = [device.kind] if device.kind else []
        return list(dict.fromkeys((*own, f"stripe{device.stripe}", "server")))
    place = [f"rail{device.number - 1}", f"stripe{device.stripe}"] if device.role == "leaf" else []
    return [*place, device.role, "switch"]


def labels(design: Design, device: DesignSwitch | DesignServer) -> dict[str, str]:
    """Return the labels of a device in monitoring; `color` is there for a switch whose links share one color.

    The name of a server is `server`: exporters on servers have NICs and RDMA devices in the label `device`.
    """
    if isinstance(device, DesignServer):
        kind = {"kind": device.kind} if device.kind else {}
        place = {"role": "server", "stripe": str(device.stripe)}
        return {"fabric": design.name, "server": device.name, **place, **kind}
    found = {"fabric": design.name, "device": device.name, "role": device.role}
    if device.role == "leaf":
        found |= {"stripe": str(device.stripe), "rail": str(device.number - 1)}
    own = colors(device)
    return found | ({"color": own[0]} if len(own) == 1 else {})
