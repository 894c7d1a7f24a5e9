"""A switch as read from its text: addresses, sessions, colors, policies and class of service.

Everything here is read from files. `line` is the line of the statement in the switch's file; it never takes part in
comparisons, so that switches configured alike compare equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ailb_gen.addresses import Prefix
from ailb_gen.network.cos import ClassOfService
from ailb_gen.network.filters import Filters
from ailb_gen.network.policy import Community, Policy, PrefixList
from ailb_gen.textio import line_field

GIGABIT = 10**9
_UNITS = {"m": 10**6, "g": GIGABIT}
_SPEED = re.compile(r"([0-9]{1,9})([mg])", re.IGNORECASE)


def read_speed(text: str | None) -> int | None:
    """Return the bit/s of `400g` or `100m`; None without a text, 0 for one that is no such speed, as `auto`."""
    if not text:
        return None
    found = _SPEED.fullmatch(text)
    return int(found[1]) * _UNITS[found[2].lower()] if found is not None else 0


def speed_text(bps: int | None) -> str:
    """Write a speed as Junos takes it."""
    if not bps:
        return "unknown"
    return f"{bps // GIGABIT}g" if bps % GIGABIT == 0 else f"{bps // _UNITS['m']}m"


# Where NETCONF over SSH listens (RFC 6242).
NETCONF_PORT = 830


@dataclass(frozen=True, slots=True)
class Address:
    """An IPv6 address of an interface with the prefix that it spans."""

    value: int
    prefix: Prefix
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Unit:
    """A logical interface, such as `et-0/0/0:0.0` or `irb.2`.

    `others` are families besides inet6 and ethernet-switching, with their lines.
    """

    name: str
    inet6: bool
    inet6_mtu: int | None
    addresses: tuple[Address, ...]
    bad_addresses: tuple[tuple[str, int], ...]
    inet_addresses: tuple[tuple[str, int], ...]
    switching: bool
    mode: str | None
    vlans: tuple[tuple[str, int], ...]
    disabled: bool
    others: tuple[tuple[str, int], ...] = ()
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Port:
    """A physical interface; `mtu` counts the Ethernet header, None where nothing is configured.

    `ethernet` are the statements about error correction and negotiation, as text in order, with their lines.
    """

    name: str
    description: str
    mtu: int | None
    native_vlan: int | None
    speed_bps: int | None
    sub_ports: int | None
    disabled: bool
    units: tuple[Unit, ...]
    ethernet: tuple[tuple[str, int], ...] = ()
    line: int = line_field()
    description_line: int = line_field()
    mtu_line: int = line_field()
    native_vlan_line: int = line_field()


@dataclass(frozen=True, slots=True)
class Vlan:
    """A VLAN with the IRB that routes for it."""

    name: str
    vlan_id: int | None
    irb: str | None
    description: str = ""
    line: int = line_field()
    description_line: int = line_field()


@dataclass(frozen=True, slots=True)
class RaPrefix:
    """A prefix that router advertisements announce; without on-link or autonomous, hosts form no address of it.

    Lifetimes are as written, in seconds, empty where Junos's default holds.
    """

    prefix: Prefix
    on_link: bool
    autonomous: bool
    valid: str = ""
    preferred: str = ""
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class RouterAdvertisement:
    """`protocols router-advertisement interface NAME`; times in seconds, None where Junos's default holds.

    `others` are the statements that are none of these and that change what hosts learn, with their lines.
    """

    interface: str
    prefixes: tuple[RaPrefix, ...]
    bad_prefixes: tuple[tuple[str, int], ...]
    max_interval: int | None
    min_interval: int | None
    lifetime: int | None
    others: tuple[tuple[str, int], ...] = ()
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class SessionBfd:
    """`bfd-liveness-detection`: interval in ms and the number of packets that may be lost, None for Junos's 3."""

    interval_ms: int | None
    multiplier: int | None
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Discovery:
    """A `dynamic-neighbor`: the interfaces on which peers are found by IPv6 neighbor discovery."""

    name: str
    ipv6_nd: bool
    interfaces: tuple[tuple[str, int], ...]
    forbidden: tuple[tuple[str, int], ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A static neighbor of a group: its name as written and as an address, None if it is no IPv6 address.

    `interface` is the logical interface of the switch on whose prefix the address is, `own` the switch's address there;
    the interface is empty where there is none.
    """

    name: str
    address: int | None
    interface: str
    own: int
    peer_as: int | None
    # It changes no session.
    description: str = field(default="", compare=False)
    line: int = line_field()
    description_line: int = line_field()
    peer_as_line: int = line_field()


@dataclass(frozen=True, slots=True)
class Group:
    """A BGP group with what it inherits from `protocols bgp` filled in.

    A group whose static neighbors differ, in colors for example, is read as several of the same name, each with the
    neighbors that are configured alike. `color` is the name of its color community, `forbidden` what may not stand
    beside auto-discovery, `typed` whether the type is written and not left to Junos. `shutdown_sender` is
    `graceful-shutdown sender`, `shutdown_preference` the local preference of routes that carry the community of a
    graceful shutdown (RFC 8326), None where the receiver is disabled.
    """

    name: str
    external: bool
    color: str | None
    local_as: int | None
    imports: tuple[str, ...]
    exports: tuple[str, ...]
    inet6: bool
    aigp: bool
    multipath: bool
    multiple_as: bool
    bfd: SessionBfd | None
    peer_as: int | None
    peer_as_list: str | None
    discoveries: tuple[Discovery, ...]
    neighbors: tuple[Neighbor, ...]
    forbidden: tuple[tuple[str, int], ...]
    typed: bool = True
    disabled: bool = False
    shutdown_sender: bool = False
    shutdown_preference: int | None = 0
    line: int = line_field()
    color_line: int = line_field()
    local_as_line: int = line_field()
    peer_as_line: int = line_field()

    @property
    def has_sessions(self) -> bool:
        """Whether it has neighbors, discovered or static."""
        return bool(self.discoveries or self.neighbors)

    @property
    def interfaces(self) -> tuple[tuple[str, int], ...]:
        """The logical interfaces on which it names neighbors to discover or static ones, with the lines."""
        found = [pair for discovery in self.discoveries for pair in discovery.interfaces]
        found += [(neighbor.interface, neighbor.line) for neighbor in self.neighbors if neighbor.interface]
        return tuple(found)

    def neighbor(self, interface: str) -> Neighbor | None:
        """Return the static neighbor on a logical interface; None where there is none."""
        if not self.neighbors:
            return None
        return next((one for one in self.neighbors if one.interface == interface), None)


@dataclass(frozen=True, slots=True)
class FabricRoute:
    """`protocols bgp fabric-advertise route`: a prefix with its color and the color, or all, that back it up."""

    prefix: Prefix
    color: str | None
    backup: str | None
    line: int = line_field()
    color_line: int = line_field()
    backup_line: int = line_field()


@dataclass(frozen=True, slots=True)
class AsList:
    """`policy-options as-list`: ranges of AS numbers, both ends included; `bad` are other members, with lines."""

    name: str
    ranges: tuple[tuple[int, int], ...]
    bad: tuple[tuple[str, int], ...] = ()
    line: int = line_field()

    def __contains__(self, asn: int) -> bool:
        for low, high in self.ranges:  # noqa: SIM110 - a generator for every session takes as long as the rest
            if low <= asn <= high:
                return True
        return False


@dataclass(frozen=True, slots=True)
class SwitchLoadBalancing:
    """Load balancing of a switch.

    `per_packet` tells whether the forwarding table exports a policy that balances all routes; `dlb` are the statements
    below ecmp-dlb with their lines, `glb` those below global-load-balancing in one text. `policies` are the names of
    those that the forwarding table exports.
    """

    per_packet: bool
    fast_reroute: bool
    maximum_ecmp: int
    dlb: tuple[tuple[str, int], ...]
    glb: str
    policies: frozenset[str] = frozenset()
    table_line: int = line_field()
    ecmp_line: int = line_field()
    dlb_line: int = line_field()
    glb_line: int = line_field()


@dataclass(frozen=True, slots=True)
class SwitchManagement:
    """How a switch is reached.

    `addresses` are those of management ports, with their logical interface; `statements` what decides about a login, as
    text with its line; `users` those who have a login on the switch itself, each with its class.
    """

    netconf_port: int = NETCONF_PORT
    addresses: tuple[tuple[str, str], ...] = ()
    statements: tuple[tuple[str, int], ...] = ()
    users: tuple[tuple[str, str], ...] = ()

    @property
    def interfaces(self) -> tuple[str, ...]:
        """The logical interfaces of management ports that have an address."""
        return tuple(dict.fromkeys(name for name, _ in self.addresses))


@dataclass(frozen=True, slots=True)
class Unmodeled:
    """A statement that is neither read nor known to be harmless.

    `statement` ends with the first word that is not known, `whole` with the last one if nothing else stands below.
    """

    statement: str
    whole: str
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch as its file describes it; `file` is relative to the artifact directory.

    `named` is the file's name without suffix, `host_name` what the text says. `lldp` are the interfaces, or `all`, on
    which LLDP runs, but for those in `lldp_off`. `unmodeled` are statements that may change what is computed here and
    that nothing computes, `harmless` those that cannot, as text; `unknown_groups` are groups that are applied and not
    defined. `operating` are the statements, as text, by which it is managed and watched (see network/switch.py),
    `sections` are the first words of its statements, below `protocols` the first two. `management_gateway` is where its
    management instance sends packets to, empty for no default route; `management` is by what it is reached for a push.
    """

    named: str
    file: str
    host_name: str
    asn: int | None
    router_id: str | None
    ports: dict[str, Port]
    vlans: tuple[Vlan, ...]
    advertisements: dict[str, RouterAdvertisement]
    communities: dict[str, Community]
    as_lists: dict[str, AsList]
    prefix_lists: dict[str, PrefixList]
    policies: dict[str, Policy]
    groups: tuple[Group, ...]
    routes: tuple[FabricRoute, ...]
    bad_routes: tuple[tuple[str, int], ...]
    balancing: SwitchLoadBalancing
    cos: ClassOfService
    lldp: frozenset[str]
    lldp_off: frozenset[str]
    filters: Filters
    unmodeled: tuple[Unmodeled, ...]
    harmless: frozenset[str] = frozenset()
    unknown_groups: tuple[tuple[str, int], ...] = ()
    operating: frozenset[str] = frozenset()
    sections: frozenset[str] = frozenset()
    management_gateway: str = ""
    management: SwitchManagement = SwitchManagement()
    host_name_line: int = line_field()
    asn_line: int = line_field()
    router_id_line: int = line_field()
    management_line: int = line_field()
    bgp_line: int = line_field()
    last_line: int = line_field()

    def runs_lldp(self, port: str) -> bool:
        """Return whether LLDP runs on a port; what is said of it counts more than what is said of all."""
        names = {port, f"{port}.0"}
        return not names & self.lldp_off and not {"all", *names}.isdisjoint(self.lldp)

    def unit(self, name: str) -> Unit | None:
        """Return a logical interface by its full name, such as `irb.2`."""
        port = self.ports.get(name.rpartition(".")[0])
        return next((unit for unit in port.units if unit.name == name), None) if port is not None else None


MEMBERS = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")


def vlan_interfaces(switch: Switch) -> Mapping[int, frozenset[str]]:
    """Return the logical interfaces in every VLAN of a switch, its IRB among them."""
    names = {vlan.name: vlan.vlan_id for vlan in switch.vlans}
    found: dict[int, set[str]] = {}
    for vlan in switch.vlans:
        if vlan.vlan_id is not None and vlan.irb is not None and switch.unit(vlan.irb) is not None:
            found.setdefault(vlan.vlan_id, set()).add(vlan.irb)
    for port in switch.ports.values():
        for unit in port.units:
            for word, _ in unit.vlans if unit.switching else ():
                for number in _numbers(word, names):
                    found.setdefault(number, set()).add(unit.name)
    return {vlan: frozenset(members) for vlan, members in found.items()}


def _numbers(word: str, names: Mapping[str, int | None]) -> Sequence[int]:
    """Return the VLANs that a member of `vlan members` stands for: a name, a number, a range of them, or all."""
    if word in names:
        number = names[word]
        return () if number is None else (number,)
    found = MEMBERS.fullmatch("1-4094" if word == "all" else word)
    return range(int(found[1]), int(found[2] or found[1]) + 1) if found is not None else ()
