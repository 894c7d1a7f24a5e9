"""One BGP speaker's part: what it originates, sends on a session and makes of what it receives.

The rules are those of BGP-DPF (fabric colors, AIGP) on top of Junos's own; `color` of a session is each side's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ailb_gen.addresses import Prefix
from ailb_gen.network.model import FabricRoute, Group, Switch
from ailb_gen.network.policy import Policy
from ailb_gen.routing.policy import Lists, evaluate, members
from ailb_gen.routing.route import BGP, DEFAULT_LOCAL_PREFERENCE, DIRECT, GRACEFUL_SHUTDOWN, KEPT_BACK, Route

ALL_COLORS = "all-colors"


@dataclass(frozen=True, slots=True)
class Rules:
    """The effect of a group on routes; equal for groups with the same effect, whatever their names.

    `color` is the value of the session's color community; None without one. `undefined` are policies and communities
    that are named and not defined. `shutdown_sender` and `shutdown_preference` are those of the group.
    """

    color: str | None
    imports: tuple[Policy, ...]
    exports: tuple[Policy, ...]
    aigp: bool
    multipath: bool
    multiple_as: bool
    undefined: tuple[str, ...]
    shutdown_sender: bool = False
    shutdown_preference: int | None = 0


def color_value(switch: Switch, name: str | None) -> str | None:
    """Return the value of a color community by name; None when it is not defined or has not exactly one value."""
    values = members(switch.communities.get(name)) if name is not None else frozenset()
    return next(iter(values)) if len(values) == 1 else None


def rules(switch: Switch, group: Group) -> Rules:
    """Collect what a group does to routes."""
    named = (*group.imports, *group.exports)
    missing = [name for name in named if name not in switch.policies]
    if group.color is not None and color_value(switch, group.color) is None:
        missing.append(group.color)
    return Rules(
        color=color_value(switch, group.color),
        imports=tuple(switch.policies[name] for name in group.imports if name in switch.policies),
        exports=tuple(switch.policies[name] for name in group.exports if name in switch.policies),
        aigp=group.aigp,
        multipath=group.multipath,
        multiple_as=group.multiple_as,
        undefined=tuple(missing),
        shutdown_sender=group.shutdown_sender,
        shutdown_preference=group.shutdown_preference,
    )


def lists_of(switch: Switch) -> Lists:
    """Return what the policies of a switch refer to."""
    return Lists(switch.communities, switch.prefix_lists)


def direct_prefixes(switch: Switch) -> frozenset[Prefix]:
    """Return the prefixes of the enabled interfaces' addresses: the direct routes; an IRB is up with its VLAN.

    `lab.bird.config.direct_prefixes` is independent on purpose; a property in tests/lab/bird/test_config.py compares.
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


def originated(switch: Switch, route: FabricRoute, rule: Rules) -> Route | None:
    """Return what `fabric-advertise` sends over a session, or None.

    Over the route's own color with that community, and AIGP 0 if there is a backup; over a backup color with that
    session's community and no AIGP; a route without a color over every session. No export policy is applied.
    """
    found = _originated(switch, route, rule)
    return _tagged(found) if found is not None and rule.shutdown_sender else found


def _originated(switch: Switch, route: FabricRoute, rule: Rules) -> Route | None:
    if route.color is None:
        return Route()
    if rule.color is None:
        return None
    with_color = Route(communities=frozenset({rule.color}))
    if route.color == ALL_COLORS or color_value(switch, route.color) == rule.color:
        return replace(with_color, aigp=0 if route.backup is not None and rule.aigp else None)
    backs_up = route.backup == ALL_COLORS or color_value(switch, route.backup) == rule.color
    return with_color if backs_up else None


def exported(rule: Rules, lists: Lists, prefix: Prefix, active: Route) -> Route | None:
    """Return what a speaker sends of its active route over the sessions of a group, or None.

    Junos exports BGP routes by default and direct ones only by policy; over a colored session only routes of that
    color or of none. A route that carries no-export, no-advertise or no-export-subconfed is sent to no peer of another
    AS, regardless of the policy (RFC 1997); the receiver obeys one that the policy adds.
    """
    if active.communities & KEPT_BACK:
        return None
    # MED and local preference stay within an AS: only what the policy sets here is sent.
    own = active if active.med is None else replace(active, med=None)
    verdict = evaluate(rule.exports, lists, prefix, own, default=active.protocol == BGP)
    if not verdict.accepted:
        return None
    route = verdict.route
    if rule.color is not None and route.colors and rule.color not in route.colors:
        return None
    aigp = route.aigp if rule.aigp else None
    found = Route(route.as_path, route.communities, aigp, DEFAULT_LOCAL_PREFERENCE, route.med)
    return _tagged(found) if rule.shutdown_sender else found


def _tagged(route: Route) -> Route:
    return replace(route, communities=route.communities | {GRACEFUL_SHUTDOWN})


class Received(NamedTuple):
    """A route as it came in; `hidden` is the reason why it is not used, empty if it is."""

    route: Route
    hidden: str = ""


def received(rule: Rules, lists: Lists, prefix: Prefix, route: Route, looped: bool = False) -> Received:
    """Return what the import side makes of a route; `looped`: an AS number of the receiver's is in its path.

    A graceful shutdown comes after the policies (RFC 8326, section 4): its sender marks what comes in like what it
    sends, and a receiver lowers the local preference of what is marked, whatever a policy has set.
    """
    if not rule.aigp and route.aigp is not None:
        route = replace(route, aigp=None)
    if looped:
        return Received(route, "AS path loop")
    if rule.color is not None and route.colors and rule.color not in route.colors:
        return Received(
            route, f"color mismatch: the route has {', '.join(sorted(route.colors))}, the session {rule.color}"
        )
    verdict = evaluate(rule.imports, lists, prefix, route, default=True)
    if not verdict.accepted:
        return Received(verdict.route, f"rejected by {verdict.by or 'import policy'}")
    route = _tagged(verdict.route) if rule.shutdown_sender else verdict.route
    if rule.shutdown_preference is not None and GRACEFUL_SHUTDOWN in route.communities:
        route = replace(route, local_preference=rule.shutdown_preference)
    return Received(route)


def direct() -> Route:
    """Return a direct route."""
    return Route(protocol=DIRECT)
