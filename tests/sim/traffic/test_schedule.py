"""The order of forward and backward passes in a stage."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.sim.traffic.schedule import operations
from tests.conftest import examples


@settings(max_examples=examples(60))
@given(st.integers(1, 6), st.integers(1, 8), st.integers(1, 3))
def test_every_pass_is_done_once_and_forward_first(stages: int, microbatches: int, virtual: int) -> None:
    microbatches *= stages if virtual > 1 else 1
    for schedule in ("1f1b", "gpipe"):
        for stage in range(stages):
            done = operations(stage, stages, microbatches, schedule, virtual)
            parts = [(m, v) for m in range(microbatches) for v in range(virtual)]
            assert sorted(done) == sorted((way, m, v) for way in ("forward", "backward") for m, v in parts)
            assert all(done.index(("forward", m, v)) < done.index(("backward", m, v)) for m, v in parts)
            if virtual == 1:
                open_passes = np.cumsum([1 if way == "forward" else -1 for way, _, _ in done])
                limit = microbatches if schedule == "gpipe" else min(stages - stage, microbatches)
                assert open_passes.max() == limit, "as many activations as 1F1B is made to hold"
