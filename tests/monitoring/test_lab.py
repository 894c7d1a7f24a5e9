"""From the lab of namespaces to the alert: counters of kernels under real traffic, routes of real BGP, and gNMI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from jnpr.junos.device import Device
from jnpr.junos.utils.config import Config

from tests.cli.verbs import program
from tests.conftest import EXAMPLES, ROOT, example, need_tool, need_user_namespaces
from tests.monitoring.monitored import Monitored, monitored
from tests.monitoring.series import Watched
from tests.monitoring.server import until
from tests.monitoring.test_alerts import LAB, LEAF
from tests.monitoring.test_emulated import QUIET
from tests.ports import free_ports

# Seconds of a scrape interval. Packets per second of a flow: each uplink carries some megabits per second. Enough queue
# pairs between two NICs that ECMP never puts all of a color on one other.
INTERVAL_S, RATE, QPS = 5, 25, 32
SENDER = "stripe2-leaf1"
PREFIX = "fc00:1:1:1::/64"
TERM = "policy-options policy-statement FABRIC-IN term lost"


@contextmanager
def running_lab(folder: Path) -> Iterator[tuple[dict[str, str], dict[str, int]]]:
    """Bring the lab up, with traffic of all servers; yield the environment of its verbs, and the ports of gNMI."""
    need_user_namespaces()
    for tool in ("bird", "ip", "nft"):
        need_tool(tool)
    env = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    words = ["lab", "up", str(EXAMPLES / "lab/fabric.yaml"), str(LAB), "--lab", "seen"]
    up = program(*words, "--inventory", str(folder / "inventory"), "--gnmi-port", str(free_ports(8)), "--json", env=env)
    assert up.returncode == 0, up.stderr
    try:
        words = [sys.executable, "-m", "ailb_gen", "lab", "traffic", "--lab", "seen"]
        words += ["--qps", str(QPS), "--rate", str(RATE), "--count", str(RATE * 900)]
        with subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.DEVNULL) as traffic:
            try:
                yield env, json.loads(up.stdout)["gnmi"]
            finally:
                traffic.terminate()
    finally:
        program("lab", "down", "--lab", "seen", env=env)


def commit(inventory: Path, name: str, *lines: str) -> None:
    """Change the configuration of a switch by NETCONF."""
    host = yaml.safe_load((inventory / "hosts.yaml").read_text())[name]
    password = (inventory / "password").read_text().strip()
    with (
        Device("127.0.0.1", port=host["port"], user="admin", passwd=password, gather_facts=False) as device,
        Config(device) as config,
    ):
        config.load("\n".join(lines), format="set")
        config.commit()


def check_alert(
    seen: Monitored, start: float, *expected: dict[str, str], perhaps: Sequence[dict[str, str]] = ()
) -> None:
    """Make sure that alerts come within two intervals of a change, and no other but what may come as well."""
    alerts = until(seen.alerts)
    after = [(datetime.fromisoformat(one["activeAt"]).timestamp() - start) / INTERVAL_S for one in alerts]
    assert all(0 < one <= 2 for one in after), after
    time.sleep(2 * INTERVAL_S)
    fired = [one for one in seen.fired_since(start) if one not in perhaps]
    assert sorted(fired, key=str) == sorted(expected, key=str)


def check_quiet(seen: Monitored) -> None:
    """Make sure that no alert fires or waits, for some intervals after the effects of a change are over."""
    until(lambda: not seen.alerts())
    time.sleep(2 * INTERVAL_S)
    start = time.time()
    time.sleep(3 * INTERVAL_S)
    assert seen.value(f"last_over_time(ALERTS[{time.time() - start:.0f}s])") == []


# On a machine that does more than this, BFD of less than a second ends sessions.
@QUIET
@pytest.mark.exhaustive
def test_a_lab_of_namespaces_raises_exactly_the_alert_of_what_is_wrong(tmp_path: Path) -> None:
    watched = Watched(example("lab"), LAB, tmp_path, interval_s=INTERVAL_S)
    inventory = tmp_path / "inventory"
    lost = [
        f"set {TERM} from route-filter {PREFIX} exact",
        f"set {TERM} then reject",
        f"insert {TERM} before term leaked",
    ]
    with running_lab(tmp_path) as (env, ports):
        trusted, password = (inventory / "gnmi-ca.pem").read_bytes(), (inventory / "password").read_text().strip()
        with monitored(watched, ports, trusted, password, 2) as seen:
            seen.wait_for_loads()
            check_quiet(seen)

            start = time.time()
            commit(inventory, LEAF, f"set protocols bgp fabric-advertise route {PREFIX} color blue")
            check_alert(seen, start, {"alertname": "AilbWrongColor", "color": "green", "device": LEAF})
            commit(inventory, LEAF, f"set protocols bgp fabric-advertise route {PREFIX} color green")
            check_quiet(seen)

            start = time.time()
            commit(inventory, "spine1", *lost)
            # Only one leaf sends to it, and nothing by this color from now on: it may seem silent until its rates, and
            # those of the other leaf, are of the same time.
            silent = {"alertname": "AilbSilentLink", "device": SENDER, "interface": "et-0/0/0", "color": "green"}
            expected = {"alertname": "AilbColorOnBackup", "color": "green", "device": LEAF}
            check_alert(seen, start, expected, perhaps=[silent])
            commit(inventory, "spine1", f"delete {TERM}")
            check_quiet(seen)

            start = time.time()
            failed = program("lab", "fail", f"{LEAF}:et-0/0/2", "--no-wait", "--lab", "seen", env=env)
            assert failed.returncode == 0, failed.stderr
            ends = (LEAF, "et-0/0/2"), ("spine3", "et-0/0/0")
            down = [{"alertname": "AilbUplinkDown", "device": name, "interface": port} for name, port in ends]
            moved = {"alertname": "AilbColorOnBackup", "device": LEAF}
            check_alert(seen, start, *({**one, "color": "red"} for one in (*down, moved)))
