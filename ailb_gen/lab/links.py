"""Links of a lab: veth pairs for cables, and the settings of the kernel by the configuration of a switch.

A port with `family inet6` has a link-local address, made of its MAC address (RFC 4291, appendix A). An IRB is a bridge
of the ports on which its VLAN goes untagged; a server's NIC sends nothing else.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntFlag
from pathlib import Path

from ailb_gen.addresses import address_text
from ailb_gen.errors import LabError
from ailb_gen.lab import run_directory
from ailb_gen.lab.kernel import links
from ailb_gen.lab.namespaces import add, batch, write_sysctl
from ailb_gen.lab.plan import LONGEST, LabPlan, PortPlan, SwitchPlan, irb_mac, mac_address
from ailb_gen.network.model import Port, Switch, Unit, vlan_interfaces

LOCK = Path("lab/links.lock")
ETHERNET_HEADER = 14
# What Junos has without `mtu`, with the Ethernet header.
JUNOS_MTU = 1514
# RFC 8200, 5; Linux takes IPv6 off a link with less. The most is that of a veth.
LEAST_MTU, MOST_MTU, LINUX_MTU, LOOPBACK_MTU = 1280, 65535, 1500, 65536
# Numbers of links: below are those that the kernel gives, to bridges and loopbacks.
FIRST_INDEX, MOST_CABLES = 10_000, 1 << 16
# Traceroutes of thousands of pairs need an answer to every packet.
EVERYWHERE = {"net.ipv6.icmp.ratelimit": 0, "net.ipv6.icmp.ratemask": ""}
# Links begin with the values of `default`, which must be set before they are made.
ON_SWITCHES = {
    "net.ipv6.conf.all.forwarding": 1,
    "net.ipv6.conf.default.accept_ra": 0,
    "net.ipv6.conf.default.accept_dad": 0,
    "net.ipv6.conf.default.addr_gen_mode": 0,
    "net.ipv6.conf.default.disable_ipv6": 1,
    "net.ipv6.conf.default.router_solicitations": 0,
    "net.ipv6.conf.all.accept_dad": 0,
    "net.ipv6.conf.all.keep_addr_on_down": 1,
    # A next hop without carrier is not used from that moment on, as with Junos's `ecmp-fast-reroute`.
    "net.ipv6.conf.default.ignore_routes_with_linkdown": 1,
    "net.ipv6.conf.all.ignore_routes_with_linkdown": 1,
    # Over addresses, protocol and ports.
    "net.ipv6.fib_multipath_hash_policy": 1,
}


class LinkGroup(IntFlag):
    """The failure of a link; the kernel stores it as the link's group, so that all processes agree.

    A link that the configuration disables, or that has failed, is down; a silent one loses what arrives at either end,
    a mute one what it sends, a deaf one what arrives at it.
    """

    DISABLED = 1
    FAILED = 2
    SILENT = 4
    MUTE = 8
    DEAF = 16


# Failures that no end sees.
LOSING = LinkGroup.SILENT | LinkGroup.MUTE | LinkGroup.DEAF


@dataclass(frozen=True, slots=True)
class Interface:
    """The required settings of a link: MTU without Ethernet header, addresses as value and length.

    `bridge` is the bridge that a port is in, `mac` the MAC address of a bridge; both empty elsewhere.
    """

    enabled: bool = False
    mtu: int = LINUX_MTU
    inet6: bool = False
    addresses: frozenset[tuple[int, int]] = frozenset()
    bridge: str = ""
    mac: str = ""


# The required settings of a device's links, by their Linux names.
LinkSettings = Mapping[str, Interface]
# Links as they are made.
BLANK, BRIDGE = Interface(), Interface(mtu=LEAST_MTU)
LOOPBACK = Interface(enabled=True, mtu=LOOPBACK_MTU, inet6=True)


def create(plan: LabPlan) -> None:
    """Make the namespaces of a lab and its cables; every end of a cable is down. Raises LabError."""
    add(plan.devices)
    for name in plan.devices:
        write_sysctl(name, EVERYWHERE | (ON_SWITCHES if name in plan.switches else {}))
    batch(list(_veths(plan)))


def _veths(plan: LabPlan) -> Iterator[str]:
    for a, b in plan.cables():
        number = plan.switches[a.device].ports[a.port].cable
        yield _veth(number, *((plan.link(end), plan.mac(end), end.device) for end in (a, b)))
    for server in plan.servers.values():
        for number, nic in enumerate(server.nics.values()):
            if nic.leaf is None:
                # The other end stays down: a NIC without carrier. No name of a NIC has a plus sign.
                spare = (f"+{number}", mac_address(0, number), server.name)
                yield _veth(MOST_CABLES + number, (nic.nic, nic.mac, server.name), spare)


def _veth(cable: int, *ends: tuple[str, str, str]) -> str:
    # The kernel tells the loss of carrier at once only of a link whose peer has another number: of others it does so
    # once a second (linkwatch_urgent_event in net/core/link_watch.c).
    near, far = (
        f"{link} address {mac} index {index} netns {device}"
        for index, (link, mac, device) in enumerate(ends, FIRST_INDEX + 2 * cable)
    )
    return f"link add {near} type veth peer name {far}"


def settings(plan: LabPlan, switch: Switch) -> LinkSettings:
    """Return the settings of the links of a switch by its configuration.

    Ports that it does not name are enabled, as in Junos. Addresses that no interface can have, such as multicast, are
    left out.
    """
    device = plan.switches[switch.named]
    bridges = _bridges(device, switch)
    found = {"lo": _loopback(device, switch)}
    for port in device.ports.values():
        found[port.link] = _port(port, switch, bridges)
    for name, (unit, _) in bridges.items():
        mtu, addresses = _mtu(switch.ports["irb"], unit), _addresses(unit)
        number = int(name.rpartition(".")[2])
        found[name] = Interface(True, mtu, unit.inet6, addresses, mac=irb_mac(device.number, number))
    return found


def powered_off(plan: LabPlan, name: str) -> LinkSettings:
    """Return the settings of a switch without power: all ports are down."""
    device = plan.switches[name]
    ports = {port.link: BLANK for port in device.ports.values()}
    return {"lo": _own_loopback(device), **ports}


def _own_loopback(device: SwitchPlan, addresses: frozenset[tuple[int, int]] = frozenset()) -> Interface:
    return Interface(True, LOOPBACK_MTU, True, addresses | {(device.address, 128)})


def _loopback(device: SwitchPlan, switch: Switch) -> Interface:
    port, unit = switch.ports.get("lo0"), switch.unit("lo0.0")
    used = port is not None and unit is not None and not port.disabled and not unit.disabled
    return _own_loopback(device, _addresses(unit) if used and unit is not None else frozenset())


def _port(plan: PortPlan, switch: Switch, bridges: Mapping[str, tuple[Unit, frozenset[str]]]) -> Interface:
    port, name = switch.ports.get(plan.port), f"{plan.port}.0"
    if port is None:
        # It is up and carries nothing.
        return Interface(enabled=True)
    unit = switch.unit(name)
    enabled = not port.disabled
    if unit is None or unit.disabled:
        return Interface(enabled, _mtu(port, None))
    bridge = next((bridge for bridge, (_, members) in bridges.items() if name in members), "")
    if bridge:
        return Interface(enabled, _mtu(port, None), bridge=bridge)
    return Interface(enabled, _mtu(port, unit), unit.inet6, _addresses(unit))


def _bridges(device: SwitchPlan, switch: Switch) -> dict[str, tuple[Unit, frozenset[str]]]:
    """Return the IRBs that belong to a VLAN, with the logical interfaces on which the VLAN goes untagged.

    A trunk sends its native VLAN untagged if it is a member of it, an access port its only VLAN.
    """
    irb = switch.ports.get("irb")
    if irb is None or irb.disabled:
        return {}
    members = vlan_interfaces(switch)
    found: dict[str, tuple[Unit, frozenset[str]]] = {}
    taken: set[int] = set()
    for vlan in switch.vlans:
        unit = switch.unit(vlan.irb) if vlan.irb is not None else None
        if vlan.vlan_id is None or unit is None or unit.disabled or unit.name in found or len(unit.name) > LONGEST:
            continue
        free = members.get(vlan.vlan_id, frozenset()) if vlan.vlan_id not in taken else frozenset()
        taken.add(vlan.vlan_id)
        found[unit.name] = (unit, frozenset(name for name in free if _untagged(device, switch, name, vlan.vlan_id)))
    return found


def _untagged(device: SwitchPlan, switch: Switch, name: str, vlan: int) -> bool:
    port, unit = name.rpartition(".")[0], switch.unit(name)
    if port not in device.ports or unit is None or not unit.switching:
        return False
    return switch.ports[port].native_vlan == vlan if unit.mode == "trunk" else len(unit.vlans) == 1


def _mtu(port: Port, unit: Unit | None) -> int:
    media = (port.mtu or JUNOS_MTU) - ETHERNET_HEADER
    mtu = min(media, unit.inet6_mtu) if unit is not None and unit.inet6_mtu else media
    return max(LEAST_MTU, min(mtu, MOST_MTU))


def _addresses(unit: Unit) -> frozenset[tuple[int, int]]:
    # ff00::/8 is multicast, :: no address, ::1 that of every host (RFC 4291).
    usable = (address for address in unit.addresses if address.value > 1 and address.value >> 120 != 0xFF)
    return frozenset((address.value, address.prefix.length) for address in usable)


def apply(name: str, old: LinkSettings | None, new: LinkSettings) -> None:
    """Change the links of a switch from the old settings (None for a new switch) to the new ones; touch nothing else.

    A link that was made to fail stays down. Raises LabError.
    """
    before = old or {}
    lines = list(_bridge_lines(before, new))
    parameters: dict[str, int] = {}
    later: list[str] = []
    with links_locked():
        toggled = {link for link, to in new.items() if link not in before or to.enabled != before[link].enabled}
        groups = {link: found.group for link, found in links(name).items()} if toggled and before else {}
        for link, to in new.items():
            was = before.get(link) or _made(link, to)
            lines += _link_lines(link, was, to)
            if link in toggled:
                group = groups.get(link, 0)
                lines.append(
                    state_line(link, group & ~LinkGroup.DISABLED if to.enabled else group | LinkGroup.DISABLED)
                )
            if was.inet6 != to.inet6:
                parameters[f"net/ipv6/conf/{link}/disable_ipv6"] = 0 if to.inet6 else 1
            later += _address_lines(link, was, to)
        batch(lines, name)
        write_sysctl(name, parameters)
        batch(later, name)


def _made(link: str, interface: Interface) -> Interface:
    if link == "lo":
        return LOOPBACK
    return BRIDGE if interface.mac else BLANK


def _bridge_lines(old: LinkSettings, new: LinkSettings) -> Iterator[str]:
    """Bridges that go, bridges that come, and a veth pair for carrier where a bridge has no port."""
    for link in [link for link, interface in old.items() if interface.mac and link not in new]:
        yield f"link del {link}"
    for link, interface in new.items():
        if interface.mac and link not in old:
            yield f"link add {link} address {interface.mac} type bridge mcast_snooping 0"
            # From its first change on, the MTU of a bridge no longer follows those of its ports.
            yield f"link set {link} mtu {LEAST_MTU}"
    had, has = _without_port(old), _without_port(new)
    for link in sorted(had - has):
        yield f"link del {_carrier(link)}"
    for link in sorted(has - had):
        yield f"link add {_carrier(link)} type veth peer name {_carrier(link)}+"
        yield f"link set {_carrier(link)} master {link} up"
        yield f"link set {_carrier(link)}+ up"


def _carrier(bridge: str) -> str:
    # No port's name has a dot.
    return f"up.{bridge.rpartition('.')[2]}"


def _without_port(interfaces: LinkSettings) -> frozenset[str]:
    used = {interface.bridge for interface in interfaces.values()}
    return frozenset(link for link, interface in interfaces.items() if interface.mac and link not in used)


def _link_lines(link: str, was: Interface, to: Interface) -> Iterator[str]:
    if was.bridge != to.bridge:
        yield f"link set {link} master {to.bridge}" if to.bridge else f"link set {link} nomaster"
    if was.mtu != to.mtu:
        yield f"link set {link} mtu {to.mtu}"


def state_line(link: str, group: int) -> str:
    """Return the command that puts a link into a group and, with a reason to be down, down."""
    return f"link set {link} group {group:d} {'down' if group & (LinkGroup.DISABLED | LinkGroup.FAILED) else 'up'}"


def _address_lines(link: str, was: Interface, to: Interface) -> Iterator[str]:
    if not to.inet6:
        return
    # Without IPv6 a link loses all addresses.
    had = was.addresses if was.inet6 else frozenset()
    for value, length in sorted(had - to.addresses):
        yield f"address del {address_text(value)}/{length} dev {link}"
    for value, length in sorted(to.addresses - had):
        yield f"address add {address_text(value)}/{length} dev {link} nodad"


@contextmanager
def links_locked() -> Iterator[None]:
    """Keep other processes of the lab from enabling and disabling links. Raises LabError."""
    lock = run_directory.here(LOCK)
    try:
        lock.parent.mkdir(exist_ok=True)
        file = lock.open("w")
    except OSError as error:
        raise LabError(f"{lock}: {error.strerror}") from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
