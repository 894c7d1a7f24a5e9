"""A fabric for `ailb-host ping`: servers of the lab's stripes, a leaf per stripe, and a spine per color, in namespaces.

Call everything here in `tests.lab.isolated.isolated`: it makes namespaces that end with it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any

from ailb_gen.addresses import eui64
from ailb_gen.lab.namespaces import add, batch, inside, write_sysctl
from ailb_gen.layout import HOST_FILE
from tests.ailb_host import servers
from tests.golden_trees import GOLDEN

PROFILES = GOLDEN / "lab" / "profiles"
COLORS = ("green", "blue", "red", "orange")
# Servers by name: their stripe.
SERVERS = {"a": 1, "b": 2, "c": 1}
# Addresses of spines, toward leaf 1 and leaf 2: errors come from the one toward who gets them.
SWITCHES = {
    **{f"fc00:f{color}:{leaf}::2": f"spine{color}" for color in (1, 2, 3, 4) for leaf in (1, 2)},
    **{f"fc00:1:{rail}:{color}::1": "leaf1" for rail in (1, 2) for color in (1, 2, 3, 4)},
    **{f"fc00:f{color}:2::1": "leaf2" for color in (1, 2, 3, 4)},
}
SPINES = {color: [f"spine{number}"] for number, color in enumerate(COLORS, 1)}


def planned(root: Path) -> list[dict[str, Any]]:
    """Return the NICs of a server's host.json."""
    nics: list[dict[str, Any]] = json.loads((root / HOST_FILE).read_text("utf-8"))["nics"]
    return nics


def addresses(root: Path) -> list[dict[str, Any]]:
    """Return the addresses that the server should print: one per NIC and color."""
    nics = servers.nics_of(root)
    macs = {nic.name: (root / "sys/class/net" / nic.name / "address").read_text("utf-8").strip() for nic in nics}
    return [
        {"nic": nic["name"], "rail": nic["rail"], "color": color["name"], "address": address(color, macs[nic["name"]])}
        for nic in planned(root)
        for color in nic["colors"]
    ]


def address(color: dict[str, Any], mac: str) -> str:
    """Return the address of a MAC in the prefix of a color."""
    return str(IPv6Network(color["prefix"])[eui64(mac)])


def build(directory: Path) -> dict[str, Path]:
    """Make the fabric; return the root directories of its servers."""
    spines = [f"spine{number}" for number in range(1, 5)]
    add((*SERVERS, "leaf1", "leaf2", *spines))
    for name in (*SERVERS, "leaf1", "leaf2", *spines):
        write_sysctl(name, {f"net.ipv6.conf.{which}.accept_dad": 0 for which in ("all", "default")})
    for name in ("leaf1", "leaf2", *spines):
        write_sysctl(name, {"net.ipv6.conf.all.forwarding": 1})
    roots = {name: _root(directory, name, stripe) for name, stripe in SERVERS.items()}
    for stripe in (1, 2):
        _leaf(stripe, planned(roots["ab"[stripe - 1]]))
    for name, stripe in SERVERS.items():
        _server(name, f"leaf{stripe}", roots[name])
    return roots


def _root(directory: Path, name: str, stripe: int) -> Path:
    root = directory / name
    shutil.copytree(PROFILES / f"stripe{stripe}", root)
    (root / "proc").symlink_to("/proc")
    nics = servers.nics_of(root)
    for number, nic in enumerate(nics):
        nic.mac = f"02:00:00:00:{ord(name):02x}:{number:02x}"
    servers.write_sysfs(root, nics)
    return root


def _leaf(stripe: int, nics: Sequence[dict[str, Any]]) -> None:
    leaf, other = f"leaf{stripe}", 3 - stripe
    for rail, nic in enumerate(nics):
        lines = [f"link add irb{rail} type bridge mcast_snooping 0", f"link set irb{rail} mtu {nic['mtu']} up"]
        batch([*lines, *(f"addr add {color['gateway']}/64 dev irb{rail}" for color in nic["colors"])], leaf)
    for number in range(1, 5):
        here, there = f"fc00:f{number}:{stripe}::1", f"fc00:f{number}:{stripe}::2"
        batch([f"link add spine{number} netns {leaf} type veth peer name {leaf} netns spine{number}"])
        routes = [f"fc00:{other}:{rail}:{number}::/64" for rail in (1, 2)]
        lines = [f"addr add {here}/64 dev spine{number}", f"link set spine{number} up"]
        batch([*lines, *(f"route add {one} via {there}" for one in routes)], leaf, "-6")
        back = [f"route add fc00:{stripe}:{rail}:{color}::/64 via {here}" for rail in (1, 2) for color in range(1, 5)]
        batch([f"addr add {there}/64 dev {leaf}", f"link set {leaf} up", *back], f"spine{number}", "-6")


def _server(name: str, leaf: str, root: Path) -> None:
    for rail, nic in enumerate(planned(root)):
        own, link = nic["name"], f"{name}{rail}"
        mac = (root / "sys/class/net" / own / "address").read_text("utf-8").strip()
        batch([f"link add {own} address {mac} netns {name} type veth peer name {link} netns {leaf}"])
        batch([f"link set {link} master irb{rail} up"], leaf)
        lines = [f"link set {own} up"]
        for color in nic["colors"]:
            prefix, table = color["prefix"], color["table"]
            lines += [f"addr add {address(color, mac)}/64 dev {own} noprefixroute"]
            lines += [f"route add {prefix} dev {own} table {table}", f"rule add from {prefix} lookup {table}"]
            lines += [f"route add default via {color['gateway']} dev {own} table {table}"]
        batch(lines, name, "-6")


def run(name: str, root: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run `ailb-host` on a server, with text on its standard input."""
    with inside(name):
        return servers.run(root, *words, given=given)


def peers(roots: dict[str, Path]) -> str:
    """Return the peers file: what `addresses --json` prints on every server, with the server's name in the test."""
    texts = []
    for name, root in roots.items():
        printed = json.loads(run(name, root, "addresses", "--json").stdout)
        texts.append(json.dumps({**printed, "server": name}, indent=1))
    return "\n".join([*texts, json.dumps({"switches": SWITCHES, "spines": SPINES})])
