"""SVG that any program reads: well-formed, escaped, with a name for every device and link."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from ailb_gen.network.fabric import Cable, End
from ailb_gen.picture.formats import laid_out, svg, svg_file
from ailb_gen.picture.model import NO_OVERLAY, DrawnDevice, Overlay, Picture, Role
from ailb_gen.picture.style import picture_css
from ailb_gen.picture.view import FABRIC, PictureView
from ailb_gen.wording import clean
from tests.picture.examples import large, picture, without_color
from tests.picture.test_golden import CASES

SVG = "{http://www.w3.org/2000/svg}"


def groups(text: str, attribute: str) -> list[str]:
    return [one.attrib[attribute] for one in ElementTree.fromstring(text).iter(f"{SVG}g") if attribute in one.attrib]


@pytest.mark.parametrize("name", CASES)
def test_every_button_has_a_name_and_lies_inside_the_picture(name: str) -> None:
    root = ElementTree.fromstring(svg_file(*CASES[name]))
    buttons = [one for one in root.iter(f"{SVG}g") if one.attrib.get("role") == "button"]
    assert buttons
    for one in buttons:
        title = one.find(f"{SVG}title")
        assert title is not None and title.text == one.attrib["aria-label"]
        assert one.attrib["tabindex"] == "0"
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for rect in root.iter(f"{SVG}rect"):
        if "x" in rect.attrib and rect.attrib["class"] != "back":
            assert 0 <= float(rect.attrib["x"]) <= float(rect.attrib["x"]) + float(rect.attrib["width"]) <= width
            assert float(rect.attrib["y"]) + float(rect.attrib["height"]) <= height


def test_every_device_and_every_link_of_a_small_fabric_is_there_once() -> None:
    for name in ("lab", "jvd", "brownfield"):
        found = picture(name)
        text = svg(found)
        assert Counter(groups(text, "data-device")) == Counter(device.name for device in found.devices)
        links = (*found.links, *found.attachments)
        assert Counter(groups(text, "data-link")) == Counter(link.name for link in links)
        assert "<style>" not in text and "style=" not in text


def test_a_large_fabric_is_drawn_in_groups_with_every_switch() -> None:
    found = large()
    text = svg(found)
    switches = [device.name for device in found.devices if device.role != "server"]
    assert Counter(groups(text, "data-device")) == Counter(switches)
    assert {f"stripe {number}" for number in range(1, 7)} < set(groups(text, "data-group"))
    assert len(groups(text, "data-bundle")) == 6 * 4
    one = svg(large(rails=8, spines=24), NO_OVERLAY, PictureView("stripe", 2))
    assert {"s2-l0", "s2-h19"} < set(groups(one, "data-device"))


@pytest.mark.parametrize("rails", [2, 8, 16])
def test_leaves_of_one_stripe_stand_side_by_side_above_their_servers(rails: int) -> None:
    root = ElementTree.fromstring(svg(large(rails=rails, spines=96), NO_OVERLAY, PictureView("stripe", 2)))
    rows: dict[str, list[float]] = {"leaf": [], "server": []}
    for one in root.iter(f"{SVG}g"):
        role = one.attrib.get("class", "").removeprefix("device ")
        rect = one.find(f"{SVG}rect")
        if role in rows and rect is not None:
            rows[role].append(float(rect.attrib["y"]))
    assert len(rows["leaf"]) == rails and len(set(rows["leaf"])) == 1
    assert len(rows["server"]) == 20 and min(rows["server"]) > rows["leaf"][0]


@pytest.mark.parametrize("role", ["spine", "leaf", "server"])
def test_a_device_with_a_long_name_covers_no_other(role: Role) -> None:
    names = ["a", "b", "a-name-without-end" * 4, "c"]
    devices = tuple(DrawnDevice(name, role, 0 if role == "spine" else 1) for name in names)
    areas = [box.area for box in laid_out(Picture("x", (), devices, ()), NO_OVERLAY, FABRIC).boxes]
    assert len(areas) == len(names)
    assert all(left.right < right.x for left, right in pairwise(areas))


def test_text_stays_text() -> None:
    evil = '<script>alert("1")</script>'
    leaf, spine = DrawnDevice(evil, "leaf", 1, 0), DrawnDevice("spine1", "spine", colors=(evil,))
    link = Cable(End(evil, "p"), End("spine1", '"><b>'), evil)
    wild = Picture(evil, (evil,), (leaf, spine), (link,))
    text = svg(wild, Overlay(findings={evil: {"error": 1}}, touched={evil: evil}))
    assert "<script>" not in text and "<b>" not in text
    assert groups(text, "data-device") == ["spine1", evil] or set(groups(text, "data-device")) == {"spine1", evil}


def test_an_empty_fabric_and_one_without_spines_are_drawn() -> None:
    ElementTree.fromstring(svg(Picture("none", (), (), ())))
    lab = picture("lab")
    ElementTree.fromstring(svg(replace(lab, devices=lab.devices[:4], links=(), attachments=())))
    ElementTree.fromstring(svg(Picture("none", (), (), ()), NO_OVERLAY, PictureView("path", ends=("a", "b"))))


def test_more_severe_findings_a_failed_link_and_a_load_are_said_in_words() -> None:
    lab = picture("lab")
    name = lab.links[0].name
    text = svg(lab, Overlay(loads={name: (0.5, 1.25)}, findings={name: {"error": 2, "note": 1}}))
    label = next(label for label in groups(text, "aria-label") if label.startswith(name))
    assert label == f"{name}, color green, 400G, load 125%, 2 errors, 1 note"
    down = svg(lab, Overlay(frozenset({name})))
    assert f"{name}, color green, 400G, failed" in groups(down, "aria-label")


def test_ports_show_their_speed_where_a_device_has_several() -> None:
    lab = picture("lab")
    view = PictureView("device", device="stripe1-leaf1")
    assert ">et-0/0/16<" in svg(lab, NO_OVERLAY, view)
    slow = tuple(replace(link, speed_bps=200 * 10**9) for link in lab.attachments)
    text = svg(replace(lab, attachments=slow), NO_OVERLAY, view)
    assert ">et-0/0/16, 200G<" in text and ">et-0/0/0, 400G<" in text


def test_a_bundle_says_how_many_of_its_links_failed() -> None:
    found = large()
    text = svg(found, Overlay(frozenset({found.links[0].name})))
    assert any(label.endswith("16 links, 1 of 16 failed") for label in groups(text, "aria-label"))
    assert ">-1<" in text


def test_a_link_of_several_paths_is_named_by_each_where_each_has_a_line() -> None:
    labels = groups(svg(*CASES["lab-path"]), "aria-label")
    shared = [label for label in labels if label.startswith("stripe1-leaf1:et-0/0/16 - gpu-s1-1:gpu0_eth")]
    assert [label.rpartition(", ")[2] for label in shared] == ["queue pair 1", "queue pair 2"]


def test_a_leaf_that_no_stripe_has_is_drawn_in_a_large_fabric_too() -> None:
    found = large()
    stray = replace(
        found, devices=tuple(replace(one, stripe=0) if one.name == "s1-l0" else one for one in found.devices)
    )
    assert "in no stripe" in groups(svg(stray), "data-group")
    assert "s1-l0" in groups(svg(stray), "data-device")


def test_links_without_a_color_have_a_bus_of_their_own() -> None:
    found = without_color(large(), 5)
    assert "stripe 1 - uncolored" not in groups(svg(found), "data-bundle")
    assert found.links[5].name in groups(svg(found), "data-link")


def test_the_style_sheet_touches_pictures_only() -> None:
    sheet = picture_css().replace("@media (prefers-color-scheme: dark) {", "")
    selectors = [part.strip() for rule in sheet.split("}") if "{" in rule for part in rule.split("{")[0].split(",")]
    assert len(selectors) > 50
    assert [one for one in selectors if not one.startswith(".ailb-picture")] == []


def test_a_view_of_everything_is_the_default() -> None:
    assert svg(picture("lab")) == svg(picture("lab"), NO_OVERLAY, FABRIC)


@pytest.mark.parametrize("name", ["leaf\x01", "leaf\udcff", "leaf\ufffe", "a\u202eb"])
def test_a_name_that_xml_cannot_hold_is_written_out(name: str) -> None:
    text = svg(Picture("f\x1b", (), (DrawnDevice(name, "leaf", 1, 1),), (), ()))

    assert groups(text, "data-device") == [clean(name)]
    assert text.encode().decode() == text


def test_a_bundle_that_lost_links_still_shows_its_load() -> None:
    found = large()
    lost = found.links[0]
    loads = {link.name: (0.0 if link == lost else 1.14, 0.5) for link in found.links}
    text = svg(found, Overlay(down=frozenset({lost.name}), loads=loads))
    bundle = next(line for line in text.splitlines() if 'data-bundle="stripe 1 - green"' in line)
    assert ">-1</text>" in bundle and ">114</text>" in bundle and "load3" in bundle
    assert "N links of a line failed" in text


def test_a_bundle_with_a_drained_link_says_so() -> None:
    found = large()
    text = svg(found, Overlay(drained=frozenset({found.links[0].name})))
    assert ">-1</text>" in text and "N links of a line drained" in text


def test_a_bus_of_a_color_without_a_link_in_service_is_not_in_that_color() -> None:
    found = large()
    green = frozenset(device.name for device in found.devices if device.colors == ("green",))
    root = ElementTree.fromstring(svg(found, Overlay(dead=green)))
    buses = next(one for one in root.iter(f"{SVG}g") if one.attrib.get("class") == "buses")
    down = next(one for one in buses if one.attrib.get("class") == "down")
    assert all("h0" not in path.attrib["class"] for path in down)
    assert not any("h0" in one.attrib["class"].split() for one in buses.iter(f"{SVG}path"))


def test_a_server_without_gpus_looks_like_none_with_them() -> None:
    found = picture("mixed")
    text = svg(found)
    assert text.count('class="device server no-gpus"') == 2
    assert ">storage, 200G</text>" in text and ">no GPUs</text>" in text
    assert "no-gpus" not in svg(picture("lab"))
    many = replace(found, devices=(*found.devices, *(DrawnDevice(f"x{n}", "server", 1) for n in range(20))))
    assert ">23 servers (1 storage)</text>" in svg(many)


def test_a_device_shows_its_ports_in_order() -> None:
    lab = picture("lab")
    turned = replace(lab, links=lab.links[::-1], attachments=lab.attachments[::-1])
    view = PictureView("device", device="stripe1-leaf1")
    assert svg(turned, NO_OVERLAY, view) == svg(lab, NO_OVERLAY, view)


def test_every_color_in_a_legend_has_its_letter_in_the_picture() -> None:
    for name in ("lab-path-failed", "lab-drained", "lab-leaf", "lab-marked"):
        found, overlay, view = CASES[name]
        drawn, _, key = svg(found, overlay, view).partition('<g class="legend">')
        shown = re.findall(r'class="letter halo"[^>]*>(.)<', drawn)
        assert shown and set(re.findall(r'class="letter halo h[^>]*>(.)<', key)) == set(shown), name
