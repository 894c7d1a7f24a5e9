"""A run on several cores has the same outcome as on one, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.engine import memory, parts
from ailb_gen.sim.engine.balancers.dispatch import HOOKS
from ailb_gen.sim.engine.partition import Partition, partition
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import PS_PER_US, SPINE, FabricArrays, LinkChange
from ailb_gen.sim.outcome import NEVER, Progress
from ailb_gen.sim.series import Sampler
from ailb_gen.sim.settings import (
    BalancerSettings,
    SimulationSettings,
    TransportSettings,
)
from ailb_gen.sim.workload import COMPUTATION, Workload
from tests.sim.engine.cases import PACKETS, TRANSPORTS, Case, flows, in_a_row, leaf_spine, varied, waiting
from tests.sim.engine.test_run_same_bytes import digest

HOSTS, FLOWS = 32, 48
SILENCE = 0.2


def fabric(spines: int = 2) -> FabricArrays:
    return leaf_spine(4, spines, HOSTS // 4, host_links=1, leaf_spine_links=4 // spines)


def work() -> Workload:
    """Flows between random hosts, many of which begin at one time; several have one queue pair."""
    draw = np.random.default_rng(5)
    source = draw.integers(0, HOSTS, FLOWS)
    target = (source + draw.integers(1, HOSTS, FLOWS)) % HOSTS
    start = draw.integers(0, 6, FLOWS) * 2 * PS_PER_US
    return flows(source, target, draw.integers(1, 30_000, FLOWS), start, list(draw.integers(0, 2, FLOWS)))


def configurations() -> Iterator[tuple[str, Case]]:
    """Every load balancer whose runs can be divided, with transports, buffers, congestion controls and NICs in turn.

    Flows move to other paths often, so that packets of one are at several spines.
    """
    made, given = fabric(), work()
    single = fabric(spines=4)
    for number, name in enumerate(BALANCERS):
        known = {one.name for one in BALANCERS[name].parameters}
        where = single if SPINE in HOOKS[name].remember else made
        for place, transport in enumerate(TRANSPORTS[1:]):
            own = BalancerSettings(name, {one: SILENCE for one in ("gap_us", "inactivity_us") if one in known})
            ends = TransportSettings(transport, ends_acknowledged=bool((number + place) % 2))
            settings = varied(where, own, ends, number + place)
            case = Case(where, given if number % 2 else replace(given, priority=None), settings, number)
            if divided(case).parts > 1:
                yield f"{name} {transport}", case


def divided(case: Case, cores: int = 4) -> Partition:
    return partition(case.fabric, case.workload, case.settings, cores)


def test_the_outcome_is_that_of_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "FIRST_PACKETS", 64)
    monkeypatch.setattr(parts, "FIRST_PACKETS", 64)
    monkeypatch.setattr(parts, "FIRST_TIMERS", 16)
    names = set()
    for name, case in configurations():
        one, *others = (
            digest(simulate(case.fabric, case.workload, case.settings, case.seed, cores=cores)) for cores in (1, 2, 4)
        )
        assert others == [one, one], name
        names.add(name.split()[0])
    assert names == BALANCERS.keys() - {"glb", "spectrum-x", "conweave", "seqbalance"}


def plain(balancer: str = "ecmp", **transport: object) -> SimulationSettings:
    given = TransportSettings("go-back-n", timeout_ps=50 * PS_PER_US)
    return SimulationSettings(
        PACKETS,
        balancer=BalancerSettings(balancer),
        transport=replace(given, **transport),  # type: ignore[arg-type]
        until_ps=500 * PS_PER_US,
    )


def relay() -> Workload:
    """A flow over all leaves and back, from host to host, each of which waits for the whole of it."""
    ends = [(place * 9) % HOSTS for place in range(40)]
    return in_a_row(flows(ends[:-1], ends[1:], 3000))


def test_tasks_that_wait_where_others_end() -> None:
    one, two = (simulate(fabric(), relay(), plain(), 1, cores=cores) for cores in (1, 2))
    assert divided(Case(fabric(), relay(), plain(), 1), 2).parts == 2
    assert digest(one) == digest(two)
    assert one.complete


def test_computations_are_where_what_they_wait_for_ends() -> None:
    ends = np.array([(place * 9) % HOSTS for place in range(21)])
    steps = np.arange(39)
    computes = steps % 2 == 1
    sources, targets = (np.where(computes, COMPUTATION, ends[place]) for place in (steps // 2, steps // 2 + 1))
    mixed = in_a_row(flows(sources, targets, 3000))
    found = divided(Case(fabric(), mixed, plain(), 1), 2)
    assert found.parts == 2
    assert np.array_equal(found.task[computes], found.node[ends[steps[computes] // 2 + 1]])
    one, two = (simulate(fabric(), mixed, plain(), 1, cores=cores) for cores in (1, 2))
    assert one.complete
    assert digest(one) == digest(two)


def test_barriers_at_the_end() -> None:
    """Two barriers for all flows of one half each, one for both of these, one for a flow that never ends."""
    many, three = work(), np.full(4, COMPUTATION)
    source, target = (np.append(one, three) for one in (many.source, many.target))
    amount = np.append(many.amount, [0, 0, 0, 0])
    amount[0] = 10**9
    tasks = replace(flows(source, target, amount), start_ps=np.append(many.start_ps, [0, 0, 0, 0]))
    first, second, both, never = range(FLOWS, FLOWS + 4)
    half = [(task, first if task < FLOWS // 2 else second) for task in range(1, FLOWS)]
    given = waiting(tasks, [*half, (first, both), (second, both), (0, never)])
    case = Case(fabric(), given, plain(), 1)
    assert divided(case).parts == 4
    one, four = (simulate(fabric(), given, plain(), 1, cores=cores) for cores in (1, 4))
    assert one.finish_ps[both] == one.finish_ps[1:FLOWS].max() > 0
    assert one.finish_ps[first] == one.finish_ps[1 : FLOWS // 2].max()
    assert one.finish_ps[never] == NEVER
    assert digest(one) == digest(four)


def detour() -> FabricArrays:
    """A spine sends what is for the hosts of a leaf to another one, which chooses among the spines again."""
    made = fabric()
    next_hops = made.forwarding[0].next_hops.copy()
    first, other = (made.destination_prefix[made.first_destination[host]] for host in (0, HOSTS - 1))
    spine = list(made.tier[HOSTS:]).index(SPINE)
    next_hops[spine, first] = next_hops[spine, other]
    return replace(made, forwarding=(replace(made.forwarding[0], next_hops=next_hops),))


def broken() -> FabricArrays:
    return replace(fabric(), changes=(LinkChange(PS_PER_US, 3, False),))


def twice_routed() -> FabricArrays:
    made = fabric()
    return replace(made, forwarding=(made.forwarding[0], replace(made.forwarding[0], at_ps=PS_PER_US)))


SHARES = "switches behind the first one share what they choose for a flow with {}"
CHANGES, WAITS = "links or FIBs change, at the start or later", "a task waits for one that ends at another leaf"


@pytest.mark.parametrize(
    ("made", "given", "settings", "why"),
    [
        pytest.param(broken, work, plain(), CHANGES, id="a link that fails"),
        pytest.param(twice_routed, work, plain(), CHANGES, id="FIBs that change"),
        pytest.param(fabric, work, plain("glb"), "glb knows of queues and paths elsewhere", id="queues elsewhere"),
        pytest.param(fabric, work, plain("letflow"), SHARES.format("letflow"), id="spines that choose for flows"),
        pytest.param(detour, work, plain("conga"), SHARES.format("conga"), id="leaves behind spines"),
        pytest.param(fabric, work, plain(name="raw"), "the transport is raw", id="raw packets"),
        pytest.param(fabric, relay, plain(ends_acknowledged=True), WAITS, id="ends known at the source"),
        pytest.param(
            fabric,
            lambda: waiting(work(), [(number, FLOWS - 1) for number in range(9)]),
            plain(),
            WAITS,
            id="a barrier",
        ),
        pytest.param(
            lambda: replace(fabric(), delay_ps=fabric().delay_ps * 0),
            work,
            plain(),
            "links between its parts have no delay",
            id="no delay",
        ),
        pytest.param(
            lambda: leaf_spine(2, 2, 4),
            lambda: flows([0], [7], 1000),
            plain(),
            "there are fewer than 8 hosts for each core, or fewer leaves than cores",
            id="few hosts",
        ),
    ],
)
def test_what_has_one_core(made: object, given: object, settings: SimulationSettings, why: str) -> None:
    case = Case(made(), given(), settings, 1)  # type: ignore[operator]
    found = divided(case)
    assert (found.parts, found.why) == (1, why)
    assert digest(simulate(case.fabric, case.workload, settings, 1)) == digest(
        simulate(case.fabric, case.workload, settings, 1, cores=4)
    )


def test_looking_at_it_over_time() -> None:
    one, two = (
        simulate(fabric(), work(), plain(), 1, None, Sampler(fabric(), PS_PER_US), cores=cores) for cores in (1, 2)
    )
    assert one.series is not None
    assert two.series is not None
    for name in ("edges_ps", "mean_load", "max_load", "peak_packets", "marks", "drops"):
        assert np.array_equal(getattr(one.series, name), getattr(two.series, name)), name


def test_it_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ailb_gen.sim.engine.run.SLICE", 50)
    seen: list[Progress] = []

    def watch(now: Progress) -> bool:
        seen.append(now)
        return len(seen) < 3

    outcome = simulate(fabric(), work(), plain(), 1, watch, cores=2)
    assert not outcome.complete
    assert len(seen) == 3
    assert 100 < seen[-1].events == outcome.totals["events"]
    # Looking at it more often changes nothing.
    whole, again = (simulate(fabric(), work(), plain(), 1, lambda now: True, cores=cores) for cores in (1, 2))
    assert whole.complete
    assert digest(whole) == digest(again)


def test_every_part_has_its_share() -> None:
    many = flows(np.arange(HOSTS), (np.arange(HOSTS) + 9) % HOSTS, 1_000)
    found = partition(fabric(), many, plain(), 4)
    assert np.bincount(found.node[:HOSTS]).tolist() == [8, 8, 8, 8]
    assert np.bincount(found.node[HOSTS:]).tolist() == [2, 2, 1, 1]
    # All that is sent is at two of four leaves: each has a core.
    few = flows(np.arange(8), np.arange(8) + 8, 1_000)
    assert partition(fabric(), few, plain(), 2).node[[0, 7, 8, 15]].tolist() == [0, 0, 1, 1]
