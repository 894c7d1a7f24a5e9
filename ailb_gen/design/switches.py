"""Leaves and spines: interfaces, BGP groups by color, AS lists and policies' inputs, from the wires."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

from ailb_gen.addresses import address_text
from ailb_gen.design.inventory import Slot
from ailb_gen.design.model import (
    BgpGroup,
    Breakout,
    ColorPrefix,
    DesignAsList,
    DesignManagement,
    DesignSwitch,
    DesignVlan,
    DeviceSettings,
    FabricPort,
    HostPort,
    LinkAddresses,
    SparePort,
)
from ailb_gen.design.numbers import SwitchNumbers, ipv4_text
from ailb_gen.design.ports import PortUse, breakouts, sort_key
from ailb_gen.design.servers import HostPortUse
from ailb_gen.design.wiring import Wire
from ailb_gen.intent.plans import Bgp
from ailb_gen.intent.settings import PortOverride

# What `chassis maximum-ecmp` takes (junos-conf-chassis.yang); 16 is the default.
ECMP_STEPS = (16, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512)
DEFAULT_ECMP = 16
NO_OVERRIDE = PortOverride()
SPARE = "spare"
INTERFACE = attrgetter("interface")


@dataclass(frozen=True, slots=True)
class SwitchParts:
    """The inputs of `build_switch`, gathered by the caller for all switches at once.

    `links` are, by leaf and port, the address of the leaf's end and the AS numbers of leaf and spine; empty where
    neighbors are discovered.
    """

    numbers: SwitchNumbers
    gateway: str
    settings: DeviceSettings
    vlan: DesignVlan | None
    prefixes: tuple[ColorPrefix, ...]
    wires: Sequence[Wire]
    bgp: Bgp
    links: Mapping[tuple[str, str], tuple[int, int, int]]
    hosts: Sequence[HostPortUse]
    as_lists: dict[str, DesignAsList]
    drained: frozenset[str]
    graceful_shutdown: bool
    spare: tuple[str, ...]


def ranges(numbers: Iterable[int]) -> tuple[str, ...]:
    """Write numbers as Junos as-list members: `65001-65004`, `65010`."""
    result: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if result and result[-1][1] + 1 == number:
            result[-1] = (result[-1][0], number)
        else:
            result.append((number, number))
    return tuple(str(first) if first == last else f"{first}-{last}" for first, last in result)


def maximum_ecmp(paths: int) -> int:
    """Return the `maximum-ecmp` that so many equal paths (at most 512) need; 0 when the default does."""
    return 0 if paths <= DEFAULT_ECMP else next(step for step in ECMP_STEPS if step >= paths)


def _port(slot: Slot, use: PortUse, parts: SwitchParts, default: str) -> tuple[str, str, int, str, bool]:
    """Return name, description, MTU, speed statement of a port, and whether it is disabled."""
    override = slot.device.ports.get(use.interface, NO_OVERRIDE)
    return (
        use.interface,
        override.description or default,
        override.mtu or parts.settings.port_mtu,
        use.statement,
        override.disabled or use.interface in parts.drained,
    )


def _fabric_ports(slot: Slot, parts: SwitchParts) -> tuple[FabricPort, ...]:
    """Return the ends of the links on a switch, in the order of the wires."""
    is_leaf = slot.role == "leaf"
    if not (slot.device.ports or parts.drained or parts.links):
        # Of the hundred thousand links of a large fabric, nearly all have nothing of their own.
        mtu = parts.settings.port_mtu
        return tuple(
            [
                FabricPort(port, f"facing_{spine}:{far}", mtu, wire.leaf_use.statement, False, color, spine, far)
                for wire in parts.wires
                for _, port, spine, far, color, _ in (wire.link,)
            ]
            if is_leaf
            else [
                FabricPort(port, f"facing_{leaf}:{far}", mtu, wire.spine_use.statement, False, color, leaf, far)
                for wire in parts.wires
                for leaf, far, _, port, color, _ in (wire.link,)
            ]
        )
    return tuple(_fabric_port(slot, wire, parts) for wire in parts.wires)


def _fabric_port(slot: Slot, wire: Wire, parts: SwitchParts) -> FabricPort:
    link = wire.link
    if slot.role == "leaf":
        use, peer, peer_interface = wire.leaf_use, link.spine, link.spine_interface
    else:
        use, peer, peer_interface = wire.spine_use, link.leaf, link.leaf_interface
    port = _port(slot, use, parts, f"facing_{peer}:{peer_interface}")
    addresses = None
    if found := parts.links.get((link.leaf, link.leaf_interface)):
        own, leaf_asn, spine_asn = found
        ends = (address_text(own), address_text(own + 1))
        addresses = LinkAddresses(*ends, spine_asn) if slot.role == "leaf" else LinkAddresses(*ends[::-1], leaf_asn)
    return FabricPort(*port, link.color, peer, peer_interface, addresses)


def _host_ports(slot: Slot, parts: SwitchParts) -> list[HostPort]:
    """Return the ports to servers."""
    if not (slot.device.ports or parts.drained):
        mtu = parts.settings.port_mtu
        return [
            HostPort(use.interface, f"to.{server}:{nic}", mtu, use.statement, False, server, nic, use.speed_gbps)
            for _, use, server, nic, _ in parts.hosts
        ]
    return [
        HostPort(*_port(slot, row.use, parts, f"to.{row.server}:{row.nic}"), row.server, row.nic, row.use.speed_gbps)
        for row in parts.hosts
    ]


@lru_cache(64)
def _order(names: tuple[str, ...]) -> tuple[int, ...]:
    """Return how to sort ports of these names; switches of a platform that are cabled alike have the same."""
    return tuple(sorted(range(len(names)), key=lambda number: sort_key(names[number])))


@lru_cache(64)
def _types(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types of ports, such as `et`."""
    return tuple(sorted({name[:2] for name in names}))


