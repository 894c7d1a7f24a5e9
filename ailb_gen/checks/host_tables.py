"""Tables, rules, routes and names of a group of servers, and the script that sets the same."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ailb_gen import layout as files
from ailb_gen.addresses import address_text
from ailb_gen.checks.host_checks import NAMES, PROGRAMS, ROUTES, RULES, SCRIPT, TABLES, Group
from ailb_gen.hosts.lookup import MAIN_PRIORITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ailb_gen.addresses import Prefix
    from ailb_gen.checks.expected_devices import ExpectedNic, ExpectedTable
    from ailb_gen.checks.findings import Findings
    from ailb_gen.hosts.model import Code, Nic, Route, Rule

# Tables that the kernel has names and uses for (rt_tables: unspec, default, main, local).
SYSTEM_TABLES = frozenset({0, 253, 254, 255})
# Without these commands the scripts set nothing, whatever else they say; the variables are those around them.
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
        '[ "$(routes "$table")" = "$(wanted "$nic" "$prefix" "$gateway")" ] ||',
        '[ "$(rules "$priority")" = "from $prefix lookup $table" ] ||',
        "while read -r nic table name priority prefix gateway; do",
        "set -eu",
    ),
    files.QOS: ("while read -r nic rdma; do", "set -eu", 'exit "$status"'),
}


def check_tables(group: Group, collected: Findings) -> None:
    """Compare tables, rules and routes of every NIC in netplan with the plan."""
    profile = group.profile
    for intended in group.intended.nics:
        nic = profile.nics.get(intended.name)
        if nic is None:
            continue
        for check in (TABLES, RULES, ROUTES):
            collected.look(check, len(intended.tables))
        _check_numbers(group, collected, intended, nic)
        for table in intended.tables:
            routes = [route for route in nic.routes if route.table == table.id]
            _check_rules(group, collected, nic, table, _prefix_of(routes))
            if routes:
                _check_routes(group, collected, nic, table, routes)
    _check_priorities(group, collected)


def _prefix_of(routes: Iterable[Route]) -> Prefix | None:
    """Return the prefix that a table holds on the link."""
    return next((route.to for route in routes if route.to is not None and not route.text[1] and route.to.length), None)


def _check_numbers(group: Group, collected: Findings, intended: ExpectedNic, nic: Nic) -> None:
    numbers = {table.id: table for table in intended.tables}
    present = {route.table for route in nic.routes}
    looked_up = {rule.table for rule in nic.rules}
    for number in numbers.keys() - present:
        what = f"table {number} ({numbers[number].name}) for color {numbers[number].color}"
        place = group.place(nic.file, nic.line)
        if number in looked_up:
            group.add(collected, ROUTES, f"{nic.name} has a rule, but no routes, of {what}", place, 2, 0, nic.name)
        else:
            group.add(collected, TABLES, f"{nic.name} has no {what}", place, number, "", nic.name)
    expected = f"{min(numbers)}-{max(numbers)}" if numbers else ""
    for route in nic.routes:
        place = group.place(nic.file, route.table_line)
        if route.table is None:
            message = f"the route to {route.text[0]} names no table: it is in the main table"
            group.add(collected, ROUTES, message, place, expected, "main", nic.name)
        elif route.table not in numbers:
            why = "is the system's own" if route.table in SYSTEM_TABLES else f"does not belong to {nic.name}"
            group.add(collected, TABLES, f"table {route.table} {why}", place, expected, route.table, nic.name)


def _check_rules(group: Group, collected: Findings, nic: Nic, table: ExpectedTable, prefix: Prefix | None) -> None:
    rules = [rule for rule in nic.rules if rule.table == table.id]
    if len(rules) != 1:
        message = f"table {table.id} ({table.name}) needs one rule, it has {len(rules)}"
        line = rules[1].table_line if len(rules) > 1 else nic.line
        involves = (str(prefix),) if prefix is not None else ()
        group.add(collected, RULES, message, group.place(nic.file, line), 1, len(rules), nic.name, involves=involves)
    for rule in rules:
        if rule.source is None or (prefix is not None and rule.source != prefix):
            message = f"the rule of table {table.id} must be from {prefix or 'a prefix'}, not {rule.text or 'anything'}"
            group.add(collected, RULES, message, group.place(nic.file, rule.line), prefix or "", rule.text, nic.name)
        if rule.priority != table.priority:
            found = rule.priority if rule.priority is not None else "none"
            message = f"the rule of table {table.id} must have priority {table.priority}, not {found}"
            place = group.place(nic.file, rule.priority_line)
            group.add(collected, RULES, message, place, table.priority, found, nic.name)
        _check_others(group, collected, nic, rule, f"the rule of table {table.id}")


def _check_others(group: Group, collected: Findings, nic: Nic, entry: Rule | Route, what: str) -> None:
    check = RULES if entry in nic.rules else ROUTES
    for other in entry.others:
        message = f"{other.key} of {what} does not belong here"
        group.add(collected, check, message, group.place(nic.file, other.line), "", str(other.value), nic.name)


def _check_routes(group: Group, collected: Findings, nic: Nic, table: ExpectedTable, routes: list[Route]) -> None:
    what = f"table {table.id} ({table.name})"
    prefix = _prefix_of(routes)
    place = group.place(nic.file, routes[0].line)
    if prefix is None:
        group.add(collected, ROUTES, f"{what} holds no prefix on the link", place, "a prefix", "", nic.name)
    defaults = 0
    for route in routes:
        where = group.place(nic.file, route.line)
        _check_others(group, collected, nic, route, f"the route to {route.text[0]}")
        if route.to is not None and not route.to.length:
            defaults += 1
            _check_gateway(group, collected, nic, route, prefix)
        elif route.to != prefix or route.text[1]:
            group.add(
                collected, ROUTES, f"{what} has a route to {route.text[0]} beside its own", where, "", "", nic.name
            )
        elif route.scope != "link" or route.on_link:
            found = f"scope {route.scope or 'global'}{', on-link' if route.on_link else ''}"
            message = f"the route to {route.text[0]} must have scope link: there is no gateway"
            group.add(collected, ROUTES, message, where, "scope link", found, nic.name)
    if defaults != 1:
        message = f"{what} needs one default route, it has {defaults}"
        group.add(collected, ROUTES, message, place, 1, defaults, nic.name)
    if len(routes) > 2:
        group.add(collected, ROUTES, f"{what} needs two routes, it has {len(routes)}", place, 2, len(routes), nic.name)


def _check_gateway(group: Group, collected: Findings, nic: Nic, route: Route, prefix: Prefix | None) -> None:
    place = group.place(nic.file, route.via_line)
    if route.via is None:
        message = f"the default route of table {route.table} has no IPv6 gateway"
        group.add(collected, ROUTES, message, place, "a gateway", route.text[1], nic.name)
    elif prefix is not None and not prefix.holds(route.via):
        message = f"the gateway {route.text[1]} of table {route.table} is not in {prefix}"
        group.add(collected, ROUTES, message, place, prefix, route.text[1], nic.name)
    if not route.on_link:
        message = f"the default route of table {route.table} must be on-link: the table has no other way to its gateway"
        group.add(collected, ROUTES, message, group.place(nic.file, route.line), "on-link: true", "", nic.name)
    if route.scope:
        message = f"the default route of table {route.table} must not have scope {route.scope}"
        group.add(collected, ROUTES, message, group.place(nic.file, route.line), "", route.scope, nic.name)


def _check_priorities(group: Group, collected: Findings) -> None:
    """Find rules without a table of the plan, and priorities that are used twice or come too late."""
    known = {nic.name: {table.id for table in nic.tables} for nic in group.intended.nics}
    first: dict[int, Rule] = {}
    for rule in group.profile.rules:
        place = group.place(rule.file, rule.priority_line)
        if rule.nic in known and rule.table not in known[rule.nic]:
            found = rule.table if rule.table is not None else "none"
            message = f"a rule from {rule.text} looks up table {found}, which is none of {rule.nic}'s"
            group.add(collected, RULES, message, group.place(rule.file, rule.table_line), "", found, rule.nic)
        if rule.priority is None:
            continue
        if rule.priority >= MAIN_PRIORITY or rule.priority == 0:
            message = f"priority {rule.priority} is the system's own, or comes after the main table"
            group.add(collected, RULES, message, place, f"1-{MAIN_PRIORITY - 1}", rule.priority, rule.nic)
        other = first.setdefault(rule.priority, rule)
        if other is not rule:
            message = f"priority {rule.priority} is already that of the rule from {other.text}"
            group.add(collected, RULES, message, place, "", rule.priority, rule.nic)
    owner: dict[int, str] = {}
    for nic in group.profile.nics.values():
        for table in {route.table for route in nic.routes if route.table is not None}:
            if owner.setdefault(table, nic.name) != nic.name:
                message = f"table {table} is used by {owner[table]} and {nic.name}"
                group.add(collected, TABLES, message, group.place(nic.file, nic.line), "", table, nic.name)


def check_names(group: Group, collected: Findings) -> None:
    """Compare `rt_tables.d` with the plan."""
    if files.TABLE_NAMES not in group.profile.files:
        return
    intended = {table.id: table.name for nic in group.intended.nics for table in nic.tables}
    collected.look(NAMES, len(intended))
    seen: set[int] = set()
    for entry in group.profile.names:
        place = group.place(files.TABLE_NAMES, entry.line)
        name = intended.get(entry.table)
        if name is None:
            message = f"table {entry.table} ({entry.name}) is none of the fabric's"
            group.add(collected, NAMES, message, place, "", entry.table)
        elif entry.table in seen:
            group.add(collected, NAMES, f"table {entry.table} is named twice", place, "", entry.name)
        elif entry.name != name:
            group.add(
                collected,
                NAMES,
                f"table {entry.table} must be called {name}, not {entry.name}",
                place,
                name,
                entry.name,
            )
        seen.add(entry.table)
    for number in intended.keys() - seen:
        place = group.place(files.TABLE_NAMES)
        group.add(
            collected, NAMES, f"table {number} has no name; it must be {intended[number]}", place, intended[number]
        )


# NIC, table, name, priority, prefix, gateway, as the script writes them.
Words = tuple[str, str, str, str, str, str]


def _rows(group: Group) -> Iterator[Words]:
    """Iterate over the rows that the script must have, as netplan has them."""
    for intended in group.intended.nics:
        nic = group.profile.nics.get(intended.name)
        for table in intended.tables if nic is not None else ():
            routes = [route for route in nic.routes if route.table == table.id] if nic is not None else []
            via = next((route.via for route in routes if route.to is not None and not route.to.length), None)
            rule = next((rule for rule in nic.rules if rule.table == table.id), None) if nic is not None else None
            priority = str(rule.priority) if rule is not None else ""
            gateway = address_text(via) if via is not None else ""
            yield intended.name, str(table.id), table.name, priority, str(_prefix_of(routes) or ""), gateway


def check_script(group: Group, collected: Findings) -> None:
    """Compare the list of `ailb-net` with netplan, row by row."""
    script = group.profile.script
    if script is None or not group.profile.nics:
        return
    intended = list(_rows(group))
    collected.look(SCRIPT, len(intended))
    missing = Counter(intended)
    wrong: list[tuple[Words, int]] = []
    for row in script.rows:
        gateway = address_text(row.gateway) if row.gateway is not None else ""
        words = (row.nic, str(row.table), row.name, str(row.priority), str(row.prefix or ""), gateway)
        if missing[words]:
            missing[words] -= 1
        else:
            wrong.append((words, row.line))
    for words, line in wrong:
        text = " ".join(words)
        group.add(
            collected, SCRIPT, f"{text}: netplan has no such table", group.place(files.SCRIPT, line), "", text, words[0]
        )
    for words in missing.elements():
        text = " ".join(words)
        message = f"netplan's table {words[1]} is not in the list: {text}"
        group.add(collected, SCRIPT, message, group.place(files.SCRIPT, script.line), text, "", words[0])


def code_of(group: Group, file: str) -> tuple[Code, ...]:
    """Return the code of one of the scripts."""
    script = group.profile.script if file == files.SCRIPT else group.profile.qos
    return script.code if script is not None else ()


def _lacking(text: tuple[str, ...], commands: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(command for command in commands if not any(command in line for line in text))


def check_programs(groups: Iterable[Group], collected: Findings) -> None:
    """Find scripts without the commands that matter, and scripts that are not what most servers have."""
    rows = list(groups)
    for file, commands in COMMANDS.items():
        texts = {group: tuple(code.text for code in code_of(group, file)) for group in rows if code_of(group, file)}
        count = Counter(texts.values())
        # Of two profiles that differ, the one with all commands is right.
        rank = {text: (number, -len(_lacking(text, commands))) for text, number in count.items()}
        usual = [text for text, own in rank.items() if own == max(rank.values())]
        collected.look(PROGRAMS, len(texts))
        for group, text in texts.items():
            for command in _lacking(text, commands):
                group.add(collected, PROGRAMS, f"the command is missing: {command}", group.place(file), command)
            other = next((row for row in usual if row != text), None)
            if other is not None:
                _different(group, collected, file, other)


def _different(group: Group, collected: Findings, file: str, other: tuple[str, ...]) -> None:
    """Note the first line in which a script differs from what others have."""
    code = code_of(group, file)
    number = next((n for n, (own, text) in enumerate(zip(code, other, strict=False)) if own.text != text), len(other))
    own = code[number] if number < len(code) else code[-1]
    expected = other[number] if number < len(other) else ""
    message = f"{file} is not the same on all servers; the first difference is {own.text!r}"
    group.add(collected, PROGRAMS, message, group.place(file, own.line), expected, own.text)
