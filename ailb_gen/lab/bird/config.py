"""The configuration of a switch as BIRD's: BGP-DPF and Junos's rules become filters of standard BGP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address

from ailb_gen.addresses import Prefix, address_text
from ailb_gen.junos.regex import is_pattern
from ailb_gen.lab.bird.communities import COLORS, EXTENDED, Value, value
from ailb_gen.lab.bird.filters import (
    NEXT,
    REJECT,
    Policies,
    Reasons,
    Symbols,
    chain,
    prefix_set,
    rejects_all,
    set_preference,
)
from ailb_gen.lab.bird.model import (
    BFD,
    DIRECT,
    ECMP_KERNEL,
    ECMP_PIPE,
    ECMP_TABLE,
    KERNEL,
    BirdPeer,
    Translation,
    Untranslated,
)
from ailb_gen.lab.bird.multipath import Merging, merging, metrics
from ailb_gen.lab.bird.radv import router_advertisements
from ailb_gen.lab.plan import SwitchPlan, link_local, port_of, unit_link
from ailb_gen.network.model import Group, Switch
from ailb_gen.network.sessions import Side, discovered, local_as, refused, unfit

ALL_COLORS = "all-colors"
DEFAULT_PREFERENCE = 100
# Junos's number of BFD packets that may be lost.
DEFAULT_MULTIPLIER = 3
# From 2^31 on igp_metric counts as unknown: BIRD then originates no AIGP.
NO_AIGP = 0xFFFFFFFF
# A switch without a usable router-id loses every tie.
LAST_ROUTER_ID = "255.255.255.255"
LOOP, MISMATCH = "AS path loop", "color mismatch"


@dataclass(frozen=True, slots=True)
class _Neighbor:
    """A session to be: the logical interface, its link, its group, both AS numbers; BIRD accepts the AS `expected`."""

    interface: str
    link: str
    group: Group
    own_as: int
    expected: int
    peer: BirdPeer
    passive: bool


@dataclass(frozen=True, slots=True)
class _Context:
    switch: Switch
    plan: SwitchPlan
    names: Symbols
    reasons: Reasons
    neighbors: tuple[_Neighbor, ...]


def render(switch: Switch, plan: SwitchPlan, peers: Mapping[str, BirdPeer], held: bool = False) -> Translation:
    """Translate a switch for BIRD; `peers` are the neighbors whose router advertisements were heard.

    `held`: the kernel gets no routes, and neighbors no BFD, until the protocols `kernel6` and `bfd1` are enabled.
    """
    neighbors = tuple(_neighbors(switch, plan, peers))
    context = _Context(switch, plan, Symbols(), Reasons(), neighbors)
    untranslated = [*_outside(switch)]
    # The numbers of these two are fixed.
    loop, mismatch = context.reasons.number(LOOP), context.reasons.number(MISMATCH)
    groups = list({neighbor.group.name: neighbor.group for neighbor in neighbors}.values())
    policies = Policies(switch, context.names, context.reasons, untranslated)
    used = dict.fromkeys(name for group in groups for name in (*group.imports, *group.exports))
    metrics(switch, groups, [neighbor.expected for neighbor in neighbors], untranslated)
    merge = merging(switch, [(neighbor.group, neighbor.expected) for neighbor in neighbors], untranslated)
    parts = [
        _head(context),
        *_base(switch, merge, held),
        _bfd(context, untranslated, held),
        router_advertisements(switch, plan, untranslated),
        *(policies.function(switch.policies[name]) for name in used if name in switch.policies),
        *(text for group in groups for text in _group(context, group, loop, mismatch)),
        *(_session(context, neighbor) for neighbor in neighbors),
    ]
    return Translation(
        text="\n\n".join(part for part in parts if part) + "\n",
        sessions={neighbor.interface: _protocol(neighbor.link) for neighbor in neighbors},
        reasons=dict(context.reasons.texts),
        untranslated=tuple(dict.fromkeys(untranslated)),
    )


def _outside(switch: Switch) -> Iterator[Untranslated]:
    """Yield the statements that are not about routing, and that the lab does not have."""
    for entry in switch.unmodeled:
        yield Untranslated(entry.whole, "nothing in this program computes it", entry.line)
    for attached in switch.filters.attached:
        statement = f"filter {attached.direction} [ {' '.join(attached.filters)} ] of {attached.kind} {attached.name}"
        yield Untranslated(statement.strip(), "the lab's switches filter no packets", attached.line)


def _neighbors(switch: Switch, plan: SwitchPlan, peers: Mapping[str, BirdPeer]) -> Iterator[_Neighbor]:
    """Yield the sessions that this switch tries: where the interface is up, and a group discovers neighbors."""
    table = discovered(switch)
    for interface, peer in sorted(peers.items()):
        link, port = unit_link(plan, interface), plan.ports.get(port_of(interface))
        unit, configured = switch.unit(interface), switch.ports.get(port_of(interface))
        if link is None or port is None or unit is None or configured is None or interface not in table:
            continue
        group = switch.groups[table[interface]]
        own = local_as(switch, group)
        if configured.disabled or unit.disabled or not unit.inet6 or own is None or any(unfit(group)):
            continue
        side, other = Side(plan.name, table[interface], interface, own), Side(str(port.far), 0, "", peer.asn)
        expected: int | None = peer.asn
        if any(refused({plan.name: switch}, side, other)):
            expected = None if own == peer.asn else _first_admitted(switch, group, own)
        if expected is not None:
            passive = link_local(port.mac) > peer.link_local
            yield _Neighbor(interface, link, group, own, expected, peer, passive)


def _first_admitted(switch: Switch, group: Group, own: int) -> int | None:
    """Return an AS number that a group admits, so that BIRD itself refuses the peer that has another one."""
    listed = switch.as_lists.get(group.peer_as_list or "")
    found = [group.peer_as] if group.peer_as is not None else []
    found += [low for low, _ in listed.ranges] if listed is not None else []
    return next((asn for asn in found if asn != own), None)


def _head(context: _Context) -> str:
    switch = context.switch
    return "\n".join((
        f"# {context.plan.name} for BIRD: made from its configuration.",
        "log stderr { info, remote, warning, error, auth, fatal, bug };",
        "timeformat protocol iso long ms;",
        f"router id {_router_id(switch)};",
        "# Why a route is hidden.",
        "attribute int ailb_hidden;",
        "ipv6 table ecmp6;",
        f"define ANY_COLOR = [{COLORS}];",
    ))  # fmt: skip


def _router_id(switch: Switch) -> str:
    try:
        found = IPv4Address(switch.router_id or "")
    except AddressValueError:
        return LAST_ROUTER_ID
    return str(found) if int(found) else "0.0.0.1"


def _base(switch: Switch, merge: Merging, held: bool) -> Iterator[str]:
    direct = prefix_set(str(prefix) for prefix in sorted(direct_prefixes(switch)))
    state = " disabled;" if held else ""
    yield "protocol device device1 { scan time 60; }"
    yield f"protocol direct {DIRECT} {{ ipv6 {{ import {f'where {direct}' if direct else 'none'}; }}; }}"
    yield "\n".join((
        f"protocol kernel {KERNEL} {{{state}",
        f"  scan time 600;{merge.statement}",
        "  ipv6 { import none; export where source = RTS_BGP; };",
        "}",
    ))  # fmt: skip
    yield "\n".join((
        "# The same routes without AIGP, to compare with plain ECMP: enabled by hand only.",
        f"protocol pipe {ECMP_PIPE} {{ disabled;",
        "  table master6; peer table ecmp6; import none;",
        "  export filter {",
        "    if source != RTS_BGP then reject;",
        "    bgp_local_pref = bgp_local_pref / 2 * 2;",
        "    accept;",
        "  };",
        "}",
        f"protocol kernel {ECMP_KERNEL} {{ disabled;",
        f"  scan time 600; merge paths on limit {merge.limit}; kernel table {ECMP_TABLE};",
        "  ipv6 { table ecmp6; import none; export all; };",
        "}",
    ))  # fmt: skip


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


def _bfd(context: _Context, untranslated: list[Untranslated], held: bool) -> str:
    blocks = []
    for neighbor in context.neighbors:
        bfd = neighbor.group.bfd
        if bfd is None:
            continue
        if not bfd.interval_ms:
            reason = "no minimum-interval: no BFD"
            statement = f"protocols bgp group {neighbor.group.name} bfd-liveness-detection"
            untranslated.append(Untranslated(statement, reason, bfd.line))
            continue
        settings = f"interval {bfd.interval_ms} ms; multiplier {bfd.multiplier or DEFAULT_MULTIPLIER};"
        blocks.append(f'  interface "{neighbor.link}" {{ {settings} }};')
    state = " disabled;" if held else ""
    return "\n".join([f"protocol bfd {BFD} {{{state}", *blocks, "}"]) if blocks else ""


def _color(context: _Context, name: str | None) -> str | None:
    """Return the value of a color community; None when it is not defined or has not exactly one value."""
    community = context.switch.communities.get(name) if name is not None else None
    members = {member for member in (community.members if community is not None else ()) if not is_pattern(member)}
    return next(iter(members)) if len(members) == 1 else None


def _group(context: _Context, group: Group, loop: int, mismatch: int) -> Iterator[str]:
    """Yield the import and export functions of a group, and the template of its sessions."""
    names, own = context.names, {neighbor.own_as for neighbor in context.neighbors}
    color = _color(context, group.color)
    known = value(color) if color is not None else None
    yield "\n".join(_import(context, group, _mismatch(color, known), own, loop, mismatch))
    yield "\n".join(_export(context, group, color, known))
    bfd = " bfd on;" if group.bfd is not None and group.bfd.interval_ms else ""
    yield "\n".join((
        f"template bgp {names.symbol('group', group.name)} {{",
        "  hold time 90; keepalive time 30;",
        f"  connect delay time 1; connect retry time 2; error wait time 1, 4;{bfd}",
        "  # Routes of one's own AS are hidden by the filter, not dropped.",
        "  allow local as;",
        "  ipv6 {",
        f"    {'aigp originate' if group.aigp else 'aigp off'};",
        "    import keep filtered;",
        f"    import where {names.symbol('import', group.name)}();",
        "  };",
        "}",
    ))  # fmt: skip


def _mismatch(color: str | None, known: Value | None) -> str:
    """Return the test for a route of another color than the session's; empty if the session has none."""
    if color is None:
        return ""
    test = f"{EXTENDED} ~ ANY_COLOR"
    if known is None or not color.startswith("color:"):
        return test
    # Nearly all routes have the color: BIRD looks no further then.
    return f"! ({known.literal} ~ {known.attribute}) && {test}"


