"""Boot the servers of a lab from their rendered files: sysctls, then netplan and networkd, or the script and SLAAC.

A server has a network namespace, and mount and UTS namespaces in which it has its own files: /etc, /usr/local/sbin,
/var/lib and /run. Everything else is the machine's. systemd-networkd runs without systemd, D-Bus and udev: it does so
where /sys cannot be written.
"""

from __future__ import annotations

import operator
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ailb_gen.addresses import Prefix, eui64
from ailb_gen.errors import LabError, UsageError
from ailb_gen.hosts.model import Host
from ailb_gen.lab.kernel import addresses
from ailb_gen.lab.namespaces import PATIENCE_S, batch, spawn, write_sysctl
from ailb_gen.lab.plan import LabPlan, ServerPlan
from ailb_gen.lab.polling import settled
from ailb_gen.lab.servers.files import (
    BASE,
    NETPLAN,
    NETWORKD,
    SSH,
    START_NETWORKD,
    generate,
    install_stand_ins,
    share_etc,
    stage,
)
from ailb_gen.network.fabric import Network
from ailb_gen.shipped import template

BootMethod = Literal["netplan", "script"]
# Addresses of a NIC in addition to those of the prefixes: link-local, and one to spare.
SPARE_ADDRESSES = 2
# Kernel parameters of a network namespace; no part of a key leads upwards.
NETWORK_KEY = re.compile(r"net[./](?!(?:.*/)?\.\.(?:/|$))[^\0]+")
# So many programs prepare files at once; each takes a quarter of a second.
AT_ONCE = 4
READY = "ready"


@dataclass(slots=True)
class Servers:
    """The servers that run: how they were booted, warnings by server, and processes that stay."""

    method: BootMethod
    warnings: dict[str, list[str]] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def warn(self, name: str, text: str) -> None:
        """Note a warning about a server."""
        self.warnings.setdefault(name, []).append(text)


def usable_method(chosen: str) -> BootMethod:
    """Return how servers are booted; `auto` is netplan where it, networkd and root are there.

    Raises LabError when netplan is chosen and something is missing.
    """
    if chosen not in ("auto", "netplan", "script"):
        raise UsageError(f"{chosen!r} is not a method to configure servers; choose auto, netplan or script")
    lacking = [path.name for path in (NETPLAN, NETWORKD) if not path.exists()]
    # It gives up the rights of root for those of a user that the namespace does not have.
    lacking += ["root, for systemd-networkd"] if not other_users() else []
    if chosen == "script" or (chosen == "auto" and lacking):
        return "script"
    if lacking:
        raise LabError(f"servers cannot boot with netplan here; missing: {', '.join(lacking)}")
    return "netplan"


def other_users() -> bool:
    """Return whether this user namespace has users other than its root, whose rights programs can take on."""
    rows = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    return sum(int(row.split()[2]) for row in rows) > 1


@contextmanager
def boot(plan: LabPlan, network: Network, artifacts: Path, hosts: str = "auto") -> Iterator[Servers]:
    """Boot all servers at once; in the end, end their processes. Addresses come later: see `missing`.

    The links must be there. Raises LabError, UsageError.
    """
    servers = Servers(usable_method(hosts))
    there = {name: network.hosts[name] for name in plan.servers if name in network.hosts}
    try:
        _files(servers, there, artifacts)
        for name, host in there.items():
            _kernel(servers, plan.servers[name], host)
        if servers.method == "netplan":
            for name in there:
                servers.processes.append(run(name, ("sh", "-c", START_NETWORKD)))
        else:
            _scripts(servers, there)
        yield servers
    finally:
        for process in servers.processes:
            process.kill()
        for process in servers.processes:
            process.wait()


