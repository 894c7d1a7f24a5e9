"""`ailb-gen lab` as its users run it: up to down, several side by side, killed, without root, and what is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pygnmi.client import gNMIclient

from tests.cli.verbs import program
from tests.conftest import ROOT, need_root, need_tool, need_user_namespaces
from tests.forkserver import ForkServer
from tests.ports import free_ports

FABRIC = ROOT / "examples/lab/fabric.yaml"
GOLDEN = ROOT / "tests/golden/lab"
# Daemons are not in it.
USER_PATH = "/usr/local/bin:/usr/bin:/bin"
Verb = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def labs(tmp_path: Path, fork_server: ForkServer) -> Iterator[Verb]:
    """The verbs of labs that are kept in a directory of the test, with a user's PATH; those that run are ended."""
    need_user_namespaces()
    for tool in ("bird", "ip", "nft"):
        need_tool(tool)
    places = {"XDG_STATE_HOME": str(tmp_path / "state"), "PATH": USER_PATH}

    def verb(*words: str) -> subprocess.CompletedProcess[str]:
        if words[0] == "up":
            # Its processes are known by their command line.
            return program("lab", *words, env=places)
        done = fork_server.run(["lab", *words], ROOT, "", {**os.environ, **places}, seconds=300)
        return subprocess.CompletedProcess(words, *done)

    yield verb
    for folder in (tmp_path / "state/ailb-gen/labs").glob("*"):
        verb("down", folder.name)


