"""Unmanaged statements on a switch: a push leaves them alone, but they may affect the fabric.

A push owns texts. Groups, interface ranges and other hierarchies reach into what these texts do without a word in them.
So what the switch will do, groups inherited and ranges expanded, is compared with what its file alone would do. Every
statement that only the switch has is harmless by the lists that `validate` goes by, or its effect is computed here, or
it is reported.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from ailb_gen.addresses import Prefix, interface_value
from ailb_gen.deploy.inventory import Target
from ailb_gen.deploy.ownership import Ownership, Pattern, matches
from ailb_gen.forwarding.filters import discovery_packets, session_packets, stopped
from ailb_gen.forwarding.management import SSH_PORT, obstacles, ports_off
from ailb_gen.junos.commands import commands
from ailb_gen.junos.diff import diff
from ailb_gen.junos.edit import unquoted
from ailb_gen.junos.tree import Node
from ailb_gen.network.filters import Attachment
from ailb_gen.network.model import NETCONF_PORT, Switch, SwitchManagement, Vlan
from ailb_gen.network.statements import consequence
from ailb_gen.network.supported_statements import Standing, standing
from ailb_gen.wording import some

# What the file defines by name must be exactly as in the file, wherever else on the switch it is extended.
NAMED: tuple[Pattern, ...] = (
    ("policy-options", "prefix-list"),
    ("firewall", "filter"),
    ("firewall", "family", "*", "filter"),
)
# Families that carry no traffic of the fabric.
OTHER_FAMILIES = frozenset({"inet", "mpls", "iso", "vpls", "ccc"})
# Interfaces that have no cable.
LOGICAL = ("irb", "lo0")
# The most that are reported: a device may have any number.
MOST = 1_000
# Where the address stands in `interfaces NAME unit NUMBER family inet6 address ADDRESS`.
ADDRESS = 7
# Every address: where the fabric's own are not known.
ANY = Prefix(0, 0)
VLAN = re.compile(r"[0-9]{1,4}")


@dataclass
class Acting:
    """What a switch does (`own`), what its file alone would do, and the prefix that holds the fabric's addresses."""

    own: Switch
    _alone: Callable[[], Switch]
    pool: Prefix

    @cached_property
    def alone(self) -> Switch:
        """What the file alone would do; computed only where it matters."""
        return self._alone()


def unmanaged_effects(
    own: Switch, acting: Node, alone: Callable[[], Switch], file: Node, rights: Ownership, pool: Prefix = ANY
) -> dict[str, str]:
    """Return the effects of unmanaged statements on those of the file, in words, each with its statement if it has one.

    `acting` and `file` are effective trees, the file by itself. `own` and `alone` are their switches;
    the second is computed only where it matters, and the lines of the file are lost for it.
    `pool` holds the addresses of the fabric.
    """
    both = Acting(own, alone, pool)
    attached = [one for one in own.filters.attached if one.family not in OTHER_FAMILIES]
    found = dict.fromkeys(_filters(attached, both), "")
    for count, (path, effect) in enumerate(_statements(both, acting, file, rights)):
        if len(found) >= MOST:
            return found | {f"more than {count:,} such statements; the others are not shown": ""}
        found[f"{path}: {effect}"] = path
    return found


def _statements(both: Acting, acting: Node, file: Node, rights: Ownership) -> Iterator[tuple[str, str]]:
    """Compare what is owned and what the file defines by name word by word, of all else what it does."""
    meant = (*rights.owned, *(path for pattern in NAMED for path, _, _ in matches(file, (*pattern, "*"))))
    others: list[str] = []
    for change in diff(file, acting):
        verb, _, path = change.command.partition(" ")
        words = path.split()
        if _below(words, rights.kept):
            continue
        if verb == "delete":
            yield path, "is in the file and has no effect"
        elif not _below(words, meant):
            others += [path] if verb == "set" else []
        elif verb == "set":
            yield path, "takes effect on the switch and is not in the file; check groups and interface ranges"
        elif verb == "insert":
            yield path, "takes effect in another order than in the file"
    yield from _judged(others, both)


