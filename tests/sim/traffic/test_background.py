"""Background load: it takes the chosen link alone, and every path that was there before stays as it is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.errors import UsageError
from ailb_gen.sim.clos import clos, with_outages
from ailb_gen.sim.fabric import HOST, PS_PER_S, UNREACHABLE, FabricArrays
from ailb_gen.sim.failures import Outage, without_links
from ailb_gen.sim.settings import BufferSettings, SimulationSettings
from ailb_gen.sim.traffic.background import with_background, with_more_links
from tests.conftest import examples
from tests.sim.traffic.executor import check, finish_times
from tests.sim.walk import check_arrays, next_links, shares


@st.composite
def fabrics(draw: st.DrawFn) -> FabricArrays:
    """A small fabric, perhaps with a link that fails and comes back, and FIBs that follow."""
    fabric = clos(
        draw(st.integers(1, 4)),
        draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
        host_bps=10**9,
        uplink_bps=draw(st.sampled_from([10**9, 4 * 10**9])),
        host_links=draw(st.integers(1, 2)),
        leaf_spine_links=draw(st.integers(1, 2)),
        colors=draw(st.integers(0, 3)),
    )
    failed = draw(st.none() | st.sampled_from(between_switches(fabric)))
    if failed is not None:
        fabric = with_outages(fabric, [Outage(fabric.link_names[failed], 5, 9, 1)])
    return fabric


def between_switches(fabric: FabricArrays) -> list[int]:
    ends = np.minimum(fabric.link_source, fabric.link_target)
    return [int(link) for link in np.flatnonzero(ends >= fabric.host_count)]


def chosen_links(fabric: FabricArrays, data: st.DataObject) -> list[int]:
    return data.draw(st.lists(st.sampled_from(between_switches(fabric)), max_size=4, unique=True))


@settings(max_examples=examples(60))
@given(fabrics(), st.data())
def test_every_path_of_before_stays(fabric: FabricArrays, data: st.DataObject) -> None:
    links = chosen_links(fabric, data)
    loaded, _ = with_background(fabric, links, 0.3, PS_PER_S)
    check_arrays(loaded)
    added = 2 * len(links)
    assert loaded.switch_count == fabric.switch_count
    assert loaded.names[: fabric.host_count] == fabric.names[: fabric.host_count]
    assert loaded.names[loaded.host_count :] == fabric.names[fabric.host_count :]
    assert loaded.link_names[: fabric.link_count] == fabric.link_names
    assert (loaded.tier[: loaded.host_count] == HOST).all()
    assert (loaded.tier[loaded.host_count :] == fabric.tier[fabric.host_count :]).all()
    assert loaded.changes == fabric.changes
    assert [one.at_ps for one in loaded.forwarding] == [one.at_ps for one in fabric.forwarding]
    for link in range(fabric.link_count):
        for ends, before in ((loaded.link_source, fabric.link_source), (loaded.link_target, fabric.link_target)):
            assert loaded.names[ends[link]] == fabric.names[before[link]]
        assert loaded.rate_bps[link] == fabric.rate_bps[link]
        assert loaded.delay_ps[link] == fabric.delay_ps[link]
        assert loaded.link_reverse[link] == fabric.link_reverse[link]
    destinations = len(fabric.destination_prefix)
    assert (loaded.destination_hosts()[:destinations] == fabric.destination_hosts()).all()
    for state in range(len(fabric.forwarding)):
        for destination in range(destinations):
            for node in range(len(fabric.names)):
                moved = node if node < fabric.host_count else node + added
                assert next_links(loaded, moved, destination, state) == next_links(fabric, node, destination, state)


@settings(max_examples=examples(60))
@given(fabrics(), st.data(), st.sampled_from([0.01, 0.3, 1.0]))
def test_the_load_takes_the_chosen_link_and_no_other(fabric: FabricArrays, data: st.DataObject, share: float) -> None:
    links = chosen_links(fabric, data)
    loaded, workload = with_background(fabric, links, share, PS_PER_S, 77)
    check(workload)
    assert workload.count == len(links)
    assert workload.start_ps.tolist() == [77] * len(links)
    finish_times(workload)
    for flow, link in enumerate(links):
        sender, receiver = int(workload.source[flow]), int(workload.target[flow])
        for here, there, crossed in ((sender, receiver, link), (receiver, sender, int(fabric.link_reverse[link]))):
            (up,) = next_links(loaded, here, 0)
            destination = int(loaded.first_destination[there])
            assert loaded.first_destination[there + 1] == destination + 1
            for state, forwarding in enumerate(loaded.forwarding):
                (down,) = next_links(loaded, int(loaded.link_target[crossed]), destination, state)
                load, arrived = shares(loaded, here, destination, state)
                assert load == {one: Fraction(1) for one in (up, crossed, down)}
                assert arrived == 1
                routes = forwarding.next_hops[:, loaded.destination_prefix[destination]]
                assert np.count_nonzero(routes != UNREACHABLE) == 2
        own = int(loaded.set_links[loaded.set_first[loaded.host_set[sender]]])
        rate = int(fabric.rate_bps[link] * share)
        assert loaded.rate_bps[own] == rate
        assert loaded.delay_ps[own] == fabric.delay_ps[link]
        assert workload.amount[flow] == rate // 8


def test_it_goes_on_after_links_have_failed() -> None:
    fabric = clos(2, 2, 1, host_bps=10**9, uplink_bps=10**9)
    failed, link = between_switches(fabric)[0], between_switches(fabric)[1]
    loaded, _ = with_background(without_links(fabric, [failed]), [link], 0.5, PS_PER_S)
    check_arrays(loaded)
    load, arrived = shares(loaded, 2, int(loaded.first_destination[3]))
    assert arrived == 1
    assert link in load


def test_settings_by_link_are_extended() -> None:
    fabric = clos(2, 2, 1, host_bps=10**9, uplink_bps=10**9)
    count = fabric.link_count
    by_link = BufferSettings(
        ecn_min_bytes=np.full(count, 5),
        ecn_max_bytes=np.full(count, 9),
        ecn_probability=np.full(count, 0.5),
        loss_probability=np.full(count, 0.1),
    )
    more = with_more_links(SimulationSettings(switches=by_link), count + 4).switches
    assert more.ecn_min_bytes is not None
    assert more.ecn_probability is not None
    assert more.loss_probability is not None
    assert more.ecn_min_bytes.tolist() == [5] * count + [-1] * 4
    assert more.ecn_probability.tolist() == [0.5] * count + [0] * 4
    assert more.loss_probability.tolist() == [0.1] * count + [0] * 4
    assert with_more_links(SimulationSettings(), 99) == SimulationSettings()


@pytest.mark.parametrize(
    ("link", "duration_ps", "text"),
    [
        (0, PS_PER_S, "background on host1:leaf1: the link leads to a host"),
        (2, PS_PER_S, "leads to a host"),
        (4, 1, "sends less than a byte"),
    ],
)
def test_impossible_loads_are_refused(link: int, duration_ps: int, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        with_background(clos(2, 2, 1, host_bps=10**9, uplink_bps=10**9), [link], 0.5, duration_ps)
