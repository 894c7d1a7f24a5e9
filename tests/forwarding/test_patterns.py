"""Traffic matrices of collectives, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.forwarding.patterns import all_to_all, permutation, rails_and_rates, ring, shifted
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.rails import natural
from tests.forwarding.examples import routing

# Four servers on two leaves of one rail, a fifth one on a third leaf.
ROWS = [[0, 0, 1, 1, 2]]
anything = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=9), max_size=4)


def attached(*pairs: tuple[str, str, str]) -> Network:
    """A network of nothing but servers' cables: (server, NIC, leaf)."""
    return Network({}, {}, {}, (), {(server, nic): End(leaf, "et-0/0/0") for server, nic, leaf in pairs}, ())


def test_rails_of_the_reference_fabric() -> None:
    """8 rails; h100-01 and -02 are on the leaves of stripe 1, -03 and -04 on those of stripe 2."""
    graph = routing("jvd").graph
    expected = [[graph.index[f"stripe{stripe}-leaf{rail}"] for stripe in (1, 1, 2, 2)] for rail in range(1, 9)]
    assert rails_and_rates(graph.network, graph.index)[0] == expected


def test_numbers_in_names_are_numbers() -> None:
    """gpu2 is before gpu10, and so is server 2; the order of the cables does not matter."""
    names = [(f"s{server}", f"gpu{nic}", f"leaf{nic}") for server in (10, 2) for nic in (10, 2, 1)]
    index = {"leaf1": 1, "leaf2": 2, "leaf10": 0}
    assert rails_and_rates(attached(*names), index)[0] == [[1, 1], [2, 2], [0, 0]]
    apart = [("s10", "gpu0", "leaf1"), ("s2", "gpu0", "leaf10"), ("s1", "gpu0", "leaf2")]
    assert rails_and_rates(attached(*apart), index)[0] == [[0, 1, 2]]


def test_what_is_cabled_to_no_known_switch_is_left_out() -> None:
    """The others keep their rails: gpu1 is not on the first one because gpu0's leaf is not known."""
    names = [("a", "gpu0", "gone"), ("a", "gpu1", "leaf2"), ("b", "gpu0", "leaf1"), ("b", "gpu1", "leaf2")]
    assert rails_and_rates(attached(*names, ("c", "gpu0", "gone")), {"leaf1": 0, "leaf2": 1})[0] == [[0], [1, 1]]
    assert rails_and_rates(attached(), {})[0] == []


def test_a_ring() -> None:
    """0→0→1→1→2→0: what stays on a leaf is no fabric traffic."""
    assert ring(ROWS, 3).tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_a_permutation() -> None:
    """By 5 // 2 = 2: servers 0→2, 1→3, 2→4, 3→0, 4→1."""
    assert permutation(ROWS, 3).tolist() == [[0, 2, 0], [1, 0, 1], [1, 0, 0]]


def test_all_to_all() -> None:
    """2 NICs on leaf 0, 2 on leaf 1, 1 on leaf 2: as many pairs as the products."""
    assert all_to_all(ROWS, 3).tolist() == [[0, 4, 2], [4, 0, 2], [2, 2, 0]]
    assert all_to_all([], 2).tolist() == [[0, 0], [0, 0]]


def test_between_two_speeds_the_lower_one_holds() -> None:
    """Two NICs of 400G on leaf 0, one of 800G on leaf 1 and one on leaf 2."""
    rows, speeds = [[0, 0, 1, 2]], [[1.0, 1.0, 2.0, 2.0]]
    assert all_to_all(rows, 3, speeds).tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    assert ring(rows, 3, speeds).tolist() == [[0, 1, 0], [0, 0, 2], [1, 0, 0]]
    assert permutation(rows, 3, speeds).tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]


def test_speeds_over_the_slowest() -> None:
    """The speed of a cable is that of the leaf's port; one that is not known counts as the slowest."""
    network = attached(("a", "gpu0", "leaf1"), ("b", "gpu0", "leaf2"), ("c", "gpu0", "leaf3"))
    ends = {server: end for (server, _), end in network.attachments.items()}
    known = replace(network, attachment_bps={ends["a"]: 400 * 10**9, ends["b"]: 800 * 10**9})
    assert rails_and_rates(known, {"leaf1": 0, "leaf2": 1, "leaf3": 2})[1] == [[1.0, 2.0, 1.0]]


def test_the_reference_fabric_keeps_nothing_to_itself_in_a_permutation() -> None:
    graph = routing("jvd").graph
    rows = rails_and_rates(graph.network, graph.index)[0]
    assert permutation(rows, len(graph.names)).sum() == 4 * 8
    # Half of the ring's steps stay on their leaf: 01→02 and 03→04.
    assert ring(rows, len(graph.names)).sum() == 2 * 8


@given(anything, st.integers(0, 12))
def test_every_leaf_sends_and_receives_once(rows: list[list[int]], by: int) -> None:
    """Every leaf sends and receives as much as it has servers, but for what stays on it."""
    matrix = shifted(rows, 6, by)
    stay = [
        sum(row[(at + by) % len(row)] == leaf for row in rows for at, own in enumerate(row) if own == leaf)
        for leaf in range(6)
    ]
    servers = [sum(row.count(leaf) for row in rows) for leaf in range(6)]
    expected = [have - kept for have, kept in zip(servers, stay, strict=True)]
    assert matrix.sum(axis=0).tolist() == matrix.sum(axis=1).tolist() == expected
    assert not np.diagonal(matrix).any()


@given(anything)
def test_all_to_all_is_symmetric(rows: list[list[int]]) -> None:
    matrix = all_to_all(rows, 6)
    nics = sum(map(len, rows))
    same = sum(sum(row.count(leaf) for row in rows) ** 2 for leaf in range(6))
    assert (matrix == matrix.T).all()
    assert matrix.sum() == nics * nics - same


def test_names_with_numbers_of_any_length_have_an_order() -> None:
    long = "gpu" + "9" * 5000
    assert sorted([long, "gpu10", "gpu2"], key=natural) == ["gpu2", "gpu10", long]
