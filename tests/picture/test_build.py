"""Pictures of whole, damaged and foreign trees."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.picture.build import picture_in, picture_of, unread, without_file
from ailb_gen.picture.formats import svg
from ailb_gen.picture.model import DrawnDevice, Picture
from tests.checks.trees import GOLDEN, network_of
from tests.cli.verbs import changed
from tests.picture.examples import expected, picture


def copied(name: str, folder: Path) -> Path:
    shutil.copytree(GOLDEN / name, folder / name, symlinks=True)
    return folder / name


def drawn(name: str, root: Path) -> tuple[Picture, list[str]]:
    found, defects = picture_in(expected(name), root)
    return found, [f"{one.scope}: {one.message}" for one in defects]


@pytest.mark.parametrize("name", ["lab", "jvd", "brownfield"])
def test_the_lists_of_cables_and_all_files_give_the_same_picture(name: str) -> None:
    assert picture_of(expected(name), network_of(GOLDEN / name)) == picture(name)


def test_servers_have_their_kind_and_the_speed_of_their_nics_where_these_differ() -> None:
    found = {device.name: device for device in picture("mixed").devices}
    assert found["store-1-1"] == DrawnDevice("store-1-1", "server", 1, kind="storage", gpus=False, speeds="200G")
    assert found["b200-01"] == DrawnDevice("b200-01", "server", 2, kind="b200", speeds="800G")
    assert found["h100-01"] == DrawnDevice("h100-01", "server", 1, speeds="400G")


def test_devices_have_their_role_stripe_rail_and_colors() -> None:
    found = {device.name: device for device in picture("lab").devices}
    assert found["stripe2-leaf1"] == DrawnDevice("stripe2-leaf1", "leaf", 2, 0)
    assert found["spine3"] == DrawnDevice("spine3", "spine", colors=("red",))
    assert found["gpu-s2-1"] == DrawnDevice("gpu-s2-1", "server", 2)
    assert picture("jvd-8-uplinks").colors[:4] == ("green", "blue", "red", "orange")


def test_without_the_table_the_topology_is_drawn_and_without_both_the_descriptions(tmp_path: Path) -> None:
    root = copied("lab", tmp_path)
    whole = picture("lab")
    (root / "cabling.csv").unlink()
    found, told = drawn("lab", root)
    assert {link.name for link in found.links} == {link.name for link in whole.links}
    assert len(told) == 1 and told[0].startswith("cabling.csv: ")
    (root / "topology.json").write_text("{")
    found, told = drawn("lab", root)
    assert {link.name for link in found.links} == {link.name for link in whole.links}
    assert {link.name for link in found.attachments} == {link.name for link in whole.attachments}
    assert any(one.startswith("topology.json: not JSON") for one in told)


def test_devices_that_the_intent_does_not_know_are_drawn_with_what_they_are_cabled_to(tmp_path: Path) -> None:
    root = copied("lab", tmp_path)
    changed(root, "cabling.csv", "stripe1-leaf1,et-0/0/0,spine1", "strange,et-0/0/0,spine9")
    changed(root, "cabling.csv", "stripe1-leaf1,et-0/0/16,gpu-s1-1", "stripe1-leaf1,et-0/0/16,guest")
    found, told = drawn("lab", root)
    devices = {device.name: device for device in found.devices}
    assert told == []
    assert devices["strange"] == DrawnDevice("strange", "leaf")
    assert devices["spine9"] == DrawnDevice("spine9", "spine", colors=("green",))
    assert devices["guest"] == DrawnDevice("guest", "server", 1)
    assert "in no stripe" in svg(found)


def test_switches_that_only_the_files_have_are_drawn(tmp_path: Path) -> None:
    root = copied("lab", tmp_path)
    shutil.copy(root / "switches" / "spine1.conf", root / "switches" / "spine7.conf")
    shutil.copy(root / "switches" / "stripe1-leaf1.conf", root / "switches" / "spare.conf")
    names = {device.name: device.role for device in picture_of(expected("lab"), network_of(root)).devices}
    assert (names["spine7"], names["spare"]) == ("spine", "leaf")


def test_a_switch_without_a_file_is_drawn_as_it_is_cabled(tmp_path: Path) -> None:
    root = copied("lab", tmp_path)
    (root / "switches" / "spine1.conf").unlink()
    assert drawn("lab", root) == (picture("lab"), [])


def test_a_directory_without_artifacts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no switches/ in it"):
        picture_in(expected("lab"), tmp_path)


def test_switches_that_a_network_has_no_file_of_are_known(tmp_path: Path) -> None:
    root = copied("lab", tmp_path)
    (root / "switches" / "spine1.conf").unlink()
    (root / "switches" / "stripe1-leaf1.conf").write_text("interfaces {\n")
    found = picture("lab")
    assert unread(found, network_of(root)) == {"spine1", "stripe1-leaf1"}
    assert without_file(found, root) == ["spine1"]
