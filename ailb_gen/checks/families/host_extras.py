"""Check files of a server that are not the fabric's: what they override, and which are known to be harmless."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ailb_gen import layout as files
from ailb_gen.checks.expected_hosts import HostGroup
from ailb_gen.checks.families.host_settings import is_of_another_nic, variable_faults
from ailb_gen.checks.families.hosts import HostFindings, per_group
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Severity
from ailb_gen.hosts.harmless import (
    ENVIRONMENT,
    MANAGER_LIMITS,
    NETWORK_TOOLS,
    SYSCTLS,
    UNIT_LIMITS,
    WATCHING,
    file_is_harmless,
    setting_is_harmless,
)
from ailb_gen.hosts.model import Extra
from ailb_gen.hosts.text import assignments, ini, numbered, sysctls

# Folders that systemd and its relatives read, the first wins for files of one name (systemd.unit(5), sysctl.d(5)).
_TREES = r"(?:etc|run|usr/local/lib|usr/lib|lib)"
# A udev rule that is for other devices than NICs.
NO_NIC = re.compile(
    r'(?:SUBSYSTEM|SUBSYSTEMS)=="(?:block|nvme|scsi|usb|tty|drm|input|hwmon|sound|nvidia|memory|cpu|rtc|thermal)[\w-]*"'
    r'|KERNEL=="(?:sd|nvme|dm-|md|loop|nvidia|tty|hid|hpet|rtc)[^"]*"'
)
NICS_OR_PROGRAMS = re.compile(r"RUN|PROGRAM|IMPORT|net|infiniband|rdma|mlx")
# A name for commands that people type.
ALIAS = re.compile(r"\s*alias [\w.-]+=")
# Returns whether a file is harmless for a group of servers.
Test = Callable[["HostGroup", str, str], bool]


def _words(text: str) -> Iterator[list[str]]:
    """Yield the words of every line, without comments behind them."""
    for _, line in numbered(text):
        yield line.partition("#")[0].split()


def _names(group: HostGroup) -> set[str]:
    """Return the GPU NICs, and the RDMA devices, that no other file may touch."""
    return {name for nic in group.expected.nics for name in (nic.name, nic.rdma)}


def touches(group: HostGroup, text: str) -> bool:
    """Return whether a text names a GPU NIC, an RDMA device, a MAC address or a service of the fabric."""
    named = any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) for name in _names(group))
    macs = {nic.mac for nic in group.nics.values() if nic.mac}
    return named or "ailb" in text or any(mac in text.lower() for mac in macs)


def _sysctls(group: HostGroup, text: str, path: str) -> bool:
    """Allow settings that are known to be harmless, and those of other NICs."""
    found = list(sysctls(text))
    return all(one.key and (setting_is_harmless(SYSCTLS, one) or is_of_another_nic(group, one)) for one in found)


def _modules(group: HostGroup, text: str, path: str) -> bool:
    """Other modules than those of the NICs, of RDMA and of the protocols."""
    rows = [words for words in _words(text) if words and words[0] != ";"]
    return all(len(words) > 1 and not re.search(r"mlx|^ib_|rdma|bond|ipv6|8021q|^\*", words[1]) for words in rows)


def _module_list(group: HostGroup, text: str, path: str) -> bool:
    """Modules that are loaded besides; loading those of RDMA again changes nothing."""
    return all(len(words) == 1 for words in _words(text))


def _networkd(group: HostGroup, text: str, path: str) -> bool:
    """Files that match other interfaces by their whole names."""
    match = [one for one in ini(text) if one.section == "Match"]
    keys = ("Name", "OriginalName", "MACAddress", "PermanentMACAddress")
    names = [word for one in match if one.key in keys for word in str(one.value).split()]
    given = [str(one.value) for one in ini(text) if one.section == "Link" and one.key == "Name"]
    exact = bool(names) and not any(set("*?[!") & set(name) for name in names)
    return exact and _names(group).isdisjoint([*names, *given]) and not touches(group, text)


def _tables(group: HostGroup, text: str, path: str) -> bool:
    """Tables of other numbers and names."""
    numbers = {str(name.table) for name in group.profile.names}
    names = {name.name for name in group.profile.names}
    rows = [words for words in _words(text) if words]
    return all(len(words) == 2 and words[0] not in numbers and words[1] not in names for words in rows)


def _netplan(group: HostGroup, text: str, path: str) -> bool:
    """Other NICs, each by its own name or MAC address, and nothing that holds for all or for a GPU NIC."""
    text = text.replace('"', "").replace("'", "")
    heads = re.findall(r"([a-z-]+)\s*:", text)
    kinds = {"tunnels", "vrfs", "openvswitch", "nm-devices", "dummy-devices", "modems"}
    other = re.search(r"renderer\s*:(?!\s*networkd\b)|name\s*:[^\n]*[*?\[]|driver\s*:", text)
    return "network" in heads and kinds.isdisjoint(heads) and not other and not touches(group, text)


def _limits(group: HostGroup, text: str, path: str) -> bool:
    """Limits of users (limits.conf(5)); RDMA pins the memory of GPUs, so that of `memlock` must not be small."""
    rows = list(_words(text))
    pinned = ("unlimited", "infinity", "-1")
    return all(len(row) == 4 and (row[2] != "memlock" or row[3] in pinned) for row in rows if row)


def _unit(group: HostGroup, text: str, path: str) -> bool:
    """Services and timers of programs that only watch; drop-ins that limit a service of somebody else."""
    rows = [one for one in ini(text) if one.key or one.value]
    if touches(group, text) or any(
        one.key in ("Conflicts", "Alias", "BindsTo", "OnFailure", "OnSuccess") for one in rows
    ):
        return False
    programs = [one for one in rows if one.key.startswith("Exec")]
    # A timer starts a service that has a file of its own.
    if not programs and any(one.section == "Timer" for one in rows):
        return all(one.key and one.section in ("Unit", "Timer", "Install") for one in rows)
    if programs:
        started = [str(one.value).lstrip("-@:+!").split()[:1] for one in programs]
        return bool(programs) and all(path and WATCHING.fullmatch(path[0].rpartition("/")[2]) for path in started)
    return bool(rows) and all(one.section in ("Unit", "Service") and UNIT_LIMITS.fullmatch(one.key) for one in rows)


def _mount(group: HostGroup, text: str, path: str) -> bool:
    """Mounts that hide no files of the fabric or of what sets up the network."""
    where = path.rpartition("/")[2].partition(".")[0].split("-")[0]
    return not touches(group, text) and where not in ("etc", "usr", "run", "lib", "sbin", "bin", "sys", "proc", "")


def _manager(group: HostGroup, text: str, path: str) -> bool:
    """Limits that services have by default (systemd-system.conf(5))."""
    return all(one.section == "Manager" and MANAGER_LIMITS.fullmatch(one.key) for one in ini(text))


def _variables(group: HostGroup, text: str, path: str) -> bool:
    """Variables that say nothing about the fabric."""
    text = "\n".join("" if ALIAS.match(line) and not NETWORK_TOOLS.search(line) else line for line in text.split("\n"))
    text = re.sub(r"^\s*readonly\s+(?=\w+=)", "", text, flags=re.MULTILINE)
    rows = list(assignments(re.sub(r"^\s*(?:readonly|export)\s+([A-Z_]+)\s*$", r"\1=", text, flags=re.MULTILINE)))
    harmless = all(setting_is_harmless(ENVIRONMENT, one) for one in rows if not _is_umask(str(one.value)))
    return harmless and not variable_faults(group, rows)


def _is_umask(line: str) -> bool:
    return re.fullmatch(r"umask 0?[0-7]{3}", line) is not None


def _defaults(group: HostGroup, text: str, path: str) -> bool:
    """Arguments of programs and of the kernel that name neither IPv6, nor names of NICs, nor the NICs themselves."""
    rows = list(assignments(text))
    own = re.compile(r"(?:NCCL|UCX|LD|PATH|NETPLAN|IPV6)(?:_|$)")
    words = re.search(r"ipv6|net\.ifnames|biosdevname|mlx|module_blacklist|systemd\.|rdma|\$\(|`", text)
    return (
        bool(rows)
        and not words
        and not touches(group, text)
        and not any(own.match(one.key) or not one.key for one in rows)
    )


def _network_manager(group: HostGroup, text: str, path: str) -> bool:
    """Allow connections of other NICs by their names, and settings that leave NICs alone."""
    rows = list(ini(text))
    if touches(group, text) or not rows or any(not one.key for one in rows):
        return False
    if path.endswith(".nmconnection"):
        given = [one for one in rows if one.key in ("interface-name", "mac-address")]
        return bool(given) and all("*" not in str(one.value) for one in given)
    rest = [one for one in rows if one.section not in ("main", "logging", "connectivity")]
    return all(one.key == "unmanaged-devices" and "except:" not in str(one.value) for one in rest)


def _cloud(group: HostGroup, text: str, path: str) -> bool:
    """Parts of cloud-init that leave the network and the boot alone."""
    rest = re.sub(r"network\s*:\s*\{?\s*config\s*:\s*disabled", "", text)
    return re.search(r"network|cmd|write_files|ethernets", rest) is None and _unconcerned(group, text, path)


def _unconcerned(group: HostGroup, text: str, path: str) -> bool:
    """Return whether a text names nothing of the fabric, and no program that configures a host's network."""
    return not touches(group, text) and NETWORK_TOOLS.search(text) is None


