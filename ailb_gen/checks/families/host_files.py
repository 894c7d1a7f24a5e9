"""Check that every server has its files, and that all of them name the same NICs and hold the same scripts."""

from __future__ import annotations

from collections.abc import Iterable

from ailb_gen import layout as files
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_hosts import HostGroup
from ailb_gen.checks.families.host_settings import NETPLAN_HEAD, own_sysctls, surplus
from ailb_gen.checks.families.hosts import REGENERATE, HostFindings, per_group
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import Place
from ailb_gen.hosts.model import Setting
from ailb_gen.hosts.text import conf_nic
from ailb_gen.layout import PLAIN_FILES, QOS_FILES, drop_in_file, server_folder


def _check_present(context: Context, findings: Findings) -> None:
    """Find servers without a folder, folders without a server, and files that are missing, unusable or too many."""
    expected, hosts = context.hosts, context.network.hosts
    findings.look(FILES, len(expected))
    for name in expected.keys() - hosts.keys():
        message = "the server has no folder that can be used"
        findings.add(FILES, name, message, Place(server_folder(name)), server_folder(name))
    for name in hosts.keys() - expected.keys():
        message = "the intent has no such server; is the folder left over from before?"
        findings.add(FILES, name, message, Place(server_folder(name)), "", name)
    _check_files(context, findings)


@per_group
def _check_files(group: HostGroup, findings: HostFindings) -> None:
    profile, roce = group.profile, group.expected.roce
    drop_ins = (drop_in_file(nic.name) for nic in group.expected.nics)
    needed = [*PLAIN_FILES, *(QOS_FILES if roce else ()), *drop_ins]
    findings.look(FILES, len(needed))
    for defect in profile.defects:
        findings.about(about.file(defect.place.file)).add(FILES, defect.reason, defect.place)
    broken = {defect.place.file for defect in profile.defects}
    for file in needed:
        if file not in profile.files and findings.place(file).file not in broken:
            findings.about(about.file(file)).add(FILES, f"{file} is missing", file)
    for file in () if roce else QOS_FILES:
        if file in profile.files:
            findings.add(FILES, f"RoCE is switched off in the intent, but there is {file}", file)


def _check_nics(context: Context, findings: Findings) -> None:
    """Compare the NICs that every file names, and those that are cabled, with the intent's."""
    _check_named(context, findings)
    network, servers = context.network, {server: group for group in context.host_groups for server in group.servers}
    for server, group in servers.items():
        findings.look(NICS, len(group.expected.nics))
        for nic in group.expected.nics:
            if (server, nic.name) not in network.attachments:
                message = f"{nic.name} of {server} is cabled to no leaf"
                findings.add(
                    NICS, server, message, None, nic.name, part=nic.name, subjects=(about.nic(server, nic.name),)
                )
    for (server, name), end in network.attachments.items():
        known = servers.get(server)
        if known is None or all(nic.name != name for nic in known.expected.nics):
            what = f"there are no files of a server {server}" if known is None else f"{server} has no GPU NIC {name}"
            message = f"a cable from {end} leads to {name}, but {what}"
            subjects = (about.nic(server, name), about.end(end))
            findings.add(NICS, server, message, None, "", name, part=name, subjects=subjects)


@per_group
def _check_named(group: HostGroup, findings: HostFindings) -> None:
    profile, nics = group.profile, group.expected.nics
    script, qos = profile.script, profile.qos
    named = {files.NETPLAN: list(group.nics), files.SYSCTL: _sysctl_nics(own_sysctls(group))}
    if script is not None:
        named[files.SCRIPT] = list(dict.fromkeys(row.nic for row in script.rows))
    if qos is not None and group.expected.roce:
        named[files.QOS] = [row.nic for row in qos.nics]
        for row, nic in zip(qos.nics, nics, strict=False):
            if row.rdma != nic.rdma and row.nic == nic.name:
                message = f"the RDMA device of {row.nic} must be {nic.rdma}, not {row.rdma}"
                findings.add(NICS, message, files.QOS, row.line, nic.rdma, row.rdma, row.nic)
    for file, found in named.items():
        if file in profile.files or file == files.NETPLAN:
            _compare_names(group, file, found, [nic.name for nic in nics], findings)


def _compare_names(group: HostGroup, file: str, found: list[str], names: list[str], findings: HostFindings) -> None:
    """Compare the NICs that a file names with the intent's, and their order where it counts."""
    findings.look(NICS, len(names))
    same_cause = "" if set(found) & set(names) else f"{findings.place(file)}"
    unknown, line = _unknown_key(group, file) if not found else ("", 1)
    for nic in [name for name in names if name not in found] if found or file in group.profile.files else []:
        findings.add(NICS, f"{nic} is not in {file}{unknown}", file, line, nic, "", nic, same_cause)
    for nic in [name for name in found if name not in names]:
        message = f"{nic} is in {file}, but the intent has no such GPU NIC"
        findings.add(NICS, message, file, _line_of(group, file, nic), "", nic, nic)
    rows = group.profile.qos.nics if file == files.QOS and group.profile.qos is not None else ()
    for number in sorted(surplus([row.nic for row in rows], names)):
        # It stands where another one is missing.
        nic, line = rows[number].nic, rows[number].line
        findings.add(NICS, f"{nic} is in {file} {found.count(nic)} times", file, line, "", nic, nic)
    if sorted(found) == sorted(names) and file == files.QOS and found != names:
        findings.add(NICS, f"{file} has the NICs in another order", file, 1, " ".join(names))


def _unknown_key(group: HostGroup, file: str) -> tuple[str, int]:
    """Return the wrong heading of a netplan file without NICs, as the end of a message, and its line."""
    if file == files.NETPLAN:
        for setting in group.profile.network:
            if ("", setting.key) not in NETPLAN_HEAD:
                return f": `{setting.key}` is no key of netplan", setting.line
    return "", 1


def _sysctl_nics(settings: Iterable[Setting]) -> list[str]:
    return list(dict.fromkeys(nic for setting in settings if (nic := conf_nic(setting.key))))


def _line_of(group: HostGroup, file: str, nic: str) -> int:
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


FILES = Check(
    "AILB601",
    "every server has a folder with all its files, and each can be read",
    "a server has no folder, or a file of it is missing or cannot be read",
    "A server without its files has no addresses, no tables or no RoCE settings; no job can use it.",
    "Generate the fabric again; a link under servers/ must lead to a folder under profiles/.",
    _check_present,
    layer=Layer.FILES,
)
NICS = Check(
    "AILB602",
    "every file names the same GPU NICs: those of the intent and of the cabling",
    "a file of a server names other GPU NICs than the intent or the cabling",
    "A NIC that is missing in one of the files is up but unusable, or carries RDMA without a lossless class.",
    REGENERATE,
    _check_nics,
    layer=Layer.NICS,
)
