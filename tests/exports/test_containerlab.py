"""containerlab: the rules of its schema, cables and configurations in the names of the virtual switch."""

import csv
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.exports.containerlab import lab
from ailb_gen.exports.kind import ExportInput
from ailb_gen.junos.reader import read_file
from tests.cli.verbs import run
from tests.conftest import EXAMPLES, design_of, example
from tests.exports.fabrics import odd_design, written

BYTE = "([0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])"
ADDRESS = {"type": "string", "pattern": rf"^({BYTE}\.){{3}}{BYTE}$"}
TEXTS = {"type": "array", "minItems": 1, "items": {"type": "string"}}
NODE = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["juniper_vjunosevolved", "linux"]},
        "image": {"type": "string"},
        "group": {"type": "string"},
        "startup-config": {"type": "string"},
        "binds": TEXTS | {"uniqueItems": True},
        "exec": TEXTS,
        "mgmt-ipv4": ADDRESS,
    },
    "additionalProperties": False,
}
ENDPOINTS = {"type": "array", "minItems": 2, "uniqueItems": True, "items": {"type": "string", "pattern": r"^\S+:\S+$"}}
LINKS = {"type": "array", "minItems": 1, "items": {"type": "object", "properties": {"endpoints": ENDPOINTS}}}
# schemas/clab.schema.json of srl-labs/containerlab at b11ef1add1ee, cut down to the keys that are written here: its
# kinds, node-config (which refuses other keys), link-config and mgmt. No registry has the file.
SCHEMA = {
    "type": "object",
    "required": ["name", "topology"],
    "properties": {
        "name": {"type": "string"},
        "mgmt": {
            "type": "object",
            "properties": {
                "network": {"type": "string"},
                "ipv4-subnet": {"type": "string", "pattern": "(^.+/[0-9]{1,2}$)|(auto)"},
                "ipv4-gw": ADDRESS,
            },
            "minProperties": 1,
            "additionalProperties": False,
        },
        "topology": {
            "type": "object",
            "required": ["nodes"],
            "properties": {
                "kinds": {"additionalProperties": NODE},
                "nodes": {"additionalProperties": NODE},
                "links": LINKS,
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
SMALL = """\
name: small
platform: qfx5240-64od
stripes: 1
rails: 2
spines: 2
servers: 2
uplinks: {speed: 400g}
host_ports: {speed: 400g, first_port: 16}
"""


def topology(design: Design, folder: Path) -> Any:
    text = (written(design, "containerlab", folder) / f"{design.name}.clab.yml").read_text()
    # containerlab reads YAML 1.2.
    found = YAML(typ="safe", pure=True).load(text)
    jsonschema.Draft7Validator(SCHEMA).validate(found)
    return found


def test_every_cable_is_a_link_between_ports_that_the_nodes_have(tmp_path: Path) -> None:
    design = example("lab")
    found = topology(design, tmp_path)
    nodes = found["topology"]["nodes"]
    assert set(nodes) == {*(one.name for one in design.switches), *(one.name for one in design.servers)}
    ends = [end.split(":", 1) for link in found["topology"]["links"] for end in link["endpoints"]]
    assert len({tuple(end) for end in ends}) == len(ends) == 2 * (16 + 8)
    for node, port in ends:
        switch = nodes[node]["kind"] != "linux"
        assert re.fullmatch(r"et-0/0/([0-9]|1[01])" if switch else r"gpu[01]_eth", port), (node, port)
    assert ["stripe1-leaf1", "et-0/0/4"] in ends


def test_configurations_have_the_ports_of_the_virtual_switch(tmp_path: Path) -> None:
    design = design_of(SMALL)
    folder = written(design, "containerlab", tmp_path)
    rows = list(csv.DictReader((folder / "ports.csv").read_text().splitlines()))
    assert {"device": "stripe1-leaf1", "port": "et-0/0/16:0", "lab_port": "et-0/0/2"} in rows
    for switch in design.switches:
        root = read_file(folder / f"configs/{switch.name}.cfg")
        names = {row["lab_port"] for row in rows if row["device"] == switch.name}
        assert {one.word for one in root.each("interfaces") if one.word.startswith("et-")} == names
        words = {node.word for node in root.below()}
        assert not {"number-of-sub-ports", "speed"} & words
        assert {word for word in words if re.fullmatch(r"et-\S+\.0", word)} >= {
            f"{row['lab_port']}.0" for row in rows if row["device"] == switch.name and switch.role == "spine"
        }
        assert not [word for word in words if re.fullmatch(r"et-\d+/\d+/\d+:\d+(\.\d+)?", word)]


def test_files_of_artifacts_are_used(tmp_path: Path) -> None:
    fabric, generated, out = EXAMPLES / "lab" / "fabric.yaml", tmp_path / "generated", tmp_path / "lab"
    assert run("generate", str(fabric), "-o", str(generated))[0] == 0
    (generated / "switches/spine1.conf").write_text("system { host-name other; }\n")
    assert run("export", "containerlab", str(fabric), str(generated), "-o", str(out)) == (0, "", "")
    own = lab(ExportInput(example("lab")))
    written = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert written.pop("configs/spine1.cfg") == b"system {\n    host-name other;\n}\n"
    assert written == {path: data for path, data in own.items() if path != "configs/spine1.cfg"}


def test_artifacts_of_another_fabric_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"stripe1-leaf1\.conf: cannot be read: No such file"):
        lab(ExportInput(example("lab"), tmp_path))


def test_a_switch_with_too_many_ports_is_named() -> None:
    message = "spine1 has 16 cabled ports, and vJunosEvolved has 12; export a smaller fabric"
    with pytest.raises(UsageError, match=message):
        lab(ExportInput(example("jvd")))


def test_management_is_that_of_the_fabric_and_set_up_by_containerlab(tmp_path: Path) -> None:
    names = ("on", "1e5")
    found = topology(odd_design(tmp_path, names), tmp_path)
    assert found["mgmt"] == {"network": "1e3-mgmt", "ipv4-subnet": "192.0.2.0/24", "ipv4-gw": "192.0.2.254"}
    nodes = found["topology"]["nodes"]
    assert {name: nodes[name]["mgmt-ipv4"] for name in (*names, "off")} == {
        "on": "192.0.2.101",
        "1e5": "192.0.2.102",
        "off": "192.0.2.1",
    }
    root = read_file(tmp_path / "configs/off.cfg")
    assert not root.has("interfaces", "re0:mgmt-0")
    assert not root.has("routing-instances")
