"""Junos XML: the outline says what Juniper's models say, and nothing is guessed."""

from functools import cache
from pathlib import Path

import pytest
from lxml import etree

from ailb_gen.emulator.json_codec import from_json, to_json
from ailb_gen.emulator.load_config import load
from ailb_gen.emulator.messages import RpcRefusedError
from ailb_gen.emulator.outline import read_outline, top
from ailb_gen.emulator.xml_codec import from_xml, select, to_xml
from ailb_gen.junos.reader import read, read_curly
from ailb_gen.junos.tree import Node
from ailb_gen.junos.writer import to_curly
from ailb_gen.render.artifacts import RenderOptions, render
from tests.conftest import EXAMPLES, SMALL, design_of, example
from tests.junos.models import schema

SAMPLE = Path(__file__).with_name("sample.conf")


@cache
def sample() -> Node:
    return load(Node(""), read(SAMPLE.read_text(encoding="utf-8")), "override")


@cache
def trees() -> tuple[Node, ...]:
    """Return every kind of configuration that this program writes, and the sample."""
    texts = []
    for name in ("lab", "jvd", "jvd-8-uplinks", "frontier", "static"):
        design = example(name)
        files = render(design, RenderOptions("curly", None), {design.leaves[0].name, design.spines[0].name})
        texts += [file.content.decode() for path, file in files.items() if path.startswith("switches/")]
    texts += [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.rglob("*.conf"))]
    return sample(), *(load(Node(""), read(text), "override") for text in texts)


@pytest.mark.long
def test_with_and_without_models_the_xml_is_the_same() -> None:
    known = top(schema())
    for tree in trees():
        assert etree.tostring(to_xml(tree, known)) == etree.tostring(to_xml(tree, read_outline()))


@pytest.mark.long
def test_there_and_back_also_as_json() -> None:
    known = read_outline()
    for tree in trees():
        made = to_xml(tree, known)
        for element in (made, from_json(to_json(made, known))):
            assert sorted(from_xml(element, known).paths()) == sorted(tree.paths())


def test_names_of_elements() -> None:
    made = to_xml(sample(), read_outline())
    for path, text in {
        "interfaces/interface/name": "et-0/0/0",
        "interfaces/interface/unit/family/inet6/address/name": "2001:db8::1/64",
        "interfaces/interface/ether-options/ieee-802.3ad/bundle": "ae0",
        "vlans/vlan/vlan-id": "10",
        "policy-options/policy-statement/term/from/route-filter/address": "10.0.0.0/8",
        "policy-options/policy-statement/term/from/route-filter/upto": "/24",
        "policy-options/policy-statement/term/then/community/community-name": "GREEN",
        "routing-options/autonomous-system/as-number": "65001",
        "system/syslog/file/contents/name": "any",
        "apply-groups": "SITE",
    }.items():
        assert made.findtext(path) == text, path
    assert made.find("policy-options/policy-statement/term/from/route-filter/orlonger") is not None


def test_flags() -> None:
    text = "inactive: system { host-name a; } protocols { bgp { inactive: group g { type external; } } }"
    tree = load(Node(""), read_curly(text), "override")
    made = to_xml(tree, read_outline())
    assert [found.tag for found in made.iterfind(".//*[@inactive='inactive']")] == ["system", "group"]
    assert to_curly(load(Node(""), from_xml(made, read_outline()), "override")) == to_curly(tree)


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ('<system><host-name operation="delete"/></system>', "no host-name"),
        ("<system><host-name delete='delete'/></system>", "no host-name"),
        ("<interfaces><interface operation='delete'><name>et-0/0/0</name></interface></interfaces>", "no et-0/0/0"),
        ("<system replace='replace'><domain-name>d</domain-name></system>", "no services"),
        ("<interfaces><interface><name>et-0/0/1</name><mtu>9216</mtu></interface></interfaces>", "mtu 9216;"),
    ],
)
def test_operations(xml: str, expected: str) -> None:
    text = "system { host-name a; services { ssh; } } interfaces { et-0/0/0 { mtu 9000; } }"
    before = load(Node(""), read_curly(text), "override")
    loaded = from_xml(etree.fromstring(f"<configuration>{xml}</configuration>"), read_outline())
    after = to_curly(load(before, loaded, "replace"))
    assert expected[3:] not in after if expected.startswith("no ") else expected in after


@pytest.mark.parametrize(
    "text", ["system { frobnicate; }", "foo { bar; }", "interfaces { et-0/0/0 { mtu 9000 9100; } }"]
)
def test_what_is_not_known_is_refused(text: str) -> None:
    with pytest.raises(RpcRefusedError, match="start it with --yang"):
        to_xml(load(Node(""), read_curly(text), "override"), read_outline())


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        ("<frobnicate/>", "syntax error"),
        ("<interfaces><interface><mtu>1</mtu></interface></interfaces>", "missing key"),
    ],
)
def test_xml_that_is_no_configuration(xml: str, reason: str) -> None:
    with pytest.raises(RpcRefusedError, match=reason):
        from_xml(etree.fromstring(f"<configuration>{xml}</configuration>"), read_outline())


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("<system><host-name/></system>", ["set system host-name leaf1"]),
        (
            "<vlans/>",
            ["set vlans vn10 description first", "set vlans vn10 vlan-id 10", "set vlans vn10 l3-interface irb.10"],
        ),
        ("<vlans><vlan><vlan-id/></vlan></vlans>", ["set vlans vn10 vlan-id 10"]),
        ("<vlans><vlan><name>vn11</name></vlan></vlans>", []),
        ("<vlans><vlan><name>vn10</name><vlan-id/></vlan></vlans>", ["set vlans vn10 vlan-id 10"]),
        ("<snmp><community/></snmp>", ["set snmp community public authorization read-only"]),
    ],
)
def test_filters(wanted: str, expected: list[str]) -> None:
    chosen = from_xml(etree.fromstring(f"<configuration>{wanted}</configuration>"), read_outline(), True)
    found = select(sample(), chosen)
    assert [f"set {' '.join(path)}" for path in found.paths() if path] == expected


def test_generated_files_need_no_models() -> None:
    """Guard the outline without the shared models."""
    for path, file in render(design_of(SMALL), RenderOptions("curly", None)).items():
        if path.startswith("switches/"):
            to_xml(load(Node(""), read(file.content.decode()), "override"), read_outline())
