"""Whether the next push will reach a switch after this one, by what it has now and what it will have."""

from collections.abc import Iterator

from ailb_gen.deploy.inventory import Target
from ailb_gen.forwarding.management import obstacles, ports_off
from ailb_gen.network.model import Switch

SERVICES = ("system services ssh", "system services netconf ssh")
ROOT_DENIED = "system services ssh root-login deny"


def warnings(before: Switch, after: Switch, target: Target) -> tuple[str, ...]:
    """Return what may keep the next push from a switch, in words; `target` is how it is reached now."""
    own = after.management
    # The port may be translated on the way: where nothing changes, it is the right one.
    port = target.port if own.netconf_port != before.management.netconf_port else own.netconf_port
    found = [stop.reason for stop in (*obstacles(after, port), *ports_off(after))]
    user = target.login.username
    return (*dict.fromkeys(found), *_lost(before, after, user if isinstance(user, str) else ""))


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
    if user in old.users and user not in new.users:
        yield f"user {user}: this push removes the login that it uses"
    if user == "root" and any(text == ROOT_DENIED for text, _ in new.statements):
        yield f"{ROOT_DENIED}: the inventory logs in as root"
