"""Settings and files of servers that say nothing about the fabric, with the reason why.

Patterns are regular expressions for a whole name, and for the whole value behind it; `.*` where any value will do.
What is on no list is told (AILB610, AILB612, AILB617). Sources: the kernel's ip-sysctl.rst, NVIDIA's NCCL user guide
(environment variables) and PyTorch's, limits.conf(5), systemd.unit(5), systemd-system.conf(5), iproute2, CIS benchmarks
for Ubuntu and RHEL.
"""

from __future__ import annotations

import re
from functools import cache

from ailb_gen.hosts.model import Setting
from ailb_gen.intent.nccl import VARIABLES
from ailb_gen.layout import is_left_over

# Reason -> pattern of names -> pattern of values.
Settings = dict[str, dict[str, str]]
ANY = r".*"
NUMBER = r"[0-9]+"
POSITIVE = r"0*[1-9][0-9]*"
SWITCH = r"[01]"
# Shells run what stands in `$(...)` or backquotes.
WORDS = r"(?:[^$`]|\$\{?\w)*"

SYSCTLS: Settings = {
    "memory, processes, files and devices of the host": {
        r"(?:vm|fs|user|dev|debug|abi|crypto|sunrpc|fscache|xen)\..*": ANY,
        # Without the first two no driver of a NIC can be loaded.
        r"kernel\.(?!modules_disabled|modprobe).*": ANY,
    },
    "buffers and queues of sockets; RDMA bypasses them": {
        r"net\.(?:core|unix|sctp|rds|netfilter|nf_conntrack_.*|bridge)(?:\..*)?": ANY,
        r"net\.mptcp\..*": ANY,
    },
    "TCP and UDP of the host, and IPv4, which carries none of the fabric's packets": {
        r"net\.ipv4\..*": ANY,
        r"net\.ipv6\.(?:bindv6only|ip_nonlocal_bind|auto_flowlabels|flowlabel_.*|ip6frag_.*|mld_.*|idgen_.*)": ANY,
        r"net\.ipv6\.icmp\..*": ANY,
    },
    "larger limits for neighbors and routes than the kernel's defaults": {
        r"net\.ipv6\.neigh\.default\.gc_thresh[123]": r"[0-9]{4,}",
        r"net\.ipv6\.neigh\.default\.gc_(?:interval|stale_time)": ANY,
        r"net\.ipv6\.route\.(?:max_size|gc_thresh)": r"[0-9]{4,}|-1",
        r"net\.ipv6\.route\.(?:gc_.*|mtu_expires|min_adv_mss)": ANY,
    },
    "redirects and source routes, which no leaf of the fabric sends": {
        r"net\.ipv6\.conf\.[^.]+\.(?:accept_redirects|accept_source_route)": r"-?[01]",
    },
    "the loopback and bridges of containers": {
        r"net\.ipv6\.conf\.(?:lo|docker[0-9]+|virbr[0-9]+|lxcbr[0-9]+|cni[0-9]+)\..*": ANY,
    },
}

