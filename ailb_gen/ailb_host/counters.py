"""The counters of NICs and their RDMA devices under one name each: from sysfs, and from ethtool what sysfs lacks.

Vendors name the same thing differently. The names are those of Linux: Documentation/ABI/stable/sysfs-class-infiniband
and testing/sysfs-class-net-statistics; drivers/infiniband/hw/mlx5/counters.c and bnxt_re/hw_counters.c, to which
Broadcom gave the names of mlx5 in 2025; for ethtool mlx5/core/en_stats.c, bnxt_ethtool.c and ionic_stats.c. The names
of ionic's RDMA counters come from its firmware, and are listed in AMD's node-scraper.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from .files import HostError, PlannedNic, PlannedServer, names, read_text, whole
from .gids import DEVICES


def _hw(*counters: str) -> tuple[str, ...]:
    return tuple(f"hw_counters/{name}" for name in counters)


# What a counter means, and where it is found, the first that is there: in `counters` and `hw_counters` of the RDMA
# device's port, `statistics` of the interface, or the output of `ethtool -S`.
COUNTERS: dict[str, tuple[str, tuple[str, ...]]] = {
    # mlx5 counts nothing but RDMA in `counters` (mad.c, pma_cnt_ext_assign), and no RDMA in `statistics`.
    "rdma_tx_bytes": ("Bytes sent by RDMA", (*_hw("tx_bytes", "tx_rdma_ucast_bytes"), "counters/port_xmit_data")),
    "rdma_tx_packets": ("Packets sent by RDMA", (*_hw("tx_pkts", "tx_rdma_ucast_pkts"), "counters/port_xmit_packets")),
    "rdma_rx_bytes": ("Bytes received by RDMA", (*_hw("rx_bytes", "rx_rdma_ucast_bytes"), "counters/port_rcv_data")),
    "rdma_rx_packets": (
        "Packets received by RDMA",
        (*_hw("rx_pkts", "rx_rdma_ucast_pkts"), "counters/port_rcv_packets"),
    ),
    "net_tx_bytes": ("Bytes sent by the kernel", ("statistics/tx_bytes",)),
    "net_tx_packets": ("Packets sent by the kernel", ("statistics/tx_packets",)),
    "net_rx_bytes": ("Bytes received by the kernel", ("statistics/rx_bytes",)),
    "net_rx_packets": ("Packets received by the kernel", ("statistics/rx_packets",)),
    "cnp_sent": (
        "Congestion notifications sent",
        _hw("np_cnp_sent", "np_cnp_pkts", "tx_cnp_pkts", "tx_rdma_cnp_pkts"),
    ),
    "cnp_handled": (
        "Congestion notifications received and obeyed",
        _hw("rp_cnp_handled", "rx_cnp_pkts", "rx_rdma_cnp_pkts"),
    ),
    "cnp_ignored": ("Congestion notifications received and ignored", _hw("rp_cnp_ignored")),
    "ecn_marked": (
        "RDMA packets received with a congestion mark",
        _hw("np_ecn_marked_roce_packets", "rx_ecn_marked_pkts", "rx_rdma_ecn_pkts"),
    ),
    "out_of_order": (
        "RDMA packets received out of order",
        _hw("out_of_sequence", "oos_drop_count", "resp_rx_outouf_seq"),
    ),
    "duplicates": ("RDMA requests received again", _hw("duplicate_request", "dup_req", "resp_rx_dup_request")),
    "ack_timeouts": (
        "Retransmissions because no acknowledgment came",
        _hw("local_ack_timeout_err", "to_retransmits", "tx_rdma_ack_timeout"),
    ),
    "sequence_naks": (
        "Retransmissions because the receiver missed a packet",
        _hw("packet_seq_err", "seq_err_naks_rcvd", "req_rx_pkt_seq_err"),
    ),
    "implied_naks": (
        "Retransmissions because a response was missed",
        _hw("implied_nak_seq_err", "missing_resp", "req_rx_impl_nak_seq_err"),
    ),
    "rnr_naks": (
        "Retransmissions because the receiver was not ready",
        _hw("rnr_nak_retry_err", "rnr_naks_rcvd", "req_rx_rnr_retry_err"),
    ),
    "retries_exceeded": (
        "Queue pairs given up after too many retransmissions",
        _hw("req_transport_retries_exceeded", "max_retry_exceeded", "req_tx_retry_excd_err"),
    ),
    "out_of_buffer": (
        "RDMA packets dropped because no buffer was posted",
        _hw("out_of_buffer", "rx_out_of_buffer", "resp_rx_outof_buf"),
    ),
    "icrc_errors": ("RDMA packets received with a wrong checksum", _hw("rx_icrc_encapsulated")),
    "rdma_tx_discards": ("RDMA packets discarded before sending", _hw("tx_roce_discards")),
    "rdma_rx_discards": ("RDMA packets discarded on receipt", _hw("rx_roce_discards")),
    "port_tx_discards": ("Packets of all kinds that the port discarded before sending", ("ethtool/tx_discards_phy",)),
    "port_rx_discards": (
        "Packets of all kinds that the port discarded on receipt",
        ("ethtool/rx_discards_phy", "ethtool/frames_rx_dropped"),
    ),
    "net_tx_dropped": ("Packets of the kernel dropped before sending", ("statistics/tx_dropped",)),
    "net_rx_dropped": ("Packets for the kernel dropped on receipt", ("statistics/rx_dropped",)),
    "net_tx_errors": ("Errors of sending, as the interface has them", ("statistics/tx_errors",)),
    "net_rx_errors": ("Errors of receipt, as the interface has them", ("statistics/rx_errors",)),
    "tx_pauses": (
        "Pause frames sent",
        ("ethtool/tx_pause_ctrl_phy", "ethtool/tx_pfc_frames", "ethtool/frames_tx_pripause"),
    ),
    "rx_pauses": (
        "Pause frames received",
        ("ethtool/rx_pause_ctrl_phy", "ethtool/rx_pfc_frames", "ethtool/frames_rx_pripause"),
    ),
    **{
        f"{way}_pauses_{priority}": (
            f"Pause frames {done} for a priority",
            (f"ethtool/{way}_prio{priority}_pause", f"ethtool/{way}_pfc_ena_frames_pri{priority}"),
        )
        for way, done in (("tx", "sent"), ("rx", "received"))
        for priority in range(8)
    },
}
# Sources in words of four bytes.
WORDS = ("counters/port_xmit_data", "counters/port_rcv_data")
# mlx5 has these in 32 bits, and goes on at 0 (query_q_counter_out). All others have 64 bits.
WRAPPING = (
    *("out_of_order", "duplicates", "ack_timeouts", "sequence_naks", "implied_naks", "rnr_naks"),
    *("retries_exceeded", "out_of_buffer"),
)
# Port counters without the extension to 64 bits stop here; ionic reads as all ones when it has no value.
FULL = {"counters": 2**32 - 1}
NO_VALUE = 2**64 - 1
ETHTOOL = ("usr/sbin/ethtool", "sbin/ethtool")
ETHTOOL_S = 2.0


class CounterReading(NamedTuple):
    """The counters of all NICs, None where a NIC has none, and seconds of a clock that never jumps.

    `silent` names the NICs for which ethtool did not answer in time.
    """

    at: float
    nics: dict[str, dict[str, int | None]]
    silent: tuple[str, ...]


def find_ethtool(root: str) -> str:
    """Return the path of ethtool; empty when there is none."""
    paths = (os.path.join(root, path) for path in ETHTOOL)
    return next((path for path in paths if os.access(path, os.X_OK)), "")


def device_of(nic: PlannedNic, root: str) -> str | None:
    """Return the NIC's RDMA device with its first port, `mlx5_0:1`; None when there is no such device."""
    port = next((name for name in names(root, f"{DEVICES}/{nic.rdma}/ports") if name.isdecimal()), None)
    return None if port is None else f"{nic.rdma}:{port}"


