"""DOT as Graphviz reads it, and Mermaid's limits; Mermaid's own parser is in `tests/browser/test_mermaid.py`."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import pytest

from ailb_gen.network.fabric import Cable, End
from ailb_gen.picture.graph_text import MOST_EDGES, dot, mermaid
from ailb_gen.picture.model import NO_OVERLAY, DrawnDevice, Overlay, Picture
from ailb_gen.picture.view import FABRIC, PictureView
from ailb_gen.wording import clean
from tests.conftest import need_tool
from tests.picture.examples import large, picture
from tests.picture.test_golden import CASES


def laid_out(text: str) -> dict[str, object]:
    """What the real `dot` makes of a text: JSON with every node and edge."""
    done = subprocess.run([need_tool("dot"), "-Tjson"], input=text, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", CASES)
def test_graphviz_lays_every_picture_out(name: str) -> None:
    text = dot(*CASES[name])
    found = laid_out(text)
    edges = found.get("edges", [])
    assert isinstance(edges, list)
    assert len(edges) == text.count(" -- ")


def test_graphviz_sees_every_device_and_link_of_the_lab() -> None:
    lab = picture("lab")
    found = laid_out(dot(lab))
    objects, edges = found["objects"], found["edges"]
    assert isinstance(objects, list) and isinstance(edges, list)
    names = {one["_gvid"]: one["name"] for one in objects}
    assert set(names.values()) == {device.name for device in lab.devices} | {"cluster_1", "cluster_2"}
    pairs = {frozenset((names[edge["tail"]], names[edge["head"]])) for edge in edges}
    assert pairs == {frozenset((link.a.device, link.b.device)) for link in (*lab.links, *lab.attachments)}


def test_names_that_no_generator_makes_stay_text() -> None:
    evil = 'a"]; b [label="x\\n\n<script>'
    leaf, spine = DrawnDevice(evil, "leaf", 1, 0), DrawnDevice("spine1", "spine")
    wild = Picture(evil, ("green",), (leaf, spine), (Cable(End(evil, "p"), End("spine1", "q"), "green"),))
    found = laid_out(dot(wild))
    objects = found["objects"]
    assert isinstance(objects, list)
    assert {one["name"] for one in objects} == {clean(evil).replace("\\", "\\\\"), "spine1", "cluster_1"}
    assert "#quot;" in mermaid(wild) and "<script>" not in mermaid(wild)


def test_mermaid_gets_no_more_edges_than_it_takes() -> None:
    wide = large(stripes=150)
    assert dot(wide).count(" -- ") > MOST_EDGES
    text = mermaid(wide)
    assert text.count(" ---") == 150
    assert "150 stripes" not in text and "8 spines" in text
    assert mermaid(wide, NO_OVERLAY, PictureView("rail", 1)).count(" ---") <= MOST_EDGES


def test_links_without_a_color_are_drawn_plain() -> None:
    lab = picture("lab")
    bare = replace(lab, links=tuple(replace(link, color="") for link in lab.links))
    assert "stroke:#8c959f" in mermaid(bare, NO_OVERLAY, FABRIC)


def test_servers_beyond_those_of_a_picture_are_one_node() -> None:
    view = PictureView("rail", 1)
    text = dot(large(stripes=2, rails=2, spines=4), NO_OVERLAY, view)
    assert text.count("more servers of stripe") == 2 * 3 and "12 servers" in text
    assert '"s1-h7" [' in text and '"s1-h8" [' not in text


def test_servers_say_their_kind_and_loads_stand_beside_each_other() -> None:
    mixed = picture("mixed")
    assert 'label="store-1-1\\nstorage, 200G"' in dot(mixed) and "rankdir=TB" in dot(mixed)
    loads = {link.name: (1.0, 1.0) for link in mixed.links}
    assert "rankdir=LR" in dot(mixed, Overlay(loads=loads))


def test_a_bundle_that_lost_links_still_says_its_load() -> None:
    found = large()
    lost = found.links[0].name
    loads = {link.name: (1.14, 0.5) for link in found.links}
    assert "G x16 1 of 16 failed 114%" in mermaid(found, Overlay(down=frozenset({lost}), loads=loads))
    assert "G x16 1 of 16 drained" in mermaid(found, Overlay(drained=frozenset({lost})))
