"""What is read once is what would be read every time."""

from __future__ import annotations

from pathlib import Path

import pytest

import ailb_gen.hosts.read
import ailb_gen.network.read
from ailb_gen.network.fabric import Network
from tests.mutations.score import GOLDEN
from tests.mutations.tree import Changes, Folder, Link, WithMode, copy_with
from tests.mutations.unchanged import reading_once

LEAF, SPINE = "switches/stripe1-leaf1.conf", "switches/spine1.conf"
PROFILE = "profiles/stripe1"
SYSCTL, SCRIPT = f"{PROFILE}/etc/sysctl.d/99-accept-ra.conf", f"{PROFILE}/usr/local/sbin/ailb-net"


def network(root: Path) -> Network:
    return ailb_gen.network.read.read_network(root, lambda written, tree: None).network


@pytest.mark.parametrize(
    "changes",
    [
        {LEAF: (GOLDEN / "lab" / LEAF).read_bytes().replace(b"mtu 9", b"mtu 4")},
        {LEAF: b"", SPINE: None},
        {LEAF: Link("spine1.conf")},
        {LEAF: Folder()},
        {"switches/other.conf": (GOLDEN / "lab" / SPINE).read_bytes()},
        {SYSCTL: b"net.ipv6.conf.all.accept_ra = 7\n"},
        {SYSCTL: None},
        {SYSCTL: Link("/etc/hostname")},
        {f"{PROFILE}/etc/netplan/99-other.yaml": b"network: {ethernets: {gpu0_eth: {mtu: 1500}}}\n"},
        {SYSCTL: Folder()},
        {SCRIPT: WithMode((GOLDEN / "lab" / SCRIPT).read_bytes(), 0o644)},
    ],
    ids=[
        *("edited", "empty and missing", "link", "folder", "added"),
        *("server edited", "server missing", "server link", "server added", "server folder", "server mode"),
    ],
)
def test_what_has_changed_is_read_again(changes: Changes, tmp_path: Path) -> None:
    copy_with(GOLDEN / "lab", changes, tmp_path / "out")
    with reading_once(GOLDEN / "lab"):
        once = network(tmp_path / "out")
    every_time, clean = network(tmp_path / "out"), network(GOLDEN / "lab")
    assert once == every_time
    assert once != clean


def test_what_has_not_changed_is_the_same_object(tmp_path: Path) -> None:
    def inspect(*_: object) -> None:
        pass

    copy_with(GOLDEN / "lab", {LEAF: b"system { host-name x; }\n"}, tmp_path / "out")
    with reading_once(GOLDEN / "lab"):
        clean, changed = (
            ailb_gen.network.read.read_network(root, inspect).network for root in (GOLDEN / "lab", tmp_path / "out")
        )
    assert changed.switches["spine1"] is clean.switches["spine1"]
    assert changed.switches["stripe1-leaf1"] != clean.switches["stripe1-leaf1"]
    assert changed.hosts["gpu-s1-1"].profile is clean.hosts["gpu-s1-1"].profile
