"""Texts that switches share are those that the templates make of each."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.design.build import build
from ailb_gen.design.model import Design, DesignSwitch, HostPort
from ailb_gen.intent.load import load
from ailb_gen.render.alike import MARK, SharedTexts
from ailb_gen.render.artifacts import Renderer, RenderOptions, render
from ailb_gen.render.environment import Templates
from tests.conftest import EXAMPLES, ROOT, SMALL, design_of, examples

TEMPLATES = Templates()
# What the templates read of a switch: places in a shared text, and what those that share it have in common.
PLACES = (
    "device.name device.asn device.router_id device.loopback device.management.address device.management.gateway "
    "device.vlan.id device.vlan.name device.vlan.description prefix.text prefix.gateway port.description"
)
COMMON = (
    "device.role device.platform device.maximum_ecmp device.port_types device.extra_config device.as_lists "
    "device.management device.management.interface device.vlan device.prefixes device.interfaces device.fabric_ports "
    "device.groups prefix.color.name prefix.color.backup port.kind port.interface port.sub_ports port.speed port.mtu "
    "port.disabled device.graceful_shutdown group.name group.color group.color.name group.neighbor group.as_list "
    "group.interfaces group.ports"
)
# Switches with addresses of links share nothing.
STATIC = (
    "port.addresses port.addresses.own port.addresses.peer port.addresses.peer_asn port.color.name device.fabric_ports"
)

# Names that hold each other and words of the templates, numbers that are equal by chance, and what may be stated of a
# fabric, a stripe, a switch or a port.
NAMES = (
    {"leaf": "{s}{l}", "spine": "{k}"},
    {"leaf": "leaf{s}{l}", "spine": "leaf{k}"},
    {"leaf": "irb{s}-{l}", "spine": "et-{k}"},
)
FABRIC: tuple[dict[str, Any], ...] = (
    {"asn": {"leaves": "2-99", "spines": "100-199"}},
    {"vlans": {"first": 2, "unique": "stripe"}},
    {"loopbacks": {"leaves": "fd00:1::/64", "spines": "fd00:2::/64"}},
    {"management": {"gateway": "192.0.2.1", "leaves": "192.0.2.11/24"}},
    {"bgp": {"neighbors": "static", "groups": "single"}},
    {"colors": 1},
    {"spare_ports": {"leaf": ["et-0/0/3*"]}},
    {"drain": ["* et-0/0/17"]},
)
SETTINGS: tuple[dict[str, Any], ...] = (
    {"bfd": {"enabled": False}},
    {"mtu": {"irb": 9000}},
    {"ra": {"valid_lifetime_s": 2592000, "max_interval_s": 20}},
    {"load_balancing": {"dlb": "off"}},
    {"roce": {"buffers": {}}},
    {"extra_config": f"/* {MARK}0{MARK} stripe1-leaf1 */"},
)
ALONE: tuple[dict[str, Any], ...] = ({}, {"management": "192.0.2.99/24"}, {"asn": 3333, "vlan": 3333})
TEXTS = st.sampled_from(["1", "a (b)", "%@", MARK, f"{MARK}0{MARK}", "device.name", "delete:", "fc00::1"])
PORTS = st.fixed_dictionaries({"description": TEXTS}) | st.sampled_from([{"disabled": True}, {"mtu": 9216}])


@st.composite
def fabrics(draw: st.DrawFn) -> str:
    """Draw a fabric of six leaves and two spines, some of which have settings of their own."""
    names = draw(st.sampled_from(NAMES))
    body: dict[str, Any] = {"name": "f", "platform": "generic", "rails": 2, "spines": 2, "servers": 2, "names": names}
    for part in draw(st.lists(st.sampled_from(FABRIC), max_size=3)):
        body |= part
    body |= draw(st.sampled_from([{}, *SETTINGS]))
    leaves = [names["leaf"].format(s=1 + n // 2, l=1 + n % 2) for n in range(6)]
    own = st.sampled_from(SETTINGS) | st.builds(lambda row: {"ports": {"et-0/0/16": row}}, PORTS)
    spines = st.sampled_from([names["spine"].format(k=k) for k in (1, 2)])
    body["stripes"] = [draw(st.sampled_from([{}, *SETTINGS])) for _ in range(3)]
    body["overrides"] = {
        "leaves": draw(st.dictionaries(st.sampled_from(leaves), own, max_size=6))
        | {draw(st.sampled_from(leaves)): draw(st.sampled_from(ALONE))},
        "spines": draw(st.dictionaries(spines, st.sampled_from(SETTINGS), max_size=2)),
    }
    return json.dumps(body)


@given(fabrics())
@settings(max_examples=examples(200))
def test_random_fabrics_have_the_texts_that_the_templates_make(text: str) -> None:
    shared, single, _ = texts(design_of(text))
    assert shared == single


def texts(design: Design) -> tuple[list[str], list[str], int]:
    """Return the texts of all switches as shared, then each rendered on its own, and how many were rendered."""
    renderer, rendered = Renderer(design, RenderOptions()), []
    renderer.templates = TEMPLATES

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
    marked = [replace(leaf, extra_config=(f"/* {MARK}x{MARK} */",)) for leaf in design.leaves]
    shared, single, rendered = texts(replace(design, leaves=tuple(marked)))
    assert shared == single
    assert rendered > len(marked)


@pytest.mark.parametrize(
    ("stated", "line"),
    [({"mtu": 9000}, "mtu 9000;"), ({"speed": "10g"}, "speed 10g;"), ({"disabled": True}, "        disable;")],
)
def test_switches_that_differ_in_more_than_names_are_not_alike(stated: dict[str, Any], line: str) -> None:
    design = design_of(SMALL)
    first, *rest = design.leaves
    rows = [row._replace(**stated) if isinstance(row, HostPort) else row for row in first.interfaces]
    shared, single, _ = texts(replace(design, leaves=(*rest, replace(first, interfaces=tuple(rows)))))
    assert shared == single
    assert line in shared[len(rest)]


def test_the_whole_tree_has_the_shared_texts() -> None:
    design = design_of(SMALL)
    tree = render(design, RenderOptions())
    for device, text in zip(design.switches, texts(design)[1], strict=True):
        assert tree[f"switches/{device.name}.conf"].content.decode() == text
