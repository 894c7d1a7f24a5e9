"""GID tables of servers: right ones, and every way in which they go wrong."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.layout import ENVIRONMENT, HOST_FILE
from tests.ailb_host.servers import VENDORS, FakeNic, Vendor, nics_of, oldest_python, run, write_sysfs
from tests.golden_trees import GOLDEN

PROFILE = GOLDEN / "lab" / "profiles" / "stripe1"
# The first address of color blue on NIC 0, from its MAC.
BLUE = "fc00:1:1:2:0:ff:fe00:0"


def trade_devices(nics: list[FakeNic]) -> None:
    """Let two NICs have each other's RDMA device."""
    nics[0].rdma, nics[1].rdma = nics[1].rdma, nics[0].rdma


def server(root: Path, change: Callable[[list[FakeNic]], object] = lambda nics: None) -> list[FakeNic]:
    """Write a server whose NICs were changed."""
    shutil.copytree(PROFILE, root, dirs_exist_ok=True)
    nics = nics_of(root)
    change(nics)
    write_sysfs(root, nics)
    return nics


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=VENDORS)
def test_right_server(tmp_path: Path, vendor: Vendor) -> None:
    shutil.copytree(PROFILE, tmp_path, dirs_exist_ok=True)
    file = tmp_path / HOST_FILE
    file.write_text(
        re.sub(r"mlx5_(\d)", lambda found: vendor.rdma.format(i=found[1]), file.read_text("utf-8")), "utf-8"
    )
    first = len(vendor.versions) * 2 - 1
    environment = tmp_path / ENVIRONMENT
    environment.write_text(environment.read_text("utf-8").replace("GID_INDEX=3", f"GID_INDEX={first}"), "utf-8")
    nics = nics_of(tmp_path, vendor)
    write_sysfs(tmp_path, nics)
    done = run(tmp_path, "gids", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert answer["findings"] == []
    assert len(answer["gids"]) == len(nics) * len(nics[0].addresses) * len(vendor.versions)
    colors = {row["index"]: row["color"] for row in answer["gids"] if row["nic"] == "gpu1_eth"}
    assert colors[first] == "green" and colors[first + 3 * len(vendor.versions)] == "orange" and colors[0] == "-"
    table = run(tmp_path, "gids").stdout.splitlines()
    assert table[0].split() == ["nic", "port", "state", "index", "color", "address", "version"]
    assert len(table) == 2 + len(answer["gids"])


WRONG: dict[str, tuple[Callable[[list[FakeNic]], object], str]] = {
    "IPv4": (
        lambda nics: nics[0].addresses.insert(1, "10.0.0.7"),
        r"gpu0_eth: IPv4 address 10\.0\.0\.7/32 takes GID 2 of mlx5_0:1, before those of 4 of 4 colors; "
        r"remove it: ip address del 10\.0\.0\.7/32 dev gpu0_eth",
    ),
    "pinned": (
        lambda nics: nics[1].addresses.insert(1, "10.0.0.7"),
        r"gpu1_eth: UCX_IB_GID_INDEX is 3, which is 10\.0\.0\.7 \(RoCE v2\) on mlx5_1:1; color green has 5; use ",
    ),
    "temporary": (
        lambda nics: nics[0].addresses.append("fc00:1:1:2::99"),
        r"gpu0_eth: second address of color blue fc00:1:1:2::99/64 takes GID 10 of mlx5_0:1; remove it",
    ),
    "foreign": (
        lambda nics: nics[0].addresses.insert(3, "2001:db8::1"),
        r"gpu0_eth: address of no color 2001:db8::1/64 takes GID 6 of mlx5_0:1, before those of 2 of 4 colors",
    ),
    "stale": (
        lambda nics: nics[1].addresses.insert(1, "fc00:9:1:1:0:ff:fe00:1"),
        r"gpu1_eth: address of no color fc00:9:1:1:0:ff:fe00:1/64 takes GID 2",
    ),
    "missing": (
        lambda nics: nics[0].addresses.remove(BLUE),
        rf"gpu0_eth: mlx5_0:1 has no RoCE v2 GID of {BLUE} \(color blue\); check the address",
    ),
    "v1": (
        lambda nics: setattr(nics[0], "versions", ("IB/RoCE v1",)),
        "gpu0_eth: mlx5_0:1 has no RoCE v2 GID at all; set its RoCE mode to v2",
    ),
    "swapped": (
        trade_devices,
        r"gpu0_eth: address of no color fc00:1:2:1:0:ff:fe00:1/64|gpu0_eth: mlx5_0:1 has no RoCE v2 GID",
    ),
    "netdev": (
        lambda nics: nics[0].netdevs.update({BLUE: "bond0"}),
        r"gpu0_eth: GID 5 of mlx5_0:1 \(color blue\) belongs to bond0; remove the address from bond0",
    ),
    "down": (lambda nics: setattr(nics[1], "state", "1: DOWN"), r"gpu1_eth: mlx5_1:1 is DOWN; check the cable"),
    "InfiniBand": (
        lambda nics: setattr(nics[1], "link_layer", "InfiniBand"),
        r"gpu1_eth: mlx5_1:1 is set to InfiniBand; set the port to Ethernet",
    ),
    "no device": (lambda nics: setattr(nics[1], "rdma", ""), r"gpu1_eth: there is no RDMA device mlx5_1; check"),
    "no interface": (lambda nics: setattr(nics[1], "name", "ens1"), r"gpu1_eth: there is no such interface; check"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_wrong_server(tmp_path: Path, change: Callable[[list[FakeNic]], object], message: str) -> None:
    server(tmp_path, change)
    done = run(tmp_path, "gids")
    assert done.returncode == 1
    assert any(re.match(f"ailb-host: (?:{message})", line) for line in done.stderr.splitlines()), done.stderr
    assert json.loads(run(tmp_path, "gids", "--json").stdout)["findings"]


def test_mac_of_another_nic(tmp_path: Path) -> None:
    server(tmp_path)
    file = tmp_path / HOST_FILE
    file.write_text(file.read_text("utf-8").replace('"mac": ""', '"mac": "02:00:00:00:00:77"', 1), "utf-8")
    done = run(tmp_path, "gids")
    assert done.returncode == 1
    assert done.stderr == (
        "ailb-host: gpu0_eth: its MAC is 02:00:00:00:00:00, the fabric file has 02:00:00:00:00:77; "
        "correct the one that is wrong\n"
    )


def with_ipv4(nics: list[FakeNic]) -> None:
    """Give all NICs an IPv4 address before those of the colors."""
    for number, nic in enumerate(nics):
        nic.addresses.insert(1, f"10.0.0.{number}")


def test_environment_has_the_index_found(tmp_path: Path) -> None:
    server(tmp_path, with_ipv4)
    done = run(tmp_path, "gids", "--env")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "export UCX_IB_GID_INDEX=5" in lines
    file = (tmp_path / ENVIRONMENT).read_text("utf-8").splitlines()
    assert {line.removeprefix("export ") for line in lines} ^ set(file[1:]) == {
        "UCX_IB_GID_INDEX=3",
        "UCX_IB_GID_INDEX=5",
    }


def test_index_left_to_ucx_is_not_told(tmp_path: Path) -> None:
    server(tmp_path, with_ipv4)
    path = tmp_path / ENVIRONMENT
    path.write_text(path.read_text("utf-8").replace("UCX_IB_GID_INDEX=3", "UCX_IB_GID_INDEX=auto"), "utf-8")
    assert "UCX_IB_GID_INDEX" not in run(tmp_path, "gids").stderr
    assert "export UCX_IB_GID_INDEX=5" in run(tmp_path, "gids", "--env").stdout.splitlines()


def test_environment_needs_one_index(tmp_path: Path) -> None:
    server(tmp_path, lambda nics: nics[0].addresses.insert(1, "10.0.0.7"))
    done = run(tmp_path, "gids", "--env")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "ailb-host: the index must be the same on all NICs, and is 3 on gpu1_eth; 5 on gpu0_eth; run: ailb-host gids\n"
    )


def test_environment_of_a_server_without_gpus(tmp_path: Path) -> None:
    server(tmp_path)
    (tmp_path / ENVIRONMENT).unlink()
    done = run(tmp_path, "gids", "--env")
    assert (done.returncode, done.stderr) == (3, "ailb-host: this server has no GPUs, and no environment of NCCL\n")


NIC = '{"format": 1, "fabric": "lab", "nics": [{"name": "x", "rdma": "y", "dscp": 0, "mtu": 1500, "colors": [], %s}]}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no such file; push the server's files: ailb-gen deploy"),
        ("{", "not a file of ailb-gen (JSONDecodeError: "),
        ('{"format": 2}', "format 2, and this program reads 1; push the server's files again"),
        ('{"format": 1, "fabric": "lab", "nics": [{}]}', "not a file of ailb-gen (KeyError: 'colors')"),
        ("[]", "not a file of ailb-gen (TypeError: "),
        ("[" * 100_000, "not a file of ailb-gen (RecursionError: "),
        (NIC % '"rail": 1e999, "mac": ""', "not a file of ailb-gen (OverflowError: "),
        (NIC % '"rail": 0, "mac": null', "not a file of ailb-gen (TypeError: None is not a name)"),
        (NIC % '"rail": 0, "mac": "\\udcff"', "not a file of ailb-gen (TypeError: '\\udcff' is not a name)"),
        ("\0" * 1_000_000, "not a file of ailb-gen (JSONDecodeError: "),
    ],
)
def test_file_of_the_server_is_broken(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / HOST_FILE).parent.mkdir(parents=True)
        (tmp_path / HOST_FILE).write_text(text, "utf-8")
    done = run(tmp_path, "gids")
    assert (done.returncode, done.stdout) == (3, "")
    assert f"ailb-host: {tmp_path / HOST_FILE}: {message}" in done.stderr


