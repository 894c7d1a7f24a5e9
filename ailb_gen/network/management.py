"""By what a switch is reached for a push: its management ports, services, users, and what denies a login."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_interface

from ailb_gen.junos.tree import Node
from ailb_gen.network.model import NETCONF_PORT, SwitchManagement
from ailb_gen.network.ports import statements

# By platform and slot of the routing engine.
MANAGEMENT_PORTS = (
    "fxp0", "em0", "em1", "me0", "me1", "vme", "re0:mgmt-0", "re0:mgmt-1", "re1:mgmt-0", "re1:mgmt-1",
)  # fmt: skip
FAMILIES = frozenset({"inet", "inet6"})
# Blocks whose statements decide whether a login comes about, what it may do, and what is kept to roll back to.
BLOCKS = (
    ("system", "services", "netconf"),
    ("system", "services", "ssh"),
    ("system", "login", "class"),
    ("system", "login", "deny-sources"),
    ("system", "max-configuration-rollbacks"),
    ("system", "configuration-database", "ephemeral"),
)


def management(root: Node) -> SwitchManagement:
    """Read by what a switch is reached from its effective tree."""
    port = root.value("system", "services", "netconf", "ssh", "port") or ""
    ports = [node for node in root.each("interfaces") if node.word in MANAGEMENT_PORTS]
    return SwitchManagement(
        int(port) if port.isascii() and port.isdigit() else NETCONF_PORT,
        tuple(found for node in ports for found in _addresses(node)),
        tuple(_statements(root, ports)),
        tuple((user.word, user.value("class") or "") for user in root.each("system", "login", "user")),
    )


def _addresses(port: Node) -> Iterator[tuple[str, str]]:
    for unit in port.each("unit"):
        for family in unit.each("family"):
            yield from (
                (f"{port.word}.{unit.word}", one.word)
                for one in family.each("address")
                if is_interface_address(one.word)
            )


def is_interface_address(text: str) -> bool:
    """Return whether it is an address, IPv4 or IPv6; without Juniper's models, a configuration may hold any text."""
    try:
        ip_interface(text)
    except ValueError:
        return False
    return True


def _statements(root: Node, ports: list[Node]) -> Iterator[tuple[str, int]]:
    for block in BLOCKS:
        node = root.get(*block)
        yield from ((f"{' '.join(block)} {text}", at) for text, at in statements(node))
    for port in ports:
        for unit in port.each("unit"):
            if FAMILIES.isdisjoint(unit.values("family")):
                # A spare port is off in many places.
                continue
            for name, node in ((port.word, port), (f"{port.word} unit {unit.word}", unit)):
                off = node.get("disable")
                if off is not None:
                    yield f"interfaces {name} disable", off.line
