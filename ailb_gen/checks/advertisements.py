"""Router advertisements: what they announce to servers, and what else they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.checks.address_checks import ANNOUNCED, TIMERS
from ailb_gen.errors import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.checks.findings import Findings
    from ailb_gen.checks.speakers import WantedSpeaker
    from ailb_gen.intent.settings import Ra
    from ailb_gen.network.model import RaPrefix, RouterAdvertisement, Switch

# What holds for a prefix without a statement, in seconds.
VALID_LIFETIME_S, PREFERRED_LIFETIME_S = 2592000, 604800
# What differs: a message, a line, what is expected and what is found.
Told = tuple[str, int, object, object]


def check_announced(switch: Switch, collected: Findings) -> None:
    """Compare the announced prefixes with the addresses of every IRB."""
    irb = switch.ports.get("irb")
    units = [unit for unit in irb.units if unit.addresses] if irb is not None else []
    for unit in units:
        scope = f"{switch.named} {unit.name}"
        announced = switch.advertisements.get(unit.name)
        if announced is None:
            message = f"no router advertisements on {unit.name}: servers form no addresses"
            collected.add(ANNOUNCED, scope, message, Place(switch.file, unit.line or 1))
            continue
        prefixes = {entry.prefix: entry for entry in announced.prefixes}
        for address in unit.addresses:
            collected.look(ANNOUNCED)
            entry = prefixes.pop(address.prefix, None)
            if entry is None:
                message = f"{address.prefix} is on {unit.name} and not announced"
                collected.add(ANNOUNCED, scope, message, Place(switch.file, announced.line or 1), address.prefix)
            elif not (entry.on_link and entry.autonomous):
                flag = "no-on-link" if not entry.on_link else "no-autonomous"
                message = f"{address.prefix} is announced with {flag}: servers form no address in it"
                collected.add(ANNOUNCED, scope, message, Place(switch.file, entry.line or 1))
        for entry in prefixes.values():
            message = f"{entry.prefix} is announced, but {unit.name} has no address in it: Junos refuses to commit"
            collected.add(ANNOUNCED, scope, message, Place(switch.file, entry.line or 1), "", entry.prefix)
        for text, line in announced.bad_prefixes:
            collected.add(ANNOUNCED, scope, f"{text} is no IPv6 prefix", Place(switch.file, line))


def check_timers(switch: Switch, asked: WantedSpeaker, links: set[str], collected: Findings) -> None:
    """Compare everything else that advertisements say, on IRBs and on `links`, with the intent."""
    for name, announced in switch.advertisements.items():
        irb = name.startswith("irb.")
        if not irb and name not in links:
            continue
        collected.look(TIMERS)
        for message, line, expected, found in _told(asked.settings.ra, announced, irb):
            collected.add(TIMERS, f"{switch.named} {name}", message, Place(switch.file, line or 1), expected, found)


def _told(ra: Ra, announced: RouterAdvertisement, irb: bool) -> Iterator[Told]:
    rows = (
        ("max-advertisement-interval", ra.max_interval_s, announced.max_interval),
        ("min-advertisement-interval", ra.min_interval_s, announced.min_interval),
        ("default-lifetime", ra.router_lifetime_s if irb else None, announced.lifetime),
    )
    for what, expected, found in rows:
        if found != expected:
            shown = "not set" if found is None else found
            intended = "leaves it to Junos" if expected is None else f"asks for {expected}"
            yield f"{what} is {shown}; the intent {intended}", announced.line, expected, shown
    for statement, line in announced.others:
        yield f"{statement} is not asked for by the intent", line, "", statement
    for prefix in announced.prefixes:
        if irb:
            yield from _lifetimes(ra, prefix)
        else:
            yield f"{prefix.prefix} is announced on a link between switches", prefix.line, "", prefix.prefix


def _lifetimes(ra: Ra, prefix: RaPrefix) -> Iterator[Told]:
    rows = (
        ("valid-lifetime", ra.valid_lifetime_s, prefix.valid or str(VALID_LIFETIME_S)),
        ("preferred-lifetime", ra.preferred_lifetime_s, prefix.preferred or str(PREFERRED_LIFETIME_S)),
    )
    for what, expected, found in rows:
        if found != str(expected):
            yield f"{what} of {prefix.prefix} is {found}; the intent asks for {expected}", prefix.line, expected, found