def _groups(
    ports: Sequence[FabricPort], peers: str, bgp: Bgp, as_lists: dict[str, DesignAsList]
) -> tuple[BgpGroup, ...]:
    static = bgp.neighbors == "static"
    if bgp.groups == "single":
        return (BgpGroup("fabric", None, "", "", tuple(ports)),)
    rows: dict[str, list[FabricPort]] = defaultdict(list)
    for port in ports:
        rows[port.color.name].append(port)
    return tuple(
        BgpGroup(
            name=f"fabric-{name}",
            color=row[0].color,
            neighbor="" if static else f"{peers}-{name}",
            as_list="" if static else as_lists[name].name,
            ports=tuple(row),
        )
        for name, row in sorted(rows.items(), key=lambda item: item[1][0].color.number)
    )


def build_switch(slot: Slot, parts: SwitchParts) -> DesignSwitch:
    """Put a leaf or a spine together."""
    is_leaf = slot.role == "leaf"
    fabric_ports = _fabric_ports(slot, parts)
    uses = [wire.leaf_use if is_leaf else wire.spine_use for wire in parts.wires]
    split = breakouts([*uses, *(row.use for row in parts.hosts)])
    host_ports = _host_ports(slot, parts)
    spare = [SparePort(name, slot.device.ports.get(name, NO_OVERRIDE).description or SPARE) for name in parts.spare]
    used: list[Breakout | FabricPort | HostPort] = [*split, *fabric_ports, *host_ports]
    rows, names = [*used, *spare], tuple(map(INTERFACE, used))
    groups = _groups(fabric_ports, "spines" if is_leaf else "leaves", parts.bgp, parts.as_lists)
    used_lists = {group.as_list for group in groups}
    links = Counter(wire.link.leaf for wire in parts.wires)
    loopback, cidr = parts.numbers.loopback[0], parts.numbers.management[0]
    port, given = slot.ports.profile.management_interface, slot.device
    identity = (given.mac or "", given.serial or "")
    management = DesignManagement(port, str(cidr), parts.gateway, *identity) if cidr else None
    return DesignSwitch(
        name=slot.name,
        role=slot.role,
        stripe=slot.stripe,
        number=slot.number,
        platform=slot.ports.name,
        asn=parts.numbers.asn[0],
        router_id=ipv4_text(parts.numbers.router_id[0]),
        loopback=address_text(loopback) if loopback else "",
        management=management,
        vlan=parts.vlan,
        prefixes=parts.prefixes,
        interfaces=tuple([rows[number] for number in _order((*names, *parts.spare))]),
        fabric_ports=fabric_ports,
        port_types=_types(names),
        groups=groups,
        as_lists=tuple(row for row in dict.fromkeys(parts.as_lists.values()) if row.name in used_lists),
        maximum_ecmp=maximum_ecmp(max(links.values(), default=0)),
        device_settings=parts.settings,
        extra_config=slot.extra_config,
        graceful_shutdown=parts.graceful_shutdown,
    )
