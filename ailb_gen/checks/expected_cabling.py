"""Compute from the intent alone which ports are cabled to each other, and how they are split for that."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from ailb_gen.checks.expected_hosts import DEFAULT_NIC, nic_name, places
from ailb_gen.checks.expected_switches import LEAF, SPINE, ExpectedSwitch, Outline, profile_of
from ailb_gen.intent.models import Downlinks, Fabric
from ailb_gen.intent.platforms import Profile
from ailb_gen.intent.servers import HostPorts, Spread


class ExpectedCable(NamedTuple):
    """A cable with the cells of its row in `cabling.csv`: a leaf first, then a spine or a server's NIC."""

    a_device: str
    a_port: str
    b_device: str
    b_port: str
    speed: str
    kind: str
    color: str
    rail: str


@dataclass(frozen=True, slots=True)
class ExpectedCabling:
    """The cables of the fabric.

    `splits` says, per switch and physical port, into how many sub-ports it is split; others are not split. `spare` are
    the ports of every switch that are left free on purpose. `addresses` are those of both ends of every link, by device
    and port; there are none where neighbors are discovered.
    """

    links: tuple[ExpectedCable, ...]
    hosts: tuple[ExpectedCable, ...]
    splits: Mapping[str, Mapping[str, int]]
    spare: Mapping[str, tuple[str, ...]]
    addresses: Mapping[tuple[str, str], int]


Splits = dict[str, dict[str, int]]
# The number of sub-ports, and the ports of all links by neighbor.
_Table = tuple[int, tuple[tuple[str, ...], ...]]


def _table(profile: Profile, spread: Spread | Downlinks, speed: int, neighbors: int, links: int) -> _Table:
    """Return the ports of a platform for the links to every neighbor; a surplus link gets a port name that says so."""
    names = profile.port_names()
    first = names[min(spread.first_port, len(names) - 1)]
    group = next(group for group in profile.port_groups if first in group.names())
    sub_ports = spread.sub_ports or max(group.speeds.get(speed, ()), default=1)
    ports_each = -(-links // sub_ports)

    def port(neighbor: int, link: int) -> str:
        if spread.packing == "packed":
            number, channel = divmod(neighbor * links + link, sub_ports)
        else:
            number, channel = divmod(link, sub_ports)
            number += neighbor * ports_each
        number += spread.first_port
        name = names[number] if number < len(names) else f"port number {number}"
        return name if sub_ports == 1 else f"{name}:{channel}"

    return sub_ports, tuple(tuple(port(neighbor, link) for link in range(links)) for neighbor in range(neighbors))


class _Ports:
    """Assigns the ports of one kind of cable, and records how they are split."""

    __slots__ = ("fabric", "links", "neighbors", "speed", "splits", "spread", "tables")

    def __init__(
        self, fabric: Fabric, spread: Spread | Downlinks, speed: int, size: tuple[int, int], splits: Splits
    ) -> None:
        self.fabric, self.spread, self.speed, self.splits = fabric, spread, speed, splits
        self.neighbors, self.links = size
        self.tables: dict[str, _Table] = {}

    def of(self, device: str, platform: str, neighbor: int, named: tuple[str | None, ...] = ()) -> tuple[str, ...]:
        """Return the ports of a device to a neighbor; those that the intent names go first."""
        if platform not in self.tables:
            profile = profile_of(self.fabric, platform)
            self.tables[platform] = _table(profile, self.spread, self.speed, self.neighbors, self.links)
        sub_ports, table = self.tables[platform]
        found = table[neighbor]
        if any(named):
            found = tuple(own or port for own, port in zip((*named, *(None,) * self.links), found, strict=False))
        for port in found:
            physical, colon, _ = port.partition(":")
            if colon:
                self.splits[device][physical] = sub_ports
        return found


def expected_cabling(expected: Outline) -> ExpectedCabling:
    """Compute all cables: by leaf, then spine, then link; then by leaf and server. Raises UsageError."""
    splits: Splits = defaultdict(dict)
    links, hosts = tuple(_links(expected, splits)), tuple(_hosts(expected, splits))
    return ExpectedCabling(
        links, hosts, splits, _spare(expected, (*links, *hosts), splits), dict(_addresses(expected, links))
    )


def _addresses(expected: Outline, links: tuple[ExpectedCable, ...]) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the addresses of static neighbors: the leaf has the even one of the /127, the spine the odd one."""
    bgp, numbers = expected.fabric.bgp, Counter[str]()
    for cable in links if bgp.neighbors == "static" else ():
        leaf = expected.switches[cable.a_device]
        numbers[leaf.name] += 1
        even = bgp.links.network + (leaf.stripe << 32) + (leaf.rail + 1 << 16) + 2 * numbers[leaf.name]
        yield cable[:2], even
        yield cable[2:4], even + 1


def _spare(expected: Outline, cables: tuple[ExpectedCable, ...], splits: Splits) -> dict[str, tuple[str, ...]]:
    plan = expected.fabric.spare_ports
    patterns = {LEAF: plan.leaf, SPINE: plan.spine}
    used = {end for cable in cables for end in (cable[:2], cable[2:4])} if any(patterns.values()) else set()
    result = {}
    for name, switch in expected.switches.items():
        if not patterns[switch.role]:
            continue
        split, found = splits.get(name, {}), []
        for physical in profile_of(expected.fabric, switch.platform).port_names():
            count = split.get(physical, 1)
            ports = [physical] if count == 1 else [f"{physical}:{channel}" for channel in range(count)]
            found += [port for port in ports if (name, port) not in used]
        result[name] = tuple(port for port in found if any(fnmatchcase(port, one) for one in patterns[switch.role]))
    return result


def _links(expected: Outline, splits: Splits) -> Iterator[ExpectedCable]:
    fabric, leaves, spines = expected.fabric, expected.leaves, expected.spines
    links, speed = fabric.links_per_spine, fabric.uplinks.speed
    up = _Ports(fabric, fabric.uplinks, speed, (len(spines), links), splits)
    down = _Ports(fabric, fabric.downlinks, speed, (len(leaves), links), splits)
    colors = [expected.link_colors(number) for number in range(len(spines))]
    for index, leaf in enumerate(leaves):
        for number, spine in enumerate(spines):
            near = up.of(leaf.name, leaf.platform, number, leaf.links.get(spine.name, ()))
            far = down.of(spine.name, spine.platform, index, spine.links.get(leaf.name, ()))
            for port, other, color in zip(near, far, colors[number], strict=True):
                yield ExpectedCable(leaf.name, port, spine.name, other, f"{speed}g", "fabric", color, "")


def _hosts(expected: Outline, splits: Splits) -> Iterator[ExpectedCable]:
    fabric = expected.fabric
    leaves: dict[int, list[ExpectedSwitch]] = {}
    for switch in expected.leaves:
        leaves.setdefault(switch.stripe, []).append(switch)
    seated = list(places(fabric))
    rows: dict[HostPorts, _Ports] = {}
    for place in seated:
        if place.ports not in rows:
            rows[place.ports] = _Ports(fabric, place.ports, place.ports.speed, (len(seated), 1), splits)
        for number, rail in enumerate(place.rails):
            leaf, nic = leaves[place.stripe][rail], place.given.nics.get(number, DEFAULT_NIC)
            name = nic.name or nic_name(fabric, place.kind, number)
            cable = place.given.cables.get(name)
            named = nic.port or (cable.port if cable else None)
            (port,) = rows[place.ports].of(leaf.name, leaf.platform, place.position, (named,))
            yield ExpectedCable(leaf.name, port, place.name, name, f"{place.ports.speed}g", "host", "", str(rail))
