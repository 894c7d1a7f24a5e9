"""Processes of the routing engine, and its log: `show system processes`, `show log`, `clear`, `monitor`, `restart`.

The processes of the system are constant, those of sessions are the open ones. The log has the commits, the open
sessions and the BGP sessions, in the order of their times. Source: replies of Junos OS Evolved in the tests of
ntc-templates, of Junos in those of genieparser; Juniper, System Log Explorer; log lines in the tests of napalm-logs.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from operator import itemgetter

from lxml import etree

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric_state import link_local
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.bgp import chosen
from ailb_gen.emulator.operations.build import DAY, HOUR, MINUTE, argument, flag, output
from ailb_gen.emulator.operations.ports import port_up, shown_ports

MEMORY_MIB, USED_PERCENT = 32768, 15
# The processes that write to the log, by their numbers.
MGD, RPD = 18000, 18100
# Processes of the system by their numbers.
PROCESSES = {1: "/sbin/init", 9000: "/usr/sbin/sshd -D", MGD: "/usr/sbin/mgd -N", RPD: "/usr/sbin/rpd -N"}
RULE = "-" * 31
LOG = "messages"


def processes(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show system processes`: a list, with `brief` the summary only, with more words both."""
    rows = [RULE, "node: re0", RULE]
    if flag(rpc, "brief", "summary", "detail", "extensive"):
        rows += _summary(device)
    if not flag(rpc, "brief", "summary"):
        rows += _list(device)
    return output(rows)


def _running(device: EmulatedDevice) -> dict[int, str]:
    open_now = {number: "-cli" if one.client == "cli" else "mgd: (netconf)" for number, one in device.sessions.items()}
    return dict(sorted({**PROCESSES, **open_now}.items()))


def _summary(device: EmulatedDevice) -> Iterator[str]:
    up, now = int(device.up_s), datetime.fromtimestamp(device.now(), UTC)
    days = f"{up // DAY} days, " if up >= DAY else ""
    used = MEMORY_MIB * USED_PERCENT / 100
    count, people = len(_running(device)), len(device.sessions)
    yield (
        f"top - {now:%H:%M:%S} up {days}{up % DAY // HOUR:>2}:{up % HOUR // MINUTE:02},"
        f"  {people} user{'' if people == 1 else 's'},  load average: 0.10, 0.10, 0.10"
    )
    yield f"Tasks: {count:>3} total,   1 running, {count - 1:>3} sleeping,   0 stopped,   0 zombie"
    yield "%Cpu(s):  2.0 us,  1.0 sy,  0.0 ni, 97.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st"
    free = MEMORY_MIB - used
    yield f"MiB Mem : {MEMORY_MIB:>8.1f} total, {free:>8.1f} free, {used:>8.1f} used, {0:>8.1f} buff/cache"
    yield f"MiB Swap: {0:>8.1f} total, {0:>8.1f} free, {0:>8.1f} used. {free:>8.1f} avail Mem"


def _list(device: EmulatedDevice) -> Iterator[str]:
    yield "    PID TTY      STAT   TIME COMMAND"
    for number, command in _running(device).items():
        yield f"{number:>7} {'pts/0' if command == '-cli' else '?':<8} Ss     0:00 {command}"


def clear_sessions(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `clear bgp neighbor`: of one neighbor, or all; softly, no session goes down. Raises RpcRefusedError."""
    address = argument(rpc, "neighbor")
    sessions = list(chosen(device, "" if address == "all" else address))
    if address and not sessions:
        raise refusal(f"no BGP neighbor {address}", element=address)
    if sessions and not flag(rpc, "soft", "soft-inbound"):
        device.reset_sessions(*(session.interface for session in sessions))
    return output([f"Cleared {len(sessions)} connections"])


def traffic(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `monitor interface traffic` with one screen: the counters of every port now."""
    rows = [
        f"{device.host_name:<32} Seconds: 0",
        "Interface    Link  Input packets        (pps)     Output packets        (pps)",
    ]
    for port in shown_ports(device.switch):
        link, counted = "Up" if port_up(device, port) else "Down", device.counters(port.name)
        packets = f"{counted.input_packets:>15} {'(0)':>12} {counted.output_packets:>16} {'(0)':>12}"
        rows.append(f"{port.name:<12} {link:>4}{packets}")
    return output(rows)


def restart(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `restart`: routing starts again, and with it all BGP sessions.

    Raises RpcRefusedError for another process.
    """
    name = argument(rpc, "process")
    if name != "routing":
        raise refusal(f"this emulator restarts 'routing' only, not {name or 'nothing'}", element=name or "restart")
    device.reset_sessions()
    return output([f"Routing protocols process started, pid {RPD}"])


def log(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show log`: the names of the files, or `messages`. Raises RpcRefusedError for another file."""
    name, host = argument(rpc, "filename"), device.host_name
    rows = [f"{_date(when)}  {host} {text}" for when, text in sorted(_entries(device), key=itemgetter(0))]
    if not name:
        size = sum(len(row) + 1 for row in rows)
        listed = f"-rw-r-----  1 root  wheel {size:>10} {_date(device.now())[:-3]} {LOG}"
        return output([f"total blocks: {-(-size // 512)}", listed])
    if name != LOG:
        raise refusal(f"could not resolve file: {name}", element=name)
    return output(rows)


def _date(when: float) -> str:
    moment = datetime.fromtimestamp(int(when), UTC)
    return f"{moment:%b} {moment.day:>2} {moment:%H:%M:%S}"


def _entries(device: EmulatedDevice) -> Iterator[tuple[float, str]]:
    """Iterate over (seconds since 1970, process and text) of what the log has."""
    for commit in device.commits():
        requested = "commit confirmed" if commit.comment.startswith("commit confirmed") else "commit"
        text = f"User '{commit.user}' requested '{requested}' operation (comment: {commit.log or 'none'})"
        yield commit.when, f"mgd[{MGD}]: UI_COMMIT: {text}"
        yield commit.when, f"mgd[{MGD}]: UI_COMMIT_COMPLETED: commit complete"
    for one in device.sessions.values():
        who = f"User '{one.user}' login, class 'super-user' [{one.number}]"
        text = f"UI_LOGIN_EVENT: {who}, ssh-connection '', client-mode '{one.client}'"
        yield one.since, f"mgd[{one.number}]: {text}"
    for session in device.fabric.sessions(device.name):
        if session.established:
            peer = link_local(device.fabric, session.peer, session.peer_interface)
            change = "changed state from OpenConfirm to Established (event RecvKeepAlive) (instance master)"
            text = f"RPD_BGP_NEIGHBOR_STATE_CHANGED: BGP peer {peer} (External AS {session.peer_asn}) {change}"
            yield session.since or device.started, f"rpd[{RPD}]: {text}"
