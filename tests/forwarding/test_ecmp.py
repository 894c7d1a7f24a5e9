"""The Monte-Carlo run of ECMP hashing, against expectations that can be counted out."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ailb_gen.forwarding import ecmp
from ailb_gen.forwarding.ecmp import monte_carlo
from ailb_gen.forwarding.loads import Links
from ailb_gen.forwarding.patterns import all_to_all, rails_and_rates, ring
from tests.forwarding.examples import advertised, routing

if TYPE_CHECKING:
    from ailb_gen.forwarding.loads import Volumes

MANY = 2000


def circle(name: str) -> Volumes:
    """Every leaf sends one flow to the next leaf."""
    found = routing(name)
    leaves = list(advertised(found))
    matrix: Volumes = np.zeros((len(found.graph.names), len(found.graph.names)))
    for at, leaf in enumerate(leaves):
        matrix[leaf, leaves[(at + 1) % len(leaves)]] = 1.0
    return matrix


def most(flows: int, ways: int) -> dict[int, float]:
    """How probable each highest number of flows on one of the ways is, by counting all cases."""
    cases = Counter(max(Counter(case).values()) for case in product(range(ways), repeat=flows))
    return {highest: count / ways**flows for highest, count in cases.items()}


def expected(flows: int, ways: int, leaves: int) -> float:
    """The mean of the highest number of flows on any link, where every leaf hashes as many as it has links."""
    below = np.cumsum([most(flows, ways).get(highest, 0.0) for highest in range(flows + 1)]) ** leaves
    return float(sum(highest * chance for highest, chance in enumerate(np.diff(below), 1)))


def test_perfect_once_in_eleven() -> None:
    """4 flows on 4 uplinks: 4! / 4^4 = 9.4 %, as it was measured."""
    assert most(4, 4)[1] == pytest.approx(0.09375)
    assert expected(4, 4, 1) == pytest.approx(2.125)


def test_four_queue_pairs_of_four_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes up to a spine all comes down on one link: both directions have the same loads."""
    monkeypatch.setattr(ecmp, "DRAWS", MANY)
    found = monte_carlo(Links(routing("lab")), circle("lab"), 4, seed=1)
    assert found is not None
    assert found.draws == MANY
    assert found.up == found.down
    # The highest of 16 links has a variance of less than 0.5: 5 standard errors are less than 0.08.
    assert found.up == pytest.approx(expected(4, 4, 4), abs=0.08)


