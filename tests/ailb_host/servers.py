"""Root directories of servers: the rendered files, and a sysfs with NICs and RDMA devices written by this project.

Sources of the layout: Documentation/ABI/stable/sysfs-class-infiniband, drivers/infiniband/core/sysfs.c (empty entries
read as zeros, attributes of empty entries cannot be read) and roce_gid_mgmt.c (one GID per address and version); for
names of counters drivers/infiniband/hw/mlx5/counters.c, bnxt_re/hw_counters.c, and AMD's node-scraper for ionic.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
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
    """A NIC's names of devices, the versions of RoCE of which its driver has GIDs, in its order, and its counters."""

    rdma: str
    versions: tuple[str, ...] = (V1, V2)
    counters: tuple[str, ...] = ()


STATISTICS = ("tx_bytes", "tx_packets", "rx_bytes", "rx_packets", "tx_dropped", "rx_dropped", "tx_errors", "rx_errors")
PORT = ("port_xmit_data", "port_xmit_packets", "port_rcv_data", "port_rcv_packets", "port_xmit_wait", "symbol_error")
MLX5 = (
    *("rx_write_requests", "rx_read_requests", "out_of_buffer", "out_of_sequence", "duplicate_request"),
    *("rnr_nak_retry_err", "packet_seq_err", "implied_nak_seq_err", "local_ack_timeout_err", "resp_cqe_error"),
    *("req_transport_retries_exceeded", "rp_cnp_ignored", "rp_cnp_handled", "np_ecn_marked_roce_packets"),
    *("np_cnp_sent", "rx_icrc_encapsulated", "lifespan"),
)
BNXT = (
    *("active_qps", "rx_pkts", "rx_bytes", "tx_pkts", "tx_bytes", "recoverable_errors", "tx_roce_discards"),
    *("rx_roce_errors", "rx_roce_discards", "to_retransmits", "seq_err_naks_rcvd", "max_retry_exceeded"),
    *("rnr_naks_rcvd", "missing_resp", "dup_req", "oos_drop_count", "rx_out_of_buffer", "tx_cnp_pkts", "rx_cnp_pkts"),
    *("rx_ecn_marked_pkts", "lifespan"),
)
IONIC = (
    *("tx_rdma_ucast_bytes", "tx_rdma_ucast_pkts", "tx_rdma_cnp_pkts", "rx_rdma_ucast_bytes", "rx_rdma_ucast_pkts"),
    *("rx_rdma_cnp_pkts", "rx_rdma_ecn_pkts", "req_rx_pkt_seq_err", "req_rx_rnr_retry_err", "req_rx_impl_nak_seq_err"),
    *("req_tx_retry_excd_err", "resp_rx_dup_request", "resp_rx_outof_buf", "resp_rx_outouf_seq"),
    *("tx_rdma_ack_timeout", "lifespan"),
)


def _sources(port: Sequence[str], hardware: Sequence[str]) -> tuple[str, ...]:
    places = {"statistics": STATISTICS, "counters": port, "hw_counters": hardware}
    return tuple(f"{place}/{name}" for place, found in places.items() for name in found)


# Marked as written by us: no dump of a real server of these vendors is at hand.
VENDORS = {
    "ConnectX-7": Vendor("mlx5_{i}", counters=_sources(PORT, MLX5)),
    "BlueField-3": Vendor("mlx5_{i}", counters=_sources(PORT, MLX5)),
    "Broadcom Thor": Vendor("bnxt_re{i}", counters=_sources(PORT, BNXT)),
    "AMD Pollara": Vendor("ionic_{i}", (V2,), _sources((), IONIC)),
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
    counters: dict[str, object] = field(default_factory=dict)

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
        nic = FakeNic(row["name"], vendor.rdma.format(i=number), mac, addresses, versions=vendor.versions)
        # No two the same, and none that a NIC could have by chance.
        nic.counters |= {source: 1000 * (number + 1) + index for index, source in enumerate(vendor.counters)}
        found.append(nic)
    return found


def write_sysfs(root: Path, nics: Sequence[FakeNic]) -> None:
    """Write the sysfs of a server below its root."""
    for nic in nics:
        interface, port = root / "sys/class/net" / nic.name, root / "sys/class/infiniband" / nic.rdma / "ports/1"
        _write(interface / "address", nic.mac)
        for source, value in nic.counters.items():
            if source.startswith("statistics/") or nic.rdma:
                _write((interface if source.startswith("statistics/") else port) / source, str(value))
        if not nic.rdma:
            continue
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
    """Return the oldest Python from 3.8 that this machine has, by the name on the path or of pyenv.

    Names tell versions: in processes that are forked for a test nothing is remembered, and all would be started there.
    """
    homes = ((path.name, str(path / "bin/python")) for path in Path.home().glob(".pyenv/versions/3.*"))
    names = ((f"3.{minor}", f"python3.{minor}") for minor in range(8, sys.version_info.minor))
    own = (f"3.{sys.version_info.minor}", sys.executable)
    found = ((re.match(r"3\.(\d+)", version), python) for version, python in (*homes, *names, own))
    ordered = sorted((int(match[1]), python) for match, python in found if match is not None and int(match[1]) >= 8)
    return next(python for minor, python in ordered if _version(python) == (3, minor))


def _version(python: str) -> tuple[int, int] | None:
    code = "import sys; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    major, minor = map(int, done.stdout.split())
    return major, minor


def run(
    root: Path, *words: str, python: str = "", given: str = "", prefix: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run the program as the server has it, a bare file, below a root; without anything of this project.

    `given` is its standard input; `prefix` are words before the command.
    """
    program = root / HOST_PROGRAM
    if not program.exists() or program.read_bytes() != host_program():
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_bytes(host_program())
    command = [*prefix, python or oldest_python(), "-I", str(program), "--root", str(root), *words]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, cwd="/", env=environment)
