"""Configuration, state and files, read from the devices of a fabric."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from stat import S_ISREG, S_IXUSR
from typing import Any

from lxml.etree import _Element

from ailb_gen.deploy.redact import redact_config
from ailb_gen.deploy.servers.calls import look
from ailb_gen.deploy.servers.model import HostFiles
from ailb_gen.deploy.servers.ssh import Server
from ailb_gen.deploy.switch import Switch
from ailb_gen.deploy.verify import alarms, announcing, peers
from ailb_gen.layout import SERVERS, STATE, switch_file


@dataclass(frozen=True, slots=True)
class Collected:
    """What was read of a device: its files by their names below the directory, and whom it hears over LLDP.

    `scripts` are the files that can be executed.
    """

    files: Mapping[str, bytes]
    scripts: frozenset[str] = frozenset()
    heard: tuple[Heard, ...] = ()


@dataclass(frozen=True, slots=True)
class Heard:
    """What LLDP tells of the other end of a port."""

    port: str
    system: str
    remote_port: str


def collect(name: str, switch: Switch) -> Collected:
    """Read a switch: its configuration, secrets replaced, and its state as JSON. Raises DeviceError."""
    heard = lldp(switch)
    found: dict[str, Any] = {
        "name": name,
        "neighbors": [asdict(peer) for peer in peers(switch)],
        "router_advertisements": sorted(announcing(switch)),
        "lldp": [asdict(row) for row in heard],
        "alarms": sorted(alarms(switch)),
        "commits": [asdict(commit) for commit in switch.commits()[:10]],
    }
    state = json.dumps(found, indent=1) + "\n"
    files = {
        switch_file(name): redact_config(switch.running()).encode("utf-8", "backslashreplace"),
        f"{STATE}/{name}.json": state.encode(),
    }
    return Collected(files, heard=heard)


def collect_host(name: str, server: Server) -> Collected:
    """Read the files of a server that earlier pushes put there. Raises DeviceError."""
    found = look(server, HostFiles(name, {})).found
    plain = {f"{SERVERS}/{name}/{path}": file for path, file in found.items() if S_ISREG(file.mode)}
    scripts = frozenset(path for path, file in plain.items() if file.mode & S_IXUSR)
    return Collected({path: file.content for path, file in plain.items()}, scripts)


def lldp(switch: Switch) -> tuple[Heard, ...]:
    """Read `show lldp neighbors` (get-lldp-neighbors-information)."""
    reply = switch.ask("get-lldp-neighbors-information")

    def text(entry: _Element, *names: str) -> str:
        return next((found.strip() for name in names if (found := entry.findtext(name))), "")

    return tuple(
        Heard(
            text(entry, "lldp-local-port-id", "lldp-local-interface"),
            text(entry, "lldp-remote-system-name"),
            text(entry, "lldp-remote-port-id", "lldp-remote-port-description"),
        )
        for entry in reply.iter("lldp-neighbor-information")
    )
