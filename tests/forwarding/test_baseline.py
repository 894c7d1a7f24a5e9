"""The index of a fabric without failures: demands, loads, uses of every link, and what it claims of them."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given

from ailb_gen.forwarding.baseline import NOT_ONE, Baseline
from ailb_gen.forwarding.loads import Links
from ailb_gen.routing.fib import fib_entry, held, node_of
from ailb_gen.routing.rib import Routing
from ailb_gen.routing.solve import select
from tests.forwarding.examples import LAB_LEAVES, advertised, by_name, routing
from tests.routing.fabrics import Case, cases, random_fabrics


def baseline(name: str, *failed: str) -> Baseline:
    found = routing(name, *failed)
    return Baseline(found, advertised(found))


def test_demand_and_loads_of_the_lab() -> None:
    """Each of 4 leaves sends 1, a third to each other one, a quarter of that to each of its 4 prefixes."""
    found = baseline("lab")
    assert len(found.prefixes) == 16
    assert found.weight.tolist() == [1 / 12] * 16
    for number, owner in enumerate(found.owner):
        expected = [1 / 12 if name in LAB_LEAVES else 0.0 for name in found.graph.names]
        expected[owner] = 0.0
        assert found.demand(number).tolist() == expected
    # 16 links up carry 4 in all, and as many down.
    assert set(by_name(found.routing, found.load).values()) == {0.25}
    assert found.highest == pytest.approx(0.25)
    assert found.lost == 0


def test_what_is_lost_is_counted() -> None:
    """Leaf 1 without uplinks: 1/3 of 3 leaves and its own 1 are lost."""
    found = baseline("lab", *(f"stripe1-leaf1 spine{k}" for k in range(1, 5)))
    assert found.lost == pytest.approx(2)


def test_a_fabric_without_prefixes() -> None:
    found = Baseline(routing("lab"), {})
    assert (found.prefixes, found.highest, found.lost, found.uses) == ([], 0.0, 0.0, {})
    assert not found.load.any()
    assert found.second_hops(0).tolist() == []


def test_prefixes_that_arrive() -> None:
    """Without its uplinks nobody reaches leaf 1, which reaches nobody; with them everybody does."""
    assert all(map(baseline("lab").arrives, range(len(baseline("lab").states))))
    cut = baseline("lab", *(f"stripe1-leaf1 spine{k}" for k in range(1, 5)))
    assert not any(map(cut.arrives, range(len(cut.states))))


def test_second_hops() -> None:
    """A spine has one link to the owner of each prefix; from a leaf the second hop is not the last one."""
    found = baseline("lab")
    links = Links(found.routing)
    spine, leaf = found.graph.index["spine2"], found.graph.index["stripe1-leaf2"]
    for number, link in enumerate(found.second_hops(spine)):
        session = found.graph.sessions.up[link // 2]
        assert (session.a.device, session.b.device) == (found.graph.names[found.owner[number]], "spine2")
        assert link in links.of[spine]
    assert set(found.second_hops(leaf).tolist()) == {NOT_ONE}


def test_parallel_links_are_not_one() -> None:
    """Two links to each of 16 leaves: of 8 colors one is on either link alone, the 6 of other spines are on both."""
    found = baseline("jvd-8-uplinks")
    hops = found.second_hops(found.graph.index["spine1"]).tolist()
    assert len(hops) == 16 * 8
    assert hops.count(NOT_ONE) == 16 * 6
    assert len(set(hops)) == 16 * 2 + 1


def used(found: Baseline) -> dict[tuple[int, int], set[int]]:
    """The prefixes that every (node, position) is listed with."""
    rows: dict[tuple[int, int], set[int]] = {}
    for node, uses in found.uses.items():
        for at, by_ways in uses.plain.items():
            for ways, numbers in by_ways.items():
                assert at in ways
                rows.setdefault((node, at), set()).update(numbers.tolist())
        for at, listed in uses.special.items():
            assert len(listed) == len(set(listed))
            assert rows.get((node, at), set()).isdisjoint(listed)
            rows.setdefault((node, at), set()).update(listed)
    return rows


@pytest.mark.long
@random_fabrics(40)
@given(cases())
def test_random_fabrics(case: Case) -> None:
    routes = Routing(case.network)
    found = Baseline(routes, advertised(routes))
    check_that_every_use_is_listed_once(found)
    check_that_what_is_plain_loses_a_path_and_nothing_else(found)
    check_second_hops(found)


def check_that_every_use_is_listed_once(found: Baseline) -> None:
    """All best paths; where MED is compared, all paths that are not hidden, for they can keep others out."""
    expected: dict[tuple[int, int], set[int]] = {}
    for number, state in enumerate(found.states):
        for node, rib in state.nodes.items():
            usable = [candidate for candidate in rib.candidates if not candidate.hidden]
            compared = any(candidate.route.med is not None for candidate in usable)
            for at in (at for candidate in usable for at in candidate.positions):
                if compared or at in rib.selection.best:
                    expected.setdefault((node, at), set()).add(number)
    assert used(found) == expected
    for device, numbers in found.apart.items():
        assert numbers.tolist() == [number for number, state in enumerate(found.states) if device in state.singles]


def check_that_what_is_plain_loses_a_path_and_nothing_else(found: Baseline) -> None:
    """Whatever paths are lost, as long as one is left: the others are the best, in the FIB, and not sent."""
    graph = found.graph
    for node, uses in found.uses.items():
        device = graph.device(node)
        for ways, number in {
            (ways, int(number)) for rows in uses.plain.values() for ways, numbers in rows.items() for number in numbers
        }:
            state = found.states[number]
            rib = state.nodes[node]
            assert fib_entry(graph, state, node) == ways
            assert not any(rib.sent)
            for size in range(1, len(ways)):
                for down in combinations(ways, size):
                    kept = [
                        one._replace(positions=tuple(at for at in one.positions if at not in down))
                        for one in rib.candidates
                    ]
                    best = select(graph, device, tuple(one for one in kept if one.positions)).best
                    assert best == tuple(at for at in ways if at not in down)


def check_second_hops(found: Baseline) -> None:
    links = found.links
    for device in range(len(found.graph.names)):
        for number, link in enumerate(found.second_hops(device).tolist()):
            state = found.states[number]
            ways = fib_entry(found.graph, state, node_of(found.graph, state, device))
            near = [at for at in ways if held(found.graph, state, found.graph.adjacencies[device][at].peer).local]
            expected = [int(links.of[device][at]) for at in near] if len(ways) == 1 else []
            assert ([] if link == NOT_ONE else [link]) == expected
