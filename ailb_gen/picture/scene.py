"""The scene of a view: its devices by role and stripe, and the cables between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ailb_gen.picture.model import DrawnDevice, DrawnLink, Overlay, Picture
from ailb_gen.picture.view import PictureView

# With more leaves or lines between switches, a view is drawn in groups.
LEAVES, LINES = 24, 160


@dataclass(frozen=True, slots=True)
class Scene:
    """The devices in a view, in the order of the picture; leaves and servers by stripe, 0 for none."""

    spines: tuple[DrawnDevice, ...]
    leaves: dict[int, list[DrawnDevice]]
    servers: dict[int, list[DrawnDevice]]
    links: tuple[DrawnLink, ...]
    attachments: tuple[DrawnLink, ...]

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
    links = tuple(link for link in picture.links if link.a.device in shown and link.b.device in shown)
    attachments = tuple(link for link in picture.attachments if link.a.device in shown and link.b.device in shown)
    return Scene(
        spines=tuple(device for device in picture.devices if device.role == "spine" and device.name in shown),
        leaves=_by_stripe(device for device in picture.devices if device.role == "leaf" and device.name in shown),
        servers=_by_stripe(device for device in picture.devices if device.role == "server" and device.name in shown),
        links=links,
        attachments=attachments,
    )


def _by_stripe(devices: Iterable[DrawnDevice]) -> dict[int, list[DrawnDevice]]:
    found: dict[int, list[DrawnDevice]] = defaultdict(list)
    for device in devices:
        found[device.stripe].append(device)
    return dict(found)


def _shown(picture: Picture, view: PictureView, overlay: Overlay) -> set[str]:
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


def _is_in(leaf: DrawnDevice, view: PictureView) -> bool:
    return leaf.rail == view.number if view.kind == "rail" else leaf.stripe == view.number


def _ends(links: Iterable[DrawnLink]) -> set[str]:
    return {end.device for link in links for end in (link.a, link.b)}


def is_large(scene: Scene) -> bool:
    """Return whether a view has too many lines to draw each from box to box."""
    return sum(map(len, scene.leaves.values())) > LEAVES or len(bundled(scene.links)) > LINES


def bundled(links: Iterable[DrawnLink]) -> list[tuple[DrawnLink, ...]]:
    """Return the links between the same devices in the same color as one."""
    found: dict[tuple[str, str, str], list[DrawnLink]] = defaultdict(list)
    for link in links:
        found[link.a.device, link.b.device, link.color].append(link)
    return [tuple(row) for row in found.values()]
