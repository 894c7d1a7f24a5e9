"""Rules beyond types: no duplicates, no overlaps, numbers within their pools, equal speeds and MTUs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ailb_gen.design.inventory import Slot, StripeSlot
from ailb_gen.design.numbers import ipv4_text
from ailb_gen.design.ports import PortUse
from ailb_gen.design.problems import Claim, Problems, duplicates, is_specific
from ailb_gen.design.seats import Seat, host_mtu, server_entries
from ailb_gen.design.servers import HostPortUse
from ailb_gen.design.switches import ECMP_STEPS, ranges
from ailb_gen.design.wiring import Wire
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.scalars import Cidr
from ailb_gen.intent.servers import Server
from ailb_gen.intent.settings import Settings, SwitchMtu
from ailb_gen.wording import plural
from ailb_gen.yamlio import Path

# Ethernet header with two VLAN tags: what Junos counts into a port's MTU and an IPv6 MTU does not have.
L2_OVERHEAD_BYTES = 22
# About ten times what is built today; beyond it a typing error is more likely than a fabric.
MAX_SWITCHES, MAX_LINKS, MAX_SERVERS = 20_000, 500_000, 100_000
LAST_TABLE = 2**32 - 1
# The rule of the main table has priority 32766; what comes behind it is never read.
LAST_RULE_PRIORITY = 32765
# Keys of `tables`, what is counted from there on, and the last one.
TABLE_LIMITS = (("first", "table ids", LAST_TABLE), ("priority", "rule priorities", LAST_RULE_PRIORITY))
# With one of these, ports are missing that an override may name.
PORT_CODES = frozenset(
    {"ports-exhausted", "no-such-speed", "no-such-breakout", "no-such-port", "wrong-count", "unknown-device"}
)


class Size(NamedTuple):
    """How many there are of something, and the most that are possible; `key` is what makes them more."""

    what: str
    number: int
    limit: int
    key: str


def sizes(fabric: Fabric, problems: Problems) -> tuple[Size, ...]:
    """Return the sizes of a fabric that are limited, before anything is computed for it."""
    rails = [
        fabric.overrides.stripes.get(n, stripe).rails or stripe.rails for n, stripe in enumerate(fabric.stripes, 1)
    ]
    leaves = sum(count or fabric.rails for count in rails)
    uplinks = len(fabric.spines) * fabric.links_per_spine
    entries = (entry for number in range(1, len(rails) + 1) for entry, _ in server_entries(fabric, number, problems))
    servers = sum(1 if isinstance(entry, Server) else entry.count for entry in entries)
    return (
        Size("switches", leaves + len(fabric.spines), MAX_SWITCHES, "stripes"),
        Size("leaf-spine links", leaves * uplinks, MAX_LINKS, "spines"),
        Size("uplinks per leaf", uplinks, ECMP_STEPS[-1], "spines"),
        Size("servers", servers, MAX_SERVERS, "servers"),
    )


def check_size(fabric: Fabric, problems: Problems) -> None:
    """Note a fabric that is larger than any that is built, before anything is computed for it."""
    for what, count, limit, key in sizes(fabric, problems):
        if count > limit:
            problems.error("too-large", (key,), f"this makes {count:,} {what}; at most {limit:,} are possible")


# The longest prefix of links: stripe, leaf and link take 16 bits each.
LINKS_LENGTH = 80


def check_names(slots: Iterable[Slot], seats: Iterable[Seat], problems: Problems) -> None:
    """Note names that two devices share; names that differ only in case would collide as files."""
    claims: list[Claim] = [(slot.name.lower(), f"a {slot.role}", _name_path(slot)) for slot in slots]
    claims += [(seat.name.lower(), "a server", seat.levels[-1]) for seat in seats]
    duplicates("duplicate-name", "the name", claims, problems)


def _name_path(slot: Slot) -> Path:
    return ("names", "leaf") if slot.role == "leaf" else (*slot.levels[1], "name")


def check_overlaps(fabric: Fabric, problems: Problems) -> None:
    """Note pools that share addresses."""
    rows: list[tuple[str, Cidr, Path]] = [("the fabric pool", fabric.addressing.pool, ("addressing", "pool"))]
    for kind in ("leaves", "spines"):
        rows.append((f"router_ids.{kind}", getattr(fabric.router_ids, kind), ("router_ids", kind)))
        if fabric.loopbacks:
            rows.append((f"loopbacks.{kind}", getattr(fabric.loopbacks, kind), ("loopbacks", kind)))
    if fabric.bgp.neighbors == "static":
        rows.append(("bgp.links", fabric.bgp.links, ("bgp", "links")))
    for number, (name, pool, path) in enumerate(rows):
        for other_name, other, _ in rows[:number]:
            if pool.overlaps(other):
                problems.error("overlapping-pools", path, f"{name} {pool} overlaps {other_name} {other}")


def check_bgp(fabric: Fabric, problems: Problems) -> None:
    """Note settings that only static neighbors have, and a prefix of links that leaves less than 48 bits."""
    bgp = fabric.bgp
    if bgp.groups == "single" and bgp.neighbors == "discovered":
        reason = "a discovered neighbor has the fabric-color of its group: one group cannot have several colors"
        problems.error("conflict", ("bgp", "groups"), reason, "set bgp.neighbors: static, or leave out bgp.groups")
    if "links" in bgp.model_fields_set and bgp.neighbors == "discovered":
        reason = "links have link-local addresses only where neighbors are discovered"
        problems.error("conflict", ("bgp", "links"), reason, "set bgp.neighbors: static, or leave out bgp.links")
    if bgp.neighbors == "static" and bgp.links.length > LINKS_LENGTH:
        reason = f"stripe, leaf and link take 16 bits each; a /{bgp.links.length} leaves {128 - bgp.links.length}"
        problems.error("bad-plan", ("bgp", "links"), reason, f"use a prefix of at most {LINKS_LENGTH} bits")


def check_loopbacks(slots: Iterable[Slot], fabric: Fabric, problems: Problems) -> None:
    """Note explicit loopbacks that lie in the fabric pool."""
    pool = fabric.addressing.pool
    for slot in slots:
        loopback = slot.device.loopback
        if loopback is not None and pool.overlaps(Cidr(6, loopback, 128)):
            reason = f"the loopback lies in the fabric pool {pool}"
            problems.error("overlapping-pools", problems.where(slot.own, "loopback"), reason)


# A port with the device at its other end, the NIC there for a server, and where that was decided.
ClaimedPort = tuple[PortUse, str, str, Path]


def claimed_ports(
    slots: dict[str, Slot], wires: tuple[Wire, ...], hosts: Iterable[HostPortUse], problems: Problems
) -> dict[str, list[ClaimedPort]]:
    """Return the ports of every switch that cables are meant for, those to switches first."""
    claimed: dict[str, list[ClaimedPort]] = {name: [] for name in slots}
    for wire in wires:
        link = wire.link
        claimed[link.leaf].append((wire.leaf_use, link.spine, "", _wire_path(slots[link.leaf], link.spine, problems)))
        claimed[link.spine].append((wire.spine_use, link.leaf, "", _wire_path(slots[link.spine], link.leaf, problems)))
    for host in hosts:
        claimed[host.leaf].append((host.use, host.server, host.nic, host.path))
    return claimed


def check_ports(
    slots: dict[str, Slot],
    claimed: Mapping[str, list[ClaimedPort]],
    spare: Mapping[str, Sequence[str]],
    problems: Problems,
) -> None:
    """Note ports that are used twice, ports split in two ways, and overrides of ports that nothing uses."""
    laid_out = PORT_CODES.isdisjoint(problem.code for problem in problems.found)
    # Switches that are laid out alike have the same uses.
    sound: set[tuple[int, ...]] = set()
    for name, uses in claimed.items():
        alike = tuple([id(use) for use, *_ in uses])
        if alike not in sound:
            before = len(problems.found)
            _check_device_ports(slots[name], uses, problems)
            if len(problems.found) == before:
                sound.add(alike)
        named = slots[name].device.ports if laid_out else ()
        used = {use.interface for use, *_ in uses} | set(spare[name]) if named else ()
        for interface in named:
            if interface not in used:
                path = problems.where(slots[name].own, "ports", interface)
                problems.error("unused-port", path, f"{name} uses no port {interface}")


def _wire_path(slot: Slot, peer: str, problems: Problems) -> Path:
    key = slot.links_key
    return problems.where(slot.own, key, peer) if peer in slot.explicit_links else (key,)


def _owner(peer: str, nic: str) -> str:
    return f"{nic} of {peer}" if nic else f"the link to {peer}"


def _free(path: Path, uses: list[ClaimedPort], slot: Slot) -> str:
    """Return which first port is behind all other ports, as a hint for a row of ports that meets them."""
    names = slot.ports.names
    last = max((names.index(use.physical) for use, _, _, where in uses if where != path and use.physical), default=-1)
    return f"first_port: {last + 1} is the first free port after the others" if last + 1 < len(names) else ""


def _check_device_ports(slot: Slot, uses: list[ClaimedPort], problems: Problems) -> None:
    name = slot.name
    taken: dict[str, tuple[str, str]] = {}
    splits: dict[str, tuple[PortUse, str, str]] = {}
    for use, peer, nic, path in sorted(uses, key=lambda row: is_specific(row[3])):
        if not use.physical:
            continue
        hint: Callable[[], str] = partial(_free, path, uses, slot) if path[-1:] == ("host_ports",) else str
        if use.interface in taken:
            owner = _owner(*taken[use.interface])
            reason = f"port {use.interface} of {name}, needed for {_owner(peer, nic)}, is already used for {owner}"
            problems.error("duplicate-port", path, reason, hint())
            continue
        taken[use.interface] = (peer, nic)
        first, *owner_of_first = splits.setdefault(use.physical, (use, peer, nic))
        if (first.sub_ports, first.speed_gbps) != (use.sub_ports, use.speed_gbps):
            reason = (
                f"port {use.physical} of {name} is {first.sub_ports} x {first.speed_gbps}g for "
                f"{_owner(*owner_of_first)} and {use.sub_ports} x {use.speed_gbps}g for {_owner(peer, nic)}"
            )
            problems.error("breakout-conflict", path, reason, hint())


def _fits(mtu: SwitchMtu) -> bool:
    return mtu.irb + L2_OVERHEAD_BYTES <= mtu.port


def check_mtus(slots: Iterable[Slot], seats: Iterable[tuple[StripeSlot, Sequence[Seat]]], problems: Problems) -> None:
    """Note MTUs that cannot carry each other: NIC > IRB > port."""
    for slot in slots:
        mtu = slot.settings.mtu
        if not _fits(mtu):
            reason = f"irb MTU {mtu.irb} and {L2_OVERHEAD_BYTES} bytes of Ethernet do not fit into port MTU {mtu.port}"
            problems.error("mtu-mismatch", problems.where(slot.levels, "mtu"), reason)
        for interface, port in slot.device.ports.items():
            if port.mtu is not None and port.mtu < mtu.irb + L2_OVERHEAD_BYTES:
                path = problems.where(slot.own, "ports", interface, "mtu")
                problems.error("mtu-mismatch", path, f"port MTU {port.mtu} is too small for irb MTU {mtu.irb}")
    for stripe, row in seats:
        leaf = min(stripe.leaves, key=lambda slot: slot.settings.mtu.irb)
        irb = leaf.settings.mtu.irb
        for seat in row:
            host = host_mtu(stripe, seat)
            if host > irb:
                common = not (seat.given.mtu or seat.kind.mtu)
                own = stripe.levels if common else (*seat.levels, seat.kind.own)
                key = ("mtu", "host") if common else ("mtu",)
                reason = f"NIC MTU {host} of {seat.name} is larger than the IRB MTU {irb} of {leaf.name}"
                path = max(problems.where(own, *key), problems.where(leaf.levels, "mtu", "irb"), key=len)
                problems.error("mtu-mismatch", path, reason, f"use at most {irb}")


def _contradictions(settings: Settings) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what must agree once all levels are merged and does not: the key, and what to say."""
    ra, roce, ecn, buffers = settings.ra, settings.roce, settings.roce.ecn, settings.roce.buffers
    # RFC 4861, section 6.2.1: MinRtrAdvInterval is at most 0.75 of MaxRtrAdvInterval.
    if ra.min_interval_s > ra.max_interval_s * 3 // 4:
        most = f"three quarters of max_interval_s {ra.max_interval_s}"
        yield ("ra",), f"min_interval_s {ra.min_interval_s} is more than {most}"
    if 0 < ra.router_lifetime_s < ra.max_interval_s:
        yield ("ra",), f"router_lifetime_s {ra.router_lifetime_s} is below max_interval_s {ra.max_interval_s}"
    preferred = f"preferred_lifetime_s {ra.preferred_lifetime_s}"
    if ra.preferred_lifetime_s > ra.valid_lifetime_s:
        yield ("ra",), f"{preferred} is above valid_lifetime_s {ra.valid_lifetime_s}"
    if ra.preferred_lifetime_s <= ra.max_interval_s:
        yield ("ra",), f"{preferred} would end before the next advertisement"
    if roce.enabled and (roce.dscp == roce.cnp_dscp or roce.queue == roce.cnp_queue):
        yield ("roce",), "data and CNPs must differ in DSCP and in queue"
    if roce.enabled and roce.cnp_dscp >> 3 == roce.pfc_priority:
        priority = f"leave the NICs with priority {roce.cnp_dscp >> 3}, the lossless one"
        yield ("roce",), f"CNPs with DSCP {roce.cnp_dscp} {priority}"
    if ecn.min_fill >= ecn.max_fill:
        yield ("roce", "ecn"), "min_fill must be below max_fill"
    total = buffers.lossless + buffers.lossless_headroom + buffers.lossy if buffers else 0
    if total > 100:
        yield ("roce", "buffers"), f"the ingress partitions add up to {total} %"
    grades = settings.load_balancing.dlb.egress_quantization
    if grades is not None and grades.min >= grades.max:
        yield ("load_balancing", "dlb", "egress_quantization"), f"min {grades.min} must be below max {grades.max}"


