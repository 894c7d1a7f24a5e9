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
from ncclient.transport.errors import AuthenticationError, TransportError
from pygnmi.client import gNMIclient

from tests.conftest import EXAMPLES, Cli
from tests.ports import free_ports

START = "import typer; from ailb_gen.cli.emulate import emulate; typer.run(emulate)"
LAB = EXAMPLES / "lab" / "fabric.yaml"
LEAF = "stripe1-leaf1"
PASSWORD = "correct horse"


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


def process_of(folder: Path) -> int:
    """Return the process that emulates from a directory."""
    return int(json.loads((folder / "emulator.json").read_text())["pid"])


@pytest.fixture
def verb(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run the verb as users do, until it returns."""
    monkeypatch.setenv("AILB_PASSWORD", PASSWORD)
    return lambda *options: cli("emulate", *options)


@contextmanager
def in_background(verb: Cli, folder: Path) -> Iterator[dict[str, int]]:
    """Run the verb in the background until the end of the block; gives the ports."""
    code, out, err = verb(str(LAB), "--inventory", str(folder), "--base-port", str(free_ports(8)), "--daemon")
    try:
        assert code == 0, err
        ready = json.loads(out)
        assert ready["ready"] is True
        yield ready["ports"]
    finally:
        stopped = verb("--stop", str(folder))
    assert stopped == (0, f"{folder}: the emulator has stopped\n", "")
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", ready["ports"][LEAF])) != 0


def test_in_the_background(verb: Cli, tmp_path: Path) -> None:
    """When the verb returns every device answers, and nobody else may emulate from the directory."""
    folder = tmp_path / "inventory"
    with in_background(verb, folder) as ports:
        for port in ports.values():
            with netconf(port) as session:
                assert session.connected
        assert process_of(folder) != os.getpid()
        again = verb(str(LAB), "--inventory", str(folder), "--daemon")
        assert again[0] == 2
        reason = f"an emulator runs there, process {process_of(folder)}; stop it with: ailb-gen emulate --stop"
        assert reason in again[2]
        assert {path.name: path.stat().st_mode & 0o777 for path in folder.glob("emulator.*")} == {
            "emulator.json": 0o600,
            "emulator.log": 0o600,
        }
    assert (folder / "emulator.log").read_text() == ""
    assert verb("--stop", str(folder)) == (0, f"{folder}: no emulator runs there\n", "")


def test_gnmi_as_it_is_documented(verb: Cli, tmp_path: Path) -> None:
    """In the background, with a certificate in the inventory; a port that carries traffic, and one that is silent."""
    folder = tmp_path / "inventory"
    first = free_ports(16)
    ports = ("--base-port", str(first), "--gnmi-port", str(first + 8))
    traffic = ("--loaded", "--link-traffic", "ring=40", "--port-rate", "spine1:et-0/0/0=0")
    code, out, err = verb(str(LAB), "--inventory", str(folder), *ports, *traffic, "--daemon")
    try:
        assert code == 0, err
        ready = json.loads(out)
        assert list(ready["gnmi"]) == list(ready["ports"])
        assert ready["gnmi_ca"] == str(folder / "gnmi-ca.pem")
        client = gNMIclient(
            ("localhost", ready["gnmi"]["spine1"]), username="admin", password=PASSWORD, path_root=ready["gnmi_ca"]
        )
        with client:
            path = "/interfaces/interface[name=et-0/0/{}]/state/counters/out-octets"
            while not (told := counted(client, path.format(1))):
                pass
            assert told > 0
            assert counted(client, path.format(0)) == 0
    finally:
        assert verb("--stop", str(folder))[0] == 0
    # Without gNMI the certificate is of no use, and goes.
    with in_background(verb, folder):
        assert not (folder / "gnmi-ca.pem").exists()
        assert "gnmi" not in json.loads((folder / "emulator.json").read_text())


def counted(client: gNMIclient, path: str) -> int:
    """Return the value of one counter."""
    (one,) = client.get(path=[path], encoding="json_ietf")["notification"]
    return int(one["update"][0]["val"])


def test_killed_in_the_background(verb: Cli, tmp_path: Path) -> None:
    """A number that is left behind is never taken for a running emulator."""
    folder = tmp_path / "inventory"
    with in_background(verb, folder):
        os.kill(process_of(folder), signal.SIGKILL)
        while verb("--stop", str(folder))[1] != f"{folder}: no emulator runs there\n":
            pass
        left = json.dumps({"pid": os.getpid()})
        (folder / "emulator.json").write_text(left)
        assert verb("--stop", str(folder))[1] == f"{folder}: no emulator runs there\n"
        code, _, err = verb(str(LAB), "--inventory", str(folder), "--base-port", str(free_ports(8)), "--daemon")
        assert code == 0, err


def test_what_runs_in_the_foreground_can_be_stopped(verb: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "state"
    with emulated("--base-port", str(free_ports(8)), "--state", str(folder)) as (process, _):
        assert process_of(folder) == process.pid
        assert verb("--stop", str(folder))[0] == 0
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["/nowhere"], "there is no such file"),
        ([str(EXAMPLES)], "no switches/*.conf there"),
        ([str(LAB), "--fault", "leaf1"], "write DEVICE=KIND@PHASE"),
        ([str(LAB), "--fault", "stripe1-leaf=error@commit"], "did you mean 'stripe1-leaf"),
        ([str(LAB), "--fault", "spine1=eror@commit"], "there is no such kind"),
        ([str(LAB), "--base-port", "65530"], "do not fit above port 65530"),
        ([str(LAB), "--host", "192.0.2.1"], "Cannot assign requested address"),
        ([str(LAB), "--yang", "/nowhere"], "/nowhere"),
        ([], "name a directory that 'ailb-gen generate' wrote, or a fabric file"),
        ([str(LAB), "--daemon"], "--daemon needs --inventory DIR or --state DIR"),
        (["--stop", "/nowhere"], "an emulator was never started with it"),
        (["/nowhere", "--daemon", "--inventory", "{tmp}"], "there is no such file"),
        ([str(LAB), "--daemon", "--inventory", "{tmp}", "--host", "192.0.2.1"], "Cannot assign requested address"),
        ([str(LAB), "--daemon", "--inventory", "/proc/x"], "cannot be"),
        ([str(LAB), "--authorized-keys", "/nowhere"], "/nowhere: cannot be read"),
        ([str(LAB), "--authorized-keys", "/dev/null"], "no public key in it"),
        ([str(LAB), "--authorized-keys", "/bin/sh"], "/bin/sh: not a text file; name a file of public keys"),
        ([str(LAB), "--inventory", str(LAB)], "not a directory; name the directory of --inventory or --state"),
        ([str(LAB), "--authorized-keys", str(LAB)], "no public key; write a line as in id_ed25519.pub"),
        ([str(LAB), "--gnmi-plain"], "--gnmi-plain needs --gnmi-port"),
        ([str(LAB), "--gnmi-port", "65530"], "8 devices do not fit above port 65530; choose a lower --gnmi-port"),
        ([str(LAB), "--gnmi-port", "0", "--base-port", "0", "--host", "192.0.2.1"], "Cannot assign requested address"),
        ([str(LAB), "--link-traffic", "rings=40"], "there is no pattern 'rings'; did you mean 'ring'"),
        ([str(LAB), "--link-traffic", "ring=400"], "write PATTERN=PERCENT"),
        ([str(LAB), "--port-rate", "spine1:et-0/0/0=fast"], "write DEVICE:PORT=SPEED"),
        ([str(LAB), "--port-rate", "spine1:et-9/9/9=100g"], "spine1 has no cable to another switch on et-9/9/9"),
        ([str(LAB), "--port-rate", "spine9:et-0/0/0=100g"], "spine9 has no cable to another switch"),
    ],
)
def test_what_is_refused_before_it_starts(verb: Cli, tmp_path: Path, options: list[str], reason: str) -> None:
    code, _, said = verb(*(option.format(tmp=tmp_path) for option in options))
    assert reason in said
    assert code == (3 if "/proc/x" in options else 2)
    assert "Traceback" not in said


def test_the_source_is_looked_for_first(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Before a password is missing, and before any directory is made."""
    monkeypatch.delenv("AILB_PASSWORD", raising=False)
    for more in ([], ["--inventory", str(tmp_path / "inventory")], ["--state", str(tmp_path / "state")]):
        code, _, said = cli("emulate", str(tmp_path / "nothere"), *more)
        assert (code, "nothere: there is no such file" in said) == (2, True)
        code, _, said = cli("emulate", str(tmp_path), *more)
        assert (code, "no switches/*.conf there" in said) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_public_keys_let_in(tmp_path: Path) -> None:
    """By key alone where there is no password, and beside the password of an inventory."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")], check=True)
    keys = tmp_path / "authorized_keys"
    keys.write_text(f"# ours\n\nno-pty {(tmp_path / 'key.pub').read_text()}")
    options = ("--base-port", str(free_ports(8)), "--authorized-keys", str(keys))
    with emulated(*options, password=None) as (_, ports):
        for pair in ({"key_filename": str(tmp_path / "key")}, {"password": "guess"}):
            connect = dict(host="127.0.0.1", port=ports[LEAF], username="admin", hostkey_verify=False, **pair)
            if "password" in pair:
                with pytest.raises(AuthenticationError):
                    manager.connect(**connect, allow_agent=False, look_for_keys=False)
            else:
                with manager.connect(**connect, allow_agent=False, look_for_keys=False) as session:
                    assert session.connected
        said = subprocess.run(
            ["ssh", "-F", "none", "-i", str(tmp_path / "key"), "-p", str(ports[LEAF]), "-o", "StrictHostKeyChecking=no",
             "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "BatchMode=yes", "admin@127.0.0.1",
             "show version | match Hostname"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (said.stdout, said.returncode) == (f"Hostname: {LEAF}\n", 0)


def test_without_a_way_to_log_in(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AILB_PASSWORD", "")
    assert "no password: set AILB_PASSWORD" in cli("emulate", str(LAB))[2]