def brought_up(labs: Verb, name: str, *options: str) -> None:
    done = labs("up", str(FABRIC), str(GOLDEN), "--lab", name, *options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "quiet in a pipe"
    assert "missing" not in done.stdout


def status(labs: Verb, name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(labs("status", "--lab", name, "--json").stdout)
    return found


def host_links() -> set[str]:
    """Return the links outside of all labs, without those of servers of other tests, whose names start with ailb."""
    return {path.name for path in Path("/sys/class/net").iterdir() if not path.name.startswith("ailb")}


def processes(name: str) -> list[str]:
    """Return the command lines of processes in whose environment or arguments a lab is named."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if name.encode() in words and b"ailb_gen" in words:
            found.append(b" ".join(words).decode())
    return found


def gone(name: str) -> bool:
    for _ in range(200):
        if not processes(name):
            return True
        time.sleep(0.05)
    return False


def collected(inventory: Path, port: int) -> list[str]:
    """Return the states of the uplinks of a leaf by gNMI, whose counters are those of its kernel."""
    password, trusted = (inventory / "password").read_text().strip(), str(inventory / "gnmi-ca.pem")
    with gNMIclient(("localhost", port), username="admin", password=password, path_root=trusted) as client:
        found = []
        for number in range(4):
            path = f"/interfaces/interface[name=et-0/0/{number}]/state"
            (told,) = client.get(path=[path], encoding="proto")["notification"]
            values = {one["path"].rpartition("/")[2]: one["val"] for one in told["update"]}
            assert values["in-pkts"] > 0
            assert values["in-octets"] > values["in-pkts"]
            found.append(values["oper-status"])
        return found


def test_from_up_to_down(labs: Verb, tmp_path: Path) -> None:
    before = host_links()
    first = free_ports(8)
    brought_up(labs, "one", "--inventory", str(tmp_path / "inventory"), "--gnmi-port", str(first))

    rows = status(labs, "one")["switches"]
    assert isinstance(rows, list)
    assert [(row["up"], row["sessions"]) for row in rows] == [(4, 4)] * 8
    assert host_links() == before
    assert labs("exec", "gpu-s1-1", "--", "sh", "-c", "exit 7").returncode == 7
    shown = labs("exec", "stripe1-leaf1", "--", "ip", "-6", "route", "show", "fc00:2:1:3::/64").stdout
    assert "dev et-0-0-2 " in shown

    assert collected(tmp_path / "inventory", first + 4) == ["UP"] * 4
    failed = labs("fail", "stripe1-leaf1:et-0/0/2")
    assert collected(tmp_path / "inventory", first + 4) == ["UP", "UP", "DOWN", "UP"]
    assert failed.stdout.startswith("failed: stripe1-leaf1:et-0/0/2 - spine3:et-0/0/0: no carrier\n")
    assert status(labs, "one")["failed"] == ["stripe1-leaf1:et-0/0/2 - spine3:et-0/0/0: no carrier"]
    shown = labs("exec", "stripe1-leaf1", "--", "ip", "-6", "route", "show", "fc00:2:1:3::/64").stdout
    assert all(f"dev et-0-0-{number} " in shown for number in (0, 1, 3))
    checked = labs("check", "--rounds", "0")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "injected failures: stripe1-leaf1:et-0/0/2 - spine3:et-0/0/0: no carrier" in checked.stdout
    assert "repaired: stripe1-leaf1:et-0/0/2" in labs("repair").stdout
    assert labs("repair").stdout == "nothing has failed\n"

    other = tmp_path / "other.yaml"
    other.write_text(FABRIC.read_text().replace("65101-", "65111-"))
    checked = labs("check", str(other), str(GOLDEN), "--rounds", "0", "--report", "json")
    assert checked.returncode == 1
    rows = {row["id"]: row["status"] for row in json.loads(checked.stdout)["checks"]}
    assert (rows["AILBL06"], rows["AILBL21"]) == ("fail", "pass")

    again = labs("up", str(FABRIC), str(GOLDEN), "--lab", "one")
    assert again.returncode == 2
    assert "a lab runs there" in again.stderr
    assert labs("down").stdout == "the lab one has ended\n"
    assert gone("one")
    assert labs("down").stdout == "no lab runs\n"


@pytest.mark.long
def test_killed_and_started_again(labs: Verb, tmp_path: Path) -> None:
    brought_up(labs, "killed")
    record = json.loads((tmp_path / "state/ailb-gen/labs/killed/lab.json").read_text(encoding="utf-8"))
    daemons = labs("exec", "spine1", "--", "pgrep", "-c", "bird").stdout
    assert int(daemons) >= 8

    os.kill(record["lab"]["process"], signal.SIGKILL)

    assert gone("killed")
    assert labs("status", "--lab", "killed").returncode == 2
    brought_up(labs, "killed")
    os.kill(json.loads((tmp_path / "state/ailb-gen/labs/killed/lab.json").read_text(encoding="utf-8"))["pid"], 9)
    assert gone("killed")
    assert labs("down", "killed").stdout == "no lab killed runs\n"
    assert not (tmp_path / "state/ailb-gen/labs/killed").exists()


@pytest.mark.long
def test_a_killed_check_leaves_nothing(labs: Verb, tmp_path: Path) -> None:
    brought_up(labs, "checked")
    words = (sys.executable, "-m", "ailb_gen", "lab", "check", "--checks", "AILBL31")
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, env=environment) as checking:
        failing = "until grep -qs et- /run/lab/check.json; do sleep 0.05; done"
        assert labs("exec", "spine1", "--", "sh", "-c", failing).returncode == 0
        second = labs("check")
        checking.kill()
    assert (second.returncode, "another 'lab check' of this lab is running" in second.stderr) == (2, True)
    done = labs("check", "--rounds", "0")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "failed on purpose" not in done.stdout
    assert status(labs, "checked")["failed"] == []

    # The other verbs and the next check go on without the BIRD that has ended, and do not wait for what it would do.
    labs("exec", "spine1", "--", "pkill", "-KILL", "-f", "bird/spine1.conf")
    assert "ended: BIRD of spine1; start the lab again" in labs("status").stdout
    for verb in (("fail", "stripe1-leaf1:et-0/0/1"), ("repair",)):
        done = labs(*verb)
        assert (done.returncode, "settled after" in done.stdout) == (0, True), done.stderr
    done = labs("check", "--report", "json")
    assert done.returncode == 1
    found = {row["id"]: row for row in json.loads(done.stdout)["checks"]}
    assert [row["scope"] for row in found["AILBL02"]["findings"]] == ["spine1"]
    assert found["AILBL31"]["skipped"] == "no failures are caused while switches do not run: spine1"
    assert [found[f"AILBL{number}"]["status"] for number in (21, 22, 23)] == ["pass"] * 3


@pytest.mark.long
def test_files_are_those_of_the_machine(labs: Verb) -> None:
    need_root()
    brought_up(labs, "files")
    with TemporaryDirectory(dir="/run") as name:
        # The lab has a /run of its own.
        folder = Path(name)
        shutil.copytree(GOLDEN, folder / "out", symlinks=True)
        shutil.copy(FABRIC, folder / "fabric.yaml")
        report = folder / "report.json"
        done = labs("check", f"{folder}/fabric.yaml", f"{folder}/out", "--rounds", "0", "--report", f"json={report}")
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(report.read_text())["verdict"]
        done = labs("capture", "spine1", "et-0/0/0", "-o", f"{folder}/a.pcap", "--count", "1")
        assert done.returncode == 0, done.stderr
        assert (folder / "a.pcap").stat().st_size > 24
        assert labs("exec", "spine1", "--", "test", "-e", str(folder)).returncode == 1


@pytest.mark.long
def test_side_by_side(labs: Verb) -> None:
    brought_up(labs, "left")
    brought_up(labs, "right", "--hosts", "script")

    unnamed = labs("status")
    assert unnamed.returncode == 2
    assert "2 labs run; name one of them with --lab: left, right" in unnamed.stderr
    labs("fail", "spine1", "--lab", "left")
    assert len(status(labs, "left")["failed"]) == 4  # type: ignore[arg-type]
    assert status(labs, "right")["failed"] == []
    down = labs("down")
    assert (down.returncode, "name one: left, right" in down.stderr) == (2, True)
    assert labs("down", "left").returncode == 0
    assert status(labs, "right")["failed"] == []


@pytest.fixture
def unprivileged(labs: Verb, tmp_path: Path) -> Iterator[Verb]:
    """The verbs of labs as a user without any rights: in a user namespace in which nothing but his number is mapped."""
    if os.geteuid():
        yield labs
        return
    mapped = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "sh", "-c", "echo; exec sleep infinity")
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "PATH": USER_PATH, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(mapped, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        entering = ("nsenter", "--user", "--preserve-credentials", f"--target={holder.pid}")

        def verb(*words: str) -> subprocess.CompletedProcess[str]:
            command = (*entering, sys.executable, "-m", "ailb_gen", "lab", *words)
            return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=180)

        yield verb
        verb("down")
        holder.kill()


@pytest.mark.long
def test_without_root(unprivileged: Verb) -> None:
    done = unprivileged("up", str(FABRIC), str(GOLDEN))
    assert done.returncode == 0, done.stderr
    assert "4 servers (script)" in done.stdout
    told = unprivileged("status", "--json")
    assert told.returncode == 0, told.stderr
    assert [(row["up"], row["sessions"]) for row in json.loads(told.stdout)["switches"]] == [(4, 4)] * 8
    traffic = unprivileged("traffic", "--count", "50")
    assert re.search(r"^pinned +32 +1,600 +0 +0 .* 1\.0[01]", traffic.stdout, re.M), traffic.stdout + traffic.stderr
    checked = unprivileged("check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert unprivileged("down").returncode == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("up", "nowhere.yaml", str(GOLDEN)), "nowhere.yaml: there is no such file"),
        (("up", str(FABRIC), "nowhere"), "nowhere"),
        (("up", str(FABRIC), str(GOLDEN), "--lab", "a/b"), "'a/b': the name of a lab has 1 to 32 letters"),
        (("status",), "no labs run; start one with: ailb-gen lab up"),
        (("status", "--lab", "one"), "no lab 'one' runs"),
        (("exec", "leaf1", "--", "true"), "no labs run"),
        (("check",), "no labs run; start one with: ailb-gen lab up"),
        (("check", str(FABRIC)), "ARTIFACTS is missing: name both, FABRIC and ARTIFACTS, or none of them"),
        (("traffic", "--rate", "0"), "a rate of 0 packets per second; choose 1 to 1000000"),
    ],
)
def test_what_is_refused(labs: Verb, words: tuple[str, ...], reason: str) -> None:
    done = labs(*words)
    assert reason in done.stderr
    assert (done.returncode, done.stdout) == (2, "")
