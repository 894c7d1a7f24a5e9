"""Plan a push: read every switch, compute its change and the order of the waves. Nothing is changed.

Only little is kept of each switch: configurations are read, compared and let go, so that the largest fabric fits into
a laptop.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import TypeVar

from ailb_gen.deploy.besides import besides
from ailb_gen.deploy.context import Context
from ailb_gen.deploy.device_pool import ByDevice
from ailb_gen.deploy.edits import Edit, edit_of, edits_of
from ailb_gen.deploy.fabric_model import FabricModel, acting_of, model_of, read_fabric_model
from ailb_gen.deploy.inventory import Target
from ailb_gen.deploy.memory import ONE_AT_A_TIME, Kept, TooMuchError
from ailb_gen.deploy.ownership import digest, fingerprint
from ailb_gen.deploy.reach import warnings
from ailb_gen.deploy.servers.calls import look as host_state
from ailb_gen.deploy.servers.model import Tree
from ailb_gen.deploy.servers.model import fingerprint as files_digest
from ailb_gen.deploy.servers.ssh import Server
from ailb_gen.deploy.sides import files_side_by_side, packed, side_by_side
from ailb_gen.deploy.switch import DeviceError, Phase, Switch, once
from ailb_gen.deploy.transaction import MARK, Aim, FileAim, ToTarget, tree_of
from ailb_gen.deploy.verify import alarms, peers
from ailb_gen.deploy.wave_order import Paths, Position, Wave, lost_paths, waves
from ailb_gen.errors import UsageError
from ailb_gen.junos.diff import Change, diff
from ailb_gen.junos.tree import Node
from ailb_gen.network.model import Management
from ailb_gen.network.model import Switch as SwitchModel
from ailb_gen.network.sessions import Session, sessions
from ailb_gen.redact.text import redact

T = TypeVar("T")
# What may be kept of a switch without regard to the others: so much, and so many times its file, which is twice what is
# kept when every statement of it changes.
OWN_BYTES, PER_BYTE, OBJECT_BYTES = 128 << 10, 18, 64


@dataclass(frozen=True, slots=True)
class Look:
    """A switch as it was found: the fingerprint of its configuration, what it does, and what is up and wrong on it.

    `commands` make of it what its file asks for, secrets replaced, and `digest` identifies them as they are; `after`
    is what it will do then. `up` are the logical interfaces with an established session. `besides` is what acts on it
    besides its file, also after a push, `warnings` what may keep the next push from it; `lines` are those of the file
    that the commands come from, 0 for none. `first`: whole entries go, and no commit in its history is this program's.
    `sides` are the rows of the comparison, packed. The fingerprint and the rows are empty where nothing needs them.
    """

    name: str
    fingerprint: str
    before: SwitchModel
    after: SwitchModel
    commands: tuple[str, ...]
    up: frozenset[str]
    alarms: frozenset[str]
    digest: str
    besides: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    compact_edits: tuple[Edit | str, ...] = ()
    first: bool = False
    sides: bytes = b""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The commands as people read them."""
        return tuple(map(edit_of, self.compact_edits))

    @property
    def notices(self) -> Iterator[str]:
        """Statements besides the file that change the fabric, and what may shut out the next push, as lines."""
        if self.besides:
            yield f"Besides its file, and left alone by a push, {self.name} has what changes the fabric:"
            yield from (f"  ! {text}" for text in self.besides)
        if self.warnings:
            yield f"The next push may not reach {self.name}:"
            yield from (f"  ! {text}" for text in self.warnings)

    @property
    def foreign(self) -> tuple[Edit, ...]:
        """The entries and blocks that go and were never this program's, by the device's history."""
        return tuple(edit for edit in self.edits if edit.block) if self.first else ()

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of added and deleted statements."""
        # What only comes is a command, and one statement; a first push has nothing else.
        edits = [edit for edit in self.compact_edits if isinstance(edit, Edit)]
        added = len(self.compact_edits) - len(edits) + sum(edit.added for edit in edits)
        return added, sum(edit.removed for edit in edits)


@dataclass(frozen=True, slots=True)
class HostLook:
    """A server as it was found: the fingerprint of its files, and what a push does with them.

    `digest` identifies all files that it is to have, `files` are the digests of those that are put there, by path.
    """

    name: str
    fingerprint: str
    commands: tuple[str, ...]
    digest: str
    sides: bytes = b""
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """All devices that could be looked at, the errors of the others, and the waves of those to be changed.

    `fabric_model` is the fabric as it is now; `looks` are the switches, `hosts` the servers.
    """

    looks: Mapping[str, Look]
    hosts: Mapping[str, HostLook]
    errors: Mapping[str, DeviceError]
    fabric_model: FabricModel
    waves: tuple[Wave, ...]

    @property
    def found(self) -> dict[str, Look | HostLook]:
        """All devices that could be looked at."""
        return {**self.looks, **self.hosts}

    @property
    def affected(self) -> tuple[str, ...]:
        """The switches on which something besides their files changes the fabric, after a push as well."""
        return tuple(name for name, look in self.looks.items() if look.besides)

    @property
    def changed(self) -> dict[str, Look | HostLook]:
        """The devices to be changed, in the order of the waves."""
        return {name: self.found[name] for wave in self.waves for name in wave.devices}

    @property
    def digests(self) -> dict[str, str]:
        """Digests of the changes, by device."""
        return {name: one.digest for name, one in self.changed.items()}

    @property
    def changes(self) -> dict[str, Look]:
        """The switches among them."""
        return {name: self.looks[name] for wave in self.waves for name in wave.devices if name in self.looks}


def look(name: str, aim: Aim, switch: Switch, identify: bool = False, compare: bool = False) -> Look:
    """Look at a switch, at what it is to have, and at what acts besides its file. Raises DeviceError.

    Its fingerprint takes as long as all comparing: without anything to change it is computed only to `identify` it.
    With `compare`, the changes are also kept side by side.
    """
    # The configuration last: of each device the last answer is what memory is kept for.
    found, wrong = peers(switch), alarms(switch)
    up = frozenset(peer.interface for peer in found if peer.up)
    del found
    text = switch.running()
    target = aim(switch, text)
    with ONE_AT_A_TIME:
        seen = _compared(name, text, target, identify, compare, aim if isinstance(aim, FileAim) else None)
    # Only where it matters: it is one question more to every switch.
    blocks = any(isinstance(edit, Edit) and edit.block for edit in seen.compact_edits)
    first = blocks and not any(one.log.startswith(MARK) for one in switch.commits())
    return replace(seen, up=up, alarms=wrong, first=first)


def _compared(
    name: str, text: str, aim: ToTarget, identify: bool, compare: bool, file_aim: FileAim | None = None
) -> Look:
    """Compare what a switch has with what it is to have, and what it then does with what the file says.

    Of a large configuration no more is kept at a time than the next step needs.
    """
    running = tree_of(name, text)
    target = aim(running)
    changes = tuple(diff(running, target))
    commands = "".join(f"{change}\n" for change in changes)
    identity, changed = digest(commands), bool(changes)
    mark = fingerprint(running) if changed or identify else ""
    lines = tuple(line for change in changes for line in _lines(change, target))
    sides = packed(side_by_side(running, target)) if changed and compare else b""
    shown = tuple(redact(commands).splitlines())
    del commands
    edits = edits_of(running, changes, shown)
    del changes
    acting = acting_of(name, running)
    del running
    before = after = model_of(name, acting)
    if changed:
        del acting
        acting = acting_of(name, target)
        after = model_of(name, acting)
    del target
    others: tuple[str, ...] = ()
    if file_aim is not None:
        alone = acting_of(name, file_aim.file())
        others = besides(after, acting, lambda: model_of(name, alone), alone, file_aim.rights, file_aim.pool)
    return Look(
        name=name,
        fingerprint=mark,
        before=before,
        after=after,
        commands=shown,
        up=frozenset(),
        alarms=frozenset(),
        digest=identity,
        lines=lines,
        compact_edits=edits,
        sides=sides,
        besides=tuple(redact(f"set {text}").removeprefix("set ") for text in others),
    )


def _lines(change: Change, target: Node) -> Iterator[int]:
    """Yield the line of the file that a change comes from, for each of its own: else of the block around it."""
    line, node = change.line, target
    if change.command.startswith("delete "):
        line = 0
        for word in change.command.split()[1:]:
            below = node.children.get(word)
            if below is None:
                break
            line, node = below.line, below
    yield from [line] * len(change.command.splitlines())


def look_at_host(files: Tree, server: Server, compare: bool = False) -> HostLook:
    """Look at a server; with `compare`, the changes are also kept side by side. Raises DeviceError."""
    found = host_state(server, files)
    commands = tuple(f"{found.changes[path]} /{path}" for path in found.changed)
    sides = packed(files_side_by_side(found.found, files)) if commands and compare else b""
    put = {path: files[path].digest for path in found.changed if path in files}
    return HostLook(server.name, found.fingerprint, commands, files_digest(files), sides, put)


def looks_of(
    on: Context,
    aim: Callable[[str], Aim],
    keep: Callable[[Look], T],
    advance: Callable[[int], None] = lambda number: None,
    identify: bool = False,
    compare: bool = False,
) -> tuple[ByDevice[T], ByDevice[HostLook]]:
    """Look at all switches and the picked servers; of every switch there stays what `keep` makes of it."""

    def look_at(name: str, switch: Switch) -> T:
        # What others than the picked ones would change is of no interest.
        found = look(name, aim(name), switch, identify, compare and name in on.picked)
        return keep(replace(found, warnings=warnings(found.before, found.after, on.switches[name])))

    def look_at_server(name: str, server: Server) -> HostLook:
        return look_at_host(on.inputs.trees[name], server, compare)

    switches = on.pool.run(on.switches, look_at, Phase.READ, advance, keep=False, at_once=True)
    servers = [name for name in on.servers if name in on.picked]
    return switches, on.pool.run(servers, look_at_server, Phase.READ, advance, keep=False, at_once=True)


def plan_of(
    on: Context,
    aim: Callable[[str], Aim],
    min_paths: int,
    advance: Callable[[int], None] = lambda number: None,
    identify: bool = False,
    compare: bool = False,
) -> Plan:
    """Look at all switches and the picked servers; order what is to be changed. Raises UsageError.

    With `identify` also those that nothing is to be changed on have a fingerprint; with `compare` those that something
    is to be changed on have the changes side by side.
    """
    room = Kept()

    def keep(look: Look) -> Look:
        if look.name not in on.picked:
            # What it does counts, and not what would be changed on it.
            look = replace(look, commands=(), lines=(), compact_edits=())
        return _kept(look, room, on.inputs.size(look.name))

    seen, hosts = looks_of(on, aim, keep, advance, identify, compare)
    looks = seen.good
    fabric_model = read_fabric_model(on.inputs.artifacts, {name: one.before for name, one in looks.items()})
    found: dict[str, Look | HostLook] = {**looks, **hosts.good}
    targets = {**on.switches, **on.servers}
    changed = [targets[name] for name in targets if name in on.picked and name in found and found[name].commands]
    colors = tuple(dict.fromkeys(color for target in on.switches.values() for color in target.colors))
    now = paths_of(fabric_model, looks)
    try:
        planned = waves(map(position_of, changed), colors, now, min_paths)
        check_min_paths(fabric_model, looks, planned, now, min_paths)
    except UsageError as error:
        # A switch that cannot be looked at has no session that is known to be up.
        raise UsageError("\n".join([str(error), *once(seen.bad.values())])) from error
    return Plan(looks, hosts.good, {**seen.bad, **hosts.bad}, fabric_model, planned)


def _kept(look: Look, room: Kept, size: int) -> Look:
    """Make sure that there is room for a look; `size` is that of the switch's file. Raises DeviceError.

    What the model of a fabric does not ask for is let go: a device may have any number of statements that manage it.
    """
    before = replace(look.before, operating=frozenset(), management=Management())
    changed = look.after is not look.before
    after = replace(look.after, operating=frozenset(), management=Management()) if changed else before
    look = replace(look, before=before, after=after)
    try:
        room.take(_memory(look), OWN_BYTES + PER_BYTE * size)
    except TooMuchError as error:
        added, removed = look.counts
        raise DeviceError(
            look.name,
            Phase.READ,
            f"what it does and what would be changed on it take too much memory, {error}, to be kept for a plan: "
            f"{removed:,} statements go and {added:,} come",
            "delete on it by hand what the fabric does not need, or plan fewer devices at once (--limit)",
        ) from error
    return look


def _memory(look: Look) -> int:
    """Return about how many bytes of memory a look takes: those of its values, and what every object takes besides."""
    data = BytesIO()
    pickler = pickle.Pickler(data)
    pickler.dump(look)
    return data.tell() + OBJECT_BYTES * len(pickler.memo.copy())


def check_min_paths(
    fabric_model: FabricModel, looks: Mapping[str, Look], planned: Sequence[Wave], now: Paths, min_paths: int
) -> None:
    """Make sure that old and new configurations get along between the waves. Raises UsageError.

    Such as an AS number that the other ends do not expect yet: a session that is up before and after the push, and not
    in the middle of it. What is down now, though it should be up, counts as down.
    """
    broken = {
        (side.device, side.interface)
        for session in fabric_model.sessions.up
        for side in (session.a, session.b)
        if side.device in looks and side.interface not in looks[side.device].up
    }
    found: dict[str, dict[str, str]] = {name: {} for name in looks if fabric_model.roles.get(name) == "leaf"}
    _put_in(found, fabric_model.sessions.up, broken)
    for wave in planned:
        fabric_model = fabric_model.after({name: looks[name].after for name in wave.devices if name in looks})
        # Of the others, nothing has changed.
        changed = fabric_model.around(wave.devices)
        for cable in changed.links:
            for end in (cable.a, cable.b):
                found.get(end.device, {}).pop(f"{end.port}.0", None)
        _put_in(found, sessions(changed).up, broken)
        then = Paths({name: frozenset(over.values()) for name, over in found.items()})
        lost = lost_paths(now, then, min_paths)
        if lost is not None:
            left, before, (one, other) = lost
            raise UsageError(
                f"after the wave '{wave.name}', {one} and {other} would have {left} of {before} paths, fewer than "
                f"--min-paths {min_paths}, at least until later waves: the old and the new configuration are not "
                f"compatible; make the change in two steps, or allow fewer paths"
            )


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


def paths_of(fabric_model: FabricModel, looks: Mapping[str, Look]) -> Paths:
    """Return over which spines every leaf has a session that is up at both ends."""
    spines: dict[str, set[str]] = {name: set() for name in looks if fabric_model.roles.get(name) == "leaf"}
    for cable in fabric_model.links:
        leaf, spine = looks.get(cable.a.device), looks.get(cable.b.device)
        if leaf and spine and f"{cable.a.port}.0" in leaf.up and f"{cable.b.port}.0" in spine.up:
            spines[leaf.name].add(spine.name)
    return Paths({name: frozenset(found) for name, found in spines.items()})
