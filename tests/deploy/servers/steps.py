"""What tests of pushes do again and again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ailb_gen.deploy.servers.files import RunState, Tree
from ailb_gen.deploy.servers.script import status
from ailb_gen.deploy.servers.ssh import ServerConnection
from tests.deploy.servers.sandbox import Host

SCRIPT = "usr/local/sbin/ailb-net"
NETPLAN = "etc/netplan/60-ailb-gpu.yaml"
SYSCTL = "etc/sysctl.d/99-accept-ra.conf"
STATE = "/var/lib/ailb-gen"


def edited(files: Tree, path: str, old: bytes, new: bytes) -> Tree:
    """Return files of which one has another text in one place."""
    file = files[path]
    assert old in file.content
    changed = replace(file, content=file.content.replace(old, new))
    return {**files, path: changed}


def renumbered(files: Tree) -> Tree:
    """Return files whose script sets one table by another number."""
    script = files[SCRIPT].content
    row = next(line for line in script.splitlines(keepends=True) if line.startswith(b"gpu1_eth 10007 "))
    return edited(files, SCRIPT, row, row.replace(b"10007", b"20007"))


def slow(files: Tree, seconds: int) -> Tree:
    """Return files whose script takes its time to set the network."""
    return edited(files, SCRIPT, b"set -eu\n", f"set -eu\nsleep {seconds}\n".encode())


def wait_for(server: ServerConnection, run_name: str, *states: RunState) -> None:
    """Ask until a run has one of the states; that it never has is told after a long time."""
    for _ in range(600):
        now = status(server, run_name, wait_s=5)
        if now.state in states and not now.busy:
            return
        time.sleep(0.1)
    raise AssertionError(f"{run_name} is {status(server, run_name).state}, not one of {states}")


def probe_text(**sections: str) -> str:
    """Return what a host answers to a probe: nothing is there, unless it is given."""
    empty = {"way": "netplan", "files": "", "link": "[]", "addr": "[]", "rule": "[]", "route": "[]", "sysctl": ""}
    empty |= {"nic": "gpu0_eth - - -\ngpu1_eth - - -", "functions": "", "plugin": "rdma 0", "environment": ""}
    empty |= {"qos": "exit 0", "gids": "exit 0", "ping": ""}
    return "".join(f"== {title}\n{body}\n" for title, body in (empty | sections).items()) + "== end\n"


def has(host: Host, files: Tree) -> bool:
    """Tell whether a host has just these files."""
    tree = host.tree()
    return all(path in tree and tree[path][1:] == (file.mode, file.owner, file.content) for path, file in files.items())


def leftovers(host: Host) -> list[str]:
    """Return what a run that has ended must not leave beside the files."""
    hidden = [path for path in host.tree() if path.endswith((".ailb-new", ".ailb-old", ".new"))]
    pending = [path for path in host.tree() if "ailb-gen-restore" in path]
    return hidden + pending + host.inside("find", STATE, "-maxdepth", "1", "-name", "pending*", check=False).split()


@contextmanager
def sysfs(host: Host, folder: Path, *rdma: str) -> Iterator[Path]:
    """Give a host classes of devices of ours, with a NIC that is no virtual one; yield the folder of its device."""
    (folder / "net").mkdir(parents=True)
    first, *others = host.config.nics
    for nic in others:
        (folder / "net" / nic.name).symlink_to(f"/sys/devices/virtual/net/{nic.name}")
    device = folder / "net" / first.name / "device"
    device.mkdir(parents=True)
    (folder / "net" / first.name / "speed").write_text("200000\n", encoding="utf-8")
    (device / "driver").symlink_to("/sys/bus/pci/drivers/mlx5_core")
    for name in rdma:
        (folder / "infiniband" / name).mkdir(parents=True)
        (device / "infiniband" / name).mkdir(parents=True)
        (device / "infiniband" / name / "fw_ver").write_text("28.39.1002\n", encoding="utf-8")
    host.inside("mount", "--bind", str(folder), "/sys/class")
    try:
        yield device
    finally:
        host.inside("umount", "/sys/class")
