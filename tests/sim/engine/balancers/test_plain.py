"""Load balancers in switches give the same bytes compiled and as plain Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.conftest import ROOT

PROGRAM = """
import json
from ailb_gen.sim.engine.jit import DISABLED
from tests.sim.engine.balancers.flows import run, two_tiers
rows = [(host, (host + 2) % 6, 5_000, host, host) for host in range(6)]
rows += [(host, (host + 4) % 6, 4_000, host + 20, host) for host in range(6)]
parameters = {"dlb": {"quality_delta": 1, "probability": 0.5}, "glb": {"flood_us": 5}, "conga": {"gap_us": 0}}
found = [bool(DISABLED)]
for name in ("conga", "dlb", "dlb-per-packet", "dlb-assigned-flow", "glb", "rlb"):
    for transport in ("raw", "selective-repeat"):
        done = run(two_tiers(leaves=3, links=2), rows, name, 3, transport, **parameters.get(name, {}))
        found.append([name, done.finish_ps.tolist(), done.link_bytes.tolist(), done.rerouted.tolist(), done.totals])
print(json.dumps(found))
"""


def test_compiled_and_plain_runs_are_the_same() -> None:
    def found(disabled: str) -> list[object]:
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
        return list(json.loads(done.stdout))

    compiled, plain = found("0"), found("1")
    assert [compiled.pop(0), plain.pop(0)] == [False, True]
    assert plain == compiled
