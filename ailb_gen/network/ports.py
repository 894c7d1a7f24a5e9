"""Interfaces, VLANs and router advertisements of a switch's tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from ailb_gen.addresses import interface_value, prefix_value
from ailb_gen.junos.substitution import Adapted, Substitution
from ailb_gen.junos.tree import Node, Reuse
from ailb_gen.network.model import Address, Port, RaPrefix, RouterAdvertisement, Unit, Vlan, read_speed

T = TypeVar("T")
ETHERNET = ("ether-options", "gigether-options")
NOTHING = Node("")
# Of an interface that is like another one, what is read again: the values of these statements, and the VLANs of a unit.
PORT_VALUES = frozenset({"description", "native-vlan-id", "unit"})
UNIT_VLANS = ("family", "ethernet-switching", "vlan", "members")
FAMILIES = ("inet6", "ethernet-switching")
# Statements of router advertisements that are read, or that say what holds without them.
RA_STATEMENTS = frozenset({
    "prefix", "max-advertisement-interval", "min-advertisement-interval", "default-lifetime",
    "no-managed-configuration", "no-other-stateful-configuration", "no-link-mtu",
})  # fmt: skip


def number(node: Node | None) -> int | None:
    """Return the value behind a node as a number; None where there is none, or no number."""
    if node is None:
        return None
    text = next(iter(node.children)) if len(node.children) == 1 else node.value() or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else None


def line(node: Node | None) -> int:
    """Return the line of a node's value, else of the node; 0 for no node."""
    if node is None:
        return 0
    return next(reversed(node.children.values())).line if node.children else node.line


def statements(node: Node | None) -> Iterator[tuple[str, int]]:
    """Yield the text and the line of every statement below a node."""
    for child in node or ():
        if not child.children:
            yield child.word, child.line
        for text, at in statements(child):
            yield f"{child.word} {text}", at


def sorted_out(
    entries: Iterable[Node], parse: Callable[[str], T | None]
) -> tuple[list[tuple[Node, T]], tuple[tuple[str, int], ...]]:
    """Return the entries that `parse` takes, with what it makes of them, and the others as text with their lines."""
    good: list[tuple[Node, T]] = []
    bad: list[tuple[str, int]] = []
    for entry in entries:
        value = parse(entry.word)
        if value is None:
            bad.append((entry.word, entry.line))
        else:
            good.append((entry, value))
    return good, tuple(bad)


def located(entries: Iterable[Node]) -> tuple[tuple[str, int], ...]:
    """Return the words of entries with their lines."""
    return tuple([(entry.word, entry.line) for entry in entries])


def ports(root: Node, reuse: Reuse) -> dict[str, Port]:
    """Read `interfaces`; what splits off a disabled port is disabled."""
    found = {
        # What is like another one does not come again.
        node.word: _port(node, reuse) if isinstance(node, Adapted) else reuse(_port, node)
        for node in root.each("interfaces")
        if node.word not in ("apply-groups", "interface-range")
    }
    off = {name for name, one in found.items() if one.disabled}
    parts = {name: one for name, one in found.items() if name.partition(":")[0] in off}
    return found | {name: replace(one, disabled=True) for name, one in parts.items()} if off else found


def _port(node: Node, reuse: Reuse) -> Port:
    """Read one of the `interfaces`."""
    if isinstance(node, Adapted) and node.word == node.like.word:
        like, other = reuse(_like_port, node.like, node.substitution)
        if other <= PORT_VALUES:
            return _port_like(like, node, other, reuse)
    description, mtu, native, speed = map(node.children.get, ("description", "mtu", "native-vlan-id", "speed"))
    ethernet = [below for word in ETHERNET if (below := node.children.get(word)) is not None]
    return Port(
        name=node.word,
        description=(description.value() or "") if description is not None else "",
        mtu=number(mtu),
        native_vlan=number(native),
        speed_bps=read_speed(speed.value()) if speed is not None else None,
        sub_ports=number(node.children.get("number-of-sub-ports")),
        disabled="disable" in node.children,
        units=tuple([_unit_of(unit, reuse, node.word) for unit in node.children.get("unit", NOTHING)]),
        ethernet=tuple(sorted(pair for below in ethernet for pair in statements(below))) if ethernet else (),
        line=node.line,
        description_line=line(description),
        mtu_line=line(mtu),
        native_vlan_line=line(native),
    )


def _like_port(node: Node, reuse: Reuse, substitution: Substitution) -> tuple[Port, frozenset[str]]:
    """Return an interface, and its statements below which a substitution changes something."""
    return reuse(_port, node), frozenset(other.path[0] for other in substitution.others[id(node)])


