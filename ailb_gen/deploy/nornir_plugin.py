"""`nornir.yaml`: addresses, ports, usernames and groups of devices from an inventory plug-in of Nornir, by its name.

The file has the form of Nornir's own configuration. The plug-ins of NetBox and Nautobot get their token from the
environment or the keyring, and a session that sends it to one host only; all others are called with their options.

What it says of a device is what could stand in hosts.yaml, which wins, key by key.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import nornir.core.inventory as nornir
from pydantic import Field, PlainValidator, ValidationError, WithJsonSchema

from ailb_gen.deploy.credentials import EnvironmentReference, KeyringReference, SecretCache
from ailb_gen.deploy.inventory_files import SECRET_LABEL, HostEntry, InventoryFiles
from ailb_gen.deploy.plugin_session import PluginError, guard, shown
from ailb_gen.errors import MissingExtraError, UsageError
from ailb_gen.validation import Model, distinct, wrong
from ailb_gen.wording import did_you_mean, some

FILE = "nornir.yaml"
# Nornir's name of the entry points of inventory plug-ins.
GROUP = "nornir.plugins.inventory"
# The user name of tokens in a keyring, as of `ailb-gen inventory`.
KEYRING_USER = "ailb-gen"
REFUSED = {
    "AilbInventory": "it is the plug-in of this program, which reads this file",
    "NBInventory": "it is deprecated; use NetBoxInventory2",
}


@dataclass(frozen=True, slots=True)
class TokenPlugin:
    """A plug-in that we give a token: its package, its options, our variables, and the attribute with its session.

    `fixed` are options that the user cannot set: NetBoxInventory2 would read our own files, and passwords in them.
    """

    name: str
    package: str
    url: str
    token: str
    url_variable: str
    token_variable: str
    session: str
    fixed: Mapping[str, object] = field(default_factory=dict)


SERVICES = {
    "NetBoxInventory2": TokenPlugin(
        "NetBox", "nornir-netbox", "nb_url", "nb_token", "NETBOX_URL", "NETBOX_TOKEN", "session",
        {"group_file": os.devnull, "defaults_file": os.devnull},
    ),
    "NautobotInventory": TokenPlugin(
        "Nautobot", "nornir-nautobot", "nautobot_url", "nautobot_token", "NAUTOBOT_URL", "NAUTOBOT_TOKEN", "api_session"
    ),
}  # fmt: skip


def _options(value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise wrong("wrong-type", "must be a mapping of the options of the plug-in")
    for key in value:
        if SECRET_LABEL.search(key):
            hint = (
                "a token is read from NETBOX_TOKEN or NAUTOBOT_TOKEN, or from the keyring (service URL, user ailb-gen)"
            )
            raise wrong("wrong-value", f"the option {shown(key)} would be a secret in plain text; {hint}")
    if value.get("ssl_verify") not in (None, True) and not isinstance(value["ssl_verify"], str):
        raise wrong("wrong-value", "certificates are always verified; for a private CA name its file: ssl_verify: FILE")
    return value


Options = Annotated[Any, PlainValidator(_options), WithJsonSchema({})]
# Where the data of a host has a value, such as custom_fields.netconf_port.
DataPath = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$")]


class PluginEntry(Model):
    """The plug-in and its options, as in Nornir's configuration."""

    plugin: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_.-]+$")]
    options: Options = Field(default_factory=dict)


class NornirFile(Model):
    """The whole of `nornir.yaml`; `port` and `username` say where a host's data has them, if anywhere."""

    inventory: PluginEntry
    port: DataPath | None = None
    username: DataPath | None = None


def plugin_hosts(files: InventoryFiles, directory: Path, names: Iterable[str], secrets: SecretCache) -> None:
    """Ask the plug-in of `nornir.yaml`, if there is one, and set `files.plugin`: an entry for every device by name.

    Notes devices that are not in the fabric (`names`), and values that cannot be used. Raises MissingExtraError,
    UsageError, CredentialError, and PluginError for a service that does not answer.
    """
    read = files.read(directory / FILE, NornirFile)
    files.stop_on_problems()
    if not isinstance(read, NornirFile):
        return
    entry, known = read.inventory, frozenset(names)
    if entry.plugin in REFUSED:
        files.note("wrong-value", "nornir", ("inventory", "plugin"), REFUSED[entry.plugin], f"see {FILE} in the docs")
        files.stop_on_problems()
    hosts = _load(entry, directory, secrets)
    strange = [name for name in hosts if name not in known]
    if strange:
        hint = did_you_mean(strange[0], known) or "narrow filter_parameters, for example to the tag of the fabric"
        reason = f"{entry.plugin} gives {some([shown(name) for name in strange])}, which the fabric does not have"
        files.note("unknown-device", "nornir", ("inventory", "plugin"), reason, hint)
    for name, host in hosts.items():
        if name in known:
            _note_host(files, read, name, host)
    files.stop_on_problems()


