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
    """Put one more file into a profile, or text behind one that is there."""

    def changes(tree: Tree) -> list[Changes]:
        names = [f"{file.removesuffix(PROFILE)}/{path}" for file in files(tree, f"*{PROFILE}")]
        return [{name: ((text_of(tree, name) if name in tree else "") + text).encode()} for name in names]

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
    ("memory-for-RDMA-is-short", "etc/security/limits.d/rdma.conf", "* hard memlock 64\n"),
    (
        "bond-takes-a-NIC",
        "etc/netplan/02-bond.yaml",
        "network:\n  version: 2\n  bonds:\n    bond0: {interfaces: [gpu0_eth]}\n",
    ),
    ("another-renderer", "etc/netplan/03.yaml", "network:\n  version: 2\n  renderer: NetworkManager\n"),
    ("timer-of-the-fabrics", "etc/systemd/system/x.timer", "[Timer]\nOnCalendar=daily\nUnit=ailb-net.service\n"),
    ("command-in-the-search-path", "etc/profile.d/x.sh", "export PATH=$(reboot):$PATH\n"),
    ("unit-runs-any-program", "etc/systemd/system/x.service", "[Service]\nExecStart=/sbin/ip link\n"),
    (
        "unit-stops-the-fabrics",
        "etc/systemd/system/node-exporter.service",
        "[Unit]\nConflicts=ailb-net.service\n\n[Service]\nExecStart=/usr/bin/node_exporter\n",
    ),
    ("drop-in-of-networkd", "etc/systemd/system/systemd-networkd.service.d/x.conf", "[Service]\nRestart=no\n"),
    ("rule-that-renames", "etc/udev/rules.d/x.rules", 'SUBSYSTEM=="net", NAME="x"\n'),
    ("kernel-without-IPv6", "etc/default/grub", 'GRUB_CMDLINE_LINUX="ipv6.disable=1"\n'),
    ("job-by-the-clock-that-sets-routes", "etc/cron.d/x", "0 3 * * * root ip -6 route flush table 10000\n"),
    ("note-that-names-a-NIC", "root/fix.sh", "ifdown gpu0_eth\n"),
    ("library-in-every-program", "etc/ld.so.preload", "/opt/x.so\n"),
    ("connection-of-any-NIC", "etc/NetworkManager/system-connections/x.nmconnection", "[connection]\nid=x\n"),
    (
        "NICs-of-NetworkManager",
        "etc/NetworkManager/conf.d/x.conf",
        "[keyfile]\nunmanaged-devices=*,except:type:ethernet\n",
    ),
    ("mount-over-the-settings", "etc/systemd/system/etc-netplan.mount", "[Mount]\nWhat=x\n"),
    ("no-modules", "etc/sysctl.d/60-cis.conf", "kernel.modules_disabled = 1\n"),
    ("few-neighbors", "etc/sysctl.d/10.conf", "net.ipv6.neigh.default.gc_thresh3 = 8\n"),
    ("no-advertisements-at-all", "etc/sysctl.d/60-cis.conf", "net.ipv6.conf.all.accept_ra = 0\n"),
    ("variable-for-jobs", "etc/profile.d/nccl.sh", "export NCCL_IB_GID_INDEX=1\n"),
    ("program-in-a-value", "etc/profile.d/x.sh", "LANG=$(ip link set gpu0_eth down)\n"),
    ("backup-that-is-run", "etc/networkd-dispatcher/routable.d/x.bak", "x\n"),
    ("routing-daemon", "etc/frr/frr.conf", "router bgp 65000\n"),
    ("all-jobs-meet-over-a-GPU-NIC", "etc/environment", "MASTER_ADDR=fc00:1:1:1::7\n"),
    ("sockets-for-all-shells", "etc/profile.d/nccl.sh", "export NCCL_SOCKET_IFNAME=gpu\n"),
)
# What looks like a harmless addition to a file: name, path, text, the check.
ADDED = (
    (
        "table-of-the-fabric-has-another-number",
        "etc/iproute2/rt_tables.d/jnpr_nccl_net.conf",
        "254 gpu0_subnet1\n",
        "AILB608",
    ),
    ("UCX-over-TCP", "etc/ailb/nccl.env", "UCX_TLS=tcp,self\n", "AILB612"),
    ("no-patience", "etc/ailb/nccl.env", "NCCL_IB_TIMEOUT=1\n", "AILB612"),
    ("no-second-try", "etc/ailb/nccl.env", "NCCL_IB_RETRY_CNT=0\n", "AILB612"),
    ("no-buffers", "etc/ailb/nccl.env", "NCCL_BUFFSIZE=0\n", "AILB612"),
    ("blank-behind-the-sign", "etc/ailb/nccl.env", "NCCL_NET_PLUGIN= juniper-ib\n", "AILB601"),
    ("another-GID", "etc/ailb/nccl.env", "NCCL_IB_GID_INDEX=0\n", "AILB612"),
    ("another-class", "etc/ailb/nccl.env", "NCCL_IB_TC=0\n", "AILB612"),
    ("sockets-of-a-GPU-NIC", "etc/ailb/nccl.env", "NCCL_SOCKET_IFNAME=gpu0_eth\n", "AILB612"),
    ("sockets-of-GPU-NICs", "etc/ailb/nccl.env", "GLOO_SOCKET_IFNAME=eno1,gpu1_eth\n", "AILB612"),
    ("Open-MPI-over-a-GPU-NIC", "etc/ailb/nccl.env", "OMPI_MCA_btl_tcp_if_include=gpu0_eth\n", "AILB612"),
    ("processes-meet-over-a-GPU-NIC", "etc/ailb/nccl.env", "MASTER_ADDR=fc00:1:1:1::7\n", "AILB612"),
    ("NCCL-meets-over-a-GPU-NIC", "etc/ailb/nccl.env", "NCCL_COMM_ID=[fc00:1:1:1::7]:9000\n", "AILB612"),
    ("one-name-for-all-servers", "etc/ailb/nccl.env", "NCCL_HOSTID=a\n", "AILB612"),
    ("other-rails", "etc/ailb/nccl.env", "NCCL_CROSS_NIC=1\n", "AILB612"),
    (
        "parameter-of-a-GPU-NIC",
        "etc/sysctl.d/99-accept-ra.conf",
        "net.ipv6.conf.gpu0_eth.disable_ipv6 = 1\n",
        "AILB610",
    ),
    ("table-twice", "etc/iproute2/rt_tables.d/jnpr_nccl_net.conf", "10000 storage # NFS\n", "AILB608"),
)
KINDS = (
    *(kind(f"host-extra-{name}", _beside(path, text), "AILB617") for name, path, text in BESIDE),
    *(kind(f"host-added-{name}", _beside(path, text), check, ("lab",)) for name, path, text, check in ADDED),
    kind("script-not-executable", put(_mode(0o644)), "AILB618"),
    kind("script-writable", put(_mode(0o777)), "AILB618"),
)
