"""A rolling maintenance in a lab under the traffic of every server: what is lost, and what is left."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from ailb_gen.emulator.source import specs
from ailb_gen.lab.plan import LabPlan
from ailb_gen.lab.servers.boot import boot, wait
from ailb_gen.lab.traffic.flows import flows
from ailb_gen.lab.traffic.model import Flow, TrafficLoad, TrafficResult
from ailb_gen.lab.traffic.run import running as traffic_running
from ailb_gen.network.read import read_network
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import design_of
from tests.deploy.fabric import USER, Generated, Outcome
from tests.deploy.maintenance import files_of
from tests.lab.isolated import ROOT, isolated
from tests.lab.labs import PATIENCE_S
from tests.lab.test_deploy import WAITING, Site, site

LEAF = "stripe1-leaf1"
# Every port of the device goes dark for a second, as in a restart.
RESTART = (
    'for link in $(ls /sys/class/net | grep -v "^lo$"); do ip link set $link down; done; sleep 1;'
    'for link in $(ls /sys/class/net | grep -v "^lo$"); do ip link set $link up; done'
)
COMMAND = ("--", "sh", "-c", f"ip netns exec $AILB_DEVICE sh -c '{RESTART}'")
BFD = "bfd: {interval_ms: 1000, multiplier: 20}\n"
LOAD = TrafficLoad(rate=100, count=0)


@dataclass(frozen=True, slots=True)
class Maintained:
    """A maintenance: how the commands ended, the traffic meanwhile, whether files and devices are as before."""

    ended: tuple[Outcome, ...]
    traffic: tuple[TrafficResult, ...]
    files_same: bool
    same: bool


def _touches(flow: Flow, plan: LabPlan, leaf: str) -> bool:
    """Return whether a flow begins or ends at a leaf."""
    ends = ((flow.source, flow.source_nic), (flow.target, flow.target_nic))
    found = (plan.servers[server].nics[nic].leaf for server, nic in ends)
    return any(end is not None and end.device == leaf for end in found)


def _under_traffic(here: Site, every: tuple[Flow, ...], *elements: str) -> tuple[Outcome, TrafficResult]:
    with traffic_running(here.fabric.plan, every, LOAD) as traffic:
        time.sleep(0.5)
        patience = ("--pause", "0.5", "--quiet-timeout", "60", "--return-timeout", "60", *WAITING)
        ended = here.run("maintain", *elements, "--yes", "--state", str(here.folder / "state"), *patience, *COMMAND)
        time.sleep(0.5)
        return ended, traffic.stop()


def maintained(folder: Path, spines: str) -> Maintained:
    artifacts = folder / "artifacts"
    network = read_network(artifacts, lambda written, tree: None).network
    made = Generated(folder / "fabric.yaml", artifacts, specs(artifacts, USER, loaded=True), {})
    with site(made, folder, made.before) as here, boot(here.fabric.plan, network, artifacts, "script"):
        plan = here.fabric.plan
        assert wait(plan, network.hosts, PATIENCE_S) == {}
        files, before = files_of(folder), here.active()
        every = flows(plan, network.hosts)
        at_spines = _under_traffic(here, every, spines)
        # The scheduler has ended the jobs of a leaf before its maintenance.
        others = tuple(flow for flow in every if not _touches(flow, plan, LEAF))
        at_leaf = _under_traffic(here, others, LEAF)
        ended, traffic = (at_spines[0], at_leaf[0]), (at_spines[1], at_leaf[1])
        return Maintained(ended, traffic, files_of(folder) == files, here.active() == before)


def fabric(folder: Path, text: str) -> None:
    """Write a fabric file and its artifacts."""
    (folder / "fabric.yaml").write_text(text)
    write_rendering(rendering(design_of(text), folder / "artifacts", RenderOptions("curly", None)))


@pytest.mark.long
@pytest.mark.parametrize(
    ("example", "spines"), [("lab", "spine[12]"), pytest.param("jvd", "spines", marks=pytest.mark.exhaustive)]
)
def test_rolling_maintenance_under_traffic_loses_next_to_nothing(tmp_path: Path, example: str, spines: str) -> None:
    text = (ROOT / "examples" / example / "fabric.yaml").read_text()
    # Patience: on a busy machine sessions must not end by themselves.
    fabric(tmp_path, "".join(line for line in text.splitlines(True) if "bfd:" not in line) + BFD)
    found = isolated(maintained, tmp_path, spines, tools=("ip", "bird", "unshare", "nsenter"))
    assert [ended.code for ended in found.ended] == [0, 0], found.ended
    assert (found.files_same, found.same) == (True, True)
    assert all(flow.sent > 100 for one in found.traffic for flow in one.flows)
    assert sum(one.lost for one in found.traffic) <= 5
