"""The order of a push: one canary, then spines a color at a time, leaves a rail at a time, a server, all servers.

A switch that is being changed counts as away. A wave of spines is made smaller, down to one, as long as it would leave
two leaves with fewer paths between them than required.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import combinations_with_replacement
from typing import TypeVar

from ailb_gen.deploy.device_diff import ServerDiff, SwitchDiff, server_diff, switch_diff
from ailb_gen.deploy.device_pool import ByDevice
from ailb_gen.deploy.inventory import Target
from ailb_gen.deploy.resource_limits import Kept, TooMuchError
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.switch_driver import DeviceError, Phase, SwitchDriver, once
from ailb_gen.deploy.switch_state import FabricModel, read_fabric_model
from ailb_gen.deploy.transaction import ConfigurationSource
from ailb_gen.deploy.unmanaged import warnings
from ailb_gen.errors import UsageError
from ailb_gen.network.model import SwitchManagement
from ailb_gen.network.sessions import Session, sessions
from ailb_gen.wording import counted


@dataclass(frozen=True, slots=True)
class Wave:
    """Devices that are changed together; `name` says what they are."""

    name: str
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Position of a device in the order: `role`, and a spine's color, a leaf's rail or a server's stripe as group."""

    role: str
    group: str
    name: str


@dataclass(frozen=True, slots=True)
class Paths:
    """The spines over which every leaf has a session that is up now."""

    spines: Mapping[str, frozenset[str]]

    def without(self, away: Collection[str]) -> tuple[Paths, Paths]:
        """Return the paths of the leaves that are left while devices are away: now, and then."""
        gone = frozenset(away)
        here = {leaf: spines for leaf, spines in self.spines.items() if leaf not in gone}
        return Paths(here), Paths({leaf: spines - gone for leaf, spines in here.items()})


def waves(seats: Iterable[Position], colors: Sequence[str], paths: Paths, min_paths: int) -> tuple[Wave, ...]:
    """Order devices to be changed; `colors` are the fabric's, in order. Raises UsageError where no order will do."""
    rest = sorted(seats, key=lambda seat: (_ROLES.index(seat.role), _key(seat, colors)))
    if not rest:
        return ()
    first, canaries = rest[0], {rest[0].role}
    found = [Wave(f"canary {first.role}", next(_fitting([first.name], paths, min_paths)))]
    by_group: dict[tuple[str, str], list[str]] = {}
    order = sorted(rest[1:], key=lambda seat: (_ORDER[seat.role], _key(seat, colors)))
    for seat in order:
        by_group.setdefault((seat.role, seat.group), []).append(seat.name)
    for (role, group), names in by_group.items():
        if role == "server" and role not in canaries:
            canaries.add(role)
            found.append(Wave("canary server", (names.pop(0),)))
        parts = list(_fitting(names, paths, min_paths)) if role == "spine" else [tuple(names)] if names else []
        for number, part in enumerate(parts, 1):
            suffix = f", {number} of {len(parts)}" if len(parts) > 1 else ""
            found.append(Wave(_TITLES[role].format(group=group) + suffix, part))
    return tuple(found)


# The canary is a leaf where there is one: it has the smallest part of the traffic.
_ROLES = ("leaf", "spine", "server")
_ORDER = {"spine": 0, "leaf": 1, "server": 2}
_TITLES = {"spine": "spines of {group}", "leaf": "leaves of rail {group}", "server": "servers of stripe {group}"}


def _key(seat: Position, colors: Sequence[str]) -> tuple[int, int, str]:
    """Order colors as the fabric has them, and numbers as numbers."""
    group = colors.index(seat.group) if seat.group in colors else len(colors)
    return group, int(seat.group) if seat.group.isdecimal() else 0, seat.name


def _fitting(names: Sequence[str], paths: Paths, min_paths: int) -> Iterator[tuple[str, ...]]:
    """Cut a group of spines into parts that may be away at once. Raises UsageError when one alone may not."""
    part: list[str] = []
    for name in names:
        if lost_paths(*paths.without([*part, name]), min_paths) is None:
            part.append(name)
            continue
        lost = lost_paths(*paths.without([name]), min_paths)
        if lost is not None:
            left, now, (one, other) = lost
            raise UsageError(
                f"while {name} is changed, {one} and {other} would have {left} of their {now} paths left, fewer than "
                f"--min-paths {min_paths} or than they have now; bring up what is down, or allow fewer"
            )
        yield tuple(part)
        part = [name]
    if part:
        yield tuple(part)


def lost_paths(now: Paths, then: Paths, min_paths: int) -> tuple[int, int, tuple[str, str]] | None:
    """Return a pair of leaves that would have fewer than `min_paths` paths and fewer than now: left, now, the pair."""
    # A fabric has few different sets of spines.
    alike: dict[tuple[frozenset[str], frozenset[str]], list[str]] = {}
    for leaf, spines in now.spines.items():
        alike.setdefault((spines, then.spines.get(leaf, frozenset())), []).append(leaf)
    for one, other in combinations_with_replacement(alike, 2):
        if one is other and len(alike[one]) < 2:
            continue
        before, left = len(one[0] & other[0]), len(one[1] & other[1])
        if left < min(min_paths, before):
            return left, before, (alike[one][0], alike[other][-1])
    return None


