"""What keeps the next push from reaching a switch: filters, another port, few sessions, a management port that is off.

Source: Junos CLI Reference, `system services netconf ssh`; the filters of lo0 and of management ports see every packet
to the routing engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from ipaddress import ip_interface

from ailb_gen.addresses import BITS
from ailb_gen.forwarding.filters import CHOSEN, TCP, Packet, Stop, blocked
from ailb_gen.network.filters import Attachment, Span
from ailb_gen.network.management import MANAGEMENT_PORTS
from ailb_gen.network.model import NETCONF_PORT, Switch, SwitchManagement

SSH_PORT = 22
LOOPBACK = "lo0.0"
FAMILIES = {"inet": (4,), "inet6": (6,), "any": (4, 6)}
EVERY: dict[int, Span] = {4: (0, (1 << 32) - 1), 6: (0, (1 << BITS) - 1)}
ETHER_TYPES: dict[int, Span] = {4: (0x800, 0x800), 6: (0x86DD, 0x86DD)}
FEW = "a push opens a session for every step, and one more after a lost answer; with so few it may be refused"
DENIED = "logins from everywhere are denied"
# A pattern of a statement, and what it does to the next push.
STATEMENTS: tuple[tuple[str, str], ...] = (
    (
        "system configuration-database ephemeral instance *",
        "it takes effect without a commit: no plan, check or rollback covers it, and it may block the next push",
    ),
    ("system services * connection-limit 1", FEW),
    ("system services * rate-limit [1-3]", FEW),
    ("system login deny-sources address 0.0.0.0/0", DENIED),
    ("system login deny-sources address ::/0", DENIED),
    ("system max-configuration-rollbacks 0", "no configuration is kept for a rollback"),
)
PORT = "system services netconf ssh port"


def obstacles(switch: Switch, port: int = NETCONF_PORT) -> Iterator[Stop]:
    """Yield what may keep the next push from a switch, with its line; `port` is where NETCONF is expected."""
    own = switch.management
    for text, line in own.statements:
        effect = next((effect for pattern, effect in STATEMENTS if fnmatchcase(text, pattern)), "")
        if text.startswith(PORT) and own.netconf_port != port:
            effect = f"a push connects to port {port}, unless the inventory says otherwise"
        if effect:
            yield Stop(f"{text}: {effect}", line)
    for attachment in switch.filters.attached:
        yield from _filtered(switch, attachment)


def ports_off(switch: Switch) -> Iterator[Stop]:
    """Yield the management ports with addresses that are disabled."""
    for text, line in switch.management.statements:
        if text.startswith("interfaces "):
            yield Stop(f"{text}: the management port is disabled, and a push needs it", line)


def _filtered(switch: Switch, attachment: Attachment) -> Iterator[Stop]:
    """Send logins through what is attached where they arrive or leave."""
    name, own = attachment.name, switch.management
    if name != LOOPBACK and name.rpartition(".")[0] not in MANAGEMENT_PORTS:
        return
    defined = switch.filters.defined
    chain = [defined.get((attachment.family, one)) or defined.get(("any", one)) for one in attachment.filters]
    filters = tuple(one for one in chain if one is not None)
    # Without all of them nothing is known.
    if not filters or len(filters) < len(chain):
        return
    for version in FAMILIES.get(attachment.family, ()):
        for packet in _logins(own, version, attachment.direction):
            stop = blocked(filters, packet)
            if stop is not None:
                yield Stop(f"on {name} ({attachment.direction}): {stop.reason}", stop.line)


def _logins(own: SwitchManagement, version: int, direction: str) -> Iterator[Packet]:
    """Yield the packets of SSH and NETCONF to an address of a management port, or from it, from anywhere.

    Without such an address the switch is taken to be managed over IPv4.
    """
    found = [ip_interface(address) for _, address in own.addresses]
    addresses = [int(one.ip) for one in found if one.version == version]
    if not addresses and (found or version == 6):
        return
    here: Span = (addresses[0], addresses[0]) if len(addresses) == 1 else EVERY[version]
    for name, port in (("SSH", SSH_PORT), ("NETCONF", own.netconf_port)):
        ends = {"source": EVERY[version], "destination": here}
        ports = {"source-port": CHOSEN, "destination-port": (port, port)}
        if direction == "output":
            ends = {"source": here, "destination": EVERY[version]}
            ports = {"source-port": (port, port), "destination-port": CHOSEN}
        fields = {"protocol": (TCP, TCP), "ether-type": ETHER_TYPES[version], **ends, **ports}
        to = "from" if direction == "output" else "to"
        yield Packet(f"{name} (TCP {to} port {port})", fields, version=version)
