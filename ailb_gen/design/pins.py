"""Numbers and ports written out for single devices, so that a larger fabric leaves them as they are."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ailb_gen.design.build import DesignBuilder
from ailb_gen.design.model import Design, DesignSwitch
from ailb_gen.design.numbers import addresses_from, ipv4_text
from ailb_gen.errors import IntentError
from ailb_gen.intent.growth import ValueEdit
from ailb_gen.intent.load import Intent


def pins(before: Design, after: Intent) -> tuple[ValueEdit, ...]:
    """Return the overrides with which existing devices of a larger fabric keep their numbers, ports and addresses.

    New leaves take numbers and ports behind those of all existing ones, wherever they stand. Raises IntentError where a
    pool has no numbers left for them.
    """
    return (*_leaf_pins(before, after), *_server_pins(before, after))


def _leaf_pins(before: Design, after: Intent) -> Iterator[ValueEdit]:
    """Yield overrides of the leaves that the design would number in another order, and of their spines."""
    builder = DesignBuilder(after)
    known = {leaf.name: number for number, leaf in enumerate(before.leaves)}
    order = sorted(builder.leaves, key=lambda slot: (known.get(slot.name, len(known)), slot.index))
    moved = [slot.name for number, slot in enumerate(order) if slot.index != number]
    if not moved:
        return
    # The design's own code numbers them: in the order in which they were, and will be, installed.
    indexed = {slot.name: replace(slot, index=number) for number, slot in enumerate(order)}
    builder.leaves = tuple(indexed.values())
    builder.slots = builder.leaves + builder.spines
    wanted = builder.design()
    leaves = {leaf.name: leaf for leaf in wanted.leaves}
    single_vlan = after.fabric.vlans.unique == "fabric"
    for name in moved:
        given = indexed[name].device
        for key, value in _numbers(leaves[name], single_vlan):
            if getattr(given, key) is None and value:
                yield ValueEdit(("overrides", "leaves", name, key), value)
    downlinks: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for link in wanted.links:
        downlinks[link.spine][link.leaf].append(link.spine_interface)
    for slot in builder.spines:
        for name in moved:
            if name not in slot.explicit_links:
                yield ValueEdit(("overrides", "spines", slot.name, "downlinks", name), downlinks[slot.name][name])


def _numbers(leaf: DesignSwitch, single_vlan: bool) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a leaf's override with their values; nothing for what it does not have."""
    yield "asn", leaf.asn
    yield "router_id", leaf.router_id
    yield "loopback", leaf.loopback
    yield "management", leaf.management.address if leaf.management else ""
    if single_vlan and leaf.vlan:
        yield "vlan", leaf.vlan.id


def _server_pins(before: Design, after: Intent) -> Iterator[ValueEdit]:
    """Yield management addresses of servers that would count on from others now; new ones come after all others."""
    first = after.fabric.management.servers
    if first is None:
        return
    old = {server.name: server.management for server in before.servers}
    builder = DesignBuilder(after)
    names = [seat.name for seat in builder.seated if seat.given.management is None]
    order = sorted(range(len(builder.seated)), key=lambda n: (builder.seated[n].name not in old, n))
    automatic = {builder.seated[n].name: number for number, n in enumerate(order)}
    if all(builder.seated[number].name == builder.seated[n].name for number, n in enumerate(order)):
        return
    if len(order) > addresses_from(first):
        path = ("management", "servers")
        reason = f"{len(order)} management addresses are needed, {addresses_from(first)} are there from {first} on"
        raise IntentError([after.problem("pool-exhausted", path, reason)])
    for name in names:
        address = old.get(name) or f"{ipv4_text(first.address + automatic[name])}/{first.length}"
        yield ValueEdit(("overrides", "servers", name, "management"), address)
