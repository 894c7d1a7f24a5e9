"""What people add to a generated tree without harm is quiet, and what looks like it and does harm is not."""

from __future__ import annotations

import pytest

from tests.mutations.score import CHECKS, findings, golden
from tests.mutations.tree import Changes, sealed, text_of

EXAMPLE = "lab"
SERVER = "profiles/stripe1"
SPINE = "switches/spine1.conf"
NETPLAN = "etc/netplan/60-ailb-gpu.yaml"
SYSCTL = "etc/sysctl.d/99-accept-ra.conf"
TABLES = "etc/iproute2/rt_tables.d/jnpr_nccl_net.conf"
# Path in a server's folder, or in the tree where it begins with `switches/` or `servers/` -> text.
FILES = {
    "etc/sysctl.d/60-cis.conf": "net.ipv4.conf.all.send_redirects = 0\nnet.ipv6.conf.all.accept_redirects = 0\n"
    "net.ipv4.conf.all.rp_filter = 1\nkernel.randomize_va_space = 2\nfs.suid_dumpable = 0\n",
    "etc/sysctl.d/10-neighbors.conf": "net.ipv6.neigh.default.gc_thresh3 = 32768\nnet.core.rmem_max = 268435456\n",
    "etc/sysctl.d/11-management.conf": "net.ipv6.conf.eno1.accept_ra = 0\n",
    "etc/security/limits.d/rdma.conf": "* - memlock unlimited # GPUs\n* - nofile 1048576\n",
    "etc/systemd/system/dcgm-exporter.service": "[Unit]\nDescription=GPUs\nAfter=network.target\n\n"
    "[Service]\nExecStart=/usr/bin/dcgm-exporter\nRestart=always\n\n[Install]\nWantedBy=multi-user.target\n",
    "etc/systemd/system/slurmd.service.d/limits.conf": "[Service]\nLimitMEMLOCK=infinity\nDelegate=yes\n",
    "etc/systemd/system.conf.d/memlock.conf": "[Manager]\nDefaultLimitMEMLOCK=infinity\n",
    "etc/systemd/journald.conf.d/size.conf": "[Journal]\nSystemMaxUse=1G\n",
    "etc/udev/rules.d/60-nvme.rules": 'KERNEL=="nvme[0-9]*", ATTR{queue/scheduler}="none"\n',
    "etc/modprobe.d/nvidia.conf": "blacklist nouveau # the GPUs' own driver\n",
    "etc/profile.d/timeout.sh": "readonly TMOUT=600\nexport TMOUT\numask 027\n",
    "etc/environment": "LANG=C.UTF-8\n",
    "etc/default/grub": 'GRUB_CMDLINE_LINUX="iommu=pt hugepagesz=1G"\n',
    "etc/iproute2/rt_tables.d/storage.conf": "20000 storage # NFS\n",
    "etc/netplan/01-management.yaml": "network:\n  version: 2\n  ethernets:\n    eno1:\n      dhcp4: true\n",
    f"{NETPLAN}.bak": "x\n",
    "etc/ailb/.nccl.env.swp": "x\n",
    "usr/local/sbin/ailb-net~": "x\n",
    "etc/netplan/02-management.yaml": "network:\n  version: 2\n  renderer: networkd\n  ethernets:\n    eno5: {}\n"
    "    eno6: {}\n  bonds:\n    bond0: {interfaces: [eno5, eno6], dhcp4: true}\n"
    "  vlans:\n    vlan10: {id: 10, link: bond0, addresses: [192.0.2.6/24]}\n",
    "etc/systemd/system/backup.timer": "[Unit]\nDescription=x\n[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=x\n",
    "usr/local/bin/burn-in": "#!/bin/sh\n",
    "root/.ssh/authorized_keys": "ssh-ed25519 AAAA ops\n",
    "etc/lldpd.d/name.conf": "configure system hostname gpu1\n",
    "etc/profile.d/cuda.sh": "export PATH=/usr/local/cuda/bin:$PATH\n",
    "etc/containerd/config.toml": "version = 2\n",
    "etc/slurm/slurm.conf": "ClusterName=pod7\n",
    "etc/docker/daemon.json": '{"log-driver": "json-file", "data-root": "/scratch/docker"}\n',
    "etc/fail2ban/jail.d/sshd.conf": "[sshd]\nenabled = true\n",
    "etc/cron.daily/logrotate": "#!/bin/sh\nlogrotate /etc/logrotate.conf\n",
    "etc/login.defs": "UMASK 027\n",
    "etc/systemd/network/05-management.link": "[Match]\nMACAddress=aa:bb:cc:dd:ee:01\n\n[Link]\nName=mgmt0\n",
    "etc/NetworkManager/conf.d/unmanaged.conf": "[keyfile]\nunmanaged-devices=*\n",
    "etc/NetworkManager/system-connections/mgmt.nmconnection": "[connection]\nid=mgmt\ninterface-name=eno1\n",
    "etc/systemd/system/data.mount": "[Mount]\nWhat=/dev/nvme0n1\nWhere=/data\n",
    "etc/profile.d/aliases.sh": "alias ll='ls -l'\n",
    "README.md": "ours\n",
    "etc/motd": "welcome\n",
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/ssh/sshd_config.d/x.conf": "PermitRootLogin no\n",
    "etc/chrony/chrony.conf": "server 10.0.0.1\n",
    "etc/systemd/timesyncd.conf": "[Time]\nNTP=10.0.0.1\n",
    "etc/sysctl.d/60-memory.conf": "vm.swappiness = 10\nkernel.panic = 10\nnet.core.rmem_max=9\n",
    "etc/netplan/50-cloud-init.yaml": "network:\n  version: 2\n  ethernets:\n    eno2:\n      dhcp4: true\n",
    "etc/systemd/network/20-management.network": "[Match]\nName=eno1\n[Network]\nDHCP=yes\n",
    "etc/modprobe.d/nouveau.conf": "blacklist nouveau\noptions nvidia x=1\n",
    "etc/modules-load.d/nvidia.conf": "nvidia_peermem\n",
    "etc/iproute2/rt_tables.d/management.conf": "7 management\n",
    "switches/spine1.conf~": "x\n",
    "switches/spine1.conf.orig": "x\n",
    "switches/.spine1.conf.swp": "x\n",
    "switches/#spine1.conf#": "x\n",
    "switches/README.md": "x\n",
    "servers/.gitkeep": "",
}
# File of a server -> lines that are added to it.
LINES = {
    "etc/ailb/nccl.env": (
        "NCCL_DEBUG=INFO", "NCCL_DEBUG_SUBSYS=INIT,NET", "NCCL_DEBUG_FILE=/var/log/nccl.%h.%p", "NCCL_IB_TIMEOUT=22",
        "NCCL_IB_RETRY_CNT=7", "NCCL_SOCKET_IFNAME=eno1",
        "NCCL_SOCKET_IFNAME=^lo,docker0", "GLOO_SOCKET_IFNAME=eno1", "NCCL_NVLS_ENABLE=1", "NCCL_NET_GDR_LEVEL=PIX",
        "MASTER_PORT=29500", "MASTER_ADDR=10.0.0.7", "NCCL_COMM_ID=[2001:db8::7]:9000",
        "TOKENIZERS_PARALLELISM=false", "NCCL_COMM_BLOCKING=1", "NVIDIA_VISIBLE_DEVICES=all",
        "CUDA_VISIBLE_DEVICES=0,1,2,3",
        "OMPI_MCA_btl_tcp_if_include=eno1", "PATH=/usr/local/cuda/bin:$PATH", "WANDB_MODE=offline",
        "UCX_TLS=rc,cuda_copy,sm,self", "UCX_RNDV_SCHEME=get_zcopy", "NVSHMEM_DEBUG=INFO",
        "NCCL_BUFFSIZE=8388608", "NCCL_CROSS_NIC=0", "TORCH_NCCL_TRACE_BUFFER_SIZE=2000", "OMP_NUM_THREADS=8",
    ),
    SYSCTL: (
        "net.core.wmem_max = 268435456", "net.ipv4.tcp_rmem = 4096 87380 134217728", "vm.swappiness = 1",
        "kernel.numa_balancing = 0", "net.ipv6.conf.eno1.accept_ra = 0",
    ),
    TABLES: ("# 20000 is the storage's", "30000 backup"),
}  # fmt: skip
MANAGEMENT = """    eno1:
      addresses: [192.0.2.5/24]
      routes:
        - to: default
          via: 192.0.2.1
"""
HARDENING = """    internet-options {
        icmpv4-rate-limit packet-rate 50;
        icmpv6-rate-limit packet-rate 50;
        no-source-quench;
        tcp-drop-synfin-set;
        no-tcp-reset drop-all-tcp;
    }
"""


