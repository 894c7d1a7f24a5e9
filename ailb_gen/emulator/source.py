"""The artifact directory that a fleet starts from, and the inventory of its devices."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from hashlib import sha256, sha512
from pathlib import Path

import asyncssh
import yaml

from ailb_gen.atomic import replace_file
from ailb_gen.background import INVENTORY_HEADLINE, refuse_artifacts
from ailb_gen.emulator.device import MODEL, NATIVE_BPS, VERSION, Spec
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.load_config import load
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.intent.platforms import shipped, shipped_names
from ailb_gen.junos.reader import read_curly, read_file
from ailb_gen.junos.tree import Node
from ailb_gen.layout import SERVERS, SWITCHES, TOPOLOGY
from ailb_gen.network.model import GIGABIT
from ailb_gen.network.topology import read_topology
from ailb_gen.paths import real

# A public key of OpenSSH, wherever it stands in a line.
KEY = re.compile(r"(?:ssh-|ecdsa-sha2-|sk-ssh-|sk-ecdsa-)\S+ [A-Za-z0-9+/=]+")
HOSTS, KNOWN_HOSTS = "hosts.yaml", "known_hosts"
INVENTORY_FILES = (HOSTS, "defaults.yaml", KNOWN_HOSTS)
# The certificate by which clients of gNMI verify the devices.
GNMI_CA = "gnmi-ca.pem"
# The platform that is no model.
GENERIC = "generic"
SECRET = "password"  # noqa: S105 - the name of a file
# The configuration of a device before that of a fabric: a name, logins with secrets, services, management.
FACTORY = """\
system {{
    host-name {name};
    root-authentication {{
        encrypted-password "{root}";
    }}
    login {{
        user {user} {{
            uid 2000;
            class super-user;
            authentication {{
                encrypted-password "{admin}";
            }}
        }}
    }}
    services {{
        netconf {{
            ssh;
        }}
        ssh;
    }}
}}
"""


def specs(root: Path, user: str, loaded: bool) -> tuple[Spec, ...]:
    """Return the switches of an artifact directory by name.

    They start with a factory configuration; `loaded`, with their artifacts on top of it. Raises UsageError for a
    directory without switches, JunosSyntaxError for a file that cannot be read.
    """
    files = sorted((root / SWITCHES).glob("*.conf"))
    if not files:
        raise UsageError(f"{root}: no {SWITCHES}/*.conf there; name a directory that 'ailb-gen generate' wrote")
    models = _models(root)
    return tuple(
        Spec(file.stem, _start(file, user, loaded), *models.get(file.stem, (MODEL, VERSION, NATIVE_BPS)))
        for file in files
    )


def _models(root: Path) -> dict[str, tuple[str, str, int]]:
    """Return the model, its software and the speed of its ports, for every device whose platform is a model of Juniper.

    A topology that is missing or cannot be read names none; whoever needs it for more says so.
    """
    path = root / TOPOLOGY
    if not path.is_file():
        return {}
    found = {}
    for record in read_topology(path.read_text(encoding="utf-8", errors="replace")).records:
        platform = record.fields.get("platform") if record.kind == "device" else None
        if isinstance(platform, str) and platform in shipped_names() and platform != GENERIC:
            native = shipped(platform).port_groups[0].native
            found[record.key] = (platform.upper(), VERSION, native * GIGABIT)
    return found


def _start(file: Path, user: str, loaded: bool) -> Node:
    tree = factory(file.stem, user)
    return load(tree, read_file(file), "merge") if loaded else tree


def factory(name: str, user: str) -> Node:
    """Return the factory configuration of a device: the same for the same names."""
    text = FACTORY.format(name=name, user=user, root=_hash(f"{name} root"), admin=_hash(f"{name} {user}"))
    return load(Node(""), read_curly(text), "override")


def _hash(seed: str) -> str:
    """Return a well-formed hash of crypt(5) that no password has."""
    digest = sha512(seed.encode()).hexdigest()
    return f"$6${digest[:16]}${digest[16:102]}"


def servers(root: Path) -> tuple[str, ...]:
    """Return the names of the servers of an artifact directory."""
    folder = root / SERVERS
    return tuple(sorted(path.name for path in folder.iterdir() if path.is_dir())) if folder.is_dir() else ()


def password_of(environment: Mapping[str, str], variable: str) -> tuple[str, bool]:
    """Return the password of the environment, or a new one; and whether it is new."""
    given = environment.get(variable, "")
    return (given, False) if given else (secrets.token_urlsafe(18), True)


def public_keys(path: Path) -> tuple[asyncssh.SSHKey, ...]:
    """Read a file of public keys, one a line as in `authorized_keys`; options in front count for nothing.

    Raises UsageError.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not a text file; name a file of public keys, such as id_ed25519.pub") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    keys = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip()[0] == "#":
            continue
        found = KEY.search(line)
        try:
            if found is None:
                raise asyncssh.KeyImportError("no public key")
            keys.append(asyncssh.import_public_key(found[0]))
        except asyncssh.KeyImportError as error:
            raise UsageError(f"{path}:{number}: {error}; write a line as in id_ed25519.pub") from error
    if not keys:
        raise UsageError(f"{path}: no public key in it")
    return tuple(keys)


