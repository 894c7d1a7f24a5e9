"""The GID tables of RDMA devices, as sysfs has them, and how they differ from the plan.

A NIC has a GID of every address for every version of RoCE, in the order in which it got the addresses: an address too
many moves those after it (Documentation/ABI/stable/sysfs-class-infiniband).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from .files import INDEX, PlannedNic, PlannedServer, names, read_text, slaac_address, whole

DEVICES = "sys/class/infiniband"
ROCE_V2 = "RoCE v2"
NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000"


class Gid(NamedTuple):
    """An entry of a GID table; `version` and `netdev` are empty where the driver does not say."""

    gid_index: int
    address: ipaddress.IPv6Address
    version: str
    netdev: str


class RdmaPort(NamedTuple):
    """A port of an RDMA device: its state and link layer as sysfs writes them, and its GIDs."""

    device: str
    number: int
    state: str
    link_layer: str
    gids: tuple[Gid, ...]

    @property
    def name(self) -> str:
        """The port in messages, and in `UCX_NET_DEVICES`."""
        return f"{self.device}:{self.number}"


def read_ports(root: str) -> list[RdmaPort]:
    """Return all ports of all RDMA devices of the server, by name and number."""
    return [
        _port(root, device, number)
        for device in names(root, DEVICES)
        for number in names(root, f"{DEVICES}/{device}/ports")
        if number.isdecimal()
    ]


def _port(root: str, device: str, number: str) -> RdmaPort:
    path = f"{DEVICES}/{device}/ports/{number}"
    # `4: ACTIVE`
    state = (read_text(root, path + "/state") or "unknown").rpartition(": ")[2]
    return RdmaPort(device, int(number), state, read_text(root, path + "/link_layer") or "", tuple(_gids(root, path)))


def _gids(root: str, path: str) -> Iterator[Gid]:
    for index in names(root, path + "/gids"):
        address = _address(read_text(root, f"{path}/gids/{index}") or NO_GID)
        if not index.isdecimal() or address is None:
            continue
        version = read_text(root, f"{path}/gid_attrs/types/{index}") or ""
        yield Gid(int(index), address, version, read_text(root, f"{path}/gid_attrs/ndevs/{index}") or "")


@lru_cache(maxsize=4096)
def _address(text: str) -> ipaddress.IPv6Address | None:
    """Return the address of a GID, which comes once for every version; None when there is none."""
    try:
        return None if text == NO_GID else ipaddress.IPv6Address(bytes.fromhex(text.replace(":", "")))
    except ValueError:
        return None


def v2_index(port: RdmaPort, address: ipaddress.IPv6Address | None) -> int | None:
    """Return the index of the RoCE v2 GID of an address; None when the port has none."""
    return next((gid.gid_index for gid in port.gids if gid.version == ROCE_V2 and gid.address == address), None)


class GidFinding(NamedTuple):
    """Something that differs from the plan: the NIC, what it is, and what to do."""

    nic: str
    reason: str
    repair: str

    def __str__(self) -> str:
        return f"{self.nic}: {self.reason}; {self.repair}"


def findings(host: PlannedServer, ports: list[RdmaPort], root: str) -> list[GidFinding]:
    """Compare the GID tables of the server's NICs with the plan."""
    first = {port.device: port for port in reversed(ports)}
    return [finding for nic in host.nics for finding in _nic(nic, first.get(nic.rdma), host, root)]


def mac_of(nic: PlannedNic, root: str) -> str:
    """Return the MAC that a NIC has now; empty when there is no interface of its name."""
    return read_text(root, f"sys/class/net/{nic.name}/address") or ""


def own_addresses(nic: PlannedNic, root: str) -> tuple[ipaddress.IPv6Address, ...]:
    """Return the address of every color, from the MAC that the NIC has now; none without a NIC of that name."""
    try:
        return tuple(slaac_address(color.prefix, mac_of(nic, root)) for color in nic.colors)
    except ValueError:
        return ()


