"""The configuration of a switch as BIRD's: BGP-DPF and Junos's rules become filters of standard BGP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address

from ailb_gen.addresses import Prefix, address_text
from ailb_gen.junos.regex import is_pattern
from ailb_gen.lab.bird import filters, model
from ailb_gen.lab.bird.communities import COLORS, EXTENDED, Pattern, value
from ailb_gen.lab.bird.filters import Policies, Reasons, Symbols, prefix_set
from ailb_gen.lab.bird.model import BirdPeer, Translation, Untranslated
from ailb_gen.lab.bird.radv import router_advertisements
from ailb_gen.lab.plan import SwitchPlan, link_local, port_of, unit_link
from ailb_gen.network.model import Group, Neighbor, Switch
from ailb_gen.network.sessions import Side, group_keys, local_as, refused, session_groups, unfit
from ailb_gen.shipped import template

ALL_COLORS = "all-colors"
DEFAULT_PREFERENCE = 100
# Junos's number of BFD packets that may be lost.
DEFAULT_MULTIPLIER = 3
# From 2^31 on igp_metric counts as unknown: BIRD then originates no AIGP.
NO_AIGP = 0xFFFFFFFF
# A switch without a usable router-id loses every tie.
LAST_ROUTER_ID = "255.255.255.255"
# BIRD's own limit of equal paths.
MOST_PATHS = 255
LOOP, MISMATCH = "AS path loop", "color mismatch"


@dataclass(frozen=True, slots=True)
class _Neighbor:
    """A session to be: the logical interface, its link, its group, both AS numbers; BIRD accepts the AS `expected`.

    `key` names the group for BIRD.
    """

    interface: str
    link: str
    key: str
    group: Group
    own_as: int
    expected: int
    peer: BirdPeer
    passive: bool


def render(switch: Switch, plan: SwitchPlan, peers: Mapping[str, BirdPeer], held: bool = False) -> Translation:
    """Translate a switch for BIRD; `peers` are the neighbors whose router advertisements were heard.

    `held`: the kernel gets no routes, and neighbors no BFD, until the protocols `kernel6` and `bfd1` are enabled.
    """
    neighbors = tuple(_neighbors(switch, plan, peers))
    names, reasons = Symbols(), Reasons()
    untranslated = [*_outside(switch)]
    # The numbers of these two are fixed.
    loop, mismatch = reasons.number(LOOP), reasons.number(MISMATCH)
    keyed = {neighbor.key: neighbor.group for neighbor in neighbors}
    groups = list(keyed.values())
    policies = Policies(switch, names, reasons, untranslated)
    used = dict.fromkeys(name for group in groups for name in (*group.imports, *group.exports))
    _metrics(switch, groups, [neighbor.expected for neighbor in neighbors], untranslated)
    merged = _merges(switch, [(neighbor.group, neighbor.expected) for neighbor in neighbors], untranslated)
    for group in groups:
        if group.bfd is not None and not group.bfd.interval_ms:
            statement = f"protocols bgp group {group.name} bfd-liveness-detection"
            untranslated.append(Untranslated(statement, "no minimum-interval: no BFD", group.bfd.line))
    functions = [router_advertisements(switch, plan, untranslated)]
    functions += [policies.function(switch.policies[name]) for name in used if name in switch.policies]
    text = template("lab", "bird.conf.j2").render(
        model=model,
        filters=filters,
        plan=plan,
        router_id=_router_id(switch),
        colors=COLORS,
        direct=prefix_set(str(prefix) for prefix in sorted(direct_prefixes(switch))),
        begin="{ disabled;" if held else "{",
        merged=merged,
        limit=min(max(switch.balancing.maximum_ecmp, 1), MOST_PATHS),
        multiplier=DEFAULT_MULTIPLIER,
        functions=filter(None, functions),
        groups=[_group(switch, names, *row) for row in keyed.items()],
        preference=list(filters.set_preference(DEFAULT_PREFERENCE)),
        own_numbers=", ".join(map(str, sorted({neighbor.own_as for neighbor in neighbors}))),
        loop_reason=loop,
        mismatch_reason=mismatch,
        no_aigp=NO_AIGP,
        symbol=names.symbol,
        address_text=address_text,
        neighbors=neighbors,
    )
    return Translation(
        text=text.rstrip("\n") + "\n",
        sessions={neighbor.interface: neighbor.link.replace("+", ":") for neighbor in neighbors},
        reasons={number: text for text, number in reasons.numbers.items()},
        untranslated=tuple(dict.fromkeys(untranslated)),
    )


def _outside(switch: Switch) -> Iterator[Untranslated]:
    """Yield the statements that are not about routing, and that the lab does not have."""
    for entry in switch.unmodeled:
        yield Untranslated(entry.whole, "nothing in this program computes it", entry.line)
    for attached in switch.filters.attached:
        statement = f"filter {attached.direction} [ {' '.join(attached.filters)} ] of {attached.kind} {attached.name}"
        yield Untranslated(statement.strip(), "the lab's switches do not filter packets", attached.line)


def _neighbors(switch: Switch, plan: SwitchPlan, peers: Mapping[str, BirdPeer]) -> Iterator[_Neighbor]:
    """Yield the sessions that this switch tries: where the interface is up, and a group has a neighbor."""
    table, keys = session_groups(switch), group_keys(switch)
    for interface, peer in sorted(peers.items()):
        link, port = unit_link(plan, interface), plan.ports.get(port_of(interface))
        unit, configured = switch.unit(interface), switch.ports.get(port_of(interface))
        if link is None or port is None or unit is None or configured is None or interface not in table:
            continue
        group = switch.groups[table[interface]]
        own = local_as(switch, group)
        if configured.disabled or unit.disabled or not unit.inet6 or own is None or any(unfit(group)):
            continue
        static = group.neighbor(interface)
        side = Side(plan.name, table[interface], interface, own, static)
        other = Side(str(port.far), 0, "", peer.asn)
        expected: int | None = peer.asn
        if any(refused({plan.name: switch}, side, other)):
            expected = None if own == peer.asn else _first_admitted(switch, group, static, own)
        if expected is not None:
            passive = (static.own if static is not None else link_local(port.mac)) > peer.address
            yield _Neighbor(interface, link, keys[table[interface]], group, own, expected, peer, passive)


def _first_admitted(switch: Switch, group: Group, static: Neighbor | None, own: int) -> int | None:
    """Return an AS number that a group admits, so that BIRD itself refuses the peer that has another one."""
    if static is not None:
        return static.peer_as if static.peer_as != own else None
    listed = switch.as_lists.get(group.peer_as_list or "")
    found = [group.peer_as] if group.peer_as is not None else []
    found += [low for low, _ in listed.ranges] if listed is not None else []
    return next((asn for asn in found if asn != own), None)


def _router_id(switch: Switch) -> str:
    try:
        found = IPv4Address(switch.router_id or "")
    except AddressValueError:
        return LAST_ROUTER_ID
    return str(found) if int(found) else "0.0.0.1"


def direct_prefixes(switch: Switch) -> frozenset[Prefix]:
    """Return the prefixes of enabled interfaces; an IRB is up with a VLAN that has an ID.

    `routing.speaker.direct_prefixes` is independent on purpose; a property in test_config.py compares them.
    """
    routed = {vlan.irb for vlan in switch.vlans if vlan.vlan_id is not None}
    return frozenset(
        address.prefix
        for port in switch.ports.values()
        if not port.disabled
        for unit in port.units
        if not unit.disabled and (port.name != "irb" or unit.name in routed)
        for address in unit.addresses
    )


def _color(switch: Switch, name: str | None) -> str | None:
    """Return the value of a color community; None when it is not defined or has not exactly one value."""
    community = switch.communities.get(name) if name is not None else None
    members = {member for member in (community.members if community is not None else ()) if not is_pattern(member)}
    return next(iter(members)) if len(members) == 1 else None


def _group(switch: Switch, names: Symbols, key: str, group: Group) -> dict[str, object]:
    """Return what the template needs of a group: the test for another color, statements of its import and export."""
    color = _color(switch, group.color)
    known = value(color) if color is not None else None
    lowest = group.shutdown_preference
    imports, exports = (
        [name for name in policies if name in switch.policies] for policies in (group.imports, group.exports)
    )
    return {
        "name": key,
        "aigp": group.aigp,
        "bfd": group.bfd is not None and group.bfd.interval_ms,
        "mismatch": _mismatch(color, known),
        "imports": list(filters.chain([names.symbol("policy", name) for name in imports])),
        "exports": list(filters.chain([names.symbol("policy", name) for name in exports])),
        # As on every leaf: BIRD asks for each route and each session.
        "only_direct": filters.rejects_all(switch.policies[name] for name in exports),
        "advertised": list(_advertised(switch, group, color, known)),
        "marks": group.shutdown_sender,
        "last": [] if lowest is None else list(filters.set_preference(min(lowest, filters.MOST_PREFERENCE))),
    }


def _mismatch(color: str | None, known: Pattern | None) -> str:
    """Return the test for a route of another color than the session's; empty if the session has none."""
    if color is None:
        return ""
    test = f"{EXTENDED} ~ ANY_COLOR"
    if known is None or not color.startswith("color:"):
        return test
    # Nearly all routes have the color: BIRD looks no further then.
    return f"! ({known.literal} ~ {known.attribute}) && {test}"


