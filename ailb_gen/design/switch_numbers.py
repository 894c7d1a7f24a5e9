"""The numbers of every switch, handed out once and checked for what two devices must not share."""

from typing import Literal

from ailb_gen.addresses import address_text
from ailb_gen.design import numbers
from ailb_gen.design.addresses import ipv4_text
from ailb_gen.design.check import Claim, duplicates
from ailb_gen.design.inventory import Slot
from ailb_gen.design.numbers import Numbered, SwitchNumbers
from ailb_gen.design.problems import Problems
from ailb_gen.intent.models import Fabric


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
            numbers.asns(slots, getattr(fabric.asn, kind), ("asn", kind), problems),
            numbers.hosts_of(getattr(fabric.router_ids, kind), routers, "router-ids", ("router_ids", kind), problems),
            numbers.loopbacks(slots, pool, ("loopbacks", kind), problems),
            numbers.management(managed, getattr(fabric.management, kind), ("management", kind), problems),
        )
    )


def check_unique(
    leaves: tuple[SwitchNumbers, ...], spines: tuple[SwitchNumbers, ...], fabric: Fabric, problems: Problems
) -> None:
    """Note numbers that two switches share; spines may share an AS number, leaves may not."""
    _check_asns(leaves, spines, fabric, problems)
    everyone = leaves + spines
    routers: list[Claim] = [(g.router_id[0], g.slot.name, g.router_id[1]) for g in everyone if g.router_id[0]]
    duplicates("duplicate-router-id", "router-id", routers, problems, ipv4_text)
    loopbacks: list[Claim] = [(g.loopback[0], g.slot.name, g.loopback[1]) for g in everyone if g.loopback[0]]
    duplicates("duplicate-address", "loopback", loopbacks, problems, address_text)


def _check_asns(
    leaves: tuple[SwitchNumbers, ...], spines: tuple[SwitchNumbers, ...], fabric: Fabric, problems: Problems
) -> None:
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
