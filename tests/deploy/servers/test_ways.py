"""Ways in which a server goes wrong: each is told in one line with its repair, and a right server is silent.

A host in namespaces, verified over SSH. What no namespace has, RDMA devices and the settings of NICs, is a sysfs and
programs of ours (tests/ailb_host/servers.py, tests/render/nic_tools.py) that the host sees as its own.
Right servers under netplan with systemd-networkd, and under `ailb-net` alone, are silent: test_script_systemd.py,
tests/lab/servers/test_ssh.py and test_boot.py.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.addresses import eui64, prefix_value
from ailb_gen.checks.context import Context
from ailb_gen.deploy.servers.addresses import Advertised
from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.files import Tree
from ailb_gen.deploy.servers.observed import observe
from ailb_gen.deploy.servers.script import apply, confirm
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.servers.verify import compare_all
from ailb_gen.hosts.read import read_hosts
from ailb_gen.layout import ENVIRONMENT, HOST_FILE, HOST_PROGRAM, NETPLAN, PROFILES, QOS, SYSCTL
from tests.ailb_host.servers import V1, FakeNic, write_sysfs
from tests.checks.trees import GOLDEN, fabric_of, findings, network_of, run_family
from tests.deploy.servers.sandbox import Host, run
from tests.deploy.servers.test_jobs import LIBRARY, built
from tests.render import nic_tools
from tests.render.test_qos import Server

NIC, PREFIX = "gpu0_eth", "fc00:1:1:2::/64"
OWN = "fc00:1:1:2:a288:c2ff:fe3b:1"
UNITS = "etc/systemd/system/multi-user.target.wants/ailb-net.service"
# How a server says it itself.
PROGRAMS = {
    "gids": "ailb-host gids",
    "setup": "ailb-host setup --verify",
    "net": "ailb-net verify",
    "qos": "ailb-qos verify",
}


@dataclass
class Patient:
    """A server that goes wrong: the host, what is expected of it, and its NICs in a sysfs of ours below `root`."""

    host: Host
    connection: ServerConnection
    expected: ExpectedServer
    root: Path
    nics: list[FakeNic]
    hardware: Server

    def verify(self) -> list[str]:
        """Return what `ailb-gen verify` tells of it."""
        found = compare_all("h", self.expected, observe(self.connection, self.expected))
        return [one.message for one in found]

    def says(self, program: str) -> list[str]:
        """Return what a program of the server tells."""
        told = self.host.inside("sh", "-c", f"/usr/local/sbin/{PROGRAMS[program]} 2>&1 >/dev/null", check=False)
        return [line.partition(": ")[2] for line in told.splitlines()]


Damage = Callable[[Patient], AbstractContextManager[None]]


def kernel(damage: str, repair: str) -> Damage:
    """Run commands on the host (h) and beyond it (g), and others to undo them."""

    def do(host: Host, commands: str) -> None:
        for command in filter(None, commands.split("; ")):
            where, *words = command.split()
            run("ip", "netns", "exec", {"h": host.netns, "g": host.outside}[where], *words)

    @contextmanager
    def damaged(patient: Patient) -> Iterator[None]:
        do(patient.host, damage)
        try:
            yield
        finally:
            do(patient.host, repair)

    return damaged


def address(words: str) -> Damage:
    """Add an address of the NIC."""
    return kernel(f"h ip addr add {words}", f"h ip addr del {' '.join(words.split()[:3])}")


def file(path: str, change: Callable[[str], str]) -> Damage:
    """Edit a file of the host; an empty text removes it."""

    @contextmanager
    def damaged(patient: Patient) -> Iterator[None]:
        place = patient.host.root / path.replace("usr/local", "usr-local")
        before = place.read_bytes()
        text = change(before.decode("latin-1"))
        if text:
            place.write_bytes(text.encode("latin-1"))
        else:
            place.unlink()
        try:
            yield
        finally:
            mode = patient.expected.tree[path].mode & 0o7777 if path in patient.expected.tree else 0o644
            place.write_bytes(before)
            place.chmod(mode)

    return damaged


def replaced(old: str, new: str) -> Callable[[str], str]:
    """Replace text that must be there."""

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


def sysfs(change: Callable[[list[FakeNic]], object]) -> Damage:
    """Change the RDMA devices."""

    @contextmanager
    def damaged(patient: Patient) -> Iterator[None]:
        with changed_devices(patient, change):
            yield

    return damaged


@contextmanager
def changed_devices(patient: Patient, change: Callable[[list[FakeNic]], object]) -> Iterator[None]:
    folder, kept = patient.root / "sys/class/infiniband", patient.root / "kept"
    shutil.copytree(folder, kept)
    nics = [replace(nic, addresses=[*nic.addresses], netdevs={**nic.netdevs}) for nic in patient.nics]
    change(nics)
    for entry in folder.iterdir():
        shutil.rmtree(entry)
    write_sysfs(patient.root, nics)
    for nic in patient.nics:
        tc = f"{nic.rdma}/tc"
        if (folder / nic.rdma).exists():
            shutil.copytree(kept / tc, folder / tc)
    try:
        yield
    finally:
        for entry in folder.iterdir():
            shutil.rmtree(entry)
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        shutil.rmtree(kept)


def held(change: Callable[[dict[str, Any]], object], device: str = NIC) -> Damage:
    """Change the settings that a NIC or an RDMA device holds."""

    @contextmanager
    def damaged(patient: Patient) -> Iterator[None]:
        state = patient.hardware.root / nic_tools.STATE
        before = state.read_text(encoding="utf-8")
        patient.hardware.change(device, change)
        try:
            yield
        finally:
            state.write_text(before, encoding="utf-8")

    return damaged


def attribute(path: str, value: str) -> Damage:
    """Write another value to a file of sysfs."""

    @contextmanager
    def damaged(patient: Patient) -> Iterator[None]:
        place = patient.root / "sys/class" / path
        before = place.read_text(encoding="utf-8") if place.exists() else None
        place.write_text(f"{value}\n", encoding="utf-8")
        try:
            yield
        finally:
            place.unlink()
            if before is not None:
                place.write_text(before, encoding="utf-8")

    return damaged


@contextmanager
def both(*damages: AbstractContextManager[None]) -> Iterator[None]:
    with damages[0], damages[1]:
        yield


def expecting(change: Callable[[ExpectedServer], ExpectedServer], damage: Damage | None = None) -> Damage:
    """Expect something else of the server."""

    @contextmanager
    def damaged(patient: Patient) -> Iterator[None]:
        before = patient.expected
        patient.expected = change(before)
        try:
            if damage is None:
                yield
            else:
                with damage(patient):
                    yield
        finally:
            patient.expected = before

    return damaged


@contextmanager
def library(patient: Patient, *needs: str) -> Iterator[None]:
    """Put another plug-in in place, or none."""
    place = patient.host.root / "usr-local/lib" / LIBRARY
    before = place.read_bytes()
    place.unlink()
    if needs:
        folder = patient.root / "built"
        folder.mkdir(exist_ok=True)
        shutil.copy(built(folder, LIBRARY, *(built(folder, need) for need in needs)), place)
    try:
        yield
    finally:
        place.write_bytes(before)


@contextmanager
def disabled(patient: Patient) -> Iterator[None]:
    """Disable the unit of `ailb-net`."""
    link = patient.host.root / UNITS
    target = link.readlink()
    link.unlink()
    try:
        yield
    finally:
        link.symlink_to(target)


def other_mac(expected: ExpectedServer) -> ExpectedServer:
    """Return what is expected when the fabric file has another MAC."""
    ports = {**expected.ports, NIC: replace(expected.ports[NIC], mac="a0:88:c2:3b:00:09")}
    known = expected.tree[HOST_FILE]
    content = known.content.replace(b'"mac": ""', b'"mac": "a0:88:c2:3b:00:09"', 1)
    return replace(expected, ports=ports, tree={**expected.tree, HOST_FILE: replace(known, content=content)})


def fast(expected: ExpectedServer) -> ExpectedServer:
    """Return what is expected when the leaf's port has 400 Gbit/s."""
    ports = {**expected.ports, NIC: replace(expected.ports[NIC], speed_bps=400_000_000_000)}
    return replace(expected, ports=ports)


