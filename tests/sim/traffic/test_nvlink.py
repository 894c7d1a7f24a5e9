"""What collectives send over NVLink, against counts of rings."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ailb_gen.errors import UsageError
from ailb_gen.sim.traffic.algorithms import CollectiveOptions
from ailb_gen.sim.traffic.builder import TaskBuilder
from ailb_gen.sim.traffic.nvlink import nvlink_ps, nvlink_share
from ailb_gen.sim.traffic.training import repeat
from tests.sim.traffic.executor import finish_times


@pytest.mark.parametrize(("servers", "domain"), [(1, 8), (2, 4), (4, 2), (3, 3)])
def test_a_ring_per_rail_passes_all_but_the_hops_between_servers(servers: int, domain: int) -> None:
    """Every rail's ring enters a server at its rail and leaves at it: all GPUs but one send over NVLink."""
    n = servers * domain
    hops = Fraction(0)
    for _ in range(domain):
        inside = domain if servers == 1 else domain - 1
        # 2 (n - 1) steps of 1/n of the rail's share, over the NVLink hops, by GPU.
        hops += Fraction(2 * (n - 1), n) * Fraction(1, domain) * Fraction(inside, domain)
    assert nvlink_share("all-reduce", n, domain, nvls=False) == hops
    assert nvlink_share("all-gather", n, domain, nvls=False) == hops / 2


@pytest.mark.parametrize(("servers", "domain"), [(1, 8), (2, 4), (3, 2)])
def test_an_all_to_all_sends_what_leaves_over_other_rails_too(servers: int, domain: int) -> None:
    pairs = [(s, r) for s in range(servers) for r in range(domain)]
    # From GPU (0, 0): over NVLink to targets of its server, and to the NIC of any other rail.
    over = [target for target in pairs if target[1] != 0]
    assert nvlink_share("all-to-all", len(pairs), domain, nvls=False) == Fraction(len(over), len(pairs))


def test_times_are_rounded_up() -> None:
    assert nvlink_ps(1, Fraction(1, 3), 8 * 10**12) == 1
    assert nvlink_ps(450, Fraction(1), 3600 * 10**9) == 1000


def test_a_collective_takes_the_longer_of_nvlink_and_network() -> None:
    """4 ranks in 2 servers: 3/4 of the vector over NVLink and 3/4 over each NIC, which takes a ps per byte."""
    for bps, time in ((8 * 10**12, 60), (2 * 10**12, 240)):
        builder = TaskBuilder()
        repeat(builder, "j", "all-reduce", np.arange(4), 80, options=CollectiveOptions(per_server=2, nvlink_bps=bps))
        workload = builder.finish()
        assert finish_times(workload)[workload.steps[0][0]] == time


def test_one_server_needs_nvlink() -> None:
    with pytest.raises(UsageError, match="GPUs of one server, which need no fabric"):
        repeat(TaskBuilder(), "j", "all-reduce", np.arange(4), 80, options=CollectiveOptions(per_server=4))
