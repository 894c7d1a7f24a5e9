"""Failures, losses, classes, pauses, NICs, and what is measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ailb_gen.errors import UsageError
from ailb_gen.sim.engine.memory import byte_ps, longest_round_trip, needed_headroom
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import PS_PER_US, UNREACHABLE, Degradation, FabricArrays, Forwarding, LinkChange
from ailb_gen.sim.outcome import NEVER
from ailb_gen.sim.series import Sampler
from ailb_gen.sim.settings import (
    BalancerSettings,
    BufferSettings,
    CongestionSettings,
    Measurement,
    NicSettings,
    PacketSettings,
    SimulationSettings,
    TransportName,
    TransportSettings,
)
from tests.sim.engine.cases import PACKETS, flows, in_a_row, leaf_spine, link, lossless, star, stopping_after

US = PS_PER_US
REPAIRING = ("go-back-n", "selective-repeat", "timeout-only")


def plain(transport: TransportName = "raw", few: int = 40 * US) -> SimulationSettings:
    return SimulationSettings(
        packets=PACKETS,
        transport=TransportSettings(transport, timeout_ps=few, timeout_few_ps=few),
        until_ps=20_000 * US,
    )


def both_ways(fabric: FabricArrays, one: str, other: str) -> tuple[int, int]:
    """The links of a cable."""
    return link(fabric, one, other), link(fabric, other, one)


@pytest.mark.parametrize("transport", ["raw", *REPAIRING])
def test_a_destination_without_a_next_hop_gets_nothing(transport: TransportName) -> None:
    fabric = leaf_spine(2, 1, 1)
    nowhere = np.full_like(fabric.forwarding[0].next_hops, UNREACHABLE)
    fabric = replace(fabric, forwarding=(Forwarding(0, nowhere),))
    outcome = simulate(fabric, flows([0], [1], 2500), replace(plain(transport), until_ps=100 * US), 1)
    assert not outcome.complete
    assert outcome.finish_ps[0] == NEVER
    assert outcome.totals["unreachable"] == outcome.totals["packets"] + outcome.totals["retransmissions"] >= 3


@pytest.mark.parametrize("transport", ["raw", *REPAIRING])
def test_a_host_without_links_sends_nothing(transport: TransportName) -> None:
    fabric = leaf_spine(2, 1, 1)
    fabric = replace(fabric, host_set=np.array([UNREACHABLE, 1], np.int32))
    outcome = simulate(fabric, flows([0], [1], 2500), replace(plain(transport), until_ps=100 * US), 1)
    assert not outcome.complete
    assert outcome.totals["unreachable"] == outcome.totals["packets"] == 3
    assert outcome.link_packets.sum() == 0


def test_packets_that_go_in_circles_are_dropped() -> None:
    fabric = leaf_spine(2, 1, 1)
    # Leaf 2 sends what is for its own host back to the spine.
    hops = fabric.forwarding[0].next_hops.copy()
    hops[1] = hops[0, 1]
    up = link(fabric, "leaf2", "spine1")
    sets = [int(number) for number in np.flatnonzero(fabric.set_links[fabric.set_first[:-1]] == up)]
    hops[1, :] = sets[0]
    outcome = simulate(replace(fabric, forwarding=(Forwarding(0, hops),)), flows([0], [1], 2500), plain(), 1)
    assert outcome.totals["unreachable"] == 3
    assert outcome.totals["hops"] == 3 * 16


@pytest.mark.parametrize("transport", REPAIRING)
def test_a_link_that_fails_and_comes_back_delays_a_flow(transport: TransportName) -> None:
    fabric = leaf_spine(2, 1, 1)
    cable = link(fabric, "leaf1", "spine1")
    both = (cable, int(fabric.link_reverse[cable]))
    changes = [LinkChange(at, one, at > 50 * US) for at in (10 * US, 110 * US) for one in both]
    work = flows([0], [1], 300_000)
    before = simulate(fabric, work, plain(transport), 1)
    assert before.totals["lost"] == 0
    outcome = simulate(replace(fabric, changes=tuple(changes)), work, plain(transport), 1)
    assert outcome.complete
    assert outcome.link_lost[cable] > 0
    assert outcome.totals["lost"] == outcome.link_lost.sum()
    assert outcome.finish_ps[0] > 110 * US > before.finish_ps[0]
    assert outcome.retransmitted[0] == outcome.totals["retransmissions"] > 0


@pytest.mark.parametrize("transport", REPAIRING)
def test_what_is_sent_over_a_dead_link_is_lost_until_the_fibs_change(transport: TransportName) -> None:
    fabric = leaf_spine(2, 2, 1)
    cable = link(fabric, "leaf1", "spine1")
    both = (cable, int(fabric.link_reverse[cable]))
    first = fabric.forwarding[0]
    # After 30 us both leaves use spine 2 alone.
    others = [link(fabric, name, "spine2") for name in ("leaf1", "leaf2")]
    later = first.next_hops.copy()
    count = len(fabric.set_first) - 1
    later[0, 1], later[1, 0] = count, count + 1
    fabric = replace(
        fabric,
        changes=tuple(LinkChange(10 * US, one, False) for one in both),
        forwarding=(first, Forwarding(40 * US, later)),
        set_first=np.append(fabric.set_first, fabric.set_first[-1] + np.array([1, 2])).astype(np.int32),
        set_links=np.append(fabric.set_links, others).astype(np.int32),
    )
    settings = replace(plain(transport), balancer=BalancerSettings("spray"))
    outcome = simulate(fabric, flows([0], [1], 600_000), settings, 1)
    assert outcome.complete
    assert outcome.link_lost[cable] > 0
    assert outcome.finish_ps[0] > 40 * US
    undetected = replace(fabric, forwarding=(first,))
    stopped = simulate(undetected, flows([0], [1], 600_000), replace(settings, until_ps=outcome.end_ps), 1)
    assert stopped.link_lost[cable] > outcome.link_lost[cable]


@pytest.mark.parametrize("transport", ["raw", *REPAIRING])
def test_a_degraded_link_is_one_with_less_rate_and_more_delay(transport: TransportName) -> None:
    whole, less = leaf_spine(2, 1, 1), Degradation(rate=0.25, delay_ps=7 * US)
    slow = replace(whole, rate_bps=whole.rate_bps.copy(), delay_ps=whole.delay_ps.copy())
    for one in both_ways(whole, "leaf1", "spine1"):
        slow.rate_bps[one] //= 4
        slow.delay_ps[one] += 7 * US
    changes = tuple(LinkChange(0, one, True, less) for one in both_ways(whole, "leaf1", "spine1"))
    work = flows([0], [1], 200_000)
    degraded = simulate(replace(whole, changes=changes), work, plain(transport, few=10**9), 1)
    assert degraded.finish_ps.tolist() == simulate(slow, work, plain(transport, few=10**9), 1).finish_ps.tolist()
    # 200 packets over the slow link, one over three others; an acknowledgement is no part of it.
    assert degraded.finish_ps[0] >= (4 * 200 + 3) * 1_048 * 80 + 11 * US
    if transport != "selective-repeat":
        assert degraded.finish_ps[0] == (4 * 200 + 3) * 1_048 * 80 + 11 * US


@pytest.mark.parametrize("transport", ["raw", *REPAIRING])
def test_packets_stay_in_order_when_a_delay_ends(transport: TransportName) -> None:
    fabric = leaf_spine(2, 1, 1)
    both = both_ways(fabric, "leaf1", "spine1")
    changes = [LinkChange(2 * US, one, True, Degradation(delay_ps=30 * US)) for one in both]
    changes += [LinkChange(6 * US, one, True) for one in both]
    late = simulate(replace(fabric, changes=tuple(changes)), flows([0], [1], 200_000), plain(transport, few=10**9), 1)
    soon = simulate(fabric, flows([0], [1], 200_000), plain(transport, few=10**9), 1)
    assert late.out_of_order.sum() == late.totals["lost"] == late.totals["retransmissions"] == 0
    # What was sent last with the delay holds up what follows; nothing waits longer than that.
    assert 26 * US < late.finish_ps[0] - soon.finish_ps[0] <= 30 * US


@pytest.mark.parametrize("later", [Degradation(), Degradation(delay_ps=60 * US), Degradation(0.5, 30 * US)])
@pytest.mark.parametrize("transport", ["raw", "selective-repeat"])
def test_what_a_dead_link_sent_is_lost_also_if_its_speed_changes(transport: TransportName, later: Degradation) -> None:
    fabric = leaf_spine(2, 1, 1)
    one, slow = link(fabric, "leaf1", "spine1"), Degradation(delay_ps=30 * US)
    changes = [(0, True, slow), (10 * US, False, slow), (20 * US, True, slow), (25 * US, True, later)]
    fabric = replace(fabric, changes=tuple(LinkChange(at, one, up, how) for at, up, how in changes))
    settings = replace(plain(transport, few=10**9), until_ps=500 * US)
    settings = replace(settings, transport=replace(settings.transport, window_bytes=10**6))
    outcome = simulate(fabric, flows([0], [1], 400_000), settings, 1)
    # The first packet is at the leaf after 1 us and its own 83,840 ps; all that the leaf sends before 20 us is lost.
    assert outcome.link_lost[one] == 19 * US // (1_048 * 80) == 226


def test_loss_in_a_window_of_time() -> None:
    fabric = leaf_spine(2, 1, 1)
    one = link(fabric, "leaf1", "spine1")
    changes = (LinkChange(100 * US, one, True, Degradation(loss=0.1)), LinkChange(200 * US, one, True))
    outcome = simulate(replace(fabric, changes=changes), flows([0], [1], 4_000_000), plain(), 1)
    # 100 us are 1,193 packets, a tenth of which is 119; the standard deviation is 10.4.
    assert abs(int(outcome.link_lost[one]) - 119) < 52
    assert outcome.totals["lost"] == outcome.link_lost[one]


@pytest.mark.parametrize("transport", REPAIRING)
def test_one_packet_in_a_hundred_is_lost_and_sent_again(transport: TransportName) -> None:
    fabric = star(2)
    loss = BufferSettings(loss_probability=np.full(fabric.link_count, 0.01))
    outcome = simulate(fabric, flows([0], [1], 1_000_000), replace(plain(transport), switches=loss), 1)
    assert outcome.complete
    assert 10 <= outcome.totals["lost"] <= 0.02 * outcome.link_packets.sum()
    data = outcome.totals["packets"] + outcome.totals["retransmissions"]
    assert data == outcome.link_packets[link(fabric, "host1", "leaf1")]


def ends_of_classes(scheduling: str) -> tuple[float, float]:
    """When the last flows of two classes end whose packets wait for one port; of three senders each."""
    fabric = star(7)
    senders = np.arange(1, 7)
    work = flows(senders, 0 * senders, 50_000, 0, [0, 1, 0, 1, 0, 1])
    switches = BufferSettings(scheduling="strict" if scheduling == "strict" else "round-robin")
    outcome = simulate(fabric, work, replace(plain("go-back-n"), switches=switches), 1)
    assert outcome.complete
    return float(outcome.finish_ps[0::2].max()), float(outcome.finish_ps[1::2].max())


def test_strict_priority_serves_the_first_class_first_and_round_robin_both() -> None:
    first, second = ends_of_classes("strict")
    assert first < 0.6 * second
    first, second = ends_of_classes("round-robin")
    assert first == pytest.approx(second, rel=0.03)


def test_a_stopped_class_does_not_stop_the_other_one() -> None:
    """Class 1 fills its port and is paused at the sender; class 0 of the same sender goes elsewhere at full speed."""
    fabric = star(4)
    work = flows([1, 2, 1], [0, 0, 3], [400_000, 400_000, 100_000], 0, [1, 1, 0])
    switches = replace(lossless(fabric, 10**6), pause_bytes=5_000, ecn_min_bytes=None)
    outcome = simulate(fabric, work, replace(plain("go-back-n"), switches=switches), 1)
    assert outcome.complete
    assert outcome.totals["drops"] == 0
    assert outcome.link_pauses[link(fabric, "host2", "leaf1")] > 0
    alone = simulate(fabric, flows([1], [3], 100_000), plain("go-back-n"), 1)
    assert outcome.finish_ps[2] < 1.1 * alone.finish_ps[0]


def test_the_run_stops_at_the_end_of_its_time() -> None:
    fabric = star(3)
    work = flows([1, 2], [0, 0], 100_000)
    outcome = simulate(fabric, work, replace(plain(), until_ps=5 * US), 1)
    whole = simulate(fabric, work, plain(), 1)
    assert (outcome.complete, whole.complete) == (False, True)
    assert outcome.end_ps == 5 * US < whole.end_ps
    assert np.all(outcome.finish_ps == NEVER)
    assert np.all(outcome.histogram >= 0)
    assert whole.histogram.sum() == whole.totals["hops"] == whole.link_packets.sum()
    assert np.array_equal(whole.histogram.sum(axis=1), whole.link_packets)


def test_a_watcher_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ailb_gen.sim.engine.run.SLICE", 50)
    seen, watch = stopping_after(3)
    outcome = simulate(star(2), flows([0], [1], 1_000_000), plain(), 1, watch)
    assert not outcome.complete
    assert [one.events for one in seen] == sorted(one.events for one in seen)
    assert len(seen) == 3
    assert seen[-1].tasks == 1


def test_a_watcher_stops_the_run_between_two_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has taken as long as what happened until then, not as long as it may take."""
    monkeypatch.setattr("ailb_gen.sim.engine.run.SLICE", 5)
    for until_ps in (None, 20_000 * US):
        seen, watch = stopping_after(3)
        settings = replace(plain(), until_ps=until_ps)
        outcome = simulate(star(2), flows([0], [1], 1_000_000), settings, 1, watch, Sampler(star(2), US // 100))
        assert not outcome.complete
        assert outcome.end_ps == seen[-1].now_ps < 1_000 * US


def test_a_context_miss_costs_time_and_known_queue_pairs_none() -> None:
    fabric = star(4)
    work = flows([0, 0, 0], [1, 2, 3], 30_000)
    ends = {}
    for cache in (1, 2, 3):
        settings = replace(plain("go-back-n"), nics=NicSettings(cache, 5 * US))
        ends[cache] = simulate(fabric, work, settings, 1).finish_ps.max()
    free = simulate(fabric, work, plain("go-back-n"), 1).finish_ps.max()
    # Three flows in turn: with fewer contexts than flows every packet misses (least recently used goes first).
    assert ends[1] == ends[2] > free + 20 * 5 * US
    assert ends[3] < free + 2 * 5 * US + 3 * 30 * 1048 * 80


def test_a_message_costs_its_time_before_the_first_packet() -> None:
    fabric, work = star(2), flows([0], [1], 5_000)
    one, other = (
        simulate(fabric, work, replace(plain("go-back-n"), nics=NicSettings(message_ps=cost)), 1).finish_ps[0]
        for cost in (0, 3 * US)
    )
    assert other == one + 3 * US


def test_a_nic_begins_one_message_after_the_other() -> None:
    """Of ten short messages at once, and of ten parts of a flow that take longer to begin than to send."""
    cost = NicSettings(message_ps=50 * US)
    several = flows(np.zeros(10), np.ones(10), 1_000)
    one = simulate(star(2), flows([0], [1], 1_000), replace(plain("go-back-n"), nics=cost), 1).finish_ps[0]
    ends = simulate(star(2), several, replace(plain("go-back-n"), nics=cost), 1).finish_ps
    assert np.array_equal(np.sort(ends), one + np.arange(10) * 50 * US)
    settings = replace(plain("go-back-n"), nics=cost)
    parts = replace(settings, transport=replace(settings.transport, message_bytes=1_000))
    # The next part is begun as soon as the one before is sent.
    assert simulate(star(2), flows([0], [1], 10_000), parts, 1).finish_ps[0] == one + 9 * 50 * US
    free = replace(plain("go-back-n"), nics=NicSettings())
    assert simulate(star(2), several, free, 1).finish_ps.max() < 2 * 50 * US


@pytest.mark.parametrize("transport", ["raw", *REPAIRING])
def test_flows_use_all_links_of_a_host(transport: TransportName) -> None:
    fabric = leaf_spine(2, 2, 1, host_links=4)
    count = 64
    outcome = simulate(fabric, flows(np.zeros(count), np.ones(count), 5_000), plain(transport), 1)
    assert outcome.complete
    out = [link(fabric, "host1", "leaf1", number) for number in range(4)]
    assert outcome.link_packets[out].sum() == 5 * count
    assert outcome.link_packets[out].min() > 0


@pytest.mark.parametrize("transport", ["raw", "go-back-n"])
def test_sampled_loads_add_up_to_the_bytes_of_links(transport: TransportName) -> None:
    fabric = leaf_spine()
    settings = replace(plain(transport), measurement=Measurement(2 * US, 200))
    outcome = simulate(fabric, flows([0, 1, 2], [2, 3, 1], 60_000, [0, 5 * US, 9 * US]), settings, 1)
    assert outcome.complete
    assert outcome.load_interval_ps == 2 * US
    assert np.array_equal(outcome.load.sum(axis=0), outcome.link_bytes)
    # More than an interval holds is not sent in one, but for the packet that began in it.
    assert outcome.load.max() <= 2 * US // 80 + 1048


def test_tasks_wait_for_those_before_them() -> None:
    fabric, work = star(3), in_a_row(flows([0, 1, 2], [1, 2, 0], 10_000, [0, 0, 50 * US]))
    outcome = simulate(fabric, work, plain("go-back-n"), 1)
    assert outcome.start_ps[1] == outcome.finish_ps[0]
    assert outcome.start_ps[2] == 50 * US > outcome.finish_ps[1]


def test_a_computation_takes_its_time_and_a_barrier_none() -> None:
    work = in_a_row(flows([-1, -1, 0], [0, 0, 1], [7 * US, 0, 1_000]))
    outcome = simulate(star(2), work, plain(), 1)
    assert outcome.finish_ps[:2].tolist() == [7 * US, 7 * US]
    assert outcome.start_ps[2] == 7 * US


def test_more_link_changes_than_timers_at_the_start() -> None:
    fabric = star(2)
    changes = tuple(LinkChange(at, 1, at % 2 == 1) for at in range(3_000))
    outcome = simulate(replace(fabric, changes=changes), flows([0], [1], 1_000, 2 * US), plain(), 1)
    assert outcome.complete


def incast(buffer: int, alpha: float) -> tuple[set[str], int]:
    """64 hosts below four leaves send to one; which kinds of nodes are paused, and drops."""
    fabric = leaf_spine(4, 2, 17)
    senders = np.array([host for host in range(fabric.host_count) if host % 17 != 0])
    switches = replace(lossless(fabric, buffer, alpha, headroom=60_000), ecn_min_bytes=None)
    settings = replace(plain("go-back-n", few=10**10), switches=switches)
    outcome = simulate(fabric, flows(senders, 0 * senders, 12_000), settings, 1)
    assert outcome.complete
    assert outcome.totals["retransmissions"] == 0
    stopped = {fabric.names[fabric.link_source[number]] for number in np.flatnonzero(outcome.link_pauses)}
    return stopped, outcome.totals["drops"]


def test_a_lossless_fabric_drops_nothing_and_pauses_spread_as_far_as_buffers_say() -> None:
    stopped, drops = incast(20_000, 1 / 8)
    assert drops == 0
    assert {"spine1", "spine2", "leaf2", "leaf3", "leaf4"} <= stopped
    assert any(name.startswith("host") for name in stopped)
    stopped, drops = incast(20_000_000, 1.0)
    assert (stopped, drops) == (set(), 0)


def test_the_headroom_that_is_needed_is_enough_and_two_packets_less_are_not() -> None:
    """At 100 Gbit/s and 1 us 25,000 bytes are under way in a round trip; 3 packets of 1,048 bytes and a frame of 60."""
    fabric = star(24)
    senders = np.arange(1, 24)
    work = flows(senders, 0 * senders, 200_000)
    enough = BufferSettings(shared_buffer_bytes=10**6, pfc=True, pause_bytes=3_000)
    settings = replace(plain("go-back-n"), packets=PacketSettings(1000, 48, 60), switches=enough)
    assert set(needed_headroom(fabric, settings)) == {28_204}
    outcome = simulate(fabric, work, settings, 1)
    assert outcome.complete
    assert outcome.totals["drops"] == 0
    less = replace(enough, headroom_bytes=28_204 - 2 * 1_048)
    outcome = simulate(fabric, work, replace(settings, switches=less, until_ps=100 * US), 1)
    assert outcome.totals["drops"] > 0


def test_a_sender_that_does_not_obey_pauses_overfills_the_headroom() -> None:
    """Of two senders the deaf one loses packets, and the other one none."""
    fabric = star(3)
    work = flows([1, 2], [0, 0], 200_000)
    obeys = np.array([fabric.names[node] != "host2" for node in fabric.link_source])
    switches = replace(lossless(fabric, 10**6), pause_bytes=5_000, ecn_min_bytes=None, obeys_pauses=obeys)
    outcome = simulate(fabric, work, replace(plain("raw"), switches=switches), 1)
    assert outcome.totals["drops"] > 0
    assert (outcome.finish_ps == NEVER).tolist() == [True, False]
    assert outcome.link_paused_ps[link(fabric, "host2", "leaf1")] == 0


def test_packets_that_are_too_large_for_a_link_are_lost_and_smaller_ones_pass() -> None:
    fabric = star(2)
    limit = np.full(fabric.link_count, 500)
    switches = BufferSettings(payload_limit_bytes=limit)
    settings = replace(plain("raw"), packets=PacketSettings(1000, 48, 60), switches=switches)
    # The last packet of 2,500 bytes has 500.
    outcome = simulate(fabric, flows([0], [1], 2_500), settings, 1)
    assert (outcome.totals["lost"], outcome.totals["unreachable"], outcome.complete) == (2, 0, False)
    assert simulate(fabric, flows([0], [1], 500), settings, 1).complete


def test_what_switches_write_into_packets_counts_for_headroom_and_is_no_payload() -> None:
    fabric = star(2)
    telemetry = replace(plain("go-back-n"), congestion=CongestionSettings("hpcc", {"int_bytes": 42}))
    more = needed_headroom(fabric, telemetry) - needed_headroom(fabric, plain("go-back-n"))
    assert set(more.tolist()) == {3 * 42}
    longer = longest_round_trip(fabric, telemetry) - longest_round_trip(fabric, plain("go-back-n"))
    assert longer == 4 * 42 * byte_ps(fabric).max()
    # Payload as large as the limit passes, over links that lose hardly anything, too.
    links = fabric.link_count
    limited = BufferSettings(payload_limit_bytes=np.full(links, 1000), loss_probability=np.full(links, 1e-9))
    outcome = simulate(fabric, flows([0], [1], 10_000), replace(telemetry, switches=limited), 1)
    assert outcome.complete
    assert outcome.totals["lost"] == 0


def test_an_idle_round_trip_has_what_switches_write_into_packets_and_acknowledgements() -> None:
    # Not even a full packet's round trip is later than the idle one, so nothing moves to another path.
    moving = BalancerSettings("flowbender", {"late_factor": 1})
    settings = replace(plain("go-back-n"), balancer=moving, congestion=CongestionSettings("hpcc"))
    outcome = simulate(leaf_spine(2, 4, 1), flows([0], [1], 300_000), settings, 1)
    assert outcome.complete
    assert outcome.rerouted.sum() == 0


def test_without_pfc_the_same_incast_drops() -> None:
    fabric = leaf_spine(1, 1, 9)
    senders = np.arange(1, 9)
    switches = BufferSettings(shared_buffer_bytes=10_000)
    outcome = simulate(fabric, flows(senders, 0 * senders, 12_000), replace(plain("go-back-n"), switches=switches), 1)
    assert outcome.complete
    assert outcome.totals["drops"] == outcome.link_drops[link(fabric, "leaf1", "host1")] > 0
    assert outcome.link_peak_bytes.max() <= 10_000


def test_pause_frames_go_over_links_that_lose_packets() -> None:
    """A lost frame would stop a link for ever: ports repeat them."""
    fabric = star(5)
    senders = np.arange(1, 5)
    switches = replace(lossless(fabric, 30_000), ecn_min_bytes=None, loss_probability=np.full(fabric.link_count, 0.2))
    settings = replace(plain("selective-repeat"), packets=PacketSettings(1000, 48, 60), switches=switches)
    outcome = simulate(fabric, flows(senders, 0 * senders, 50_000), settings, 1)
    assert outcome.complete
    assert outcome.link_pauses.sum() > 0


def test_a_port_that_comes_back_forgets_what_it_was_told() -> None:
    """The resume frame is sent while the cable is down; without a new start the host would stay silent."""
    fabric = star(3)
    switches = replace(lossless(fabric, 10**6), pause_bytes=3_000, ecn_min_bytes=None)
    cable = link(fabric, "host2", "leaf1")
    both = (cable, int(fabric.link_reverse[cable]))
    for down in range(3 * US, 12 * US, US):
        changes = tuple(LinkChange(at, one, at > down) for at in (down, down + 20 * US) for one in both)
        broken = replace(fabric, changes=changes)
        work = flows([1, 2], [0, 0], 60_000)
        assert simulate(broken, work, replace(plain("go-back-n"), switches=switches), 1).complete


def test_more_time_than_keys_hold_is_refused() -> None:
    fabric = star(3)
    late = replace(flows([1, 2], [0, 0], 1000), start_ps=np.array([0, 2**58], np.int64))
    with pytest.raises(UsageError, match=r"more than 144115 s of simulated time, the most with 8 links; .* `until`"):
        simulate(fabric, late, replace(plain(), until_ps=None), 1)
    outcome = simulate(fabric, late, plain(), 1)
    assert not outcome.complete
    assert outcome.finish_ps[1] == NEVER
