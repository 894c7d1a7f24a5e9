"""Whole runs: times by hand, failures, samples, and how a run is stopped."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.clos import clos
from ailb_gen.sim.fabric import PS_PER_US, UNREACHABLE, Degradation, FabricArrays, Forwarding, LinkChange
from ailb_gen.sim.fluid import run as fluid
from ailb_gen.sim.fluid.run import simulate
from ailb_gen.sim.memory import needed_bytes
from ailb_gen.sim.outcome import NEVER, SimulationOutcome
from ailb_gen.sim.series import Sampler
from ailb_gen.sim.settings import BalancerSettings, Measurement, NicSettings, PacketSettings, SimulationSettings
from ailb_gen.sim.statistics import links_by_tiers
from ailb_gen.sim.workload import COMPUTATION, merged
from tests.sim.engine.cases import stopping_after
from tests.sim.fluid.tasks import workload
from tests.sim.processes import check_both_ways

# 1 byte takes 8 ns.
RATE = 1_000_000_000
BYTE = 8_000
US = PS_PER_US
BALANCED = ("ecmp", "glb", "spray")


def plain(**words: Any) -> SimulationSettings:
    """Settings without headers: packets of 1000 bytes."""
    return replace(SimulationSettings(packets=PacketSettings(1000, 0)), **words)


def pair(**words: int) -> FabricArrays:
    """Two leaves with two hosts each, one spine."""
    return clos(2, 1, 2, host_bps=RATE, uplink_bps=RATE, **words)


def test_a_flow_alone_takes_its_bytes_at_the_rate_and_one_packet_per_further_link() -> None:
    done = simulate(pair(), workload([(0, 2, 10_000, 5 * US)]), plain(), 1)
    # Store and forward: the last packet of 1000 bytes is sent again by each of three switches; 4 links of 1 us.
    assert done.start_ps.tolist() == [5 * US]
    assert done.finish_ps.tolist() == [5 * US + 13_000 * BYTE + 4 * US]
    assert done.complete
    assert done.end_ps == done.finish_ps[0]
    assert set(done.link_bytes.tolist()) == {0, 10_000}
    assert done.totals["events"] == 3


def test_headers_and_the_time_per_message_count() -> None:
    settings = replace(plain(nics=NicSettings(message_ps=3 * US)), packets=PacketSettings(1000, 48))
    done = simulate(pair(), workload([(0, 1, 2_500, 0)]), settings, 1)
    assert done.finish_ps.tolist() == [(2_500 + 3 * 48 + 1_048) * BYTE + 2 * US + 3 * US]
    assert done.link_bytes.max() == 2_500 + 3 * 48


def test_the_rate_grows_when_another_flow_ends() -> None:
    # Both go to host 3; the second one is shorter and starts later.
    done = simulate(pair(), workload([(0, 3, 10_000, 0), (2, 3, 2_000, 1_000 * BYTE)]), plain(), 1)
    latency = 2 * US + 1_000 * BYTE
    assert done.finish_ps[1] == 5_000 * BYTE + latency
    assert done.finish_ps[0] == 12_000 * BYTE + latency + 2 * US + 2_000 * BYTE


def test_tasks_wait_for_each_other_and_for_their_start() -> None:
    rows = [
        (0, 1, 1_000, 0),
        (COMPUTATION, 0, 7 * US, 0),
        (COMPUTATION, 0, 0, 0),
        (1, 0, 1_000, 0),
        (0, 1, 500, 50 * US),
    ]
    done = simulate(pair(), workload(rows, [(0, 1), (1, 2), (2, 3), (3, 4)]), plain(), 1)
    flow = 2_000 * BYTE + 2 * US
    assert done.start_ps.tolist() == [0, flow, flow + 7 * US, flow + 7 * US, 50 * US]
    assert done.finish_ps.tolist() == [
        flow, flow + 7 * US, flow + 7 * US, 2 * flow + 7 * US, 50 * US + 1_000 * BYTE + 2 * US,
    ]  # fmt: skip


def test_equal_flows_end_at_once() -> None:
    built = clos(4, 4, 4, host_bps=3 * RATE, uplink_bps=RATE)
    work = workload([(a, (a + 4) % 16, 100_000, 0) for a in range(16)])
    done = simulate(built, work, plain(balancer=BalancerSettings("spray")), 1)
    assert len(set(done.finish_ps.tolist())) == 1
    # After the start, the end of sending and the last arrivals.
    assert done.totals["events"] == 2


def test_bytes_of_links_add_up_for_every_balancer() -> None:
    built = clos(2, 2, 4, host_bps=RATE, uplink_bps=RATE, host_links=2, leaf_spine_links=2)
    rng = np.random.default_rng(3)
    pairs = [(a, b) for a in range(8) for b in range(8) if a != b]
    work = workload([(a, b, int(rng.integers(1, 50_000)), int(rng.integers(0, 100)) * US) for a, b in pairs])
    for balancer in BALANCERS:
        done = simulate(built, work, plain(balancer=BalancerSettings(balancer)), 1)
        assert done.complete
        for hosts, tier in ((built.link_source, work.source), (built.link_target, work.target)):
            moved = np.bincount(hosts, done.link_bytes, minlength=14)[:8]
            asked = np.bincount(tier, work.amount, minlength=8)
            assert moved == pytest.approx(asked, abs=2)
        across = work.amount[work.source // 4 != work.target // 4].sum()
        spines = built.link_target >= 10
        assert done.link_bytes[spines].sum() == pytest.approx(across, abs=8)


def same(one: SimulationOutcome, other: SimulationOutcome) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in SimulationOutcome.__slots__)


def busy() -> tuple[FabricArrays, list[tuple[int, int, int, int]]]:
    built = clos(2, 2, 4, host_bps=RATE, uplink_bps=RATE, leaf_spine_links=2)
    return built, [(a, (a + 1 + k) % 8, 3_000 + 777 * k, k * US) for a in range(8) for k in range(6)]


@pytest.mark.parametrize("balancer", ["ecmp", "spray"])
def test_the_state_grows(balancer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    built, rows = busy()
    # After a failure paths get longer: through another leaf.
    hops = built.forwarding[0].next_hops.copy()
    hops[2:, 1] = hops[2:, 0]
    hops[0, 1] = UNREACHABLE
    built = replace(built, forwarding=(*built.forwarding, Forwarding(20 * US, hops)))
    settings = plain(balancer=BalancerSettings(balancer))
    expected = simulate(built, workload(rows), settings, 1)
    monkeypatch.setattr(fluid, "FIRST_SLOTS", 1)
    monkeypatch.setattr(fluid, "FIRST_WIDTH", 0)
    monkeypatch.setattr(fluid, "FIRST_WIDTH_SPREAD", 0)
    assert same(simulate(built, workload(rows), settings, 1), expected)


def test_what_is_reported_and_stopped() -> None:
    built, rows = busy()
    seen, watch = stopping_after(3)
    work = merged([workload([(a, b, c, d + k * 1000 * US) for a, b, c, d in rows]) for k in range(40)])
    stopped = simulate(built, work, plain(), 1, watch)
    assert len(seen) == 3
    assert not stopped.complete
    assert {row.tasks for row in seen} == {work.count}
    assert sorted(row.now_ps for row in seen) == [row.now_ps for row in seen]
    assert seen[-1].now_ps == stopped.end_ps
    assert seen[-1].ended == np.count_nonzero(stopped.finish_ps != NEVER)
    assert same(simulate(built, work, plain(), 1, lambda _: True), simulate(built, work, plain(), 1))


def test_a_run_ends_at_its_time() -> None:
    built = pair()
    work = workload([(0, 1, 1_000_000, 0), (0, 1, 1, 20_000 * US)])
    done = simulate(built, work, plain(until_ps=1_000 * US), 1)
    assert not done.complete
    assert done.end_ps == 1_000 * US
    assert done.start_ps.tolist() == [0, NEVER]
    assert done.finish_ps.tolist() == [NEVER, NEVER]
    assert done.link_bytes.max() == 125_000


def test_samples_are_bytes_per_interval() -> None:
    work = workload([(0, 1, 10_000, 5 * US), (0, 1, 10_000, 165 * US)])
    done = simulate(pair(), work, plain(measurement=Measurement(10 * US, 100)), 1)
    assert done.load_interval_ps == 10 * US
    assert done.load.shape == (-(-done.end_ps // (10 * US)), done.link_bytes.size)
    assert done.load.sum(axis=0).tolist() == done.link_bytes.tolist()
    assert done.load[:, 0].tolist()[:10] == [625, *[1_250] * 7, 625, 0]
    short = simulate(pair(), work, plain(measurement=Measurement(10 * US, 4)), 1)
    assert short.load.tolist() == done.load[:4].tolist()
    assert simulate(pair(), work, plain(), 1).load.size == 0


def two_spines(at: int, until: int, detected: int) -> FabricArrays:
    """One flow's worth of fabric: the link from leaf 1 to spine 1 fails and comes back; leaf 1 notices later."""
    built = clos(2, 2, 1, host_bps=RATE, uplink_bps=RATE, colors=2)
    link = built.link_names.index("leaf1:spine1")
    hops = built.forwarding[0].next_hops.copy()
    hops[0, 2] = hops[0, 3]
    changes = (LinkChange(at, link, up=False), LinkChange(until, link, up=True))
    states = (*built.forwarding, Forwarding(detected, hops), Forwarding(until, built.forwarding[0].next_hops))
    return replace(built, changes=changes, forwarding=states)


