"""The views of a fabric: all of it, a rail, a stripe, a device, or the path between two NICs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ailb_gen.errors import UsageError
from ailb_gen.network.fabric import Cable
from ailb_gen.picture.model import DrawnDevice, Overlay, Picture
from ailb_gen.wording import did_you_mean, some

Kind = Literal["fabric", "rail", "stripe", "device", "path"]
# The arguments of a view.
ARGUMENTS: dict[str, str] = {"fabric": "", "rail": "N", "stripe": "N", "device": "NAME", "path": "SRC DST"}


@dataclass(frozen=True, slots=True)
class PictureView:
    """A view: `number` is that of a rail (from 0) or a stripe (from 1), `device` the name of a device.

    `ends` are the devices between which paths lead: drawn are the paths of the overlay, and nothing else.
    """

    kind: Kind = "fabric"
    number: int = 0
    device: str = ""
    ends: tuple[str, str] = ("", "")

    @property
    def title(self) -> str:
        """The title of the view."""
        named = {
            "rail": f"rail {self.number}",
            "stripe": f"stripe {self.number}",
            "device": self.device,
            "path": f"{self.ends[0]} to {self.ends[1]}",
        }
        return named.get(self.kind, self.kind)


FABRIC = PictureView()


def view_of(picture: Picture, words: Sequence[str]) -> PictureView:
    """Return the view that words such as `rail 0` mean.

    The ends of a path are servers or `SERVER:NIC`; those who know the paths look whether they are there. Raises
    UsageError.
    """
    kind, arguments = (words[0], words[1:]) if words else ("fabric", ())
    if len(arguments) != len(arguments_of(kind)):
        usage = f"{kind} {ARGUMENTS[kind]}".strip()
        raise UsageError(f"--view {' '.join(words)!r}: write it as '{usage}'")
    if kind in ("rail", "stripe"):
        return PictureView("rail" if kind == "rail" else "stripe", _number(picture, kind, arguments[0]))
    if kind == "device":
        return PictureView("device", device=_device(picture, arguments[0]).name)
    return (
        PictureView("path", ends=(arguments[0].partition(":")[0], arguments[1].partition(":")[0]))
        if arguments
        else FABRIC
    )


def arguments_of(kind: str) -> list[str]:
    """Return the arguments of a view. Raises UsageError if there is no such view."""
    words = kind.split()
    if not words or words[0] not in ARGUMENTS:
        every = ", ".join(f"{name} {words}".strip() for name, words in ARGUMENTS.items())
        hint = did_you_mean(kind, ARGUMENTS) or f"views: {every}"
        raise UsageError(f"--view {kind!r}: there is no such view; {hint}")
    return ARGUMENTS[kind].split() if len(words) == 1 else []


def _number(picture: Picture, kind: str, text: str) -> int:
    leaves = [device for device in picture.devices if device.role == "leaf"]
    known = {leaf.rail for leaf in leaves} if kind == "rail" else {leaf.stripe or None for leaf in leaves}
    numbers = sorted(number for number in known if number is not None)
    if not (text.isascii() and text.isdigit() and int(text) in numbers):
        rows = f"{numbers[0]} to {numbers[-1]}" if numbers else "none"
        raise UsageError(f"--view {kind} {text!r}: the fabric has no such {kind}; its {kind}s are {rows}")
    return int(text)


def _device(picture: Picture, name: str) -> DrawnDevice:
    devices = {device.name: device for device in picture.devices}
    if name not in devices:
        hint = did_you_mean(name, devices) or f"there are {len(devices)}: {some(devices)}"
        raise UsageError(f"--view device {name!r}: the fabric has no such device; {hint}")
    return devices[name]


# A view with more servers than this shows some of them as one.
SERVERS = 16
# With more leaves or lines between switches, a view is drawn in groups.
LEAVES, LINES = 24, 160


@dataclass(frozen=True, slots=True)
class Scene:
    """The devices in a view, in the order of the picture; leaves and servers by stripe, 0 for none."""

    spines: tuple[DrawnDevice, ...]
    leaves: dict[int, list[DrawnDevice]]
    servers: dict[int, list[DrawnDevice]]
    links: tuple[Cable, ...]
    attachments: tuple[Cable, ...]

    @property
    def devices(self) -> dict[str, DrawnDevice]:
        """All devices by name."""
        rows = (self.spines, *self.leaves.values(), *self.servers.values())
        return {device.name: device for row in rows for device in row}

    @property
    def stripes(self) -> list[int]:
        """The stripes in order; devices without one come last."""
        return sorted({*self.leaves, *self.servers}, key=lambda stripe: (not stripe, stripe))


def scene_of(picture: Picture, view: PictureView, overlay: Overlay) -> Scene:
    """Return the devices and cables in a view."""
    shown = _shown(picture, view, overlay)
    devices = [device for device in picture.devices if device.name in shown]
    links, attachments = (
        tuple(link for link in links if link.a.device in shown and link.b.device in shown)
        for links in (picture.links, picture.attachments)
    )
    return Scene(
        spines=tuple(device for device in devices if device.role == "spine"),
        leaves=_by_stripe(device for device in devices if device.role == "leaf"),
        servers=_by_stripe(device for device in devices if device.role == "server"),
        links=links,
        attachments=attachments,
    )


def _by_stripe(devices: Iterable[DrawnDevice]) -> dict[int, list[DrawnDevice]]:
    found: dict[int, list[DrawnDevice]] = defaultdict(list)
    for device in devices:
        found[device.stripe].append(device)
    return dict(found)


def _shown(picture: Picture, view: PictureView, overlay: Overlay) -> set[str]:
    if view.kind == "fabric":
        return {device.name for device in picture.devices}
    if view.kind == "path":
        names = {name for path in overlay.paths for name in (*path.links, *path.former)}
        ends = _ends(link for link in picture.cables if link.name in names)
        return ends | ({*view.ends} & {device.name for device in picture.devices})
    if view.kind == "device":
        return {view.device} | _ends(link for link in picture.cables if view.device in (link.a.device, link.b.device))
    switches = [device for device in picture.devices if device.role == "leaf"]
    leaves = {leaf.name for leaf in switches if view.number == (leaf.rail if view.kind == "rail" else leaf.stripe)}
    return (
        leaves
        | {device.name for device in picture.devices if device.role == "spine"}
        | {link.b.device for link in picture.attachments if link.a.device in leaves}
    )


def _ends(links: Iterable[Cable]) -> set[str]:
    return {end.device for link in links for end in (link.a, link.b)}


def is_large(scene: Scene) -> bool:
    """Return whether a view has too many lines to draw each from box to box."""
    return sum(map(len, scene.leaves.values())) > LEAVES or len(bundled(scene.links)) > LINES


def shown_servers(scene: Scene, view: PictureView) -> dict[int, int]:
    """Return how many servers of every stripe are drawn one by one, where a view has a line per link.

    Of the whole fabric all or none of a stripe, of a rail or a stripe some.
    """
    counts = {stripe: len(row) for stripe, row in scene.servers.items()}
    if view.kind == "fabric":
        return {stripe: count if count <= SERVERS else 0 for stripe, count in counts.items()}
    share = SERVERS if sum(counts.values()) <= SERVERS else SERVERS // len(counts)
    return {stripe: min(share, count) for stripe, count in counts.items()}


def bundled(links: Iterable[Cable]) -> list[tuple[Cable, ...]]:
    """Return the links between the same devices in the same color as one."""
    found: dict[tuple[str, str, str], list[Cable]] = defaultdict(list)
    for link in links:
        found[link.a.device, link.b.device, link.color].append(link)
    return [tuple(row) for row in found.values()]
