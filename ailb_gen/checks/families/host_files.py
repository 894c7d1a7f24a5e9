"""Check that every server has its files, that all name the same NICs, and that scripts set what netplan sets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from ailb_gen import layout as files
from ailb_gen.addresses import address_text
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_hosts import HostGroup
from ailb_gen.checks.families.host_settings import NETPLAN_HEAD, own_sysctls, surplus
from ailb_gen.checks.families.host_tables import prefix_of
from ailb_gen.checks.families.hosts import REGENERATE, HostFindings, per_group
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import Place
from ailb_gen.hosts.model import Code, Setting
from ailb_gen.hosts.scripts import read_qos, read_tables
from ailb_gen.hosts.text import Folder, conf_nic
from ailb_gen.layout import QOS_FILES, server_folder
from ailb_gen.shipped import shipped_templates

# Why a server may do without a file.
NEEDLESS = {
    **dict.fromkeys(QOS_FILES, "RoCE is switched off in the intent"),
    files.ENVIRONMENT: "the server has no GPUs in the intent",
}


def _check_present(context: Context, findings: Findings) -> None:
    """Find servers without a folder, folders without a server, and files that are missing, unusable or too many."""
    expected, hosts = context.hosts, context.network.hosts
    findings.look(FILES, len(expected))
    for name in expected.keys() - hosts.keys():
        message = "the server has no usable directory"
        findings.add(FILES, name, message, Place(server_folder(name)), server_folder(name))
    for name in hosts.keys() - expected.keys():
        message = "the intent has no such server; is the directory a leftover?"
        findings.add(FILES, name, message, Place(server_folder(name)), "", name)
    _check_files(context, findings)


@per_group
def _check_files(group: HostGroup, findings: HostFindings) -> None:
    profile, needed = group.profile, group.expected.files
    findings.look(FILES, len(needed))
    for defect in profile.defects:
        findings.about(about.file(defect.place.file)).add(FILES, defect.reason, defect.place)
    broken = {defect.place.file for defect in profile.defects}
    for file in needed:
        if file not in profile.files and findings.place(file).file not in broken:
            findings.about(about.file(file)).add(FILES, f"{file} is missing", file)
    for file, why in NEEDLESS.items():
        if file in profile.files and file not in needed:
            findings.add(FILES, f"{why}, but there is {file}", file)


def _check_nics(context: Context, findings: Findings) -> None:
    """Compare the NICs that every file names, and those that are cabled, with the intent's."""
    _check_named(context, findings)
    network, groups = context.network, (*context.host_groups, *context.misplaced)
    servers = {server: group for group in groups for server in group.servers}
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
                return f": `{setting.key}` is not a key of netplan", setting.line
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


