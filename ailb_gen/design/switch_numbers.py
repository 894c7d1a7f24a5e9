"""The numbers of every switch, handed out once and checked for what two devices must not share."""

from dataclasses import dataclass

from ailb_gen.addresses import address_text
from ailb_gen.design import numbers
from ailb_gen.design.addresses import ipv4_text
from ailb_gen.design.check import Claim, duplicates
from ailb_gen.design.inventory import Slot
from ailb_gen.design.model import Management
from ailb_gen.design.numbers import Numbered
from ailb_gen.design.problems import Problems
from ailb_gen.design.switches import Numbers
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.scalars import AsnRange, Cidr
from ailb_gen.yamlio import Path


@dataclass(frozen=True, slots=True)
class HandedOut:
    """The numbers of one switch, each with the path that decided it; 0 where there is none."""

    slot: Slot
    asn: Numbered
    router_id: Numbered
    loopback: Numbered
    management: tuple[Cidr | None, Path]


@dataclass(frozen=True, slots=True)
class Pools:
    """What the numbers of a role are taken from; `kind` is the role's key in the intent."""

    kind: str
    asn: AsnRange
    router_ids: Cidr
    loopbacks: Cidr | None
    management: Cidr | None


def leaf_pools(fabric: Fabric) -> Pools:
    """Return the pools of the leaves."""
    loops = fabric.loopbacks.leaves if fabric.loopbacks else None
    return Pools("leaves", fabric.asn.leaves, fabric.router_ids.leaves, loops, fabric.management.leaves)


def spine_pools(fabric: Fabric) -> Pools:
    """Return the pools of the spines."""
    loops = fabric.loopbacks.spines if fabric.loopbacks else None
    return Pools("spines", fabric.asn.spines, fabric.router_ids.spines, loops, fabric.management.spines)


def hand_out(slots: tuple[Slot, ...], pools: Pools, problems: Problems) -> tuple[HandedOut, ...]:
    """Return the numbers of all switches of a role; notes exhausted pools."""
    kind = pools.kind
    rows = [(slot.index, slot.device.management, problems.where(slot.own, "management")) for slot in slots]
    asns = numbers.asns(slots, pools.asn, ("asn", kind), problems)
    router_ids = numbers.router_ids(slots, pools.router_ids, ("router_ids", kind), problems)
    loopbacks = numbers.loopbacks(slots, pools.loopbacks, ("loopbacks", kind), problems)
    managed = numbers.management(rows, pools.management, ("management", kind), problems)
    return tuple(map(HandedOut, slots, asns, router_ids, loopbacks, managed))


def check_unique(
    leaves: tuple[HandedOut, ...], spines: tuple[HandedOut, ...], fabric: Fabric, problems: Problems
) -> None:
    """Note numbers that two switches share; spines may share an AS number, leaves may not."""
    _check_asns(leaves, spines, fabric, problems)
    everyone = leaves + spines
    routers: list[Claim] = [(g.router_id[0], g.slot.name, g.router_id[1]) for g in everyone if g.router_id[0]]
    duplicates("duplicate-router-id", "router-id", routers, problems, ipv4_text)
    loopbacks: list[Claim] = [(g.loopback[0], g.slot.name, g.loopback[1]) for g in everyone if g.loopback[0]]
    duplicates("duplicate-address", "loopback", loopbacks, problems, address_text)


def _check_asns(
    leaves: tuple[HandedOut, ...], spines: tuple[HandedOut, ...], fabric: Fabric, problems: Problems
) -> None:
    if fabric.asn.leaves.shared and sum(given.slot.device.asn is None for given in leaves) > 1:
        reason = "leaves cannot share an AS number: their routes would fail BGP's loop check"
        problems.error("duplicate-asn", ("asn", "leaves"), reason, "give a range such as 4200100001-4200199999")
    else:
        claims: list[Claim] = [(given.asn[0], given.slot.name, given.asn[1]) for given in leaves if given.asn[0]]
        duplicates("duplicate-asn", "AS number", claims, problems)
    owners = {given.asn[0]: given.slot.name for given in leaves if given.asn[0]}
    told: set[Numbered] = set()
    for given in spines:
        asn, path = given.asn
        if asn in owners and given.asn not in told:
            told.add(given.asn)
            reason = f"AS number {asn} of {given.slot.name} is already that of {owners[asn]}"
            problems.error("duplicate-asn", path, reason)


def as_numbers(given: HandedOut, gateway: str) -> Numbers:
    """Return the numbers as text for a switch."""
    cidr = given.management[0]
    port = given.slot.ports.profile.management_interface
    return Numbers(
        asn=given.asn[0],
        router_id=ipv4_text(given.router_id[0]),
        loopback=address_text(given.loopback[0]) if given.loopback[0] else "",
        management=Management(port, str(cidr), gateway) if cidr else None,
    )