# Files that nothing is known of: notes.
ELSEWHERE = {
    "etc/cron.d/backup": "0 3 * * * root /usr/local/bin/backup\n",
    "etc/tmpfiles.d/nccl.conf": "d /var/log/nccl 0755 root root -\n",
    "etc/tmpfiles.d/scratch.conf": "d /scratch 1777 root root 10d\n",
    "root/.bashrc": "alias ll='ls -l'\n",
    "etc/postfix/main.cf": "relayhost = mail\n",
}
UNUSED = """vlans { spare { vlan-id 999; } later { description later; } }
system { phone-home { rfc-compliant; } services { http { servers { server gnmi { port 9339; } } } } }
policy-options { policy-statement OLD { term a { from protocol bgp; } } }
"""


def server(path: str) -> str:
    """The path in the tree of a file of the server."""
    return path if path.startswith(("switches/", "servers/")) else f"{SERVER}/{path}"


def more(path: str, text: str) -> Changes:
    """The tree with text behind a file, or with a new one."""
    name = server(path)
    return {name: ((text_of(golden(EXAMPLE), name) if name in golden(EXAMPLE) else "") + text).encode()}


def inside(name: str, before: str, text: str) -> Changes:
    """The tree with text behind the first place of a line of a file."""
    whole = text_of(golden(EXAMPLE), name)
    assert before in whole
    return {name: whole.replace(before, before + text, 1).encode()}


