"""The inventory: every device of the fabric, and how to reach it and log in to it.

The devices come from the intent; `hosts.yaml`, `groups.yaml` and `defaults.yaml` of one folder, each optional, add what
the intent does not say. The most specific level wins key by key: the host, its groups, the defaults. A device belongs
to the groups of its name's entry in `hosts.yaml`, then `railN` (leaves, from 0), `stripeN` (from 1), its role (`leaf`,
`spine`, `server`) and its kind (`switch`, `server`), each with the groups that it belongs to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import nornir.core.inventory as nornir
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ailb_gen.deploy.credentials import Login
from ailb_gen.deploy.devices import FabricDevice, Kind, devices
from ailb_gen.deploy.inventory_models import SECRET_KEYS, Defaults, Entry, FabricDefaults, Group, Groups, Host, Hosts
from ailb_gen.errors import IntentError, Place, Problem, UsageError
from ailb_gen.intent.load import load
from ailb_gen.paths import absent
from ailb_gen.textio import read_text
from ailb_gen.validation import distinct, merged, problem
from ailb_gen.wording import SHOWN, did_you_mean, some
from ailb_gen.yamlio import Path as YamlPath
from ailb_gen.yamlio import Source, dotted, read_yaml

PLATFORMS: Mapping[Kind, str] = {"switch": "junos", "server": "linux"}
PORTS: Mapping[Kind, int] = {"switch": 830, "server": 22}
FILES = ("defaults.yaml", "groups.yaml", "hosts.yaml")
# Looking for the closest of thousands of names takes time; more hints than these help no one.
MAX_HINTS = 20


@dataclass(frozen=True, slots=True)
class Options:
    """Times of a connection in seconds: for an answer, for connecting, between keepalives (0: none)."""

    timeout_s: int
    connect_timeout_s: int
    keepalive_s: int


@dataclass(frozen=True, slots=True)
class Target(FabricDevice):
    """A device of the fabric as it is connected to.

    `known_hosts` are the files its host key is looked up in, `ssh_config` the user's OpenSSH configuration or None.
    A device that is not `managed` is left alone by everything that connects. `own` and `keep` are paths of the
    configuration, see ownership.py.
    """

    groups: tuple[str, ...]
    hostname: str
    port: int
    platform: str
    login: Login
    options: Options
    known_hosts: tuple[Path, ...]
    ssh_config: Path | None
    managed: bool
    own: tuple[str, ...]
    keep: tuple[str, ...]
    labels: Mapping[str, bool | int | str]


@dataclass(frozen=True, slots=True)
class Inventory:
    """All devices by name, in the order leaves, spines, servers.

    `allowed_signers` says who may sign plans; None: a push needs no signed plan.
    """

    targets: Mapping[str, Target]
    groups: tuple[str, ...]
    allowed_signers: Path | None = None

    @property
    def managed(self) -> tuple[Target, ...]:
        """The devices that are not taken out."""
        return tuple(target for target in self.targets.values() if target.managed)


def read_inventory(fabric: Path, directory: Path) -> Inventory:
    """Read the intent and the inventory files beside it; relative paths in them start at `directory`.

    Raises IntentError with everything that is wrong in them: file, line, column, reason and the likely spelling.
    """
    intent = load(fabric)
    given = devices(intent)
    files = _Files(directory)
    files.check_fabric(given, intent.fabric.name)
    files.check_names(given)
    files.stop_on_problems()
    shared: dict[tuple[str, ...], tuple[tuple[str, ...], Entry]] = {}
    targets: dict[str, Target] = {}
    for device in given:
        host = files.hosts.get(device.name)
        own = (*(host.groups if host else ()), *_automatic(device))
        if own not in shared:
            shared[own] = files.resolved(own)
        names, entry = shared[own]
        targets[device.name] = _target(device, names, merged(entry, host) if host else entry, host, directory)
    _check_addresses(targets, given, files)
    files.stop_on_problems()
    known = dict.fromkeys(name for names, _ in shared.values() for name in names)
    approval = files.defaults.approval
    signers = _path(directory, approval.allowed_signers) if approval is not None else None
    return Inventory(targets, tuple(known), signers)


def need_inventory(inventory: Inventory, fabric: Path, directory: Path | None) -> None:
    """Make sure that somebody said where the devices are: a file of an inventory, or addresses in the intent.

    `directory` is the one that was asked for, None for that of the fabric file. Raises UsageError.
    """
    folder = directory if directory is not None else fabric.parent
    if any((folder / name).is_file() for name in FILES):
        return
    addressed = any(target.address for target in inventory.managed)
    if addressed and directory is None:
        return
    unknown = "" if addressed else f", and {fabric.name} gives no management addresses"
    first = inventory.managed[0].name
    raise UsageError(
        f"{folder}: there is no inventory here: no {FILES[2]}, {FILES[1]} or {FILES[0]}{unknown}; name the folder that "
        f"has one with -i, or write a minimal one:\n"
        f"  {folder / FILES[0]}: 'username: NAME'\n"
        f"  {folder / FILES[2]}: a line such as '{first}: {{hostname: ADDRESS}}' for every device, or 'management:' in "
        f"{fabric.name}\n"
        f"where a device is reached by its own name in DNS, {FILES[0]} is enough"
    )


def _automatic(device: FabricDevice) -> tuple[str, ...]:
    """Return the groups that a device belongs to by what it is, the most specific first."""
    rail = () if device.rail is None else (f"rail{device.rail}",)
    stripe = (f"stripe{device.stripe}",) if device.stripe else ()
    return tuple(dict.fromkeys((*rail, *stripe, device.role, device.kind)))


def _path(directory: Path, text: str) -> Path:
    return directory / Path(text).expanduser()


def _target(device: FabricDevice, groups: tuple[str, ...], entry: Entry, host: Host | None, directory: Path) -> Target:
    data = entry.data
    # As OpenSSH does by default, unless something else is named.
    agent = entry.agent if entry.agent is not None else not (entry.password or entry.key_file)
    login = Login(
        username=entry.username,
        password=entry.password,
        passphrase=entry.passphrase,
        sudo_password=entry.sudo_password,
        key_file=_path(directory, entry.key_file) if entry.key_file else None,
        agent=agent,
    )
    return Target(
        **{field.name: getattr(device, field.name) for field in fields(FabricDevice)},
        groups=groups,
        hostname=(host.hostname if host else None) or device.address or device.name,
        port=entry.port or PORTS[device.kind],
        platform=PLATFORMS[device.kind],
        login=login,
        options=Options(**entry.options.model_dump()),
        known_hosts=tuple(_path(directory, text) for text in data.known_hosts),
        ssh_config=None if data.ssh_config == "none" else _path(directory, data.ssh_config),
        managed=data.managed,
        own=data.own,
        keep=data.keep,
        labels=data.labels,
    )


class _Files:
    """The inventory files, and what is wrong with them."""

    def __init__(self, directory: Path) -> None:
        self.problems: list[Problem] = []
        self.hints = MAX_HINTS
        self.sources: dict[str, Source] = {}
        if not directory.is_dir():
            hint = "give the one that holds groups.yaml and defaults.yaml"
            reason = "this is a file, no directory" if directory.exists() else absent(directory, "directory")
            raise IntentError([Problem("unreadable", Place(str(directory)), "", reason, hint)])
        models: tuple[type[BaseModel], ...] = (Defaults, Groups, Hosts)
        defaults, groups, hosts = (
            self.read(directory / name, model) for name, model in zip(FILES, models, strict=True)
        )
        self.stop_on_problems()
        self.defaults = defaults.root if isinstance(defaults, Defaults) else FabricDefaults()
        self.groups: dict[str, Group] = groups.root if isinstance(groups, Groups) else {}
        self.hosts: dict[str, Host] = hosts.root if isinstance(hosts, Hosts) else {}

    def stop_on_problems(self) -> None:
        """Raise IntentError if there is a problem."""
        if self.problems:
            raise IntentError(self.problems)

    def read(self, path: Path, model: type[BaseModel]) -> BaseModel | None:
        """Read one file; None if it is not there, is empty or has problems."""
        if not path.exists() and not path.is_symlink():
            return None
        try:
            source = read_yaml(read_text(path, str(path)), str(path))
        except IntentError as error:
            self.problems += map(_hidden, error.problems)
            return None
        self.sources[path.stem] = source
        if source.data is None:
            return None
        try:
            return model.model_validate(source.data)
        except ValidationError as error:
            # Not chained anywhere: pydantic's own text shows the values.
            self.problems += [problem(_unsaid(row), source, model) for row in distinct(error)]
            return None

    def note(self, code: str, file: str, path: YamlPath, reason: str, hint: str = "") -> None:
        """Note a problem at a path of a file."""
        self.problems.append(Problem(code, self.sources[file].locate(path), dotted(path), reason, hint))

    def near(self, name: str, known: Iterable[str]) -> str:
        """Return a hint at the closest of the known names, while hints are left."""
        self.hints -= 1
        return did_you_mean(name, known) if self.hints >= 0 else ""

    def check_fabric(self, given: tuple[FabricDevice, ...], fabric: str) -> None:
        """Raise IntentError with one problem where many hosts are not in the fabric: all else follows from that."""
        names = {device.name for device in given}
        strange = [name for name in self.hosts if name not in names]
        # Of a few that are misspelled each is told.
        few = len(strange) < len(self.hosts) or any(did_you_mean(name, names) for name in strange[:SHOWN])
        if len(strange) > SHOWN or (len(strange) > 1 and not few):
            reason = (
                f"{len(strange)} of its {len(self.hosts)} devices, {some(strange)}, are not in the fabric {fabric}: "
                f"this is the inventory of another fabric, or of another version of it"
            )
            place = self.sources["hosts"].locate((strange[0],))
            self.problems.append(
                Problem("unknown-device", place, "", reason, "name the right folder with -i, or omit them")
            )
            self.stop_on_problems()

    def check_names(self, given: tuple[FabricDevice, ...]) -> None:
        """Note hosts that are not in the fabric, groups without devices or that do not exist, and circles."""
        names = {device.name for device in given}
        for name in self.hosts:
            if name not in names:
                hint = self.near(name, names)
                self.note("unknown-device", "hosts", (name,), "the fabric has no such device", hint)
        automatic = {group for device in given for group in _automatic(device)}
        used = set(automatic)
        for file, entries in (("groups", self.groups), ("hosts", self.hosts)):
            for name, entry in entries.items():
                used |= set(entry.groups)
                for number, group in enumerate(entry.groups):
                    self.check_group(group, file, (name, "groups", number), automatic)
        for name in self.groups:
            if name not in used:
                hint = self.near(name, automatic) or "name it under 'groups:' of a host, or leave it out"
                self.note("unknown-device", "groups", (name,), "no device is in this group", hint)
        self.check_circles()

    def check_group(self, group: str, file: str, path: YamlPath, automatic: set[str]) -> None:
        """Note a group that does not exist, or whose devices follow from the fabric."""
        if group in automatic:
            reason = f"who is in {group!r} follows from the fabric file"
            self.note("conflict", file, path, reason, "leave it out; every device is in the groups of its role")
        elif group not in self.groups:
            hint = self.near(group, self.groups)
            self.note("unknown-device", file, path, f"no group is called {group!r} in groups.yaml", hint)

    def check_circles(self) -> None:
        """Note groups that belong to themselves."""
        for name in self.groups:
            if name in self.chain(self.groups[name].groups):
                self.note("conflict", "groups", (name, "groups"), f"the group {name!r} belongs to itself")

    def chain(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return groups with the groups that they belong to behind them, in Nornir's order: depth first, once each."""
        result: dict[str, None] = {}
        waiting = deque(names)
        while waiting:
            name = waiting.popleft()
            if name not in result:
                result[name] = None
                group = self.groups.get(name)
                waiting.extendleft(reversed(group.groups if group else ()))
        return tuple(result)

    def resolved(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], Entry]:
        """Return all groups of a device, and what they and the defaults say."""
        chain = self.chain(names)
        entry: Entry = self.defaults
        for name in reversed(chain):
            if name in self.groups:
                entry = merged(entry, self.groups[name])
        return chain, entry


