"""Whether the next push will reach a switch after this one, by what it has now and what it will have."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from ailb_gen.deploy.inventory import Target
from ailb_gen.forwarding.management import SSH_PORT, obstacles, ports_off
from ailb_gen.network.model import NETCONF_PORT, Management, Switch

SERVICES = ("system services ssh", "system services netconf ssh")
PORT = "system services ssh port "
ROOT_DENIED = "system services ssh root-login deny"
# Junos's own classes that change nothing, and the permissions of which others need one.
READING = frozenset({"operator", "read-only", "unauthorized"})
CHANGING = frozenset({"permissions all", "permissions configure"})
# What a class of its own may keep a push from.
CLASS: tuple[tuple[str, str], ...] = (
    ("deny-commands*", "a push that sends such a command is refused"),
    ("deny-configuration*", "a push that changes such a statement is refused"),
    ("access-start *", "at other times a push is refused"),
    ("access-end *", "at other times a push is refused"),
    ("allowed-days *", "on other days a push is refused"),
)


def warnings(before: Switch, after: Switch, target: Target) -> tuple[str, ...]:
    """Return what may keep the next push from a switch, in words; `target` is how it is reached now."""
    own = after.management
    # The default port may be translated on the way.
    port = own.netconf_port if own.netconf_port == NETCONF_PORT else target.port
    found = [stop.reason for stop in (*obstacles(after, port), *ports_off(after))]
    user = target.login.username if isinstance(target.login.username, str) else ""
    return (*dict.fromkeys(found), *_elsewhere(own, target.port), *_denied(own, user), *_lost(before, after, user))


def _elsewhere(own: Management, port: int) -> Iterator[str]:
    """Yield another port of SSH where the inventory has NETCONF on that of SSH."""
    for text, _ in own.statements if port == SSH_PORT else ():
        if text.startswith(PORT) and text != f"{PORT}{SSH_PORT}":
            yield f"{text}: a push connects to port {port}, unless the inventory says otherwise"


def _denied(own: Management, user: str) -> Iterator[str]:
    """Yield what the class of the login keeps it from."""
    name = dict(own.users).get(user, "")
    above = f"system login class {name} "
    below = [text.removeprefix(above) for text, _ in own.statements if text.startswith(above)]
    if name in READING or (below and CHANGING.isdisjoint(below)):
        yield f"user {user}: class {name} may change nothing, a push is refused"
    for pattern, effect in CLASS:
        yield from (f"{above}{text}: {effect}" for text in below if fnmatchcase(text, pattern))


def _lost(before: Switch, after: Switch, user: str) -> Iterator[str]:
    """Yield what this push takes away that it came by."""
    old, new = before.management, after.management
    for text in SERVICES:
        if text in before.operating and text not in after.operating:
            yield f"{text}: this push removes it"
    for interface, address in dict.fromkeys(old.addresses):
        if (interface, address) not in new.addresses:
            yield f"address {address} of {interface}: this push removes it"
    if before.management_gateway and after.management_gateway != before.management_gateway:
        now = after.management_gateway or "none"
        yield f"the gateway of mgmt_junos becomes {now}, it is {before.management_gateway}"
    if user in dict(old.users) and user not in dict(new.users):
        yield f"user {user}: this push removes the login that it uses"
    if user == "root" and any(text == ROOT_DENIED for text, _ in new.statements):
        yield f"{ROOT_DENIED}: the inventory logs in as root"
