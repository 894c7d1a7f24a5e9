"""Packets, bytes and counters of the engine are conserved at every moment, whatever runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from ailb_gen.sim.engine import memory
from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.loop import advance
from ailb_gen.sim.engine.parts import grown
from ailb_gen.sim.engine.records import EngineState
from tests.conftest import examples
from tests.sim.engine.cases import Case, cases
from tests.sim.engine.conservation import check


@pytest.fixture(autouse=True, scope="module")
def _little_room() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "FIRST_PACKETS", 16)
        patch.setattr(memory, "FIRST_TIMERS", 16)
        yield


def run_checked(case: Case, events: int, slices: int) -> EngineState:
    """Run a case and check it after every slice; return its last state."""
    state = memory.new_state(case.fabric, case.workload, case.settings, case.seed)
    for _ in range(slices):
        result = advance(state, events)
        if result in (r.NEEDS_PACKETS, r.NEEDS_TIMERS):
            state = grown([state], [result])[0]
        check(state)
        if result in (r.FINISHED, r.STOPPED):
            break
    return state


@settings(max_examples=examples(60))
@given(cases())
def test_everything_is_conserved_after_every_few_events(case: Case) -> None:
    run_checked(case, 5, 150)