class _Text:
    """Stands for text in a message that must not repeat it."""

    def __repr__(self) -> str:
        return "text"


def _unsaid(error: ErrorDetails) -> ErrorDetails:
    """Take the text out of what pydantic found: it may be a password under a wrong key."""
    return {**error, "input": _Text()} if isinstance(error["input"], str) else error


def _hidden(problem: Problem) -> Problem:
    """Take out what may be a secret: a password that starts with `!` is read as a tag, which the message quotes."""
    if problem.code != "yaml-syntax" or "tag" not in problem.reason:
        return problem
    reason = "text that starts with '!' is a tag, which is not supported here"
    hint = "a secret is never written here" if problem.path.endswith(SECRET_KEYS) else "put it in quotes"
    return Problem(problem.code, problem.place, problem.path, reason, hint)


def _check_addresses(targets: Mapping[str, Target], given: tuple[FabricDevice, ...], files: _Files) -> None:
    """Note devices that would be reached at one address: the second would get the configuration of the first."""
    seen: dict[tuple[str, int], str] = {}
    for device in given:
        target = targets[device.name]
        if not target.managed:
            continue
        first = seen.setdefault((target.hostname.lower(), target.port), target.name)
        if first == target.name:
            continue
        reason = f"{target.name} is reached at {target.hostname} port {target.port}, which is {first}"
        place, path = device.place, ""
        if files.hosts.get(target.name) is not None:
            path = f"{target.name}.hostname"
            place = files.sources["hosts"].locate((target.name, "hostname"))
        files.problems.append(
            Problem("duplicate-address", place, path, reason, "give one of them an address of its own")
        )


