"""The user's OpenSSH configuration, as far as it says how a device is reached.

PyEZ and ncclient each read the file again with paramiko and take different things from it: PyEZ lets its `Port` win
over the port that it was given, ncclient knows `ProxyCommand` but not `ProxyJump`. So it is read here, once.

Used: HostName, User, IdentityFile, ProxyCommand (split into words, not run by a shell), ProxyJump. Not used: Port,
UserKnownHostsFile, StrictHostKeyChecking and HostKeyAlias, because the inventory says these. `Include` is refused:
paramiko does not follow it, and half a configuration would lead elsewhere than `ssh` does.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path

import paramiko
from paramiko.ssh_exception import ConfigParseError, CouldNotCanonicalize

from ailb_gen.errors import DeployError


class SshConfigError(DeployError):
    """The user's ssh_config cannot be used."""


@dataclass(frozen=True, slots=True)
class SshRoute:
    """Connection data of a host: its real name or address, and the values from ssh_config; empty if it has none."""

    hostname: str
    user: str = ""
    identity_files: tuple[Path, ...] = ()
    proxy_command: str = ""


def read_ssh_config(path: Path | None) -> str:
    """Return the text of a configuration; empty for None and for a file that is not there. Raises SshConfigError."""
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise SshConfigError(f"{path}: cannot be read: {reason}; 'ssh_config: none' goes without") from error


def route(text: str, path: Path | None, hostname: str, port: int) -> SshRoute:
    """Look up a host as written in the inventory. Raises SshConfigError."""
    if not text:
        return SshRoute(hostname)
    try:
        # The first value wins, so that %p in a ProxyCommand is the port that is meant.
        found = paramiko.SSHConfig.from_text(f"Port {port}\n{text}").lookup(hostname)
    except (ConfigParseError, CouldNotCanonicalize, ImportError, ValueError, KeyError, OSError) as error:
        hint = "mend it, or name another file under data.ssh_config; 'none' goes without"
        raise SshConfigError(f"{path}: cannot be used for {hostname}: {error}; {hint}") from error
    if "include" in found:
        hint = "name a file without it under data.ssh_config; 'none' goes without"
        raise SshConfigError(f"{path}: 'Include' is not supported; {hint}")
    return SshRoute(
        hostname=found["hostname"],
        user=found.get("user") or "",
        identity_files=tuple(Path(name).expanduser() for name in found.get("identityfile") or ()),
        proxy_command=_proxy(found, path, port),
    )


def _proxy(found: paramiko.SSHConfigDict, path: Path | None, port: int) -> str:
    """Return the command that stands for the connection; of ProxyCommand and ProxyJump the first counts."""
    kind = next((key for key in found if key in ("proxycommand", "proxyjump")), "")
    value = found.get(kind) or ""
    if not value or value.lower() == "none":
        return ""
    if kind == "proxycommand":
        return value
    *before, last = (hop.strip() for hop in value.split(","))
    words = ["ssh", "-o", "BatchMode=yes"]
    if path is not None and path != Path("~/.ssh/config").expanduser():
        words += ["-F", str(path)]
    if before:
        words += ["-J", ",".join(before)]
    hop = last if last.startswith("ssh://") else f"ssh://{last}"
    return shlex.join([*words, "-W", f"[{found['hostname']}]:{port}", "--", hop])
