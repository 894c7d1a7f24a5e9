"""Names, addresses and labels of devices and uplinks."""

from pathlib import Path

from ailb_gen.deploy.inventory import AilbInventory
from ailb_gen.design.model import DesignServer, DesignSwitch
from ailb_gen.exports import labels
from tests.conftest import EXAMPLES, design_of, example
from tests.exports.fabrics import odd_design


def test_groups_are_those_of_the_inventory() -> None:
    design = example("mixed")
    ours = AilbInventory(EXAMPLES / "mixed" / "fabric.yaml").load()
    devices: tuple[DesignSwitch | DesignServer, ...] = (*design.switches, *design.servers)
    for device in devices:
        assert labels.groups(device) == [group.name for group in ours.hosts[device.name].groups]


def test_an_address_is_that_of_management_or_the_name(tmp_path: Path) -> None:
    assert labels.address(example("jvd").leaves[0]) == "stripe1-leaf1"
    design = odd_design(tmp_path)
    assert [labels.address(one) for one in (design.leaves[0], design.servers[1])] == ["192.0.2.11", "192.0.2.102"]


def test_every_uplink_has_both_ends(tmp_path: Path) -> None:
    design = odd_design(tmp_path)
    found = list(labels.uplinks(design))
    ends = {(link.device, link.interface, link.color, link.peer, link.peer_interface) for link in found}
    assert len(ends) == len(found) == 2 * len(design.links)
    assert {(peer, port, color, device, interface) for device, interface, color, peer, port in ends} == ends


def test_links_out_of_service_are_left_out() -> None:
    text = "name: f\nplatform: generic\nstripes: 1\nrails: 2\nspines: 3\nservers: 1\ndrain: [spine2]\n"
    assert {link.peer for link in labels.uplinks(design_of(text))} == {
        "spine1",
        "spine3",
        "stripe1-leaf1",
        "stripe1-leaf2",
    }


def test_a_spine_with_one_color_has_it_as_a_label() -> None:
    design = example("jvd")
    assert labels.labels(design, design.spines[1])["color"] == "blue"
    assert "color" not in labels.labels(design, design.leaves[0])
