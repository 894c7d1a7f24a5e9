"""The devices of the fabric, for connections: names, positions and management addresses, from the intent alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal

import nornir.core.inventory as nornir

from ailb_gen.deploy.credentials import LoginReference, Reference, SecretCache
from ailb_gen.deploy.inventory_files import FILES, HostEntry, InventoryEntry, InventoryFiles
from ailb_gen.deploy.nornir_plugin import FILE, plugin_hosts
from ailb_gen.design.devices import FabricDevice, Kind, automatic_groups, devices
from ailb_gen.errors import Problem, UsageError
from ailb_gen.intent.load import load
from ailb_gen.validation import merged
from ailb_gen.wording import some

PLATFORMS: Mapping[Kind, str] = {"switch": "junos", "server": "linux"}
PORTS: Mapping[Kind, int] = {"switch": 830, "server": 22}


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Times of a connection in seconds: for an answer, for connecting, between keepalives (0: none)."""

    timeout_s: int
    connect_timeout_s: int
    keepalive_s: int


@dataclass(frozen=True, slots=True)
class Target(FabricDevice):
    """A device of the fabric as it is connected to.

    `known_hosts` are the files its host key is looked up in, `ssh_config` the user's OpenSSH configuration or None.
    A device that is not `managed` is left alone by everything that connects. `own` and `keep` are paths of the
    configuration, see ownership.py. `listed` is false where `hosts.yaml` lists other devices, and not this one.
    """

    groups: tuple[str, ...]
    hostname: str
    port: int
    platform: str
    login: LoginReference
    options: ConnectionOptions
    known_hosts: tuple[Path, ...]
    ssh_config: Path | None
    managed: bool
    own: tuple[str, ...]
    keep: tuple[str, ...]
    labels: Mapping[str, bool | int | str]
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Hook:
    """Where to send a POST at which moments, in which form; the URL by reference, as it may hold a token."""

    url: Reference
    form: Literal["json", "slack"] = "json"
    on: tuple[Literal["start", "end", "failure", "findings"], ...] = ("start", "end", "failure")


@dataclass(frozen=True, slots=True)
class Inventory:
    """All devices by name, in the order leaves, spines, servers.

    `allowed_signers` says who may sign plans; None: a push needs no signed plan. `hooks` are told of runs and of
    maintenances.
    """

    targets: Mapping[str, Target]
    groups: tuple[str, ...]
    allowed_signers: Path | None = None
    hooks: tuple[Hook, ...] = ()

    @property
    def managed(self) -> tuple[Target, ...]:
        """The devices that are not taken out."""
        return tuple(target for target in self.targets.values() if target.managed)


def read_inventory(fabric: Path, directory: Path, secrets: SecretCache | None = None) -> Inventory:
    """Read the intent and the inventory files beside it; relative paths in them start at `directory`.

    Where they name a plug-in of Nornir, it is asked; `secrets` learns its token. Raises IntentError with everything
    that is wrong in them: file, line, column, reason and the likely spelling; MissingExtraError and DeployError
    where the plug-in cannot be used.
    """
    intent = load(fabric)
    given = devices(intent)
    files = InventoryFiles(directory)
    files.check_fabric(given, intent.fabric.name)
    plugin_hosts(files, directory, (device.name for device in given), secrets or SecretCache())
    files.check_names(given)
    files.stop_on_problems()
    shared: dict[tuple[str, ...], tuple[tuple[str, ...], InventoryEntry]] = {}
    targets: dict[str, Target] = {}
    for device in given:
        host, external = files.hosts.get(device.name), files.plugin.get(device.name)
        own = (*(host.groups if host else ()), *automatic_groups(device), *(external.groups if external else ()))
        if own not in shared:
            shared[own] = files.resolved(own)
        names, entry = shared[own]
        for one in filter(None, (external, host)):
            entry = merged(entry, one)
        listed = bool(host or external) or not files.hosts
        hostname = _hostname(device, host, external, files)
        targets[device.name] = _target(device, names, entry, hostname, directory, listed)
    _check_addresses(targets, given, files)
    _check_missing(targets, files)
    files.stop_on_problems()
    known = dict.fromkeys(name for names, _ in shared.values() for name in names)
    approval = files.defaults.approval
    signers = resolved_path(directory, approval.allowed_signers) if approval is not None else None
    hooks = tuple(Hook(one.url, one.form, one.on) for one in files.defaults.hooks)
    return Inventory(targets, tuple(known), signers, hooks)


