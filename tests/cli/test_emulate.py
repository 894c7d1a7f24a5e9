"""`ailb-gen emulate` as a process: ready, reached, killed, started again."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from ncclient import manager
from ncclient.manager import Manager
from ncclient.transport.errors import TransportError

from tests.conftest import EXAMPLES

START = "import typer; from ailb_gen.cli.emulate import emulate; typer.run(emulate)"
LAB = EXAMPLES / "lab" / "fabric.yaml"
LEAF = "stripe1-leaf1"
PASSWORD = "correct horse"


def free_ports(count: int) -> int:
    """Return the first of so many ports in a row that nobody uses, below those that clients get."""
    chance = random.Random(os.getpid())
    for _ in range(100):
        first = chance.randint(10000, 30000)
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise AssertionError("no free ports")


@contextmanager
def emulated(*options: str, password: str | None = PASSWORD) -> Iterator[tuple[subprocess.Popen[str], dict[str, int]]]:
    """Run the verb until the end of the block; gives the process and the ports."""
    environment = {name: value for name, value in os.environ.items() if name != "AILB_PASSWORD"}
    if password is not None:
        environment["AILB_PASSWORD"] = password
    command = [sys.executable, "-c", START, str(LAB), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        ready = json.loads(line)
        assert ready["ready"] is True
        yield process, ready["ports"]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


@contextmanager
def netconf(port: int, password: str = PASSWORD) -> Iterator[Manager]:
    session = manager.connect(
        host="127.0.0.1",
        port=port,
        username="admin",
        password=password,
        hostkey_verify=False,
        allow_agent=False,
        look_for_keys=False,
        device_params={"name": "junos"},
    )
    try:
        yield session
    finally:
        if session.connected:
            session._session.close()


def domain_of(session: Manager) -> list[str]:
    """Return the domain names of the active configuration: one or none."""
    return list(session.get_config(source="running").xpath("//configuration/system/domain-name/text()"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_from_a_fabric_file_until_it_is_told_to_stop(tmp_path: Path, number: int) -> None:
    inventory = tmp_path / "inventory"
    options = ("--base-port", str(free_ports(8)), "--inventory", str(inventory), "--loaded", "--minute", "0.5")
    with emulated(*options, password=None) as (process, ports):
        assert list(ports) == sorted(ports)
        hosts = yaml.safe_load((inventory / "hosts.yaml").read_text())
        assert hosts[LEAF] == {"hostname": "127.0.0.1", "port": ports[LEAF]}
        (cat, file) = yaml.safe_load((inventory / "defaults.yaml").read_text())["password"]["command"]
        password = subprocess.run([cat, file], capture_output=True, text=True, check=True).stdout.strip()
        with netconf(ports[LEAF], password) as session:
            reply = session.rpc("<get-bgp-summary-information/>")
            assert [state.text for state in reply.xpath("//bgp-peer/peer-state")] == ["Established"] * 4
        process.send_signal(number)
        assert process.wait(timeout=60) == 0
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", ports[LEAF])) != 0


def test_killed_while_it_commits(tmp_path: Path) -> None:
    """The state is the old or the new configuration, whenever the process dies."""
    options = ("--base-port", str(free_ports(8)), "--state", str(tmp_path / "state"))
    chance = random.Random(7)
    before: list[str] = []
    for number in range(3):
        with emulated(*options) as (process, ports), netconf(ports[LEAF]) as session:
            assert domain_of(session) == before
            session.lock()
            session.load_configuration(action="set", config=[f"set system domain-name n{number}"])
            killer = threading.Timer(chance.uniform(0, 0.2), process.kill)
            killer.start()
            try:
                session.commit()
                possible = [[f"n{number}"]]
            except TransportError:
                possible = [before, [f"n{number}"]]
            killer.join()
        with emulated(*options) as (_, ports), netconf(ports[LEAF]) as session:
            before = domain_of(session)
            assert before in possible
            # Nobody holds the lock, and nothing is left of what was edited under it.
            session.lock()


def run(*options: str) -> tuple[int, str]:
    """Run the verb with options that it refuses."""
    main = "import sys; from ailb_gen.cli import app, main; from ailb_gen.cli.emulate import emulate\n"
    register = "'emulate' in [one.name for one in app.registered_commands] or app.command('emulate')(emulate)\n"
    environment = {**os.environ, "AILB_PASSWORD": PASSWORD}
    command = [sys.executable, "-c", f"{main}{register}main()", "emulate", *options]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["/nowhere"], "there is no such file"),
        ([str(EXAMPLES)], "no switches/*.conf there"),
        ([str(LAB), "--fault", "leaf1"], "write DEVICE=KIND@PHASE"),
        ([str(LAB), "--fault", "stripe1-leaf=error@commit"], "did you mean 'stripe1-leaf"),
        ([str(LAB), "--fault", "spine1=eror@commit"], "there is no such kind"),
        ([str(LAB), "--base-port", "65530"], "do not fit behind port 65530"),
        ([str(LAB), "--host", "192.0.2.1"], "Cannot assign requested address"),
        ([str(LAB), "--yang", "/nowhere"], "/nowhere"),
    ],
)
def test_what_cannot_be_used(options: list[str], reason: str) -> None:
    code, said = run(*options)
    assert reason in said
    assert code == 2
    assert "Traceback" not in said


def test_without_a_way_to_log_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AILB_PASSWORD", "")
    process = subprocess.run([sys.executable, "-c", START, str(LAB)], capture_output=True, text=True, check=False)
    assert "nobody could log in: set AILB_PASSWORD" in process.stderr