def advertised(expected: ExpectedServer) -> ExpectedServer:
    """Return what is expected when the leaf advertises every 30 s."""
    prefix = prefix_value(PREFIX)
    assert prefix is not None
    port = replace(expected.ports[NIC], advertised={prefix: Advertised(604_800, 30)})
    return replace(expected, ports={**expected.ports, NIC: port})


def swap_colors(nics: list[FakeNic]) -> None:
    """Let the NIC have got its addresses in another order."""
    nics[0].addresses[1:3] = reversed(nics[0].addresses[1:3])


@dataclass(frozen=True)
class Way:
    """A damage, the lines of verification and of a program of the server, and the check of `validate`.

    `*` in a line is any text. `server` is the program and its line, or why none can know it. Where a file caused it,
    `check` finds the edit `edit` of `path` in the artifacts.
    """

    damage: Damage
    verify: str
    server: tuple[str, str] | str
    check: str = ""
    path: str = ""
    edit: Callable[[str], str] | None = None


def edited(path: str, old: str, new: str, check: str, server: tuple[str, str] | str) -> Way:
    """Return the way in which somebody edits a file, on the server or in the artifacts."""
    change = replaced(old, new)
    told = f"/{path}: has another content than the file that was pushed; push the server's files again: ailb-gen deploy"
    return Way(file(path, change), told, server, check, path, change)


