"""The models of `hosts.yaml`, `groups.yaml` and `defaults.yaml`: settings for connecting to a device.

No message here repeats a value where a secret belongs: a password that was written there must not get into a log.
"""

import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, RootModel, WithJsonSchema

from ailb_gen.deploy.credentials import Command, Environment, Keyring, Reference
from ailb_gen.validation import Bool, Int, Model, Name, checked_name, wrong

SECRET_KEYS = ("password", "passphrase", "sudo_password")
HOW = "write {env: NAME}, {keyring: {service: S, username: U}} or {command: [PROGRAM, ARGUMENT, ...]}"
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
# A DNS name; PyEZ (jnpr/junos/device.py, _HOSTNAME_RE) takes no other.
HOSTNAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
# Keys that people put passwords under, where anything may stand.
SECRET_LABEL = re.compile(r"pass|secret|token|credential|private", re.IGNORECASE)


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable() and len(value) <= 1000


def _environment(value: object) -> Environment:
    if not isinstance(value, str) or not VARIABLE.fullmatch(value):
        raise wrong("wrong-value", "'env' takes the name of an environment variable: letters, digits and '_'")
    return Environment(value)


def _keyring(value: object) -> Keyring:
    if not isinstance(value, dict) or set(value) != {"service", "username"} or not all(map(_text, value.values())):
        raise wrong("wrong-value", "'keyring' takes {service: S, username: U}, both text")
    return Keyring(value["service"], value["username"])


def _command(value: object) -> Command:
    if not isinstance(value, list) or not value or not all(map(_text, value)):
        raise wrong("wrong-value", "'command' takes a list of text: the program and its arguments; no shell runs it")
    return Command(tuple(value))


REFERENCES: dict[str, Callable[[object], Reference]] = {"env": _environment, "keyring": _keyring, "command": _command}


def _reference(value: object) -> Reference:
    """Read a reference to a secret."""
    if not isinstance(value, dict):
        raise wrong("wrong-value", f"write only where the secret is stored, never the secret itself; {HOW}")
    if len(value) != 1 or not set(value) <= set(REFERENCES):
        raise wrong("wrong-value", f"exactly one reference is needed; {HOW}")
    ((kind, what),) = value.items()
    return REFERENCES[kind](what)


def _username(value: object) -> str | Environment:
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
        raise wrong("wrong-value", "'~' means only your own home folder; write the full path")
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
Secret = Annotated[Any, PlainValidator(_reference), ANYTHING]
Username = Annotated[Any, PlainValidator(_username), ANYTHING]
Hostname = Annotated[Any, PlainValidator(_hostname), ANYTHING]
FilePath = Annotated[Any, PlainValidator(_path), ANYTHING]
FilePaths = Annotated[Any, PlainValidator(_paths), ANYTHING]
Labels = Annotated[Any, PlainValidator(_labels), ANYTHING]


class Options(Model):
    """Times of a connection in seconds; `timeout_s` is how long an answer may take, a commit included."""

    timeout_s: Int = Field(120, ge=1, le=3600)
    connect_timeout_s: Int = Field(30, ge=1, le=600)
    keepalive_s: Int = Field(30, ge=0, le=600)


class Data(Model):
    """Settings besides credentials: whether the device is pushed to, the files of OpenSSH, and labels to filter by.

    `own` and `keep` are paths of the configuration that a push owns too, and that it leaves alone.
    """

    managed: Bool = True
    own: tuple[ConfigPath, ...] = ()
    keep: tuple[ConfigPath, ...] = ()
    known_hosts: FilePaths = ("~/.ssh/known_hosts",)
    ssh_config: FilePath = Field("~/.ssh/config", description="a file, or 'none'")
    labels: Labels = Field(default_factory=dict)


class Entry(Model):
    """The settings of every level."""

    port: Int | None = Field(None, ge=1, le=65535)
    username: Username | None = None
    password: Secret | None = None
    passphrase: Secret | None = None
    sudo_password: Secret | None = None
    key_file: FilePath | None = None
    agent: Bool | None = None
    options: Options = Options()
    data: Data = Data()


class Group(Entry):
    """An entry of `groups.yaml`; `groups` are groups that it belongs to itself."""

    groups: tuple[Name, ...] = ()


class Host(Group):
    """An entry of `hosts.yaml`."""

    hostname: Hostname | None = None


class Approval(Model):
    """Who approves plans: a push then needs one that a person in `allowed_signers` has signed (ssh-keygen(1))."""

    allowed_signers: FilePath


class FabricDefaults(Entry):
    """The settings of `defaults.yaml`: those of every device, and those of the fabric."""

    approval: Approval | None = None


class Defaults(RootModel[Annotated[FabricDefaults, BeforeValidator(_empty)]]):
    """The whole of `defaults.yaml`."""


class Groups(RootModel[dict[Name, Annotated[Group, BeforeValidator(_empty)]]]):
    """The whole of `groups.yaml`."""


class Hosts(RootModel[dict[Name, Annotated[Host, BeforeValidator(_empty)]]]):
    """The whole of `hosts.yaml`."""
