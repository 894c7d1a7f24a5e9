"""The forwarding table has the next hops that routing computes; the tables as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.junos.reader import read
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from ailb_gen.routing.rib import Routing
from tests.conftest import design_of
from tests.emulator.operations.lab import (
    LEAF,
    NAMES,
    Fake,
    ask,
    lab,
)
from tests.network.lab import TEXTS, network

RPC = "get-forwarding-table-information"


@pytest.mark.parametrize("name", NAMES)
def test_every_next_hop_is_one_of_routing(name: str) -> None:
    routing = Routing(network(TEXTS))
    device = routing.graph.index[name]
    found = {
        entry.findtext("rt-destination"): [
            hop.findtext("via") for hop in entry.iterfind("nh") if hop.find("via") is not None
        ]
        for entry in ask(Fake(name, lab()), RPC).iter("rt-entry")
    }
    learned = {str(prefix): [hop.interface for hop in routing.next_hops(device, prefix)] for prefix in routing.prefixes}
    assert {prefix: hops for prefix, hops in learned.items() if hops} == {
        prefix: hops for prefix, hops in found.items() if hops
    }
    assert any(found.values())


INTENT = """\
name: tiny
platform: generic
stripes: 1
rails: 2
spines: 2
servers: 1
colors: [blue]
"""


@pytest.fixture
def fabric(tmp_path: Path) -> EmulatedFabric:
    """Two spines of one color: every prefix has two next hops on a leaf."""
    write_rendering(rendering(design_of(INTENT), tmp_path, RenderOptions("curly", None)))
    found = EmulatedFabric.read(tmp_path)
    for file in sorted((tmp_path / "switches").iterdir()):
        found.commit(file.stem, read(file.read_text(), file.name))
    return found


def _hops(device: Fake, **arguments: str) -> dict[str, list[tuple[str, str]]]:
    return {
        entry.findtext("rt-destination", ""): [
            (hop.findtext("nh-type", ""), hop.findtext("via", "")) for hop in entry.iterfind("nh")
        ]
        for entry in ask(device, RPC, **arguments).iter("rt-entry")
    }


def test_a_list_of_next_hops_only_with_a_policy_of_the_forwarding_table(fabric: EmulatedFabric, tmp_path: Path) -> None:
    leaf = Fake(LEAF, fabric)
    [far] = [prefix for prefix, hops in _hops(leaf).items() if hops[0][0] == "ulst"]
    assert _hops(leaf)[far] == [("ulst", ""), ("ucst", "et-0/0/0.0"), ("ucst", "et-0/0/1.0")]
    tree = read((tmp_path / "switches" / f"{LEAF}.conf").read_text(), LEAF)
    del tree.children["routing-options"].children["forwarding-table"]
    fabric.commit(LEAF, tree)
    assert _hops(leaf)[far] == [("ucst", "et-0/0/0.0")]


def test_one_destination(fabric: EmulatedFabric) -> None:
    leaf, other = Fake(LEAF, fabric), "fc00:1:2:1::"
    assert list(_hops(leaf, destination=f"{other}/64")) == list(_hops(leaf, destination=f"{other}5")) == [f"{other}/64"]
    assert _hops(leaf, destination="2001:db8::/32") == _hops(leaf, destination="10.0.0.0/8") == {}
    assert _hops(leaf, family="inet") == {}
