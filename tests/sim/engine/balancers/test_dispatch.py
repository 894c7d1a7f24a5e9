"""Adding a load balancer takes a declaration and a module of hooks (docs/simulate-engine.md)."""

import shutil
from pathlib import Path

from tests.conftest import ROOT
from tests.sim.processes import printed

MODULE = '''
"""Round robin: every switch takes its members in turn."""

from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.jit import inlined
from ailb_gen.sim.engine.records import EngineState


@inlined
def choose(state: EngineState, node: int, first: int, count: int, packet: int, now: int) -> int:
    """Return the position of the member that follows the last one."""
    record = state.nodes[node]
    record.remembered = (record.remembered + int(state.parameters[0].stride)) % count
    return int(record.remembered)


HOOKS = {"round-robin": Hooks(choose=choose)}
'''
DECLARATION = '    Balancer("round-robin", "in turn", "this page", SPREAD, (Parameter("stride", 1, "members"),)),\n'
RUN = """
import json
from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.settings import BalancerSettings, SimulationSettings
from ailb_gen.sim.traffic.arrivals import flows
import numpy as np
fabric = clos(2, 4, 1, host_bps=10**9, uplink_bps=10**9)
one = np.zeros(1, np.int32)
workload = flows(one, one + 1, np.array([400_000]), np.array([0]), 1, "flow")
outcome = simulate(fabric, workload, SimulationSettings(balancer=BalancerSettings("round-robin")), 1)
print(json.dumps([int(n) for name, n in zip(fabric.link_names, outcome.link_packets) if name.startswith("leaf1")]))
"""


def inserted(path: Path, before: str, text: str) -> None:
    """Put text before the first place of another one in a file."""
    whole = path.read_text()
    assert before in whole
    path.write_text(whole.replace(before, text + before, 1))


def test_a_load_balancer_is_a_declaration_and_a_module(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "ailb_gen", tmp_path / "ailb_gen", ignore=shutil.ignore_patterns("__pycache__"))
    sim = tmp_path / "ailb_gen" / "sim"
    (sim / "engine" / "balancers" / "round_robin.py").write_text(MODULE)
    inserted(sim / "balancers.py", ")\nBALANCERS = ", DECLARATION)
    packets = printed(RUN, compiled=False, root=tmp_path)
    assert sorted(packets)[-4:] == [24, 24, 25, 25], packets
