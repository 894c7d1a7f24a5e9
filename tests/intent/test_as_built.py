"""Facts from CSV files: addresses of switches, and cables as they are. Bad files have cases in `tests/errors/`."""

from pathlib import Path

import pytest

from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_cabling import expected_cabling
from ailb_gen.design.build import build
from ailb_gen.design.model import Design
from ailb_gen.errors import IntentError
from ailb_gen.intent.load import Intent, load, parse
from ailb_gen.render.fabric_files import cabling
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"


def fabric(name: str, folder: Path, more: str) -> Path:
    text = (EXAMPLES / name / "fabric.yaml").read_text(encoding="utf-8")
    (folder / "fabric.yaml").write_text(text + more, encoding="utf-8")
    return folder / "fabric.yaml"


def design_of(intent: Intent) -> Design:
    return build(intent)[0]


@pytest.mark.parametrize("name", ["jvd", "lab", "mixed", "jvd-8-uplinks"])
def test_the_generated_cabling_as_input_changes_nothing(name: str, tmp_path: Path) -> None:
    before = design_of(load(EXAMPLES / name / "fabric.yaml"))
    path = fabric(name, tmp_path, "cabling: {csv: cabling.csv}\n")
    (tmp_path / "cabling.csv").write_bytes(cabling(before))
    after = design_of(load(path))
    assert after.digest != before.digest, "it is another input"
    assert (after.switches, after.servers, after.links) == (before.switches, before.servers, before.links)


def test_cables_that_were_moved_have_their_ports(tmp_path: Path) -> None:
    """A link and a NIC on other ports: the design has them, and so has the independent expectation of the checks."""
    path = fabric("lab", tmp_path, "cabling: {csv: cabling.csv}\n")
    text = cabling(design_of(load(EXAMPLES / "lab" / "fabric.yaml"))).decode()
    moved = {
        "stripe1-leaf1,et-0/0/0,spine1,et-0/0/0,": "stripe1-leaf1,et-0/0/40,spine1,et-0/0/41,",
        "stripe2-leaf2,et-0/0/16,gpu-s2-1,gpu1_eth,": "stripe2-leaf2,et-0/0/60,gpu-s2-1,gpu1_eth,",
    }
    for old, new in moved.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    (tmp_path / "cabling.csv").write_text(text, encoding="utf-8")
    intent = load(path)
    rows = cabling(design_of(intent)).decode().splitlines()
    assert sorted(rows) == sorted(text.splitlines())
    expected = expected_cabling(expected_fabric(intent.fabric))
    assert sorted(map(",".join, (*expected.links, *expected.hosts))) == sorted(text.splitlines()[1:])


def test_switches_have_the_addresses_of_the_file(tmp_path: Path) -> None:
    path = fabric("lab", tmp_path, "management: {csv: switches.csv, leaves: 10.0.0.11/24}\n")
    (tmp_path / "switches.csv").write_text("role;management;name\nleaf;10.0.0.99/24;stripe1-leaf2\nspine;;spine4\n")
    found = {one.name: one.management and one.management.address for one in design_of(load(path)).switches}
    assert (found["stripe1-leaf1"], found["stripe1-leaf2"], found["spine4"]) == ("10.0.0.11/24", "10.0.0.99/24", None)


def test_overrides_of_the_fabric_file_win(tmp_path: Path) -> None:
    more = """
management: {csv: switches.csv}
cabling: {csv: cabling.csv}
overrides:
  leaves: {stripe1-leaf1: {management: 10.0.0.1/24, uplinks: {spine1: [et-0/0/50]}}}
  servers: {gpu-s1-1: {cables: {gpu0_eth: {leaf: stripe1-leaf1, port: et-0/0/51}}}}
"""
    path = fabric("lab", tmp_path, more)
    (tmp_path / "switches.csv").write_text("name,role,management\nstripe1-leaf1,leaf,10.0.0.99/24\n", encoding="utf-8")
    (tmp_path / "cabling.csv").write_bytes(cabling(design_of(load(EXAMPLES / "lab" / "fabric.yaml"))))
    design = design_of(load(path))
    management, link = design.leaves[0].management, design.links[0]
    assert management is not None and management.address == "10.0.0.1/24"
    assert (link.leaf_interface, link.spine_interface) == ("et-0/0/50", "et-0/0/0")
    assert design.servers[0].ports == ("et-0/0/51", "et-0/0/16")


def test_files_can_be_left_out(tmp_path: Path) -> None:
    """As `inventory pull` needs it, which writes them."""
    path = fabric("lab", tmp_path, "cabling: {csv: cabling.csv}\n")
    text = path.read_text(encoding="utf-8")
    with pytest.raises(IntentError, match=r"cabling\.csv: cannot read the file"):
        parse(text, "fabric.yaml", tmp_path)
    before = load(EXAMPLES / "lab" / "fabric.yaml")
    assert design_of(parse(text, "fabric.yaml", tmp_path, {"cabling.csv"})).links == design_of(before).links


def test_a_row_that_is_too_much(tmp_path: Path) -> None:
    path = fabric("lab", tmp_path, "cabling: {csv: cabling.csv}\n")
    (tmp_path / "cabling.csv").write_text(f"a_device,a_port,b_device,b_port,kind\n{'x' * 70_000},,,,\n")
    with pytest.raises(IntentError, match=r"cabling\.csv:.*csv-row.*more than 65,536 characters"):
        load(path)
