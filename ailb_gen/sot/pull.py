"""What the files of a fabric say about its devices, from a source of truth: servers, switches, cables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from ailb_gen.checks.expected_hosts import nic_name, places
from ailb_gen.design.model import Design, DesignServer, DesignSwitch, Link
from ailb_gen.design.ports import sort_key
from ailb_gen.errors import AilbError
from ailb_gen.intent.as_built import CABLE_COLUMNS, SWITCH_COLUMNS
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.scalars import Cidr, Ipv4Interface, Mac, NicName, PortName, RdmaName
from ailb_gen.intent.servers import Server, ServerKind
from ailb_gen.intent.servers_csv import PLAIN_COLUMNS
from ailb_gen.network.rails import natural
from ailb_gen.sot.site import Site, SitePort, shown
from ailb_gen.textio import csv_text
from ailb_gen.validation import Name
from ailb_gen.wording import clean

FILES = SERVERS, SWITCHES, CABLING = "servers.csv", "switches.csv", "cabling.csv"
# The role of servers there; a kind of server may be a role, too.
SERVER_ROLE = "server"
PLAIN_KIND = ServerKind()


class UnusableError(AilbError):
    """A source of truth has names or addresses that no file may hold; names every object."""


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """What the intent says: its design, and the kind of servers by name."""

    fabric: Fabric
    design: Design
    switches: Mapping[str, DesignSwitch]
    servers: Mapping[str, DesignServer]
    kinds: Mapping[str, str]

    def kind(self, name: str) -> ServerKind:
        """Return a kind of servers, by default the plain one."""
        return self.fabric.server_kinds.get(name, PLAIN_KIND)

    def rails(self, kind: str, stripe: int) -> tuple[int, ...]:
        """Return the rails of the NICs of servers of a kind in a stripe; 0: the stripe is not known."""
        leaves = sum(leaf.stripe == stripe for leaf in self.design.leaves) or self.fabric.rails
        rails = self.kind(kind).rails
        return tuple(range(leaves)) if rails is None else rails

    def nic_name(self, kind: str, number: int) -> str:
        """Return the name that a NIC has by the pattern of its kind."""
        return nic_name(self.fabric, self.kind(kind), number)

    def rdma_name(self, kind: str, number: int) -> str:
        """Return the name that the RDMA device of a NIC has by its kind, or no text."""
        names = self.kind(kind).rdma
        names = self.fabric.hosts.rdma if names is None else names
        if isinstance(names, str):
            return names.format(i=self.fabric.hosts.first_nic + number)
        return names[number] if number < len(names) else ""


def known_of(fabric: Fabric, design: Design) -> KnownDevice:
    """Return what an intent says."""
    return KnownDevice(
        fabric,
        design,
        {switch.name: switch for switch in design.switches},
        {server.name: server for server in design.servers},
        {place.name: place.kind_name for place in places(fabric)},
    )


@dataclass(frozen=True, slots=True)
class PulledNic:
    """A NIC as it is there: port, RDMA device and MAC (empty if unknown), and the leaf port that it is cabled to."""

    port: SitePort
    rdma: str
    mac: str
    peer: SitePort | None


@dataclass(frozen=True, slots=True)
class PulledServer:
    """A server as it is there; `stripe` is 0 where nothing says it, `nics` are by number.

    `stripes` counts the cables to the leaves of each stripe. `surplus` are cabled ports that are no NIC of the server.
    """

    name: str
    stripe: int
    kind: str
    management: str
    management_mac: str
    nics: Mapping[int, PulledNic]
    stripes: Mapping[int, int]
    surplus: tuple[SitePort, ...] = ()


@dataclass(slots=True)
class PullCheck:
    """Texts from outside that files hold: those that the intent would refuse are noted, with the object."""

    service: str
    refused: dict[str, None] = field(default_factory=dict)

    def text(self, kind: TypeAdapter[str] | TypeAdapter[Cidr], value: str, what: str) -> str:
        """Return a text if the intent takes it, else no text."""
        try:
            kind.validate_python(value)
        except ValidationError as error:
            reason = error.errors()[0]["msg"].replace(repr(value), repr(shown(value)))
            self.refused[f"{self.service}, {what}: {clean(reason)}"] = None
            return ""
        return value

    def stop(self) -> None:
        """Raise UnusableError if a text was refused."""
        if self.refused:
            raise UnusableError("\n".join([*self.refused, "nothing was written; correct these objects there"]))


NAME, NIC_NAME, RDMA_NAME = TypeAdapter[str](Name), TypeAdapter[str](NicName), TypeAdapter[str](RdmaName)
PORT_NAME, MAC, ADDRESS = TypeAdapter[str](PortName), TypeAdapter[str](Mac), TypeAdapter[Cidr](Ipv4Interface)


def is_port(name: str) -> bool:
    """Return whether a name is that of a port of a switch that data takes, not of management."""
    try:
        PORT_NAME.validate_python(name)
    except ValidationError:
        return False
    return True


def members(site: Site, known: KnownDevice) -> list[str]:
    """Return the names of the servers of the fabric that are there, in no order.

    A server is known to the intent, or has the fabric's tag, or is cabled to a leaf; and it has the role of one.
    """
    roles = {SERVER_ROLE, *known.fabric.server_kinds}
    return [
        name
        for name, rows in site.devices.items()
        if name in known.servers
        or (
            name not in known.switches
            and site.field(name, "role") in roles
            and (any(row.owned for row in rows) or any(True for _ in _leaf_cables(site, known, name)))
        )
    ]


def _leaf_cables(site: Site, known: KnownDevice, device: str) -> Iterator[tuple[SitePort, SitePort, DesignSwitch]]:
    """Yield the cables of a device to leaves: its port, the port of the leaf, the leaf."""
    for port, cable in site.cables_of(device):
        peer = cable.other(port)
        leaf = known.switches.get(peer.device)
        if leaf is not None and leaf.role == "leaf" and is_port(peer.name):
            yield port, peer, leaf


def server_of(site: Site, known: KnownDevice, name: str, checked: PullCheck) -> PulledServer:
    """Return a server as it is there.

    Its stripe is that of most of its cables' leaves, else what our context there or the intent says. A NIC is found by
    its name in the intent, else by the rail of the leaf that it is cabled to.
    """
    cables = {port: (peer, leaf) for port, peer, leaf in _leaf_cables(site, known, name)}
    stripes = Counter(leaf.stripe for _, leaf in cables.values())
    design, context = known.servers.get(name), site.context(name)
    kinds = (site.field(name, "role"), context.get("kind"))
    kind = next((one for one in kinds if one in known.fabric.server_kinds), known.kinds.get(name, ""))
    stripe = _stripe(stripes, context.get("stripe"), design, known)
    rails = known.rails(kind, stripe)
    own = {nic.index: nic.name for nic in design.config.nics} if design else {}
    by_number = {
        number: port
        for number in range(len(rails))
        if site.port(port := SitePort(name, own.get(number) or known.nic_name(kind, number))) is not None
    }
    surplus = []
    for port, (_, leaf) in cables.items():
        if port in by_number.values():
            continue
        rail = leaf.number - 1
        if rail in rails and rails.index(rail) not in by_number:
            by_number[rails.index(rail)] = port
        else:
            surplus.append(port)
    nics = {
        number: _nic(site, port, cables[port][0] if port in cables else None, context, checked)
        for number, port in sorted(by_number.items())
    }
    what, management = f"device {shown(name)}", _management(site, name, checked)
    mac = _management_mac(site, name, design.management_mac if design else "", checked)
    return PulledServer(checked.text(NAME, name, what), stripe, kind, management, mac, nics, stripes, tuple(surplus))


def _stripe(stripes: Mapping[int, int], said: object, design: DesignServer | None, known: KnownDevice) -> int:
    if stripes:
        return min(stripes, key=lambda stripe: (-stripes[stripe], stripe))
    if isinstance(said, int) and 1 <= said <= len(known.fabric.stripes):
        return said
    if design is not None:
        return design.stripe
    return 1 if len(known.fabric.stripes) == 1 else 0


def _nic(
    site: Site, port: SitePort, peer: SitePort | None, context: Mapping[str, object], checked: PullCheck
) -> PulledNic:
    checked.text(NIC_NAME, port.name, f"interface {port}")
    macs, rdma = site.macs.get(port, ()), ""
    described = context.get("nics")
    about = described.get(port.name) if isinstance(described, dict) else None
    if isinstance(about, dict) and isinstance(about.get("rdma"), str):
        rdma = checked.text(RDMA_NAME, about["rdma"], f"RDMA device of {port} in the context of the device")
    mac = checked.text(MAC, macs[0], f"MAC address of {port}") if macs else ""
    return PulledNic(port, rdma, mac, peer)


def _management(site: Site, name: str, checked: PullCheck) -> str:
    """Return the primary IPv4 address of a device with its prefix length, or no text; the intent has no IPv6 there."""
    address = site.field(name, "primary_ip")
    return "" if ":" in address else address and checked.text(ADDRESS, address, f"primary address of {shown(name)}")


def _management_mac(site: Site, name: str, known: str, checked: PullCheck) -> str:
    """Return the MAC address of the only management port that has one, else what the intent knows."""
    rows = site.ports.get(name, {})
    ports = [SitePort(name, port) for port, row in rows.items() if row.record.fields.get("management")]
    macs = [(port, site.macs[port][0]) for port in ports if site.macs.get(port)]
    return checked.text(MAC, macs[0][1], f"MAC address of {macs[0][0]}") if len(macs) == 1 else known


class BuiltCable(NamedTuple):
    """A row of `cabling.csv` before it is written: both ends, and the cells that follow."""

    a: SitePort
    b: SitePort
    speed: str
    kind: str
    color: str
    rail: str


def cables_of(site: Site, known: KnownDevice, servers: Iterable[PulledServer]) -> list[BuiltCable]:
    """Return the cables of the fabric: of leaves to spines, by both and link, then of leaves to servers, by port.

    Parallel links of two switches keep their order in the intent; then their colors there and their ports decide.
    """
    nics = {nic.port for server in servers for nic in server.nics.values()}
    nics |= {port for server in servers for port in server.surplus}
    ours: dict[tuple[str, str], list[Link]] = defaultdict(list)
    for link in known.design.links:
        ours[link.leaf, link.spine].append(link)
    links: dict[tuple[str, str], list[BuiltCable]] = defaultdict(list)
    hosts = []
    for leaf in known.design.leaves:
        for port, cable in site.cables_of(leaf.name):
            peer = cable.other(port)
            spine = known.switches.get(peer.device)
            if not is_port(port.name):
                continue
            if peer in nics:
                hosts.append(BuiltCable(port, peer, _speed(site, port), "host", "", str(leaf.number - 1)))
            elif spine is not None and spine.role == "spine" and is_port(peer.name):
                row = BuiltCable(port, peer, _speed(site, port), "fabric", cable.color, "")
                links[leaf.name, spine.name].append(row)
    order = [(leaf.name, spine.name) for leaf in known.design.leaves for spine in known.design.spines]
    ordered = [row for pair in order for row in _in_order(links.get(pair, []), ours.get(pair, []))]
    place = {leaf.name: number for number, leaf in enumerate(known.design.leaves)}
    return ordered + sorted(hosts, key=lambda row: (place[row.a.device], sort_key(row.a.name), row.b))


def _in_order(rows: list[BuiltCable], ours: Sequence[Link]) -> list[BuiltCable]:
    """Return the links of two switches in the order of their numbers."""
    left = sorted(rows, key=lambda row: (sort_key(row.a.name), sort_key(row.b.name)))
    if len(left) < 2:
        return left
    placed: dict[int, BuiltCable] = {}
    same: tuple[Callable[[BuiltCable, Link], bool], ...] = (
        lambda row, link: (row.a.name, row.b.name) == (link.leaf_interface, link.spine_interface),
        lambda row, link: row.color == link.color.name,
        lambda row, link: True,
    )
    for agrees in same:
        for number, link in enumerate(ours):
            found = next((row for row in left if number not in placed and agrees(row, link)), None)
            if found is not None:
                placed[number] = found
                left.remove(found)
    return [placed[number] for number in sorted(placed)] + left


def _speed(site: Site, port: SitePort) -> str:
    speed = (site.port(port) or {}).get("speed")
    return f"{speed}g" if isinstance(speed, int) and speed else ""


@dataclass(frozen=True, slots=True)
class Pulled:
    """What was pulled: the servers, in the order of their rows, the cables, and the management port by switch.

    The port: its address, its MAC, and the serial number of the chassis, which only the intent knows.
    """

    servers: tuple[PulledServer, ...]
    cables: tuple[BuiltCable, ...]
    management: Mapping[str, tuple[str, str, str]]

    def files(self, known: KnownDevice) -> dict[str, bytes]:
        """Return the contents of the files by name."""
        texts = {
            SERVERS: _servers_csv(self.servers, known),
            SWITCHES: csv_text(
                SWITCH_COLUMNS,
                (
                    (one.name, one.role, *self.management[one.name])
                    for one in known.design.switches
                    if one.name in self.management
                ),
            ),
            CABLING: csv_text(CABLE_COLUMNS, ((*row.a, *row.b, *row[2:]) for row in self.cables)),
        }
        return {name: text.encode() for name, text in texts.items()}


def pull(site: Site, known: KnownDevice) -> Pulled:
    """Return what the site says about the fabric. Raises UnusableError for names that no file may hold."""
    checked = PullCheck(site.service)
    servers = _ordered((server_of(site, known, name, checked) for name in members(site, known)), known)
    management = {
        name: (
            _management(site, name, checked),
            _management_mac(site, name, switch.management.mac if switch.management else "", checked),
            switch.management.serial if switch.management else "",
        )
        for name, switch in known.switches.items()
        if name in site.devices
    }
    checked.stop()
    return Pulled(servers, tuple(cables_of(site, known, servers)), management)


def _ordered(servers: Iterable[PulledServer], known: KnownDevice) -> tuple[PulledServer, ...]:
    """Return servers in the order of their rows: those of the intent keep theirs, new ones follow by stripe and name.

    The order counts: ports and addresses that no column gives are handed out by it.
    """
    listed = [entry.name for entry in known.fabric.servers.list if isinstance(entry, Server)]
    places = {name: number for number, name in enumerate(dict.fromkeys((*listed, *known.kinds)))}
    return tuple(
        sorted(
            servers,
            key=lambda server: (places.get(server.name, len(places)), server.stripe, natural(server.name), server.name),
        )
    )


def _servers_csv(servers: Sequence[PulledServer], known: KnownDevice) -> str:
    """Return `servers.csv`: names of NICs and RDMA devices only where they differ from those of the fabric file."""
    rows: list[dict[str, object]] = []
    for server in servers:
        row: dict[str, object] = {"name": server.name, "stripe": server.stripe or "", "kind": server.kind}
        row |= {"management": server.management, "management_mac": server.management_mac}
        for number, nic in server.nics.items():
            row[f"mac{number}"], row[f"port{number}"] = nic.mac, _own_port(server, number, nic, known)
            if nic.rdma != known.rdma_name(server.kind, number):
                row[f"rdma{number}"] = nic.rdma
            if nic.port.name != known.nic_name(server.kind, number):
                row[f"nic{number}"] = nic.port.name
        rows.append(row)
    most = max((len(known.rails(server.kind, server.stripe)) for server in servers), default=0)
    filled = {column for row in rows for column, value in row.items() if value}
    always = [*PLAIN_COLUMNS, *(f"{kind}{number}" for kind in ("mac", "port") for number in range(most))]
    more = [f"{kind}{number}" for kind in ("rdma", "nic") for number in range(most)]
    header = [*always, *(column for column in more if column in filled)]
    return csv_text(header, ([row.get(column, "") for column in header] for row in rows))


def _own_port(server: PulledServer, number: int, nic: PulledNic, known: KnownDevice) -> str:
    """Return the leaf port of a NIC if it is one of the leaf on its rail: of another, the column cannot tell."""
    leaf = known.switches.get(nic.peer.device) if nic.peer else None
    rail = known.rails(server.kind, server.stripe)[number]
    right = leaf is not None and (leaf.stripe, leaf.number - 1) == (server.stripe, rail)
    return nic.peer.name if nic.peer is not None and right else ""