def _program(group: HostGroup, text: str, path: str) -> bool:
    """Programs that no script of the fabric calls; what runs them is judged by itself."""
    code = " ".join(line.text for script in (group.profile.script, group.profile.qos) if script for line in script.code)
    name = path.rpartition("/")[2]
    system = {"netplan", "networkctl", "sysctl", "systemctl", "udevadm", "modprobe", "env", "bash", "dash"}
    return not name.startswith("ailb") and name not in system and name not in re.findall(r"[\w.-]+", f"{code} sh cat")


def _udev(group: HostGroup, text: str, path: str) -> bool:
    """Rules for disks and other devices that are no NICs, and that run nothing."""
    rows = [line for _, line in numbered(text.replace("\\\n", " "))]
    # An empty file switches off one of the same name elsewhere.
    return bool(rows) and all(NO_NIC.search(row) and not NICS_OR_PROGRAMS.search(row) for row in rows)


_SYSCTL = files.SYSCTL.rpartition("/")[2]
# Paths that are known, what such a file changes of what was checked, and what makes it harmless; the first counts.
OVERRIDES: tuple[tuple[str, str, Test | None], ...] = (
    (rf"{_TREES}/sysctl\.d/{re.escape(_SYSCTL)}", f"replaces {files.SYSCTL}, or is replaced by it", None),
    (
        rf"{_TREES}/sysctl\.d/.*|etc/sysctl\.conf",
        "sets kernel parameters in addition to etc/sysctl.d/99-accept-ra.conf",
        _sysctls,
    ),
    (r"etc/netplan/.*\.yaml", "netplan merges it with etc/netplan/60-ailb-gpu.yaml", _netplan),
    (rf"{_TREES}/netplan/.*", "netplan merges it with etc/netplan/60-ailb-gpu.yaml", None),
    (rf"{_TREES}/systemd/network/.*\.(?:network|link)", "networkd or udev may take it for a GPU NIC", _networkd),
    (rf"{_TREES}/systemd/network/.*", "networkd reads it with the units that netplan generates", None),
    (rf"{_TREES}/systemd/networkd\.conf.*", "changes how networkd treats foreign routes", None),
    (rf"{_TREES}/systemd/system/ailb-.*", "overrides, masks or shadows a service of the fabric", None),
    (rf"{_TREES}/systemd/system/systemd-(?:networkd|udevd|sysctl|modules-load).*", "affects the setup of NICs", None),
    (rf"{_TREES}/systemd/system/[^/]+\.(?:service|timer)", "systemd reads it; what it starts is not checked", _unit),
    (rf"{_TREES}/systemd/system/[^/]+\.(?:mount|automount|swap)", "systemd mounts it", _mount),
    (rf"{_TREES}/systemd/system/[^/]+\.d/[^/]+\.conf", "systemd reads it; what it starts is not checked", _unit),
    (rf"{_TREES}/systemd/(?:system|user)\.conf(?:\.d/[^/]+\.conf)?", "changes the limits of all services", _manager),
    (rf"{_TREES}/systemd/.*", "systemd reads it; what it starts is not checked", None),
    (rf"{_TREES}/udev/.*(?:net|link|rdma|infiniband|mlx).*", "udev rules rename NICs and run programs", None),
    (rf"{_TREES}/udev/.*", "udev rules rename NICs and run programs", _udev),
    (rf"{_TREES}/modprobe\.d/.*", "sets options of the drivers of NICs and of RDMA", _modules),
    (rf"{_TREES}/modules-load\.d/.*|etc/modules", "loads modules", _module_list),
    (
        r"(?:etc|usr/lib|usr/share)/iproute2/rt_tables(?:\.d/.*)?",
        "names routing tables in addition to jnpr_nccl_net.conf",
        _tables,
    ),
    (r"(?:etc|usr/lib|usr/share)/iproute2/.*", "defines names that `ip` prints and accepts", None),
    (r"etc/nccl\.conf|(?:.*/)?\.nccl\.conf", "NCCL takes from it what etc/ailb/nccl.env leaves unset", _variables),
    (r"etc/ailb/.*", "is in the same directory as the environment of NCCL", None),
    (r"etc/security/limits\.(?:conf|d/.*\.conf)", "limits what jobs may use, such as memory for RDMA", _limits),
    (r"etc/(?:environment|profile|bash\.bashrc)(?:\.d/.*)?", "sets variables of programs", _variables),
    (r"etc/default/.*", "sets arguments of programs or of the kernel", _defaults),
    (
        r"etc/NetworkManager/(?:NetworkManager\.conf|conf\.d/[^/]+|system-connections/[^/]+)",
        "belongs to another network manager",
        _network_manager,
    ),
    (r"etc/(?:NetworkManager|network|sysconfig|wicked|ifplugd|connman)/.*", "belongs to another network manager", None),
    (r"etc/(?:networkd-dispatcher|dhcp|ppp)/.*", "runs when an interface changes", None),
    (r"etc/(?:nftables|iptables|ufw|firewalld|ipset)[./].*", "filters packets", None),
    (
        r"etc/(?:frr|quagga|bird\d?|gobgpd?|exabgp|openbgpd|radvd)(?:[./].*)?",
        "runs routing protocols on the host",
        None,
    ),
    (r"etc/(?:rdma|mlnx|mft|infiniband|libibverbs\.d|dat\.conf).*", "configures RDMA in addition to ailb-qos", None),
    (r"usr/local/s?bin/[^/]+", "a program that may be run instead of the system's", _program),
    (r"(?:usr/local/)?s?bin/.*|usr/s?bin/.*", "a program that may be run instead of the system's", None),
    (r"etc/ld\.so\..*|(?:usr/|usr/local/)?lib(?:32|64)?/.*", "programs load it, or load libraries from it", None),
    (r"boot/.*|etc/(?:initramfs-tools|dracut\.conf|dracut\.conf\.d)(?:/.*)?", "changes how the host boots", None),
    (r"etc/cloud/.*", "cloud-init may set up the network by it", _cloud),
    (r"etc/(?:rc\.local|init\.d/.*|rc\d?\.d/.*)", "runs at boot or on a schedule", None),
)
# What is none of the above: which files are told, mildly, if nothing in them concerns the network of the host.
ELSEWHERE = (
    (r"etc/cron.*", "runs at boot or on a schedule"),
    (r".+/tmpfiles\.d/.*", "writes files at boot"),
    (r"(?s).*", "it is not one of the fabric's files, and its effect is not checked"),
)


