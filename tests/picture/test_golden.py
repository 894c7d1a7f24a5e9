"""Pictures of the examples are those that were looked at; AILB_UPDATE_GOLDEN=1 renews them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ailb_gen.picture.formats import FORMATS, written
from ailb_gen.picture.model import NO_OVERLAY, Overlay, PathMark, Picture
from ailb_gen.picture.overlays import failed
from ailb_gen.picture.view import FABRIC, PictureView
from tests.picture.examples import large, picture, two_colors

HERE = Path(__file__).parent / "golden"


def marked() -> Overlay:
    """Everything that can be marked on the lab."""
    lab = picture("lab")
    down, dead = failed(lab, ["stripe1-leaf1:spine2", "spine4"])
    names = [link.name for link in lab.links]
    path = (lab.attachments[0].name, names[0], names[8], lab.attachments[4].name)
    return Overlay(
        down=down,
        dead=dead,
        loads={name: (number / 8, number / 16) for number, name in enumerate(names)},
        findings={
            "stripe2-leaf1": {"error": 3, "warning": 120},
            "gpu-s1-1": {"note": 1},
            names[2]: {"warning": 2},
        },
        touched={"stripe2-leaf2": "canary"},
        paths=(PathMark("queue pair 1", path),),
    )


def paths() -> Overlay:
    """Two queue pairs of the lab: one that arrives, and one that does not."""
    lab = picture("lab")
    names = [link.name for link in lab.links]
    ends = lab.attachments[0].name, lab.attachments[4].name
    whole = PathMark("queue pair 1", (ends[0], names[0], names[8], ends[1]))
    return Overlay(paths=(whole, PathMark("queue pair 2", ends[:1], "no route at stripe1-leaf1")))


def failed_paths() -> Overlay:
    """Two queue pairs of the lab with spine1 down: one takes another way, one ends at its leaf."""
    lab = picture("lab")
    names = [link.name for link in lab.links]
    ends = lab.attachments[0].name, lab.attachments[4].name
    before = (ends[0], names[0], names[8], ends[1])
    moved = PathMark("queue pair 1", (ends[0], names[1], names[9], ends[1]), former=before)
    return Overlay(
        frozenset({lab.links[15].name}),
        frozenset({"spine1"}),
        paths=(moved, PathMark("queue pair 2", ends[:1], "no route at stripe1-leaf1", before)),
    )


PATH = PictureView("path", ends=("gpu-s1-1", "gpu-s2-1"))
CASES: dict[str, tuple[Picture, Overlay, PictureView]] = {
    "lab": (picture("lab"), NO_OVERLAY, FABRIC),
    "lab-marked": (picture("lab"), marked(), FABRIC),
    "lab-drained": (
        picture("lab"),
        Overlay(
            drained=frozenset(link.name for link in picture("lab").links if link.b.device == "spine2") | {"spine2"},
            missing=frozenset({"stripe2-leaf1"}),
        ),
        FABRIC,
    ),
    "lab-path-failed": (picture("lab"), failed_paths(), PATH),
    "lab-rail": (picture("lab"), NO_OVERLAY, PictureView("rail", 1)),
    "lab-stripe": (picture("lab"), NO_OVERLAY, PictureView("stripe", 2)),
    "lab-leaf": (picture("lab"), marked(), PictureView("device", device="stripe1-leaf1")),
    "lab-server": (picture("lab"), NO_OVERLAY, PictureView("device", device="gpu-s1-1")),
    "lab-path": (picture("lab"), paths(), PATH),
    "jvd": (picture("jvd"), NO_OVERLAY, FABRIC),
    "jvd-8-uplinks-stripe": (picture("jvd-8-uplinks"), NO_OVERLAY, PictureView("stripe", 1)),
    "brownfield": (picture("brownfield"), NO_OVERLAY, FABRIC),
    "large": (large(), Overlay(dead=frozenset({"spine1"})), FABRIC),
    "large-rail": (large(), NO_OVERLAY, PictureView("rail", 2)),
    "rail-of-many-servers": (large(stripes=2, rails=2, spines=4), NO_OVERLAY, PictureView("rail", 1)),
    "large-stripe-of-many-servers": (
        large(rails=8, spines=24, servers=90),
        Overlay(missing=frozenset({"s2-l3"})),
        PictureView("stripe", 2),
    ),
    "large-many-stripes-rail": (large(stripes=26, spines=4), NO_OVERLAY, PictureView("rail", 1)),
    "large-two-colors": (two_colors(), NO_OVERLAY, FABRIC),
    "large-stripe": (large(rails=8, spines=24), NO_OVERLAY, PictureView("stripe", 3)),
    "large-spine": (large(stripes=40), NO_OVERLAY, PictureView("device", device="spine3")),
}


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_a_picture_is_the_one_that_was_looked_at(name: str, suffix: str) -> None:
    path = HERE / f"{name}{suffix}"
    text = written(path, *CASES[name])
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_golden_picture_is_of_a_case() -> None:
    assert {path.name for path in HERE.iterdir()} == {f"{name}{suffix}" for name in CASES for suffix in FORMATS}