ENVIRONMENT: Settings = {
    "logs, traces and reports": {
        r"NCCL_DEBUG(?:_SUBSYS|_FILE|_TIMESTAMP_FORMAT|_TIMESTAMP_LEVELS)?": r"\S+(?: .*)?",
        r"NCCL_(?:WARN_ENABLE_DEBUG_INFO|SET_THREAD_NAME|RAS_ENABLE)": SWITCH,
        r"NCCL_(?:TOPO|GRAPH)_DUMP_FILE(?:_RANK)?|NCCL_RAS_(?:ADDR|TIMEOUT_FACTOR)": WORDS,
        r"UCX_(?:LOG_LEVEL|LOG_FILE|LOG_PRINT_ENABLE|WARN_UNUSED_ENV_VARS|STATS_DEST|STATS_TRIGGER)": WORDS,
        r"SHARP_COLL_LOG_LEVEL|NVSHMEM_DEBUG(?:_SUBSYS|_FILE)?|UCC_(?:\w+_)?LOG_LEVEL": WORDS,
        r"NCCL_PROFILER_PLUGIN|TF_CPP_MIN_LOG_LEVEL|WANDB_\w+|MLFLOW_\w+": WORDS,
        r"TORCH_(?:CPP_LOG_LEVEL|DISTRIBUTED_DEBUG|SHOW_CPP_STACKTRACES|LOGS)": WORDS,
    },
    "timeouts and retries of NCCL; no packet takes another path": {
        r"NCCL_SOCKET_(?:RETRY_CNT|RETRY_SLEEP_MSEC|POLL_TIMEOUT_MSEC)": NUMBER,
        r"NCCL_IB_RETURN_ASYNC_EVENTS": SWITCH,
        r"TORCH_NCCL_(?:ASYNC_ERROR_HANDLING|BLOCKING_WAIT|HEARTBEAT_TIMEOUT_SEC|ENABLE_MONITORING)": NUMBER,
        r"TORCH_NCCL_(?:TRACE_BUFFER_SIZE|DUMP_ON_TIMEOUT|DESYNC_DEBUG|ENABLE_TIMING|WAIT_TIMEOUT_DUMP_MILSEC)": NUMBER,
        r"TORCH_NCCL_(?:AVOID_RECORD_STREAMS|USE_COMM_NONBLOCKING|HIGH_PRIORITY)|NCCL_ASYNC_ERROR_HANDLING": NUMBER,
    },
    "inside a server: between its GPUs, memory and processors": {
        r"NCCL_(?:P2P_LEVEL|SHM_LOCALITY|CUMEM_ENABLE|CUMEM_HOST_ENABLE|NVLS_ENABLE|MNNVL_ENABLE|NVB_DISABLE)": WORDS,
        r"NCCL_(?:P2P_NVL_CHUNKSIZE|P2P_PCI_CHUNKSIZE|P2P_DIRECT_DISABLE|P2P_USE_CUDA_MEMCPY)": NUMBER,
        r"NCCL_(?:SHM_USE_CUDA_MEMCPY|SHM_MEMCPY_MODE|IGNORE_CPU_AFFINITY|LAUNCH_MODE)": WORDS,
        r"NCCL_(?:CHECKS_DISABLE|CHECK_POINTERS)": SWITCH,
        r"NCCL_(?:NET_GDR_LEVEL|NET_GDR_READ|NET_GDR_C2C|DMABUF_ENABLE|GDRCOPY_ENABLE|IB_PCI_RELAXED_ORDERING)": WORDS,
        r"NCCL_(?:LOCAL_REGISTER|GRAPH_REGISTER|GRAPH_MIXING_SUPPORT|CGA_CLUSTER_SIZE|WORK_FIFO_DEPTH)": NUMBER,
        r"(?:OMP|MKL|OPENBLAS)_NUM_THREADS|CUDA_DEVICE_(?:MAX_CONNECTIONS|ORDER)": WORDS,
        r"CUDA_(?:MODULE_LOADING|CACHE_.*)": WORDS,
        r"PYTORCH_CUDA_ALLOC_CONF|PYTHONUNBUFFERED|MALLOC_ARENA_MAX|KMP_.*|GOMP_.*": WORDS,
    },
    "RDMA transports of UCX and its memory registration; not TCP": {
        r"UCX_TLS": r"(?=(?:.*,)?(?:rc|rc_x|rc_v|rc_verbs|rc_mlx5)(?:,|$))"
        r"(?:(?:rc|rc_x|rc_v|rc_verbs|rc_mlx5|sm|shm|posix|sysv|cma|knem|xpmem|self|gdr_copy|cuda\w*|rocm\w*)(?:,|$))+",
        r"UCX_(?:MEMTYPE_CACHE|RNDV_SCHEME|RNDV_THRESH|ZCOPY_THRESH|RCACHE_\w+|MEM_\w+|ERROR_SIGNALS)": WORDS,
    },
    "how messages are split; every part uses all queue pairs equally": {
        r"NCCL_(?:MIN|MAX)_(?:NCHANNELS|CTAS)|NCCL_(?:NTHREADS|BUFFSIZE|LL_BUFFSIZE|LL128_BUFFSIZE)": POSITIVE,
        r"NCCL_(?:ALGO|PROTO)": r"[\w,:;^]+",
    },
    "values with which the fabric works; others are also rejected in fabric.yaml": {
        name: one.pattern for name, one in VARIABLES.items() if one.quiet
    },
    "connections that only set up a job; still reported where they name a GPU NIC": {
        r"NCCL_SOCKET_IFNAME|NCCL_OOB_NET_IFNAME|GLOO_SOCKET_IFNAME|TP_SOCKET_IFNAME": r"[\w.,:=^-]+",
        r"NCCL_COMM_ID|MASTER_(?:ADDR|PORT)": WORDS,
        r"(?:OMPI|PRTE|PMIX)_MCA_(?:btl_tcp|oob_tcp|ptl_tcp|prte|gds)(?:_\w+)?": WORDS,
        r"NCCL_COMM_BLOCKING": SWITCH,
    },
    "values that are also the defaults": {
        r"NCCL_(?:IB_SL|P2P_DISABLE|SHM_DISABLE|PXN_DISABLE)": r"0",
        # Both keep the rings of a job on their rails.
        r"NCCL_CROSS_NIC": r"[02]",
    },
    "users and their tools": {
        r"LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|EDITOR|PAGER|TMOUT|HISTSIZE|HISTFILESIZE|HISTTIMEFORMAT|TMPDIR": WORDS,
        r"TOKENIZERS_PARALLELISM|TRANSFORMERS_OFFLINE|CUDA_(?:HOME|PATH)|NVIDIA_DRIVER_CAPABILITIES": WORDS,
        r"NVIDIA_VISIBLE_DEVICES": r"all",
        r"CUDA_VISIBLE_DEVICES": r"[0-9]+(?:,[0-9]+)*",
        # What is added to the search path of programs stays behind or before the system's.
        r"PATH": r"(?:[\w/.-]+:)*\$\{?PATH\}?(?::[\w/.-]+)*",
        r"(?:https?|ftp|all|no)_proxy|(?:HTTPS?|FTP|ALL|NO)_PROXY|HF_HOME|HF_HUB_.*|XDG_.*|PIP_.*": WORDS,
    },
}

