"""The status of a box or a wire in an overlay: failed, drained, loaded, with findings, on a path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ailb_gen.network.fabric import Cable
from ailb_gen.network.model import speed_text
from ailb_gen.picture.diagram import Diagram, DrawnWire, facts_of
from ailb_gen.picture.model import DrawnDevice, Overlay, Picture
from ailb_gen.picture.view import PictureView
from ailb_gen.wording import counted, plural, some

SEVERITIES = ("error", "warning", "note")
# Loads up to these multiples of the highest without failures have the same hue.
STEPS = (0.0, 0.5, 1.0, 1.5, 2.0)
LOAD_TEXTS = ("0 %", "to 50 %", "to 100 %", "to 150 %", "to 200 %", "over 200 %")
LOAD_NOTE = "of the peak load without failures"
# The states of devices, the worst first, and their names in legends.
STATES = {"failed": "failed", "no file": "no usable file", "drained": "drained"}
# A load of 1 adds so much to the width of a line; more than MOST is drawn like MOST.
THICKER, MOST = 2.0, 3.0
ROUNDING = 1e-6
TIMES = "\u00d7"
Counts = Counter[str]


@dataclass(frozen=True, slots=True)
class WireStatus:
    """The status of the links of a wire.

    `down` is how many have failed, `drained` how many are out of service, `load` the highest of any direction, `paths`
    those along it.
    """

    down: int
    drained: int
    load: float | None
    findings: Counts
    paths: tuple[int, ...]


def wire_status(overlay: Overlay, wire: DrawnWire) -> WireStatus:
    """Return the status of a wire in an overlay."""
    names = [link.name for link in wire.links]
    loads = [max(overlay.loads[name]) for name in names if name in overlay.loads]
    return WireStatus(
        down=sum(is_down(overlay, link) for link in wire.links),
        drained=sum(name in overlay.drained for name in names),
        load=max(loads, default=None),
        findings=findings(overlay, names),
        paths=_paths(overlay, wire, names),
    )


def _paths(overlay: Overlay, wire: DrawnWire, names: Iterable[str]) -> tuple[int, ...]:
    if wire.paths is not None or not overlay.paths:
        return wire.paths or ()
    own = set(names)
    return tuple(number for number, path in enumerate(overlay.paths) if not own.isdisjoint(path.links))


def is_down(overlay: Overlay, link: Cable) -> bool:
    """Return whether a link carries nothing: it has failed, or a device at its end."""
    return link.name in overlay.down or link.a.device in overlay.dead or link.b.device in overlay.dead


def findings(overlay: Overlay, names: Iterable[str]) -> Counts:
    """Return how many findings of each severity some devices or links have together."""
    found: Counts = Counter()
    if overlay.findings:
        for name in names:
            found.update(overlay.findings.get(name, {}))
    return +found


def findings_text(found: Counts) -> str:
    """Return the number of findings by severity, such as `2 errors, 1 note`."""
    rows = [(severity, found[severity]) for severity in SEVERITIES if found[severity]]
    return ", ".join(f"{count} {plural(severity, count)}" for severity, count in rows)


def load_step(load: float) -> int:
    """Return which of the hues a load has: 0 for none."""
    return sum(load > step + ROUNDING for step in STEPS)


def state_of(overlay: Overlay, name: str) -> str:
    """Return the state of a device, one of STATES; empty if it is in service."""
    return next((state for state, names in zip(STATES, _having(overlay), strict=True) if name in names), "")


def device_status(overlay: Overlay, device: DrawnDevice) -> str:
    """Return the state of a device, and its planned change; empty for neither."""
    return ", ".join(filter(None, (state_of(overlay, device.name), overlay.touched.get(device.name))))


def device_text(overlay: Overlay, device: DrawnDevice) -> str:
    """Return the full description of a device."""
    status, found = device_status(overlay, device), findings_text(findings(overlay, [device.name]))
    return ", ".join(filter(None, (f"{device.role} {device.name}", *facts_of(device), status, found)))


def load_width(load: float) -> float:
    """Return how thick a line is that carries a load."""
    return 1 + THICKER * min(load, MOST)


def counts_text(picture: Picture, diagram: Diagram) -> str:
    """Return the counts of the diagram, such as `4 spines, 16 leaves; 64 links of 400G`.

    The links are those between switches, in a diagram without any those to servers.
    """
    shown = {box.device.name for box in diagram.boxes} | {name for frame in diagram.frames for name in frame.members}
    devices = Counter(device.role for device in picture.devices if device.name in shown)
    attached = {link.name for link in picture.attachments}
    cables = {link.name: link for wire in diagram.wires for link in wire.links}
    links = {name: link for name, link in cables.items() if name not in attached} or cables
    words = [counted(devices[role], role) for role in ("spine", "leaf", "server") if devices[role]]
    speeds = Counter(link.speed_bps for link in links.values())
    cabled = [
        counted(count, "link") + (f" of {speed_text(speed).upper()}" if speed else "")
        for speed, count in sorted(speeds.items(), key=lambda row: row[0] or 0)
    ]
    return "; ".join(filter(None, (", ".join(words), ", ".join(cabled))))


def title_of(picture: Picture, overlay: Overlay, view: PictureView) -> tuple[str, str]:
    """Return the title of a picture, and which devices and links are out of service: by state, the worst first.

    Links of a device that is out of service are not named.
    """
    ends = {link.name: {link.a.device, link.b.device} for link in picture.cables}
    rows = zip(STATES.values(), _having(overlay), (overlay.down, frozenset[str](), overlay.drained), strict=True)
    gone = {words: _gone(devices - ends.keys(), links, ends) for words, devices, links in rows}
    told = "; ".join(f"{words}: {some(names)}" for words, names in gone.items() if names)
    return f"{picture.fabric}: {view.title}", told


def _having(overlay: Overlay) -> tuple[frozenset[str], ...]:
    """Return the devices, and more, that have each of STATES."""
    return overlay.dead, overlay.missing, overlay.drained


def _gone(devices: frozenset[str], links: frozenset[str], ends: Mapping[str, set[str]]) -> list[str]:
    """Return the names of devices, then of links between others."""
    return [*sorted(devices), *sorted(name for name in links - devices if devices.isdisjoint(ends.get(name, ())))]


def uniform_count(wires: Iterable[DrawnWire]) -> int:
    """Return how many links every bundle between switches has; 1 where they differ, or there is none."""
    counts = {len(wire.links) for wire in wires if not wire.attachment}
    return counts.pop() if len(counts) == 1 else 1


def percent(load: float) -> str:
    """Return a load as it is written at a line, in percent."""
    return f"{load * 100:.0f}"


def value_text(wire: DrawnWire, status: WireStatus, uniform: int) -> str:
    """Return the value at a wire: its load in percent, or how many links it has, unless all others have as many."""
    count = len(wire.links)
    if status.load is not None and status.down < count:
        return percent(status.load)
    return (
        f"{TIMES}{count}" if count > 1 and (count != uniform or wire.attachment) and not lost_text(wire, status) else ""
    )


def lost_text(wire: DrawnWire, status: WireStatus) -> str:
    """Return how many links of a bundle carry nothing, such as `-2`; empty for none or all of them."""
    lost = status.down or status.drained
    return f"-{lost}" if 0 < lost < len(wire.links) else ""


def wire_text(overlay: Overlay, wire: DrawnWire, status: WireStatus) -> str:
    """Return the full description of a wire."""
    count = len(wire.links)
    parts = [
        wire.links[0].name if count == 1 else f"{wire.name}: {count} links",
        wire.color and count == 1 and f"color {wire.color}",
        count == 1 and wire.links[0].speed_bps and speed_text(wire.links[0].speed_bps).upper(),
        status.down and ("failed" if status.down == count else f"{status.down} of {count} failed"),
        status.drained and ("drained" if status.drained == count else f"{status.drained} of {count} drained"),
        status.load is not None and f"load {status.load:.0%}",
        findings_text(status.findings),
        status.paths and some(overlay.paths[number].label for number in status.paths),
    ]
    return ", ".join(str(part) for part in parts if part)
