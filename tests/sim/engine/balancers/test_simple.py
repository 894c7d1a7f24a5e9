"""Load balancers in switches give the same bytes compiled and as plain Python."""

from __future__ import annotations

import json

from ailb_gen.sim.engine.jit import DISABLED
from tests.sim.engine.balancers.small import run, two_tiers
from tests.sim.processes import printed

PARAMETERS: dict[str, dict[str, float]] = {
    "dlb": {"quality_delta": 1, "probability": 0.5},
    "glb": {"flood_us": 5},
    "conga": {"gap_us": 0},
}


def runs() -> list[object]:
    """Say whether this process compiles nothing, and what comes of every load balancer."""
    rows = [(host, (host + 2) % 6, 5_000, host, host) for host in range(6)]
    rows += [(host, (host + 4) % 6, 4_000, host + 20, host) for host in range(6)]
    found: list[object] = [bool(DISABLED)]
    for name in ("conga", "dlb", "dlb-per-packet", "dlb-assigned-flow", "glb", "rlb"):
        for transport in ("raw", "selective-repeat"):
            done = run(two_tiers(leaves=3, links=2), rows, name, 3, transport, **PARAMETERS.get(name, {}))
            found.append([name, done.finish_ps.tolist(), done.link_bytes.tolist(), done.rerouted.tolist(), done.totals])
    return found


def test_compiled_and_plain_runs_are_the_same() -> None:
    # Where nothing is compiled coverage is measured: in this process.
    program = f"import json\nfrom {__name__} import runs\nprint(json.dumps(runs()))"
    plain = json.loads(json.dumps(runs())) if DISABLED else printed(program, compiled=False)
    compiled = printed(program, compiled=True)
    assert [compiled.pop(0), plain.pop(0)] == [False, True]
    assert plain == compiled
