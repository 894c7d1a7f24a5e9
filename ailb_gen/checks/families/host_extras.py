"""Check files of a server that are not the fabric's: what they override, and which are known to be harmless."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ailb_gen import layout as files
from ailb_gen.checks.families.hosts import HostFindings, per_group
from ailb_gen.checks.host_groups import HostGroup
from ailb_gen.checks.model import Check
from ailb_gen.hosts.model import Extra
from ailb_gen.hosts.text import ini, numbered, sysctls

# Folders that systemd and its relatives read, the first wins for files of one name (systemd.unit(5), sysctl.d(5)).
_TREES = r"(?:etc|run|usr/local/lib|usr/lib|lib)"
# Returns whether a file is harmless for a group of servers.
Test = Callable[["HostGroup", str], bool]


def _words(text: str) -> Iterable[list[str]]:
    return (line.split() for _, line in numbered(text))


def _names(group: HostGroup) -> set[str]:
    """Return the GPU NICs, and the RDMA devices, that no other file may touch."""
    return {name for nic in group.expected.nics for name in (nic.name, nic.rdma)}


def _sysctls(group: HostGroup, text: str) -> bool:
    """Memory and process settings, and buffers of sockets, say nothing about the fabric."""
    found = list(sysctls(text))
    return all(
        one.key and one.key.startswith(("kernel.", "vm.", "fs.", "user.", "net.core.", "net.ipv4.tcp_"))
        for one in found
    )


def _modules(group: HostGroup, text: str) -> bool:
    """Other modules than those of the NICs, of RDMA and of the protocols."""
    rows = [words for words in _words(text) if words[0] != ";"]
    return all(len(words) > 1 and not re.search(r"mlx|^ib_|rdma|bond|ipv6|8021q|^\*", words[1]) for words in rows)


def _module_list(group: HostGroup, text: str) -> bool:
    """Modules that are loaded besides; loading those of RDMA again changes nothing."""
    return all(len(words) == 1 for words in _words(text))


def _networkd(group: HostGroup, text: str) -> bool:
    """Files that match other interfaces by their whole names."""
    match = [one for one in ini(text) if one.section == "Match"]
    names = [word for one in match if one.key in ("Name", "OriginalName") for word in str(one.value).split()]
    given = [str(one.value) for one in ini(text) if one.section == "Link" and one.key == "Name"]
    exact = bool(names) and not any(set("*?[!") & set(name) for name in names)
    return exact and _names(group).isdisjoint([*names, *given])


def _tables(group: HostGroup, text: str) -> bool:
    """Tables of other numbers and names."""
    numbers = {str(name.table) for name in group.profile.names}
    names = {name.name for name in group.profile.names}
    return all(len(words) == 2 and words[0] not in numbers and words[1] not in names for words in _words(text))


def _netplan(group: HostGroup, text: str) -> bool:
    """Other NICs, each by its own name or MAC address, and nothing that holds for all or for a GPU NIC."""
    text = text.replace('"', "").replace("'", "")
    heads = re.findall(r"([a-z-]+)\s*:", text)
    kinds = {"bonds", "bridges", "vlans", "tunnels", "vrfs", "openvswitch", "nm-devices", "dummy-devices", "modems"}
    other = re.search(r"renderer\s*:\s*(?!networkd)|name\s*:[^\n]*[*?\[]|driver\s*:", text)
    touched = any(re.search(rf"(?<![\w.-]){re.escape(nic)}(?![\w.-])", text) for nic in _names(group))
    macs = {nic.mac for nic in group.nics.values() if nic.mac}
    same = any(mac in text.lower() for mac in macs)
    return "network" in heads and kinds.isdisjoint(heads) and not other and not touched and not same


# Paths that are known, what such a file changes of what was checked, and what makes it harmless; the first counts.
OVERRIDES: tuple[tuple[str, str, Test | None], ...] = (
    (
        rf"{_TREES}/sysctl\.d/.*|etc/sysctl\.conf",
        "sets kernel parameters beside etc/sysctl.d/99-accept-ra.conf",
        _sysctls,
    ),
    (r"etc/netplan/.*\.yaml", "netplan merges it with etc/netplan/60-ailb-gpu.yaml", _netplan),
    (rf"{_TREES}/netplan/.*", "netplan merges it with etc/netplan/60-ailb-gpu.yaml", None),
    (rf"{_TREES}/systemd/network/.*\.(?:network|link)", "networkd or udev may take it for a GPU NIC", _networkd),
    (rf"{_TREES}/systemd/network/.*", "networkd reads it with the units that netplan makes", None),
    (rf"{_TREES}/systemd/networkd\.conf.*", "changes what networkd does with routes and rules of others", None),
    (rf"{_TREES}/systemd/system/ailb-.*", "overrides, masks or shadows a service of the fabric", None),
    (rf"{_TREES}/systemd/.*", "systemd reads it; what it starts is not checked", None),
    (rf"{_TREES}/udev/.*", "udev rules rename NICs and run programs", None),
    (rf"{_TREES}/modprobe\.d/.*", "sets options of the drivers of NICs and of RDMA", _modules),
    (rf"{_TREES}/modules-load\.d/.*|etc/modules", "loads modules", _module_list),
    (
        r"(?:etc|usr/lib|usr/share)/iproute2/rt_tables(?:\.d/.*)?",
        "names routing tables beside jnpr_nccl_net.conf",
        _tables,
    ),
    (r"(?:etc|usr/lib|usr/share)/iproute2/.*", "names what `ip` prints and takes", None),
    (r"(?:.*/)?\.?nccl\.conf", "NCCL takes from it what etc/ailb/nccl.env leaves unset", None),
    (r"etc/ailb/.*", "lies beside the environment of NCCL", None),
    (r"etc/(?:environment|profile|bash\.bashrc)(?:\.d/.*)?|etc/default/.*", "sets variables of programs", None),
    (r"etc/(?:NetworkManager|network|sysconfig|wicked|ifplugd|connman)/.*", "belongs to another network manager", None),
    (r"etc/(?:networkd-dispatcher|dhcp|ppp)/.*", "runs when an interface changes", None),
    (r"etc/(?:nftables|iptables|ufw|firewalld|ipset)[./].*", "filters packets", None),
    (r"etc/(?:rdma|mlnx|mft|infiniband|libibverbs\.d|dat\.conf).*", "configures RDMA beside ailb-qos", None),
    (r"(?:usr/local/)?s?bin/.*|usr/s?bin/.*", "a program that may be run instead of the system's", None),
    (r"etc/(?:cron.*|rc\.local|init\.d/.*|rc\d?\.d/.*)", "runs at boot or by the clock", None),
)
# Files that say nothing about the fabric, and why.
HARMLESS: tuple[tuple[str, str], ...] = (
    (
        r"(?:.*/)?(?:README|LICENSE|NOTICE|CHANGELOG)(?:\.\w+)?|(?:.*/)?\.git(?:keep|ignore|attributes)",
        "read by people",
    ),
    (r"usr/share/(?:doc|man)/.*", "read by people"),
    (r"etc/(?:motd|issue|issue\.net|hostname|machine-info|timezone|localtime|locale\.\w+|adjtime)", "names the host"),
    (r"etc/(?:update-motd\.d/.*\.txt|hosts|resolv\.conf)", "names of hosts; the fabric goes by addresses"),
    (r"etc/(?:ssh|sudoers\.d|pam\.d|ssl|pki|ca-certificates)/.*|etc/(?:sudoers|passwd|group|nsswitch\.conf)", "logins"),
    (r"etc/(?:chrony|ntp|rsyslog\.d|logrotate\.d|audit|apt|yum\.repos\.d|dnf)/.*", "time, logs and packages"),
    (
        r"etc/(?:chrony|ntp|rsyslog|logrotate|ntpsec)\.conf|etc/systemd/(?:timesyncd|journald|resolved)\.conf",
        "the same",
    ),
    (r"etc/(?:prometheus|node_exporter|telegraf|collectd|snmp|zabbix|datadog-agent|dcgm-exporter)/.*", "monitoring"),
)


def judge(group: HostGroup, extra: Extra) -> str:
    """Return what a file changes, or empty for one that is harmless."""
    if extra.text is not None and any(re.fullmatch(pattern, extra.path) for pattern, _ in HARMLESS):
        return ""
    for pattern, what, test in OVERRIDES:
        if re.fullmatch(pattern, extra.path):
            harmless = test is not None and extra.text is not None and test(group, extra.text)
            return "" if harmless else what
    return "it is none of the fabric's files, and what it does is not checked"


@per_group
def _check_extras(group: HostGroup, findings: HostFindings) -> None:
    """Find files that override, shadow or join the fabric's."""
    findings.look(EXTRAS, 1 + len(group.profile.extras))
    roce = () if group.expected.roce else (files.QOS, files.QOS_UNIT)
    for extra in group.profile.extras:
        what = "" if extra.path in roce else judge(group, extra)
        if what:
            message = f"{extra.path}: {what}{_which(group, extra)}"
            findings.add(EXTRAS, message, extra.path, 1, "", extra.path)


def _which(group: HostGroup, extra: Extra) -> str:
    """Return which checked settings a file of sysctl.d sets once more, and which of the two wins."""
    if extra.text is None or "sysctl" not in extra.path:
        return ""
    own = {setting.key for setting in group.profile.sysctls}
    again = [one for one in sysctls(extra.text) if one.key in own]
    if not again:
        return ""
    later = extra.path == "etc/sysctl.conf" or extra.path.rpartition("/")[2] >= files.SYSCTL.rpartition("/")[2]
    wins = "it is read later and wins" if later else "it is read earlier"
    return f"; {again[0].key} = {again[0].value} in line {again[0].line}: {wins}"


EXTRAS = Check(
    "AILB617",
    "no other file of the server overrides, shadows or joins the fabric's, as far as its name and contents tell",
    "a file of the server overrides or shadows the fabric's, or is not known to be harmless",
    "A later file in sysctl.d, a drop-in or a udev rule silently overrides the files that were checked.",
    "Delete the file, or move its settings into the template; waive a file that is meant to be there.",
    _check_extras,
)
