"""Junos JSON; that every configuration goes there and back is in `test_xml_codec.py`."""

import json

import pytest

from ailb_gen.emulator.json_codec import from_json, to_json
from ailb_gen.emulator.load_config import load
from ailb_gen.emulator.messages import RpcRefusedError
from ailb_gen.emulator.outline import read_outline
from ailb_gen.emulator.xml_codec import from_xml, to_xml
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.tree import Node
from ailb_gen.junos.writer import to_curly


def test_the_form() -> None:
    text = (
        "system { host-name a; services { inactive: ssh; } } "
        "interfaces { inactive: et-0/0/0 { mtu 9216; unit 0 { family inet6; } } } "
        "vlans { vn10 { vlan-id 10; } } protocols { bgp { group g { export [ X Y ]; } log-updown; } }"
    )
    tree = load(Node(""), read_curly(text), "override")
    made = to_json(to_xml(tree, read_outline()), read_outline())
    assert json.loads(made)["configuration"] == {
        "system": {"host-name": "a", "services": {"ssh": {"@": {"inactive": True}}}},
        "interfaces": {
            "interface": [
                {
                    "@": {"inactive": True},
                    "name": "et-0/0/0",
                    "mtu": "9216",
                    "unit": [{"name": "0", "family": {"inet6": {}}}],
                }
            ]
        },
        "vlans": {"vlan": [{"name": "vn10", "vlan-id": "10"}]},
        "protocols": {"bgp": {"group": [{"name": "g", "export": ["X", "Y"]}], "log-updown": [None]}},
    }
    assert to_curly(load(Node(""), from_xml(from_json(made), read_outline()), "override")) == to_curly(tree)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "the JSON is not"),
        ('{"configuration": 1}', "the JSON is not"),
        ('{"configuration": {"a b": 1}}', "syntax error"),
        ('{"configuration": ' + '{"a": ' * 200 + "1" + "}" * 201, "levels deep"),
    ],
)
def test_what_is_no_configuration(text: str, reason: str) -> None:
    with pytest.raises(RpcRefusedError, match=reason):
        from_json(text)
