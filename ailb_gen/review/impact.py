"""The impact of a change before any device is asked: waves of a push, paths and colors that are left, loads of links.

The fabric before the change is taken as it is described by its files: every session that can come up is up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from ailb_gen.checks.context import Context
from ailb_gen.deploy.device_diff import SwitchDiff
from ailb_gen.deploy.impact import SwitchImpact, TrafficImpact, routed_traffic, touched
from ailb_gen.deploy.planning import Paths, Position, Wave, check_min_paths, waves
from ailb_gen.deploy.switch_state import FabricModel
from ailb_gen.errors import UsageError
from ailb_gen.forwarding.link_loads import by_link
from ailb_gen.network.model import Switch
from ailb_gen.review.changes import ChangedSwitch, DeviceChange

# Loads that differ by less are the same: they are sums of fractions.
DIGITS = 3


@dataclass(frozen=True, slots=True)
class WaveImpact:
    """A wave of a push: `paths` and `colors` are the fewest of any two leaves, before and while its devices are away.

    `cut` names two leaves that have no path after the wave, because the old and new configurations do not fit.
    """

    wave: Wave
    sessions: int
    colors_touched: tuple[str, ...]
    servers: int
    paths: tuple[int, int]
    colors: tuple[int, int]
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadChange:
    """Links, each in one direction, whose load changes in the same way: multiples of the highest load before."""

    before: float | None
    after: float | None
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeImpact:
    """The impact of a change; `sessions` counts those touched at any end, and those that come or go.

    `trouble`: no order keeps one path.
    """

    switches: Mapping[str, SwitchImpact]
    sessions: int
    waves: tuple[WaveImpact, ...]
    traffic: TrafficImpact
    highest: tuple[float, float]
    loads: tuple[LoadChange, ...]
    trouble: str = ""


def impact_of(
    before: Context, after: Context, switches: Iterable[ChangedSwitch], servers: Iterable[DeviceChange]
) -> ChangeImpact:
    """Compute the impact of a change from both fabrics and the devices that change."""
    now, then = _model(before), _model(after)
    changed = [row for row in switches if row.before is not None and row.after is not None]
    diffs = _diffs(now, changed)
    hosts = [row.name for row in servers if row.kind == "changed"]
    seats = [*_seats(after, now, [row.change.name for row in changed]), *_servers(after, hosts)]
    planned, cut, trouble = _planned(after, now, diffs, seats)
    ends = {row.change.name: touched(then, diffs[row.change.name]) for row in changed}
    traffic = routed_traffic((before.routing, now.roles), (after.routing, then.roles), planned)
    links = _paths(now)
    rows = tuple(_wave(wave, ends, links, dict(cut)) for wave in planned)
    loads = [_loads(context, before.baseline.highest) for context in (before, after)]
    highest = tuple(max((one for pair in row.values() for one in pair), default=0.0) for row in loads)
    sessions = len(_touched_sessions(before, after, then, ends))
    return ChangeImpact(ends, sessions, rows, traffic, (highest[0], highest[1]), _changed_loads(*loads), trouble)


def _touched_sessions(before: Context, after: Context, then: FabricModel, ends: Mapping[str, SwitchImpact]) -> set[str]:
    """Return the cables of all sessions that a change touches: a session has two ends, and counts once."""
    cables = {(end.device, f"{end.port}.0"): cable.name for cable in then.links for end in (cable.a, cable.b)}
    up = [{session.cable.name for session in one.routing.graph.sessions.up} for one in (before, after)]
    return {cables[name, interface] for name, one in ends.items() for interface in one.sessions} | (up[0] ^ up[1])


def _model(context: Context) -> FabricModel:
    network = context.network
    return FabricModel(network.switches, network.roles, network.links, network.attachments)


def _diffs(now: FabricModel, changed: Sequence[ChangedSwitch]) -> dict[str, SwitchDiff]:
    """Return every switch as a push would find it, with all of its sessions up."""
    up: dict[str, set[str]] = defaultdict(set)
    for session in now.sessions.up:
        for side in (session.a, session.b):
            up[side.device].add(side.interface)
    own = {row.change.name: (row.before, row.after) for row in changed}

    def found(name: str, switch: Switch) -> SwitchDiff:
        old, new = own.get(name, (switch, switch))
        return SwitchDiff(name, "", old or switch, new or switch, (), frozenset(up[name]), frozenset(), "")

    return {name: found(name, switch) for name, switch in now.switches.items()}


def _seats(after: Context, now: FabricModel, names: Iterable[str]) -> list[Position]:
    """Return the positions of switches in the order of a push, which follows the files after the change."""
    expected = after.expected
    spines = [name for name, switch in expected.switches.items() if switch.role == "spine"]
    found = []
    for name in names:
        role = now.roles.get(name, "leaf")
        if name not in expected.switches:
            group = ""
        elif role == "spine":
            group = next(iter(expected.link_colors(spines.index(name))), "")
        else:
            group = str(expected.switches[name].rail)
        found.append(Position(role, group, name))
    return found


def _servers(after: Context, names: Iterable[str]) -> list[Position]:
    expected = after.hosts
    return [Position("server", str(expected[name].stripe if name in expected else 0), name) for name in names]


def _planned(
    after: Context, now: FabricModel, diffs: Mapping[str, SwitchDiff], seats: Sequence[Position]
) -> tuple[tuple[Wave, ...], tuple[tuple[str, tuple[str, str]], ...], str]:
    """Return the waves of a push that keeps one path, else of one that keeps none, with the reason."""
    paths = Paths({leaf: frozenset(ways) for leaf, ways in _paths(now).items()})
    colors = [color.name for color in after.expected.colors]
    try:
        planned = waves(seats, colors, paths, 1)
        return planned, check_min_paths(now, diffs, planned, paths, 1), ""
    except UsageError as error:
        planned = waves(seats, colors, paths, 0)
        return planned, check_min_paths(now, diffs, planned, paths, 0), str(error)


def _paths(model: FabricModel) -> dict[str, dict[str, frozenset[str]]]:
    """Return the spines that every leaf has a session with, each with the colors of these sessions."""
    found: dict[str, dict[str, frozenset[str]]] = {name: {} for name, role in model.roles.items() if role == "leaf"}
    for session in model.sessions.up:
        for own, far in ((session.a, session.b), (session.b, session.a)):
            if own.device in found and model.roles.get(far.device) == "spine":
                color = model.switches[own.device].groups[own.group].color
                ways = found[own.device]
                ways[far.device] = ways.get(far.device, frozenset()) | {color or ""}
    return found


def _wave(
    wave: Wave,
    ends: Mapping[str, SwitchImpact],
    links: Mapping[str, Mapping[str, frozenset[str]]],
    cut: Mapping[str, tuple[str, str]],
) -> WaveImpact:
    """Return the impact of a wave, from that of its switches (`ends`) and the colors of all sessions (`links`)."""
    away = frozenset(wave.devices)
    own = [ends[name] for name in wave.devices if name in ends]
    stay = {leaf: row for leaf, row in links.items() if leaf not in away}
    left = {leaf: {name: row[name] for name in row if name not in away} for leaf, row in stay.items()}
    return WaveImpact(
        wave=wave,
        sessions=sum(len(one.sessions) for one in own),
        colors_touched=tuple(sorted({color for one in own for color in one.colors})),
        servers=len({server for one in own for server in one.servers}),
        paths=(_fewest_paths(stay), _fewest_paths(left)),
        colors=(_fewest_colors(stay), _fewest_colors(left)),
        cut=cut.get(wave.name, ()),
    )


def _fewest_paths(links: Mapping[str, Mapping[str, frozenset[str]]]) -> int:
    """Return the fewest spines that two leaves have in common; 0 without two leaves."""
    # A fabric has few different sets of spines.
    sets = Counter(frozenset(row) for row in links.values())
    pairs = combinations_with_replacement(sets, 2)
    return min((len(one & other) for one, other in pairs if one is not other or sets[one] > 1), default=0)


def _fewest_colors(links: Mapping[str, Mapping[str, frozenset[str]]]) -> int:
    """Return the fewest colors that a leaf has sessions of; 0 without leaves."""
    return min((len(frozenset().union(*row.values()) - {""}) for row in links.values()), default=0)


def _loads(context: Context, highest: float) -> dict[str, tuple[float, float]]:
    baseline = context.baseline
    return by_link(baseline.graph, baseline.load / (highest or 1.0))


def _changed_loads(
    before: Mapping[str, tuple[float, float]], after: Mapping[str, tuple[float, float]]
) -> tuple[LoadChange, ...]:
    """Return the loads that change, the largest changes first."""
    found: dict[tuple[float | None, float | None], list[str]] = defaultdict(list)
    for name in sorted({*before, *after}):
        first, _, second = name.partition(" - ")
        for at, label in enumerate((f"{first} → {second}", f"{second} → {first}")):
            values = [round(row[name][at], DIGITS) if name in row else None for row in (before, after)]
            if values[0] != values[1]:
                found[values[0], values[1]].append(label)
    rows = [LoadChange(old, new, tuple(links)) for (old, new), links in found.items()]
    return tuple(sorted(rows, key=lambda row: (-abs((row.after or 0.0) - (row.before or 0.0)), row.links)))
