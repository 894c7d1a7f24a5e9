"""The status of devices and links in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.picture.formats import laid_out
from ailb_gen.picture.model import NO_OVERLAY, Overlay
from ailb_gen.picture.status import counts_text, state_of, title_of
from ailb_gen.picture.view import FABRIC, PictureView
from tests.picture.examples import large, picture

ONE = frozenset({"spine1"})


def test_links_are_counted_by_their_own_speed() -> None:
    lab = picture("lab")
    mixed = replace(
        lab, links=tuple(replace(link, speed_bps=800 * 10**9) if at < 4 else link for at, link in enumerate(lab.links))
    )
    told = counts_text(mixed, laid_out(mixed, NO_OVERLAY, FABRIC))
    assert told == "4 spines, 4 leaves, 4 servers; 12 links of 400G, 4 links of 800G"
    many = counts_text(large(stripes=60), laid_out(large(stripes=60), NO_OVERLAY, FABRIC))
    assert many == "8 spines, 240 leaves, 1,200 servers; 3,840 links of 400G"


def test_leaves_that_are_drawn_as_one_are_counted_as_leaves() -> None:
    found = large(stripes=40)
    spine = counts_text(found, laid_out(found, NO_OVERLAY, PictureView("device", device="spine3")))
    assert spine == "1 spine, 160 leaves; 320 links of 400G"


def test_links_to_servers_are_counted_where_there_are_no_others() -> None:
    lab = picture("lab")
    view = PictureView("device", device="gpu-s1-1")
    assert counts_text(lab, laid_out(lab, NO_OVERLAY, view)) == "2 leaves, 1 server; 2 links of 400G"


@pytest.mark.parametrize(
    ("overlay", "state"),
    [
        (NO_OVERLAY, ""),
        (Overlay(drained=ONE), "drained"),
        (Overlay(drained=ONE, missing=ONE), "no file"),
        (Overlay(drained=ONE, missing=ONE, dead=ONE), "failed"),
    ],
)
def test_the_worst_state_of_a_device_is_shown(overlay: Overlay, state: str) -> None:
    assert state_of(overlay, "spine1") == state
    assert state_of(overlay, "spine2") == ""


def test_a_title_names_failures() -> None:
    lab = picture("lab")
    assert title_of(lab, NO_OVERLAY, FABRIC) == ("lab: fabric", "")
    gone = Overlay(dead=frozenset({"spine2", "spine1"}), down=frozenset({"x", "y"}))
    assert title_of(lab, gone, FABRIC) == ("lab: fabric", "failed: spine1, spine2, x and 1 more")


def test_a_title_names_states_by_the_worst_and_no_links_of_devices_that_it_names() -> None:
    lab = picture("lab")
    drained = {link.name for link in lab.links if link.b.device == "spine3"} | {"spine3", lab.links[0].name}
    gone = Overlay(dead=ONE, drained=frozenset(drained), missing=frozenset({"stripe1-leaf2"}))
    words = f"failed: spine1; no usable file: stripe1-leaf2; drained: spine3, {lab.links[0].name}"
    assert title_of(lab, gone, FABRIC) == ("lab: fabric", words)
