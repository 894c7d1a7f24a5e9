"""Numbers handed out in order: AS numbers, router-ids, loopbacks, management addresses, VLAN ids."""

from collections.abc import Iterable
from dataclasses import dataclass
from socket import AF_INET, inet_ntop
from typing import Literal

from ailb_gen.addresses import address_text
from ailb_gen.design.inventory import Slot
from ailb_gen.design.problems import Claim, Problems, duplicates
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.plans import Addressing
from ailb_gen.intent.scalars import AsnRange, Cidr
from ailb_gen.yamlio import Path


def ipv4_text(address: int) -> str:
    """Write an IPv4 address in dotted decimal."""
    return inet_ntop(AF_INET, address.to_bytes(4, "big"))


def capacity(bits: tuple[int, int]) -> int:
    """Return the highest number that fits into the bits first to last of a prefix; numbering starts at 1."""
    return (1 << (bits[1] - bits[0] + 1)) - 1


def network(addressing: Addressing, stripe: int, leaf: int, uplink: int) -> int:
    """Return the /64 of a leaf's uplink number; all numbers count from 1."""
    value = addressing.pool.address
    for (_, last), number in (
        (addressing.stripe, stripe),
        (addressing.leaf, leaf),
        (addressing.uplink, uplink),
    ):
        value |= number << (127 - last)
    return value


def link_address(pool: Cidr, leaf: Slot, number: int) -> int:
    """Return a leaf's address on its link of a number, counted from 1; the spine's is the next one (RFC 6164)."""
    return pool.address | leaf.stripe << 32 | leaf.number << 16 | number << 1


# RFC 7607, RFC 6793, RFC 5398, RFC 7300, and the last 32-bit number.
RESERVED_ASNS = (
    (0, 0, "RFC 7607"),
    (23456, 23456, "AS_TRANS, RFC 6793"),
    (64496, 64511, "documentation, RFC 5398"),
    (65535, 65535, "RFC 7300"),
    (65536, 65551, "documentation, RFC 5398"),
    (4294967295, 4294967295, "RFC 7300"),
)
RESERVED_VLANS = {0: "priority tag", 1: "the default VLAN", 4095: "reserved by IEEE 802.1Q"}
MAX_VLAN = 4094
# A value and where it was decided.
Numbered = tuple[int, Path]


@dataclass(frozen=True, slots=True)
class SwitchNumbers:
    """The numbers of one switch, each with the path that decided it; 0 where there is none."""

    slot: Slot
    asn: Numbered
    router_id: Numbered
    loopback: Numbered
    management: tuple[Cidr | None, Path]


def _check_asn(asn: int, path: Path, problems: Problems) -> None:
    for first, last, why in RESERVED_ASNS:
        if first <= asn <= last:
            problems.error("reserved-asn", path, f"AS {asn} is reserved ({why})", "private: 4200000000-4294967294")


def asns(slots: tuple[Slot, ...], plan: AsnRange, path: Path, problems: Problems) -> list[Numbered]:
    """Return the AS number of every slot; notes exhausted ranges and reserved numbers."""
    size = plan.last - plan.first + 1
    automatic = [slot for slot in slots if slot.device.asn is None]
    if not plan.shared and automatic and automatic[-1].index >= size:
        needed = automatic[-1].index + 1
        problems.error("pool-exhausted", path, f"{needed} AS numbers are needed, {plan} holds {size}")
        return [(slot.device.asn or 0, problems.where(slot.own, "asn")) for slot in slots]
    result: list[Numbered] = []
    for slot in slots:
        if slot.device.asn is not None:
            result.append((slot.device.asn, problems.where(slot.own, "asn")))
        else:
            result.append((plan.first if plan.shared else plan.first + slot.index, path))
    for asn, where in dict.fromkeys(result):
        _check_asn(asn, where, problems)
    return result


def hosts_in(pool: Cidr) -> tuple[int, int]:
    """Return the first address of a pool that a device can have, and how many there are."""
    size = pool.last - pool.network + 1
    # A pool of one or two addresses is all hosts (RFC 3021, RFC 6164); otherwise its ends are not.
    return (pool.network, size) if size <= 2 else (pool.network + 1, size - (2 if pool.version == 4 else 1))


def addresses_from(first: Cidr) -> int:
    """Return how many devices can have an address from `first` on."""
    return first.last - first.address + (0 if first.length < 31 else 1)


def hosts_of(
    pool: Cidr, given: Iterable[tuple[int, int | None, Path]], what: str, path: Path, problems: Problems
) -> list[Numbered]:
    """Return an address for every (index, explicit address or None, its path); None takes the index-th of the pool."""
    rows = list(given)
    first, room = hosts_in(pool)
    needed = max((index + 1 for index, address, _ in rows if address is None), default=0)
    if needed > room:
        problems.error("pool-exhausted", path, f"{needed} {what} are needed, {pool} holds {room}")
        return [(address or 0, where) for _, address, where in rows]
    return [(address, where) if address is not None else (first + index, path) for index, address, where in rows]


def loopbacks(slots: tuple[Slot, ...], pool: Cidr | None, path: Path, problems: Problems) -> list[Numbered]:
    """Return the IPv6 loopback of every slot, 0 where there is none; notes those that the spines would not accept."""
    rows = [(slot.index, slot.device.loopback, problems.where(slot.own, "loopback")) for slot in slots]
    for _, address, where in rows:
        if address is not None and (pool is None or not pool.overlaps(Cidr(6, address, 128))):
            reason = f"the loopback is not in {'.'.join(map(str, path))}, so the spines would not accept it"
            problems.error("conflict", where, reason, "give a pool that holds it")
    return (
        hosts_of(pool, rows, "loopback addresses", path, problems)
        if pool
        else [(a or 0, where) for _, a, where in rows]
    )


