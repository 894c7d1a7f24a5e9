"""What a larger fabric takes, and what it changes of the smaller one."""

import pytest

from ailb_gen.design.addition import addition, cables, lines
from ailb_gen.design.model import Design
from tests.conftest import SMALL, design_of, example

COLORED = SMALL + "colors: 2\nmanagement: {leaves: 192.0.2.1/24, servers: 192.0.2.101/24}\n"


def after(old: str, new: str) -> Design:
    assert old in COLORED
    return design_of(COLORED.replace(old, new))


def test_a_stripe_takes_devices_numbers_and_ports_and_changes_nothing() -> None:
    more = addition(design_of(COLORED), after("stripes: 2", "stripes: 3"))
    assert [switch.name for switch in more.switches] == ["stripe3-leaf1", "stripe3-leaf2"]
    assert (more.moved, more.renumbered, more.recolored) == ((), {}, 0)
    assert dict(lines(more)) == {
        "leaves": "2: stripe3-leaf1, stripe3-leaf2",
        "servers": "2: server-005, server-006",
        "AS numbers": "4200100005-4200100006",
        "router-ids": "2: 10.255.16.5, 10.255.16.6",
        "management": "4: 192.0.2.5/24 to 192.0.2.106/24",
        "VLANs": "6-7",
        "prefixes": "4: fc00:3:1:1::/64 to fc00:3:2:2::/64",
        "links": "4 of 400g",
        "server cables": "4 of 400g",
        "ports of spine1 to spine2": "2: et-0/0/4 to et-0/0/5",
    }


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("rails: 2", "rails: 3", {"AS numbers": 2, "router-ids": 2, "management addresses": 2, "VLANs": 2}),
        ("spines: 2", "spines: 4", {}),
        ("servers: 2", "servers: 3", {"stripes": 1, "leaf ports": 2}),
        ("colors: 2", "colors: 1", {"prefixes": 4, "routing tables": 4}),
    ],
)
def test_what_changes(old: str, new: str, changed: dict[str, int]) -> None:
    more = addition(design_of(COLORED), after(old, new))
    assert {what: len(names) for what, names in more.renumbered.items()} == changed
    told = dict(lines(more))
    for what, count in changed.items():
        assert told[f"{what} that change"].startswith(f"{count} device")


def test_links_that_get_another_color_and_cables_that_move() -> None:
    base = SMALL + "links_per_spine: 2\n"
    more = addition(design_of(base), design_of(base.replace("spines: 2", "spines: 4")))
    assert (more.recolored, dict(lines(more))["colors that change"]) == (8, "8 existing links")
    more = addition(design_of(SMALL), design_of(base))
    assert dict(lines(more))["cables that change"] == "7"


def test_cables_of_a_fabric_are_those_of_its_cabling_list() -> None:
    design = example("mixed")
    found = cables(design)
    assert len(found) == len(design.links) + sum(len(server.ports) for server in design.servers)
    assert len({cable.ends for cable in found}) == len(found)
