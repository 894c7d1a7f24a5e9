"""Pushes into a lab: the drivers of operators speak NETCONF, BIRD and kernels answer."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ailb_gen.emulator.device import Spec
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.source import entries, servers, specs, unmanaged, write_inventory
from ailb_gen.lab.convergence import start
from ailb_gen.lab.namespaces import batch
from ailb_gen.lab.servers.boot import boot, wait
from ailb_gen.lab.state import LabFabric
from ailb_gen.lab.traffic.flows import flows
from ailb_gen.lab.traffic.model import FlowResult, TrafficLoad
from ailb_gen.lab.traffic.run import running as traffic_running
from ailb_gen.network.read import read_network
from tests.deploy import fabric as deploy_fabric
from tests.deploy.fabric import (
    BEFORE,
    DRIVERS,
    LOGIN,
    USER,
    VARIABLE,
    Generated,
    Outcome,
    generated,
    run,
    statements,
)
from tests.lab.isolated import isolated
from tests.lab.labs import PATIENCE_S, wired

TOOLS = ("ip", "bird")
# Two stripes of one leaf and one server each: every path between leaves goes through a spine of its color.
TEXT = BEFORE.replace("stripes: 1", "stripes: 2").replace("rails: 2", "rails: 1")
SPINE = "spine1"
WAITING = ("--confirm-minutes", "1", "--verify-timeout", "10")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """Two leaves, two spines, two colors, two servers; before and after a change of every switch."""
    return generated(tmp_path_factory.mktemp("fabric"), TEXT)


@dataclass(frozen=True, slots=True)
class Site:
    """A lab that runs, NETCONF in front of its switches, and a folder for the inventory and the record."""

    made: Generated
    fabric: LabFabric
    fleet: Fleet
    folder: Path

    def run(self, verb: str, *more: str, artifacts: Path | None = None) -> Outcome:
        """Run a verb of the command line about the fabric."""
        place = [str(self.made.fabric), *([str(artifacts or self.made.artifacts)] if verb != "collect" else [])]
        return run(verb, *place, "-i", str(self.folder / "inventory"), *more)

    def push(self, verb: str, *more: str, artifacts: Path | None = None) -> Outcome:
        """Run a verb that changes switches."""
        return self.run(verb, *more, "--yes", "--state", str(self.folder / "state"), *WAITING, artifacts=artifacts)

    def active(self) -> dict[str, tuple[str, ...]]:
        """Return what every switch is configured to do."""
        return {name: self.fleet.do(name, lambda one: statements(one.database.active)) for name in self.fleet.devices}

    def hops(self) -> dict[str, list[str]]:
        """Return the ports by which the kernel of every switch sends packets, by switch and prefix."""
        return {
            f"{name} {prefix}": [hop.interface for hop in self.fabric.next_hops(name, prefix)]
            for name in self.fleet.devices
            for prefix in self.fabric.prefixes(name)
        }

    def hops_like(self, expected: dict[str, list[str]]) -> dict[str, list[str]]:
        """Return them as soon as they are as expected, or when there was time enough for it."""
        latest = time.monotonic() + PATIENCE_S
        while (found := self.hops()) != expected and time.monotonic() < latest:
            time.sleep(0.1)
        return found

    def sessions(self) -> dict[str, float | None]:
        """Return since when every session is up, by switch and interface."""
        return {
            f"{name} {one.interface}": one.since if one.established else None
            for name in self.fleet.devices
            for one in self.fabric.sessions(name)
        }


@contextmanager
def site(made: Generated, folder: Path, devices: Sequence[Spec]) -> Iterator[Site]:
    """Run a lab with some configurations."""
    batch(["link set lo up"])
    fabric = wired(made.artifacts)
    with Fleet(devices, fabric, LOGIN) as fleet:
        missing = start(fabric, PATIENCE_S)
        assert not missing, missing
        write_inventory(
            folder / "inventory",
            entries(fleet) | unmanaged(servers(made.artifacts)),
            fleet.known_hosts(),
            USER,
            VARIABLE,
        )
        with mock.patch.dict("os.environ", {VARIABLE: LOGIN.password}):
            yield Site(made, fabric, fleet, folder)


def from_fresh(made: Generated, folder: Path, driver: str) -> dict[str, Any]:
    with site(made, folder, specs(made.artifacts, USER, loaded=False)) as here:
        return {
            "before": here.sessions(),
            "deploy": here.push("deploy", "--driver", driver),
            "verify": here.run("verify", "--driver", driver),
            "drift": here.run("drift", "--driver", driver),
            "sessions": here.sessions(),
            "hops": here.hops(),
        }


@pytest.mark.long
@pytest.mark.parametrize("driver", DRIVERS)
def test_from_fresh_to_verified(made: Generated, tmp_path: Path, driver: str) -> None:
    found = isolated(from_fresh, made, tmp_path, driver, tools=TOOLS)
    for verb in ("deploy", "verify", "drift"):
        assert found[verb].code == 0, found[verb]
    assert found["before"] == {}
    assert len(found["sessions"]) == 8
    assert None not in found["sessions"].values()
    # Prefix k of the other leaf goes out of uplink k.
    assert [found["hops"][f"stripe1-leaf1 fc00:2:1:{k}::/64"] for k in (1, 2)] == [["et-0/0/0.0"], ["et-0/0/1.0"]]


def wrong_color(made: Generated, folder: Path) -> Path:
    """Return other artifacts in which one spine has the color of nobody."""
    bad = folder / "bad"
    shutil.copytree(made.artifacts, bad)
    file = bad / "switches" / f"{SPINE}.conf"
    text = file.read_text()
    assert "color:0:1;" in text
    file.write_text(text.replace("color:0:1;", "color:0:9;"))
    (bad / "manifest.json").unlink()
    return bad


def operated(made: Generated, folder: Path) -> dict[str, Any]:
    with site(made, folder, made.before) as here:
        found: dict[str, Any] = {"old": here.active(), "deploy": here.push("deploy"), "hops": here.hops()}
        found["new"] = here.active()
        found["bad"] = here.push("deploy", "--allow-unverified", artifacts=wrong_color(made, folder))
        found |= {"after bad": here.active(), "hops after bad": here.hops_like(found["hops"])}
        found |= {"verify": here.run("verify"), "drift": here.run("drift")}
        found["collect"] = here.run("collect", "-o", str(folder / "collected"))
        found |= {"rollback": here.push("rollback", "1"), "back": here.active(), "drift after": here.run("drift")}
        return found


@pytest.mark.long
def test_a_wrong_color_is_rolled_back_and_a_push_undone(made: Generated, tmp_path: Path) -> None:
    found = isolated(operated, made, tmp_path, tools=TOOLS)
    assert found["deploy"].code == 0, found["deploy"]
    assert found["bad"].code == 4, found["bad"]
    said = found["bad"].out + found["bad"].err
    assert "0 prefixes are accepted from stripe1-leaf1" in said
    assert (found["after bad"], found["hops after bad"]) == (found["new"], found["hops"])
    for verb in ("verify", "drift", "collect", "rollback"):
        assert found[verb].code == 0, found[verb]
    assert found["back"] == found["old"]
    assert found["drift after"].code != 0


def under_traffic(made: Generated, folder: Path) -> tuple[Outcome, tuple[FlowResult, ...], bool]:
    network = read_network(made.artifacts, lambda written, tree: None).network
    with site(made, folder, made.before) as here, boot(here.fabric.plan, network, made.artifacts, "script"):
        assert wait(here.fabric.plan, network.hosts, PATIENCE_S) == {}
        before = here.sessions()
        with traffic_running(here.fabric.plan, flows(here.fabric.plan, network.hosts), TrafficLoad(count=0)) as traffic:
            time.sleep(0.5)
            done = here.push("deploy")
            time.sleep(0.5)
            result = traffic.stop()
        return done, result.flows, here.sessions() == before


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ("roce: {cnp_percent: 10}\n", True),
        # The sessions of a spine go down with the canary; the others carry its prefixes, in both directions.
        ("overrides: {spines: {spine1: {asn: 64777}}}\n", False),
    ],
    ids=["sessions stay", "sessions go"],
)
def test_a_push_under_traffic_loses_next_to_nothing(tmp_path: Path, change: str, kept: bool) -> None:
    (tmp_path / "files").mkdir()
    with mock.patch.object(deploy_fabric, "CHANGE", change):
        # Patience, before and after: that of 3 s ends on a busy machine, without any push.
        made = generated(tmp_path / "files", f"{TEXT}bfd: {{interval_ms: 1000, multiplier: 20}}\n")
    done, found, same = isolated(under_traffic, made, tmp_path, tools=("ip", "bird", "unshare", "nsenter"))
    assert done.code == 0, done
    assert same == kept
    assert len(found) == 4
    assert all(one.sent > 1000 for one in found)
    # On a busy machine daemons take longer to follow sessions that go.
    most = 5 if kept else max(one.sent for one in found) // 20
    assert {str(one.flow): one.lost for one in found if one.lost > most} == {}