OWN_ADDRESS = f"ip addr {{}} {OWN}/64 dev {NIC}"
BACK = f"h {OWN_ADDRESS.format('del')}; h {OWN_ADDRESS.format('add')} nodad"
FOREVER = f"h {OWN_ADDRESS.format('change')} valid_lft forever preferred_lft forever"
CONF = f"h sysctl -q net.ipv6.conf.{NIC}"
KEEP = "g sysctl -q net.ipv6.conf.leaf1.keep_addr_on_down"
FLUSH = "takes a GID; run: ailb-net apply --flush-stale; if it comes back, a leaf advertises it"
STALE = "is not of the plan, and takes a GID; run: ailb-net apply --flush-stale"
REMOVE = f"is not of the plan, and takes a GID; remove it: ip addr del {{0}} dev {NIC}"
LOOK = "on the leaf: show ipv6 router-advertisement"
RULE = f"from {PREFIX} lookup 10001"
DEFAULT = f"default via fc00:1:1:2::1 dev {NIC}"
WRONG = f"default via fc00:1:1:2::99 dev {NIC}"
QOS_LINE = f"{NIC} (mlx5_0): {{}}; run ailb-qos"
RULE_IS = f"{NIC}: rule 10001 (blue) must be {RULE}, {{}}; run: ailb-host setup"
TABLE_IS = f"{NIC}: table 10001 (blue) must hold {PREFIX} dev {NIC} and {DEFAULT}, it holds {{}}; run: ailb-host setup"


def same(program: str, line: str) -> tuple[str, tuple[str, str]]:
    """Return the line twice: verification repeats the program."""
    return line, (program, line)


