"""Devices as a section: every switch and server with its ports, sessions, prefixes and files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from ailb_gen.checks.context import Context
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.network.fabric import Network
from ailb_gen.network.links import neighbor
from ailb_gen.network.model import Port, Switch, speed_text
from ailb_gen.network.sessions import Sessions, Side
from ailb_gen.picture.model import Picture
from ailb_gen.report.html.files import FileFolder, packed_files
from ailb_gen.report.html.page import Numbered, Section
from ailb_gen.wording import clean

Row = tuple[str, ...]
# A title, the columns, and the rows.
Table = tuple[str, Row, list[Row]]

PORTS = ("port", "cable to", "speed", "MTU", "state", "description")
SESSIONS = ("port", "neighbor", "color", "own AS", "its AS", "state")
PREFIXES = ("prefix", "color", "backup")
RULES = ("packets from", "NIC", "table", "gateway")
COMES_UP = "comes up"
# What stands instead of a device for the files of none, such as the list of cables.
OTHERS = "the fabric"


def devices_section(
    context: Context, picture: Picture, findings: Mapping[str, Mapping[str, int]], places: Iterable[str] = ()
) -> Section:
    """Return the section of the devices; `findings` are the open ones by device and severity, `places` their files.

    Files are left out when all would make the page too large: those of devices without findings first.
    """
    folders = _folders(context, picture)
    known = {file for folder in folders for file in folder.files}
    others = sorted(file for file in set(places) - known if (context.root / file).is_file())
    folders.append(FileFolder(OTHERS, (), tuple(others)))
    numbers = {folder.key: number for number, folder in enumerate(folders)}
    part_of = {name: numbers[folder.key] for folder in folders for name in folder.devices}
    tables = _tables(context, folders)
    parts: dict[str, object] = {str(numbers[folder.key]): tables[folder.key] for folder in folders}
    states = device_states(context)
    order = sorted(folders, key=lambda folder: folder.key != OTHERS and findings.keys().isdisjoint(folder.devices))
    files, left_out = packed_files(context.root, order)
    parts |= {f"files-{numbers[key]}": packed for key, packed in files.items()}
    rows = [
        (
            clean(device.name),
            device.role,
            device.stripe,
            -1 if device.rail is None else device.rail,
            ", ".join(device.colors),
            part_of[device.name],
            [findings.get(device.name, {}).get(severity, 0) for severity in ("error", "warning", "note")],
            states.get(device.name, ""),
        )
        for device in picture.devices
    ]
    data = {
        "devices": rows,
        "links": _links(picture),
        "colors": picture.colors,
        "files": {path: numbers[folder.key] for folder in folders if folder.key in files for path in folder.files},
    }
    values = {
        "rows": [row for row in rows if row[1] != "server"],
        "servers": sum(row[1] == "server" for row in rows),
        "left_out": sum(len(folder.devices) for folder in left_out),
        "root": clean(str(context.root)),
    }
    return Section("devices", "Devices", values, data, uses=("files",), parts=parts)


def device_states(context: Context) -> dict[str, str]:
    """Return the state of every switch that is not in full service: its file is missing, or it is drained."""
    drain = context.expected.drained
    ends = [(end.device, drain.takes(link)) for link in context.network.links for end in (link.a, link.b)]
    links = Counter(device for device, _ in ends)
    drained = Counter(device for device, out in ends if out)
    found = {
        name: "drained" if count == links[name] else f"{count} of {links[name]} links drained"
        for name, count in drained.items()
    }
    return found | {
        name: "unreadable file" if FileFolder.of_switch(name, None, context.root).files else "no file"
        for name in context.absent
    }


def _links(picture: Picture) -> Mapping[str, object]:
    """Return all cables: both ends by numbers of devices, color, speed; those to servers come last."""
    names, ports = Numbered(device.name for device in picture.devices), Numbered[str]()
    rows = [
        (
            names(link.a.device),
            ports(clean(link.a.port)),
            names(link.b.device),
            ports(clean(link.b.port)),
            link.color,
            speed_text(link.speed_bps) if link.speed_bps else "",
        )
        for link in chain(picture.links, picture.attachments)
    ]
    return {"ports": list(ports.values), "rows": rows, "fabric": len(picture.links)}


def _folders(context: Context, picture: Picture) -> list[FileFolder]:
    """Return the groups of devices: a switch with its file, or servers with the folder that they share."""
    network = context.network
    shared: dict[str, list[str]] = defaultdict(list)
    found = []
    for device in picture.devices:
        host = network.hosts.get(device.name)
        if device.role != "server":
            found.append(FileFolder.of_switch(device.name, network.switches.get(device.name), context.root))
        elif host is not None:
            shared[host.profile.folder].append(device.name)
        else:
            found.append(FileFolder(device.name, (device.name,)))
    profiles = {host.profile.folder: host.profile for host in network.hosts.values()}
    return found + [FileFolder.of_profile(profiles[key], tuple(names)) for key, names in shared.items()]


def _tables(context: Context, folders: Iterable[FileFolder]) -> Mapping[str, list[Table]]:
    """Return the tables of every switch, and of every folder of servers."""
    network = context.network
    links = {end: cable for cable in network.links for end in (cable.a, cable.b)}
    cables = {(end.device, end.port): str(cable.b if end == cable.a else cable.a) for end, cable in links.items()}
    cables |= {(leaf.device, leaf.port): f"{server}:{nic}" for (server, nic), leaf in network.attachments.items()}
    sessions = _sessions(network, context.routing.graph.sessions)
    profiles = {host.profile.folder: host.profile for host in network.hosts.values()}
    found: dict[str, list[Table]] = {}
    for folder in folders:
        switch, profile = network.switches.get(folder.key), profiles.get(folder.key)
        if switch is not None:
            found[folder.key] = [
                ("Ports", PORTS, [_port(switch, port, cables) for port in switch.ports.values()]),
                ("Sessions", SESSIONS, sessions.get(switch.named, [])),
                (
                    "Prefixes",
                    PREFIXES,
                    [(str(r.prefix), clean(r.color or ""), clean(r.backup or "")) for r in switch.routes],
                ),
            ]
        else:
            found[folder.key] = [("Rules", RULES, list(_rules(profile)))] if profile is not None else []
    return found


def _port(switch: Switch, port: Port, cables: Mapping[tuple[str, str], str]) -> Row:
    described = neighbor(port)
    cable = cables.get((switch.named, port.name), "")
    state = "disabled" if port.disabled else "" if cable else "no cable" if described else ""
    speed = speed_text(port.speed_bps) if port.speed_bps else ""
    return port.name, clean(cable), speed, str(port.mtu or ""), state, clean(port.description)


def _sessions(network: Network, sessions: Sessions) -> Mapping[str, list[Row]]:
    """Return the sessions of every switch, by the order of its cables."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for session in sessions.up:
        for here, there in ((session.a, session.b), (session.b, session.a)):
            rows[here.device].append(_up(network, here, there))
    for cable, obstacles in sessions.down:
        why = "; ".join(dict.fromkeys(f"{one.device}: {one.message}" for one in obstacles))
        for own, far in ((cable.a, cable.b), (cable.b, cable.a)):
            rows[own.device].append((own.port, clean(str(far)), clean(cable.color), "", "", clean(f"down: {why}")))
    return rows


def _up(network: Network, here: Side, there: Side) -> Row:
    group = network.switches[here.device].groups[here.group]
    other = f"{there.device}:{there.interface.removesuffix('.0')}"
    port = here.interface.removesuffix(".0")
    return port, clean(other), clean(group.color or ""), str(here.asn), str(there.asn), COMES_UP


def _rules(profile: ServerProfile) -> Iterator[Row]:
    """Yield the rules of a server, and the gateway of the table that each uses."""
    for rule in profile.rules:
        routes = profile.routes.get(rule.table, ()) if rule.table is not None else ()
        gateway = next((route.text[1] for route in routes if route.via is not None), "")
        yield clean(rule.text), clean(rule.nic), str(rule.table if rule.table is not None else ""), clean(gateway)
