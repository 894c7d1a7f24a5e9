"""Nothing in a picture is too small to read, cut, or covers something else."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from ailb_gen.network.fabric import Cable, End
from ailb_gen.picture.formats import laid_out, svg
from ailb_gen.picture.model import NO_OVERLAY, Overlay, Picture
from ailb_gen.picture.overlays import failed
from ailb_gen.picture.view import FABRIC, PictureView
from tests.picture.examples import large, picture
from tests.picture.geometry import faults, places
from tests.picture.test_golden import CASES, failed_paths, marked

DOMAIN = ".pod7.ams1.gpu.example.net"
VIEWS = {
    "fabric": FABRIC,
    "rail": PictureView("rail", 1),
    "stripe": PictureView("stripe", 1),
    "leaf": PictureView("device", device=f"stripe1-leaf1{DOMAIN}"),
    "server": PictureView("device", device=f"gpu-s1-1{DOMAIN}"),
    "path": PictureView("path", ends=(f"gpu-s1-1{DOMAIN}", f"gpu-s2-1{DOMAIN}")),
}


def long_names(found: Picture) -> Picture:
    """The picture with a domain in every name, and with long names of colors."""
    colors = {color: f"{color}-plane-of-the-north-hall" for color in found.colors}

    def longer(link: Cable) -> Cable:
        a, b = (End(f"{end.device}{DOMAIN}", end.port) for end in (link.a, link.b))
        return replace(link, a=a, b=b, color=colors.get(link.color, link.color))

    devices = tuple(
        replace(one, name=f"{one.name}{DOMAIN}", colors=tuple(colors[color] for color in one.colors))
        for one in found.devices
    )
    return Picture(
        f"{found.fabric}-of-the-pod-in-amsterdam",
        tuple(colors.values()),
        devices,
        tuple(map(longer, found.links)),
        tuple(map(longer, found.attachments)),
    )


def long_overlay(short: Picture, overlay: Overlay) -> Overlay:
    """The overlay of a picture for the same one with long names."""
    pairs = zip(short.cables, long_names(short).cables, strict=True)
    links = {one.name: other.name for one, other in pairs}
    names = links | {one.name: f"{one.name}{DOMAIN}" for one in short.devices}

    def longer(found: frozenset[str]) -> frozenset[str]:
        return frozenset(names[name] for name in found)

    return Overlay(
        down=longer(overlay.down),
        dead=longer(overlay.dead),
        drained=longer(overlay.drained),
        missing=longer(overlay.missing),
        loads={names[name]: load for name, load in overlay.loads.items()},
        findings={names[name]: counts for name, counts in overlay.findings.items()},
        touched={names[name]: words for name, words in overlay.touched.items()},
        paths=tuple(
            replace(
                mark,
                links=tuple(links[name] for name in mark.links),
                former=tuple(links[name] for name in mark.former),
            )
            for mark in overlay.paths
        ),
    )


@pytest.mark.parametrize("name", CASES)
def test_everything_in_a_picture_is_read(name: str) -> None:
    assert faults(svg(*CASES[name])) == []


@pytest.mark.parametrize("view", VIEWS)
def test_long_names_show_whole(view: str) -> None:
    lab = picture("lab")
    overlay = failed_paths() if view == "path" else replace(marked(), paths=(), missing=frozenset({"stripe1-leaf2"}))
    text = svg(long_names(lab), long_overlay(lab, overlay), VIEWS[view])
    assert faults(text) == []
    assert DOMAIN in text


@pytest.mark.parametrize("view", ["fabric", "stripe"])
def test_long_names_show_whole_in_a_large_fabric(view: str) -> None:
    assert faults(svg(long_names(large(rails=8, spines=24)), NO_OVERLAY, VIEWS[view])) == []


def test_loads_of_many_digits_stand_beside_each_other() -> None:
    lab = picture("lab")
    assert faults(svg(lab, Overlay(loads={link.name: (12.34, 1.0) for link in lab.links}))) == []


FAILED = {
    "lab": ("lab", ["stripe2-leaf1:spine3", "spine2"], FABRIC),
    "jvd-8-uplinks": ("jvd-8-uplinks", ["spine3", "stripe2-leaf3", "stripe1-leaf1:spine1"], FABRIC),
    "stripe": ("jvd-8-uplinks", ["stripe1-leaf1:spine2"], PictureView("stripe", 1)),
    "leaf": ("jvd", ["spine1", "stripe1-leaf3:spine2"], PictureView("device", device="stripe1-leaf3")),
}


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("case", FAILED)
def test_signs_of_failures_cover_nothing(case: str, loaded: bool) -> None:
    name, words, view = FAILED[case]
    found = picture(name)
    loads = {link.name: (1.335, 1.0) for link in found.links} if loaded else {}
    findings = {link.name: {"error": 1, "warning": 2} for link in (found.links[0], found.links[-1])}
    down, dead = failed(found, words)
    text = svg(found, Overlay(down, dead, loads=loads, findings=findings), view)
    assert 'class="sign"' in text
    assert faults(text) == []


def test_boxes_of_a_row_have_a_gap() -> None:
    _, boxes, _, _ = places(svg(picture("mixed"), NO_OVERLAY, PictureView("stripe", 2)))
    servers = {device.name for device in picture("mixed").devices if device.role == "server"}
    row = sorted((box.left, box.right) for box in boxes if box.words in servers)
    assert len(row) == 4 and all(right + 9.9 <= left for (_, right), (left, _) in pairwise(row))


def test_the_lanes_of_a_row_of_servers_run_below_the_row_above() -> None:
    diagram = laid_out(large(rails=8, spines=24, servers=40), NO_OVERLAY, PictureView("stripe", 1))
    bottoms = {box.area.bottom for box in diagram.boxes if box.device.role == "server"}
    assert len(bottoms) > 1
    assert all(abs(y - bottom) > 4 for bus in diagram.buses for _, y in bus.points for bottom in bottoms)


def test_faults_are_found() -> None:
    text = svg(picture("lab"))
    assert faults(text.replace(">gpu-s1-1</text>", ">gpu-s1-1-with-a-name-that-is-long</text>"))
    assert faults(text.replace(">stripe 2</text>", f">{'stripe 2' * 40}</text>"))