# Without these commands the scripts set nothing; the variables are those around them.
COMMANDS = {
    files.SCRIPT: (
        'ip -6 route replace "$3" dev "$1" table "$2" && ip -6 route replace default via "$4" dev "$1" table "$2"',
        'ip -6 route add "$3" dev "$1" table "$2" && ip -6 route add default via "$4" dev "$1" table "$2"',
        'ip -6 rule add from "$2" lookup "$3" priority "$1"',
        'ip -6 rule del from "$prefix" lookup "$table" priority "$priority"',
        'while ip -6 rule del priority "$1"',
        'ip -6 route flush table "$2"',
        'set_routes "$nic" "$table" "$prefix" "$gateway"',
        'set_rule "$priority" "$prefix" "$table"',
        '[ "$(routes "$table")" = "$(expected "$nic" "$prefix" "$gateway")" ] ||',
        '[ "$(rules "$priority")" = "from $prefix lookup $table" ] ||',
        "while read -r nic table name priority prefix gateway; do",
        "set -eu",
    ),
    files.QOS: (
        "0x15b3) echo nvidia mlnx_qos cma_roce_tos ;;",
        "0x14e4) echo broadcom dcb ;;",
        "0x1dd8) echo amd nicctl ;;",
        "traffic_class $traffic_class /sys/class/infiniband/$2/tc/1/traffic_class",
        "cnp_dscp $cnp_dscp /sys/class/net/$1/ecn/roce_np/cnp_dscp",
        "cnp_priority $cnp_priority /sys/class/net/$1/ecn/roce_np/cnp_802p_prio",
        "ecn_np 1 /sys/class/net/$1/ecn/roce_np/enable/$priority",
        "ecn_rp 1 /sys/class/net/$1/ecn/roce_rp/enable/$priority",
        'mlnx_qos -i "$1" --trust dscp --pfc "$pfc" &&',
        'mlnx_qos -i "$1" --dscp2prio "set,$dscp,$priority" &&',
        'cma_roce_tos -d "$2" -t "$traffic_class" &&',
        'nvidia_files "$1" "$2" | write_files %d',
        "trust_dscp 1 $config/bnxt_re/$1/ports/1/cc/disable_prio_vlan_tx",
        "ecn 1 $config/bnxt_re/$1/ports/1/cc/ecn_enable",
        "cnp_dscp $cnp_dscp $config/bnxt_re/$1/ports/1/cc/cnp_dscp",
        'dcb ets set dev "$1" tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:50 1:50',
        'dcb pfc set dev "$1" prio-pfc all:off "$priority:on" &&',
        'dcb app replace dev "$1" dscp-prio "$dscp:$priority" ${class:+"$cnp_dscp:$cnp_priority"} &&',
        'broadcom_files "$2" | write_files 0x%x &&',
        'echo 0x1 >"$config/bnxt_re/$2/ports/1/cc/apply"',
        "nicctl update qos --classification-type dscp &&",
        'nicctl update port -p "$port" --pause-type pfc --rx-pause enable --tx-pause enable &&',
        'nicctl update qos -p "$port" dscp-to-priority --dscp "$dscp" --priority "$priority" &&',
        'nicctl update qos -p "$port" dscp-to-priority --dscp "$cnp_dscp" --priority "$cnp_priority" &&',
        'nicctl update qos -p "$port" pfc --priority "$priority" --no-drop enable &&',
        'nicctl update dcqcn -r "$2" -i 1 --cnp-dscp "$cnp_dscp" &&',
        '"$3_apply" "$1" "$2" ||',
        '[ "$found" = "$value" ] ||',
        '"$1" "$nic" "$rdma" "${with%% *}" </dev/null',
        "while read -r nic rdma; do",
        'return "$status"',
        'case "${1:-apply}" in',
        "set -eu",
    ),
}
TEMPLATES = {files.SCRIPT: "ailb-net.sh.j2", files.QOS: "ailb-qos.sh.j2"}
# A value that a template sets.
VALUE = re.compile(r"\{\{[^}]*\}\}")
# NIC, table, name, priority, prefix, gateway, as the script writes them.
Row = tuple[str, str, str, str, str, str]


def _rows(group: HostGroup) -> Iterator[Row]:
    """Iterate over the rows that the script must have, as netplan has them."""
    for expected in group.expected.nics:
        nic = group.profile.nics.get(expected.name)
        if nic is None:
            continue
        for table in expected.tables:
            routes = [route for route in nic.routes if route.table == table.id]
            via = next((route.via for route in routes if route.to is not None and not route.to.length), None)
            rule = next((rule for rule in nic.rules if rule.table == table.id), None)
            priority = str(rule.priority) if rule is not None else ""
            gateway = address_text(via) if via is not None else ""
            yield expected.name, str(table.id), table.name, priority, str(prefix_of(routes) or ""), gateway


@per_group
def _check_script(group: HostGroup, findings: HostFindings) -> None:
    """Compare the list of `ailb-net` with netplan, row by row."""
    script = group.profile.script
    if script is None or not group.profile.nics:
        return
    missing = Counter(_rows(group))
    findings.look(SCRIPT, missing.total())
    for entry in script.rows:
        gateway = address_text(entry.gateway) if entry.gateway is not None else ""
        row = (entry.nic, str(entry.table), entry.name, str(entry.priority), str(entry.prefix or ""), gateway)
        if missing[row]:
            missing[row] -= 1
        else:
            text = " ".join(row)
            message = f"{text}: netplan has no such table"
            _of_row(findings, row).add(SCRIPT, message, files.SCRIPT, entry.line, "", text, row[0])
    for row in missing.elements():
        text = " ".join(row)
        message = f"netplan's table {row[1]} is not in the list: {text}"
        _of_row(findings, row).add(SCRIPT, message, files.SCRIPT, script.line, text, "", row[0])


def _of_row(findings: HostFindings, row: Row) -> HostFindings:
    return findings.about(about.table(findings.scope, row[1]), *about.prefixes(row[4]))


