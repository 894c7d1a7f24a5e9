"""What is asked of the software of one Junos device, and done to it: PyEZ's SW on the session of a driver.

Importing PyEZ patches `json` and PyYAML for the whole process: nothing imports this module before it connects.
"""

import math
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import paramiko
from jnpr.junos.utils.sw import SW
from paramiko.ssh_exception import SSHException
from scp import SCPClient, SCPException

from ailb_gen.deploy.drivers import ask, translated
from ailb_gen.deploy.host_keys import SSH_PORT
from ailb_gen.deploy.junos_release import package_of
from ailb_gen.deploy.login import SshReach, log_in
from ailb_gen.deploy.switch_driver import (
    NUMBER,
    DeviceError,
    Phase,
    RequestRefusedError,
    UnknownOutcomeError,
    unreadable,
)

DIRECTORY = "/var/tmp"  # noqa: S108 - of the device
# The port of NETCONF alone: there, sshd of Junos has no scp.
NETCONF_PORT = 830
# Seconds that a device has to compute the checksum of two gigabytes.
CHECKSUM_S = 600
# A size as `show system storage` prints it, in bytes by letter; without one a block has 512 bytes.
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)i?")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
BLOCK = 512
# Where the file system of /var/tmp may be mounted, under other names.
ALIASES = ("/.mount", "/data")
# How scp says that the other end hung up, or is silent.
HUNG_UP = ("No response from server", "Channel closed", "Timeout waiting")
# A row of `show system software list` about the release that boots next.
NEXT = re.compile(r"^\s*>\s+(\S+)\s", re.MULTILINE)


class OpenDriver(Protocol):
    """What both drivers are while their session is open."""

    reach: SshReach
    device: Any

    @property
    def name(self) -> str:
        """The device's name in the inventory."""


@dataclass(frozen=True, slots=True)
class RunningSoftware:
    """What a device runs: its release, the family of its package (empty: unknown), when it booted (seconds since 1970).

    `following` is the release that boots next, if another; `refused` says why this program does not change it.
    """

    release: str
    family: str
    booted: int
    following: str
    refused: str