def _import(
    context: _Context, group: Group, mismatch_test: str, own: set[int], loop: int, mismatch: int
) -> Iterator[str]:
    yield f"function {context.names.symbol('import', group.name)}()"
    yield "int verdict;"
    yield "{"
    yield from (f"  {line}" for line in set_preference(DEFAULT_PREFERENCE))
    path = ", ".join(str(asn) for asn in sorted(own))
    yield f"  if bgp_path ~ [{path}] then {{ ailb_hidden = {loop}; return false; }}"
    if mismatch_test:
        yield f"  if {mismatch_test} then {{ ailb_hidden = {mismatch}; return false; }}"
    yield f"  verdict = {NEXT};"
    yield from chain(_functions(context, group.imports))
    yield f"  return verdict != {REJECT};"
    yield "}"


def _export(context: _Context, group: Group, color: str | None, known: Value | None) -> Iterator[str]:
    yield f"function {context.names.symbol('export', group.name)}(int peer_as)"
    yield "int verdict;"
    yield "{"
    nothing_else = rejects_all(
        context.switch.policies[name] for name in group.exports if name in context.switch.policies
    )
    if nothing_else:
        # As on every leaf: BIRD asks for each route and each session.
        yield "  if source != RTS_DEVICE then return false;"
    yield "  if bgp_path.first = peer_as then return false;"
    yield "  if source = RTS_DEVICE then {"
    yield f"    igp_metric = {NO_AIGP};"
    yield from (f"    {line}" for line in _advertised(context, group, color, known))
    yield "  }"
    if nothing_else:
        yield "  return false;"
        yield "}"
        return
    yield f"  verdict = {NEXT};"
    yield from chain(_functions(context, group.exports))
    yield f"  if verdict = {REJECT} || (verdict = {NEXT} && source != RTS_BGP) then return false;"
    test = _mismatch(color, known)
    if test:
        yield f"  if {test} then return false;"
    yield "  return true;"
    yield "}"


