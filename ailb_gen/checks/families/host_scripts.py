"""Check the scripts of servers: the tables that they set, their commands and modes (AILB607, AILB616, AILB618)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ailb_gen import layout as files
from ailb_gen.addresses import address_text
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_hosts import HostGroup
from ailb_gen.checks.families.host_tables import prefix_of
from ailb_gen.checks.families.hosts import REGENERATE, HostFindings, per_group
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.hosts.model import Code
from ailb_gen.hosts.scripts import read_qos, read_tables
from ailb_gen.hosts.text import Folder
from ailb_gen.shipped import shipped_templates

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
    files.QOS: ("while read -r nic rdma; do", "set -eu", 'exit "$status"'),
}
TEMPLATES = {files.SCRIPT: "ailb-net.sh.j2", files.QOS: "ailb-qos.sh.j2"}
# A value that a template sets; that of PFC is one number per priority.
VALUE = re.compile(r"\{\{[^}]*\}\}")
PFC = ("--pfc 0 ", "--pfc 0,0,0,0,0,0,0,0 ")
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
    read = read_tables(unused, text) if file == files.SCRIPT else read_qos(unused, file, text.replace(*PFC))
    return tuple(line.text for line in read.code)


@per_group
def _check_modes(group: HostGroup, findings: HostFindings) -> None:
    findings.look(MODES, len(group.profile.modes))
    for file, mode in group.profile.modes.items():
        if not mode & 0o100:
            findings.add(MODES, f"{file} cannot be executed", file, 1, "0755", f"{mode:04o}")
        if mode & 0o002:
            findings.add(MODES, f"{file} can be written by everybody", file, 1, "0755", f"{mode:04o}")


SCRIPT = Check(
    "AILB607",
    "ailb-net sets the same tables, rules and gateways as netplan",
    "ailb-net and netplan set different tables, rules or gateways",
    "Hosts with and without netplan would route differently, and `ailb-net verify` would report correct hosts.",
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
    "the scripts can be executed, and only their owner and group can write them",
    "a script cannot be executed, or everybody can write it",
    "systemd fails to start the service (203/EXEC): the server has no tables, no rules or no RoCE settings.",
    "Set the mode to 0755 (`chmod 755`), and copy trees with their modes (`cp -p`, `rsync -p`, `tar -p`).",
    _check_modes,
    layer=Layer.SERVERS,
)
