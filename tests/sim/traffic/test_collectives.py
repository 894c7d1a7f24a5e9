"""Collectives: bytes per rank, order of steps, options; every graph runs to its end."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.errors import UsageError
from ailb_gen.sim.traffic.algorithms import CollectiveOptions, parents
from ailb_gen.sim.traffic.builder import QueuePairs, TaskBuilder, TaskCounter
from ailb_gen.sim.traffic.collectives import COLLECTIVES, append, bus_factor
from ailb_gen.sim.traffic.training import repeat
from ailb_gen.sim.workload import COMPUTATION, Workload
from tests.conftest import examples
from tests.sim.traffic.executor import finish_times, received, sent, times

ONE = QueuePairs()
WAYS = [(name, way.name) for name, ways in COLLECTIVES.items() for way in ways]


def build(
    collective: str,
    algorithm: str,
    hosts: list[int],
    size: int,
    pairs: QueuePairs = ONE,
    **options: Any,
) -> Workload:
    builder = TaskBuilder(1)
    job = builder.job("j", pairs)
    (end,) = append(builder, job, collective, np.array(hosts), size, CollectiveOptions(**options), algorithm)
    builder.step(job, int(end))
    return builder.finish()


def parts(size: int, n: int) -> list[int]:
    return [size // n + (i < size % n) for i in range(n)]


def volume(collective: str, algorithm: str, size: int, n: int) -> int:
    """Bytes that all ranks together send."""
    match collective, algorithm:
        case "all-reduce", "halving-doubling":
            p = 1 << (n.bit_length() - 1)
            return 2 * (p - 1) * size + 2 * (n - p) * size
        case "all-reduce", _:
            return 2 * (n - 1) * size
        case "permutation", _:
            return n * size
        case _:
            return (n - 1) * size


def expected(collective: str, hosts: list[int], size: int) -> tuple[Counter[int], Counter[int]]:
    """Bytes per host, sent and received, of the algorithms in which every rank does the same."""
    n, share = len(hosts), parts(size, len(hosts))
    out: Counter[int] = Counter()
    into: Counter[int] = Counter()
    for i, host in enumerate(hosts):
        if collective == "all-reduce":
            # All chunks twice but one at each half: i + 1 is not sent first, i + 2 not later.
            out[host] = 2 * size - share[(i + 1) % n] - share[(i + 2) % n]
            into[host] = 2 * size - share[i] - share[(i + 1) % n]
        elif collective in ("reduce-scatter", "all-gather"):
            out[host] = size - share[(i + 1) % n]
            into[host] = size - share[i]
        elif collective == "all-to-all":
            out[host] = size - share[i]
            into[host] = share[i] * (n - 1)
        elif collective == "broadcast":
            out[host], into[host] = size * (i < n - 1), size * (i > 0)
        elif collective == "incast":
            out[host], into[host] = size * (i > 0), size * (n - 1) * (i == 0)
        else:
            out[host] = into[host] = size
    return out, into


hosts_lists = st.lists(st.integers(0, 99), min_size=2, max_size=9, unique=True)
queue_pairs = st.builds(QueuePairs, st.integers(1, 4), st.sampled_from(["split", "round-robin"]))


@settings(max_examples=examples(150))
@given(st.sampled_from(WAYS), hosts_lists, st.integers(1, 200), queue_pairs, st.integers(1, 3), st.booleans())
def test_bytes_are_conserved_and_every_graph_ends(
    way: tuple[str, str], hosts: list[int], size: int, pairs: QueuePairs, slices: int, at_once: bool
) -> None:
    has = {one.name: one for one in COLLECTIVES[way[0]]}[way[1]].options
    options: dict[str, Any] = {name: value for name, value in (("slices", slices), ("at_once", at_once)) if name in has}
    workload = build(*way, hosts, size, pairs, **options)
    ends = finish_times(workload)
    assert ends[int(workload.steps[0][0])] == max(ends)
    assert sum(sent(workload).values()) == volume(*way, size, len(hosts))
    if way[1] in ("ring", "direct", "chain"):
        out, into = expected(way[0], hosts, size)
        assert sent(workload) == out
        assert received(workload) == into
    assert set(workload.queue_pair.tolist()) <= set(range(pairs.count))


@settings(max_examples=examples(60))
@given(st.integers(2, 70), st.integers(1, 500), st.integers(1, 3))
def test_each_tree_reaches_every_rank_once_and_inner_nodes_differ(n: int, size: int, slices: int) -> None:
    up = parents(n)
    depth = {0: 0}
    for node in sorted(range(1, n), key=lambda node: -(node & -node)):
        depth[node] = depth[int(up[node - 1])] + 1
    assert sorted(depth) == list(range(n))
    assert max(depth.values()) <= n.bit_length() + 1
    assert max(Counter(up.tolist()).values()) <= 2
    assert up.tolist().count(0) == 1
    workload = build("all-reduce", "tree", list(range(n)), size, slices=slices)
    into = received(workload)
    assert sum(into.values()) == 2 * (n - 1) * size
    half = (size + 1) // 2
    assert max(sent(workload).values()) <= 3 * half + size // 2 + half
    finish_times(workload)


@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_halving_and_doubling_sends_what_a_ring_does_in_fewer_steps(n: int) -> None:
    size = n * 1000
    ring, halving = (build("all-reduce", way, list(range(n)), size) for way in ("ring", "halving-doubling"))
    assert sent(ring) == sent(halving)
    assert received(ring) == received(halving)
    assert np.count_nonzero(halving.source >= 0) == 2 * n * (n.bit_length() - 1)


def test_a_rank_of_a_ring_passes_on_what_it_has_received() -> None:
    n, size = 5, 50
    workload = build("all-reduce", "ring", list(range(n)), size)
    ends = finish_times(workload)
    order = sorted(np.flatnonzero(workload.source >= 0), key=lambda task: ends[task])
    rounds = [{int(workload.source[task]) for task in order[i : i + n]} for i in range(0, len(order), n)]
    assert rounds == [set(range(n))] * (2 * (n - 1))
    assert max(ends) == 2 * (n - 1) * (size // n)
    at_once = build("all-reduce", "ring", list(range(n)), size, at_once=True)
    assert max(finish_times(at_once)) == size // n


def test_the_chunks_that_a_ring_reduces_are_complete() -> None:
    """Executed on sets of contributions: at the end every rank has all chunks of all ranks."""
    n = 6
    workload = build("all-reduce", "ring", list(range(n)), n * 10)
    ends = finish_times(workload)
    have = [[{rank} for _ in range(n)] for rank in range(n)]
    flows = [task for task in range(workload.count) if workload.source[task] != COMPUTATION]
    for number, task in enumerate(sorted(flows, key=lambda task: (ends[task], task))):
        source, target = int(workload.source[task]), int(workload.target[task])
        chunk = (source - number // n) % n
        have[target][chunk] |= have[source][chunk]
    assert all(chunk == set(range(n)) for rank in have for chunk in rank)


@settings(max_examples=examples(60))
@given(
    st.sampled_from([("all-reduce", "ring"), ("all-reduce", "tree"), ("all-reduce", "halving-doubling")]),
    st.integers(2, 17),
    st.integers(1, 3),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_everybody_s_data_reaches_everybody_however_long_messages_take(
    way: tuple[str, str], n: int, slices: int, pairs: int, random: Random
) -> None:
    """What a flow carries is what its sender knows when it starts: each part of the vector for itself."""
    options: dict[str, Any] = {"slices": slices} if way[1] != "halving-doubling" else {}
    workload = build(*way, list(range(n)), 1000 * n, QueuePairs(pairs), **options)
    spans = times(workload, [0 if source < 0 else random.randint(1, 99) for source in workload.source])
    know = {(rank, pair): {rank} for rank in range(n) for pair in range(pairs)}
    carried: dict[int, set[int]] = {}
    flows = np.flatnonzero(workload.source >= 0).tolist()
    # Arrivals come before the flows that they let start at the same moment.
    events = sorted([(spans[task][1], 0, task) for task in flows] + [(spans[task][0], 1, task) for task in flows])
    for _, begins, task in events:
        pair = int(workload.queue_pair[task])
        if begins:
            carried[task] = set(know[int(workload.source[task]), pair])
        else:
            know[int(workload.target[task]), pair] |= carried[task]
    assert all(known == set(range(n)) for known in know.values())


def test_slices_travel_along_a_chain_behind_one_another() -> None:
    whole, sliced = (build("broadcast", "chain", [3, 1, 2, 0], 120, slices=k) for k in (1, 12))
    assert max(finish_times(whole)) == 360
    assert max(finish_times(sliced)) == 30, "all slices of one hop at once: three hops of a slice"


@settings(max_examples=examples(60))
@given(st.integers(2, 4), st.integers(1, 4), st.integers(1, 400), st.integers(1, 2))
def test_rails_carry_equal_shares_and_nothing_crosses_them(
    servers: int, per_server: int, size: int, slices: int
) -> None:
    n = servers * per_server
    for collective, way in WAYS:
        if collective in ("incast", "permutation"):
            continue
        has = {one.name: one for one in COLLECTIVES[collective]}[way].options
        options: dict[str, Any] = {"slices": slices} if "slices" in has else {}
        workload = build(collective, way, list(range(n)), size * n * per_server, per_server=per_server, **options)
        finish_times(workload)
        flows = workload.source >= 0
        assert (workload.source[flows] % per_server == workload.target[flows] % per_server).all()
        if collective == "all-reduce" and way == "ring":
            assert set(sent(workload).values()) == {2 * (n - 1) * size}
        if collective == "all-to-all":
            assert set(sent(workload).values()) == {(n - per_server) * size * per_server}


@pytest.mark.parametrize("at_once", [True, False])
def test_without_pxn_every_gpu_sends_to_every_gpu_of_the_other_servers(at_once: bool) -> None:
    n, per_server = 12, 4
    workload = build("all-to-all", "direct", list(range(n)), 100 * n, per_server=per_server, pxn=False, at_once=at_once)
    finish_times(workload)
    flows = workload.source >= 0
    pairs = Counter(zip(workload.source[flows].tolist(), workload.target[flows].tolist(), strict=True))
    assert pairs == Counter((i, j) for i in range(n) for j in range(n) if i // per_server != j // per_server)
    assert set(workload.amount[flows].tolist()) == {100}


def test_a_ring_of_servers_takes_as_long_as_one_of_its_ranks() -> None:
    """2(n - 1) steps of 1/g of the vector, of which each server passes on every g-th round of chunks."""
    workload = build("all-reduce", "ring", list(range(8)), 8 * 2 * 10, per_server=2)
    ends = finish_times(workload)
    assert max(ends) == 7 * 10


def test_only_the_first_rounds_of_a_ring() -> None:
    workload = build("all-reduce", "ring", list(range(8)), 800, QueuePairs(4), rounds=1)
    assert np.count_nonzero(workload.source >= 0) == 8 * 4
    assert set(sent(workload).values()) == {100}


def test_groups_at_once_are_the_groups_one_after_the_other() -> None:
    ranks = np.arange(24).reshape(3, 8)
    for collective, way in WAYS:
        if collective == "permutation":
            continue
        together, single = TaskBuilder(), TaskBuilder()
        job, alone = together.job("j"), single.job("j")
        begin = together.computations(3, np.array([10, 20, 30]))
        ends = append(together, job, collective, ranks, 1001, algorithm=way, after=begin)
        assert ends.shape == (3,)
        for row, ps in zip(ranks, (10, 20, 30), strict=True):
            append(single, alone, collective, row, 1001, algorithm=way, after=single.computations(1, ps))
        done, apart = together.finish(), single.finish()
        times = finish_times(done)
        assert sorted(times) == sorted(finish_times(apart))
        assert sent(done) == sent(apart)


def test_permutations_are_random_derangements_or_shifts() -> None:
    def targets(**options: Any) -> list[int]:
        workload = build("permutation", "direct", list(range(10)), 5, **options)
        return [int(host) for host in workload.target[workload.source >= 0]]

    assert targets(shift=3) == [(i + 3) % 10 for i in range(10)]
    assert targets(shift=-1) == [(i - 1) % 10 for i in range(10)]
    assert targets(seed=1) == targets(seed=1) != targets(seed=2)
    for seed in range(20):
        drawn = targets(seed=seed)
        assert sorted(drawn) == list(range(10))
        assert all(i != target for i, target in enumerate(drawn))


def test_bus_bandwidth_factors_are_those_of_nccl_tests() -> None:
    assert [bus_factor(name, 4) for name in COLLECTIVES] == [1.5, 0.75, 0.75, 0.75, 1.0, 3.0, 1.0]


@pytest.mark.parametrize("way", WAYS)
def test_the_bus_factor_counts_what_the_busiest_host_moves(way: tuple[str, str]) -> None:
    n, size = 8, 8 * 840
    workload = build(*way, list(range(n)), size)
    busiest = max(*sent(workload).values(), *received(workload).values())
    if way[1] == "tree":
        assert busiest > bus_factor(way[0], n) * size, "inner nodes of a tree move more"
    else:
        assert busiest == bus_factor(way[0], n) * size


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"algorithm": "rings"}, "known: ring, tree, halving-doubling"),
        ({"hosts": [1]}, "at least 2 hosts"),
        ({"options": CollectiveOptions(shift=1)}, "does not have the option shift"),
        ({"collective": "broadcast", "options": CollectiveOptions(rounds=1)}, "it has: slices, at_once"),
        ({"options": CollectiveOptions(per_server=3)}, "full servers of 3"),
        ({"options": CollectiveOptions(per_server=4)}, "all 4 ranks of this all-reduce are GPUs of one server"),
        ({"collective": "incast", "options": CollectiveOptions(per_server=2)}, "single hosts"),
        ({"collective": "permutation", "options": CollectiveOptions(shift=-4)}, "to itself"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, Any], text: str) -> None:
    given: dict[str, Any] = {"collective": "all-reduce", "hosts": [1, 2, 3, 4], "size": 9} | change
    builder = TaskBuilder()
    with pytest.raises(UsageError, match=text):
        append(builder, builder.job("j"), ranks=np.array(given.pop("hosts")), **given)
    assert builder.finish().count == 0, "nothing was appended"


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
@pytest.mark.parametrize(
    "options",
    [
        CollectiveOptions(),
        CollectiveOptions(slices=3),
        CollectiveOptions(per_server=2),
        CollectiveOptions(rounds=1),
        CollectiveOptions(stream=True, slices=2),
    ],
)
@pytest.mark.parametrize("queue_pairs", [QueuePairs(), QueuePairs(4), QueuePairs(4, "round-robin")])
def test_a_counter_counts_what_a_builder_appends(
    way: tuple[str, str], options: CollectiveOptions, queue_pairs: QueuePairs
) -> None:
    kind, algorithm = way
    for n in (2, 3, 4, 6, 8, 12):
        builder, counter = TaskBuilder(), TaskCounter()
        try:
            for one in (builder, counter):
                repeat(one, "job", kind, np.arange(n), 10_007, 3, options, algorithm, queue_pairs, compute_ps=5)
        except UsageError:
            continue
        workload, least = builder.finish(), counter.least()
        assert least.tasks == workload.count
        starting = workload.amount[(workload.source >= 0) & (workload.waits <= 1)]
        assert least.flows * 3 <= len(starting)
        assert not least.flows or least.flow_bytes <= starting.min()