def _judged(paths: Iterable[str], both: Acting) -> Iterator[tuple[str, str]]:
    """Yield the effects of statements that only the switch has, outside the owned parts."""
    # The first path of each, and how many more there are: a device may have any number.
    unmodeled: dict[str, tuple[str, int]] = {}
    for path in paths:
        words = unquoted(next(commands(f"set {path}")).words)
        known, count = standing(words)
        if known is Standing.UNMODELED:
            first, more = unmodeled.get(statement := " ".join(words[:count]), (path, -1))
            unmodeled[statement] = first, more + 1
            continue
        # An address of the fabric is not harmless, wherever it is.
        judge = next((judge for pattern, judge in EFFECTS if _below(words, (pattern,))), None)
        unjudged = "it takes effect on the switch" if known is Standing.READ else ""
        effect = judge(words, both) if judge is not None else unjudged
        if effect:
            yield path, f"not in the file; {effect}"
    for statement, (first, more) in unmodeled.items():
        which = f"{first} and {more} more like it" if more else first
        yield which, f"not in the file; {consequence(statement)}"


def _lldp(words: Sequence[str], both: Acting) -> str:
    ports = [port for port in both.alone.ports if port not in LOGICAL and both.alone.runs_lldp(port)]
    silent = [port for port in ports if not both.own.runs_lldp(port)]
    return f"LLDP is off on {some(silent)}: cables cannot be compared with the plan" if silent else ""


def _ecmp(words: Sequence[str], both: Acting) -> str:
    now, then = (one.balancing.maximum_ecmp for one in (both.own, both.alone))
    return f"a route has up to {now} next hops, with the file alone {then}" if now != then else ""


def _address(words: Sequence[str], both: Acting) -> str:
    found = interface_value(words[ADDRESS]) if len(words) > ADDRESS else None
    if found is None or not (both.pool.contains(found[1]) or found[1].contains(both.pool)):
        return ""
    return f"{found[1]} overlaps the fabric's addresses: the switch attracts the traffic to it"


def _member(words: Sequence[str], both: Acting) -> str:
    first, _, last = words[-1].partition("-")
    known = VLAN.fullmatch(first) and VLAN.fullmatch(last or first)
    ids = range(int(first), int(last or first) + 1) if known else ()
    joined = [vlan.name for vlan in both.alone.vlans if words[-1] in (vlan.name, "all") or vlan.vlan_id in ids]
    return f"{words[1]}.{words[3]} joins VLAN {some(joined)} of the fabric" if joined else ""


def _vlan(words: Sequence[str], both: Acting) -> str:
    """Compare a VLAN with those of the file: an id or an IRB has one VLAN."""

    def uses(vlan: Vlan) -> set[object]:
        return {value for value in (vlan.vlan_id, vlan.irb) if value is not None}

    new = next((vlan for vlan in both.own.vlans if vlan.name == words[1]), None)
    taken = [vlan.name for vlan in both.alone.vlans if new is not None and uses(vlan) & uses(new)]
    return f"it takes the id or the IRB of VLAN {some(taken)}" if taken else ""


def _elsewhere(words: Sequence[str], both: Acting) -> str:
    """Accept a statement about no port, address or route of the fabric, and a mere definition."""
    return ""


Effect = Callable[[Sequence[str], Acting], str]
# Statements that are read and not owned; the first pattern counts. One without a row is reported.
EFFECTS: tuple[tuple[Pattern, Effect], ...] = (
    (("protocols", "lldp"), _lldp),
    (("chassis", "maximum-ecmp"), _ecmp),
    (("interfaces", "*", "unit", "*", "family", "inet6", "address"), _address),
    (("interfaces", "*", "unit", "*", "family", "ethernet-switching", "vlan", "members"), _member),
    # Filters are sent packets, wherever they are attached.
    (("vlans", "*", "forwarding-options"), _elsewhere),
    (("forwarding-options", "family", "inet6", "filter"), _elsewhere),
    (("vlans",), _vlan),
    (("interfaces",), _elsewhere),
    (("policy-options", "prefix-list"), _elsewhere),
    (("routing-instances", "mgmt_junos"), _elsewhere),
)


