"""Configurations and state of a fabric in a directory that `validate` can read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from ailb_gen.atomic import replace_file
from ailb_gen.deploy.redact import redact_config
from ailb_gen.deploy.servers.model import HostFiles
from ailb_gen.deploy.servers.push import look
from ailb_gen.deploy.verify import alarms, announcing, peers
from ailb_gen.errors import OutputError
from ailb_gen.hosts.read import SERVERS
from ailb_gen.network.read import SWITCHES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from lxml.etree import _Element

    from ailb_gen.deploy.servers.ssh import Server
    from ailb_gen.deploy.switch import Switch

STATE = "state"
# Where files go, below the directory, and what is in them.
Files = dict[str, bytes]


def collect(name: str, switch: Switch) -> Files:
    """Read a switch: its configuration, secrets replaced, and its state as JSON. Raises DeviceError."""
    found: dict[str, Any] = {
        "name": name,
        "neighbors": [asdict(peer) for peer in peers(switch)],
        "router_advertisements": sorted(announcing(switch)),
        "lldp": [asdict(row) for row in lldp(switch)],
        "alarms": sorted(alarms(switch)),
        "commits": [asdict(commit) for commit in switch.commits()[:10]],
    }
    state = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    return {
        f"{SWITCHES}/{name}.conf": redact_config(switch.running()).encode("utf-8", "backslashreplace"),
        f"{STATE}/{name}.json": state.encode("utf-8", "backslashreplace"),
    }


def collect_host(name: str, server: Server) -> Files:
    """Read the files of a server that earlier pushes put there. Raises DeviceError."""
    found = look(server, HostFiles(name, {})).found
    return {f"{SERVERS}/{name}/{path}": file.content for path, file in found.items() if S_ISREG(file.mode)}


@dataclass(frozen=True, slots=True)
class Heard:
    """What LLDP tells of the other end of a port."""

    port: str
    system: str
    remote_port: str


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


def write(directory: Path, found: Iterable[Files]) -> int:
    """Write what was collected, every file in one step; return how many. Raises OutputError."""
    count = 0
    try:
        for files in found:
            for name, content in files.items():
                path = directory / name
                path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(path, content)
                count += 1
    except OSError as error:
        raise OutputError(f"{directory}: cannot be written: {error.strerror}; {count} files were") from error
    return count
