"""The models of `hosts.yaml`, `groups.yaml` and `defaults.yaml`: settings for connecting to a device.

No message here repeats a value where a secret belongs: a password that was written there must not get into a log.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, PlainValidator, RootModel, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails

from ailb_gen.deploy.credentials import (
    CommandReference,
    EnvironmentReference,
    KeyringReference,
    Reference,
)
from ailb_gen.design.devices import FabricDevice, automatic_groups
from ailb_gen.errors import IntentError, Place, Problem
from ailb_gen.paths import absent
from ailb_gen.textio import read_text
from ailb_gen.validation import Bool, Int, Model, Name, checked_name, distinct, merged, problem, wrong
from ailb_gen.wording import SHOWN, did_you_mean, some
from ailb_gen.yamlio import Path as YamlPath
from ailb_gen.yamlio import Source, dotted, read_yaml

FILES = ("defaults.yaml", "groups.yaml", "hosts.yaml")
# Looking for the closest of thousands of names takes time; more hints than these help no one.
MAX_HINTS = 20

SECRET_KEYS = ("password", "passphrase", "sudo_password")
HOW = "write {env: NAME}, {keyring: {service: S, username: U}} or {command: [PROGRAM, ARGUMENT, ...]}"
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
# A DNS name; PyEZ (jnpr/junos/device.py, _HOSTNAME_RE) takes no other.
HOSTNAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
# Keys that people put passwords under, where anything may stand.
SECRET_LABEL = re.compile(r"pass|secret|token|credential|private", re.IGNORECASE)


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable() and len(value) <= 1000


def _environment(value: object) -> EnvironmentReference:
    if not isinstance(value, str) or not VARIABLE.fullmatch(value):
        raise wrong("wrong-value", "'env' takes the name of an environment variable: letters, digits and '_'")
    return EnvironmentReference(value)


def _keyring(value: object) -> KeyringReference:
    if not isinstance(value, dict) or set(value) != {"service", "username"} or not all(map(_text, value.values())):
        raise wrong("wrong-value", "'keyring' takes {service: S, username: U}, both text")
    return KeyringReference(value["service"], value["username"])


def _command(value: object) -> CommandReference:
    if not isinstance(value, list) or not value or not all(map(_text, value)):
        raise wrong("wrong-value", "'command' takes a list of text: the program and its arguments; no shell runs it")
    return CommandReference(tuple(value))


REFERENCES: dict[str, Callable[[object], Reference]] = {"env": _environment, "keyring": _keyring, "command": _command}


def _reference(value: object) -> Reference:
    """Read a reference to a secret."""
    if not isinstance(value, dict):
        raise wrong("wrong-value", f"write only where the secret is stored, never the secret itself; {HOW}")
    if len(value) != 1 or not set(value) <= set(REFERENCES):
        raise wrong("wrong-value", f"exactly one reference is needed; {HOW}")
    ((kind, what),) = value.items()
    return REFERENCES[kind](what)


def _username(value: object) -> str | EnvironmentReference:
    if isinstance(value, dict):
        if set(value) != {"env"}:
            raise wrong("wrong-value", "must be a name, or {env: NAME}")
        return _environment(value["env"])
    if not _text(value) or not isinstance(value, str) or re.search(r"[\s:@/\\\"']", value):
        raise wrong("wrong-value", "must be the name of a user, or {env: NAME}")
    return value


def _hostname(value: object) -> str:
    if isinstance(value, str) and "%" not in value:
        try:
            return str(ip_address(value))
        except ValueError:
            if HOSTNAME.fullmatch(value) and ".." not in value and not value.replace(".", "").isdecimal():
                return value
    # Not repeated: people write user:password@host.
    raise wrong("bad-address", "must be a DNS name or an IP address, without user, port or brackets")


def _path(value: object) -> str:
    if not isinstance(value, str) or not _text(value):
        raise wrong("wrong-type", "must be the path of a file")
    if "PRIVATE KEY" in value:
        raise wrong("wrong-value", "must be the path of a file, not the key itself")
    if value[0] == "~" and value[1:2] not in ("", "/"):
        raise wrong("wrong-value", "'~' means only your own home directory; write the full path")
    return value


def _paths(value: object) -> tuple[str, ...]:
    return tuple(map(_path, value)) if isinstance(value, list) and value else (_path(value),)


def _labels(value: object) -> dict[str, bool | int | str]:
    if not isinstance(value, dict):
        raise wrong("wrong-type", "must be a mapping of labels to text, numbers, true or false")
    for key, label in value.items():
        if SECRET_LABEL.search(checked_name(key)):
            raise wrong("wrong-value", f"labels are for filters and hold no secrets; for a password {HOW}")
        if not isinstance(label, bool | int | str) or len(str(label)) > 200:
            raise wrong("wrong-type", f"the label {key!r} must be text, a number, true or false")
    return value


def _empty(value: object) -> object:
    return {} if value is None else value


ANYTHING = WithJsonSchema({})
ConfigPath = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"^[^*\s].*$")]
SecretReference = Annotated[Any, PlainValidator(_reference), ANYTHING]
Username = Annotated[Any, PlainValidator(_username), ANYTHING]
Hostname = Annotated[Any, PlainValidator(_hostname), ANYTHING]
FilePath = Annotated[Any, PlainValidator(_path), ANYTHING]
FilePaths = Annotated[Any, PlainValidator(_paths), ANYTHING]
Labels = Annotated[Any, PlainValidator(_labels), ANYTHING]


class OptionsEntry(Model):
    """Times of a connection in seconds; `timeout_s` is how long an answer may take, a commit included."""

    timeout_s: Int = Field(120, ge=1, le=3600)
    connect_timeout_s: Int = Field(30, ge=1, le=600)
    keepalive_s: Int = Field(30, ge=0, le=600)


class DataEntry(Model):
    """Settings other than credentials: whether the device is pushed to, the files of OpenSSH, and labels to filter by.

    `own` and `keep` are paths of the configuration that a push owns too, and that it leaves alone.
    """

    managed: Bool = True
    own: tuple[ConfigPath, ...] = ()
    keep: tuple[ConfigPath, ...] = ()
    known_hosts: FilePaths = ("~/.ssh/known_hosts",)
    ssh_config: FilePath = Field("~/.ssh/config", description="a file, or 'none'")
    labels: Labels = Field(default_factory=dict)


class InventoryEntry(Model):
    """The settings of every level."""

    port: Int | None = Field(None, ge=1, le=65535)
    username: Username | None = None
    password: SecretReference | None = None
    passphrase: SecretReference | None = None
    sudo_password: SecretReference | None = None
    key_file: FilePath | None = None
    agent: Bool | None = None
    options: OptionsEntry = OptionsEntry()
    data: DataEntry = DataEntry()


class GroupEntry(InventoryEntry):
    """An entry of `groups.yaml`; `groups` are groups that it belongs to itself."""

    groups: tuple[Name, ...] = ()


class HostEntry(GroupEntry):
    """An entry of `hosts.yaml`."""

    hostname: Hostname | None = None


class ApprovalEntry(Model):
    """Who approves plans: a push then needs one that a person in `allowed_signers` has signed (ssh-keygen(1))."""

    allowed_signers: FilePath


class HookEntry(Model):
    """Where to send a POST when a run starts, ends or fails, or a watch finds a change, in which form."""

    url: SecretReference
    form: Literal["json", "slack"] = "json"
    on: tuple[Literal["start", "end", "failure", "findings"], ...] = ("start", "end", "failure")


class DefaultsEntry(InventoryEntry):
    """The settings of `defaults.yaml`: those of every device, and those of the fabric."""

    approval: ApprovalEntry | None = None
    hooks: tuple[HookEntry, ...] = ()


class DefaultsFile(RootModel[Annotated[DefaultsEntry, BeforeValidator(_empty)]]):
    """The whole of `defaults.yaml`."""


class GroupsFile(RootModel[dict[Name, Annotated[GroupEntry, BeforeValidator(_empty)]]]):
    """The whole of `groups.yaml`."""


class HostsFile(RootModel[dict[Name, Annotated[HostEntry, BeforeValidator(_empty)]]]):
    """The whole of `hosts.yaml`."""


class InventoryFiles:
    """The inventory files, and what is wrong with them."""

    def __init__(self, directory: Path) -> None:
        self.problems: list[Problem] = []
        self.hints = MAX_HINTS
        self.sources: dict[str, Source] = {}
        if reason := absent(directory, "directory"):
            hint = f"give the one that holds {', '.join(reversed(FILES))}"
            raise IntentError([Problem("unreadable", Place(str(directory), 0), "", reason, hint)])
        models: tuple[type[BaseModel], ...] = (DefaultsFile, GroupsFile, HostsFile)
        defaults, groups, hosts = (
            self.read(directory / name, model) for name, model in zip(FILES, models, strict=True)
        )
        self.stop_on_problems()
        self.defaults = defaults.root if isinstance(defaults, DefaultsFile) else DefaultsEntry()
        self.groups: dict[str, GroupEntry] = groups.root if isinstance(groups, GroupsFile) else {}
        self.hosts: dict[str, HostEntry] = hosts.root if isinstance(hosts, HostsFile) else {}
        # What a plug-in of Nornir says, see nornir_plugin.py.
        self.plugin: dict[str, HostEntry] = {}

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
        # A few misspelled names are reported one by one.
        few = len(strange) < len(self.hosts) or any(did_you_mean(name, names) for name in strange[:SHOWN])
        if len(strange) > SHOWN or (len(strange) > 1 and not few):
            reason = (
                f"{len(strange)} of its {len(self.hosts)} devices, {some(strange)}, are not in the fabric {fabric}: "
                f"this is the inventory of another fabric, or of another version of it"
            )
            place = self.sources["hosts"].locate((strange[0],))
            self.problems.append(
                Problem("unknown-device", place, "", reason, "name the right directory with -i, or omit them")
            )
            self.stop_on_problems()

    def check_names(self, given: tuple[FabricDevice, ...]) -> None:
        """Note hosts that are not in the fabric, groups without devices or that do not exist, and circles."""
        names = {device.name for device in given}
        for name in self.hosts:
            if name not in names:
                hint = self.near(name, names)
                self.note("unknown-device", "hosts", (name,), "the fabric has no such device", hint)
        automatic = {group for device in given for group in automatic_groups(device)}
        used = automatic.union(*(entry.groups for entry in self.plugin.values()))
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
            reason = f"the fabric file determines the members of {group!r}"
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

    def resolved(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], InventoryEntry]:
        """Return all groups of a device, and what they and the defaults say."""
        chain = self.chain(names)
        entry: InventoryEntry = self.defaults
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
    """Remove a possible secret: a password that starts with `!` is read as a tag, which the message quotes."""
    if problem.code != "yaml-syntax" or "tag" not in problem.reason:
        return problem
    reason = "text that starts with '!' is a tag, which is not supported here"
    hint = "a secret is never written here" if problem.path.endswith(SECRET_KEYS) else "put it in quotes"
    return Problem(problem.code, problem.place, problem.path, reason, hint)