def judge(group: HostGroup, extra: Extra) -> tuple[Check, str]:
    """Return the effect of a file, empty for a harmless one, and the check that reports it."""
    if extra.text is not None and file_is_harmless(extra.path):
        return EXTRAS, ""
    for pattern, what, test in OVERRIDES:
        if re.fullmatch(pattern, extra.path):
            harmless = test is not None and extra.text is not None and test(group, extra.text, extra.path)
            return EXTRAS, "" if harmless else what
    what = next(what for pattern, what in ELSEWHERE if re.fullmatch(pattern, extra.path))
    return (UNKNOWN if extra.text is not None and _unconcerned(group, extra.text, extra.path) else EXTRAS), what


@per_group
def _check_extras(group: HostGroup, findings: HostFindings) -> None:
    """Find files that override, shadow or join the fabric's, and those that nothing is known of."""
    findings.look(EXTRAS, 1 + len(group.profile.extras))
    findings.look(UNKNOWN, 1 + len(group.profile.extras))
    roce = () if group.expected.roce else (files.QOS, files.QOS_UNIT)
    for extra in group.profile.extras:
        check, what = (EXTRAS, "") if extra.path in roce else judge(group, extra)
        if what:
            message = f"{extra.path}: {what}{_which(group, extra)}"
            findings.add(check, message, extra.path, 1, "", extra.path)


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
    "no other file of the server overrides, shadows or adds to the fabric's, according to its name and contents",
    "a file of the server overrides or shadows the fabric's, or concerns its network",
    "A later file in sysctl.d, a drop-in or a udev rule silently overrides the files that were checked.",
    "Delete the file, or move its settings into the template; waive a file that is intended.",
    _check_extras,
    layer=Layer.SERVERS,
)
UNKNOWN = Check(
    "AILB619",
    "every other file of the server is in a directory known to be harmless",
    "a file of the server is in an unknown directory, and does not mention the host's network",
    "A program may read it: only its text was searched for NICs, RDMA devices, and programs that configure a network.",
    "None if the file is intended; otherwise move it out of the server's directory.",
    _check_extras,
    Severity.NOTE,
    layer=Layer.SERVERS,
)
