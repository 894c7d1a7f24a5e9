"""From the folders of the servers to `Host`: every profile is read once, however many servers share it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from functools import cache, partial
from pathlib import Path

from ailb_gen.errors import Place
from ailb_gen.hosts.alike_yaml import AlikeYaml
from ailb_gen.hosts.extras import modes, read_extras
from ailb_gen.hosts.host_file import read_host_file
from ailb_gen.hosts.model import Host, HostDefect, NetplanNic, Rule, ServerProfile, ServerRoute, Setting
from ailb_gen.hosts.netplan import read_netplan
from ailb_gen.hosts.scripts import read_names, read_qos, read_tables
from ailb_gen.hosts.text import Folder, assignments, ini, sysctls
from ailb_gen.layout import (
    DROP_INS,
    ENVIRONMENT,
    HOST_FILE,
    HOST_PROGRAM,
    NETPLAN,
    NETPLAN_FOLDER,
    PLAIN_FILES,
    QOS,
    QOS_FILES,
    QOS_UNIT,
    SCRIPT,
    SCRIPT_UNIT,
    SERVERS,
    SYSCTL,
    TABLE_NAMES,
    drop_in_file,
    is_left_over,
    server_folder,
)

DROP_IN = re.compile(r"^10-netplan-(.+)\.network\.d$")
# Rules and routes without a number come last.
LAST = 1 << 32
# Folders that go to another process at once.
CHUNK = 8
NONE_KNOWN: Mapping[str, ServerProfile] = {}


def _names(folder: Folder, sub: str) -> list[str]:
    """Return the sorted entries of a folder of the server; one that is missing has none."""
    path = folder.root / folder.name / sub
    try:
        return sorted(os.listdir(path))  # noqa: PTH208 - names, not paths
    except FileNotFoundError:
        return []
    except OSError as error:
        folder.defect(sub, f"cannot list the directory: {error.strerror or error}")
        return []


def _netplan(folder: Folder) -> tuple[dict[str, NetplanNic], list[Setting]]:
    nics: dict[str, NetplanNic] = {}
    network: list[Setting] = []
    for name in _names(folder, NETPLAN_FOLDER):
        file = f"{NETPLAN_FOLDER}/{name}"
        text = folder.read(file) if name.endswith(".yaml") else None
        if text is None:
            continue
        found, others = read_netplan(folder, file, text)
        # Files of the host's own set other NICs; what they say about the whole is the host's business.
        network += others if file == NETPLAN else []
        for nic in found:
            if nic.name in nics:
                folder.defect(file, f"{nic.name} is also in {nics[nic.name].file}; netplan merges the two", nic.line)
            nics[nic.name] = nic
    return nics, network


def _settings(folder: Folder, file: str, read: Callable[[str], Iterator[Setting]]) -> tuple[Setting, ...]:
    text = folder.read(file)
    settings = tuple(read(text)) if text is not None else ()
    for setting in settings:
        if not setting.key:
            folder.defect(file, f"{str(setting.value)[:80]!r} is not a setting", setting.line)
    return tuple(setting for setting in settings if setting.key)


def _drop_ins(folder: Folder) -> Iterator[tuple[str, tuple[Setting, ...]]]:
    for name in _names(folder, DROP_INS):
        found = DROP_IN.match(name)
        if found is None:
            continue
        settings: list[Setting] = []
        for file in _names(folder, f"{DROP_INS}/{name}"):
            if file.endswith(".conf"):
                settings += _settings(folder, f"{DROP_INS}/{name}/{file}", ini)
        yield found[1], tuple(settings)


def _by_table(nics: dict[str, NetplanNic]) -> dict[int, tuple[ServerRoute, ...]]:
    result: dict[int, list[ServerRoute]] = {}
    for nic in nics.values():
        for route in nic.routes:
            if route.table is not None:
                result.setdefault(route.table, []).append(route)
    return {table: tuple(routes) for table, routes in result.items()}


def _by_priority(nics: dict[str, NetplanNic]) -> tuple[Rule, ...]:
    rules = [rule for nic in nics.values() for rule in nic.rules]
    return tuple(sorted(rules, key=lambda rule: rule.priority if rule.priority is not None else LAST))


def read_profile(root: Path, name: str, yaml: AlikeYaml | None = None) -> ServerProfile:
    """Read all files of the folder `name` below `root`; their defects are in the profile."""
    folder = Folder(root, name, yaml)
    nics, network = _netplan(folder)
    names, script, qos, host_file = (folder.read(file) for file in (TABLE_NAMES, SCRIPT, QOS, HOST_FILE))
    drop_ins = dict(_drop_ins(folder))
    own = (*PLAIN_FILES, *QOS_FILES, *map(drop_in_file, drop_ins))
    return ServerProfile(
        folder=name,
        nics=nics,
        network=tuple(network),
        routes=_by_table(nics),
        rules=_by_priority(nics),
        names=tuple(read_names(folder, names)) if names is not None else (),
        sysctls=_settings(folder, SYSCTL, sysctls),
        environment=_settings(folder, ENVIRONMENT, assignments),
        drop_ins=drop_ins,
        units={unit: _settings(folder, unit, ini) for unit in (SCRIPT_UNIT, QOS_UNIT)},
        script=read_tables(folder, script) if script is not None else None,
        qos=read_qos(folder, QOS, qos) if qos is not None else None,
        host_nics=read_host_file(folder, host_file) if host_file is not None else (),
        program=folder.digest(HOST_PROGRAM),
        # All of them have been read now.
        files=frozenset(folder.files),
        defects=tuple(folder.defects),
        extras=read_extras(root / name, own),
        modes=modes(root / name, (SCRIPT, QOS, HOST_PROGRAM)),
    )


def _folder_of(root: str, entry: os.DirEntry[str], known: dict[str, str]) -> str:
    """Return where the files of a server are, relative to the real path `root`; `known` is what links lead to.

    Raises ValueError with the reason when that is nowhere in the artifact directory.
    """
    if not entry.is_symlink():
        if not entry.is_dir():
            raise ValueError("must be a directory, or a symbolic link to a profile")
        return server_folder(entry.name)
    target = os.readlink(entry.path)  # noqa: PTH115 - thousands of them
    if target not in known:
        known[target] = _led_to(root, entry.path, target)
    return known[target]


def _led_to(root: str, link: str, target: str) -> str:
    try:
        path = os.path.realpath(link, strict=True)
    except OSError as error:
        raise ValueError(f"the link to {target} is broken: {error.strerror or error}") from error
    if os.path.commonpath((root, path)) != root:
        raise ValueError(f"the link to {target} points outside the artifact directory")
    if not Path(path).is_dir():
        raise ValueError(f"the link to {target} does not point to a directory")
    return os.path.relpath(path, root)


def read_hosts(
    root: Path, executor: Executor | None = None, known: Mapping[str, ServerProfile] = NONE_KNOWN
) -> tuple[dict[str, Host], tuple[HostDefect, ...]]:
    """Read all servers below `root`; returns them by name, and the defects of their folders.

    Servers that share a folder share one `Profile`; defects of single files are in the profile. The folders of `known`
    profiles are not read again.
    """
    folders, defects = _folders(root)
    distinct = [folder for folder in dict.fromkeys(folders.values()) if folder not in known]
    # A chunk of folders in another process has a reader of its own.
    read = partial(read_profile, root, yaml=AlikeYaml())
    found = map(read, distinct) if executor is None else executor.map(read, distinct, chunksize=CHUNK)
    profiles = {**known, **dict(zip(distinct, found, strict=True))}
    return {name: Host(name, profiles[folder]) for name, folder in folders.items()}, tuple(defects)


class ReadServers(Mapping[str, Host]):
    """The servers below a directory by name; the files of a profile are read when one of its servers is looked up."""

    def __init__(self, root: Path) -> None:
        self._folders, self.defects = _folders(root)
        self._profile = cache(partial(read_profile, root, yaml=AlikeYaml()))

    def __getitem__(self, name: str) -> Host:
        return Host(name, self._profile(self._folders[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)


def _folders(root: Path) -> tuple[dict[str, str], list[HostDefect]]:
    """Return the folder of every server, and the defects of the others."""
    folders: dict[str, str] = {}
    known: dict[str, str] = {}
    defects: list[HostDefect] = []
    try:
        real = os.path.realpath(root, strict=True)
        with os.scandir(root / SERVERS) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except FileNotFoundError:
        return {}, []
    except OSError as error:
        reason = f"cannot list the servers: {error.strerror or error}"
        return {}, [HostDefect(SERVERS, reason, Place(SERVERS))]
    for entry in entries:
        if entry.is_file(follow_symlinks=False) and is_left_over(entry.name):
            continue
        try:
            folders[entry.name] = _folder_of(real, entry, known)
        except (OSError, ValueError) as error:
            own = server_folder(entry.name)
            defects.append(HostDefect(own, str(error), Place(own)))
    return folders, defects
