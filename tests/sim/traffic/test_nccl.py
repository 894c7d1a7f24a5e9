"""NCCL's choice: estimates worked out by hand, the order of algorithms by size, and what is sent."""

from __future__ import annotations

import numpy as np
import pytest

from ailb_gen.errors import UsageError
from ailb_gen.sim.traffic.algorithms import CollectiveOptions
from ailb_gen.sim.traffic.builder import TaskBuilder
from ailb_gen.sim.traffic.collectives import COLLECTIVES, append
from ailb_gen.sim.traffic.nccl import ALGORITHMS, NcclChoice, Tuning, choose
from ailb_gen.sim.workload import Workload
from tests.sim.traffic.executor import check, sent

H100 = Tuning(400 * 10**9)


def chosen(size: int, servers: int = 4, collective: str = "all-reduce", tuning: Tuning = H100) -> NcclChoice:
    found = choose(collective, size, servers * 8, 8, tuning)
    assert found is not None
    return found


def test_estimates_by_hand() -> None:
    """32 ranks in 4 servers: 62 steps of a ring, 6 of them over the network; a tree has 7 + 2 levels up and down."""
    large = chosen(8 << 30)
    # 8.4 once, 56 steps of 3.4, 6 of 14, times 1.4 for long chunks; 400 GB/s of bus bandwidth.
    assert str(large) == "ring, Simple"
    assert large.us == pytest.approx(1.4 * (8.4 + 56 * 3.4 + 6 * 14.0) + (8 << 30) / 1000 / (400 * 32 / 62))
    small = chosen(64)
    # Of the tree's limit of LL, 20.4, half is data; its correction is 1.
    assert str(small) == "tree, LL"
    assert small.us == pytest.approx(6.8 + 2 * (7 * 0.6 + 2 * 5.0) + 64 / 1000 / (20.4 / 2))
    assert small.inside_us == pytest.approx(6.8 + 2 * 7 * 0.6)


def test_the_larger_the_message_the_leaner_the_protocol() -> None:
    order = ["LL", "LL128", "Simple"]
    for servers in (2, 4, 32):
        found = [chosen(1 << power, servers) for power in range(6, 34)]
        protocols = [order.index(one.protocol) for one in found]
        assert protocols == sorted(protocols)
        assert set(protocols) == {0, 1, 2}
        assert found[0].algorithm == "tree"
        assert found[-1].algorithm == "ring"


def test_switches_that_reduce_are_used_for_large_vectors_of_several_servers() -> None:
    nvls = Tuning(400 * 10**9, nvls=True)
    assert str(chosen(1 << 30, 16, tuning=nvls)) == "nvls-tree, Simple"
    assert str(chosen(1 << 30, 1, tuning=nvls)) == "ring, Simple"
    assert chosen(1 << 30, 16, tuning=Tuning(400 * 10**9, generation="ampere", nvls=True)).algorithm != "nvls-tree"


def test_pat_is_for_one_gpu_per_server() -> None:
    for collective in ("all-gather", "reduce-scatter"):
        found = choose(collective, 1 << 20, 256, 1, H100)
        assert found is not None
        assert str(found) == "pat, Simple"
        assert chosen(1 << 20, collective=collective).algorithm == "ring"
    assert choose("all-to-all", 1 << 20, 32, 8, H100) is None


def build(collective: str, size: int, n: int, tuning: Tuning | None = H100, **options: int) -> Workload:
    builder = TaskBuilder()
    job = builder.job("j")
    given = CollectiveOptions(tuning=tuning, **options)  # type: ignore[arg-type]
    (end,) = append(builder, job, collective, np.arange(n), size, given, "nccl")
    builder.step(job, int(end))
    return builder.finish()


def test_labels_say_what_was_chosen_and_the_wire_carries_flags() -> None:
    found = build("all-reduce", 4096, 32, per_server=8)
    check(found)
    assert "all-reduce (tree, LL)" in found.labels
    # Trees between 4 servers: 3 edges up and down, 8 rails of an eighth; twice the bytes.
    assert sum(sent(found).values()) == 2 * 3 * 2 * 4096
    waits = found.amount[found.label == found.labels.index("NCCL")]
    assert waits.tolist() == [round((6.8 + 14 * 0.6) * 10**6)]


def test_what_nccl_has_no_choice_of_is_as_ever() -> None:
    assert "all-to-all" in build("all-to-all", 4096, 4).labels
    assert set(ALGORITHMS) == {"all-reduce", "reduce-scatter", "all-gather"}


def test_options_that_the_choice_lacks_are_left_out() -> None:
    assert "all-gather (pat, Simple)" in build("all-gather", 1 << 20, 200, slices=4, stream=True).labels


def test_rates_must_be_known() -> None:
    with pytest.raises(UsageError, match="the algorithm nccl needs the rates of GPUs and NICs"):
        build("all-reduce", 4096, 4, None)


@pytest.mark.parametrize("collective", list(COLLECTIVES))
def test_a_single_rank_has_nothing_to_send(collective: str) -> None:
    with pytest.raises(UsageError, match=f"{collective} needs at least 2 hosts, not 1"):
        build(collective, 1000, 1)
