"""Ports of switches without overrides are made at once: as one by one."""

import json

import pytest

from ailb_gen.design.build import build
from ailb_gen.intent.load import load, parse
from ailb_gen.yamlio import read_yaml
from tests.conftest import EXAMPLES


@pytest.mark.parametrize("example", ["jvd", "jvd-8-uplinks", "mixed", "static", "lab"])
def test_an_override_that_changes_nothing_changes_no_port(example: str) -> None:
    path = EXAMPLES / example / "fabric.yaml"
    design = build(load(path))[0]
    body = read_yaml(path.read_text(encoding="utf-8"), str(path)).data
    used = {
        switch.name: {"ports": {switch.fabric_ports[0].interface: {"disabled": False}}} for switch in design.switches
    }
    body["overrides"] = {
        "leaves": {leaf.name: used[leaf.name] for leaf in design.leaves},
        "spines": {spine.name: used[spine.name] for spine in design.spines},
    }
    stated = build(parse(json.dumps(body), str(path), path.parent))[0]
    assert stated.leaves == design.leaves
    assert stated.spines == design.spines