# Programs that run or read every file of a folder, whatever it is called.
READ_WHOLE = re.compile(r"etc/(?:NetworkManager|network|networkd-dispatcher|dhcp|ppp|sysconfig|wicked|ifplugd)/.*")
# Pattern of paths -> reason.
FILES: dict[str, str] = {
    r"usr/share/(?:doc|man)/.*|etc/update-motd\.d/.*\.txt": "documentation",
    r"etc/(?:motd|issue|issue\.net|hostname|machine-info|timezone|localtime|locale\.\w+|adjtime)": "the host's name",
    r"etc/(?:hosts|resolv\.conf|host\.conf|gai\.conf|services|protocols)": "names; the fabric uses addresses",
    r"etc/hosts\.(?:allow|deny)|(?:root|home/[^/]+)/\.ssh/.*": "logins",
    r"etc/(?:lldpd\.d/.*|lldpd\.conf|default/lldpd)": "LLDP of the server; the fabric uses its list of cables",
    r"etc/(?:ssh|sudoers\.d|pam\.d|ssl|pki|ca-certificates|sssd|krb5\.conf\.d|polkit-1|apparmor\.d)/.*": "logins",
    r"etc/(?:sudoers|passwd|group|nsswitch\.conf|login\.defs|krb5\.conf|ldap\.conf|shells|securetty)": "logins",
    r"etc/security/(?:pwquality|faillock|access|namespace|time)\.conf": "logins",
    r"etc/(?:chrony|ntp|rsyslog\.d|logrotate\.d|audit|apt|yum\.repos\.d|dnf|zypp)/.*": "time, logs and packages",
    r"etc/(?:chrony|ntp|rsyslog|logrotate|ntpsec|yum|dnf)\.conf": "time, logs and packages",
    r"etc/systemd/(?:timesyncd|journald|resolved|coredump|logind|pstore)\.conf(?:\.d/[^/]+\.conf)?": "time and logs",
    r"etc/(?:prometheus|node_exporter|telegraf|collectd|snmp|zabbix|datadog-agent|dcgm-exporter)/.*": "monitoring",
    r"etc/(?:vector|fluent-bit|filebeat|metricbeat|promtail|alloy|otelcol(?:-contrib)?|netdata)/.*": "monitoring",
    r"etc/(?:lvm|multipath|mdadm|iscsi|lustre|nfs\.conf\.d|exports\.d|auto\.[^/]+)/.*": "disks and file systems",
    r"etc/(?:multipath\.conf|nfs\.conf|exports|auto\.[^/]+)": "disks and file systems",
    r"etc/(?:fstab|crypttab|mke2fs\.conf|smartd\.conf|lnet\.conf)": "disks and file systems",
    r"etc/(?:slurm|munge|enroot|containerd|docker|nvidia-container-runtime)/.*": "schedulers and containers of jobs",
    r"etc/(?:fail2ban|clamav|aide|rkhunter|usbguard)/.*": "logins and intrusion detection",
    r"etc/cron\.(?:d|hourly|daily|weekly|monthly)/(?:0?anacron|0hourly|apt-compat|aptitude|dpkg|e2scrub_all|fstrim"
    r"|logrotate|man-db|mdadm|mdcheck|mlocate|plocate|popularity-contest|raid-check|sysstat|aide|rkhunter)": (
        "jobs from packages of the distribution"
    ),
    r"etc/(?:OpenCL|vulkan)/.*": "libraries of the GPUs",
    r"etc/ld\.so\.conf\.d/(?:cuda|cudnn|nvidia)[\w.-]*\.conf": "libraries of the GPUs",
}
# Programs that only watch, log or keep the time: a unit that starts them changes nothing of the fabric.
WATCHING = re.compile(
    r"(?:[\w-]+[-_]exporter|prometheus|telegraf|collectd|netdata|alloy|promtail|vector|grafana-agent|td-agent|fluentd"
    r"|fluent-bit|filebeat|metricbeat|journalbeat|otelcol(?:-contrib)?|datadog-agent|zabbix_agent(?:d|2)|snmpd|nrpe"
    r"|nv-hostengine|dcgmi?|dcgmproftester\d+|nvidia-persistenced|nv-fabricmanager|smartd|mcelog|rasdaemon|edac-util"
    r"|chronyd|ntpd|rsyslogd|auditd|journalctl|atop|atopacctd|sadc|sa1|sa2|logrotate|fstrim|irqbalance|slurmd"
    r"|munged|sssd|sshd|crond|cron|ipmievd|lldpd)"
)
# Programs by which a script, or a scheduled job, changes interfaces, routes, drivers or services.
NETWORK_TOOLS = re.compile(
    r"(?<![\w.-])(?:ip|ifconfig|ifup|ifdown|route|tc|nft|ip6?tables\S*|ethtool|bridge|netplan|networkctl|nmcli|devlink|rdma"
    r"|dhclient|dhcpcd|sysctl|systemctl|service|udevadm|modprobe|rmmod|insmod|modules-load|mlnx_\w+|mlxconfig|mlxlink"
    r"|mst|cma_roce_\w+|reboot|shutdown|init|kexec|ailb\S*)(?![\w.-])|/(?:sys|proc)/|NCCL_|UCX_|LD_(?:LIBRARY|PRELOAD)"
)
# Keys of drop-ins that limit, restart and describe a service of somebody else.
UNIT_LIMITS = re.compile(
    r"Limit[A-Z]+|Tasks(?:Max|Accounting)|(?:Memory|CPU|IO)[A-Za-z]+|Nice|OOM\w+|Restart(?:Sec)?|Timeout\w+Sec|Delegate"
    r"|StartLimit\w+|Description|Documentation|Environment|EnvironmentFile|Slice"
)
MANAGER_LIMITS = re.compile(r"Default(?:Limit|Timeout|Tasks|Memory|CPU|IO|Restart|StartLimit|OOM)\w*|Log\w+|Show\w+")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


def setting_is_harmless(table: Settings, setting: Setting) -> bool:
    """Return whether a table lists a setting with such a value."""
    return any(
        _compiled(names).fullmatch(setting.key) and _compiled(values).fullmatch(str(setting.value))
        for rows in table.values()
        for names, values in rows.items()
    )


def file_is_harmless(path: str) -> bool:
    """Return whether a file says nothing about the fabric, whatever stands in it."""
    if is_left_over(path) and READ_WHOLE.fullmatch(path) is None:
        return True
    return any(_compiled(pattern).fullmatch(path) for pattern in FILES)