def _advertised(switch: Switch, group: Group, color: str | None, known: Pattern | None) -> Iterator[str]:
    """Yield the export of the routes of `fabric-advertise`, on their color, on a backup color, or without."""
    plain: list[str] = []
    with_aigp: list[str] = []
    others: list[str] = []
    for route in {route.prefix: route for route in switch.routes}.values():
        text = str(route.prefix)
        if route.color is None:
            plain.append(text)
        elif color is None:
            continue
        elif route.color == ALL_COLORS or _color(switch, route.color) == color:
            (with_aigp if route.backup is not None and group.aigp else others).append(text)
        elif route.backup == ALL_COLORS or _color(switch, route.backup) == color:
            others.append(text)
    add = f"{known.attribute}.add({known.literal}); " if known is not None else ""
    mark = f"{filters.MARK} " if group.shutdown_sender else ""
    for prefixes, action in ((plain, mark), (with_aigp, f"igp_metric = 0; {add}{mark}"), (others, add + mark)):
        if prefixes:
            yield f"if {prefix_set(prefixes)} then {{ {action}return true; }}"


def _metrics(switch: Switch, groups: Sequence[Group], peers: Sequence[int], untranslated: list[Untranslated]) -> None:
    """Add the terms that set a MED, if sessions to several ASes, given by session, let it matter.

    Junos drops a path that another one of its neighboring AS beats by MED; BIRD compares MED with the active path only.
    """
    if len(set(peers)) < 2 or len(set(peers)) == len(peers):
        return
    for name in dict.fromkeys(name for group in groups for name in group.imports):
        policy = switch.policies.get(name)
        for term in policy.terms if policy is not None else ():
            if term.metric is not None:
                where = f"policy-options policy-statement {name}" + (f" term {term.name}" if term.name else "")
                reason = "BIRD compares MED with the active path only: a path of another neighboring AS may stay"
                untranslated.append(Untranslated(f"{where} then metric", reason, term.line))


