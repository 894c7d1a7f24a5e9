"""Media by option and by length; optics by platform."""

from decimal import Decimal

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.exports.optics import OpticCatalog, OpticItem, choose_media
from ailb_gen.exports.places import Places, RackPosition
from ailb_gen.exports.plant import plant
from tests.conftest import example


def places(length: str, name: str = "lab") -> Places:
    positions = {device: RackPosition("A", None) for device in example(name).roles}
    return Places(positions, {("A", "A"): Decimal(length)})


@pytest.mark.parametrize(("length", "media"), [("3", "dac"), ("3.01", "mmf"), ("50", "mmf"), ("50.5", "smf")])
def test_media_by_length(length: str, media: str) -> None:
    cables = plant(example("lab"), places(length))
    assert set(choose_media(cables, "auto").by_cage.values()) == {media}


def test_an_unknown_length_is_single_mode_and_an_option_wins() -> None:
    cables = plant(example("lab"), Places())
    assert set(choose_media(cables, "auto").by_cage.values()) == {"smf"}
    assert set(choose_media(cables, "aoc").by_cage.values()) == {"aoc"}


def test_two_split_ends_are_no_direct_cable() -> None:
    cables = plant(example("jvd"), places("1", "jvd"))
    media = choose_media(cables, "auto")
    assert {media.of(cable) for cable in cables if cable.kind == "fabric"} == {"mmf"}
    assert {media.of(cable) for cable in cables if cable.kind == "host"} == {"dac"}
    with pytest.raises(UsageError, match=r"--media dac: stripe1-leaf1 et-0/0/0:0 and spine1 et-0/0/0:0 are both parts"):
        choose_media(cables, "dac")


def test_cables_of_one_split_port_share_its_medium() -> None:
    positions = {
        "stripe1-leaf1": RackPosition("A", 1),
        "h100-01": RackPosition("A", 2),
        "h100-02": RackPosition("B", 2),
    }
    lengths = {("A", "A"): Decimal(1), ("A", "B"): Decimal(90)}
    cables = plant(example("jvd"), Places(positions, lengths))
    media = choose_media(cables, "auto")
    assert {media.of(cable) for cable in cables if cable.a.port.startswith("et-0/0/16:")} == {"smf"}


def test_published_optics_have_part_numbers_and_others_none() -> None:
    jvd, brownfield = example("jvd"), example("brownfield")
    cable = plant(jvd, Places())[0]
    optic = OpticItem("OSFP optic, 2 x 400G, single-mode", "OSFP-800G-DR8-2-P", "740-174933")
    assert OpticCatalog(jvd).optic(cable.a.cage, "smf") == optic
    assert OpticCatalog(jvd).optic(cable.a.cage, "mmf") == OpticItem("OSFP optic, 2 x 400G, multimode", "", "")
    link = plant(brownfield, Places())[0]
    assert OpticCatalog(brownfield).optic(link.a.cage, "smf").part == ""
    assert OpticCatalog(brownfield).optic(link.b.cage, "smf").part == "740-085351"


def test_optics_of_other_platforms_and_of_servers_are_described() -> None:
    lab = example("lab")
    cables = plant(lab, Places())
    assert OpticCatalog(lab).optic(cables[0].a.cage, "smf").short == "optic, 400G, single-mode"
    assert OpticCatalog(lab).optic(cables[-1].b.cage, "dac").short == "NIC cable end, 400G, DAC"