def _port_like(like: Port, node: Node, other: frozenset[str], reuse: Reuse) -> Port:
    """Read an interface that differs from one that was read in what is below the `other` statements."""
    below = node.children
    # `replace` takes twice as long, and a fabric has tens of thousands of them.
    return Port(
        like.name,
        below["description"].value() or "" if "description" in other else like.description,
        like.mtu,
        number(below["native-vlan-id"]) if "native-vlan-id" in other else like.native_vlan,
        like.speed_bps,
        like.sub_ports,
        like.disabled,
        tuple([_unit_of(unit, reuse, node.word) for unit in below["unit"]]) if "unit" in other else like.units,
        like.ethernet,
        like.line,
        like.description_line,
        like.mtu_line,
        like.native_vlan_line,
    )


def _like_unit(node: Node, reuse: Reuse, substitution: Substitution, port: str) -> Unit | None:
    """Return a logical interface; None if a substitution changes anything else of it than its VLANs."""
    has_like_vlans = all(other.path[:-1] == UNIT_VLANS for other in substitution.others[id(node)])
    return reuse(_unit, node, port) if has_like_vlans else None


def _unit_like(like: Unit, node: Node) -> Unit:
    """Read a logical interface that differs from one that was read in its VLANs."""
    return Unit(
        like.name,
        like.inet6,
        like.inet6_mtu,
        like.addresses,
        like.bad_addresses,
        like.inet_addresses,
        like.switching,
        like.mode,
        located(node.each(*UNIT_VLANS)),
        like.disabled,
        like.others,
        like.line,
    )


def _unit_of(node: Node, reuse: Reuse, port: str) -> Unit:
    if not isinstance(node, Adapted) or node.word != node.like.word:
        return reuse(_unit, node, port)
    like = reuse(_like_unit, node.like, node.substitution, port)
    return _unit_like(like, node) if like is not None else _unit(node, reuse, port)


def _unit(node: Node, _: Reuse, port: str) -> Unit:
    families = node.children.get("family", NOTHING)
    inet6, switching = families.children.get("inet6"), families.children.get("ethernet-switching", NOTHING)
    good, bad = sorted_out((inet6 or NOTHING).each("address"), interface_value)
    return Unit(
        name=f"{port}.{node.word}",
        inet6=inet6 is not None,
        inet6_mtu=number((inet6 or NOTHING).children.get("mtu")),
        addresses=tuple([Address(*value, entry.line) for entry, value in good]),
        bad_addresses=bad,
        inet_addresses=located(families.each("inet", "address")),
        switching=switching is not NOTHING,
        mode=switching.value("interface-mode"),
        vlans=located(switching.each("vlan", "members")),
        disabled="disable" in node.children,
        others=located(entry for entry in families if entry.word not in FAMILIES),
        line=node.line,
    )


def vlans(root: Node) -> tuple[Vlan, ...]:
    """Read `vlans`."""
    return tuple(
        Vlan(
            name=node.word,
            vlan_id=number(node.get("vlan-id")),
            irb=node.value("l3-interface"),
            description=node.value("description") or "",
            line=node.line,
            description_line=line(node.get("description")),
        )
        for node in root.each("vlans")
    )


def advertisements(root: Node, reuse: Reuse) -> dict[str, RouterAdvertisement]:
    """Read `protocols router-advertisement`."""
    return {
        node.word: reuse(_advertisement, node) for node in root.each("protocols", "router-advertisement", "interface")
    }


def _advertisement(node: Node, _: Reuse) -> RouterAdvertisement:
    """Read the router advertisements of an interface."""
    good, bad = sorted_out(node.each("prefix"), prefix_value)
    return RouterAdvertisement(
        interface=node.word,
        prefixes=tuple(
            RaPrefix(
                prefix=prefix,
                on_link=not entry.has("no-on-link"),
                autonomous=not entry.has("no-autonomous"),
                valid=entry.value("valid-lifetime") or "",
                preferred=entry.value("preferred-lifetime") or "",
                line=entry.line,
            )
            for entry, prefix in good
        ),
        bad_prefixes=bad,
        max_interval=number(node.get("max-advertisement-interval")),
        min_interval=number(node.get("min-advertisement-interval")),
        lifetime=number(node.get("default-lifetime")),
        others=tuple((entry.word, entry.line) for entry in node if entry.word not in RA_STATEMENTS),
        line=node.line,
    )
