"""Kinds of damage to the files of examples/lab, each with the checks of a lab that must find it."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.checks.trees import GOLDEN

LEAF, SPINE = "switches/stripe1-leaf1.conf", "switches/spine2.conf"
NETPLAN = "profiles/stripe1/etc/netplan/60-ailb-gpu.yaml"


@dataclass(frozen=True, slots=True)
class Damage:
    """A damage: a pattern in a file, what takes its place (everywhere, or once), and who must find it."""

    name: str
    file: str
    pattern: str
    new: str
    found_by: frozenset[str]
    count: int = 1


def _row(name: str, file: str, pattern: str, new: str, found_by: str, count: int = 1) -> Damage:
    return Damage(name, file, pattern, new, frozenset(f"AILBL{word}" for word in found_by.split()), count)


DAMAGES = (
    _row("wrong color", LEAF, r"fabric-color green;", "fabric-color blue;", "07 08"),
    _row("wrong AS", SPINE, r"local-as 65002;", "local-as 65009;", "06"),
    _row("missing backup", LEAF, r"(color green;)\s+backup-color all-colors;", r"\1", "07 31"),
    _row("missing no-valley term", LEAF, r"(term no-valley \{[^}]*\}\s*then) reject;", r"\1 accept;", "10"),
    _row("wrong gateway", NETPLAN, r'via: "fc00:1:1:2::1"', 'via: "fc00:1:1:2::2"', "05 09"),
    _row("RA prefix missing", LEAF, r"\n *prefix fc00:1:1:3::/64;", "", "03 04"),
    _row("RA off on an uplink", LEAF, r"(router-advertisement \{.*?)interface et-0/0/2.0 \{[^}]*\}", r"\1", "03 06"),
    _row("multipath missing", LEAF, r"\n *multipath \{[^}]*\}", "", "14 31", 0),
    _row("small MTU on a spine", SPINE, r"mtu 9216;", "mtu 1600;", "11 12", 0),
    _row("one end's MTU off by one", LEAF, r"mtu 9216;", "mtu 9215;", "11"),
    _row("small MTU of the servers", NETPLAN, r"mtu: 9000", "mtu: 1500", "11", 0),
    _row("large MTU of a NIC", NETPLAN, r"mtu: 9000", "mtu: 9500", "11 12"),
    _row("BFD missing in a group", LEAF, r"\n *bfd-liveness-detection \{[^}]*\}", "", "13"),
    _row("slow BFD at one end", SPINE, r"minimum-interval 300;", "minimum-interval 900;", "13"),
    _row("multipath missing in one group", LEAF, r"\n *multipath \{[^}]*\}", "", "14"),
    _row("wrong table", NETPLAN, r'(from: "fc00:1:1:2::/64"\s+table:) 10001', r"\1 10003", "05 09"),
    _row("AIGP missing", LEAF, r"unicast \{\s*aigp;\s*\}", "unicast;", "07 08", 0),
)
# The same two in what servers without netplan run.
SCRIPT = "profiles/stripe1/usr/local/sbin/ailb-net"
SCRIPT_DAMAGES = (
    _row("wrong gateway in the script", SCRIPT, r"fc00:1:1:2::1\n", "fc00:1:1:2::2\n", "05 09"),
    _row("wrong table in the script", SCRIPT, r"10001 gpu0_subnet2", "10009 gpu0_subnet2", "05"),
)


def seen_by_a_lab() -> tuple[Damage, ...]:
    """Return those that kernels and daemons decide about.

    What becomes of routes and sessions is computed: in labs of random damaged files BIRD does the same.
    """
    routed = {"AILBL06", "AILBL07", "AILBL08", "AILBL14", "AILBL31"}
    return (*(one for one in DAMAGES if not one.found_by <= routed), *SCRIPT_DAMAGES)


def damaged(damage: Damage, folder: Path) -> Path:
    """Return a copy of the lab's files with the damage done."""
    out = folder / "damaged"
    shutil.copytree(GOLDEN / "lab", out, symlinks=True)
    path = out / damage.file
    text, count = re.subn(damage.pattern, damage.new, path.read_text(), count=damage.count, flags=re.DOTALL)
    assert count, f"{damage.name}: {damage.pattern!r} is not in {damage.file}"
    path.write_text(text)
    return out