def need_inventory(inventory: Inventory, fabric: Path, directory: Path | None) -> None:
    """Make sure that somebody said where the devices are: a file of an inventory, or addresses in the intent.

    `directory` is the one that was given, None for that of the fabric file. Raises UsageError.
    """
    folder = directory if directory is not None else fabric.parent
    if any((folder / name).is_file() for name in (*FILES, FILE)):
        return
    addressed = any(target.address for target in inventory.managed)
    if addressed and directory is None:
        return
    unknown = "" if addressed else f", and {fabric.name} gives no management addresses"
    first = inventory.managed[0].name
    raise UsageError(
        f"{folder}: no inventory here: no {FILES[2]}, {FILES[1]} or {FILES[0]}{unknown}; name the directory that "
        f"has one with -i, or write a minimal one:\n"
        f"  {folder / FILES[0]}: 'username: NAME'\n"
        f"  {folder / FILES[2]}: a line such as '{first}: {{hostname: ADDRESS}}' for every device, or 'management:' in "
        f"{fabric.name}\n"
        f"where a device is reached by its own name in DNS, {FILES[0]} is enough"
    )


def resolved_path(directory: Path, text: str) -> Path:
    """Return a path of an inventory file; a relative one starts at its folder."""
    return directory / Path(text).expanduser()


def _hostname(device: FabricDevice, host: HostEntry | None, external: HostEntry | None, files: InventoryFiles) -> str:
    """Return where a device is reached; note where the fabric and a plug-in disagree and hosts.yaml is silent."""
    found = external.hostname if external else None
    if host and host.hostname:
        return str(host.hostname)
    if found and device.address and found != str(ip_address(device.address)):
        reason = f"{device.name} has the management address {device.address} here, and {found} in {FILE}'s source"
        hint = f"correct one of them, or decide with a line in {FILES[2]}: {device.name}: {{hostname: ADDRESS}}"
        files.problems.append(Problem("conflict", device.place, "", reason, hint))
    return found or device.address or device.name


def _target(
    device: FabricDevice,
    groups: tuple[str, ...],
    entry: InventoryEntry,
    hostname: str,
    directory: Path,
    listed: bool,
) -> Target:
    data = entry.data
    # As OpenSSH does by default, unless something else is named.
    agent = entry.agent if entry.agent is not None else not (entry.password or entry.key_file)
    login = LoginReference(
        username=entry.username,
        password=entry.password,
        passphrase=entry.passphrase,
        sudo_password=entry.sudo_password,
        key_file=resolved_path(directory, entry.key_file) if entry.key_file else None,
        agent=agent,
    )
    return Target(
        **{field.name: getattr(device, field.name) for field in fields(FabricDevice)},
        groups=groups,
        hostname=hostname,
        port=entry.port or PORTS[device.kind],
        platform=PLATFORMS[device.kind],
        login=login,
        options=ConnectionOptions(**entry.options.model_dump()),
        known_hosts=tuple(resolved_path(directory, text) for text in data.known_hosts),
        ssh_config=None if data.ssh_config == "none" else resolved_path(directory, data.ssh_config),
        managed=data.managed,
        own=data.own,
        keep=data.keep,
        labels=data.labels,
        listed=listed,
    )


def _check_addresses(targets: Mapping[str, Target], given: tuple[FabricDevice, ...], files: InventoryFiles) -> None:
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


def _check_missing(targets: Mapping[str, Target], files: InventoryFiles) -> None:
    """Note devices that a plug-in does not give, where nothing else says how they are reached."""
    if "nornir" not in files.sources:
        return
    lost = [
        name
        for name, target in targets.items()
        if target.managed and not target.address and name not in files.plugin and name not in files.hosts
    ]
    if lost:
        hint = f"add them there, give their addresses in {FILES[2]} or the fabric, or take them out: data.managed: off"
        files.note("unknown-device", "nornir", ("inventory", "plugin"), f"it does not give {some(lost)}", hint)


class AilbInventory:
    """Nornir's inventory plugin of this program: the devices that are managed, without any credential.

    Options: `fabric`, the fabric file, and `directory`, the folder of the inventory files (default: that of the fabric
    file). Every host has its Target as `host["target"]`, next to `role`, `stripe`, `rail`, `colors` and its labels.
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
