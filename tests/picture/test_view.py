"""Views as words, and what of the fabric they show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.picture.diagram import lines_of
from ailb_gen.picture.model import NO_OVERLAY, Overlay, PathMark
from ailb_gen.picture.view import FABRIC, PictureView, scene_of, shown_servers, view_of
from tests.picture.examples import large, picture

WRONG = {
    "fabrc": "--view 'fabrc': there is no such view; did you mean 'fabric'?",
    "x": "--view 'x': there is no such view; views: fabric, rail N, stripe N, device NAME, path SRC DST",
    "rail": "--view 'rail': write it as 'rail N'",
    "rail 1 2": "--view 'rail 1 2': write it as 'rail N'",
    "fabric 1": "--view 'fabric 1': write it as 'fabric'",
    "path gpu-s1-1": "--view 'path gpu-s1-1': write it as 'path SRC DST'",
    "rail 2": "--view rail '2': the fabric has no such rail; its rails are 0 to 1",
    "rail one": "--view rail 'one': the fabric has no such rail; its rails are 0 to 1",
    "stripe 0": "--view stripe '0': the fabric has no such stripe; its stripes are 1 to 2",
    "device spine5": "--view device 'spine5': the fabric has no such device; did you mean 'spine4'?",
    "device x": "--view device 'x': the fabric has no such device; "
    "there are 12: stripe1-leaf1, stripe1-leaf2, stripe2-leaf1 and 9 more",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_view_that_cannot_be_says_why(words: str) -> None:
    with pytest.raises(UsageError) as caught:
        view_of(picture("lab"), words.split())
    assert str(caught.value) == WRONG[words]


def test_views_are_words() -> None:
    lab = picture("lab")
    assert view_of(lab, []) == view_of(lab, ["fabric"]) == FABRIC
    assert view_of(lab, ["rail", "1"]) == PictureView("rail", 1)
    assert view_of(lab, ["stripe", "2"]) == PictureView("stripe", 2)
    assert view_of(lab, ["device", "spine2"]) == PictureView("device", device="spine2")
    found = view_of(lab, ["path", "gpu-s1-1:gpu0_eth", "gpu-s2-2"])
    assert found == PictureView("path", ends=("gpu-s1-1", "gpu-s2-2"))
    assert [one.title for one in (FABRIC, PictureView("rail", 1), found)] == [
        "fabric",
        "rail 1",
        "gpu-s1-1 to gpu-s2-2",
    ]


def test_a_fabric_without_leaves_has_no_stripes() -> None:
    with pytest.raises(UsageError, match="its stripes are none"):
        view_of(replace(picture("lab"), devices=()), ["stripe", "1"])


def seen(view: PictureView, overlay: Overlay = NO_OVERLAY) -> set[str]:
    return set(scene_of(picture("lab"), view, overlay).devices)


def test_every_view_shows_what_it_is_called() -> None:
    lab = picture("lab")
    spines = {f"spine{number}" for number in range(1, 5)}
    hosts = {"gpu-s1-1", "gpu-s1-2"}
    assert seen(FABRIC) == {device.name for device in lab.devices}
    assert seen(PictureView("stripe", 1)) == spines | {"stripe1-leaf1", "stripe1-leaf2"} | hosts
    assert seen(PictureView("rail", 0)) == spines | {"stripe1-leaf1", "stripe2-leaf1"} | hosts | {
        "gpu-s2-1",
        "gpu-s2-2",
    }
    assert seen(PictureView("device", device="stripe1-leaf2")) == spines | {"stripe1-leaf2"} | hosts
    assert seen(PictureView("device", device="gpu-s1-1")) == {"gpu-s1-1", "stripe1-leaf1", "stripe1-leaf2"}
    mark = PathMark("queue pair 1", (lab.links[0].name, "a cable that nobody knows"))
    ends = PictureView("path", ends=("gpu-s1-1", "gpu-s2-1"))
    assert seen(ends, Overlay(paths=(mark,))) == {"stripe1-leaf1", "spine1", "gpu-s1-1", "gpu-s2-1"}


@pytest.mark.parametrize(
    ("view", "servers", "shown"),
    [
        (FABRIC, 16, 16),
        (FABRIC, 17, 0),
        (PictureView("rail", 1), 8, 8),
        (PictureView("rail", 1), 9, 8),
        (PictureView("rail", 1), 40, 8),
        (PictureView("stripe", 1), 16, 16),
        (PictureView("stripe", 1), 40, 16),
    ],
)
def test_servers_beyond_sixteen_are_drawn_as_one(view: PictureView, servers: int, shown: int) -> None:
    scene = scene_of(large(stripes=2, servers=servers), view, NO_OVERLAY)
    assert set(shown_servers(scene, view).values()) == {shown}


def test_names_are_broken_behind_signs_and_cut_to_what_fits() -> None:
    assert lines_of("stripe1-leaf1") == ("stripe1-", "leaf1")
    assert lines_of("r1l1") == ("r1l1",)
    assert lines_of("averylongname") == ("averylongname",)
    assert lines_of("dc1.pod-3_leaf-12") == ("dc1.pod-", "3_leaf-12")