def test_a_flow_stops_until_the_failure_of_its_link_is_detected() -> None:
    built = two_spines(at=100 * US, until=10_000 * US, detected=250 * US)
    done = simulate(built, workload([(0, 1, 100_000, 0)]), plain(), 1)
    assert done.finish_ps.tolist() == [103_000 * BYTE + 4 * US + 150 * US]
    assert done.rerouted.tolist() == [1]
    names = {name: int(count) for name, count in zip(built.link_names, done.link_bytes, strict=True) if count}
    assert names["leaf1:spine1"] == 12_500
    assert names["leaf1:spine2"] == 87_500
    assert names["host1:leaf1"] == 100_000


def test_a_degraded_link_carries_its_share_for_a_time() -> None:
    built = clos(2, 1, 1, host_bps=RATE, uplink_bps=RATE)
    link = built.link_names.index("leaf1:spine1")
    half, sound = Degradation(rate=0.5, delay_ps=US, loss=0.1), Degradation()
    changes = tuple(LinkChange(at * US, link, True, one) for at, one in ((100, half), (300, sound)))
    done = simulate(replace(built, changes=changes), workload([(0, 1, 100_000, 0)]), plain(), 1)
    whole = simulate(built, workload([(0, 1, 100_000, 0)]), plain(), 1)
    assert done.finish_ps[0] == whole.finish_ps[0] + 100 * US


