"""The impact of a push: sessions, links, colors, servers, and traffic.

A session is touched when anything that it depends on changes at one of its ends; whether it goes down for that the
switch decides. Traffic is computed by the packages that prove the files: what arrives before and after, and how much
the rest must carry while the spines of a wave are away.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ailb_gen.addresses import Prefix
from ailb_gen.deploy.device_diff import SwitchDiff
from ailb_gen.deploy.planning import Plan, Wave
from ailb_gen.deploy.switch_state import FabricModel
from ailb_gen.forwarding.baseline import Baseline
from ailb_gen.forwarding.failures import Failure, assess
from ailb_gen.network.model import FabricRoute, Group, Port, Switch
from ailb_gen.network.sessions import session_groups
from ailb_gen.routing.fib import held
from ailb_gen.routing.policy import Lists, referred
from ailb_gen.routing.rib import Routing
from ailb_gen.routing.solve import EMPTY
from ailb_gen.routing.speaker import direct_prefixes, lists_of, rules


@dataclass(frozen=True, slots=True)
class SwitchImpact:
    """The impact of the change of one switch, by name; sessions are those on its own interfaces."""

    sessions: tuple[str, ...]
    colors: tuple[str, ...]
    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrafficImpact:
    """The impact on traffic: pairs of leaf and prefix that arrive, and links that are up, before and after.

    `waves` are, for each wave of spines while it is away, the pairs that no longer arrive and the highest load of a
    link over the highest one before, None where nothing was up before.
    """

    arriving: tuple[int, int]
    pairs: tuple[int, int]
    up: tuple[int, int]
    waves: Mapping[str, tuple[int, float]]


@dataclass(frozen=True, slots=True)
class PushImpact:
    """The impact of a plan on every switch that it changes, and on traffic."""

    devices: Mapping[str, SwitchImpact]
    traffic: TrafficImpact


def impact_of(plan: Plan) -> PushImpact:
    """Compute what a plan touches."""
    after = plan.fabric_model.after({name: look.after for name, look in plan.changed_switches.items()})
    devices = {name: touched(after, look) for name, look in plan.changed_switches.items()}
    routes_change = any(one.sessions or one.colors for one in devices.values())
    return PushImpact(devices, traffic(plan.fabric_model, after, plan.waves, routes_change))


def touched(fabric_model: FabricModel, look: SwitchDiff) -> SwitchImpact:
    """Compare a switch before and after, port by port."""
    sessions, colors = [], set()
    before, after = _aspects(look.before), _aspects(look.after)
    ends = (end for cable in fabric_model.cables.get(look.name, ()) for end in (cable.a, cable.b))
    for interface in (f"{end.port}.0" for end in ends if end.device == look.name):
        old, new = before.get(interface), after.get(interface)
        if old != new:
            sessions.append(interface)
            colors |= {aspect[0] for aspect in (old, new) if aspect is not None and aspect[0] is not None}
    # Only a prefix that the switch has an address in is advertised.
    routes = _advertised(look.before) ^ _advertised(look.after)
    colors |= {route.color for route in routes if route.color is not None}
    ports = fabric_model.servers.get(look.name, ())
    servers = {server for server, port in ports if _seen(look.before, port) != _seen(look.after, port)}
    return SwitchImpact(tuple(sessions), tuple(sorted(colors)), tuple(sorted(servers)))


def _advertised(switch: Switch) -> set[FabricRoute]:
    own = direct_prefixes(switch)
    return {route for route in switch.routes if route.prefix in own}


def _aspects(switch: Switch) -> dict[str, tuple[str | None, object]]:
    """Give, by logical interface, the color of the session there and all that it depends on."""
    found: dict[str, tuple[str | None, object]] = {}
    lists = lists_of(switch)
    parts = [_group(switch, group, lists) for group in switch.groups]
    for interface, index in session_groups(switch).items():
        port = switch.ports.get(interface.rpartition(".")[0])
        own = (_plain(port), switch.advertisements.get(interface))
        group = switch.groups[index]
        found[interface] = group.color, (own, parts[index], group.neighbor(interface))
    return found


def _group(switch: Switch, group: Group, lists: Lists) -> object:
    """Return all that the sessions of a group depend on: not on which other interfaces it has."""
    rule = rules(switch, group)
    used = referred((*rule.imports, *rule.exports), lists)
    kinds = tuple((one.ipv6_nd, tuple(text for text, _ in one.forbidden)) for one in group.discoveries)
    peers = switch.as_lists.get(group.peer_as_list or "")
    return replace(group, discoveries=(), neighbors=()), kinds, rule, used, peers, switch.asn, switch.router_id


def _plain(port: Port | None) -> Port | None:
    """Return a port without what only people read."""
    return replace(port, description="") if port is not None else None


def _seen(switch: Switch, port: str) -> object:
    """Return all that a server behind a port sees of a switch: its port, the IRBs, their router advertisements."""
    announced = {name: row for name, row in switch.advertisements.items() if name.startswith("irb.")}
    vlans = [replace(vlan, description="") for vlan in switch.vlans]
    return _plain(switch.ports.get(port)), _plain(switch.ports.get("irb")), announced, vlans


def traffic(before: FabricModel, after: FabricModel, waves: Sequence[Wave], touched: bool = True) -> TrafficImpact:
    """Compute what arrives before and after, and while the spines of each wave are away.

    Where no session and no color is `touched`, the routes stay what they are.
    """
    old = Routing(before.network)
    new = Routing(after.network) if touched else old
    return routed_traffic((old, before.roles), (new, after.roles), waves)


def routed_traffic(
    before: tuple[Routing, Mapping[str, str]], after: tuple[Routing, Mapping[str, str]], waves: Sequence[Wave]
) -> TrafficImpact:
    """Compute what `traffic` does, from routes and the roles of switches."""
    (old, roles), (new, _) = before, after
    spines = {wave.name: wave for wave in waves if roles.get(wave.devices[0]) == "spine"}
    baseline = Baseline(old, _destinations(old, roles)) if old.graph.sessions.up else None
    arriving, pairs = zip(_reached(*before), _reached(*after), strict=True)
    return TrafficImpact(
        arriving=arriving,
        pairs=pairs,
        up=(len(old.graph.sessions.up), len(new.graph.sessions.up)),
        waves={name: _away(baseline, wave) for name, wave in spines.items()} if baseline is not None else {},
    )


def _away(baseline: Baseline, wave: Wave) -> tuple[int, float]:
    dead = frozenset(baseline.graph.index[name] for name in wave.devices if name in baseline.graph.index)
    impact = assess(baseline, Failure(wave.name, dead=dead))
    return len(impact.lost), impact.worst


def _destinations(routing: Routing, roles: Mapping[str, str]) -> dict[int, tuple[Prefix, ...]]:
    """Return the prefixes that every leaf announces with a color, by device."""
    found = {}
    for name, device in routing.graph.index.items():
        prefixes = tuple(sorted(routing.graph.advertised[device]))
        if roles.get(name) == "leaf" and prefixes:
            found[device] = prefixes
    return found


def _reached(routing: Routing, roles: Mapping[str, str]) -> tuple[int, int]:
    """Count the pairs of a leaf and a prefix of another leaf: those with a next hop, and all.

    One leaf stands for all of its class.
    """
    graph, found = routing.graph, _destinations(routing, roles)
    together = Counter(graph.class_of[leaf] for leaf in found)
    count = 0
    for owner, prefixes in found.items():
        for state in map(routing.state, prefixes):
            alone = [leaf for leaf in {owner, *state.singles} if leaf in found]
            apart = Counter(graph.class_of[leaf] for leaf in alone)
            for number, leaves in together.items():
                if state.nodes.get(number, EMPTY).selection.best:
                    count += leaves - apart[number]
            count += sum(1 for leaf in alone if leaf != owner and held(graph, state, leaf).selection.best)
    return count, sum(map(len, found.values())) * max(0, len(found) - 1)