def read(host: PlannedServer, root: str, ethtool: str) -> CounterReading:
    """Read the counters of all NICs; `ethtool` is the path of the program, or empty to do without."""
    answers = _ask(ethtool, [nic.name for nic in host.nics]) if ethtool else {}
    silent = tuple(nic for nic, answer in answers.items() if answer is None)
    at = time.monotonic()
    nics = {nic.name: _nic(nic, root, answers.get(nic.name) or {}) for nic in host.nics}
    return CounterReading(at, nics, silent)


def _nic(nic: PlannedNic, root: str, ethtool: dict[str, str]) -> dict[str, int | None]:
    device = device_of(nic, root)
    port = f"{DEVICES}/{device.replace(':', '/ports/')}" if device else None

    def value(source: str) -> int | None:
        place, _, name = source.partition("/")
        if place == "ethtool":
            text = ethtool.get(name)
        else:
            path = f"sys/class/net/{nic.name}" if place == "statistics" else port
            text = read_text(root, f"{path}/{source}") if path else None
        count = whole(text)
        if count is None or count == FULL.get(place, NO_VALUE):
            return None
        return count * 4 if source in WORDS else count

    found = {name: (value(source) for source in sources) for name, (_, sources) in COUNTERS.items()}
    return {name: next((one for one in values if one is not None), None) for name, values in found.items()}


