"""Hosts on which systemd is the first process, with its networkd; and leaves that advertise prefixes to them."""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from tests.conftest import missing
from tests.deploy.servers.sandbox import Host, run

SYSTEMD = Path("/lib/systemd/systemd")
TARGET = """\
[Unit]
Requires=systemd-networkd.service dbus.service test-sshd.service
Wants=multi-user.target
After=systemd-networkd.service dbus.service test-sshd.service
"""
SSHD_UNIT = """\
[Unit]
After=network.target
[Service]
ExecStartPre=/bin/mkdir -p -m 755 /run/sshd
ExecStart=/usr/sbin/sshd -D -f /etc/ssh/test_sshd
"""
# Nobody makes device units here, because udev belongs to the machine outside: waiting for them is in vain.
SYSTEM_CONF = "[Manager]\nDefaultDeviceTimeoutSec=1s\nDefaultTimeoutStartSec=20s\n"
# They would change the machine outside, or wait for what is not there.
MASKED = tuple(
    f"systemd-{name}.service"
    for name in ("modules-load", "remount-fs", "udevd", "logind", "networkd-wait-online", "tmpfiles-clean")
)
ADVERTISED = (1800, 0, 0)
VALID_S, PREFERRED_S = 2592000, 604800


class Machine(Host):
    """A host that systemd boots; what it does not own is hidden from it, or cannot be written."""

    def build(self) -> None:
        """Make the files and the networks; addresses come from router advertisements alone."""
        if not SYSTEMD.exists():
            missing("systemd is not installed")
        super().build()
        units = self.root / "etc/systemd/system"
        shutil.rmtree(units)
        units.mkdir()
        (units / "test.target").write_text(TARGET, encoding="utf-8")
        (units / "test-sshd.service").write_text(SSHD_UNIT, encoding="utf-8")
        for name in MASKED:
            (units / name).symlink_to("/dev/null")
        (self.root / "etc/systemd/system.conf").write_text(SYSTEM_CONF, encoding="utf-8")
        (self.root / "etc/fstab").write_text("", encoding="utf-8")
        # Netplan tells udev to rename NICs, and there is none here: the names are right already.
        stand_in = self.root / "usr-local/sbin/udevadm"
        stand_in.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
        stand_in.chmod(0o755)
        for nic in self.config.nics:
            run("ip", "-n", self.netns, "-6", "addr", "flush", "dev", nic.name, "scope", "global")
        self.leaf = self._advertise()

    def _advertise(self) -> subprocess.Popen[bytes]:
        rows = [
            f"leaf{nic.index},{','.join(table.prefix.text.removesuffix('/64') for table in nic.tables)}"
            for nic in self.config.nics
        ]
        return subprocess.Popen(("ip", "netns", "exec", self.outside, sys.executable, __file__, *rows))

    def first_process(self) -> tuple[str, ...]:
        """Hide the machine outside from systemd, and run it."""
        devices = ("null", "zero", "full", "random", "urandom", "tty")
        return (
            "mount --bind /proc/sys /proc/sys",
            "mount --bind /proc/sys/net /proc/sys/net",
            "mount -o remount,bind,ro /proc/sys",
            "mount -o remount,bind,ro /sys",
            "mkdir /run/dev",
            *(f"touch /run/dev/{name}; mount --bind /dev/{name} /run/dev/{name}" for name in devices),
            "mount --rbind /run/dev /dev",
            *(f"mount -t tmpfs tmpfs {place}" for place in ("/tmp", "/var/log", "/var/tmp")),
            "mount -t cgroup2 cgroup2 /sys/fs/cgroup",
            f"container=test exec {SYSTEMD} --unit=test.target",
        )

    def start(self) -> None:
        """Boot, and wait until it is done."""
        super().start()
        for _ in range(300):
            if self.inside("systemctl", "is-system-running", check=False).strip() in ("running", "degraded"):
                return
            time.sleep(0.1)
        raise AssertionError(self.inside("systemctl", "list-jobs", check=False))

    def forget(self) -> None:
        """Make the kernel forget addresses, too."""
        super().forget()
        for nic in self.config.nics:
            run("ip", "-n", self.netns, "-6", "addr", "flush", "dev", nic.name, "scope", "global")

    def units(self) -> None:
        """Leave it to systemd."""

    def remove(self) -> None:
        """End the leaves, too."""
        leaf = getattr(self, "leaf", None)
        if leaf is not None:
            leaf.kill()
            leaf.wait()
        super().remove()


class MachineWithoutNetplan(Machine):
    """A host of a distribution that has no netplan."""

    def build(self) -> None:
        """Leave netplan out."""
        super().build()
        run("cp", "-a", "/usr/sbin", str(self.root / "sbin"))
        (self.root / "sbin/netplan").unlink()
        generators = self.root / "etc/systemd/system-generators"
        generators.mkdir()
        (generators / "netplan").symlink_to("/dev/null")

    def first_process(self) -> tuple[str, ...]:
        """Hide the folder that has it."""
        return (f"mount --bind {self.root / 'sbin'} /usr/sbin", *super().first_process())


def advertisement(prefixes: list[str]) -> bytes:
    """Return a router advertisement (RFC 4861, 4.2) with prefixes to make addresses from."""
    lifetime, reachable, retransmit = ADVERTISED
    packet = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, lifetime, reachable, retransmit)
    for prefix in prefixes:
        packet += struct.pack("!BBBBIII", 3, 4, 64, 0xC0, VALID_S, PREFERRED_S, 0)
        packet += socket.inet_pton(socket.AF_INET6, prefix)
    return packet


def advertise(rows: list[str]) -> None:
    """Advertise on every interface, for ever, every second."""
    out = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    out.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
    while True:
        for row in rows:
            interface, *prefixes = row.split(",")
            try:
                out.sendto(advertisement(prefixes), ("ff02::1", 0, 0, socket.if_nametoindex(interface)))
            except OSError:
                # The host's end may be down for a moment.
                continue
        time.sleep(1)


if __name__ == "__main__":
    advertise(sys.argv[1:])