def _nic(nic: PlannedNic, port: RdmaPort | None, host: PlannedServer, root: str) -> Iterator[GidFinding]:
    mac, addresses = mac_of(nic, root), own_addresses(nic, root)
    if not addresses:
        yield GidFinding(nic.name, "there is no such interface", "check its name and driver: ip link")
    elif nic.mac and mac != nic.mac:
        yield GidFinding(nic.name, f"its MAC is {mac}, the fabric file has {nic.mac}", "correct the one that is wrong")
    if port is None:
        yield GidFinding(nic.name, f"there is no RDMA device {nic.rdma}", "check its name and driver: rdma link")
        return
    if port.link_layer not in ("", "Ethernet"):
        yield GidFinding(nic.name, f"{port.name} is set to {port.link_layer}", "set the port to Ethernet and restart")
    if port.state != "ACTIVE":
        yield GidFinding(nic.name, f"{port.name} is {port.state}", "check the cable and the port of the leaf")
    if addresses:
        yield from _colors(nic, port, addresses)
        yield from _extra(nic, port, addresses, host)
        yield from _pinned(nic, port, addresses, host)


def _colors(nic: PlannedNic, port: RdmaPort, addresses: tuple[ipaddress.IPv6Address, ...]) -> Iterator[GidFinding]:
    if port.gids and all(gid.version != ROCE_V2 for gid in port.gids):
        reason = f"{port.name} has no {ROCE_V2} GID at all"
        yield GidFinding(nic.name, reason, "set its RoCE mode to v2, and load its driver again")
        return
    netdevs = {gid.gid_index: gid.netdev for gid in port.gids}
    for color, address in zip(nic.colors, addresses):
        index = v2_index(port, address)
        if index is None:
            reason = f"{port.name} has no {ROCE_V2} GID of {address} (color {color.name})"
            yield GidFinding(nic.name, reason, f"check the address: ip -6 address show dev {nic.name}")
        elif netdevs[index] not in ("", nic.name):
            reason = f"GID {index} of {port.name} (color {color.name}) belongs to {netdevs[index]}"
            yield GidFinding(nic.name, reason, f"remove the address from {netdevs[index]}")


def _extra(
    nic: PlannedNic, port: RdmaPort, addresses: tuple[ipaddress.IPv6Address, ...], host: PlannedServer
) -> Iterator[GidFinding]:
    """Report addresses that no color has, each once, with the first GID that they take."""
    reported = set(addresses)
    indexes = [v2_index(port, address) for address in addresses]
    for gid in port.gids:
        if gid.address in reported or gid.address.is_link_local:
            continue
        reported.add(gid.address)
        later = sum(index is not None and index > gid.gid_index for index in indexes)
        before = f", before those of {later} of {len(addresses)} colors" if later else ""
        kind, text = _described(gid.address, host)
        repair = f"remove it: ip address del {text} dev {gid.netdev or nic.name}"
        yield GidFinding(nic.name, f"{kind} {text} takes GID {gid.gid_index} of {port.name}{before}", repair)


def _described(address: ipaddress.IPv6Address, host: PlannedServer) -> tuple[str, str]:
    """Return what an address is, and its text for `ip address del`."""
    if address.ipv4_mapped is not None:
        return "IPv4 address", f"{address.ipv4_mapped}/32"
    color = host.color_of(address)
    return f"second address of color {color}" if color else "address of no color", f"{address}/64"


def _pinned(
    nic: PlannedNic, port: RdmaPort, addresses: tuple[ipaddress.IPv6Address, ...], host: PlannedServer
) -> Iterator[GidFinding]:
    """Report a GID index of the environment that is not the one of the first color."""
    pinned, index = whole(host.environment.get(INDEX)), v2_index(port, addresses[0])
    if pinned is None or index in (None, pinned):
        return
    found = next((gid for gid in port.gids if gid.gid_index == pinned), None)
    text = "empty"
    if found is not None:
        address = found.address.ipv4_mapped or found.address
        text = f"{address} ({found.version or 'of no known version'})"
    reason = f"{INDEX} is {pinned}, which is {text} on {port.name}; color {nic.colors[0].name} has {index}"
    yield GidFinding(nic.name, reason, "use the environment of: ailb-host gids --env")