BUFFERS = (
    "not every release has partitions of shared and dedicated buffers: 23.4X100-D4x for the QFX5240 has them, the "
    "models of 24.4R1-EVO do not",
    "leave roce.buffers out, or load and check with the release that your platform runs",
)


def check_settings(slots: Iterable[Slot], problems: Problems) -> None:
    """Note settings that contradict each other once all levels are merged."""
    for slot in slots:
        if slot.settings.roce.enabled and slot.settings.roce.buffers:
            problems.warning("release-dependent", problems.where(slot.levels, "roce", "buffers"), *BUFFERS)
        for key, reason in _contradictions(slot.settings):
            problems.error("conflict", problems.where(slot.levels, *key), reason)


# What both ends of a link must agree on: key, and what to call it.
AGREED = (
    ("roce", "RoCEv2 classes (dscp, pfc_priority, cnp_dscp, enabled)"),
    ("load_balancing", "load_balancing.glb"),
)


def _agreed(settings: Settings) -> tuple[object, ...]:
    """Return the values of AGREED."""
    roce = settings.roce
    return (roce.dscp, roce.pfc_priority, roce.cnp_dscp, int(roce.enabled)), settings.load_balancing.glb


def check_links(slots: dict[str, Slot], wires: tuple[Wire, ...], problems: Problems) -> None:
    """Note what both ends of a link must agree on and do not: MTU, the lossless classes, global load balancing."""
    # An IRB MTU that does not fit its own leaf is an error of its own.
    irbs = [mtu.irb for mtu in (slot.settings.mtu for slot in slots.values() if slot.role == "leaf") if _fits(mtu)]
    largest = max(irbs, default=0)
    mtus = {name: slot.settings.mtu.port for name, slot in slots.items()}
    own_mtus = {
        (name, at): port.mtu for name, slot in slots.items() for at, port in slot.device.ports.items() if port.mtu
    }
    agreed = {name: _agreed(slot.settings) for name, slot in slots.items()}
    for wire in wires:
        leaf, spine = slots[wire.link.leaf], slots[wire.link.spine]
        near = own_mtus.get((leaf.name, wire.leaf_use.interface), mtus[leaf.name])
        far = own_mtus.get((spine.name, wire.spine_use.interface), mtus[spine.name])
        if near != far or near < largest + L2_OVERHEAD_BYTES:
            ends = f"{leaf.name} {wire.leaf_use.interface} and {spine.name} {wire.spine_use.interface}"
            paths = [_mtu_path(leaf, wire.leaf_use, problems), _mtu_path(spine, wire.spine_use, problems)]
            small = f"port MTU {near} of {ends} is too small for the largest irb MTU {largest}"
            reason = f"{ends} have port MTUs {near} and {far}" if near != far else small
            problems.error("mtu-mismatch", max(paths, key=len), reason)
        if agreed[leaf.name] == agreed[spine.name]:
            continue
        for (key, what), one, other in zip(AGREED, agreed[leaf.name], agreed[spine.name], strict=True):
            if one != other:
                paths = [problems.where(slot.levels, key) for slot in (leaf, spine)]
                reason = f"{leaf.name} and {spine.name} are linked and differ in {what}: {one} and {other}"
                problems.error("conflict", max(paths, key=len), reason)


