"""Configurations and state of a fabric in a directory that `validate` can read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ailb_gen.atomic import replace_file
from ailb_gen.deploy.redact import redact_config
from ailb_gen.deploy.verify import alarms, announcing, peers
from ailb_gen.errors import OutputError
from ailb_gen.network.read import SWITCHES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from lxml.etree import _Element

    from ailb_gen.deploy.switch import Switch

STATE = "state"
# What `collect` writes below its directory; anything else there is somebody else's.
OWN = (SWITCHES, STATE)


@dataclass(frozen=True, slots=True)
class Collected:
    """What was read of a switch: its configuration, secrets replaced, and its state as JSON."""

    name: str
    configuration: str
    state: str


def collect(name: str, switch: Switch) -> Collected:
    """Read a switch. Raises DeviceError."""
    found: dict[str, Any] = {
        "name": name,
        "neighbors": [asdict(peer) for peer in peers(switch)],
        "router_advertisements": sorted(announcing(switch)),
        "lldp": [asdict(row) for row in lldp(switch)],
        "alarms": sorted(alarms(switch)),
        "commits": [asdict(commit) for commit in switch.commits()[:10]],
    }
    return Collected(name, redact_config(switch.running()), json.dumps(found, indent=1, ensure_ascii=False) + "\n")


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


def write(directory: Path, found: Iterable[Collected]) -> list[Path]:
    """Write what was collected; every file in one step. Raises OutputError."""
    written = []
    try:
        for folder in OWN:
            (directory / folder).mkdir(parents=True, exist_ok=True)
        for one in found:
            for path, text in _files(directory, one).items():
                replace_file(path, text.encode("utf-8", "backslashreplace"))
                written.append(path)
    except OSError as error:
        raise OutputError(f"{directory}: cannot be written: {error.strerror}; {len(written)} files were") from error
    return written


def _files(directory: Path, one: Collected) -> Mapping[Path, str]:
    return {
        directory / SWITCHES / f"{one.name}.conf": one.configuration,
        directory / STATE / f"{one.name}.json": one.state,
    }
