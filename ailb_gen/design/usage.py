"""What a fabric uses of its pools, its ports and the speed of its uplinks, and what is left."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ailb_gen.design.build import DesignBuilder
from ailb_gen.design.check import TABLE_LIMITS, sizes
from ailb_gen.design.inventory import Slot
from ailb_gen.design.model import Breakout, Design, DesignSwitch, FabricPort, HostPort, Role, SparePort
from ailb_gen.design.numbers import MAX_VLAN, addresses_from, capacity, hosts_in
from ailb_gen.intent.plans import Addressing
from ailb_gen.yamlio import Path


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of numbers: the key of the fabric file that sets it, what it holds, how much of it devices take.

    Numbers go by position: the number of a device that has one of its own counts as used, too, if a later device takes
    its number from the pool.
    """

    path: Path
    what: str
    extent: str
    size: int
    used: int

    @property
    def left(self) -> int:
        """How many numbers are left; less than nothing where the pool is too small."""
        return self.size - self.used


def pools(builder: DesignBuilder) -> tuple[Pool, ...]:
    """Return the pools of a fabric; those that the fabric file does not use are left out."""
    return (*_of_switches(builder), *_of_servers(builder), *_plan(builder), *_sizes(builder))


def _of_switches(builder: DesignBuilder) -> Iterator[Pool]:
    fabric = builder.fabric
    kinds: tuple[tuple[str, Sequence[Slot]], ...] = (("leaves", builder.leaves), ("spines", builder.spines))
    for kind, slots in kinds:
        asns = getattr(fabric.asn, kind)
        if not asns.shared:
            yield Pool(("asn", kind), "AS numbers", str(asns), asns.last - asns.first + 1, _needed(slots, "asn"))
        for key, what, attribute in (
            ("router_ids", "router-ids", "router_id"),
            ("loopbacks", "loopback addresses", "loopback"),
        ):
            pool = getattr(getattr(fabric, key), kind, None)
            if pool is not None:
                yield Pool((key, kind), what, str(pool), hosts_in(pool)[1], _needed(slots, attribute))
        first = getattr(fabric.management, kind)
        if first is not None:
            used = _needed(slots, "management")
            yield Pool(("management", kind), "management addresses", f"from {first}", addresses_from(first), used)
    leaves = [slot for slot in builder.leaves if slot.vlan is None]
    in_stripe = fabric.vlans.unique == "stripe"
    used = max((slot.number if in_stripe else slot.index + 1 for slot in leaves), default=0)
    first = fabric.vlans.first
    what = "VLAN ids, in every stripe" if in_stripe else "VLAN ids"
    yield Pool(("vlans", "first"), what, f"{first}-{MAX_VLAN}", max(MAX_VLAN - first + 1, 0), used)


def _needed(slots: Iterable[Slot], attribute: str) -> int:
    """Return how many numbers of a pool devices take that have none of their own: up to the last of them."""
    return max((slot.index + 1 for slot in slots if getattr(slot.device, attribute) is None), default=0)


def _of_servers(builder: DesignBuilder) -> Iterator[Pool]:
    fabric = builder.fabric
    first = fabric.management.servers
    if first is not None:
        used = max((n for n, seat in enumerate(builder.seated, 1) if seat.given.management is None), default=0)
        path = ("management", "servers")
        yield Pool(path, "management addresses", f"from {first}", addresses_from(first), used)
    nics = max(len(stripe.leaves) for stripe in builder.stripes)
    for key, what, last in TABLE_LIMITS:
        start = getattr(fabric.tables, key)
        used = (fabric.hosts.first_nic + nics) * len(builder.colors)
        yield Pool(("tables", key), f"{what} of a server", f"{start}-{last}", max(last - start + 1, 0), used)


def _plan(builder: DesignBuilder) -> Iterator[Pool]:
    plan: Addressing = builder.fabric.addressing
    for name, what, used in (
        ("stripe", "stripes in prefixes", len(builder.stripes)),
        ("leaf", "leaves of a stripe in prefixes", max(len(stripe.leaves) for stripe in builder.stripes)),
        ("uplink", "colors in prefixes", len(builder.colors)),
    ):
        bits: tuple[int, int] = getattr(plan, name)
        yield Pool(("addressing", name), what, f"bits {bits[0]}-{bits[1]}", capacity(bits), used)


def _sizes(builder: DesignBuilder) -> Iterator[Pool]:
    for what, count, limit, key in sizes(builder.fabric, builder.problems):
        yield Pool((key,), what, "limit of ailb-gen", limit, count)


@dataclass(frozen=True, slots=True)
class PortUsage:
    """The physical ports of switches of a platform that use as many: to switches, to servers, spare, free.

    `sub_ports` are free in ports that are split.
    """

    role: Role
    platform: str
    physical: int
    fabric: int
    servers: int
    spare: int
    free: int
    sub_ports: int


@dataclass(frozen=True, slots=True)
class Load:
    """What leaves of a rail take in from their servers, and what their uplinks carry away, in Gbit/s."""

    rail: int
    down_gbps: int
    up_gbps: int

    @property
    def ratio(self) -> float:
        """The oversubscription: above 1, servers send more than the uplinks carry."""
        return self.down_gbps / self.up_gbps


def port_usage(builder: DesignBuilder, design: Design) -> dict[PortUsage, list[str]]:
    """Return the names of switches by what they use of their ports."""
    totals = {slot.name: len(slot.ports.names) for slot in builder.slots}
    result: dict[PortUsage, list[str]] = {}
    for switch in design.switches:
        result.setdefault(_usage(switch, totals[switch.name]), []).append(switch.name)
    return result


def _usage(switch: DesignSwitch, physical: int) -> PortUsage:
    ports: dict[type[Any], set[str]] = {FabricPort: set(), HostPort: set(), SparePort: set()}
    split, taken = 0, 0
    for port in switch.interfaces:
        if isinstance(port, Breakout):
            split += port.sub_ports
            continue
        name, _, channel = port.interface.partition(":")
        ports[type(port)].add(name)
        taken += bool(channel)
    to_switches, to_servers = ports[FabricPort], ports[HostPort] - ports[FabricPort]
    spare = ports[SparePort] - to_switches - to_servers
    used = len(to_switches) + len(to_servers) + len(spare)
    counts = (len(to_switches), len(to_servers), len(spare), physical - used, split - taken)
    return PortUsage(switch.role, switch.platform, physical, *counts)


def loads(design: Design) -> dict[Load, list[str]]:
    """Return the names of leaves by rail and load; what is drained counts, too."""
    speed = design.links[0].speed_gbps
    result: dict[Load, list[str]] = {}
    for leaf in design.leaves:
        down = sum(port.speed_gbps for port in leaf.interfaces if isinstance(port, HostPort))
        load = Load(leaf.number - 1, down, len(leaf.fabric_ports) * speed)
        result.setdefault(load, []).append(leaf.name)
    return result
