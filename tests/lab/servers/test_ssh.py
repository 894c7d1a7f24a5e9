"""A push reaches the servers of a lab over SSH, as it reaches any server, and changes what their kernels do."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path

import paramiko
import pytest

from ailb_gen.deploy.credentials import Credentials
from ailb_gen.deploy.login import SshReach
from ailb_gen.deploy.servers.expected import expected_of
from ailb_gen.deploy.servers.files import FileChange, RunState, files_of
from ailb_gen.deploy.servers.observed import observe as observe_all
from ailb_gen.deploy.servers.script import apply, confirm, observe, status
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.servers.verify import compare_all
from ailb_gen.hosts.read import read_hosts
from ailb_gen.lab.namespaces import batch, output
from ailb_gen.lab.plan import plan
from ailb_gen.lab.servers.boot import boot, command, wait
from ailb_gen.lab.servers.files import NETPLAN, NETWORKD
from ailb_gen.lab.servers.ssh import Keys, accepted, entries, known_hosts, make_keys, why_not
from tests.checks.trees import GOLDEN, network_of
from tests.conftest import missing as absent
from tests.lab.attached import attach
from tests.lab.isolated import isolated

NAME = "gpu-s1-2"
TOOLS = ("ip", "unshare", "nsenter", "sshd", "ping")
PATIENCE_S = 60.0


def connected(keys: Keys, port: int) -> ServerConnection:
    credentials = Credentials("root", None, None, None, keys.client, False)
    file = keys.client.parent / "known_hosts"
    file.write_text(known_hosts(keys, "127.0.0.1", {NAME: port}))
    found = ServerConnection(SshReach(NAME, "127.0.0.1", port, credentials, paramiko.HostKeys(str(file)), 30))
    found.open()
    return found


def on_lab(
    root: Path, way: str, folder: Path, work: Callable[[ServerConnection], dict[str, object]]
) -> dict[str, object]:
    """Boot the servers, and do something on one of them."""
    batch(["link set lo up"])
    network = network_of(root)
    made = plan(network)
    listening = {name: socket.create_server(("127.0.0.1", 0)) for name in made.servers}
    keys = make_keys(folder / "server_key")
    attach(made, network)
    with boot(made, network, root, way), accepted(listening):
        assert not wait(made, network.hosts, PATIENCE_S, PATIENCE_S)
        server = connected(keys, listening[NAME].getsockname()[1])
        try:
            return work(server)
        finally:
            server.close()


def seen_of(server: ServerConnection, root: Path) -> tuple[list[str], list[str]]:
    """What a push would change, and what verification finds."""
    host = read_hosts(root)[0][NAME]
    files = files_of(root, host)
    changed = [path for path, change in observe(server, files).changes.items() if change is not FileChange.SAME]
    expected = expected_of(files, host.profile)
    return changed, [one.message for one in compare_all(server.name, expected, observe_all(server, expected))]


def settled(server: ServerConnection, root: Path) -> tuple[list[str], list[str]]:
    """The same, as soon as there are no findings, or when there was time enough."""
    until = time.monotonic() + PATIENCE_S
    while (found := seen_of(server, root))[1] and time.monotonic() < until:
        time.sleep(0.3)
    return found


def pushed(root: Path, new: Path, way: str, folder: Path) -> dict[str, object]:
    def work(server: ServerConnection) -> dict[str, object]:
        found: dict[str, object] = {"before": settled(server, root)}
        wanted = files_of(new, read_hosts(new)[0][NAME])
        found["warnings"] = apply(server, wanted, "first", 10)
        found["after"] = settled(server, new)
        confirm(server, "first")
        # Nobody confirms the way back: the server takes the last files again.
        apply(server, files_of(root, read_hosts(root)[0][NAME]), "second", 0.1)
        found["way"] = status(server).way
        until = time.monotonic() + PATIENCE_S
        while status(server, "second").state is not RunState.RESTORED and time.monotonic() < until:
            time.sleep(0.3)
        found["state"] = status(server, "second").state.value
        found["restored"] = settled(server, new)
        found["mtu"] = output(NAME, command(NAME, ("cat", "/sys/class/net/gpu1_eth/mtu"))).strip()
        return found

    return on_lab(root, way, folder, work)


@pytest.mark.long
@pytest.mark.parametrize("way", ["netplan", "script"])
def test_a_push_to_a_server(tmp_path: Path, way: str) -> None:
    for path in (NETPLAN, NETWORKD):
        if way == "netplan" and not path.exists():
            absent(f"{path} is not installed")
    new = tmp_path / "new"
    shutil.copytree(GOLDEN / "lab", new, symlinks=True)
    for file in (
        new / "profiles/stripe1/etc/netplan/60-ailb-gpu.yaml",
        new / "profiles/stripe1/usr/local/sbin/ailb-net",
    ):
        file.write_text(file.read_text().replace("10007", "10099"))

    found = isolated(pushed, GOLDEN / "lab", new, way, tmp_path / "keys", tools=TOOLS)

    assert found == {
        "before": ([], []),
        # A veth has no priority flow control.
        "warnings": (
            "/usr/local/sbin/ailb-qos: ailb-qos: not set, because they are no PCI devices: gpu0_eth gpu1_eth",
        ),
        "after": ([], []),
        "way": "netplan" if way == "netplan" else "ailb-net",
        "state": "restored",
        "restored": ([], []),
        "mtu": "9000",
    }


def refused(root: Path, folder: Path) -> str:
    def work(server: ServerConnection) -> dict[str, object]:
        other = make_keys(folder / "other")
        client = paramiko.SSHClient()
        client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
        try:
            client.connect(
                "127.0.0.1",
                server.reach.port,
                "root",
                key_filename=str(other.client),
                allow_agent=False,
                look_for_keys=False,
            )
        except paramiko.AuthenticationException:
            return {"refused": True}
        finally:
            client.close()
        return {"refused": False}

    return str(on_lab(root, "script", folder, work))


@pytest.mark.long
def test_another_key_does_not_log_in(tmp_path: Path) -> None:
    assert isolated(refused, GOLDEN / "lab", tmp_path, tools=TOOLS) == "{'refused': True}"


def test_inventory(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "key", "ssh-ed25519 AAAA")
    assert entries(keys, "127.0.0.1", {"gpu-1": 2022}) == {
        "gpu-1": {
            "hostname": "127.0.0.1",
            "port": 2022,
            "username": "root",
            "key_file": str(tmp_path / "key"),
            "agent": False,
        }
    }
    assert known_hosts(keys, "127.0.0.1", {"gpu-1": 2022}) == "[127.0.0.1]:2022 ssh-ed25519 AAAA\n"


def test_without_sshd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ailb_gen.programs.SYSTEM", ())
    monkeypatch.setenv("PATH", "/nowhere")
    assert why_not() == "sshd is not installed (openssh-server)"