def test_a_flow_goes_on_when_its_link_comes_back() -> None:
    built = two_spines(at=100 * US, until=200 * US, detected=201 * US)
    built = replace(built, forwarding=built.forwarding[:1])
    done = simulate(built, workload([(0, 1, 100_000, 0), (0, 1, 50_000, 0)]), plain(), 1)
    assert done.rerouted.tolist() == [0, 0]
    # The second flow, of the other color, has the NIC for itself meanwhile.
    assert done.finish_ps[0] == 153_000 * BYTE + 4 * US
    assert done.finish_ps[1] == 90_500 * BYTE + 4 * US


def test_without_a_path_a_flow_waits() -> None:
    built = pair()
    hops = built.forwarding[0].next_hops.copy()
    hops[0, 1] = UNREACHABLE
    cut = Forwarding(0, hops)
    work = workload([(0, 2, 10_000, 0), (0, 1, 1_000, 0)])
    never = simulate(replace(built, forwarding=(cut,)), work, plain(), 1)
    assert not never.complete
    assert never.finish_ps[0] == NEVER
    assert never.finish_ps[1] == 2_000 * BYTE + 2 * US
    assert never.totals["unreachable"] == 1
    later = replace(built, forwarding=(cut, replace(built.forwarding[0], at_ps=500 * US)))
    assert simulate(later, work, plain(), 1).finish_ps[0] == 500 * US + 13_000 * BYTE + 4 * US