def command(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return the words that run a program with the files and the name of a server, in whatever network namespace.

    Raises LabError when the server does not run.
    """
    try:
        holder = _holder(name).read_text(encoding="ascii")
    except OSError as error:
        raise LabError(f"{name} is not a running server") from error
    return ("nsenter", f"--target={holder}", "--mount", "--uts", "--", *words)


def run(name: str, words: Sequence[str], **options: object) -> subprocess.Popen[bytes]:
    """Start a program on a server; options are those of Popen. Raises LabError."""
    return spawn(name, command(name, words), **options)


def _holder(name: str) -> Path:
    return BASE / f"{name}/holder"


def _files(servers: Servers, hosts: Mapping[str, Host], artifacts: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    etc = share_etc()
    staged: dict[str, Path] = {}
    for number, host in enumerate(hosts.values()):
        folder = host.profile.folder
        if folder not in staged:
            staged[folder] = stage(artifacts, host.profile, number)
    if servers.method == "netplan":
        with ThreadPoolExecutor(AT_ONCE) as pool:
            complaints = dict(zip(staged, pool.map(generate, staged.values()), strict=True))
        for path in staged.values():
            install_stand_ins(path / "usr/local/sbin")
        for host in hosts.values():
            if complaint := complaints[host.profile.folder]:
                servers.warn(host.name, complaint)
    started = {name: _mount(name, etc, staged[host.profile.folder]) for name, host in hosts.items()}
    servers.processes += started.values()
    for name, process in started.items():
        said = process.stdout.read().decode(errors="replace").strip() if process.stdout is not None else ""
        if said != READY:
            raise LabError(f"{name}: its files cannot be put in place: {said}")
        _holder(name).write_text(str(process.pid), encoding="ascii")


def _mount(name: str, etc: Path, staged: Path) -> subprocess.Popen[bytes]:
    """Start the process that makes the namespaces of a server, and keeps them; it writes `ready`, or an error."""
    own = BASE / name
    for folder in ("etc", "work", "sbin"):
        (own / folder).mkdir(parents=True, mode=0o755)
    mounts = template("lab", "mounts.sh").render()
    words = ("unshare", "--mount", "--uts", "sh", "-c", mounts, "sh", str(etc), str(own), str(staged), name, str(SSH))
    return spawn(name, words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def _kernel(servers: Servers, server: ServerPlan, host: Host) -> None:
    """Set the kernel parameters that the files ask for, and those of the lab, while the NICs are down."""
    batch([f"link set {nic} down" for nic in server.nics], server.name)
    for setting in host.profile.sysctls:
        if NETWORK_KEY.fullmatch(setting.key) is None:
            servers.warn(server.name, f"{setting.key} is not set: it is a setting of the machine, not of a namespace")
            continue
        try:
            write_sysctl(server.name, {setting.key: setting.value})
        except (LabError, ValueError) as error:
            servers.warn(server.name, str(error))
    counts = {nic: sum(rule.nic == nic for rule in host.profile.rules) for nic in server.nics}
    for nic, count in counts.items():
        with_room = max(16, count + SPARE_ADDRESSES)
        write_sysctl(server.name, {f"net/ipv6/conf/{nic}/max_addresses": with_room})
    mtus = {nic: _mtu(host, nic) for nic in server.nics}
    lines = [f"link set {nic}{f' mtu {mtu}' if mtu else ''} up" for nic, mtu in mtus.items()]
    batch(lines, server.name)


def _mtu(host: Host, nic: str) -> int | None:
    found = host.profile.nics[nic].value("mtu") if nic in host.profile.nics else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _scripts(servers: Servers, hosts: Mapping[str, Host]) -> None:
    words = ("/usr/local/sbin/ailb-net", "apply")
    started = {
        name: run(name, words, stderr=subprocess.PIPE)
        for name, host in hosts.items()
        if host.profile.script is not None
    }
    until = time.monotonic() + PATIENCE_S
    for name, process in started.items():
        try:
            _, said = process.communicate(timeout=max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            for other in started.values():
                other.kill()
            raise LabError(f"{name}: did not boot within {PATIENCE_S:.0f} s") from error
        if code := process.returncode:
            servers.warn(name, said.decode(errors="replace").strip() or f"ailb-net ended with {code}")


def missing(plan: LabPlan, hosts: Mapping[str, Host]) -> dict[tuple[str, str], tuple[Prefix, ...]]:
    """Return the prefixes in which a NIC, by (server, NIC), should have a usable address by its rules, and has none."""
    found: dict[tuple[str, str], tuple[Prefix, ...]] = {}
    for name, server in plan.servers.items():
        if name not in hosts:
            continue
        there = (one for one in addresses(name) if not one.tentative and not one.duplicate)
        usable = {(one.link, one.value) for one in there}
        wanted = [(rule.nic, rule.source) for rule in hosts[name].profile.rules if rule.source is not None]
        for nic in server.nics:
            here = (prefix for at, prefix in wanted if at == nic)
            lost = tuple(one for one in here if (nic, one.value | eui64(server.nics[nic].mac)) not in usable)
            if lost:
                found[name, nic] = lost
    return found


def wait(
    plan: LabPlan, hosts: Mapping[str, Host], timeout_s: float = 30.0, quiet_s: float = 10.0
) -> dict[tuple[str, str], tuple[Prefix, ...]]:
    """Wait until every NIC has its addresses; returns the prefixes without one when none has come for `quiet_s`."""
    return settled(lambda: missing(plan, hosts), operator.not_, timeout_s, quiet_s, pause_s=0.1)