T = TypeVar("T")
# What may be kept of a switch without regard to the others: OWN_BYTES, and PER_BYTE times its file, twice what is
# kept when every statement of it changes.
OWN_BYTES, PER_BYTE, OBJECT_BYTES = 128 << 10, 18, 64


@dataclass(frozen=True, slots=True)
class Plan:
    """All devices that could be looked at, the errors of the others, and the waves of those to be changed.

    `fabric_model` is the fabric as it is now. `cut` are the waves after which two leaves have no path, though they have
    one now, with their names.
    """

    switches: Mapping[str, SwitchDiff]
    servers: Mapping[str, ServerDiff]
    errors: Mapping[str, DeviceError]
    fabric_model: FabricModel
    waves: tuple[Wave, ...]
    cut: tuple[tuple[str, tuple[str, str]], ...] = ()

    @property
    def devices(self) -> dict[str, SwitchDiff | ServerDiff]:
        """All devices that could be looked at."""
        return {**self.switches, **self.servers}

    @property
    def affected(self) -> tuple[str, ...]:
        """The switches with unmanaged statements that affect the fabric, after a push as well."""
        return tuple(name for name, switch_diff in self.switches.items() if switch_diff.unmanaged)

    @property
    def changed(self) -> dict[str, SwitchDiff | ServerDiff]:
        """The devices to be changed, in the order of the waves."""
        return {name: self.devices[name] for wave in self.waves for name in wave.devices}

    @property
    def digests(self) -> dict[str, str]:
        """Digests of the changes, by device."""
        return {name: one.digest for name, one in self.changed.items()}

    @property
    def foreign(self) -> dict[str, tuple[str, ...]]:
        """The statements that were never this program's and would go, by switch."""
        return {
            name: texts
            for name, diff in self.changed_switches.items()
            if (texts := tuple(e.statement for e in diff.foreign))
        }

    @property
    def changed_switches(self) -> dict[str, SwitchDiff]:
        """The switches among them."""
        return {name: self.switches[name] for wave in self.waves for name in wave.devices if name in self.switches}


def device_diffs(
    session: DeploySession,
    source: Callable[[str], ConfigurationSource],
    keep: Callable[[SwitchDiff], T],
    advance: Callable[[int], None] = lambda number: None,
    identify: bool = False,
    compare: bool = False,
) -> tuple[ByDevice[T], ByDevice[ServerDiff]]:
    """Compare all switches and the picked servers; of every switch only the value of `keep` is kept."""

    def look_at(name: str, switch: SwitchDriver) -> T:
        # What others than the picked ones would change is of no interest.
        found = switch_diff(name, source(name), switch, identify, compare and name in session.picked)
        return keep(replace(found, warnings=warnings(found.before, found.after, session.switches[name])))

    def look_at_server(name: str, server: ServerConnection) -> ServerDiff:
        return server_diff(session.inputs.trees[name], server, compare)

    switches = session.pool.run(session.switches, look_at, Phase.READ, advance, keep=False, at_once=True)
    servers = [name for name in session.servers if name in session.picked]
    return switches, session.pool.run(servers, look_at_server, Phase.READ, advance, keep=False, at_once=True)


def plan_of(
    session: DeploySession,
    source: Callable[[str], ConfigurationSource],
    min_paths: int,
    advance: Callable[[int], None] = lambda number: None,
    identify: bool = False,
    compare: bool = False,
) -> Plan:
    """Compare all switches and the picked servers; order those to be changed. Raises UsageError.

    With `identify` also those that nothing is to be changed on have a fingerprint; with `compare` those that something
    is to be changed on have the changes side by side.
    """
    room = Kept()

    def keep(switch_diff: SwitchDiff) -> SwitchDiff:
        if switch_diff.name not in session.picked:
            # What it does counts, and not what would be changed on it.
            switch_diff = replace(switch_diff, commands=(), lines=(), compact_edits=())
        return _kept(switch_diff, room, session.inputs.size(switch_diff.name))

    seen, hosts = device_diffs(session, source, keep, advance, identify, compare)
    looks = seen.good
    fabric_model = read_fabric_model(session.inputs.artifacts, {name: one.before for name, one in looks.items()})
    found: dict[str, SwitchDiff | ServerDiff] = {**looks, **hosts.good}
    targets = {**session.switches, **session.servers}
    changed = [targets[name] for name in targets if name in session.picked and name in found and found[name].commands]
    colors = tuple(dict.fromkeys(color for target in session.switches.values() for color in target.colors))
    now = paths_of(fabric_model, looks)
    try:
        planned = waves(map(position_of, changed), colors, now, min_paths)
        cut = check_min_paths(fabric_model, looks, planned, now, min_paths)
    except UsageError as error:
        # A switch that cannot be looked at has no session that is known to be up.
        raise UsageError("\n".join([str(error), *once(seen.bad.values())])) from error
    return Plan(looks, hosts.good, {**seen.bad, **hosts.bad}, fabric_model, planned, cut)