def test_looking_at_a_run_over_time_changes_nothing_of_it() -> None:
    built, rows = busy()
    failing = two_spines(at=100 * US, until=900 * US, detected=300 * US)
    cases = [(built, rows, name) for name in ("ecmp", "spray")] + [(failing, [(0, 1, 100_000, 0)], "ecmp")]
    for fabric, given, name in cases:
        settings = plain(balancer=BalancerSettings(name))
        seen = simulate(fabric, workload(given), settings, 1, None, Sampler(fabric, US))
        done = simulate(fabric, workload(given), settings, 1)
        for column in ("start_ps", "finish_ps", "link_bytes"):
            assert getattr(seen, column).tolist() == getattr(done, column).tolist()
        series = seen.series
        assert series is not None
        assert series.edges_ps[-1] == done.end_ps
        rates = {tier: fabric.rate_bps[ours] for tier, ours in links_by_tiers(fabric)}
        sent = {tier: int(done.link_bytes[ours].sum()) for tier, ours in links_by_tiers(fabric)}
        for number, tier in enumerate(series.tiers):
            assert len({*rates[tier].tolist()}) == 1
            whole = float((series.mean_load[number] * np.diff(series.edges_ps)).sum()) * float(rates[tier].sum()) / 8e12
            assert whole == pytest.approx(sent[tier], rel=1e-4, abs=2 * len(rates[tier]))


def test_a_run_that_is_stuck_ends_though_it_is_looked_at() -> None:
    built = pair()
    hops = built.forwarding[0].next_hops.copy()
    hops[0, 1] = UNREACHABLE
    stuck = replace(built, forwarding=(Forwarding(0, hops),))
    seen = simulate(stuck, workload([(0, 2, 10_000, 0)]), plain(), 1, None, Sampler(built, US))
    assert not seen.complete
    assert seen.series is not None
    assert seen.series.max_load.max() == 0


def runs() -> list[object]:
    """What comes of some load balancers, and of a failure."""
    built, rows = busy()
    settings = [plain(balancer=BalancerSettings(name), measurement=Measurement(1000, 9)) for name in BALANCED]
    done = [simulate(built, workload(rows), one, 1) for one in settings]
    failing = simulate(two_spines(100_000, 900_000, 300_000), workload([(0, 1, 1000, 0)]), plain(), 1)
    found = [[one.finish_ps.tolist(), one.link_bytes.tolist(), one.load.tolist(), one.totals] for one in done]
    return [*found, failing.finish_ps.tolist(), failing.rerouted.tolist()]


def test_it_runs_the_same_without_a_compiler() -> None:
    check_both_ways(runs)


def test_the_memory_of_a_run_of_flows_does_not_depend_on_their_bytes() -> None:
    built, rows = busy()
    few, many = (workload([(a, b, c * times, d) for a, b, c, d in rows]) for times in (1, 10**6))
    assert needed_bytes(built, many, plain(), "packet") > 2 * needed_bytes(built, few, plain(), "packet")
    assert needed_bytes(built, many, plain(), "flow") == needed_bytes(built, few, plain(), "flow")
    spread = plain(balancer=BalancerSettings("spray"))
    assert needed_bytes(built, few, spread, "flow") > needed_bytes(built, few, plain(), "flow")