def _mtu_path(slot: Slot, use: PortUse, problems: Problems) -> Path:
    override = slot.device.ports.get(use.interface)
    if override and override.mtu:
        return problems.where(slot.own, "ports", use.interface, "mtu")
    return problems.where(slot.levels, "mtu", "port")


def check_tables(fabric: Fabric, nics: int, colors: int, problems: Problems) -> None:
    """Note table ids and rule priorities that Linux would not take or would read too late."""
    count = (fabric.hosts.first_nic + nics) * colors
    for key, what, last in TABLE_LIMITS:
        first = getattr(fabric.tables, key)
        if first + count - 1 > last:
            reason = f"{count} {what} are needed from {first} on, {max(last - first + 1, 0)} are left up to {last}"
            problems.error("pool-exhausted", ("tables", key), reason)


def check_gateway(gateway: int | None, switches: Iterable[tuple[str, Cidr | None, Path]], problems: Problems) -> None:
    """Note switches (name, management address, its path) whose subnet does not hold the management gateway."""
    for name, cidr, path in switches:
        if gateway is not None and cidr is not None and not cidr.network <= gateway <= cidr.last:
            reason = f"the gateway {ipv4_text(gateway)} is not in the subnet of {cidr}, the address of {name}"
            problems.error("conflict", path, reason)


def check_oversubscription(
    fabric: Fabric, seats: Iterable[tuple[StripeSlot, Sequence[Seat]]], problems: Problems
) -> None:
    """Warn when a leaf takes in more from its servers than its uplinks carry away."""
    up = len(fabric.spines) * fabric.links_per_spine * fabric.uplinks.speed
    down: Counter[tuple[int, int]] = Counter()
    for stripe, row in seats:
        for seat in row:
            for rail in seat.kind.rails:
                down[stripe.number, rail] += seat.kind.row.speed
    most = max(down.values(), default=0)
    if most > up:
        over = sorted({number for (number, _), speed in down.items() if speed > up})
        numbers = ", ".join(ranges(over)).replace("-", " and " if len(over) == 2 else " to ")
        stripes = f"{plural('stripe', len(over))} {numbers}"
        highest = "" if all(speed in (most, *range(up + 1)) for speed in down.values()) else "up to "
        rate = f"{highest}{most / up:.2f}:1 ({most}g to servers, {up}g up)"
        reason = f"leaves of {stripes} are oversubscribed {rate}"
        problems.warning("oversubscribed", ("uplinks",), reason, "add spines, links or uplink speed")
