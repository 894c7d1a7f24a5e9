"""Hosts to push to: OpenSSH's own sshd in namespaces, with files of its own and NICs that lead to a gateway.

Everything that a push may touch is bound from a folder of the test; what runs there dies with the host.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path

import paramiko

from ailb_gen.deploy.credentials import Credentials, Secret
from ailb_gen.deploy.login import SshReach
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.design.model import HostConfig
from tests.conftest import need_root, need_tool

TOOLS = ("ip", "sshd", "sudo", "ssh-keygen", "openssl", "unshare", "nsenter", "netplan", "ping", "flock", "setsid")
# What a host has of its own, and where it is in the test's folder.
BOUND = (("etc", "/etc"), ("usr-local", "/usr/local"), ("var-lib", "/var/lib"))
# Not sudo's password, and not the login's: something that is recognized wherever it turns up.
PASSWORD = "correct-horse-7c1f"
SSHD = """\
Port 22
ListenAddress {address}
HostKey /etc/ssh/test_host_key
AuthorizedKeysFile /etc/ssh/test_keys
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication yes
PidFile none
MaxStartups 200
"""
SUDOERS = """\
Defaults lecture=never
Defaults use_pty
free ALL=(ALL:ALL) NOPASSWD: ALL
asked ALL=(ALL:ALL) ALL
"""
USERS = ("free", "asked", "barred")


def run(*words: str, check: bool = True, stdin: str | None = None) -> str:
    """Run a program to its end."""
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, check=False, timeout=60)
    assert not check or done.returncode == 0, f"{words}: {done.stderr or done.stdout}"
    return done.stdout


@cache
def keys_in(file: Path) -> paramiko.HostKeys:
    """Return the host keys of a file; none if it is not there."""
    return paramiko.HostKeys(str(file)) if file.exists() else paramiko.HostKeys()


@dataclass
class Host:
    """A host that runs; `root` holds what is bound over its /etc, /usr/local and /var/lib."""

    root: Path
    config: HostConfig
    number: int = field(default_factory=lambda: secrets.randbelow(1 << 15))
    process: subprocess.Popen[bytes] | None = None

    @property
    def netns(self) -> str:
        """The namespace of the host's NICs."""
        return f"ailb-h{self.number}"

    @property
    def outside(self) -> str:
        """The namespace of the gateways."""
        return f"ailb-g{self.number}"

    def _address(self, last: int) -> str:
        return str(IPv4Address("198.18.0.0") + self.number * 4 + last)

    @property
    def key(self) -> Path:
        """The private key that logs in."""
        return self.root / "client_key"

    @property
    def known_hosts(self) -> Path:
        """The host's key, as the client knows it."""
        return self.root / "known_hosts"

    def build(self) -> None:
        """Make the files and the networks."""
        for name, source in BOUND:
            (self.root / name).mkdir(parents=True)
            if name == "etc":
                run("cp", "-a", f"{source}/.", str(self.root / name))
        (self.root / "usr-local/sbin").mkdir(mode=0o755)
        for path in (self.root / "etc/netplan").glob("*"):
            path.unlink()
        etc = self.root / "etc"
        for name in ("client_key", "etc/ssh/test_host_key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.root / name))
        shutil.copy(f"{self.key}.pub", etc / "ssh/test_keys")
        (etc / "ssh/test_sshd").write_text(SSHD.format(address=self._address(2)), encoding="utf-8")
        public = (etc / "ssh/test_host_key.pub").read_text(encoding="utf-8")
        self.known_hosts.write_text(f"{self._address(2)} {public}", encoding="utf-8")
        (etc / "sudoers.d/test").write_text(SUDOERS, encoding="utf-8")
        (etc / "sudoers.d/test").chmod(0o440)
        hashed = run("openssl", "passwd", "-6", "-stdin", stdin=PASSWORD).strip()
        with (etc / "passwd").open("a") as passwd, (etc / "shadow").open("a") as shadow:
            for number, user in enumerate(USERS, 4001):
                passwd.write(f"{user}:x:{number}:65534::/tmp:/bin/sh\n")
                shadow.write(f"{user}:{hashed}:19000:0:99999:7:::\n")
        (self.root / "first").mkdir()
        for name, _ in BOUND:
            run("cp", "-a", str(self.root / name), str(self.root / "first"))
        self._networks()

    def _networks(self) -> None:
        for name in (self.netns, self.outside):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        control = f"ailb{self.number}"
        run("ip", "link", "add", control, "type", "veth", "peer", "name", "mgmt0", "netns", self.netns)
        run("ip", "addr", "add", f"{self._address(1)}/30", "dev", control)
        run("ip", "link", "set", control, "up")
        run("ip", "-n", self.netns, "addr", "add", f"{self._address(2)}/30", "dev", "mgmt0")
        run("ip", "-n", self.netns, "link", "set", "mgmt0", "up")
        for nic in self.config.nics:
            peer = f"leaf{nic.index}"
            words = ("type", "veth", "peer", "name", peer, "netns", self.outside)
            mac = f"a0:88:c2:3b:00:{nic.index + 1:02x}"
            run("ip", "-n", self.netns, "link", "add", nic.name, "address", mac, *words)
            for space, end in ((self.netns, nic.name), (self.outside, peer)):
                run("ip", "netns", "exec", space, "sysctl", "-q", f"net.ipv6.conf.{end}.accept_dad=0")
                run("ip", "-n", space, "link", "set", end, "mtu", str(nic.mtu), "up")
            for table in nic.tables:
                own = f"{table.prefix.text.removesuffix('::/64')}:a288:c2ff:fe3b:{nic.index + 1}/64"
                run("ip", "-n", self.netns, "-6", "addr", "add", own, "dev", nic.name, "nodad")
                run("ip", "-n", self.outside, "-6", "addr", "add", f"{table.prefix.gateway}/64", "dev", peer, "nodad")

    def start(self) -> None:
        """Boot: mount what is the host's own, start sshd as its first process."""
        boot_id = self.root / "boot_id"
        boot_id.write_text(f"{time.monotonic_ns()}\n", encoding="utf-8")
        mounts = [f"mount --bind {self.root / name} {place}" for name, place in BOUND]
        own = f"mount --bind {boot_id} /proc/sys/kernel/random/boot_id"
        script = "\n".join(["set -e", *mounts, own, "mount -t tmpfs tmpfs /run", *self.first_process()])
        spaces = ("unshare", "--mount", "--propagation=private", "--pid", "--fork", "--kill-child", "--mount-proc")
        with (self.root / "sshd.log").open("ab") as log:
            self.process = subprocess.Popen(
                ("ip", "netns", "exec", self.netns, *spaces, "sh", "-c", script),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        for _ in range(500):
            if self._listens():
                return
            time.sleep(0.02)
        raise AssertionError((self.root / "sshd.log").read_text())

    def first_process(self) -> tuple[str, ...]:
        """Return the end of the script that boots: what becomes the first process."""
        return "mkdir -m 755 /run/sshd", f"exec {need_tool('sshd')} -D -e -f /etc/ssh/test_sshd"

    def _listens(self) -> bool:
        return bool(run("ip", "netns", "exec", self.netns, "ss", "-Hltn", "sport = 22"))

    @property
    def init(self) -> int:
        """The process id of the host's first process, as seen from outside."""
        assert self.process is not None
        return int(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[0])

    def inside(self, *words: str, check: bool = True) -> str:
        """Run a program on the host, as if at its console."""
        return run("nsenter", "-t", str(self.init), "-m", "-n", "-p", "--", *words, check=check)

    def power_off(self) -> None:
        """Everything that runs on the host dies at once; its files and the state of its NICs stay."""
        if self.process is None:
            return
        os.kill(self.init, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def boot(self) -> None:
        """Boot after a power failure; what systemd's units do is done by hand, or by systemd."""
        self.forget()
        self.start()
        self.units()

    def renew(self) -> None:
        """Boot with the files of the first boot."""
        self.power_off()
        run("rsync", "-a", "--delete", *(str(self.root / "first" / name) for name, _ in BOUND), str(self.root))
        self.forget()
        self.start()

    def forget(self) -> None:
        """Make the kernel of a host that is off forget what it knew."""
        tables = [table for nic in self.config.nics for table in nic.tables]
        for rule in run("ip", "-n", self.netns, "-6", "rule", "show").splitlines():
            if rule.partition(":")[0] not in ("0", "32766"):
                run("ip", "-n", self.netns, "-6", "rule", "del", "priority", rule.partition(":")[0])
        for number in {offset + table.id for table in tables for offset in (0, 10000)}:
            run("ip", "-n", self.netns, "-6", "route", "flush", "table", str(number), check=False)

    def units(self) -> None:
        """Do what the units do at boot."""
        pending, script = "/var/lib/ailb-gen/pending", "/usr/local/sbin/ailb-net"
        self.inside("sh", "-c", f"[ ! -L {pending} ] || exec /bin/sh {pending}/agent boot")
        self.inside("sh", "-c", "sysctl -e -q -p /etc/sysctl.d/99-accept-ra.conf", check=False)
        self.inside("sh", "-c", f"[ ! -x {script} ] || exec {script} apply")

    def remove(self) -> None:
        """Leave nothing behind."""
        self.power_off()
        for name in (self.netns, self.outside):
            run("ip", "netns", "del", name, check=False)
        run("ip", "link", "del", f"ailb{self.number}", check=False)

    def server(
        self,
        user: str = "root",
        password: str | None = None,
        sudo_password: str | None = None,
        known_hosts: Path | None = None,
    ) -> ServerConnection:
        """Return a connection, not yet open; the key logs in where no password is given."""
        credentials = Credentials(
            username=user,
            password=Secret(password) if password else None,
            passphrase=None,
            sudo_password=Secret(sudo_password) if sudo_password else None,
            key_file=None if password else self.key,
            agent=False,
        )
        return ServerConnection(
            SshReach("gpu-1", self._address(2), 22, credentials, keys_in(known_hosts or self.known_hosts), 10)
        )

    def connected(self) -> ServerConnection:
        """Return an open connection as root."""
        connection = self.server()
        connection.open()
        return connection

    def tree(self) -> dict[str, tuple[str, int, tuple[int, int], bytes]]:
        """Return what may be touched by a push: kind, mode, owner and content of everything below it, by path."""
        found = {}
        for name, prefix in (("etc", "etc"), ("usr-local", "usr/local")):
            for at, folders, files in os.walk(self.root / name):
                for entry in (*folders, *files):
                    path = Path(at) / entry
                    status = path.lstat()
                    kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "file"
                    content = str(path.readlink()).encode() if kind == "link" else b""
                    content = path.read_bytes() if kind == "file" else content
                    where = f"{prefix}/{path.relative_to(self.root / name)}"
                    found[where] = (kind, status.st_mode, (status.st_uid, status.st_gid), content)
        return found

    def kernel(self) -> list[str]:
        """Return the kernel's rules and routes, and the settings of the NICs."""
        keys = ("accept_ra", "accept_ra_defrtr", "autoconf", "addr_gen_mode", "use_tempaddr", "max_addresses")
        paths = [f"net.ipv6.conf.{nic.name}.{key}" for nic in self.config.nics for key in keys]
        tables = [table.id for nic in self.config.nics for table in nic.tables]
        return [
            run("ip", "-n", self.netns, "-6", "rule", "show"),
            *(
                run("ip", "-n", self.netns, "-6", "route", "show", "table", str(number), check=False)
                for number in tables
            ),
            run("ip", "netns", "exec", self.netns, "sysctl", *paths),
        ]


def host_at(root: Path, config: HostConfig, kind: type[Host] = Host) -> Iterator[Host]:
    """Give a host that runs, and remove it in the end."""
    need_root()
    for tool in (*TOOLS, "rsync"):
        need_tool(tool)
    host = kind(root, config)
    try:
        host.build()
        host.start()
        yield host
    finally:
        host.remove()
