"""The numbers of messages that are told in advance are those of the messages that are made."""

from __future__ import annotations

import numpy as np
import pytest

from ailb_gen.sim.traffic.builder import Builder
from ailb_gen.sim.traffic.collectives import COLLECTIVES, append, messages_of
from ailb_gen.sim.traffic.options import Options

WAYS = [(kind, way) for kind, ways in COLLECTIVES.items() for way in ways]


@pytest.mark.parametrize(("kind", "way"), WAYS, ids=[f"{kind} {way.name}" for kind, way in WAYS])
@pytest.mark.parametrize(
    "options", [Options(), Options(slices=3), Options(per_server=2), Options(rounds=1), Options(stream=True, slices=2)]
)
def test_messages_are_as_many_and_as_large_as_told(kind: str, way: object, options: Options) -> None:
    (way,) = (one for one in COLLECTIVES[kind] if one is way)
    for name in ("slices", "rounds", "stream"):
        if name not in way.options and getattr(options, name) != getattr(Options(), name):
            return
    if options.per_server > 1 and way.rails == "none":
        return
    for n in (2, 3, 4, 6, 8, 12):
        if n % options.per_server or n < 2 * options.per_server:
            assert messages_of(kind, 1, 10_007, options, way.name)[:2] == (0, 0)
            continue
        builder = Builder()
        append(builder, builder.job("x"), kind, np.arange(n), 10_007, options, way.name)
        workload = builder.finish()
        sizes = workload.amount[workload.source >= 0]
        count, least, at_once = messages_of(kind, n, 10_007, options, way.name)
        assert count == len(sizes)
        assert least <= sizes.min() <= least + options.per_server
        # What goes at once waits for nothing.
        if at_once:
            assert (workload.waits[workload.source >= 0] == 0).all()