def _merges(switch: Switch, sessions: Sequence[tuple[Group, int]], untranslated: list[Untranslated]) -> bool:
    """Return whether equal paths are merged, for sessions given by group and the peer's AS number.

    Adds the statements that BIRD does otherwise.

    Junos keeps, of the paths that are equal to the active one, those of groups with multipath if the active one's has
    it; without multiple-as only those of the same neighboring AS. The forwarding table takes them if a load-balancing
    policy says so.
    """
    groups = list(dict.fromkeys(group for group, _ in sessions))
    several = [group for group in groups if group.multipath]
    if not switch.balancing.per_packet or not several:
        return False
    peers = {asn for _, asn in sessions}
    if len(several) < len(groups):
        for group in groups:
            if not group.multipath:
                reason = "other groups have multipath: BIRD merges the paths of this one, too"
                untranslated.append(
                    Untranslated(f"protocols bgp group {group.name} without multipath", reason, group.line)
                )
    if all(group.multiple_as for group in several) or len(peers) == 1:
        return True
    narrow = [group for group in several if not group.multiple_as]
    # Where every neighbor is in an AS of its own, no two paths are of one neighboring AS.
    if len(narrow) == len(several) and len(peers) == len(sessions):
        return False
    on = len(narrow) < len(several)
    done = "merges paths of different neighboring ASes, too" if on else "merges no paths"
    for group in narrow:
        statement = f"protocols bgp group {group.name} multipath without multiple-as"
        untranslated.append(Untranslated(statement, f"BIRD {done}", group.line))
    return on