def _note_host(files: InventoryFiles, read: NornirFile, name: str, host: nornir.Host) -> None:
    """Check the entry of a plug-in for a device as if it stood in hosts.yaml."""
    where = ("inventory", "plugin")
    if host.password:
        reason = f"{read.inventory.plugin} gives {name} a password in plain text"
        hint = "remove it there; write password: {env: NAME} in defaults.yaml or groups.yaml"
        files.note("wrong-value", "nornir", where, reason, hint)
    # A device without an address has its name there, which says nothing.
    hostname = host.hostname if host.hostname != name else None
    values = {
        "hostname": hostname or None,
        "port": _found(host.data, read.port) if read.port else host.port,
        "username": _found(host.data, read.username) if read.username else host.username,
        "groups": list(dict.fromkeys(group.name for group in host.extended_groups())),
    }
    try:
        given = {key: value for key, value in values.items() if value is not None}
        files.plugin[name] = HostEntry.model_validate(given)
    except ValidationError as error:
        for row in distinct(error):
            field_name = str(row["loc"][0])
            reason = (
                f"{read.inventory.plugin} gives {name} a {field_name.rstrip('s')} that cannot be used: {row['msg']}"
            )
            files.note("wrong-value", "nornir", where, shown(reason, 400), "correct it there")


def _found(data: object, path: str) -> object:
    """Return the value at a path of keys in a host's data, None without one."""
    for key in path.split("."):
        data = data.get(key) if isinstance(data, Mapping) else getattr(data, key, None)
    return data


def _load(entry: PluginEntry, directory: Path, secrets: SecretCache) -> nornir.Hosts:
    """Call a plug-in. Raises MissingExtraError, CredentialError, PluginError."""
    service, options = SERVICES.get(entry.plugin), dict(entry.options)
    found = sorted(entry_points(group=GROUP, name=entry.plugin), key=lambda point: point.value)
    if not found:
        package = f": install {service.package}" if service else ""
        raise MissingExtraError(
            f"{directory / FILE}: no inventory plug-in of Nornir is called {entry.plugin} in this installation{package}"
        )
    if isinstance(options.get("ssl_verify"), str):
        options["ssl_verify"] = str(directory / Path(options["ssl_verify"]).expanduser())
    token = ""
    if service is not None:
        url = _url(service, options, directory)
        variable = EnvironmentReference(service.token_variable)
        reference = variable if variable.name in os.environ else KeyringReference(url, KEYRING_USER)
        token = secrets.get(reference).reveal()
        options |= {service.url: url, service.token: token, **service.fixed}
    try:
        plugin = found[0].load()(**options)
        if service is not None:
            guard(getattr(plugin, service.session), url, service.name)
        hosts: nornir.Hosts = plugin.load().hosts
    except PluginError:
        raise
    # A plug-in is code of others, which may raise anything, or leave; none of it may show the token.
    except (Exception, SystemExit) as error:  # noqa: BLE001
        text = shown(f"{type(error).__name__}: {error}".replace(token or "\0", "***"), 400)
        raise PluginError(f"{directory / FILE}: the plug-in {entry.plugin} failed: {text}") from None
    return hosts


def _url(service: TokenPlugin, options: Mapping[str, Any], directory: Path) -> str:
    """Return the URL of a service: of the options, else of the environment. Raises UsageError."""
    url = options.get(service.url) or os.environ.get(service.url_variable, "")
    where = f"{directory / FILE}: {service.url}" if options.get(service.url) else service.url_variable
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable()
    except (ValueError, AttributeError):
        right = False
    if not right or parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(f"{where}: must be like https://{service.name.lower()}.example.net, without user or password")
    return str(url).rstrip("/")
