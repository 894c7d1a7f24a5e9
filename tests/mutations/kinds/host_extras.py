"""Damage beside a server's files: others that override or join them, and the modes of scripts."""

from __future__ import annotations

from collections.abc import Callable

from tests.mutations.edits import Edit, put
from tests.mutations.kind import kind
from tests.mutations.spots import files
from tests.mutations.tree import Changes, Tree, WithMode, text_of

PROFILE = "/etc/netplan/60-ailb-gpu.yaml"
SCRIPTS = ("*/sbin/ailb-net", "*/sbin/ailb-qos")


def _beside(path: str, text: str) -> Edit:
    """Put one more file into a profile."""

    def changes(tree: Tree) -> list[Changes]:
        return [{f"{file.removesuffix(PROFILE)}/{path}": text.encode()} for file in files(tree, f"*{PROFILE}")]

    return put(changes)


def _mode(mode: int) -> Callable[[Tree], list[Changes]]:
    """Give a script another mode."""
    return lambda tree: [
        {path: WithMode(text_of(tree, path).encode(), mode)} for glob in SCRIPTS for path in files(tree, glob)
    ]


# Name, path in the server's folder, text.
BESIDE = (
    ("sysctl", "etc/sysctl.d/zz-local.conf", "net.ipv6.conf.all.accept_ra = 0\n"),
    ("sysctl-conf", "etc/sysctl.conf", "net.ipv6.conf.all.forwarding = 1\n"),
    ("drop-in", "etc/systemd/system/ailb-net.service.d/override.conf", "[Service]\nExecStart=\nExecStart=/bin/true\n"),
    ("network", "etc/systemd/network/05-all.network", "[Match]\nName=*\n\n[Network]\nIPv6AcceptRA=no\n"),
    ("link", "etc/systemd/network/05-nic.link", "[Match]\nDriver=mlx5_core\n\n[Link]\nNamePolicy=path\n"),
    ("udev", "etc/udev/rules.d/60-rdma.rules", 'ACTION=="add", KERNEL=="mlx5_*", PROGRAM="rdma_rename %k NAME_PCI"\n'),
    ("modprobe", "etc/modprobe.d/mlx5.conf", "options mlx5_core prof_sel=3\n"),
    ("nccl", "etc/nccl.conf", "NCCL_IB_GID_INDEX=0\n"),
    ("profile", "etc/profile.d/nccl.sh", "export NCCL_IB_DISABLE=1\n"),
    ("tables", "etc/iproute2/rt_tables.d/local.conf", "10000 storage\n"),
    ("nftables", "etc/nftables.conf", "table inet filter {}\n"),
    ("program", "usr/local/sbin/ip", "#!/bin/sh\nexit 0\n"),
    ("cron", "etc/cron.d/mtu", "* * * * * root ip link set gpu0_eth mtu 1500\n"),
    ("unknown", "opt/vendor/setup.bin", "ifup -a\n"),
)
KINDS = (
    *(kind(f"host-extra-{name}", _beside(path, text), "AILB617") for name, path, text in BESIDE),
    kind("script-not-executable", put(_mode(0o644)), "AILB618"),
    kind("script-writable", put(_mode(0o777)), "AILB618"),
)
