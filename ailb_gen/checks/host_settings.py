"""Files, NICs, addressing, sysctls, drop-ins, environment and units of a group of servers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ailb_gen import layout as files
from ailb_gen.checks.host_checks import ADDRESSING, DROP_INS, ENVIRONMENT, FILES, NICS, SYSCTLS, UNITS, Group
from ailb_gen.layout import PLAIN_FILES, QOS_FILES, drop_in_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ailb_gen.checks.findings import Findings
    from ailb_gen.checks.model import Check
    from ailb_gen.errors import Place
    from ailb_gen.hosts.model import Setting, Value

# netplan's settings of a GPU NIC, the MTU and what finds the NIC aside; `optional` lets the host boot without it.
ADDRESSING_SETTINGS: Mapping[tuple[str, str], Value] = {
    ("", "optional"): True,
    ("", "dhcp4"): False,
    ("", "dhcp6"): False,
    ("", "accept-ra"): True,
    ("", "ipv6-privacy"): False,
    ("", "link-local"): ("ipv6",),
}
FINDING_SETTINGS = frozenset({"mtu", "set-name"})
NETPLAN_HEAD: Mapping[tuple[str, str], Value] = {("", "version"): 2, ("", "renderer"): "networkd"}
# Linux keeps 16 addresses per interface, the link-local one included (ip-sysctl: max_addresses).
LINUX_MAX_ADDRESSES = 16
DROP_IN: Mapping[tuple[str, str], Value] = {("IPv6AcceptRA", "UseGateway"): "no", ("IPv6AcceptRA", "UseDNS"): "no"}
ONESHOT = (("Service", "Type", "oneshot"), ("Service", "RemainAfterExit", "yes"))
WANTED_BY = ("Install", "WantedBy", "multi-user.target")
UNIT_SETTINGS = {
    files.SCRIPT_UNIT: (
        ("Unit", "ConditionPathExists", "!/usr/sbin/netplan"),
        ("Unit", "After", "network.target systemd-sysctl.service"),
        *ONESHOT,
        ("Service", "ExecStart", f"/{files.SCRIPT} apply"),
        ("Service", "ExecStop", f"/{files.SCRIPT} remove"),
        WANTED_BY,
    ),
    files.QOS_UNIT: (
        ("Unit", "After", "network.target"),
        *ONESHOT,
        ("Service", "ExecStart", f"/{files.QOS}"),
        WANTED_BY,
    ),
}
UNIT_TEXTS = frozenset({"Description", "Documentation"})


def device_unit(nic: str) -> str:
    """Return the systemd unit of a NIC (systemd.unit(5), string escaping)."""
    return f"sys-subsystem-net-devices-{nic.replace('-', chr(92) + 'x2d')}.device"


def check_files(group: Group, collected: Findings) -> None:
    """Find files that are missing or unusable, and RoCE files where RoCE is switched off."""
    profile, intended = group.profile, group.intended
    needed = [*PLAIN_FILES, *(QOS_FILES if intended.roce else ()), *(drop_in_file(nic.name) for nic in intended.nics)]
    collected.look(FILES, len(needed))
    for fault in profile.faults:
        group.add(collected, FILES, fault.reason, fault.place)
    broken = {fault.place.file for fault in profile.faults}
    for file in needed:
        place = group.place(file)
        if file not in profile.files and place.file not in broken:
            group.add(collected, FILES, f"{file} is missing", place)
    for file in () if intended.roce else QOS_FILES:
        if file in profile.files:
            group.add(collected, FILES, f"RoCE is switched off in the intent, but there is {file}", group.place(file))


def check_nics(group: Group, collected: Findings) -> None:
    """Compare the NICs that every file names, and their order where it counts, with the intent's."""
    profile = group.profile
    names = [nic.name for nic in group.intended.nics]
    script, qos = profile.script, profile.qos
    named = {files.NETPLAN: list(group.nics), files.SYSCTL: _sysctl_nics(profile.sysctls)}
    if script is not None:
        named[files.SCRIPT] = list(dict.fromkeys(row.nic for row in script.rows))
    if qos is not None and group.intended.roce:
        named[files.QOS] = [row.nic for row in qos.nics]
        pairs = [(nic.name, nic.rdma) for nic in group.intended.nics]
        for row, pair in zip(qos.nics, pairs, strict=False):
            if (row.nic, row.rdma) != pair and row.nic == pair[0]:
                message = f"the RDMA device of {row.nic} must be {pair[1]}, not {row.rdma}"
                group.add(collected, NICS, message, group.place(files.QOS, row.line), pair[1], row.rdma, row.nic)
    for file, found in named.items():
        if file not in profile.files and file != files.NETPLAN:
            continue
        collected.look(NICS, len(names))
        alike = "" if set(found) & set(names) else f"{group.place(file)}"
        for nic in [name for name in names if name not in found] if found or file in profile.files else []:
            group.add(collected, NICS, f"{nic} is not in {file}", group.place(file), nic, "", nic, alike)
        for nic in [name for name in found if name not in names]:
            place = group.place(file, _line_of(group, file, nic))
            group.add(collected, NICS, f"{nic} is in {file}, but the intent has no such GPU NIC", place, "", nic, nic)
        for nic, count in Counter(found).items():
            if count > 1:
                place = group.place(file, _line_of(group, file, nic))
                group.add(collected, NICS, f"{nic} is in {file} {count} times", place, 1, count, nic)
        if sorted(found) == sorted(names) and file == files.QOS and found != names:
            group.add(collected, NICS, f"{file} has the NICs in another order", group.place(file), " ".join(names))


