"""Rates at every event are those of the textbook's algorithm, computed from scratch."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.clos import clos
from ailb_gen.sim.fabric import FabricArrays, LinkChange
from ailb_gen.sim.fluid.run import advanced, changed, prepared
from ailb_gen.sim.fluid.state import FOREVER, FluidState
from ailb_gen.sim.settings import BalancerSettings, SimulationSettings
from ailb_gen.sim.workload import Workload
from tests.conftest import examples
from tests.sim.fluid.tasks import fair_rates, flows_of, workload

RATES = st.sampled_from([1_000_000_000, 3_000_000_000, 10_000_000_000])
HOSTS = st.integers(0, 7)
# Amounts and starts are multiples, so that many events come at once.
TASKS = st.lists(
    st.tuples(
        st.one_of(st.just(-1), HOSTS, HOSTS),
        HOSTS,
        st.integers(0, 8).map(lambda number: number * 5_000),
        st.integers(0, 4).map(lambda number: number * 10_000_000),
    ),
    min_size=1,
    max_size=24,
)


@st.composite
def fabrics(draw: st.DrawFn) -> FabricArrays:
    leaves, spines, links = draw(st.sampled_from([(2, 2, 1), (4, 3, 1), (2, 1, 2), (4, 2, 2), (1, 1, 1)]))
    built = clos(
        leaves,
        spines,
        8 // leaves,
        host_bps=draw(RATES),
        uplink_bps=[draw(RATES) for _ in range(spines)],
        host_links=draw(st.integers(1, 2)),
        leaf_spine_links=links,
        colors=draw(st.sampled_from([0, 0, spines])),
    )
    rates = built.rate_bps.copy()
    rates[:: draw(st.integers(2, 9))] //= 2
    return replace(built, rate_bps=rates)


@st.composite
def works(draw: st.DrawFn) -> Workload:
    rows = [
        (source, (target + 1) % 8 if target == source else target, amount, start)
        for source, target, amount, start in draw(TASKS)
    ]
    numbers = st.integers(0, len(rows) - 1)
    edges = draw(st.sets(st.tuples(numbers, numbers), max_size=10))
    return workload(rows, {(first, second) for first, second in edges if first < second})


def check_rates(state: FluidState) -> None:
    _, paths, rates = flows_of(state)
    expected = fair_rates([path for path in paths if path], state.links["capacity"].tolist())
    found = [rate for path, rate in zip(paths, rates, strict=True) if path]
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-3)
    load = [
        sum(path.get(link, 0.0) * rate for path, rate in zip(paths, rates, strict=True))
        for link in range(len(state.links))
    ]
    assert state.links["load"].tolist() == pytest.approx(load, rel=1e-8, abs=1e-3)


@given(fabrics(), works(), st.sampled_from(sorted(BALANCERS)), st.data())
@settings(max_examples=examples(40))
def test_rates_are_max_min_fair_at_every_event(
    fabric: FabricArrays, work: Workload, balancer: str, data: st.DataObject
) -> None:
    state = prepared(fabric, work, SimulationSettings(balancer=BalancerSettings(balancer)), 7)
    hops = fabric.forwarding[0].next_hops
    links = st.integers(0, fabric.link_count - 1)
    down: set[int] = set()
    more = True
    while more:
        state, more = advanced(state, hops, FOREVER, 0)
        check_rates(state)
        now = int(state.run[0]["now"])
        if more and len(down) < 3 and data.draw(st.integers(0, 9)) == 0:
            link = data.draw(links)
            changed(state, hops, [LinkChange(now, link, up=link in down)])
            down ^= {link}
        elif not more and down:
            changed(state, hops, [LinkChange(now, link, up=True) for link in down])
            down, more = set(), True
    assert state.run[0]["ended"] == work.count
    assert state.run[0]["flowing"] == 0
    assert not state.links["load"].any()
    assert (state.links["head"] == -1).all()
    assert not state.links["limited"].any()
