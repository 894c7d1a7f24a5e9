"""Texts that switches share are those that the templates make of each."""

import re
from dataclasses import replace

import pytest

from ailb_gen.design.build import build
from ailb_gen.design.model import Design, DesignSwitch
from ailb_gen.intent.load import load
from ailb_gen.render.alike import MARK, SharedTexts
from ailb_gen.render.artifacts import Renderer, RenderOptions, render
from tests.conftest import EXAMPLES, ROOT, SMALL, design_of

# What the templates read of a switch: places in a shared text, and what those that share it have in common.
PLACES = (
    "device.name device.asn device.router_id device.loopback device.management.address device.management.gateway "
    "device.vlan.id device.vlan.name device.vlan.description prefix.text prefix.gateway port.description"
)
COMMON = (
    "device.role device.platform device.maximum_ecmp device.port_types device.extra_config device.as_lists "
    "device.management device.management.interface device.vlan device.prefixes device.interfaces device.fabric_ports "
    "device.groups prefix.color.name prefix.color.backup port.kind port.interface port.sub_ports port.speed port.mtu "
    "port.disabled group.name group.color group.color.name group.neighbor group.as_list group.interfaces group.ports"
)
# Switches with addresses of links share nothing.
STATIC = (
    "port.addresses port.addresses.own port.addresses.peer port.addresses.peer_asn port.color.name device.fabric_ports"
)


def texts(design: Design) -> tuple[list[str], list[str], int]:
    """Return the texts of all switches as shared, then each rendered on its own, and how many were rendered."""
    renderer, rendered = Renderer(design, RenderOptions()), []

    def count(device: DesignSwitch) -> str:
        rendered.append(device)
        return renderer._switch_text(device)

    shared = SharedTexts(count)
    return (
        [shared.text(one) for one in design.switches],
        list(map(renderer._switch_text, design.switches)),
        len(rendered),
    )


@pytest.mark.parametrize("example", ["jvd", "jvd-8-uplinks", "mixed", "static", "brownfield"])
def test_examples_have_the_texts_that_the_templates_make(example: str) -> None:
    shared, single, _ = texts(build(load(EXAMPLES / example / "fabric.yaml"))[0])
    assert shared == single


def test_whatever_the_templates_read_is_a_place_or_in_common() -> None:
    found = {
        word
        for path in (ROOT / "templates" / "junos").iterdir()
        for word in re.findall(r"\b(?:device|port|prefix|group)\.[a-z_.]*[a-z_]", path.read_text(encoding="utf-8"))
    }
    assert found == {*PLACES.split(), *COMMON.split(), *STATIC.split()}, "see `values` and `shape` in render/alike.py"


def test_rendering_is_counted_by_shape_and_not_by_switch() -> None:
    few, many = (texts(design_of(SMALL.replace("stripes: 2", f"stripes: {n}"))) for n in (4, 16))
    # Two leaves and one with places; each spine has a color of its own.
    assert few[2] == many[2] == 5
    assert many[0] == many[1]


def test_what_needs_quotes_has_them_on_the_switch_that_has_it_alone() -> None:
    design = design_of(SMALL)
    odd = design.leaves[-1]
    rows = [row._replace(description="a (b)") if isinstance(row, tuple) else row for row in odd.interfaces]
    design = replace(design, leaves=(*design.leaves[:-1], replace(odd, interfaces=tuple(rows))))
    shared, single, _ = texts(design)
    assert shared == single
    assert sum('description "a (b)";' in text for text in shared) == 1


def test_a_text_with_the_mark_of_places_is_not_shared() -> None:
    design = design_of(SMALL)
    marked = [replace(leaf, extra_config=(f"/* {MARK}1{MARK} */",)) for leaf in design.leaves]
    shared, single, rendered = texts(replace(design, leaves=tuple(marked)))
    assert shared == single
    assert rendered > len(marked)


def test_switches_that_differ_in_more_than_names_are_not_alike() -> None:
    design = design_of(SMALL)
    first, *rest = design.leaves
    rows = [row._replace(mtu=9000) if isinstance(row, tuple) and len(row) > 3 else row for row in first.interfaces]
    shared, single, _ = texts(replace(design, leaves=(*rest, replace(first, interfaces=tuple(rows)))))
    assert shared == single
    assert "mtu 9000;" in shared[len(rest)]


def test_the_whole_tree_has_the_shared_texts() -> None:
    design = design_of(SMALL)
    tree = render(design, RenderOptions())
    for device, text in zip(design.switches, texts(design)[1], strict=True):
        assert tree[f"switches/{device.name}.conf"].content.decode() == text