def test_how_often_hashing_is_perfect(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 flows of each of 8 leaves on 2 uplinks: (1/2)^8 = 0.4 %; 2000 draws give 7.8 and seldom more than 22."""
    monkeypatch.setattr(ecmp, "DRAWS", MANY)
    found = monte_carlo(Links(routing("brownfield")), circle("brownfield"), 2, seed=1)
    assert found is not None
    assert 0 < found.perfect <= 22
    assert found.up == pytest.approx(expected(2, 2, 8), abs=0.02)


def test_many_flows_even_out() -> None:
    """The more queue pairs, the nearer to 1, from above."""
    links, matrix = Links(routing("lab")), circle("lab")
    found = [monte_carlo(links, matrix, pairs, seed=3) for pairs in (4, 64, 1024, 1 << 20)]
    ratios = [one.up for one in found if one is not None]
    assert len(ratios) == 4
    assert ratios == sorted(ratios, reverse=True)
    assert 1 < ratios[-1] < 1.01


def test_parallel_links_down_share_evenly() -> None:
    """With two links between leaf and spine the way down is chosen for a spine, not for a link: less uneven."""
    graph = routing("jvd-8-uplinks").graph
    matrix = ring(rails_and_rates(graph.network, graph.index)[0], len(graph.names))
    found = monte_carlo(Links(routing("jvd-8-uplinks")), matrix, 8, seed=5)
    assert found is not None
    assert 1 < found.down < found.up


def cell_by_cell(links: Links, matrix: Volumes, pairs: int, seed: int, volumes: Volumes) -> tuple[float, float]:
    """One draw, with every queue pair added to its links by itself."""
    random, graph = np.random.default_rng(seed), links.graph
    load, down = np.zeros(links.count), defaultdict[tuple[int, int], float](float)
    for device, row in enumerate(graph.adjacencies):
        for target in map(int, np.flatnonzero(matrix[device]) if row else ()):
            count, chances = int(matrix[device, target] * pairs), np.full(len(row), 1 / len(row))
            for at, many in enumerate(random.multinomial([count], chances)[0]):
                carried = float(many * volumes[device, target] / matrix[device, target])
                load[links.of[device][at]] += carried
                down[row[at].peer, target] += carried
    for (spine, target), carried in down.items():
        ways = [at for at, entry in enumerate(graph.adjacencies[spine]) if entry.peer == target]
        load[links.of[spine][ways]] += carried / len(ways)
    return float(load[0::2].max() / load[0::2].mean()), float(load[1::2].max() / load[1::2].mean())


def all_to_all_drawn_once(
    name: str, faster: float, batch: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[Links, Volumes, Volumes]:
    """Return links, flows and volumes of all pairs, half of which carry so much more, for single draws in batches."""
    monkeypatch.setattr(ecmp, "BATCH", batch)
    monkeypatch.setattr(ecmp, "DRAWS", 1)
    graph = routing(name).graph
    flows = all_to_all(rails_and_rates(graph.network, graph.index)[0], len(graph.names))
    volumes = flows.copy()
    volumes[: len(flows) // 2] *= faster
    return Links(routing(name)), flows, volumes


@pytest.mark.parametrize("batch", [1, 100, 1_000_000])
@pytest.mark.parametrize("faster", [1, 2.5])
@pytest.mark.parametrize("name", ["lab", "brownfield", "jvd-8-uplinks"])
def test_sums_are_those_of_every_queue_pair(
    name: str, faster: float, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However flows are taken together, in one draw: with parallel cables, and with servers of two speeds."""
    links, flows, volumes = all_to_all_drawn_once(name, faster, batch, monkeypatch)
    found = monte_carlo(links, flows, 4, 3, None if faster == 1 else volumes)
    assert found is not None
    assert found.draws == 1
    assert (found.up, found.down) == cell_by_cell(links, flows, 4, 3, volumes)


def means(links: Links, flows: Volumes, volumes: Volumes | None) -> tuple[float, float]:
    """The means of single draws by many seeds, up and down."""
    found = [monte_carlo(links, flows, 4, seed, volumes) for seed in range(600)]
    assert all(one is not None and one.draws == 1 for one in found)
    rows = [(one.up, one.down) for one in found if one is not None]
    return float(np.mean([up for up, _ in rows])), float(np.mean([down for _, down in rows]))


@pytest.mark.sampled(4, 6)
@pytest.mark.parametrize("batch", [1, 1_000_000])
@pytest.mark.parametrize("faster", [1, 2.5])
@pytest.mark.parametrize("name", ["lab", "brownfield", "jvd-8-uplinks"])
def test_sums_of_flows_are_hashed_like_each_flow(
    name: str, faster: float, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are too many flows for a draw of each: the same means, with parallel cables and with two speeds."""
    links, flows, volumes = all_to_all_drawn_once(name, faster, batch, monkeypatch)
    each = means(links, flows, None if faster == 1 else volumes)
    monkeypatch.setattr(ecmp, "WORK", 1)
    # The ratios have standard deviations of less than 0.3: 4 standard errors of a difference are less than 0.07.
    assert means(links, flows, None if faster == 1 else volumes) == pytest.approx(each, abs=0.07)


def test_a_seed_gives_the_same_again() -> None:
    links, matrix = Links(routing("lab")), circle("lab")
    found = [monte_carlo(links, matrix, 4, seed) for seed in (7, 7, 8)]
    assert found[0] == found[1] != found[2]


def test_nothing_crosses_a_spine() -> None:
    assert monte_carlo(Links(routing("lab")), np.zeros((8, 8)), 4, seed=1) is None


def test_large_fabrics_are_drawn_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """12 flows over 4 uplinks fit 2 times into 100; once is drawn even if it does not fit."""
    graph = routing("lab").graph
    matrix = all_to_all(rails_and_rates(graph.network, graph.index)[0], len(graph.names))
    assert int((matrix > 0).sum()) == 12
    for work, draws in ((100, 2), (1, 1)):
        monkeypatch.setattr(ecmp, "WORK", work)
        found = monte_carlo(Links(routing("lab")), matrix, 4, seed=1)
        assert found is not None
        assert found.draws == draws
