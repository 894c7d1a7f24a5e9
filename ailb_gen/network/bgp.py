"""`protocols bgp` of a switch's tree: groups with what they inherit, and the fabric's routes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ailb_gen.addresses import BITS, Prefix, address_value, prefix_value
from ailb_gen.junos.tree import Node, Reuse
from ailb_gen.network.model import Discovery, FabricRoute, Group, Neighbor, Port, SessionBfd
from ailb_gen.network.ports import line, number, sorted_out

# What may not stand beside peer-auto-discovery (single-hop EBGP only), at the group or the dynamic neighbor.
FORBIDDEN = ("authentication-key", "authentication-algorithm", "authentication-key-chain", "allow", "multihop")
# The logical interface and the address that a switch has in a prefix.
Own = Mapping[Prefix, tuple[str, int]]
# Lengths of prefixes of interfaces, the longest first; a /128 holds no neighbor.
LENGTHS = range(BITS - 1, 0, -1)
NOWHERE = ("", 0)


def groups(root: Node, ports: Mapping[str, Port], reuse: Reuse) -> tuple[Group, ...]:
    """Read the groups of `protocols bgp`; what a group does not say, `protocols bgp` says for it.

    A group whose static neighbors say different things becomes several.
    """
    top = root.get("protocols", "bgp")
    own = {
        address.prefix: (unit.name, address.value)
        for port in ports.values()
        for unit in port.units
        for address in unit.addresses
    }
    return (
        tuple(group for node in top.each("group") for group in _groups(node, top, own, reuse))
        if top is not None
        else ()
    )


def _groups(node: Node, top: Node, own: Own, reuse: Reuse) -> Iterator[Group]:
    neighbors = tuple(node.each("neighbor"))
    if node.has("dynamic-neighbor") or not neighbors:
        yield _group((node, top), tuple(reuse(_discovery, entry) for entry in node.each("dynamic-neighbor")))
    alike: dict[Group, list[Neighbor]] = {}
    for entry in neighbors:
        group = _group((entry, node, top))
        # Which AS a neighbor is in makes no other group of it.
        found = replace(group, peer_as=None)
        alike.setdefault(found, []).append(_neighbor(entry, group, own))
    for group, found_neighbors in alike.items():
        yield replace(group, neighbors=tuple(found_neighbors))


def _neighbor(node: Node, group: Group, own: Own) -> Neighbor:
    address = address_value(node.word)
    prefixes = (Prefix(address >> BITS - length << BITS - length, length) for length in LENGTHS if address is not None)
    here = next((found for prefix in prefixes if (found := own.get(prefix, NOWHERE))[1] not in (0, address)), NOWHERE)
    lines = (node.line, line(node.get("description")), group.peer_as_line)
    return Neighbor(node.word, address, *here, group.peer_as, node.value("description") or "", *lines)


def _group(levels: tuple[Node, ...], discoveries: tuple[Discovery, ...] = ()) -> Group:
    """Read a group from the levels that say something about it, the most specific one first: it may be a neighbor."""
    *_, node, top = levels

    def own(*words: str) -> Node | None:
        return next((found for level in levels if (found := level.get(*words)) is not None), None)

    def value(word: str) -> str | None:
        found = own(word)
        return found.value() if found is not None else None

    # A family at one level hides those above it.
    family = next((level for level in levels if level.has("family")), top)
    kind = own("type")
    multipath = own("multipath")
    return Group(
        name=node.word,
        external=kind is None or kind.value() == "external",
        color=value("fabric-color"),
        # What is no AS number, or none at all, must not pass as that of routing-options: AS 0 is nobody's (RFC 7607).
        local_as=as_number(value("local-as") or "") or 0 if own("local-as") is not None else None,
        imports=tuple(word.word for word in own("import") or ()),
        exports=tuple(word.word for word in own("export") or ()),
        inet6=family.has("family", "inet6", "unicast") or family.has("family", "inet6", "any"),
        aigp=family.has("family", "inet6", "unicast", "aigp")
        and not family.has("family", "inet6", "unicast", "aigp", "disable"),
        multipath=multipath is not None and not multipath.has("disable"),
        multiple_as=multipath is not None and multipath.has("multiple-as"),
        bfd=_bfd(own("bfd-liveness-detection")),
        peer_as=as_number(value("peer-as") or ""),
        peer_as_list=value("peer-as-list"),
        discoveries=discoveries,
        neighbors=(),
        forbidden=tuple((word, entry.line) for word in FORBIDDEN if (entry := own(word)) is not None),
        typed=kind is not None,
        disabled=own("disable") is not None,
        shutdown_sender=own("graceful-shutdown", "sender") is not None,
        shutdown_preference=_shutdown_preference(own),
        line=node.line,
        color_line=line(own("fabric-color")),
        local_as_line=line(own("local-as")),
        peer_as_line=line(own("peer-as-list") or own("peer-as")),
    )


def _shutdown_preference(own: Callable[..., Node | None]) -> int | None:
    """Read `graceful-shutdown receiver`; what Junos refuses, one that is disabled beside a sender, is read as well."""
    if own("graceful-shutdown", "receiver", "disable") is not None:
        return None
    return number(own("graceful-shutdown", "receiver", "local-preference")) or 0


def as_number(text: str) -> int | None:
    """Read an AS number in plain or dotted form (RFC 5396); None if it is not one."""
    high, dot, low = text.partition(".")
    parts = [high, low] if dot else [high]
    if not all(part.isascii() and part.isdigit() and len(part) <= 10 for part in parts):
        return None
    value = (int(high) << 16) + int(low) if dot else int(high)
    return value if 0 < value < 1 << 32 else None


def _bfd(node: Node | None) -> SessionBfd | None:
    if node is None:
        return None
    return SessionBfd(number(node.get("minimum-interval")), number(node.get("multiplier")), node.line)


def _discovery(node: Node, _: Reuse) -> Discovery:
    interfaces = node.each("peer-auto-discovery", "interface")
    return Discovery(
        name=node.word,
        ipv6_nd=node.has("peer-auto-discovery", "family", "inet6", "ipv6-nd"),
        interfaces=tuple((entry.word, entry.line) for entry in interfaces if not entry.has("disable")),
        forbidden=tuple((word, entry.line) for word in FORBIDDEN if (entry := node.get(word)) is not None),
        line=node.line,
    )


def fabric_routes(root: Node) -> tuple[tuple[FabricRoute, ...], tuple[tuple[str, int], ...]]:
    """Read `protocols bgp fabric-advertise`: the routes, and what is no prefix, with its line."""
    good, bad = sorted_out(root.each("protocols", "bgp", "fabric-advertise", "route"), prefix_value)
    routes = []
    for node, prefix in good:
        lines = (node.line, line(node.get("color")), line(node.get("backup-color")))
        routes.append(FabricRoute(prefix, node.value("color"), node.value("backup-color"), *lines))
    return tuple(routes), bad
