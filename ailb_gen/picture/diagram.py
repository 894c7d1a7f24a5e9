"""What is laid out, before it is drawn: boxes, frames, wires and labels, in user units of SVG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ailb_gen.picture.model import Device, Link

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The horizontal middle."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width


@dataclass(frozen=True, slots=True)
class Box:
    """A device; `lines` is what is written in it, `note` what stands below in small letters.

    `cell` is what a device is drawn as in a group: small, without room for its name.
    """

    device: Device
    area: Area
    lines: tuple[str, ...]
    note: str = ""
    cell: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around several devices, or for them: `members` are drawn as this one box.

    `name` is that of the group, such as `stripe 3`; `title` is written in it, at its lower edge if it has the `foot`.
    """

    name: str
    area: Area
    title: str
    members: tuple[str, ...] = ()
    foot: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """A link, or several as one bundle, whose `name` is empty for one link.

    `letter` is where the letter of its color stands, `value` where its count or its load does. `attachment` tells a
    cable to a server. `paths` are the numbers of the only paths that this line stands for; None for all along it.
    """

    links: tuple[Link, ...]
    points: tuple[Point, ...]
    letter: Point | None = None
    value: Point | None = None
    name: str = ""
    attachment: bool = False
    paths: tuple[int, ...] | None = None

    @property
    def color(self) -> str:
        """The color of all links, empty for none or several."""
        found = {link.color for link in self.links}
        return found.pop() if len(found) == 1 else ""


@dataclass(frozen=True, slots=True)
class Bus:
    """A line that bundles branch off, with dots where they do: decoration, for wires say what is connected."""

    color: str
    points: tuple[Point, ...]
    dots: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class Label:
    """A text; `style` are classes of the style sheet, `color` is that of the fabric that it is about."""

    at: Point
    text: str
    style: str = ""
    anchor: Anchor = "middle"
    color: str = ""


@dataclass(frozen=True, slots=True)
class Diagram:
    """Everything that is drawn, lowest first: frames, buses, wires, boxes, labels."""

    width: float
    height: float
    frames: tuple[Frame, ...] = ()
    buses: tuple[Bus, ...] = ()
    wires: tuple[Wire, ...] = ()
    boxes: tuple[Box, ...] = ()
    labels: tuple[Label, ...] = ()


def moved(area: Area, right: float, down: float = 0.0) -> Area:
    """Return an area that is shifted."""
    return Area(area.x + right, area.y + down, area.width, area.height)