def _sysctl_nics(settings: Iterable[Setting]) -> list[str]:
    parts = (setting.key.split(".") for setting in settings)
    return list(dict.fromkeys(part[3] for part in parts if part[:3] == ["net", "ipv6", "conf"] and len(part) > 4))


def _line_of(group: Group, file: str, nic: str) -> int:
    """Return the last line where a file names a NIC."""
    profile = group.profile
    lines = [0]
    if file == files.NETPLAN and nic in profile.nics:
        lines.append(profile.nics[nic].line)
    if file == files.SYSCTL:
        lines += [setting.line for setting in profile.sysctls if f".{nic}." in setting.key]
    if file == files.SCRIPT and profile.script is not None:
        lines += [row.line for row in profile.script.rows if row.nic == nic]
    if file == files.QOS and profile.qos is not None:
        lines += [row.line for row in profile.qos.nics if row.nic == nic]
    return lines[-1]


def text_of(value: Value) -> str:
    """Write a value of YAML for people."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(text_of, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return "nothing" if value is None else str(value)


def _compare(
    group: Group,
    collected: Findings,
    check: Check,
    place: Place,
    found: Iterable[Setting],
    intended: Mapping[tuple[str, str], Value],
    nic: str = "",
) -> None:
    """Compare settings by (section, key): each of `wanted` must be there once, and no others.

    `place` is the file, and the line where a missing setting is missed.
    """
    collected.look(check, len(intended))
    seen: set[tuple[str, str]] = set()
    for setting in found:
        key, value = (setting.section, setting.key), text_of(setting.value)
        where = replace(place, line=setting.line)
        if key not in intended:
            group.add(collected, check, f"{setting.key} does not belong here", where, "", value, nic)
        elif key in seen:
            group.add(collected, check, f"{setting.key} is written twice", where, "", value, nic)
        elif value != text_of(intended[key]):
            expected = text_of(intended[key])
            group.add(collected, check, f"{setting.key} must be {expected}, not {value}", where, expected, value, nic)
        seen.add(key)
    # Where nothing is left, a whole section is missing: one thing that is wrong.
    alike = "" if intended.keys() & seen else f"{place} {nic}"
    for key in intended.keys() - seen:
        expected = text_of(intended[key])
        group.add(collected, check, f"{key[1]} is missing; it must be {expected}", place, expected, "", nic, alike)


def check_addressing(group: Group, collected: Findings) -> None:
    """Compare netplan's settings of every NIC, and of the file, with those that leave addresses to the leaves."""
    if files.NETPLAN not in group.profile.files or not group.nics:
        return
    _compare(group, collected, ADDRESSING, group.place(files.NETPLAN), group.profile.network, NETPLAN_HEAD)
    for name, nic in group.nics.items():
        found = [setting for key, setting in nic.settings.items() if key not in FINDING_SETTINGS]
        _compare(group, collected, ADDRESSING, group.place(nic.file, nic.line), found, ADDRESSING_SETTINGS, name)