def code_of(group: HostGroup, file: str) -> tuple[Code, ...]:
    """Return the code of one of the scripts."""
    script = group.profile.script if file == files.SCRIPT else group.profile.qos
    return script.code if script is not None else ()


def _lacking(text: tuple[str, ...], commands: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(command for command in commands if not any(command in line for line in text))


def _check_programs(context: Context, findings: Findings) -> None:
    """Find scripts without the commands that matter, and scripts that are not what most servers have."""
    for file, commands in COMMANDS.items():
        codes = {group: code_of(group, file) for group in context.host_groups}
        texts = {group: tuple(line.text for line in code) for group, code in codes.items() if code}
        count = Counter(texts.values())
        # Of two profiles that differ, the one with all commands is right, or the one that is as it was shipped.
        shipped = _shipped(file)
        rank = {text: (number, -len(_lacking(text, commands)), text == shipped) for text, number in count.items()}
        usual = [text for text, own in rank.items() if own == max(rank.values())]
        findings.look(PROGRAMS, len(texts))
        for group, text in texts.items():
            of_group = HostFindings(group, findings)
            other = next((row for row in usual if row != text), None)
            if other is not None:
                _add_difference(of_group, file, codes[group], other)
            for command in _lacking(text, commands):
                # Where a script differs from the others, that is why it lacks the command.
                same_cause = f"{of_group.place(file)}" if other is not None else ""
                of_group.add(PROGRAMS, f"the command is missing: {command}", file, 1, command, same_cause=same_cause)


def _add_difference(findings: HostFindings, file: str, code: tuple[Code, ...], other: tuple[str, ...]) -> None:
    """Add the first line in which a script differs from what others have."""
    number = next((n for n, (own, text) in enumerate(zip(code, other, strict=False)) if own.text != text), len(other))
    own = code[number] if number < len(code) else code[-1]
    expected = other[number] if number < len(other) else ""
    message = f"{file} is not the same on all servers; the first difference is {own.text!r}"
    findings.add(PROGRAMS, message, file, own.line, expected, own.text, same_cause=f"{findings.place(file)}")


@cache
def _shipped(file: str) -> tuple[str, ...]:
    """Return the code of a script as it was shipped."""
    text = (shipped_templates() / "host" / TEMPLATES[file]).read_text(encoding="utf-8")
    text = VALUE.sub("0", "".join(line for line in text.splitlines(keepends=True) if not line.startswith("{%")))
    unused = Folder(Path(), "")
    read = read_tables(unused, text) if file == files.SCRIPT else read_qos(unused, file, text)
    return tuple(line.text for line in read.code)


@per_group
def _check_modes(group: HostGroup, findings: HostFindings) -> None:
    findings.look(MODES, len(group.profile.modes))
    for file, mode in group.profile.modes.items():
        if not mode & 0o100:
            findings.add(MODES, f"{file} is not executable", file, 1, "0755", f"{mode:04o}")
        if mode & 0o002:
            findings.add(MODES, f"{file} is world-writable", file, 1, "0755", f"{mode:04o}")


FILES = Check(
    "AILB601",
    "every server has a directory with all its files, and each can be read",
    "a server has no directory, or a file in it is missing or cannot be read",
    "A server without its files has no addresses, no tables or no RoCE settings; no job can use it.",
    "Generate the fabric again; a link under servers/ must point to a directory under profiles/.",
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
SCRIPT = Check(
    "AILB607",
    "ailb-net sets the same tables, rules and gateways as netplan",
    "ailb-net and netplan set different tables, rules or gateways",
    "Hosts with and without netplan would route differently, and `ailb-net verify` would report false errors.",
    REGENERATE,
    _check_script,
    layer=Layer.SCRIPTS,
)
PROGRAMS = Check(
    "AILB616",
    "the scripts hold the commands that set tables, rules and RoCE, and are the same on all servers",
    "a script lacks commands, or differs from that of other servers",
    "A script that was edited in one profile behaves differently on its servers.",
    REGENERATE,
    _check_programs,
    layer=Layer.PROGRAMS,
)
MODES = Check(
    "AILB618",
    "the scripts are executable, and not world-writable",
    "a script is not executable, or is world-writable",
    "systemd fails to start the service (203/EXEC): the server has no tables, no rules or no RoCE settings.",
    "Set the mode to 0755 (`chmod 755`), and copy trees with their modes (`cp -p`, `rsync -p`, `tar -p`).",
    _check_modes,
    layer=Layer.SERVERS,
)