WAYS = {
    "an IPv4 address": Way(
        address(f"10.9.0.1/24 dev {NIC}"),
        f"{NIC}: the IPv4 address 10.9.0.1/24 takes a GID; remove it: ip addr del 10.9.0.1/24 dev {NIC}",
        ("net", f"{NIC}: the IPv4 address 10.9.0.1/24 {REMOVE.format('10.9.0.1/24')}"),
    ),
    "a temporary address": Way(
        kernel(
            f"{CONF}.use_tempaddr=2; h {OWN_ADDRESS.format('change')} mngtmpaddr valid_lft 9000 preferred_lft 8000; "
            f"{CONF}.use_tempaddr=0",
            BACK,
        ),
        f"{NIC}: the temporary address fc00:1:1:2:* (use_tempaddr must be 0) {FLUSH}",
        ("net", f"{NIC}: the temporary address fc00:1:1:2:* {STALE}"),
    ),
    "a stale address": Way(
        address(f"fc00:8::1/64 dev {NIC} nodad valid_lft 900 preferred_lft 0"),
        f"{NIC}: fc00:8::1, which was advertised and is of no color, {FLUSH}",
        ("net", f"{NIC}: the address fc00:8::1/64 {STALE}"),
    ),
    "a foreign address": Way(
        address(f"fc00:8::1/64 dev {NIC} nodad"),
        f"{NIC}: fc00:8::1, which is of no color, takes a GID; remove it: ip addr del fc00:8::1/64 dev {NIC}",
        ("net", f"{NIC}: the address fc00:8::1/64 {REMOVE.format('fc00:8::1/64')}"),
    ),
    "a second address": Way(
        address(f"fc00:1:1:2::9/64 dev {NIC} nodad"),
        f"{NIC}: fc00:1:1:2::9, a second address in {PREFIX}, takes a GID; "
        f"remove it: ip addr del fc00:1:1:2::9/64 dev {NIC}",
        ("net", f"{NIC}: the address fc00:1:1:2::9/64 {REMOVE.format('fc00:1:1:2::9/64')}"),
    ),
    "an address that is not of the MAC": Way(
        kernel(
            f"h ip addr add fc00:1:1:2::9/64 dev {NIC} nodad; h {OWN_ADDRESS.format('del')}",
            f"h ip addr del fc00:1:1:2::9/64 dev {NIC}; h {OWN_ADDRESS.format('add')} nodad",
        ),
        f"{NIC}: fc00:1:1:2::9, not the {OWN} of its MAC (addr_gen_mode must be 0), takes a GID; "
        f"remove it: ip addr del fc00:1:1:2::9/64 dev {NIC}",
        ("net", f"{NIC}: the address fc00:1:1:2::9/64 {REMOVE.format('fc00:1:1:2::9/64')}"),
    ),
    "an address of another NIC": Way(
        address("fc00:1:1:2::9/64 dev gpu1_eth nodad"),
        "gpu1_eth: fc00:1:1:2::9, which is of no color, takes a GID; "
        "remove it: ip addr del fc00:1:1:2::9/64 dev gpu1_eth",
        (
            "net",
            "gpu1_eth: the address fc00:1:1:2::9/64 is not of the plan, and takes a GID; "
            "remove it: ip addr del fc00:1:1:2::9/64 dev gpu1_eth",
        ),
    ),
    "an address on another interface": Way(
        address("fc00:1:1:2::9/128 dev mgmt0 nodad"),
        f"mgmt0: fc00:1:1:2::9 is in a prefix of {NIC}; remove it: ip addr del fc00:1:1:2::9/128 dev mgmt0",
        "the programs look at the interfaces of the plan",
    ),
    "a deprecated address": Way(
        kernel(f"h {OWN_ADDRESS.format('change')} valid_lft 900 preferred_lft 0", FOREVER),
        f"{NIC}: {OWN} is deprecated: the leaf no longer advertises {PREFIX}; {LOOK}",
        ("net", f"{NIC}: {OWN[:-1]}*1 is deprecated: the leaf no longer advertises {PREFIX}"),
    ),
    "a leaf that no longer advertises": Way(
        expecting(
            advertised, kernel(f"h {OWN_ADDRESS.format('change')} valid_lft 2592000 preferred_lft 604000", FOREVER)
        ),
        f"{NIC}: {PREFIX} was last advertised 8* s ago, and must be every 30 s; {LOOK}",
        "how often a leaf advertises is in its configuration",
    ),
    "a duplicate address": Way(
        kernel(
            f"g ip addr add {OWN}/64 dev leaf0 nodad; {CONF}.accept_dad=1; h {OWN_ADDRESS.format('del')}; "
            f"h {OWN_ADDRESS.format('add')}; h sleep 2.5",
            f"g ip addr del {OWN}/64 dev leaf0; {CONF}.accept_dad=0; {BACK}",
        ),
        f"{NIC}: {OWN} is a duplicate: another NIC has this address; look for a second one with the same MAC",
        (
            "net",
            f"{NIC}: {OWN[:-1]}*1 is a duplicate: another NIC has this address; "
            "look for a second one with the same MAC",
        ),
    ),
    "a tentative address": Way(
        kernel(
            f"{CONF}.accept_dad=1; {CONF}.dad_transmits=60; h {OWN_ADDRESS.format('del')}; "
            f"h {OWN_ADDRESS.format('add')}",
            f"{CONF}.accept_dad=0; {CONF}.dad_transmits=1; {BACK}",
        ),
        f"{NIC}: {OWN} is tentative: its detection of duplicates has not ended; is the link up?",
        ("setup", f"{NIC}: no usable address in {PREFIX} (blue); is the leaf advertising it?"),
    ),
    "a color without an address": Way(
        kernel(f"h {OWN_ADDRESS.format('del')}", f"h {OWN_ADDRESS.format('add')} nodad"),
        f"{NIC}: no usable address in {PREFIX}; does the leaf advertise it? On the leaf: {LOOK.partition(': ')[2]}",
        ("setup", f"{NIC}: no usable address in {PREFIX} (blue); is the leaf advertising it?"),
    ),
    "another MAC": Way(
        expecting(other_mac, file(HOST_FILE, replaced('"mac": ""', '"mac": "a0:88:c2:3b:00:09"'))),
        f"{NIC}: its MAC is 'a0:88:c2:3b:00:01', the files have a0:88:c2:3b:00:09; correct the one that is wrong",
        (
            "gids",
            f"{NIC}: its MAC is a0:88:c2:3b:00:01, the fabric file has a0:88:c2:3b:00:09; "
            "correct the one that is wrong",
        ),
    ),
    "an MTU": Way(
        kernel(f"h ip link set {NIC} mtu 1500", f"h ip link set {NIC} mtu 9000"),
        f"{NIC}: the MTU is 1500, it must be 9000; run: ip link set dev {NIC} mtu 9000",
        "ailb-net and ailb-host set no MTU: netplan does, or the host's own configuration",
    ),
    "no rule": Way(
        kernel(f"h ip -6 rule del {RULE} priority 10001", f"h ip -6 rule add {RULE} priority 10001"),
        f"rule 10001: '{RULE}' is missing; run: ailb-net apply",
        ("setup", RULE_IS.format("there is none")),
    ),
    "a rule too many": Way(
        kernel(
            "h ip -6 rule add from fc00:9::/64 lookup 10001 priority 10001",
            "h ip -6 rule del from fc00:9::/64 lookup 10001 priority 10001",
        ),
        "rule 10001: 'from fc00:9::/64 lookup 10001' is unexpected; "
        "remove it: ip -6 rule del from fc00:9::/64 lookup 10001 priority 10001",
        ("setup", RULE_IS.format(f"it is {RULE} and from fc00:9::/64 lookup 10001")),
    ),
    "another rule": Way(
        kernel(
            f"h ip -6 rule del {RULE} priority 10001; h ip -6 rule add from {PREFIX} lookup 10002 priority 10001",
            f"h ip -6 rule del from {PREFIX} lookup 10002 priority 10001; h ip -6 rule add {RULE} priority 10001",
        ),
        f"rule 10001: 'from {PREFIX} lookup 10002' must be '{RULE}'; "
        f"remove it: ip -6 rule del from {PREFIX} lookup 10002 priority 10001, and run: ailb-net apply",
        ("setup", RULE_IS.format(f"it is from {PREFIX} lookup 10002")),
    ),
    "another gateway": Way(
        kernel(f"h ip -6 route replace {WRONG} table 10001", f"h ip -6 route replace {DEFAULT} table 10001"),
        f"table 10001: '{WRONG}' must be '{DEFAULT}'; "
        f"remove it: ip -6 route del {WRONG} table 10001, and run: ailb-net apply",
        ("setup", TABLE_IS.format(f"* and {WRONG}")),
    ),
    "no default route": Way(
        kernel(f"h ip -6 route del {DEFAULT} table 10001", f"h ip -6 route add {DEFAULT} table 10001"),
        f"table 10001: '{DEFAULT}' is missing; run: ailb-net apply",
        ("setup", TABLE_IS.format(f"{PREFIX} dev {NIC}")),
    ),
    "a route too many": Way(
        kernel(
            f"h ip -6 route add fc00:9::/64 dev {NIC} table 10001",
            f"h ip -6 route del fc00:9::/64 dev {NIC} table 10001",
        ),
        f"table 10001: 'fc00:9::/64 dev {NIC}' is unexpected; "
        f"remove it: ip -6 route del fc00:9::/64 dev {NIC} table 10001",
        ("setup", TABLE_IS.format("*fc00:9::/64*")),
    ),
    "a default route of advertisements": Way(
        kernel(f"{CONF}.accept_ra_defrtr=1", f"{CONF}.accept_ra_defrtr=0"),
        f"net.ipv6.conf.{NIC}.accept_ra_defrtr: is 1, it must be 0; run: sysctl -p /{SYSCTL}",
        "kernel settings are the work of sysctl or of networkd",
    ),
    "a silent gateway": Way(
        kernel("g ip -6 addr del fc00:1:1:2::1/64 dev leaf0", "g ip -6 addr add fc00:1:1:2::1/64 dev leaf0 nodad"),
        f"{NIC}: fc00:1:1:2::1 does not answer {OWN}; check the leaf and its port: show interfaces terse",
        "ailb-host pings servers, with their addresses: tests/ailb_host/test_ping.py",
    ),
    "a link that is down": Way(
        lambda patient: both(
            kernel(f"{KEEP}=1; g ip link set leaf1 down", f"g ip link set leaf1 up; {KEEP}=0")(patient),
            changed_devices(patient, lambda nics: setattr(nics[1], "state", "1: DOWN")),
        ),
        "gpu1_eth: the link is down; check cable and leaf, and run: ip link set dev gpu1_eth up",
        ("gids", "gpu1_eth: mlx5_1:1 is DOWN; check the cable and the port of the leaf"),
    ),
    "a slow link": Way(
        expecting(fast, attribute(f"net/{NIC}/speed", "200000")),
        f"{NIC}: the link has 200 Gbit/s, the leaf's port 400g; check NIC, cable and optics",
        "the speed of the leaf's port is in the leaf's configuration",
    ),
    "no GID of a color": Way(
        sysfs(lambda nics: nics[0].addresses.remove(OWN)),
        *same(
            "gids",
            f"{NIC}: mlx5_0:1 has no RoCE v2 GID of {OWN} (color blue); "
            f"check the address: ip -6 address show dev {NIC}",
        ),
    ),
    "only RoCE v1": Way(
        sysfs(lambda nics: setattr(nics[0], "versions", (V1,))),
        *same("gids", f"{NIC}: mlx5_0:1 has no RoCE v2 GID at all; set its RoCE mode to v2, and load its driver again"),
    ),
    "a GID that shifted": Way(
        sysfs(swap_colors),
        *same(
            "gids",
            f"{NIC}: UCX_IB_GID_INDEX is 3, which is {OWN} (RoCE v2) on mlx5_0:1; color green has 5; "
            "use the environment of: ailb-host gids --env",
        ),
    ),
    "a GID of another interface": Way(
        sysfs(lambda nics: nics[0].netdevs.update({OWN: "bond0"})),
        *same("gids", f"{NIC}: GID 5 of mlx5_0:1 (color blue) belongs to bond0; remove the address from bond0"),
    ),
    "no RDMA device": Way(
        sysfs(lambda nics: nics.pop(0)),
        f"{NIC}: there is no RDMA device mlx5_0; check its name and driver: rdma link",
        ("gids", f"{NIC}: there is no RDMA device mlx5_0; check its name and driver: rdma link"),
    ),
    "an RDMA device that was renamed": Way(
        sysfs(lambda nics: setattr(nics[0], "rdma", "rocep1s0")),
        f"{NIC}: there is no RDMA device mlx5_0; check its name and driver: rdma link",
        ("gids", f"{NIC}: there is no RDMA device mlx5_0; check its name and driver: rdma link"),
    ),
    "InfiniBand": Way(
        sysfs(lambda nics: setattr(nics[0], "link_layer", "InfiniBand")),
        *same("gids", f"{NIC}: mlx5_0:1 is set to InfiniBand; set the port to Ethernet and restart"),
    ),
    "a PFC mask": Way(
        held(lambda nic: nic.update(pfc=[0] * 8)),
        *same("qos", QOS_LINE.format("pfc is 0,0,0,0,0,0,0,0, it must be 0,0,0,1,0,0,0,0")),
    ),
    "trust": Way(
        held(lambda nic: nic.update(trust="pcp")), *same("qos", QOS_LINE.format("trust is pcp, it must be dscp"))
    ),
    "a DSCP's priority": Way(
        held(lambda nic: nic["dscp"].update({"26": 0})),
        *same("qos", QOS_LINE.format("dscp2prio is 26,0, it must be 26,3")),
    ),
    "a ToS": Way(
        held(lambda device: device.update(tos=0), "mlx5_0"),
        *same("qos", QOS_LINE.format("tos is 0, it must be 106")),
    ),
    "the DSCP of CNPs": Way(
        attribute(f"net/{NIC}/ecn/roce_np/cnp_dscp", "0"),
        *same("qos", QOS_LINE.format("cnp_dscp is 0, it must be 48")),
    ),
    "ECN": Way(
        attribute(f"net/{NIC}/ecn/roce_rp/enable/3", "0"), *same("qos", QOS_LINE.format("ecn_rp is 0, it must be 1"))
    ),
    "no plug-in": Way(
        library,
        f"{LIBRARY} is not in /usr/local/lib, and NCCL uses no plug-in: one color carries all; install it",
        "the plug-in is none of the fabric's files",
    ),
    "a plug-in that lacks a library": Way(
        lambda patient: library(patient, "libverbs-test.so"),
        f"/usr/local/lib/{LIBRARY} cannot be loaded: libverbs-test.so is missing; install it, and run: ldconfig",
        "the plug-in is none of the fabric's files",
    ),
    "another variable in /etc/environment": Way(
        file("etc/environment", lambda text: f"{text}\nNCCL_IB_QPS_PER_CONNECTION=1\n"),
        "/etc/environment:*: NCCL_IB_QPS_PER_CONNECTION=1 contradicts /etc/ailb/nccl.env, which has 4; remove the line",
        "a job's environment is none of the fabric's files",
    ),
    "NCCL's variables": edited(
        ENVIRONMENT, "CONNECTION=4", "CONNECTION=1", "AILB612", "the programs have no other source of the variables"
    ),
    "a GID index in the variables": edited(
        ENVIRONMENT,
        "GID_INDEX=3",
        "GID_INDEX=1",
        "AILB612",
        (
            "gids",
            f"{NIC}: UCX_IB_GID_INDEX is 1, which is fe80::* (RoCE v2) on mlx5_0:1; color green has 3; "
            "use the environment of: ailb-host gids --env",
        ),
    ),
    "netplan": edited(NETPLAN, "table: 10003", "table: 10004", "AILB603", "netplan's file is used by netplan alone"),
    "kernel settings": edited(
        SYSCTL, f"{NIC}.accept_ra = 1", f"{NIC}.accept_ra = 2", "AILB610", "sysctl's file is used by sysctl alone"
    ),
    "the DSCP of ailb-qos": edited(
        QOS, "\ndscp=26", "\ndscp=46", "AILB708", ("qos", QOS_LINE.format("dscp2prio is 46,5, it must be 46,3"))
    ),
    "what ailb-host knows": edited(
        HOST_FILE,
        '"format": 1',
        '"format": 7',
        "AILB601",
        ("gids", "/etc/ailb/host.json: format 7, and this program reads 1; push the server's files again"),
    ),
    "an old ailb-host": edited(HOST_PROGRAM, "PK", "PX", "AILB621", "a program that is another one cannot be asked"),
    "a unit that is disabled": Way(
        disabled,
        f"/{UNITS}: is missing; push the server's files again: ailb-gen deploy",
        "systemd has its own: systemctl is-enabled ailb-net",
    ),
}