def check_sysctls(group: Group, collected: Findings) -> None:
    """Compare the sysctls of every NIC."""
    if files.SYSCTL not in group.profile.files:
        return
    intended: dict[tuple[str, str], Value] = {}
    for nic in group.intended.nics:
        values = {
            "accept_ra": 2 if group.intended.forwarding else 1,
            "accept_ra_defrtr": 0,
            "autoconf": 1,
            "addr_gen_mode": 0,
            "use_tempaddr": 0,
        }
        if len(nic.tables) + 1 >= LINUX_MAX_ADDRESSES:
            values["max_addresses"] = len(nic.tables) + 2
        intended |= {("", f"net.ipv6.conf.{nic.name}.{key}"): value for key, value in values.items()}
    _compare(group, collected, SYSCTLS, group.place(files.SYSCTL), group.profile.sysctls, intended)


def check_drop_ins(group: Group, collected: Findings) -> None:
    """Compare networkd's drop-in of every NIC, and find drop-ins of others."""
    for name in group.profile.drop_ins.keys() - {nic.name for nic in group.intended.nics}:
        message = f"there is a drop-in for {name}, but the intent has no such GPU NIC"
        group.add(collected, DROP_INS, message, group.place(drop_in_file(name)), "", name, name)
    for nic in group.intended.nics:
        file = drop_in_file(nic.name)
        if file in group.profile.files:
            found = group.profile.drop_ins[nic.name]
            _compare(group, collected, DROP_INS, group.place(file), found, DROP_IN, nic.name)


def check_environment(group: Group, collected: Findings) -> None:
    """Compare the environment of NCCL."""
    if files.ENVIRONMENT not in group.profile.files:
        return
    intended: dict[tuple[str, str], Value] = {("", key): value for key, value in group.intended.environment}
    path = ("", "LD_LIBRARY_PATH")
    if path in intended:
        intended[path] = f"${{LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}}{intended[path]}"
    _compare(group, collected, ENVIRONMENT, group.place(files.ENVIRONMENT), group.profile.environment, intended)


def check_units(group: Group, collected: Findings) -> None:
    """Compare what the services run, and what they wait for."""
    for file, plain in UNIT_SETTINGS.items():
        if file not in group.profile.files or (file == files.QOS_UNIT and group.intended.roce is None):
            continue
        devices = [device_unit(nic.name) for nic in group.intended.nics]
        intended = Counter([*plain, *(("Unit", key, device) for device in devices for key in ("Wants", "After"))])
        collected.look(UNITS, intended.total())
        for setting in group.profile.units[file]:
            key = (setting.section, setting.key, str(setting.value))
            if intended[key]:
                intended[key] -= 1
            elif setting.key not in UNIT_TEXTS:
                text = f"{setting.key}={setting.value}"
                message = f"{text} does not belong into [{setting.section}], or is there twice"
                group.add(collected, UNITS, message, group.place(file, setting.line), "", text)
        for section, name, value in intended.elements():
            text = f"{name}={value}"
            group.add(collected, UNITS, f"{text} is missing in [{section}]", group.place(file), text)
