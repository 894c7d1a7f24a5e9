"""The rails of NICs, and servers without GPUs, from the files."""

from __future__ import annotations

from ailb_gen.network.fabric import End, Network
from ailb_gen.network.rails import rails_of, without_gpus
from ailb_gen.network.read import network_of
from tests.conftest import ROOT

GOLDEN = ROOT / "tests" / "golden"


def cabled(rails: dict[str, int], *nics: tuple[str, str]) -> Network:
    """A network of the cables of one server: (NIC, leaf)."""
    return Network({}, {}, {}, (), {("a", nic): End(leaf, nic) for nic, leaf in nics}, (), {}, rails)


def test_the_rail_is_that_of_the_leaf() -> None:
    network = cabled({"l1": 0, "l2": 1, "l3": 2}, ("x", "l3"), ("y", "l1"))
    assert rails_of(network, "a", ["x", "y"]) == {"x": 2, "y": 0}
    # A NIC without a cable is on no other's rail.
    assert rails_of(network, "a", ["eno1", "x", "y"]) == {"eno1": 3, "x": 2, "y": 0}


def test_without_numbers_or_with_several_nics_on_a_leaf_the_order_counts() -> None:
    expected = {"x": 0, "y": 1}
    assert rails_of(cabled({}, ("x", "l3"), ("y", "l1")), "a", ["x", "y"]) == expected
    assert rails_of(cabled({"l1": 1}, ("x", "l1"), ("y", "l1")), "a", ["x", "y"]) == expected


def test_lists_of_cables_number_the_leaves() -> None:
    """In `mixed` the storage servers have NICs on the first and the third rail."""
    network = network_of(GOLDEN / "mixed")
    assert network.rails == {f"stripe{s}-leaf{n + 1}": n for s in (1, 2) for n in range(4)}
    assert rails_of(network, "store-2-1", ["ens0np0", "ens1np0"]) == {"ens0np0": 0, "ens1np0": 2}
    assert without_gpus(network) == {"store-1-1", "store-2-1"}


def test_where_no_server_has_an_environment_all_may_have_gpus() -> None:
    network = network_of(GOLDEN / "lab")
    assert without_gpus(network) == frozenset()
    bare = {name: host for name, host in network_of(GOLDEN / "mixed").hosts.items() if name.startswith("store")}
    assert without_gpus(Network({}, bare, {}, (), {}, ())) == frozenset()
