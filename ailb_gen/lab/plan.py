"""The plan of a lab: namespaces, the cables between them, names and MAC addresses of their ends.

It follows from the cables alone, so that a lab of unconfigured switches has the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.addresses import eui64
from ailb_gen.errors import UsageError
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.rails import rails_of

# Locally administered MAC addresses; the number of the device and that of the cable follow, two octets each.
MAC_PREFIX = 0x0200 << 32
IRB_PREFIX = 0x0201 << 32
MOST = 0xFFFF
LINK_LOCAL = 0xFE80 << 112
# fd6c:6162::/64 (RFC 4193) has the addresses by which switches answer traceroute.
LAB_ADDRESSES = 0xFD6C6162 << 96
# IFNAMSIZ of Linux, without the zero at the end.
LONGEST = 15
PORT = re.compile(r"[a-z]{2,4}-[0-9]+/[0-9]+/[0-9]+(?::[0-9]+)?")
NIC = re.compile(r"[A-Za-z0-9_.-]{1,15}")
UNICAST = re.compile(r"[0-9a-f][02468ace](?::[0-9a-f]{2}){5}")
# Interfaces that every namespace has, and names with a meaning below /proc/sys/net/ipv6/conf.
RESERVED = frozenset({"lo", "all", "default", ".", ".."})


# The cables of a device by port: the other end, the number, and the speed if the files say it.
Cables = Mapping[str, tuple[End, int, int | None]]


@dataclass(frozen=True, slots=True)
class PortPlan:
    """A port of a switch: its Linux name, its MAC address, the far end of its cable, and the cable's number.

    `speed_bps` is the cable's speed by the files, None where they give none; the lab's own links have no speed.
    """

    port: str
    link: str
    mac: str
    far: End
    cable: int
    speed_bps: int | None = None


@dataclass(frozen=True, slots=True)
class SwitchPlan:
    """A switch: its number, from 1, its role, the lab's own address of it, and its cabled ports by name."""

    name: str
    number: int
    role: str
    address: int
    ports: Mapping[str, PortPlan]


@dataclass(frozen=True, slots=True)
class NicPlan:
    """A NIC of a server on a rail, named as Linux names it.

    `leaf` is the port that it is cabled to, None without a cable.
    """

    nic: str
    mac: str
    leaf: End | None
    rail: int


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """A server: its number, counted on after the switches, and its NICs by name."""

    name: str
    number: int
    nics: Mapping[str, NicPlan]


@dataclass(frozen=True, slots=True)
class LabPlan:
    """The devices of a lab and its cables between switches; the number of a cable is its index here, plus one.

    `neighbors_needed` is the number of entries that the neighbor table of the kernel, one for all namespaces, must
    hold when all devices on every link have talked to each other.
    """

    switches: Mapping[str, SwitchPlan]
    servers: Mapping[str, ServerPlan]
    links: tuple[Cable, ...]
    neighbors_needed: int

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of all devices, which are those of their namespaces: switches, then servers."""
        return (*self.switches, *self.servers)

    def link(self, end: End) -> str:
        """Return the Linux name of an end of a cable."""
        switch = self.switches.get(end.device)
        return switch.ports[end.port].link if switch is not None else end.port

    def mac(self, end: End) -> str:
        """Return the MAC address of an end of a cable."""
        switch = self.switches.get(end.device)
        return (switch.ports if switch is not None else self.servers[end.device].nics)[end.port].mac

    def cables(self) -> Iterator[tuple[End, End]]:
        """Iterate over the ends of all cables, those of leaves and switches first."""
        yield from ((cable.a, cable.b) for cable in self.links)
        for server in self.servers.values():
            yield from ((nic.leaf, End(server.name, nic.nic)) for nic in server.nics.values() if nic.leaf is not None)


def plan(network: Network) -> LabPlan:
    """Plan the lab of a fabric.

    Raises UsageError for cables that cannot be laid: two in one port, between two servers, with names that Linux does
    not take, or more devices or cables than there are numbers.
    """
    # Those that only cables know come last.
    cabled_switches = {end.device for end in (*network.link_ends(), *network.attachments.values())}
    names = (*network.switches, *sorted(cabled_switches - network.switches.keys()))
    servers = (*network.hosts, *sorted({server for server, _ in network.attachments} - network.hosts.keys()))
    _check(network, names, servers)
    numbers = {name: number for number, name in enumerate((*names, *servers), start=1)}
    speeds = network.attachment_bps
    attached = [Cable(leaf, End(*nic), speed_bps=speeds.get(leaf)) for nic, leaf in network.attachments.items()]
    far: dict[str, dict[str, tuple[End, int, int | None]]] = defaultdict(dict)
    for number, cable in enumerate((*network.links, *attached), start=1):
        for own, peer in ((cable.a, cable.b), (cable.b, cable.a)):
            far[own.device][own.port] = (peer, number, cable.speed_bps)
    switches = {name: _switch(name, numbers[name], network.roles.get(name, "leaf"), far[name]) for name in names}
    cabled = len(network.links) + len(attached)
    return LabPlan(
        switches=switches,
        servers={name: _server(network, name, numbers[name], far[name], cabled) for name in servers},
        links=network.links,
        neighbors_needed=_neighbors(network),
    )


def unit_link(switch: SwitchPlan, unit: str) -> str | None:
    """Return the Linux name of a logical interface: of the port for its unit 0, of the bridge for an IRB.

    None if the lab has no such interface: a port without a cable, or a unit of a port other than 0.
    """
    port, _, number = unit.rpartition(".")
    if port == "irb":
        return unit if len(unit) <= LONGEST and number.isdecimal() else None
    if unit == "lo0.0":
        return "lo"
    found = switch.ports.get(port)
    return found.link if found is not None and number == "0" else None


def port_of(interface: str) -> str:
    """Return the port of a logical interface; a port itself."""
    return interface.rpartition(".")[0] or interface


def link_names(ports: Iterable[str]) -> dict[str, str]:
    """Name the links of the ports of one switch; all differ, and none is `lo` or the name of an IRB."""
    found: dict[str, str] = {}
    others: list[str] = []
    for port in sorted(set(ports)):
        link = port.replace("/", "-").replace(":", "_")
        if PORT.fullmatch(port) and len(link) <= LONGEST:
            found[port] = link
        else:
            others.append(port)
    # No port that was named above has a plus sign.
    return found | {port: f"{_readable(port)}+{number}" for number, port in enumerate(others)}


def link_local(mac: str) -> int:
    """Return the link-local address of a MAC address (RFC 4291, appendix A)."""
    return LINK_LOCAL | eui64(mac)


def mac_address(device: int, cable: int) -> str:
    """Return the MAC address of a device's end of a cable, so that addresses are ordered as devices, then cables."""
    return (MAC_PREFIX | device << 16 | cable).to_bytes(6, "big").hex(":")