def management(
    rows: list[tuple[int, Cidr | None, Path]], first: Cidr | None, path: Path, problems: Problems
) -> list[tuple[Cidr | None, Path]]:
    """Return a management address for every (index, explicit address, its path), counting on from `first`."""
    automatic = [index for index, explicit, _ in rows if explicit is None]
    if first is None or not automatic:
        return [(explicit, where) for _, explicit, where in rows]
    needed = automatic[-1] + 1
    room = addresses_from(first)
    if needed > room:
        reason = f"{needed} management addresses are needed from {ipv4_text(first.address)} on"
        problems.error("pool-exhausted", path, f"{reason}, its /{first.length} has {room} left")
        return [(explicit, where) for _, explicit, where in rows]
    return [
        (explicit, where) if explicit is not None else (Cidr(4, first.address + index, first.length), path)
        for index, explicit, where in rows
    ]


def vlans(slots: tuple[Slot, ...], fabric: Fabric, problems: Problems) -> list[Numbered]:
    """Return the VLAN id, which is also the IRB unit, of every leaf."""
    in_stripe = fabric.vlans.unique == "stripe"
    path: Path = ("vlans", "first")
    result: list[Numbered] = []
    for slot in slots:
        explicit = slot.vlan
        number = fabric.vlans.first + (slot.number - 1 if in_stripe else slot.index)
        result.append((explicit, problems.where(slot.own, "vlan")) if explicit is not None else (number, path))
    automatic = [vlan for vlan, where in result if where == path]
    if automatic and max(automatic) > MAX_VLAN:
        needed, room = len(set(automatic)), MAX_VLAN - fabric.vlans.first + 1
        repeats = max(slot.number for slot in slots) <= room
        hint = "" if in_stripe or not repeats else "vlans.unique: stripe repeats the ids in every stripe"
        problems.error("pool-exhausted", path, f"{needed} VLAN ids are needed, {max(room, 0)} are left", hint)
        return [(0, where) for _, where in result]
    for vlan, where in dict.fromkeys(result):
        if vlan in RESERVED_VLANS or not 0 < vlan <= MAX_VLAN:
            why = RESERVED_VLANS.get(vlan, f"outside 2 to {MAX_VLAN}")
            problems.error("reserved-vlan", where, f"VLAN {vlan} cannot be used ({why})", f"use 2 to {MAX_VLAN}")
    return result


def hand_out(
    slots: tuple[Slot, ...], kind: Literal["leaves", "spines"], fabric: Fabric, problems: Problems
) -> tuple[SwitchNumbers, ...]:
    """Return the numbers of all switches of a role, whose key in the intent is `kind`; notes exhausted pools."""
    managed = [(slot.index, slot.device.management, problems.where(slot.own, "management")) for slot in slots]
    routers = [(slot.index, slot.device.router_id, problems.where(slot.own, "router_id")) for slot in slots]
    pool = getattr(fabric.loopbacks, kind, None)
    return tuple(
        map(
            SwitchNumbers,
            slots,
            asns(slots, getattr(fabric.asn, kind), ("asn", kind), problems),
            hosts_of(getattr(fabric.router_ids, kind), routers, "router-ids", ("router_ids", kind), problems),
            loopbacks(slots, pool, ("loopbacks", kind), problems),
            management(managed, getattr(fabric.management, kind), ("management", kind), problems),
        )
    )


def check_unique(everyone: tuple[SwitchNumbers, ...], fabric: Fabric, problems: Problems) -> None:
    """Note numbers that two switches share; spines may share an AS number, leaves may not."""
    _check_asns(everyone, fabric, problems)
    routers: list[Claim] = [(g.router_id[0], g.slot.name, g.router_id[1]) for g in everyone if g.router_id[0]]
    duplicates("duplicate-router-id", "router-id", routers, problems, ipv4_text)
    loopbacks: list[Claim] = [(g.loopback[0], g.slot.name, g.loopback[1]) for g in everyone if g.loopback[0]]
    duplicates("duplicate-address", "loopback", loopbacks, problems, address_text)


def _check_asns(everyone: tuple[SwitchNumbers, ...], fabric: Fabric, problems: Problems) -> None:
    leaves = [given for given in everyone if given.slot.role == "leaf"]
    spines = [given for given in everyone if given.slot.role == "spine"]
    if fabric.asn.leaves.shared and sum(given.slot.device.asn is None for given in leaves) > 1:
        reason = "leaves cannot share an AS number: their routes would fail BGP's loop check"
        problems.error("duplicate-asn", ("asn", "leaves"), reason, "give a range such as 4200100001-4200199999")
    else:
        claims: list[Claim] = [(given.asn[0], given.slot.name, given.asn[1]) for given in leaves if given.asn[0]]
        duplicates("duplicate-asn", "AS number", claims, problems)
    owners = {given.asn[0]: given.slot.name for given in leaves if given.asn[0]}
    noted: set[Numbered] = set()
    for given in spines:
        asn, path = given.asn
        if asn in owners and given.asn not in noted:
            noted.add(given.asn)
            reason = f"AS number {asn} of {given.slot.name} is already that of {owners[asn]}"
            problems.error("duplicate-asn", path, reason)