@pytest.mark.parametrize(
    "data", [b"", b"\xff\0", b"fc00::1", b"fc00:" * 9, b"zz" * 16, b"00" * 15, "\u0663".encode() * 32, b"f" * 1_000_000]
)
def test_entries_that_are_no_gids(tmp_path: Path, data: bytes) -> None:
    server(tmp_path)
    ports = tmp_path / "sys/class/infiniband/mlx5_0/ports"
    (ports / "1/gids/0").write_bytes(data)
    (ports / "1/gids/x").write_bytes(data)
    (ports / "²").mkdir()
    done = run(tmp_path, "gids", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert min(row["index"] for row in json.loads(done.stdout)["gids"] if row["port"] == "mlx5_0:1") == 1


def test_names_of_odd_bytes(tmp_path: Path) -> None:
    server(tmp_path, with_ipv4)
    for index in (3, 5):
        (tmp_path / f"sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/{index}").write_bytes(b"e\xff\x1b[2J\n")
    devices = tmp_path / "sys/class/infiniband"
    (devices / "mlx5_1").rename(devices / os.fsdecode(b"m\xff"))
    done = run(tmp_path, "gids")
    assert done.returncode == 1
    assert r"belongs to e\udcff\x1b[2J; remove the address" in done.stderr and "\x1b" not in done.stdout + done.stderr
    assert json.loads(run(tmp_path, "gids", "--json").stdout)["gids"]


def cpu_s(action: Callable[[], object]) -> float:
    """Return the least CPU time of the programs that an action starts, of three runs."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        action()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


# Does nothing but read the files, as fast as Python can.
FLOOR = """
import os, sys
for device in os.listdir(sys.argv[1]):
    for kind in ("gids", "gid_attrs/types", "gid_attrs/ndevs"):
        for index in range(256):
            file = os.open(f"{sys.argv[1]}/{device}/ports/1/{kind}/{index}", os.O_RDONLY)
            os.read(file, 4096)
            os.close(file)
"""


def test_cost_of_full_tables(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(GOLDEN / "jvd/profiles/stripe1", tmp_path, dirs_exist_ok=True)
    nics = nics_of(tmp_path)
    for nic in nics:
        nic.addresses += [f"fd00::{number:x}" for number in range(128 - len(nic.addresses))]
    write_sysfs(tmp_path, nics)
    assert len(json.loads(run(tmp_path, "gids", "--json").stdout)["gids"]) == 8 * 256
    command = [oldest_python(), "-I", "-c", FLOOR, str(tmp_path / "sys/class/infiniband")]
    # A bare file is compiled at every start.
    start_s = cpu_s(lambda: run(tmp_path, "--help"))
    floor_s = start_s + cpu_s(lambda: subprocess.run(command, check=True))
    taken_s = cpu_s(lambda: run(tmp_path, "gids"))
    with capfd.disabled():
        text = f"{taken_s:.3f} s of CPU, {floor_s:.3f} s to start the program and to read the files"
        sys.stderr.write(f"\nailb-host gids, 8 NICs with 256 GIDs: {text}\n")
    # Both take longer on a busy machine.
    assert taken_s < 2 * floor_s


def test_wrong_arguments(tmp_path: Path) -> None:
    for words in ((), ("what",), ("gids", "--env", "--json")):
        done = run(tmp_path, *words)
        assert done.returncode == 2 and done.stderr.startswith("usage: ailb-host")
