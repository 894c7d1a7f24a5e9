"""Conflicts between the intent and a source of truth, object by object, as findings of the checks AILBS.

What the intent does not say (a MAC address, a management address, servers of a CSV file that is not there yet) is in
no conflict with anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ailb_gen.checks.catalogue import OF_SOURCE, checks_of
from ailb_gen.checks.families.source import (
    CABLE,
    FOREIGN,
    INTERFACE,
    MAC,
    MANAGEMENT,
    MISSING,
    PLACE,
    ROLE,
    STATUS,
)
from ailb_gen.checks.model import Findings, Result
from ailb_gen.sot.pull import KnownDevice, Pulled, PulledServer, is_port
from ailb_gen.sot.records import Ref, SourceRecord
from ailb_gen.sot.site import Site, SiteCable, SitePort, shown
from ailb_gen.wording import some

# Fields of a device that say the same as the intent.
SAME = {"role": "role", "type": "device type", "platform": "platform"}
IN_SERVICE = {"device": "active", "cable": "connected"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared: the site, what the intent says, the records of its design, what was pulled.

    `servers_known` is whether the intent lists the servers; without, none is foreign. `cables_known` is whether the
    file of cables that it reads can be used; without, the ports of the intent are not those of the fabric.
    """

    site: Site
    known: KnownDevice
    desired: tuple[SourceRecord, ...]
    pulled: Pulled
    servers_known: bool = True
    cables_known: bool = True

    def of(self, kind: str) -> Iterator[SourceRecord]:
        """Yield the records of a kind that the design computes, of devices that are there."""
        for record in self.desired:
            if record.kind == kind and record.key[0] in self.site.devices:
                yield record


def conflicts(compared: Comparison) -> tuple[Result, ...]:
    """Return the results of all checks."""
    found = Findings()
    for check in (_devices, _foreign, _interfaces, _cables, _macs, _management, _places):
        check(compared, found)
    return tuple(found.results(checks_of(OF_SOURCE)))


def _devices(on: Comparison, found: Findings) -> None:
    site = on.site
    for record in on.desired:
        if record.kind != "device":
            continue
        name = record.key[0]
        found.look(MISSING)
        rows = site.devices.get(name, ())
        if not rows:
            twin = next((other for other in site.devices if other.lower() == name.lower()), None)
            hint = f"; it has {shown(twin)}" if twin else ""
            found.add(MISSING, name, f"{site.service} has no device {name} in site {shown(site.name)}{hint}")
            continue
        if len(rows) > 1:
            found.add(MISSING, name, f"{site.service} has {len(rows)} devices with the name {name}")
        kind = on.known.kinds.get(name)
        for key, what in SAME.items():
            value, wanted = site.field(name, key), _last(record.fields.get(key))
            found.look(ROLE)
            if value != wanted and not (key == "role" and kind and value == kind):
                text = f"{what} of {name} is {shown(value) or 'not set'}, not {wanted}"
                found.add(ROLE, name, text, expected=wanted, found=shown(value), part=what)
        _status(found, "device", name, "", name, site.field(name, "status"))


def _last(value: object) -> str:
    return value.key[-1] if isinstance(value, Ref) else str(value or "")


def _status(found: Findings, kind: str, device: str, part: str, what: str, status: str) -> None:
    found.look(STATUS)
    if status != (expected := IN_SERVICE[kind]):
        found.add(
            STATUS, device, f"{what} is {shown(status)}, not {expected}", None, expected, shown(status), part=part
        )


def _foreign(on: Comparison, found: Findings) -> None:
    """Find devices with our tag or a cable to our ports that the intent lacks."""
    site, servers = on.site, {server.name for server in on.pulled.servers}
    for name, rows in site.devices.items():
        if name in on.known.switches or name in on.known.servers:
            continue
        found.look(FOREIGN)
        ends = sorted(end for _, end in _fabric_cables(on, name))
        if name in servers and not on.servers_known:
            continue
        why = f"is cabled to {some(ends)}" if ends else "has the fabric's tag"
        if ends or any(row.owned for row in rows):
            found.add(FOREIGN, shown(name), f"{shown(name)} {why}, and is not in the intent")
    for end, cable in _ends(on):
        peer = cable.other(end)
        if peer.device not in site.devices:
            text = f"{end} is cabled to {peer}: {site.service} shows no such device in site {shown(site.name)}"
            found.add(FOREIGN, end.device, text, part=end.name)


def _fabric_cables(on: Comparison, device: str) -> Iterator[tuple[SitePort, SitePort]]:
    for port, cable in on.site.cables_of(device):
        peer = cable.other(port)
        if peer.device in on.known.switches and is_port(peer.name):
            yield port, peer


def _ends(on: Comparison) -> Iterator[tuple[SitePort, SiteCable]]:
    """Yield the cables at data ports of our switches."""
    for name in on.known.switches:
        for port, cable in on.site.cables_of(name):
            if is_port(port.name):
                yield port, cable


def _interfaces(on: Comparison, found: Findings) -> None:
    used = {SitePort(*end.key) for record in on.of("cable") for end in _refs(record.fields.get("ends"))}
    for record in on.of("interface"):
        port = SitePort(*record.key)
        if port not in used:
            continue
        found.look(INTERFACE)
        fields = on.site.port(port)
        if fields is None:
            found.add(INTERFACE, port.device, f"{on.site.service} has no interface {port}", part=port.name)
        elif record.fields.get("enabled") and not fields.get("enabled", True):
            found.add(INTERFACE, port.device, f"{port} is disabled", None, "enabled", "disabled", part=port.name)


