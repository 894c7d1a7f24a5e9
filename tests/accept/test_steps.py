"""`ailb-gen accept` whole, in labs: it passes on a right fabric, and says why it fails on others."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.accept.standin import OUTPUT
from tests.ailb_host.servers import FakeNic, write_sysfs
from tests.cli.verbs import program
from tests.conftest import ROOT, design_of, need_root, need_tool

INTENT = """\
name: accepted
platform: generic
stripes: 2
rails: 1
spines: 2
servers: 2
colors: [blue, red]
"""
SERVERS = ("server-001", "server-002", "server-003", "server-004")
NO_JOB = ("--job", "none")
TRAFFIC = (*NO_JOB, "--traffic", "--ping", "none", "--packets", "100")


@dataclass(frozen=True, slots=True)
class Site:
    """A lab that runs, and the files that it should have."""

    folder: Path
    fabric: Path
    artifacts: Path
    environment: dict[str, str]

    def inside(self, device: str, *words: str) -> str:
        """Run a program in a device."""
        done = program("lab", "exec", "--lab", self.folder.name, device, "--", *words, env=self.environment)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def words(self, *more: str) -> list[str]:
        """The words of an acceptance."""
        return ["accept", str(self.fabric), str(self.artifacts), "-i", str(self.folder / "inventory"), *more]

    def accept(self, *more: str) -> tuple[int, dict[str, Any]]:
        """Accept the cluster; returns the exit code and the report as JSON."""
        done = program(*self.words("--json", *more), env=self.environment)
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, json.loads(done.stdout)


def findings(report: dict[str, Any]) -> dict[str, list[str]]:
    """The messages of a report by the id of their check."""
    rows = {check["id"]: check["findings"] for check in report["checks"] if check["findings"]}
    return {
        name: [f"{row['scope'].partition(' ')[0]}: {row['message']}" for row in found] for name, found in rows.items()
    }


def figures(report: dict[str, Any], check: str) -> dict[str, str]:
    """The figures of a check."""
    return {row["name"]: row["value"] for one in report["checks"] if one["id"] == check for row in one["figures"]}


@contextmanager
def site(folder: Path, damage: Callable[[Path], None] = lambda artifacts: None, intent: str = INTENT) -> Iterator[Site]:
    """Run a lab of files that are damaged, beside those that they should be."""
    need_root()
    for tool in ("bird", "ip", "nft", "sshd"):
        need_tool(tool)
    (folder / "fabric.yaml").write_text(intent)
    for name in ("artifacts", "damaged"):
        write_rendering(rendering(design_of(intent), folder / name, RenderOptions("curly", None)))
    damage(folder / "damaged")
    environment = {"XDG_STATE_HOME": str(folder / "state")}
    options = ("--lab", folder.name, "-i", str(folder / "inventory"), "--hosts", "script")
    up = program("lab", "up", str(folder / "fabric.yaml"), str(folder / "damaged"), *options, env=environment)
    try:
        assert up.returncode == 0, up.stderr
        yield Site(folder, folder / "fabric.yaml", folder / "artifacts", environment)
    finally:
        program("lab", "down", folder.name, env=environment)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("right")) as made:
        yield made


def left_over(lab: Site) -> list[str]:
    """What acceptance has left on the servers: files, and processes that hold the port."""
    script = "ls /run | grep ailb- ; ss -Hlnu sport = :4791"
    return [line for name in SERVERS for line in lab.inside(name, "sh", "-c", f"{script}; true").splitlines()]


@pytest.mark.long
def test_a_right_cluster_passes(lab: Site) -> None:
    before = left_over(lab)
    code, report = lab.accept(*NO_JOB, "--traffic", "--ping", "all")
    assert (code, findings(report)) == (0, {})
    # Each of four NICs sends in two colors: counted in and out at four NICs, and at four ports of two leaves and two
    # of two spines.
    assert figures(report, "AILBA03")["packets received of those sent"] == "1,600 of 1,600"
    assert figures(report, "AILBA04")["counters that agree to the packet"] == "32 of 32"
    assert figures(report, "AILBA02")["pairs probed"] == "24 (all)"
    assert left_over(lab) == before


@pytest.mark.long
def test_a_link_that_loses_packets_without_going_down(lab: Site) -> None:
    hook = 'type filter hook ingress device "et-0-0-0" priority 0; policy accept;'
    lose = "udp dport 4791 numgen inc mod 10 0 drop"
    rules = f"add table netdev loss; add chain netdev loss in {{ {hook} }}; add rule netdev loss in {lose}"
    lab.inside("spine1", "nft", rules)
    try:
        code, report = lab.accept(*TRAFFIC)
    finally:
        lab.inside("spine1", "nft", "delete table netdev loss")
    found = findings(report)
    assert code == 1
    assert found["AILBA04"] == [
        "spine1: et-0/0/1 (to stripe2-leaf1) has sent 180 of 200 packets of color blue that "
        "stripe1-leaf1:et-0/0/0 sent: lost on a cable there or in spine1"
    ]
    assert found["AILBA03"][0].startswith("stripe1-leaf1: 20 of 200 packets to stripe2-leaf1 in color blue are lost: ")
    assert found.keys() == {"AILBA03", "AILBA04"}


def swapped_colors(artifacts: Path) -> None:
    """Give the spine of a color that of the other one, and the other way around."""
    for name, old, new in (("spine1", "0:1;", "0:2;"), ("spine2", "0:2;", "0:1;")):
        file = artifacts / "switches" / f"{name}.conf"
        text = file.read_text()
        assert f"color:{old}" in text
        file.write_text(text.replace(f"color:{old}", f"color:{new}"))
    (artifacts / "manifest.json").unlink()


@pytest.mark.long
def test_a_wrong_color(tmp_path: Path) -> None:
    with site(tmp_path, swapped_colors) as lab:
        code, report = lab.accept(*TRAFFIC)
    found = findings(report)
    assert code == 1
    # Each spine sends what the leaf has no use for in that color, so nothing of either color leaves a leaf.
    assert any("spine1: 0 prefixes are accepted from stripe1-leaf1" in text for text in found["AILBD03"]), found
    assert any(
        text.startswith("stripe1-leaf1: et-0/0/0 (to spine1) has sent 0 of 200 packets of color blue that server-00")
        and text.endswith("lost on a cable there or in stripe1-leaf1, as without a route of the color")
        for text in found["AILBA04"]
    ), found


def swapped_servers(artifacts: Path) -> None:
    """Cable a server to the leaf of another stripe, and the one that belongs there in its place."""
    file = artifacts / "cabling.csv"
    text = file.read_text().replace("server-001", "other").replace("server-003", "server-001")
    file.write_text(text.replace("other", "server-003"))
    (artifacts / "manifest.json").unlink()


@pytest.mark.long
def test_a_server_in_the_wrong_stripe(tmp_path: Path) -> None:
    with site(tmp_path, swapped_servers) as lab:
        code, report = lab.accept(*NO_JOB, "--traffic")
    found = findings(report)
    # The two others probe and load each other.
    assert (code, set(found)) == (1, {"AILBA02", "AILBD03"})
    assert all("no address in" in text for text in found["AILBA02"])
    assert figures(report, "AILBA02")["pairs probed"] == "4 (sample)"
    assert figures(report, "AILBA04")["counters that agree to the packet"] == "24 of 24"
    assert (
        "server-001: gpu0_eth: no address in fc00:1:1:1::/64 (color blue), which stripe1-leaf1:et-0/0/16 should "
        "advertise; it has one of stripe2-leaf1: its cable goes there, by the files to stripe1-leaf1"
    ) in found["AILBA02"]


@pytest.mark.long
def test_a_shifted_gid(lab: Site, tmp_path: Path) -> None:
    addresses = {
        name: json.loads(lab.inside(name, "/usr/local/sbin/ailb-host", "addresses", "--json")) for name in SERVERS
    }
    try:
        for name in SERVERS:
            mac = lab.inside(name, "cat", "/sys/class/net/gpu0_eth/address").strip()
            own = ["fe80::1", *(row["address"] for row in addresses[name]["addresses"])]
            # An IPv4 address that came before those of the colors.
            shifted = [own[0], "10.0.0.1", *own[1:]] if name == SERVERS[1] else own
            write_sysfs(tmp_path / name, [FakeNic("gpu0_eth", "mlx5_0", mac, shifted)])
            lab.inside(name, "mount", "--bind", str(tmp_path / name / "sys"), "/sys")
        code, report = lab.accept(*NO_JOB, "--ping", "none")
    finally:
        for name in SERVERS:
            lab.inside(name, "umount", "/sys")
    found = findings(report)
    assert code == 1
    assert found["AILBA01"][0] == (
        "server-002: gpu0_eth: IPv4 address 10.0.0.1/32 takes GID 2 of mlx5_0:1, before those of 2 of 2 colors; remove "
        "it: ip address del 10.0.0.1/32 dev gpu0_eth"
    )
    assert "UCX_IB_GID_INDEX is 3, which is 10.0.0.1" in found["AILBA01"][1]
    assert {text.partition(":")[0] for text in found["AILBA01"]} == {"server-002"}


def job(lab: Site, colors: int) -> str:
    """Return the command of a job between the stripes that uses some of the colors."""
    rows = {
        name: {row["color"]: row["address"] for row in json.loads(text)["addresses"]}
        for name in SERVERS
        if (text := lab.inside(name, "/usr/local/sbin/ailb-host", "addresses", "--json"))
    }
    flows = {
        one: [
            {"flow": number, "source": rows[one][color], "port": 50000 + number, "target": rows[other][color]}
            for number, color in enumerate(("blue", "red")[:colors])
        ]
        for one, other in ((SERVERS[0], SERVERS[2]), (SERVERS[3], SERVERS[1]))
    }
    return shlex.join([sys.executable, str(ROOT / "tests/accept/standin.py"), lab.folder.name, json.dumps(flows)])


@pytest.mark.long
@pytest.mark.parametrize("colors", [1, 2])
def test_a_job_uses_all_colors(lab: Site, colors: int) -> None:
    page = lab.folder / "accept.html"
    options = ("--ping", "none", "--repeats", "2", "--report", f"html={page}")
    code, report = lab.accept(*options, "--command", job(lab, colors))
    assert "42.33 GB/s, spread 0.0%" in page.read_text()
    found = findings(report)
    shown = figures(report, "AILBA06")
    assert shown["all-reduce: average bus bandwidth of 2 runs"] == "42.33 GB/s, spread 0.0%"
    assert "measured" in shown["all-reduce: predicted by simulate for that size"]
    if colors == 2:
        assert (code, found) == (0, {})
    else:
        assert code == 1
        assert [text.partition(" ")[0] for text in found["AILBA07"]] == ["stripe1-leaf1:", "stripe2-leaf1:"]
        assert "of its octets are of color blue, few or none of red" in found["AILBA07"][0]


@pytest.mark.long
def test_ctrl_c_leaves_nothing_on_servers(lab: Site) -> None:
    before = left_over(lab)
    words = [sys.executable, "-m", "ailb_gen", *lab.words(*NO_JOB, "--traffic", "--ping", "none", "--packets", "20000")]
    process = subprocess.Popen(words, env={**os.environ, **lab.environment}, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not any("send" in line for line in lab.inside(SERVERS[0], "sh", "-c", "ls /run/ailb-host; true").split()):
        assert time.monotonic() < until
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "what runs on servers is ended" in said
    assert left_over(lab) == before


@pytest.mark.long
def test_a_run_beside_another(lab: Site) -> None:
    host = "/usr/local/sbin/ailb-host"
    lab.inside(SERVERS[1], host, "traffic", "receive", "--seconds", "600")
    try:
        code, report = lab.accept(*TRAFFIC)
        assert code == 1
        refused = "server-002: read: traffic receive runs already; end it: ailb-host traffic stop"
        assert refused in findings(report)["AILBA03"]
        # It goes on.
        assert "4791" in lab.inside(SERVERS[1], "ss", "-Hlnu", "sport = :4791")
    finally:
        lab.inside(SERVERS[1], host, "traffic", "stop")
    install_mpirun(lab, f"cat <<EOF\n{OUTPUT}EOF")
    lab.inside(SERVERS[0], "sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo $! >/run/ailb-job")
    try:
        code, report = lab.accept("--ping", "none")
    finally:
        lab.inside(SERVERS[0], "sh", "-c", "kill $(cat /run/ailb-job); rm /run/ailb-job")
    assert code == 1
    assert "a job of another acceptance runs here; wait for it, or end it: kill -- -" in findings(report)["AILBA06"][0]


@pytest.mark.long
def test_jvd_whole(tmp_path: Path) -> None:
    servers = [f"h100-{number:02}" for number in range(1, 5)]
    with site(tmp_path, intent=(ROOT / "examples/jvd/fabric.yaml").read_text()) as lab:
        code, report = lab.accept(*NO_JOB, "--traffic", "--ping", "all")
        assert (code, findings(report)) == (0, {})
        assert figures(report, "AILBA02")["pairs probed"] == "384 (all)"
        assert figures(report, "AILBA03")["packets received of those sent"] == "25,600 of 25,600"
        assert figures(report, "AILBA04")["counters that agree to the packet"] == "384 of 384"
        # One of two servers of each leaf puts everything on one color.
        rows = {
            name: {
                (row["nic"], row["color"]): row["address"]
                for row in json.loads(lab.inside(name, "/usr/local/sbin/ailb-host", "addresses", "--json"))["addresses"]
            }
            for name in servers
        }
        flows = {
            one: [
                {
                    "flow": number,
                    "source": rows[one][nic, used],
                    "port": 50000 + number,
                    "target": rows[other][nic, used],
                }
                for number, (nic, color) in enumerate(rows[one])
                for used in ("green" if one == "h100-02" else color,)
            ]
            for one, other in zip(servers, (servers[2], servers[3], servers[1], servers[0]), strict=True)
        }
        command = shlex.join([sys.executable, str(ROOT / "tests/accept/standin.py"), tmp_path.name, json.dumps(flows)])
        code, report = lab.accept("--ping", "none", "--repeats", "1", "--command", command)
    found = findings(report)
    assert (code, set(found)) == (1, {"AILBA07"})
    assert [text.partition(":")[0] for text in found["AILBA07"]] == [f"stripe1-leaf{number}" for number in range(1, 9)]
    assert "of color green, 25% would be even: one of h100-01, h100-02 sends on that color only" in found["AILBA07"][0]


def install_mpirun(lab: Site, script: str) -> None:
    """Put a program in the place of `mpirun` on the first server, which has its own /usr/local/sbin."""
    program_text = shlex.quote(f"#!/bin/sh\n{script}\n")
    put = f"printf '%b' {program_text} > /usr/local/sbin/mpirun; chmod 755 /usr/local/sbin/mpirun"
    lab.inside(SERVERS[0], "sh", "-c", put)


@pytest.mark.long
def test_mpirun_on_the_first_server(lab: Site) -> None:
    before = left_over(lab)
    # It prints its arguments, too: no line of nccl-tests begins so.
    install_mpirun(lab, f'echo "argv: $*"; cat <<EOF\n{OUTPUT}EOF')
    code, report = lab.accept("--ping", "none", "--sizes", "8M-8M")
    assert (code, findings(report)) == (0, {})
    assert figures(report, "AILBA06")["all-reduce: average bus bandwidth of 3 runs"] == "42.33 GB/s, spread 0.0%"
    assert left_over(lab) == before
    install_mpirun(lab, "echo 'There are not enough slots' >&2; exit 213")
    code, report = lab.accept("--ping", "none")
    assert (code, findings(report)["AILBA06"]) == (
        1,
        ["server-001: all-reduce: server-001: read: There are not enough slots"],
    )
    assert left_over(lab) == before


@pytest.mark.long
def test_ctrl_c_ends_the_job_on_the_first_server(lab: Site) -> None:
    before = left_over(lab)
    install_mpirun(lab, "sleep 98765")
    words = [sys.executable, "-m", "ailb_gen", *lab.words("--ping", "none")]
    process = subprocess.Popen(words, env={**os.environ, **lab.environment}, stderr=subprocess.PIPE, text=True)
    running = ("sh", "-c", "ls /run/ailb-job; true")
    until = time.monotonic() + 60
    while not lab.inside(SERVERS[0], *running).strip():
        assert time.monotonic() < until
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert left_over(lab) == before
    assert subprocess.run(["pgrep", "-f", "^sleep 98765"], check=False, capture_output=True).stdout == b""


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--job", "all-reduc"), "there is no job 'all-reduc'; did you mean 'all-reduce'?"),
        (("--sizes", "8G-8M"), "--sizes '8G-8M': the first size is larger than the last"),
        (("--job", "all-reduce,all-to-all", "--command", "x"), "--command is one job"),
    ],
)
def test_wrong_options(tmp_path: Path, words: tuple[str, ...], reason: str) -> None:
    done = program("accept", str(tmp_path / "fabric.yaml"), str(tmp_path), *words)
    assert done.returncode == 2
    assert reason in " ".join(done.stderr.split())
