"""The lab fabric of the golden files as emulated devices, and a PyEZ device that asks them without a network."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from lxml import etree

from ailb_gen.emulator.config_database import UserSession
from ailb_gen.emulator.device import MODEL, NATIVE_BPS, VERSION, EmulatedDevice
from ailb_gen.emulator.disk import CommitRecord
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.operations import as_text, reply_of
from ailb_gen.emulator.operations.bgp import peer_address
from ailb_gen.emulator.operations.commands import rpc_of
from ailb_gen.emulator.software import Software
from ailb_gen.junos.reader import read
from tests.network.lab import LAB, TEXTS

if TYPE_CHECKING:
    from ailb_gen.junos.tree import Node

STARTED, NOW = 1_000_000.0, 1_095_000.0
LEAF, SPINE = "stripe1-leaf1", "spine1"
HISTORY = (
    CommitRecord(
        0, "admin", "netconf", STARTED + 900, "commit confirmed, rollback in 2mins", "wave 1", "re0-1000900-2"
    ),
    CommitRecord(1, "root", "cli", STARTED + 60, "", "", "re0-1000060-1"),
)


@cache
def text_of(name: str) -> str:
    return TEXTS[f"switches/{name}.conf"]


def tree_of(name: str, old: str = "", new: str = "") -> Node:
    """Return the tree of a device, with something in its text replaced."""
    text = text_of(name)
    assert old in text, f"{old!r} is not in {name}"
    return read(text.replace(old, new) if old else text, name)


NAMES = tuple(sorted(path.stem for path in (LAB / "switches").iterdir()))


def lab(**options: Any) -> EmulatedFabric:
    """Return the lab with every device in it."""
    fabric = EmulatedFabric.read(LAB, **options)
    for name in NAMES:
        fabric.commit(name, tree_of(name))
    return fabric


class Fake(EmulatedDevice):
    """A device that only answers operational commands, at a fixed time."""

    def __init__(
        self,
        name: str,
        fabric: EmulatedFabric,
        alarming: tuple[str, ...] = (),
        history: tuple[CommitRecord, ...] = HISTORY,
    ) -> None:
        self.name, self.fabric, self.emulated = name, fabric, fabric
        self.started, self.model, self.serial = STARTED, MODEL, "YX0123456789"
        self.software = Software(VERSION, STARTED)
        self.sessions = {1: UserSession(1, "admin", STARTED + 60, "cli")}
        self.alarming, self.history = alarming, history
        self.native_bps, self._kept_down, self._cleared = NATIVE_BPS, "", {}
        self._cleared_queues = {}

    def now(self) -> float:
        return NOW

    def commits(self) -> tuple[CommitRecord, ...]:
        return self.history

    def committed(self) -> Node:
        return tree_of(self.name)

    def alarms(self) -> tuple[str, ...]:
        return self.alarming

    def other(self, name: str) -> Fake:
        return Fake(name, self.emulated)


class Configured(Fake):
    """A device with another configuration than in the golden files."""

    def __init__(self, name: str, fabric: EmulatedFabric, tree: Node) -> None:
        super().__init__(name, fabric)
        self.tree = tree

    def committed(self) -> Node:
        return self.tree


FILTER = """\
firewall { family inet6 { filter PROTECT {
    term ssh { from { next-header tcp; } then { count ssh-in; policer SLOW; accept; } }
    term rest { then { count rest; discard; } }
} } policer SLOW { if-exceeding { bandwidth-limit 1m; burst-size-limit 15k; } then discard; } }
"""


def filtering() -> Configured:
    """Return a leaf with a filter."""
    return Configured(LEAF, lab(), tree_of(LEAF, "forwarding-options {", f"{FILTER}forwarding-options {{"))


def command(device: Fake, text: str, form: str = "text") -> etree._Element:
    """Run a command: its reply, or that as text."""
    rpc = rpc_of(text)
    reply = reply_of(device, rpc)
    return reply if form == "xml" else as_text(rpc, reply)


def ask(device: Fake, tag: str, *flags: str, **arguments: str) -> etree._Element:
    """Send an rpc; underscores in names stand for hyphens."""
    rpc = etree.Element(tag)
    for name, text in (*((flag, "") for flag in flags), *arguments.items()):
        etree.SubElement(rpc, name.replace("_", "-")).text = text
    return reply_of(device, rpc)


def say(device: Fake, text: str) -> list[str]:
    """Type a command; returns the lines that it shows."""
    shown = command(device, text).text or ""
    assert shown.startswith("\n")
    return shown.split("\n")[1:-1]


def address(device: EmulatedDevice, index: int) -> str:
    """Return the address of a neighbor, with its interface."""
    return peer_address(device.fabric, device.fabric.sessions(device.name)[index])


def plain(reply: etree._Element) -> etree._Element:
    """Take the namespaces out of attributes, as ncclient does for Junos."""
    for node in reply.iter(etree.Element):
        for name, value in list(node.attrib.items()):
            if str(name).startswith("{"):
                del node.attrib[name]
                node.set(str(name).partition("}")[2], str(value))
    return reply