class AilbInventory:
    """Nornir's inventory plugin of this program: the devices that are managed, without any credential.

    Options: `fabric`, the fabric file, and `directory`, the folder of the inventory files (default: that of the fabric
    file). Every host has its Target as `host["target"]`, besides `role`, `stripe`, `rail`, `colors` and its labels.
    """

    def __init__(self, fabric: str | Path, directory: str | Path | None = None) -> None:
        self.fabric = Path(fabric)
        self.directory = Path(directory) if directory is not None else self.fabric.parent

    def load(self) -> nornir.Inventory:
        """Read the files. Raises IntentError."""
        return to_nornir(read_inventory(self.fabric, self.directory))


def to_nornir(inventory: Inventory) -> nornir.Inventory:
    """Return the managed devices as Nornir's own objects."""
    from nornir.core import inventory as nornir  # noqa: PLC0415 - only who runs Nornir needs it loaded

    groups = nornir.Groups({name: nornir.Group(name) for name in inventory.groups})
    hosts = nornir.Hosts()
    for target in inventory.managed:
        data: dict[str, Any] = {**target.labels, "target": target, "role": target.role, "stripe": target.stripe}
        hosts[target.name] = nornir.Host(
            name=target.name,
            hostname=target.hostname,
            port=target.port,
            username=target.login.username if isinstance(target.login.username, str) else None,
            platform=target.platform,
            groups=nornir.ParentGroups(groups[name] for name in target.groups),
            data=data | {"rail": target.rail, "colors": target.colors},
        )
    return nornir.Inventory(hosts, groups, nornir.Defaults())