@pytest.fixture(scope="module")
def patient(
    shared: Host,
    shared_server: ServerConnection,
    files: Tree,
    expected: ExpectedServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Patient]:
    """A right server, with NICs of NVIDIA."""
    root = tmp_path_factory.mktemp("sysfs")
    nics = []
    for nic in shared.config.nics:
        mac = f"a0:88:c2:3b:00:{nic.index + 1:02x}"
        prefixes = ["fe80::/64", *(table.prefix.text for table in nic.tables)]
        values = (prefix_value(prefix) for prefix in prefixes)
        texts = [str(IPv6Address(value.value | eui64(mac))) for value in values if value is not None]
        nics.append(FakeNic(nic.name, nic.rdma, mac, texts))
    hardware = Server(root, GOLDEN / "lab/profiles/stripe1" / QOS, shared.config.nics, "nvidia")
    write_sysfs(root, nics)
    nic_tools.install(shared.root / "usr-local/bin", root, ("mlnx_qos", "cma_roce_tos"))
    (shared.root / "usr-local/lib").mkdir(exist_ok=True)
    built(shared.root / "usr-local/lib", LIBRARY)
    shared.inside("mount", "--bind", str(root / "sys/class"), "/sys/class")
    apply(shared_server, files, "r1", 10)
    confirm(shared_server, "r1")
    shared.inside("/usr/local/sbin/ailb-qos")
    yield Patient(shared, shared_server, expected, root, nics, hardware)
    shared.inside("umount", "/sys/class")


