"""Fabrics that grow in a lab: pushed under the traffic of all servers that were there, and checked at every step."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest

from ailb_gen.api.generate import generate
from ailb_gen.api.grow import grow
from ailb_gen.checks.catalogue import OF_LAB, checks_of
from ailb_gen.checks.context import Context
from ailb_gen.emulator.source import entries, servers, specs, unmanaged, write_inventory
from ailb_gen.intent.growth import Unit
from ailb_gen.intent.load import load
from ailb_gen.lab.check.live import RunningLab
from ailb_gen.lab.check.run import LabCheckOptions, check_lab
from ailb_gen.lab.servers.boot import boot, wait
from ailb_gen.lab.traffic.flows import flows
from ailb_gen.lab.traffic.model import FlowResult, TrafficLoad
from ailb_gen.lab.traffic.run import running as traffic_running
from ailb_gen.network.read import network_of
from tests.checks.trees import shown
from tests.conftest import EXAMPLES
from tests.deploy.fabric import USER, VARIABLE, Generated, Outcome
from tests.lab.isolated import isolated
from tests.lab.labs import PATIENCE_S, with_servers
from tests.lab.test_deploy import Site, site

TOOLS = ("ip", "bird", "nft", "unshare", "nsenter")
ALL = frozenset(check.id for check in checks_of(OF_LAB))
# Packets that a busy machine may lose, in all pushes and flows together; packets per second of all flows.
MOST_LOST, RATE = 5, 5000.0
# Sessions are as old as BIRD computes from its clock, which it reads again. Seconds.
SAME_S = 0.1
# The largest labs take minutes on a busy machine.
SECONDS = 800


@dataclass(frozen=True, slots=True)
class State:
    """A fabric as it is generated: fabric file, artifacts, and the options of the pushes that lead to it."""

    fabric: Path
    artifacts: Path
    pushes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pushed:
    """A growth pushed to a lab: the outcome of each push and of `verify` behind it, sessions before it that it ended.

    `flows` are those between the servers that were there before.
    """

    state: Path
    outcomes: tuple[Outcome, ...]
    ended: tuple[str, ...]
    flows: tuple[FlowResult, ...]


def states(folder: Path, example: str, unit: Unit, counts: Sequence[int]) -> list[State]:
    """Generate an example, and what it is after each growth."""
    shutil.copytree(EXAMPLES / example, folder / "0")
    fabric, pushes, found = folder / "0/fabric.yaml", tuple[str, ...](), []
    # BFD of less than a second ends on a busy machine, without any push.
    text = fabric.read_text().replace("bfd: {interval_ms: 300, multiplier: 3}\n", "")
    fabric.write_text(f"{text}bfd: {{interval_ms: 1000, multiplier: 20}}\n")
    for number, count in enumerate((*counts, 0), 1):
        generate(fabric, artifacts := fabric.parent / "artifacts")
        found.append(State(fabric, artifacts, pushes))
        if count:
            fabric = Path(shutil.copytree(fabric.parent, folder / str(number), ignore=NOT_COPIED)) / "fabric.yaml"
            result = grow(fabric, unit, count)
            result.write()
            pushes = result.pushes()
    return found


NOT_COPIED = shutil.ignore_patterns("artifacts")


def pushed(grown: Sequence[State], folder: Path) -> list[Pushed]:
    """Bring a lab up in which all new switches are fresh, with all cables; push growth after growth under traffic.

    The servers have the files of the largest fabric: their NICs on rails that are not there yet have no addresses.
    """
    first, last = grown[0], grown[-1]
    running = specs(first.artifacts, USER, loaded=True)
    old = {spec.name for spec in running}
    fresh = (spec for spec in specs(last.artifacts, USER, loaded=False) if spec.name not in old)
    made, network = Generated(last.fabric, last.artifacts, (*running, *fresh), {}), network_of(last.artifacts)
    found = []
    with site(made, folder, made.before) as here, boot(here.fabric.plan, network, last.artifacts, "script"):
        for before, after in pairwise(grown):
            hosts = network_of(before.artifacts).hosts
            assert wait(here.fabric.plan, hosts, PATIENCE_S) == {}
            there = replace(here, made=replace(made, fabric=after.fabric, artifacts=after.artifacts))
            _know(there)
            sessions, sent = here.sessions(), flows(here.fabric.plan, hosts)
            with traffic_running(here.fabric.plan, sent, TrafficLoad(RATE / len(sent), count=0)) as traffic:
                time.sleep(0.5)
                outcomes = [there.push("deploy", *shlex.split(limit)) for limit in after.pushes]
                outcomes.append(there.run("verify"))
                time.sleep(0.5)
                result = traffic.stop()
            ended = _ended(sessions, here.sessions())
            found.append(Pushed(after.artifacts, tuple(outcomes), ended, result.flows))
    return found


def _know(here: Site) -> None:
    """Write an inventory of the devices that the fabric has by now."""
    network = network_of(here.made.artifacts)
    known = {name: entry for name, entry in entries(here.fleet).items() if name in network.switches}
    hosts = known | unmanaged(servers(here.made.artifacts))
    write_inventory(here.folder / "inventory", hosts, here.fleet.known_hosts(), USER, VARIABLE)


def _ended(before: Mapping[str, float | None], after: Mapping[str, float | None]) -> tuple[str, ...]:
    """Return the sessions that were up, and are not, or again."""
    return tuple(
        name
        for name, since in before.items()
        if since is not None and ((now := after.get(name)) is None or abs(now - since) > SAME_S)
    )


def grows(folder: Path, example: str, unit: Unit, counts: Sequence[int]) -> None:
    """Assert that a fabric grows in a lab without losing packets."""
    found = isolated(pushed, states(folder, example, unit, counts), folder, tools=TOOLS, seconds=SECONDS)
    assert len(found) == len(counts)
    for step in found:
        assert {one.code for one in step.outcomes} == {0}, step.outcomes
        assert step.ended == ()
        assert all(flow.sent > 100 for flow in step.flows)
    lost = {f"{step.state} {flow.flow}": flow.lost for step in found for flow in step.flows if flow.lost}
    assert sum(lost.values()) <= MOST_LOST, lost


@pytest.mark.long
def test_a_stripe_that_is_pushed_loses_no_packet_of_existing_servers(tmp_path: Path) -> None:
    grows(tmp_path, "lab", "stripe", [1])


STEPS = [
    *(("lab", "stripe", (2, 4)), ("lab", "server", (2, 4)), ("lab", "rail", (2, 4)), ("lab", "spine", (4, 8))),
    *(("jvd", "stripe", (2, 4)), ("jvd", "server", (6,)), ("jvd", "spine", (4, 8))),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("example", "unit", "counts"), STEPS)
def test_pushes_to_four_times_the_size_lose_no_packet_of_existing_servers(
    example: str, unit: Unit, counts: tuple[int, ...], tmp_path: Path
) -> None:
    grows(tmp_path, example, unit, counts)


def checked(state: State) -> list[str]:
    """Bring a fabric up, and return what `lab check` finds, with what fails in it."""
    context = Context(load(state.fabric).fabric, network_of(state.artifacts))
    lab = RunningLab(with_servers(state.artifacts), context)
    return shown(check_lab(lab, context, LabCheckOptions(ALL, rounds=1, doubles=0, faults=False)))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("example", "unit", "counts"), STEPS)
def test_every_state_of_a_growth_passes_lab_check(
    example: str, unit: Unit, counts: tuple[int, ...], tmp_path: Path
) -> None:
    for state in states(tmp_path, example, unit, counts)[1:]:
        assert isolated(checked, state, tools=TOOLS, seconds=SECONDS) == []
