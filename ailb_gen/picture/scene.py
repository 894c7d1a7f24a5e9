"""What of a picture is seen in a view: devices by role and stripe, and the cables between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ailb_gen.picture.model import Device, Link, Overlay, Picture
from ailb_gen.picture.view import View


@dataclass(frozen=True, slots=True)
class Scene:
    """The devices that are seen, in the order of the picture; leaves and servers by stripe, 0 for none."""

    spines: tuple[Device, ...]
    leaves: dict[int, list[Device]]
    servers: dict[int, list[Device]]
    links: tuple[Link, ...]
    attachments: tuple[Link, ...]

    @property
    def devices(self) -> dict[str, Device]:
        """All devices by name."""
        rows = (self.spines, *self.leaves.values(), *self.servers.values())
        return {device.name: device for row in rows for device in row}

    @property
    def stripes(self) -> list[int]:
        """The stripes in order; devices without one come last."""
        return sorted({*self.leaves, *self.servers}, key=lambda stripe: (not stripe, stripe))


def scene_of(picture: Picture, view: View, overlay: Overlay) -> Scene:
    """Return what a view shows."""
    seen = _seen(picture, view, overlay)
    links = tuple(link for link in picture.links if link.a.device in seen and link.b.device in seen)
    attachments = tuple(link for link in picture.attachments if link.a.device in seen and link.b.device in seen)
    return Scene(
        spines=tuple(device for device in picture.devices if device.role == "spine" and device.name in seen),
        leaves=_by_stripe(device for device in picture.devices if device.role == "leaf" and device.name in seen),
        servers=_by_stripe(device for device in picture.devices if device.role == "server" and device.name in seen),
        links=links,
        attachments=attachments,
    )


def _by_stripe(devices: Iterable[Device]) -> dict[int, list[Device]]:
    found: dict[int, list[Device]] = defaultdict(list)
    for device in devices:
        found[device.stripe].append(device)
    return dict(found)


def _seen(picture: Picture, view: View, overlay: Overlay) -> set[str]:
    """Return the names of the devices that a view shows."""
    if view.kind == "fabric":
        return {device.name for device in picture.devices}
    if view.kind == "path":
        names = {name for path in overlay.paths for name in path.links}
        ends = _ends(link for link in (*picture.links, *picture.attachments) if link.name in names)
        return ends | ({*view.ends} & {device.name for device in picture.devices})
    if view.kind == "device":
        cables = (*picture.links, *picture.attachments)
        return {view.device} | _ends(link for link in cables if view.device in (link.a.device, link.b.device))
    leaves = {device.name for device in picture.devices if device.role == "leaf" and _is_in(device, view)}
    return (
        leaves
        | {device.name for device in picture.devices if device.role == "spine"}
        | {link.b.device for link in picture.attachments if link.a.device in leaves}
    )


def _is_in(leaf: Device, view: View) -> bool:
    return leaf.rail == view.number if view.kind == "rail" else leaf.stripe == view.number


def _ends(links: Iterable[Link]) -> set[str]:
    return {end.device for link in links for end in (link.a, link.b)}
