"""Root directories of servers: the rendered files, and a sysfs with NICs and RDMA devices written by this project.

Sources of the layout: Documentation/ABI/stable/sysfs-class-infiniband, drivers/infiniband/core/sysfs.c (empty entries
read as zeros, attributes of empty entries cannot be read) and roce_gid_mgmt.c (one GID per address and version).
"""

from __future__ import annotations

import ipaddress
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ailb_gen.addresses import eui64
from ailb_gen.host_program import host_program
from ailb_gen.layout import HOST_FILE, HOST_PROGRAM

V1, V2 = "IB/RoCE v1", "RoCE v2"
ENTRIES = 16


@dataclass(frozen=True, slots=True)
class Vendor:
    """A NIC's names of devices, and the versions of RoCE of which its driver has GIDs, in its order."""

    rdma: str
    versions: tuple[str, ...] = (V1, V2)


# Marked as written by us: no dump of a real server of these vendors is at hand.
VENDORS = {
    "ConnectX-7": Vendor("mlx5_{i}"),
    "BlueField-3": Vendor("mlx5_{i}"),
    "Broadcom Thor": Vendor("bnxt_re{i}"),
    "AMD Pollara": Vendor("ionic_{i}", (V2,)),
}


@dataclass
class FakeNic:
    """A NIC of a server; `addresses` in the order in which it got them, IPv4 as text of IPv4."""

    name: str
    rdma: str
    mac: str
    addresses: list[str]
    state: str = "4: ACTIVE"
    link_layer: str = "Ethernet"
    versions: tuple[str, ...] = (V1, V2)
    netdevs: dict[str, str] = field(default_factory=dict)

    def gids(self) -> Iterator[tuple[str, str, str]]:
        """Iterate over the entries of its GID table: address, version, network device."""
        for text in self.addresses:
            address = ipaddress.ip_address(text)
            mapped = address if address.version == 6 else ipaddress.IPv6Address(f"::ffff:{address}")
            for version in self.versions:
                yield mapped.exploded, version, self.netdevs.get(text, self.name)


def nics_of(root: Path, vendor: Vendor = VENDORS["ConnectX-7"]) -> list[FakeNic]:
    """Return NICs as the server's file has them: link-local and color addresses, in that order."""
    found = []
    for number, row in enumerate(json.loads((root / HOST_FILE).read_text("utf-8"))["nics"]):
        mac = row["mac"] or f"02:00:00:00:00:{number:02x}"
        prefixes = ["fe80::/64", *(color["prefix"] for color in row["colors"])]
        addresses = [str(ipaddress.IPv6Network(prefix)[eui64(mac)]) for prefix in prefixes]
        found.append(FakeNic(row["name"], vendor.rdma.format(i=number), mac, addresses, versions=vendor.versions))
    return found


def write_sysfs(root: Path, nics: Sequence[FakeNic]) -> None:
    """Write the sysfs of a server below its root."""
    for nic in nics:
        _write(root / "sys/class/net" / nic.name / "address", nic.mac)
        if not nic.rdma:
            continue
        port = root / "sys/class/infiniband" / nic.rdma / "ports/1"
        _write(port / "state", nic.state)
        _write(port / "link_layer", nic.link_layer)
        entries = list(nic.gids())
        for index in range(max(ENTRIES, len(entries))):
            address, version, netdev = entries[index] if index < len(entries) else ("0000:" * 7 + "0000", "", "")
            _write(port / f"gids/{index}", address)
            if version:
                _write(port / f"gid_attrs/types/{index}", version)
                _write(port / f"gid_attrs/ndevs/{index}", netdev)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="utf-8")


@cache
def oldest_python() -> str:
    """Return the oldest Python from 3.8 that this machine has, by the name on the path or of pyenv."""
    homes = (str(path) for path in Path.home().glob(".pyenv/versions/3.*/bin/python"))
    names = (f"python3.{minor}" for minor in range(8, sys.version_info.minor))
    versions = {python: _version(python) for python in (*homes, *names, sys.executable)}
    usable = {python: version for python, version in versions.items() if version is not None and version >= (3, 8)}
    return min(usable, key=lambda python: usable[python])


def _version(python: str) -> tuple[int, int] | None:
    code = "import sys; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    major, minor = map(int, done.stdout.split())
    return major, minor


def run(root: Path, *words: str, python: str = "") -> subprocess.CompletedProcess[str]:
    """Run the program as the server has it, a bare file, below a root; without anything of this project."""
    program = root / HOST_PROGRAM
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_bytes(host_program())
    command = [python or oldest_python(), "-I", str(program), "--root", str(root), *words]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", env=environment)