def _functions(context: _Context, policies: tuple[str, ...]) -> list[str]:
    return [context.names.symbol("policy", name) for name in policies if name in context.switch.policies]


def _advertised(context: _Context, group: Group, color: str | None, known: Value | None) -> Iterator[str]:
    """Yield the export of the routes of `fabric-advertise`, on their color, on a backup color, or without."""
    plain: list[str] = []
    with_aigp: list[str] = []
    others: list[str] = []
    for route in {route.prefix: route for route in context.switch.routes}.values():
        text = str(route.prefix)
        if route.color is None:
            plain.append(text)
        elif color is None:
            continue
        elif route.color == ALL_COLORS or _color(context, route.color) == color:
            (with_aigp if route.backup is not None and group.aigp else others).append(text)
        elif route.backup == ALL_COLORS or _color(context, route.backup) == color:
            others.append(text)
    add = f"{known.attribute}.add({known.literal}); " if known is not None else ""
    for prefixes, action in ((plain, ""), (with_aigp, f"igp_metric = 0; {add}"), (others, add)):
        if prefixes:
            yield f"if {prefix_set(prefixes)} then {{ {action}return true; }}"


def _session(context: _Context, neighbor: _Neighbor) -> str:
    names, group = context.names, neighbor.group
    passive = " passive on;" if neighbor.passive else ""
    return "\n".join((
        f"protocol bgp '{_protocol(neighbor.link)}' from {names.symbol('group', group.name)} {{",
        f"  local as {neighbor.own_as};",
        f"  neighbor {address_text(neighbor.peer.link_local)} as {neighbor.expected};{passive}",
        f'  interface "{neighbor.link}";',
        f"  ipv6 {{ export where {names.symbol('export', group.name)}({neighbor.peer.asn}); }};",
        "}",
    ))  # fmt: skip


def _protocol(link: str) -> str:
    """Name a session after its link, which has no colon."""
    return link.replace("+", ":")