def _refs(value: object) -> Iterator[Ref]:
    return (one for one in value if isinstance(one, Ref)) if isinstance(value, tuple) else iter(())


def _cables(on: Comparison, found: Findings) -> None:
    """Compare the cables; a cable that was moved is one finding, at the end that the intent names first."""
    if not on.cables_known:
        found.skip(CABLE, "the file of cables that the fabric file reads cannot be used")
        return
    site, explained = on.site, set[SiteCable]()
    for record in on.desired:
        if record.kind != "cable":
            continue
        ends = sorted((SitePort(*record.key[:2]), SitePort(*record.key[2:])), key=partial(_side, on.known))
        if not all(end.device in site.devices for end in ends):
            # The device is told.
            continue
        found.look(CABLE)
        near, far = ends
        there = [cable for cable in site.cables.get(near, ()) if cable.other(near) == far]
        if there:
            explained |= {there[0]}
            _status(found, "cable", near.device, near.name, f"the cable from {near} to {far}", there[0].status)
            continue
        explained |= {cable for end in ends for cable in site.cables.get(end, ())}
        now = [_now(on, end) for end in ends]
        text = f"{near} and {far} are not connected: {now[0]}, {now[1]}"
        found.add(CABLE, near.device, text, None, str(far), _peers(on, near), part=near.name, involves=(far.device,))
    for end, cable in _ends(on):
        peer = cable.other(end)
        new = peer.device in on.known.switches or peer.device in on.known.servers
        if new and cable not in explained:
            explained.add(cable)
            text = f"{end} and {peer} are connected, and not in the intent"
            found.add(CABLE, end.device, text, None, "no cable", str(peer), part=end.name)


def _side(known: KnownDevice, port: SitePort) -> tuple[int, SitePort]:
    """Sort leaves before spines and servers, as `cabling.csv` does."""
    switch = known.switches.get(port.device)
    return (0 if switch is not None and switch.role == "leaf" else 1), port


def _peers(on: Comparison, end: SitePort) -> str:
    return ", ".join(str(cable.other(end)) for cable in on.site.cables.get(end, ())) or "no cable"


def _now(on: Comparison, end: SitePort) -> str:
    peers = _peers(on, end)
    return f"{end} has no cable" if peers == "no cable" else f"{end} goes to {peers}"


def _macs(on: Comparison, found: Findings) -> None:
    owners: dict[str, list[SitePort]] = defaultdict(list)
    for server in on.pulled.servers:
        for nic in server.nics.values():
            for mac in on.site.macs.get(nic.port, ()):
                owners[mac].append(nic.port)
    for mac, ports in sorted(owners.items()):
        if len(ports) > 1:
            text = f"{shown(mac)} is on {some(sorted(ports))}"
            found.add(
                MAC, ports[0].device, text, part=ports[0].name, involves=sorted({one.device for one in ports[1:]})
            )
    for record in on.of("mac-address"):
        port, mac = SitePort(*record.key[:2]), record.key[2]
        found.look(MAC)
        if on.site.port(port) is None:
            continue
        macs = on.site.macs.get(port, ())
        if not macs or macs[0] != mac:
            now = shown(macs[0]) if macs else "none"
            text = f"the MAC address of {port} is {now}, not {mac}"
            found.add(MAC, port.device, text, None, mac, now, part=port.name)


def _management(on: Comparison, found: Findings) -> None:
    site = on.site
    owners: dict[str, list[str]] = defaultdict(list)
    for name in (*on.known.switches, *(server.name for server in on.pulled.servers)):
        if name in site.devices and (address := site.field(name, "primary_ip")):
            owners[address.partition("/")[0]].append(name)
    for address, names in sorted(owners.items()):
        if len(names) > 1:
            found.add(MANAGEMENT, names[0], f"{shown(address)} is the primary address of {some(names)}")
    for record in on.of("device"):
        expected = _last(record.fields.get("primary_ip"))
        name = record.key[0]
        if not expected:
            continue
        found.look(MANAGEMENT)
        if (now := site.field(name, "primary_ip")) != expected:
            text = f"the management address of {name} is {shown(now) or 'not set'}, not {expected}"
            found.add(MANAGEMENT, name, text, None, expected, shown(now))


def _places(on: Comparison, found: Findings) -> None:
    for server in on.pulled.servers:
        found.look(PLACE)
        for text, part in _misplaced(on, server):
            found.add(PLACE, server.name, text, part=part)


def _misplaced(on: Comparison, server: PulledServer) -> Iterator[tuple[str, str]]:
    known = on.known
    if not server.stripe:
        yield f"nothing says in which stripe {server.name} is: no cable ends at a leaf", ""
        return
    design = known.servers.get(server.name)
    if design is not None and design.stripe != server.stripe:
        yield f"{server.name} is cabled to stripe {server.stripe}, and in stripe {design.stripe} in the intent", ""
    rails = known.rails(server.kind, server.stripe)
    for number, nic in server.nics.items():
        leaf = known.switches.get(nic.peer.device) if nic.peer else None
        if leaf is not None and (leaf.stripe, leaf.number - 1) != (server.stripe, rails[number]):
            place = f"stripe {leaf.stripe}, rail {leaf.number - 1}"
            text = f"{nic.port} is NIC {number}, of stripe {server.stripe} and rail {rails[number]}"
            yield f"{text}, and is cabled to {leaf.name} of {place}", nic.port.name
    for port in server.surplus:
        yield f"{port} is cabled to a leaf, and is none of the {len(rails)} NICs of a server of its kind", port.name