def irb_mac(device: int, unit: int) -> str:
    """Return the MAC address of the bridge of an IRB; IRBs of one switch are in different bridges."""
    return (IRB_PREFIX | device << 16 | unit & 0xFFFF).to_bytes(6, "big").hex(":")


def _readable(port: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", port, flags=re.ASCII)[: LONGEST - 6]


def _check(network: Network, names: tuple[str, ...], servers: tuple[str, ...]) -> None:
    both = sorted(set(names) & set(servers))
    if both:
        raise UsageError(f"{both[0]} is a switch and a server; give one of them another name")
    attached = ((leaf, End(*nic)) for nic, leaf in network.attachments.items())
    used = Counter((*network.link_ends(), *(end for pair in attached for end in pair)))
    twice = next((end for end, count in used.items() if count > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} has {used[twice]} cables; a port takes one")
    if len(names) + len(servers) > MOST or len(used) > MOST:
        raise UsageError(f"a lab has at most {MOST} devices and {MOST // 2} cables")


def _switch(name: str, number: int, role: str, far: Cables) -> SwitchPlan:
    links = link_names(far)
    ports = {
        port: PortPlan(port, links[port], mac_address(number, cable), end, cable, speed_bps)
        for port, (end, cable, speed_bps) in far.items()
    }
    return SwitchPlan(name, number, role, LAB_ADDRESSES | number, ports)


def _server(network: Network, name: str, number: int, far: Cables, cabled: int) -> ServerPlan:
    host = network.hosts.get(name)
    configured = host.profile.nics if host is not None else {}
    nics = {}
    names = list(dict.fromkeys((*configured, *far)))
    for spare, (nic, rail) in enumerate(rails_of(network, name, names).items(), start=1):
        if not NIC.fullmatch(nic) or nic in RESERVED:
            raise UsageError(
                f"{name}: {nic!r} cannot be the name of a NIC of Linux; it has at most {LONGEST} characters"
            )
        leaf, cable, _ = far.get(nic, (None, cabled + spare, None))
        written = (configured[nic].mac if nic in configured else None) or ""
        mac = written if UNICAST.fullmatch(written) else mac_address(number, cable & MOST)
        nics[nic] = NicPlan(nic, mac, leaf, rail)
    return ServerPlan(name, number, nics)


def _neighbors(network: Network) -> int:
    """Count two entries for a link; for a NIC those of its leaf, and its own for the leaf and for its neighbors."""
    nics = Counter(leaf.device for leaf in network.attachments.values())
    found = 2 * len(network.links)
    for name, count in nics.items():
        switch = network.switches.get(name)
        units = switch.ports["irb"].units if switch is not None and "irb" in switch.ports else ()
        addresses = 1 + sum(len(unit.addresses) for unit in units)
        found += count * (count + 1) * addresses
    return found
