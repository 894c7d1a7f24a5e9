"""Where the texts, the boxes and the signs of a picture stand, computed from its SVG: about, for fonts differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from xml.etree import ElementTree

from ailb_gen.picture.diagram import width_of

SVG = "{http://www.w3.org/2000/svg}"
# Sizes by class, as in the style sheet, and which classes are bold.
SIZES = {"heading": 15.0, "strong": 13.0, "small": 9.0, "value": 9.0, "letter": 9.0, "badge": 9.0}
BOLD = {"heading", "strong", "letter", "badge", "failure"}
MOVE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)")
# Half the width of a cross.
SIGN = 5.0
ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


@dataclass(frozen=True)
class Extent:
    """A text, the box of a device, or a sign: of a text, `size` is that of letters, `around` the box that it is in."""

    words: str
    left: float
    top: float
    right: float
    bottom: float
    size: float = 0.0
    around: Extent | None = None
    classes: frozenset[str] = frozenset()

    def meets(self, other: Extent, slack: float = 2.0) -> bool:
        """Tell whether both cover the same place."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > slack and down > slack

    def holds(self, other: Extent, slack: float = 4.0) -> bool:
        """Tell whether another lies inside."""
        return (
            self.left - slack <= other.left
            and other.right <= self.right + slack
            and self.top - slack <= other.top
            and other.bottom <= self.bottom + slack
        )


def places(svg: str) -> tuple[list[Extent], list[Extent], list[Extent], Extent]:
    """Return the texts, the boxes, the signs of links and the whole of a picture."""
    root = ElementTree.fromstring(svg)
    found = list(_places(root, 0.0, 0.0, frozenset(), None))
    texts, signs = [one for one in found if one.size], [one for one in found if "sign" in one.classes]
    boxes = [one for one in found if not one.size and "sign" not in one.classes]
    links = [one for one in signs if "link" in one.classes]
    return texts, boxes, links, Extent("", 0, 0, float(root.attrib["width"]), float(root.attrib["height"]))


def _places(
    node: ElementTree.Element, x: float, y: float, classes: frozenset[str], box: Extent | None
) -> Iterator[Extent]:
    for right, down in MOVE.findall(node.attrib.get("transform", "")):
        x, y = x + float(right), y + float(down)
    own = frozenset(node.attrib.get("class", "").split())
    if node.tag == f"{SVG}text":
        yield from _texts(node, x, y, classes | own, box)
        return
    if "sign" in own:
        yield Extent("a sign", x - SIGN, y - SIGN, x + SIGN, y + SIGN, classes=classes | own)
    boxes = [one for one in node if one.tag == f"{SVG}rect" and "box" in one.attrib["class"].split()]
    if boxes:
        left, top, width, height = (float(boxes[0].attrib[name]) for name in ("x", "y", "width", "height"))
        words = node.attrib.get("data-device", node.attrib.get("data-group", "legend"))
        box = Extent(words, x + left, y + top, x + left + width, y + top + height)
        yield box
    for child in node:
        yield from _places(child, x, y, classes | own, None if own & {"badge", "legend"} else box)


def _texts(
    node: ElementTree.Element, x: float, y: float, classes: frozenset[str], box: Extent | None
) -> Iterator[Extent]:
    left, base = x + float(node.attrib.get("x", 0)), y + float(node.attrib["y"])
    anchor = ANCHORS["middle" if "badge" in classes else node.attrib.get("text-anchor", "start")]
    for part in [node, *node] if node.text else node:
        every = classes | set(part.attrib.get("class", "").split())
        size = min([SIZES[name] for name in every if name in SIZES], default=11.0)
        wide = width_of(part.text or "", size) * (1.1 if every & BOLD else 1.0)
        left += float(part.attrib.get("dx", 0))
        start = left - anchor * wide
        yield Extent(part.text or "", start, base - 0.8 * size, start + wide, base + 0.2 * size, size, box, every)
        left += wide


def faults(svg: str) -> list[str]:
    """Return what is too small, cut, or covers something else."""
    texts, boxes, signs, whole = places(svg)
    # Badges stand on the edges of their boxes.
    inside = [(one, one.around) for one in texts if one.around is not None and "badge" not in one.classes]
    crossing = [
        (one, box)
        for one in texts
        for box in boxes
        if one.meets(box) and not box.holds(one) and "badge" not in one.classes
    ]
    return [
        *(f"{one.words!r} is {one.size:g} px" for one in texts if one.size < 9),
        *(f"{one.words!r} is cut" for one in texts if not whole.holds(one, 0)),
        *(f"{one.words!r} is wider than {box.words}" for one, box in inside if not box.holds(one)),
        *(f"{one.words!r} covers {other.words!r}" for one, other in combinations(texts, 2) if one.meets(other)),
        *(f"{one.words!r} crosses the edge of {box.words}" for one, box in crossing),
        *(f"{one.words} covers {other.words}" for one, other in combinations(boxes, 2) if one.meets(other, 0)),
        *(f"a sign covers {other.words}" for one in signs for other in texts if one.meets(other)),
        *(f"a sign covers another at {one.left:.0f}" for one, other in combinations(signs, 2) if one.meets(other)),
    ]
