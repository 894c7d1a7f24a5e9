"""Processes of the routing engine, and what routing has queued for the kernel: `show system processes`, `show krt`.

The processes of the system are constant, those of sessions are the open ones. Nothing is ever queued or policed.
Source: replies of Junos OS Evolved in the tests of ntc-templates, of Junos in those of genieparser.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.bgp import chosen
from ailb_gen.emulator.operations.build import DAY, HOUR, MINUTE, argument, element, flag
from ailb_gen.emulator.operations.logs import MGD, RPD
from ailb_gen.emulator.operations.ports import port_up, shown_ports
from ailb_gen.emulator.operations.system import LOADS, MEMORY_MB, USED_PERCENT, host_name

# Processes of the system by their numbers.
PROCESSES = {1: "/sbin/init", 9000: "/usr/sbin/sshd -D", MGD: "/usr/sbin/mgd -N", RPD: "/usr/sbin/rpd -N"}
RULE = "-" * 31
QUEUES = (
    "Routing table add queue", "Interface add/delete/change queue", "Top-priority deletion queue",
    "Top-priority change queue", "Top-priority add queue", "high priority V4oV6 tcnh delete queue",
    "high prioriy anchor gencfg delete queue", "High-priority multicast add/change",
    "Indirect next hop top priority add/change", "Indirect next hop add/change",
    "high prioriy anchor gencfg add-change queue", "MPLS add queue", "Indirect next hop delete",
    "High-priority deletion queue", "MPLS change queue", "High-priority change queue", "High-priority add queue",
    "Normal-priority indirect next hop queue", "Normal-priority deletion queue",
    "Normal-priority composite next hop deletion queue", "Low prioriy Statistics-id-group deletion queue",
    "Normal-priority change queue", "Normal-priority add queue", "Least-priority delete queue",
    "Least-priority change queue", "Least-priority add queue", "Normal-priority pfe table nexthop queue",
    "EVPN gencfg queue", "Normal-priority gmp queue", "Routing table delete queue", "Low priority route retry queue",
)  # fmt: skip
KRT_STATE = """\
General state:
	Install job is not running
	Number of operations queued: 0
		Routing table adds: 0
		Interface routes: 0
		High pri multicast   Adds/Changes: 0
		Indirect Next Hop    Adds/Changes: 0       Deletes: 0
		MPLS        Adds: 0       Changes: 0
		High pri    Adds: 0       Changes: 0       Deletes: 0
		Normal pri Indirects: 0
		Normal pri  Adds: 0       Changes: 0       Deletes: 0
		GMP GENCFG Objects: 0
		Routing Table deletes: 0
	Number of operations deferred: 0
	Number of operations canceled: 0
	Number of async queue entries: 0
	Number of async non queue entries: 0
	Time until next queue run: 0
	Routes learned from kernel: 0

Routing socket lossage:
	Time until next scan: 0
"""
DDOS = """\
DDOS protection global statistics:
    Policing on routing engine:         Yes
    Policing on FPC:                    Yes
    Flow detection:                     No
    Logging:                            Yes
    Policer violation report rate:      100
    Flow report rate:                   100
    Currently violated packet types:    0
    Packet types have seen violations:  0
    Total violation counts:             0
    Currently tracked flows:            0
    Total detected flows:               0
"""


def processes(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system processes`: a list, with `brief` the summary only, with more words both."""
    rows = [RULE, "node: re0", RULE]
    if flag(rpc, "brief", "summary", "detail", "extensive"):
        rows += _summary(device)
    if not flag(rpc, "brief", "summary"):
        rows += _list(device)
    return element("output", text="\n" + "".join(f"{row}\n" for row in rows))


def _running(device: Device) -> dict[int, str]:
    open_now = {number: "-cli" if one.client == "cli" else "mgd: (netconf)" for number, one in device.sessions.items()}
    return dict(sorted({**PROCESSES, **open_now}.items()))


def _summary(device: Device) -> Iterator[str]:
    up, now = int(device.now() - device.started), datetime.fromtimestamp(device.now(), UTC)
    days = f"{up // DAY} days, " if up >= DAY else ""
    used = MEMORY_MB * USED_PERCENT / 100
    count, people = len(_running(device)), len(device.sessions)
    yield (
        f"top - {now:%H:%M:%S} up {days}{up % DAY // HOUR:>2}:{up % HOUR // MINUTE:02},"
        f"  {people} user{'' if people == 1 else 's'},  load average: {', '.join(LOADS)}"
    )
    yield f"Tasks: {count:>3} total,   1 running, {count - 1:>3} sleeping,   0 stopped,   0 zombie"
    yield "%Cpu(s):  2.0 us,  1.0 sy,  0.0 ni, 97.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st"
    yield f"MiB Mem : {MEMORY_MB:>8.1f} total, {MEMORY_MB - used:>8.1f} free, {used:>8.1f} used, {0:>8.1f} buff/cache"
    yield f"MiB Swap: {0:>8.1f} total, {0:>8.1f} free, {0:>8.1f} used. {MEMORY_MB - used:>8.1f} avail Mem"


def _list(device: Device) -> Iterator[str]:
    yield "    PID TTY      STAT   TIME COMMAND"
    for number, command in _running(device).items():
        yield f"{number:>7} {'pts/0' if command == '-cli' else '?':<8} Ss     0:00 {command}"


def krt_queue(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show krt queue`: nothing is queued."""
    return element("output", text="\n" + "".join(f"{name}: 0 queued\n" for name in QUEUES))


def krt_state(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show krt state`: nothing is queued."""
    return element("output", text=f"\n{KRT_STATE}")


def ddos(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show ddos-protection statistics`: no packet was policed."""
    return element("output", text=f"\n{DDOS}")


def clear_sessions(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `clear bgp neighbor`: of one neighbor, or all; softly, no session goes down. Raises RefusedError."""
    address = argument(rpc, "neighbor")
    found = list(chosen(device, "" if address == "all" else address))
    if address and not found:
        raise refusal(f"no BGP neighbor {address}", element=address)
    if found and not flag(rpc, "soft", "soft-inbound"):
        device.reset_sessions(*(one.interface for one in found))
    return element("output", text=f"\nCleared {len(found)} connections\n")


def traffic(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `monitor interface traffic` with one screen: the counters of every port now."""
    rows = [
        f"{host_name(device):<32} Seconds: 0",
        "Interface    Link  Input packets        (pps)     Output packets        (pps)",
    ]
    for port in shown_ports(device.fabric.switch(device.name)):
        link, found = "Up" if port_up(device, port) else "Down", device.counters(port.name)
        ways = f"{found.input_packets:>15} {'(0)':>12} {found.output_packets:>16} {'(0)':>12}"
        rows.append(f"{port.name:<12} {link:>4}{ways}")
    return element("output", text="\n" + "".join(f"{row}\n" for row in rows))


def restart(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `restart`: routing starts again, and with it all BGP sessions. Raises RefusedError for another process."""
    name = argument(rpc, "process")
    if name != "routing":
        raise refusal(f"this emulator restarts 'routing' only, not {name or 'nothing'}", element=name or "restart")
    device.reset_sessions()
    return element("output", text=f"\nRouting protocols process started, pid {RPD}\n")