def _kept(switch_diff: SwitchDiff, room: Kept, size: int) -> SwitchDiff:
    """Make sure that there is room for a look; `size` is that of the switch's file. Raises DeviceError.

    What the model of a fabric does not ask for is let go: a device may have any number of statements that manage it.
    """
    before = replace(switch_diff.before, operating=frozenset(), management=SwitchManagement())
    changed = switch_diff.after is not switch_diff.before
    after = replace(switch_diff.after, operating=frozenset(), management=SwitchManagement()) if changed else before
    switch_diff = replace(switch_diff, before=before, after=after)
    try:
        room.take(_memory(switch_diff), OWN_BYTES + PER_BYTE * size)
    except TooMuchError as error:
        added, removed = switch_diff.counts
        raise DeviceError(
            switch_diff.name,
            Phase.READ,
            f"its model and its change take too much memory, {error}, to be kept for a plan: "
            f"{counted(removed, 'statement')} removed, {added:,} added",
            "delete unneeded statements on it by hand, or plan fewer devices at once (--limit)",
        ) from error
    return switch_diff


def _memory(switch_diff: SwitchDiff) -> int:
    """Return about how many bytes of memory a look takes: those of its values, and those of every object."""
    data = BytesIO()
    pickler = pickle.Pickler(data)
    pickler.dump(switch_diff)
    return data.tell() + OBJECT_BYTES * len(pickler.memo.copy())


def check_min_paths(
    fabric_model: FabricModel, looks: Mapping[str, SwitchDiff], planned: Sequence[Wave], now: Paths, min_paths: int
) -> tuple[tuple[str, tuple[str, str]], ...]:
    """Make sure that old and new configurations get along between the waves. Raises UsageError.

    Such as an AS number that the other ends do not expect yet: a session that is up before and after the push, and not
    in the middle of it. What is down now, though it should be up, counts as down. Returns the waves after which a pair
    of leaves has no path left, which only 0 for `min_paths` allows.
    """
    broken = {
        (side.device, side.interface)
        for session in fabric_model.sessions.up
        for side in (session.a, session.b)
        if side.device in looks and side.interface not in looks[side.device].up
    }
    found: dict[str, dict[str, str]] = {name: {} for name in looks if fabric_model.roles.get(name) == "leaf"}
    _put_in(found, fabric_model.sessions.up, broken)
    cut: list[tuple[str, tuple[str, str]]] = []
    for wave in planned:
        fabric_model = fabric_model.after({name: looks[name].after for name in wave.devices if name in looks})
        # Of the others, nothing has changed.
        changed = fabric_model.around(wave.devices)
        for cable in changed.links:
            for end in (cable.a, cable.b):
                found.get(end.device, {}).pop(f"{end.port}.0", None)
        _put_in(found, sessions(changed).up, broken)
        then = Paths({name: frozenset(over.values()) for name, over in found.items()})
        lost = lost_paths(now, then, max(1, min_paths))
        if lost is None:
            continue
        left, before, (one, other) = lost
        cut.append((wave.name, (one, other)))
        if min_paths:
            raise UsageError(
                f"after the wave '{wave.name}', {one} and {other} would have {left} of {before} paths, fewer than "
                f"--min-paths {min_paths}, at least until later waves: the old and the new configuration are not "
                f"compatible; make the change in two steps, or allow fewer paths"
            )
    return tuple(cut)


def _put_in(found: Mapping[str, dict[str, str]], up: Iterable[Session], broken: AbstractSet[tuple[str, str]]) -> None:
    """Note, for every leaf and interface, the switch with which it has a session by the configurations."""
    for session in up:
        a, b = session.a, session.b
        if (a.device, a.interface) not in broken and (b.device, b.interface) not in broken:
            for own, far in ((a, b), (b, a)):
                if own.device in found:
                    found[own.device][own.interface] = far.device


def position_of(target: Target) -> Position:
    """Return the position of a device in the order."""
    group = {"leaf": str(target.rail), "spine": next(iter(target.colors), ""), "server": str(target.stripe)}
    return Position(target.role, group[target.role], target.name)


def paths_of(fabric_model: FabricModel, looks: Mapping[str, SwitchDiff]) -> Paths:
    """Return over which spines every leaf has a session that is up at both ends."""
    spines: dict[str, set[str]] = {name: set() for name in looks if fabric_model.roles.get(name) == "leaf"}
    for cable in fabric_model.links:
        leaf, spine = looks.get(cable.a.device), looks.get(cable.b.device)
        if leaf and spine and f"{cable.a.port}.0" in leaf.up and f"{cable.b.port}.0" in spine.up:
            spines[leaf.name].add(spine.name)
    return Paths({name: frozenset(found) for name, found in spines.items()})
