"""Check router advertisements: what they announce to servers, and everything else in them (AILB103, AILB104)."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.intent.settings import Ra
from ailb_gen.network.model import RaPrefix, RouterAdvertisement, Switch, Unit

# What holds for a prefix without a statement, in seconds.
VALID_LIFETIME_S, PREFERRED_LIFETIME_S = 2592000, 604800
ABOVE = "protocols router-advertisement interface"
# The statement below the interface, a message, a line, what is expected and what is found.
Difference = tuple[str, str, int, object, object]


def _check_announced(context: Context, findings: Findings) -> None:
    """Compare the announced prefixes with the addresses of every IRB."""
    for switch, _ in context.leaves:
        irb = switch.ports.get("irb")
        for unit in irb.units if irb is not None else ():
            if unit.addresses:
                _check_unit(switch, unit, findings)


def _check_unit(switch: Switch, unit: Unit, findings: Findings) -> None:
    announced = switch.advertisements.get(unit.name)
    if announced is None:
        message = f"no router advertisements on {unit.name}: servers form no addresses"
        statement, subjects = _instead(switch, unit), (about.port(switch.named, unit.name),)
        findings.at(ANNOUNCED, switch, message, unit.line, part=unit.name, statement=statement, subjects=subjects)
        return
    prefixes = {entry.prefix: entry for entry in announced.prefixes}
    for address in unit.addresses:
        findings.look(ANNOUNCED)
        entry = prefixes.pop(address.prefix, None)
        if entry is None:
            message = f"{address.prefix} is on {unit.name} and not advertised"
            statement = f"{ABOVE} {unit.name} prefix {address.prefix}"
            line, expected = announced.line, address.prefix
            findings.at(ANNOUNCED, switch, message, line, expected, part=unit.name, statement=statement)
        elif not (entry.on_link and entry.autonomous):
            flag = "no-on-link" if not entry.on_link else "no-autonomous"
            message = f"{address.prefix} is advertised with {flag}: servers form no address in it"
            statement = f"{ABOVE} {unit.name} prefix {address.prefix} {flag}"
            findings.at(ANNOUNCED, switch, message, entry.line, part=unit.name, statement=statement)
    for entry in prefixes.values():
        message = f"{entry.prefix} is advertised, but {unit.name} has no address in it: Junos refuses to commit"
        statement = f"{ABOVE} {unit.name} prefix {entry.prefix}"
        findings.at(
            ANNOUNCED, switch, message, entry.line, "", entry.prefix, part=unit.name, statement=statement, instead=True
        )
    for text, line in announced.bad_prefixes:
        message, statement = f"{text} is not an IPv6 prefix", f"{ABOVE} {unit.name} prefix {text}"
        findings.at(ANNOUNCED, switch, message, line, part=unit.name, statement=statement, instead=True)


def _instead(switch: Switch, unit: Unit) -> str:
    """Return the statement that names no interface of the switch where there should be one that names a unit."""
    known = {one.name for port in switch.ports.values() for one in port.units}
    unknown = [name for name in switch.advertisements if name not in known]
    return f"{ABOVE} {unknown[0] if len(unknown) == 1 else unit.name}"


def _check_timers(context: Context, findings: Findings) -> None:
    """Compare everything else in advertisements, on IRBs and on links between switches, with the intent."""
    for switch, expected in context.switches:
        links = context.link_ports.get(switch.named, ())
        for name, announced in switch.advertisements.items():
            irb = name.startswith("irb.")
            if irb or (name.endswith(".0") and name.removesuffix(".0") in links):
                findings.look(TIMERS)
                for below, message, line, wanted, found in _differences(expected.settings.ra, announced, irb):
                    statement = f"{ABOVE} {name} {below}"
                    # A word that nobody asked for may be one that is missing, written wrongly.
                    instead = not wanted and wanted is not None
                    findings.at(
                        TIMERS, switch, message, line, wanted, found, part=name, statement=statement, instead=instead
                    )


def _differences(ra: Ra, announced: RouterAdvertisement, irb: bool) -> Iterator[Difference]:
    rows = (
        ("max-advertisement-interval", ra.max_interval_s, announced.max_interval),
        ("min-advertisement-interval", ra.min_interval_s, announced.min_interval),
        ("default-lifetime", ra.router_lifetime_s if irb else None, announced.lifetime),
    )
    for what, expected, found in rows:
        if found != expected:
            shown = "not set" if found is None else found
            asks = "leaves the Junos default" if expected is None else f"specifies {expected}"
            yield what, f"{what} is {shown}; the intent {asks}", announced.line, expected, shown
    for statement, line in announced.others:
        yield statement, f"{statement} is not in the intent", line, "", statement
    for prefix in announced.prefixes:
        if irb:
            yield from _lifetimes(ra, prefix)
        else:
            message = f"{prefix.prefix} is advertised on a link between switches"
            yield f"prefix {prefix.prefix}", message, prefix.line, "", prefix.prefix


def _lifetimes(ra: Ra, prefix: RaPrefix) -> Iterator[Difference]:
    rows = (
        ("valid-lifetime", ra.valid_lifetime_s, prefix.valid or str(VALID_LIFETIME_S)),
        ("preferred-lifetime", ra.preferred_lifetime_s, prefix.preferred or str(PREFERRED_LIFETIME_S)),
    )
    for what, expected, found in rows:
        if found != str(expected):
            message = f"{what} of {prefix.prefix} is {found}; the intent specifies {expected}"
            yield f"prefix {prefix.prefix} {what}", message, prefix.line, expected, found


ANNOUNCED = Check(
    "AILB103",
    "router advertisements announce every prefix of the IRB, on-link and autonomous, and no other",
    "router advertisements lack a prefix of the IRB, advertise another one, or have the wrong flags",
    "Without the advertisement no server forms an address in the prefix, and one queue pair of each connection fails.",
    "Add or correct `protocols router-advertisement interface irb.N prefix`.",
    _check_announced,
    layer=Layer.USES,
)
TIMERS = Check(
    "AILB104",
    "router advertisements have the intervals and lifetimes that the intent specifies, and no other settings",
    "router advertisements differ from the intent in intervals, lifetimes or options",
    "Advertisements that are too rare delay discovery; lifetimes that are too short take addresses and routes away; "
    "other settings send hosts to DHCPv6 or change their MTU.",
    "Change the intent's `ra:` and generate again.",
    _check_timers,
    layer=Layer.USES,
)
