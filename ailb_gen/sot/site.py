"""The devices, ports and cables of a site as a source of truth has them, read as a whole before anything is made."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ailb_gen.progress import Progress, quiet
from ailb_gen.sot.dialect import Dialect, SourceError, SourceScope, Stored
from ailb_gen.sot.records import Ref, Value, cable_ends
from ailb_gen.wording import clean, some

KINDS = ("device", "interface", "mac-address", "cable")
# How much of a name from outside a message shows.
SHOWN = 80


class SitePort(NamedTuple):
    """A port of a device."""

    device: str
    name: str

    def __str__(self) -> str:
        return f"{shown(self.device)} {shown(self.name)}"


class SiteCable(NamedTuple):
    """A cable between two ports, with its status and the fabric's color."""

    a: SitePort
    b: SitePort
    status: str
    color: str

    def other(self, end: SitePort) -> SitePort:
        """Return the end that is not `end`."""
        return self.b if end == self.a else self.a


def shown(name: str) -> str:
    """Return a name from outside as a message may show it."""
    text = clean(name)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


@dataclass(frozen=True, slots=True)
class Site:
    """A site: devices by name, ports, the MAC addresses of ports (the primary one first), and cables by port.

    `service` is how the source of truth is called. Devices of other sites that have the fabric's tag are left out.
    """

    service: str
    name: str
    devices: Mapping[str, Sequence[Stored]]
    ports: Mapping[str, Mapping[str, Stored]]
    macs: Mapping[SitePort, Sequence[str]]
    cables: Mapping[SitePort, Sequence[SiteCable]]

    def port(self, port: SitePort) -> Mapping[str, Value] | None:
        """Return the fields of a port, or None where it is not there."""
        stored = self.ports.get(port.device, {}).get(port.name)
        return stored.record.fields if stored else None

    def field(self, device: str, name: str) -> str:
        """Return a field of a device as text; of a reference the last part of its key."""
        value = self.devices[device][0].record.fields.get(name)
        return value.key[-1] if isinstance(value, Ref) else str(value or "")

    def context(self, device: str) -> Mapping[str, object]:
        """Return our part of the context of a device, empty where it has none."""
        text = self.field(device, "context")
        data = json.loads(text) if text else {}
        ours = data.get("ailb") if isinstance(data, dict) else None
        return ours if isinstance(ours, dict) else {}

    def cables_of(self, device: str) -> list[tuple[SitePort, SiteCable]]:
        """Return the cables of a device with the port that each ends at, by port."""
        ports = (SitePort(device, name) for name in sorted(self.ports.get(device, {})))
        return [(port, cable) for port in ports for cable in self.cables.get(port, ())]


def read_site(dialect: Dialect, scope: SourceScope, progress: Progress = quiet) -> Site:
    """Read the devices of a site with their ports, MAC addresses and cables.

    Raises SourceError, also for answers that do not belong together: a token that may see a part, or changes meanwhile.
    """
    rows: dict[str, list[Stored]] = {kind: [] for kind in KINDS}
    kinds = [kind for kind in KINDS if kind in dialect.kinds()]
    with progress("reading", 0) as advance:
        for stored in dialect.read(kinds, scope):
            rows[stored.record.kind].append(stored)
            advance(1)
    everything: dict[str, list[Stored]] = defaultdict(list)
    for stored in rows["device"]:
        everything[stored.record.key[0]].append(stored)
    devices = {
        name: here
        for name, row in sorted(everything.items())
        if (here := [one for one in row if one.record.fields.get("site") == Ref("site", (scope.site,))])
    }
    ports: dict[str, dict[str, Stored]] = defaultdict(dict)
    for stored in rows["interface"]:
        ports[stored.record.key[0]][stored.record.key[1]] = stored
    # Other cables end at a patch panel or a circuit, or at more than two ports.
    cables = tuple(_cable(one) for one in rows["cable"] if one.record.fields["ends"] == cable_ends(one.record.key))
    owners = [SitePort(*one.record.key[:2]) for one in rows["mac-address"]]
    _check_whole(dialect.name, everything.keys(), devices.keys(), ports, owners, cables)
    by_port: dict[SitePort, list[SiteCable]] = defaultdict(list)
    for cable in sorted(set(cables)):
        by_port[cable.a].append(cable)
        by_port[cable.b].append(cable)
    return Site(dialect.name, scope.site, devices, ports, _macs(rows["mac-address"], ports), by_port)


def _cable(stored: Stored) -> SiteCable:
    key, fields = stored.record.key, stored.record.fields
    ends = SitePort(*key[:2]), SitePort(*key[2:])
    return SiteCable(*ends, str(fields.get("status") or ""), str(fields.get("color") or ""))


def _macs(rows: Sequence[Stored], ports: Mapping[str, Mapping[str, Stored]]) -> Mapping[SitePort, Sequence[str]]:
    found: dict[SitePort, list[str]] = defaultdict(list)
    for stored in rows:
        found[SitePort(*stored.record.key[:2])].append(stored.record.key[2])
    for device, row in ports.items():
        for name, stored in row.items():
            if isinstance(primary := stored.record.fields.get("primary_mac"), Ref):
                others = [mac for mac in found.get(SitePort(device, name), ()) if mac != primary.key[-1]]
                found[SitePort(device, name)] = [primary.key[-1], *sorted(others)]
    return found


# Why answers may not belong together.
PARTLY = "the token may see only a part, or something changed meanwhile; check its permissions, and run it again"


def _check_whole(
    service: str,
    everything: Collection[str],
    devices: Collection[str],
    ports: Mapping[str, Mapping[str, Stored]],
    owners: Sequence[SitePort],
    cables: Sequence[SiteCable],
) -> None:
    """Check that ports, and those that have MAC addresses and cables, are of devices and ports that were read.

    `everything` are also devices of other sites that have the fabric's tag, whose ports are not read.
    """
    if devices and not ports:
        raise SourceError(f"{service} shows devices, but none of their interfaces: {PARTLY}")
    if lost := sorted(ports.keys() - set(everything)):
        raise SourceError(f"{service} hides devices whose interfaces it shows ({some(map(shown, lost))}): {PARTLY}")
    ends = [end for cable in cables for end in (cable.a, cable.b)]
    for what, row in (("a MAC address", owners), ("a cable", ends)):
        if hidden := sorted(
            {one for one in row if one.device in devices and one.name not in ports.get(one.device, {})}
        ):
            raise SourceError(f"{service} hides interfaces that have {what} ({some(hidden)}): {PARTLY}")