def _below(words: Sequence[str], patterns: Iterable[Pattern]) -> bool:
    """Return whether a path is below one of the patterns."""
    return any(len(words) >= len(pattern) and all(map(fnmatchcase, words, pattern)) for pattern in patterns)


def _filters(attached: Iterable[Attachment], both: Acting) -> Iterator[str]:
    """Send the packets that sessions need through filters that the file does not attach."""
    for attachment in attached:
        if _same(attachment, both):
            continue
        # A VLAN that only the switch has carries no packet of the fabric.
        if attachment.kind == "vlan" and all(vlan.name != attachment.name for vlan in both.alone.vlans):
            continue
        where = f"{attachment.name} ({attachment.direction})"
        if attachment.kind != "interface":
            names = " ".join(attachment.filters)
            yield f"filter {names} on {where}: not in the file, and all packets pass through it"
            continue
        # No packet of the fabric passes a management port, nor one that only the switch has.
        if attachment.name.rpartition(".")[0] not in both.alone.ports:
            continue
        chain = []
        for name in attachment.filters:
            defined = both.own.filters.defined
            found = defined.get((attachment.family, name)) or defined.get(("any", name))
            if found is not None:
                chain.append(found)
        packets = (*session_packets(True), *discovery_packets(links_only=attachment.name == "lo0.0"))
        for packet in packets if chain else ():
            stop = stopped(tuple(chain), packet, both.own.filters)
            if stop is not None:
                yield f"on {where}: {stop.reason}"


def _same(attachment: Attachment, both: Acting) -> bool:
    names = [(family, name) for name in attachment.filters for family in (attachment.family, "any")]
    return attachment in both.alone.filters.attached and all(
        both.own.filters.defined.get(name) == both.alone.filters.defined.get(name) for name in names
    )


SERVICES = ("system services ssh", "system services netconf ssh")
PORT = "system services ssh port "
ROOT_DENIED = "system services ssh root-login deny"
# Junos's own classes that change nothing, and the permissions; other classes need one of them.
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
    """Return the reasons why the next push may not reach a switch, in words; `target` is how it is reached now."""
    own = after.management
    # The default port may be translated on the way.
    port = own.netconf_port if own.netconf_port == NETCONF_PORT else target.port
    found = [stop.reason for stop in (*obstacles(after, port), *ports_off(after))]
    user = target.login.username if isinstance(target.login.username, str) else ""
    return (*dict.fromkeys(found), *_other_port(own, target.port), *_denied(own, user), *_lost(before, after, user))


def _other_port(own: SwitchManagement, port: int) -> Iterator[str]:
    """Yield another port of SSH where the inventory has NETCONF on that of SSH."""
    for text, _ in own.statements if port == SSH_PORT else ():
        if text.startswith(PORT) and text != f"{PORT}{SSH_PORT}":
            yield f"{text}: a push connects to port {port}, unless the inventory says otherwise"


def _denied(own: SwitchManagement, user: str) -> Iterator[str]:
    name = dict(own.users).get(user, "")
    above = f"system login class {name} "
    below = [text.removeprefix(above) for text, _ in own.statements if text.startswith(above)]
    if name in READING or (below and CHANGING.isdisjoint(below)):
        yield f"user {user}: class {name} may change nothing, a push is refused"
    for pattern, effect in CLASS:
        yield from (f"{above}{text}: {effect}" for text in below if fnmatchcase(text, pattern))


def _lost(before: Switch, after: Switch, user: str) -> Iterator[str]:
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