def check_inventory(directory: Path) -> None:
    """Check that an inventory can be written without overwriting other files. Raises OutputError, UsageError.

    A file is this program's own while its first line holds the digest of the others. `known_hosts` may have lost and
    got keys of the emulated devices, as by `ssh-keygen -R` and `--accept-new-hostkeys`.
    """
    refuse_artifacts(directory)
    own = [_is_own(directory / name) for name in (*INVENTORY_FILES, GNMI_CA)]
    if (directory / SECRET).exists() and not any(own):
        raise OutputError(f"{directory / SECRET}: 'ailb-gen emulate' did not write this; choose another directory")


def _is_own(path: Path) -> bool:
    """Return whether a file was written by an emulation; False when there is none. Raises OutputError for any other."""
    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror}") from error
    if head == _headline(body):
        return True
    if path.name == KNOWN_HOSTS and head.startswith(INVENTORY_HEADLINE) and _are_listed(path.with_name(HOSTS), body):
        return True
    what = (
        "it was edited since 'ailb-gen emulate' wrote it"
        if head.startswith(INVENTORY_HEADLINE)
        else "an emulator did not write it"
    )
    raise OutputError(f"{path}: {what}, and would be overwritten; choose another directory, or move it away")


def _are_listed(hosts: Path, known: bytes) -> bool:
    """Return whether every host of a known_hosts file is a device of hosts.yaml, which an emulator wrote."""
    if not _is_own(hosts):
        return False
    devices = yaml.safe_load(hosts.read_bytes()) or {}
    names = {f"[{one['hostname']}]:{one['port']}".encode() for one in devices.values() if "port" in one}
    return all(line.split()[0] in names for line in known.splitlines() if line.strip())


def _headline(body: bytes) -> bytes:
    return INVENTORY_HEADLINE + sha256(body).hexdigest().encode()


def entries(fleet: Fleet, ports: Mapping[str, int] | None = None) -> dict[str, object]:
    """Return the entries of a fleet's devices for `hosts.yaml`; `ports` if they are not reached by the fleet's own."""
    reached = ports if ports is not None else {name: fleet.port(name) for name in fleet.devices}
    return {name: {"hostname": fleet.address, "port": port} for name, port in reached.items()}


def unmanaged(names: Sequence[str]) -> dict[str, object]:
    """Return the entries of devices that cannot be reached."""
    return {name: {"data": {"managed": False}} for name in names}


def write_inventory(
    directory: Path,
    hosts: Mapping[str, object],
    known_hosts: str,
    user: str,
    variable: str,
    password: str = "",
    gnmi_ca: bytes = b"",
) -> None:
    """Write hosts.yaml, defaults.yaml and known_hosts; with `gnmi_ca`, the certificate of gNMI, also that.

    The login refers to the environment variable, or to a file that only the owner may read, with `password`. Raises
    OutputError, also where other files would be overwritten.
    """
    check_inventory(directory)
    secret = directory / SECRET
    reference = {"command": ["cat", str(real(secret))]} if password else {"env": variable}
    defaults = {
        "username": user,
        "password": reference,
        "agent": False,
        "data": {"known_hosts": "known_hosts", "ssh_config": "none"},
    }
    texts = (
        yaml.safe_dump(dict(hosts), sort_keys=False),
        yaml.safe_dump(defaults, sort_keys=False),
        known_hosts,
    )
    contents = dict(zip(INVENTORY_FILES, (text.encode() for text in texts), strict=True))
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, body in (contents | ({GNMI_CA: gnmi_ca} if gnmi_ca else {})).items():
            replace_file(directory / name, _headline(body) + b"\n" + body)
        if not gnmi_ca:
            # One of an emulation before is of no use.
            (directory / GNMI_CA).unlink(missing_ok=True)
        if password:
            # It is made unreadable for others before anything is in it.
            secret.touch(0o600)
            secret.chmod(0o600)
            replace_file(secret, f"{password}\n".encode())
    except OSError as error:
        raise OutputError(
            f"{error.filename or directory}: the inventory cannot be written: {error.strerror}"
        ) from error


def ready_line(fleet: Fleet, inventory: Path | None) -> str:
    """Return the line of JSON that announces a fleet that can be reached."""
    ports = {name: fleet.port(name) for name in fleet.devices}
    ready: dict[str, object] = {
        "ready": True,
        "address": fleet.address,
        "ports": ports,
        "inventory": str(inventory or ""),
    }
    if gnmi := fleet.gnmi_ports():
        ca = str(inventory / GNMI_CA) if inventory is not None and fleet.gnmi_certificate else ""
        ready |= {"gnmi": gnmi, "gnmi_ca": ca}
    return json.dumps(ready)