def pattern(line: str) -> str:
    """Return the regular expression of a line of the table."""
    return re.escape(line).replace(r"\*", ".*")


def test_a_right_server(patient: Patient) -> None:
    assert patient.verify() == []
    assert {program: patient.says(program) for program in PROGRAMS} == {program: [] for program in PROGRAMS}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", WAYS)
def test_a_way_is_told_in_one_line(patient: Patient, name: str) -> None:
    way = WAYS[name]
    with way.damage(patient):
        told, *more = patient.verify()
        assert not more, (told, more)
        assert re.fullmatch(pattern(way.verify), told), told
        if not isinstance(way.server, str):
            program, line = way.server
            said = patient.says(program)
            assert [one for one in said if re.fullmatch(pattern(line), one)], said
    assert patient.verify() == []
    if not isinstance(way.server, str):
        assert patient.says(way.server[0]) == []


FILES = {name: way for name, way in WAYS.items() if way.check}


@pytest.mark.parametrize("name", FILES)
def test_validate_finds_the_file_that_caused_it(tmp_path: Path, name: str) -> None:
    way = FILES[name]
    for folder in (PROFILES, "servers"):
        shutil.copytree(GOLDEN / "lab" / folder, tmp_path / folder, symlinks=True)
    place = tmp_path / PROFILES / "stripe1" / way.path
    assert way.edit is not None
    place.write_bytes(way.edit(place.read_bytes().decode("latin-1")).encode("latin-1"))
    network = replace(network_of(GOLDEN / "lab"), hosts=read_hosts(tmp_path)[0])
    context = Context(fabric_of("lab"), network)
    found = {one.check for family in ("AILB6", "AILB7") for one in findings(run_family(family, context))}
    assert way.check in found, found