def _ask(program: str, nics: list[str]) -> dict[str, dict[str, str] | None]:
    """Return the output of `ethtool -S` by NIC and name; None for a NIC that does not answer in time."""
    answers: dict[str, dict[str, str] | None] = dict.fromkeys(nics)
    running: dict[str, subprocess.Popen[bytes]] = {}
    quiet = subprocess.DEVNULL
    deadline = time.monotonic() + ETHTOOL_S
    try:
        for nic in nics:
            running[nic] = subprocess.Popen([program, "-S", nic], stdin=quiet, stdout=subprocess.PIPE, stderr=quiet)
        for nic, process in running.items():
            # Those behind one that hangs have answered meanwhile, and are read at once.
            with suppress(subprocess.TimeoutExpired):
                output, _ = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
                answers[nic] = dict(_pairs(output.decode(errors="replace")))
    except OSError as error:
        raise HostError(f"{program}: {error.strerror}; repair or remove it") from error
    finally:
        for process in running.values():
            # Not waited for: a program inside a driver that hangs does not end.
            if process.poll() is None:
                process.kill()
    return answers


def _pairs(output: str) -> Iterator[tuple[str, str]]:
    """Iterate over lines as `     rx_prio3_pause: 127`."""
    for line in output.splitlines():
        name, _, value = line.partition(":")
        yield name.strip(), value.strip()


def rates(before: CounterReading, after: CounterReading) -> dict[str, dict[str, float | None]]:
    """Return what every NIC counted per second between two readings; None without an answer.

    A counter of 64 bits that is less than before says that the NIC's counters started again at 0: then no number of
    the NIC means anything.
    """
    seconds = after.at - before.at
    result: dict[str, dict[str, float | None]] = {}
    for nic, totals in after.nics.items():
        grown = {name: _grown(name, before.nics[nic][name], total) for name, total in totals.items()}
        reset = any(growth is not None and growth < 0 for growth in grown.values())
        result[nic] = {
            name: None if reset or growth is None else round(growth / seconds, 3) for name, growth in grown.items()
        }
    return result


def _grown(name: str, before: int | None, after: int | None) -> int | None:
    if before is None or after is None:
        return None
    # More than half of the range in one interval: rather a new start than a wrap.
    if name in WRAPPING and after < before < 2**32 and after + 2**32 - before < 2**31:
        return after + 2**32 - before
    return after - before
