"""The same seed gives the same outcome: compiled or not, again, and however much room there is at the start."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np
import pytest

from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.engine import memory
from ailb_gen.sim.engine.loop import advance
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import PS_PER_US, LinkChange
from ailb_gen.sim.outcome import SimulationOutcome
from ailb_gen.sim.series import Sampler
from ailb_gen.sim.settings import (
    BalancerSettings,
    TransportSettings,
)
from tests.sim.engine.cases import TRANSPORTS, Case, flows, leaf_spine, link, needs_compiler, varied
from tests.sim.processes import check_both_ways


def configurations() -> Iterator[tuple[str, Case]]:
    """Every load balancer, with the transports, buffers, failures and NICs in turn."""
    fabric = leaf_spine(2, 3, 2, host_links=2, leaf_spine_links=2)
    cable = link(fabric, "leaf1", "spine1")
    both = (cable, int(fabric.link_reverse[cable]))
    broken = tuple(LinkChange(at * PS_PER_US, one, at > 10) for at in (4, 30) for one in both)
    source, target = np.array([0, 1, 0, 2, 3, 1, 2]), np.array([2, 2, 3, 0, 2, 3, 1])
    work = flows(source, target, 20_000, np.arange(7) * 1_500_000, [0, 1, 0, 0, 1, 1, 0])
    single = replace(work, priority=None)
    for number, name in enumerate(BALANCERS):
        for transport in TRANSPORTS[number % 2 :: 2]:
            place = (number + TRANSPORTS.index(transport)) // 2
            given = TransportSettings(transport, timeout_few_ps=30 * PS_PER_US)
            settings = varied(fabric, BalancerSettings(name), given, number // 2 + TRANSPORTS.index(transport))
            with_failure = replace(fabric, changes=broken) if place % 2 else fabric
            yield f"{name} {transport}", Case(with_failure, single if number % 4 == 0 else work, settings, number)


def digest(outcome: SimulationOutcome) -> str:
    """All bytes of an outcome in one number."""
    found = hashlib.sha256()
    for one in fields(outcome):
        value = getattr(outcome, one.name)
        if isinstance(value, np.ndarray):
            found.update(np.ascontiguousarray(value).astype(np.int64).tobytes())
        else:
            found.update(json.dumps(value, sort_keys=True).encode())
    return found.hexdigest()


def digests() -> dict[str, str]:
    """The digest of every configuration."""
    return {
        name: digest(simulate(case.fabric, case.workload, case.settings, case.seed)) for name, case in configurations()
    }


@pytest.mark.long
@needs_compiler
def test_compiled_and_interpreted_give_the_same_bytes() -> None:
    check_both_ways(digests)


def test_the_same_seed_gives_the_same_bytes_again_and_another_one_does_not() -> None:
    assert digests() == digests()
    case = dict(configurations())["spray go-back-n"]
    one, other = (simulate(case.fabric, case.workload, case.settings, seed) for seed in (1, 2))
    assert digest(one) != digest(other)


def test_looking_at_a_run_over_time_changes_nothing_of_it() -> None:
    for name, case in configurations():
        plain = simulate(case.fabric, case.workload, case.settings, case.seed)
        seen = simulate(case.fabric, case.workload, case.settings, case.seed, None, Sampler(case.fabric, PS_PER_US))
        assert digest(replace(seen, series=None)) == digest(plain), name
        series = seen.series
        assert series is not None
        # What is counted after the last task ended is no part of a series.
        assert int(series.marks.sum()) <= int(plain.link_marks.sum()), name
        assert int(series.drops.sum()) <= int(plain.link_drops.sum()), name
        assert series.peak_packets.max() == plain.link_peak.max(), name
        assert series.edges_ps[-1] == plain.end_ps, name
        assert np.all(np.diff(series.edges_ps) > 0), name


def test_room_that_grows_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digests()
    monkeypatch.setattr(memory, "FIRST_PACKETS", 16)
    monkeypatch.setattr(memory, "FIRST_TIMERS", 16)
    assert digests() == before


@needs_compiler
def test_arrays_of_any_kind_are_compiled_for_once() -> None:
    case = dict(configurations())["ecmp raw"]
    fabric = replace(case.fabric, set_links=np.repeat(case.fabric.set_links, 2)[::2].astype(np.int64))
    fabric.set_links.setflags(write=False)
    work = replace(case.workload, successors=np.zeros(0, np.int64))
    assert digest(simulate(fabric, work, case.settings, case.seed)) == digests()["ecmp raw"]
    signatures = getattr(advance, "signatures")  # noqa: B009 - Numba has no types
    assert len(signatures) == 1
