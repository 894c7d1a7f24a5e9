"""The links that flows take, by load balancer."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from ailb_gen.sim.balancers import BALANCERS, SPREAD
from ailb_gen.sim.clos import clos
from ailb_gen.sim.fabric import SPINE, UNREACHABLE, FabricArrays
from ailb_gen.sim.failures import without_links
from ailb_gen.sim.fluid.run import advanced, prepared
from ailb_gen.sim.fluid.state import FOREVER
from ailb_gen.sim.settings import BalancerSettings, SimulationSettings
from ailb_gen.sim.workload import Workload
from tests.sim.fluid.tasks import Path, flows_of, workload
from tests.sim.walk import next_links, shares

RATE = 100_000_000_000


def fabric(**words: int) -> FabricArrays:
    return clos(4, 4, 4, host_bps=RATE, uplink_bps=RATE, **words)


def all_pairs(repeats: int = 1) -> Workload:
    return workload([(a, b, 10_000, 0) for _ in range(repeats) for a in range(16) for b in range(16) if a != b])


def paths(built: FabricArrays, work: Workload, balancer: str, seed: int = 1, **parameters: float) -> dict[int, Path]:
    """Return the path of every flow when the last one has started."""
    state = prepared(built, work, SimulationSettings(balancer=BalancerSettings(balancer, parameters)), seed)
    state, _ = advanced(state, built.forwarding[0].next_hops, int(work.start_ps.max()) + 1, FOREVER // 4)
    assert state.run[0]["flowing"] == work.count
    tasks, found, _ = flows_of(state)
    return dict(zip(tasks, found, strict=True))


@pytest.mark.parametrize("balancer", sorted(name for name, row in BALANCERS.items() if row.rule != SPREAD))
@pytest.mark.parametrize("colors", [0, 4])
def test_a_path_follows_the_next_hops(balancer: str, colors: int) -> None:
    built, work = fabric(host_links=2, leaf_spine_links=2, colors=colors), all_pairs()
    for task, path in paths(built, work, balancer).items():
        target = int(work.target[task])
        count = int(built.first_destination[target + 1] - built.first_destination[target])
        destination = int(built.first_destination[target]) + int(work.queue_pair[task]) % count
        node = int(work.source[task])
        by_node = {int(built.link_source[link]): link for link in path}
        assert set(path.values()) == {1.0}
        for _ in path:
            assert by_node[node] in next_links(built, node, destination)
            node = int(built.link_target[by_node[node]])
        assert node == target


@pytest.mark.parametrize("balancer", sorted(name for name, row in BALANCERS.items() if row.rule == SPREAD))
def test_packets_of_one_flow_are_spread_evenly(balancer: str) -> None:
    built, work = fabric(host_links=2, leaf_spine_links=3), all_pairs()
    # Next-hop sets of different sizes: one uplink less here and there.
    built = without_links(built, range(128, 150, 5))
    for task, path in paths(built, work, balancer).items():
        expected, arrived = shares(built, int(work.source[task]), int(work.target[task]))
        assert arrived == 1
        assert path == pytest.approx({link: float(share) for link, share in expected.items()})


def uplinks(built: FabricArrays, found: dict[int, Path], hosts: int = 16) -> Counter[int]:
    """Count the flows on each link from leaf to spine."""
    up = (built.link_source >= hosts) & (built.tier[built.link_target] == SPINE)
    return Counter(link for path in found.values() for link in path if up[link])


def test_hashes_differ_by_seed_and_are_even_in_the_long_run() -> None:
    built, work = fabric(), all_pairs(20)
    one, other = (uplinks(built, paths(built, work, "ecmp", seed)) for seed in (1, 2))
    assert one != other
    expected = 20 * 16 * 12 / 16
    for counts in (one, other):
        assert len(counts) == 16
        # Six standard deviations of a binomial distribution.
        assert all(abs(count - expected) < 6 * np.sqrt(expected * 3 / 4) for count in counts.values())


def test_the_same_seed_everywhere_polarizes() -> None:
    # Both a NIC and an uplink are chosen from two: with one hash the second choice repeats the first.
    built, work = (
        clos(2, 2, 4, host_bps=RATE, uplink_bps=RATE, host_links=2),
        workload([(a, b, 10_000, 0) for _ in range(10) for a in range(4) for b in range(4, 8)]),
    )

    def choices(polarized: int) -> set[tuple[int, int]]:
        found = paths(built, work, "ecmp", same_seed=polarized)
        kinds = [
            [link for link in path if built.link_source[link] < 10 and built.link_target[link] >= 8]
            for path in found.values()
        ]
        return {(min(pair) % 2, max(pair) % 2) for pair in kinds}

    assert choices(0) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert choices(1) == {(0, 0), (1, 1)}


def test_the_start_in_place_of_the_port_is_hashed() -> None:
    built = fabric(leaf_spine_links=4)
    work = workload([(0, 15, 10_000, 0)] * 30)
    assert len(uplinks(built, paths(built, work, "ecmp", hash_start=1))) == 1
    assert len(uplinks(built, paths(built, work, "ecmp"))) > 1


@pytest.mark.parametrize("balancer", ["dlb", "dlb-assigned-flow", "glb", "rlb"])
def test_flows_go_where_the_load_is_least(balancer: str) -> None:
    built = fabric()
    one_by_one = workload([(0, 4 + number, 10**6, number * 1000) for number in range(4)])
    for seed in range(3):
        assert set(uplinks(built, paths(built, one_by_one, balancer, seed)).values()) == {1}
    # Flows that start at one instant do not know of each other.
    assert paths(built, all_pairs(), balancer) == paths(built, all_pairs(), "ecmp")


def test_of_full_links_the_one_with_fewer_flows_is_taken() -> None:
    # Two uplinks of a tenth of the hosts' rate: each flow is limited there.
    built = clos(2, 2, 4, host_bps=RATE, uplink_bps=RATE // 10)
    one_by_one = workload([(number % 4, 4 + number % 4, 10**6, number * 1000) for number in range(8)])
    assert set(uplinks(built, paths(built, one_by_one, "dlb"), 8).values()) == {4}


def test_global_load_balancing_looks_at_the_links_of_the_spines() -> None:
    built = fabric()
    # The first flow fills a spine's link to the last leaf; the second comes from another leaf.
    rows = workload([(0, 12, 10**6, 0), (4, 13, 10**6, 1000)])

    def spines(balancer: str, seed: int) -> int:
        found = paths(built, rows, balancer, seed)
        return len({int(built.link_source[link]) for path in found.values() for link in path} & set(range(20, 24)))

    assert all(spines("glb", seed) == 2 for seed in range(12))
    assert any(spines("dlb", seed) == 1 for seed in range(12))


def test_the_color_decides_under_rlb() -> None:
    built = fabric(colors=4)
    work = workload([(0, 15, 10_000, 0)] * 8)
    for task, path in paths(built, work, "rlb").items():
        assert {int(node) - 20 for link in path if (node := built.link_target[link]) >= 20} == {task % 4}


@pytest.mark.parametrize("balancer", ["ecmp", "spray"])
def test_no_path(balancer: str) -> None:
    built = fabric()
    hops = built.forwarding[0].next_hops.copy()
    hops[4, 3] = UNREACHABLE
    lost = replace(built, forwarding=(replace(built.forwarding[0], next_hops=hops),))
    found = paths(lost, workload([(0, 15, 10_000, 0)] * 20), balancer)
    # Hashing loses the flows by the first spine, spreading a part of each.
    empty = [path for path in found.values() if not path]
    assert len(empty) == 20 if balancer == "spray" else 0 < len(empty) < 20
    loop = hops.copy()
    loop[4, 3] = built.forwarding[0].next_hops[4, 0]
    circle = replace(built, forwarding=(replace(built.forwarding[0], next_hops=loop),))
    assert not all(paths(circle, workload([(0, 15, 10_000, 0)] * 20), balancer).values())