class DeviceSoftware:
    """The software of a device; every method raises DeviceError."""

    def __init__(self, driver: OpenDriver) -> None:
        self._driver, self._device, self._name = driver, driver.device, driver.name

    def running(self) -> RunningSoftware:
        """Ask for all that is known of the software."""
        with translated(self._name, Phase.READ, "get-software-information"):
            facts = {name: self._device.facts[name] for name in ("junos_info", "2RE", "vmhost", "_is_linux", "version")}
        engines, release = facts["junos_info"] or {}, str(facts["version"] or "")
        if not engines or not release:
            raise unreadable(self._name, Phase.READ, "get-software-information", "there is no release in it")
        refused = ""
        if len(engines) > 1 or facts["2RE"]:
            names = ", ".join(sorted(engines))
            refused = f"it has several routing engines or members of a virtual chassis ({names}), which need an order"
        elif facts["vmhost"]:
            refused = "its Junos runs on a VM host, which has software of its own"
        # Packages of Junos OS have names that say nothing of its image.
        family, following = (self._family(), self._following()) if facts["_is_linux"] else ("", "")
        return RunningSoftware(release, family, self._booted(), following, refused)

    def _family(self) -> str:
        reply = ask(self._device, self._name, Phase.READ, "get-software-information")
        return next((family for one in reply.iter("name") if (family := package_of((one.text or "").strip())[0])), "")

    def _booted(self) -> int:
        reply = ask(self._device, self._name, Phase.READ, "get-system-uptime-information")
        for one in reply.iter("system-booted-time"):
            seconds = next((when.get("seconds", "") for when in one.iter("date-time")), "")
            if NUMBER.fullmatch(seconds):
                return int(seconds)
        raise unreadable(self._name, Phase.READ, "get-system-uptime-information", "there is no time of the boot in it")

    def _following(self) -> str:
        """Return the release of Junos OS Evolved that boots next, empty where it is the one that runs."""
        with translated(self._name, Phase.READ, "show system software list"):
            reply = self._device.rpc.cli("show system software list", format="text")
        text = reply if isinstance(reply, str) else "".join(reply.itertext())
        found = NEXT.search(text)
        return package_of(found[1])[1] if found is not None else ""

    def free_bytes(self) -> int | None:
        """Return what is free where images are copied to; None where no file system shows that."""
        reply = ask(self._device, self._name, Phase.READ, "get-system-storage")
        found: dict[str, int] = {}
        for one in reply.iter("filesystem"):
            mounted = (one.findtext("mounted-on") or "").strip()
            for alias in ALIASES:
                mounted = mounted.removeprefix(alias) or "/"
            blocks = one.find("available-blocks")
            size = _bytes(blocks.get("format") or "", blocks.text or "") if blocks is not None else None
            if size is not None and f"{DIRECTORY}/".startswith(f"{mounted.rstrip('/')}/"):
                found[mounted] = size
        return found[max(found, key=len)] if found else None

    def digest(self, name: str) -> str:
        """Return the SHA-256 of a copied file; empty if there is none."""
        with translated(self._name, Phase.READ, "get-sha256-checksum-information"):
            found = SW(self._device).remote_checksum(f"{DIRECTORY}/{name}", timeout=CHECKSUM_S, algorithm="sha256")
        return (found or "").strip().lower()

    def copy(self, path: Path, advance: Callable[[int], None]) -> None:
        """Copy a file by SCP, over a login of its own; `advance` counts bytes."""
        sent = 0

        def note(_name: bytes, _size: int, so_far: int) -> None:
            nonlocal sent
            advance(so_far - sent)
            sent = so_far

        reach = _scp_reach(self._driver.reach)
        client, connection = log_in(reach)
        connection.limit(None)
        with closing(connection), closing(client):
            transport = client.get_transport()
            if transport is None:
                raise UnknownOutcomeError(self._name, Phase.COPY, "the session was lost")
            transport.set_keepalive(reach.keepalive_s)
            try:
                with closing(SCPClient(transport, socket_timeout=reach.timeout_s, progress=note)) as scp:
                    scp.put(str(path), f"{DIRECTORY}/{path.name}")
            except SCPException as error:
                if str(error).startswith(HUNG_UP):
                    raise UnknownOutcomeError(self._name, Phase.COPY, "the session was lost") from error
                raise RequestRefusedError(self._name, Phase.COPY, " ".join(str(error).split()) or "refused") from error
            except TimeoutError as error:
                raise UnknownOutcomeError(self._name, Phase.COPY, "no answer in time") from error
            except (SSHException, EOFError, OSError) as error:
                reason = f"the session was lost, or {path} cannot be read"
                raise UnknownOutcomeError(self._name, Phase.COPY, reason) from error

    def install(self, name: str, validate: bool, seconds: float) -> str:
        """Install a copied image; return what the device says where it refuses, empty for success."""
        with translated(self._name, Phase.INSTALL, "request-package-add"):
            # Without `no-validate` Junos compares the configuration with the new release first.
            done, text = SW(self._device).pkgadd(
                f"{DIRECTORY}/{name}", no_validate=not validate, dev_timeout=math.ceil(seconds), ignore_warning=True
            )
        return "" if done else " ".join(str(text).split()) or "it gives no reason"

    def reboot(self) -> None:
        """Restart the device at once."""
        with translated(self._name, Phase.REBOOT, "request-reboot"):
            SW(self._device).reboot()


def _scp_reach(reach: SshReach) -> SshReach:
    """Return how SCP reaches a device: by the same port, or by SSH's own where NETCONF's has nothing else.

    The host keys are those of the same device.
    """
    if reach.port != NETCONF_PORT:
        return reach
    if reach.proxy_command:
        text = f"its way in ssh_config leads to port {NETCONF_PORT}, where there is no SCP"
        raise DeviceError(reach.name, Phase.COPY, text, "write 'port: 22' in hosts.yaml: NETCONF is there, too")
    keys = paramiko.HostKeys()
    for known in reach.known_hosts.values():
        for kind, key in known.items():
            keys.add(reach.hostname, kind, key)
    return replace(reach, port=SSH_PORT, known_hosts=keys)


def _bytes(shown: str, blocks: str) -> int | None:
    """Return a size in bytes, as it is shown or by its blocks; None where neither is a number."""
    found = SIZE.fullmatch(shown.strip())
    if found is not None:
        return int(float(found[1]) * UNITS[found[2]])
    return int(blocks) * BLOCK if NUMBER.fullmatch(blocks.strip()) else None