def told(changes: Changes) -> list[str]:
    """What is found, but for the manifest: it does not know new files."""
    return [f"{one.check} {one.message}" for one in findings(EXAMPLE, sealed(golden(EXAMPLE), changes), CHECKS)]


def turned(row: str) -> str:
    """A line of the cabling from the other end."""
    words = row.split(",")
    return ",".join((*words[2:4], *words[:2], *words[4:]))


def test_files_beside_the_fabrics_own_are_quiet() -> None:
    changes: Changes = {}
    for path, text in FILES.items():
        changes |= more(path, text)
    assert not told(changes)


def test_files_of_which_nothing_is_known_are_notes() -> None:
    changes: Changes = {}
    for path, text in ELSEWHERE.items():
        changes |= more(path, text)
    assert {line.split()[0] for line in told(changes)} == {"AILB619"}


def test_what_a_switch_has_and_does_not_use_is_quiet() -> None:
    assert not told(more("switches/stripe1-leaf1.conf", UNUSED) | more(SPINE, UNUSED))


def test_settings_beside_the_fabrics_own_are_quiet() -> None:
    changes: Changes = {}
    for path, lines in LINES.items():
        changes |= more(path, "".join(f"{line}\n" for line in lines))
    changes |= inside(f"{SERVER}/{NETPLAN}", "  ethernets:\n", MANAGEMENT)
    changes |= inside(SPINE, "system {\n", HARDENING)
    assert not told(changes)


def test_a_comment_behind_a_table_and_cables_named_from_their_other_ends_are_quiet() -> None:
    tables = text_of(golden(EXAMPLE), server(TABLES)).replace("10000 gpu0_subnet1", "10000 gpu0_subnet1 # rail 0")
    head, *rows = text_of(golden(EXAMPLE), "cabling.csv").splitlines()
    cables = "".join(f"{row}\n" for row in (head, *(turned(row) if n % 2 else row for n, row in enumerate(rows))))
    assert not told({server(TABLES): tables.encode(), "cabling.csv": cables.encode()})


@pytest.mark.parametrize(
    "block",
    [
        "    gpu7_eth:\n      routes:\n        - {to: '2001:db8::/64', scope: link, table: 10000}\n",
        "    eno1:\n      set-name: gpu0_eth\n      match: {macaddress: 'aa:bb:cc:00:00:01'}\n",
        "    others:\n      match: {name: 'gpu*'}\n      dhcp4: true\n",
        "    others:\n      match: {driver: mlx5_core}\n      dhcp4: true\n",
    ],
)
def test_another_nic_in_the_fabrics_file_that_touches_a_gpu_nic_is_told(block: str) -> None:
    found = told(inside(f"{SERVER}/{NETPLAN}", "  ethernets:\n", block))
    assert any(line.startswith("AILB602") for line in found)


def test_a_cable_with_a_wrong_end_is_told_from_either_end() -> None:
    head, first, *rows = text_of(golden(EXAMPLE), "cabling.csv").splitlines()
    wrong = first.replace("spine1", "spine2")
    for row in (wrong, turned(wrong)):
        text = "".join(f"{line}\n" for line in (head, row, *rows))
        assert any(line.startswith("AILB009") for line in told({"cabling.csv": text.encode()}))
