"""The log of a device: its commits, its open sessions and its BGP sessions, in the order of their times.

Source: Juniper, System Log Explorer; log lines in the tests of napalm-logs.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import link_local
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.build import argument, element
from ailb_gen.emulator.operations.system import host_name

NAME = "messages"
# The processes that write, by their numbers.
MGD, RPD = 18000, 18100


class Entry(NamedTuple):
    """A line of the log: its time in seconds since 1970, the process, its number, the text."""

    when: float
    process: str
    number: int
    text: str


def log(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show log`: the names of the files, or `messages`. Raises RefusedError for another file."""
    name = argument(rpc, "filename")
    text = "".join(f"{line}\n" for line in messages(device))
    if not name:
        listed = f"-rw-r-----  1 root  wheel {len(text):>10} {_date(device.now())[:-3]} {NAME}"
        return element("output", text=f"\ntotal blocks: {-(-len(text) // 512)}\n{listed}\n")
    if name != NAME:
        raise refusal(f"could not resolve file: {name}", element=name)
    return element("output", text=f"\n{text}")


def messages(device: Device) -> Iterator[str]:
    """Iterate over the lines of the log, the oldest first."""
    host = host_name(device)
    for one in sorted(_entries(device), key=lambda entry: entry.when):
        yield f"{_date(one.when)}  {host} {one.process}[{one.number}]: {one.text}"


def _date(when: float) -> str:
    moment = datetime.fromtimestamp(int(when), UTC)
    return f"{moment:%b} {moment.day:>2} {moment:%H:%M:%S}"


def _entries(device: Device) -> Iterator[Entry]:
    for commit in device.commits():
        asked = "commit confirmed" if commit.comment.startswith("commit confirmed") else "commit"
        text = f"User '{commit.user}' requested '{asked}' operation (comment: {commit.log or 'none'})"
        yield Entry(commit.when, "mgd", MGD, f"UI_COMMIT: {text}")
        yield Entry(commit.when, "mgd", MGD, "UI_COMMIT_COMPLETED: commit complete")
    for one in device.sessions.values():
        who = f"User '{one.user}' login, class 'super-user' [{one.number}]"
        text = f"UI_LOGIN_EVENT: {who}, ssh-connection '', client-mode '{one.client}'"
        yield Entry(one.since, "mgd", one.number, text)
    for session in device.fabric.sessions(device.name):
        if session.established:
            peer = link_local(device.fabric, session.peer, session.peer_interface)
            change = "changed state from OpenConfirm to Established (event RecvKeepAlive) (instance master)"
            text = f"RPD_BGP_NEIGHBOR_STATE_CHANGED: BGP peer {peer} (External AS {session.peer_asn}) {change}"
            yield Entry(session.since or device.started, "rpd", RPD, text)
