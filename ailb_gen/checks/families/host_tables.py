"""Check routing tables, rules, routes and names of tables of servers (AILB603 to AILB605, AILB608)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial

from ailb_gen import layout as files
from ailb_gen.addresses import Prefix
from ailb_gen.checks import subjects as about
from ailb_gen.checks.expected_hosts import ExpectedNic, ExpectedTable, HostGroup
from ailb_gen.checks.families.hosts import REGENERATE, HostFindings, per_group
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check
from ailb_gen.hosts.lookup import MAIN_PRIORITY
from ailb_gen.hosts.model import NetplanNic, Rule, ServerRoute

# Tables that the kernel has names and uses for (rt_tables: unspec, default, main, local).
SYSTEM_TABLES = frozenset({0, 253, 254, 255})
# Servers form their addresses of prefixes of 64 bits (RFC 4862).
LENGTH = 64


@per_group
def _check_tables(group: HostGroup, findings: HostFindings) -> None:
    """Compare tables, rules and routes of every NIC in netplan with the plan."""
    for expected in group.expected.nics:
        nic = group.profile.nics.get(expected.name)
        if nic is None:
            continue
        for check in (TABLES, RULES, ROUTES):
            findings.look(check, len(expected.tables))
        _check_numbers(findings, expected, nic)
        for table in expected.tables:
            routes = [route for route in nic.routes if route.table == table.id]
            prefix = prefix_of(routes, [rule for rule in nic.rules if rule.table == table.id])
            of_table = findings.about(about.table(findings.scope, table.id))
            _check_rules(of_table, nic, table, prefix)
            if routes:
                _check_routes(of_table, nic, table, routes, prefix)
    _check_priorities(group, findings)


def prefix_of(routes: Iterable[ServerRoute], rules: Iterable[Rule] = ()) -> Prefix | None:
    """Return the prefix that a table holds on the link; of several that of its gateway, else the first.

    Where rule and gateway of a table agree and the route on the link does not, it is the route that is wrong.
    """
    on_link = [route.to for route in routes if route.to is not None and not route.text[1] and route.to.length]
    gateways = [route.via for route in routes if route.via is not None]
    own = [prefix for prefix in on_link if any(prefix.contains(Prefix(gateway, 128)) for gateway in gateways)]
    if on_link and not any(prefix.length == LENGTH for prefix in own):
        sources = (rule.source for rule in rules if rule.source is not None and rule.source.length == LENGTH)
        own = [source for source in sources if any(source.holds(gateway) for gateway in gateways)] or own
    return next(iter(own), on_link[0] if on_link else None)


def _check_numbers(findings: HostFindings, expected: ExpectedNic, nic: NetplanNic) -> None:
    tables = {table.id: table for table in expected.tables}
    present = {route.table for route in nic.routes}
    referenced = {rule.table for rule in nic.rules}
    for number in tables.keys() - present:
        of_table = findings.about(about.table(findings.scope, number))
        what = f"table {number} ({tables[number].name}) for color {tables[number].color}"
        if number in referenced:
            of_table.at(ROUTES, nic, f"{nic.name} has a rule, but no routes, of {what}", nic.line, 2, 0)
        else:
            of_table.at(TABLES, nic, f"{nic.name} has no {what}", nic.line, number)
    numbers = f"{min(tables)}-{max(tables)}" if tables else ""
    for route in nic.routes:
        of_route = findings.about(*([about.table(findings.scope, route.table)] if route.table is not None else []))
        if route.table is None:
            message = f"the route to {route.text[0]} names no table: it is in the main table"
            same_cause = _misplaced(nic, []) if route.to is not None and not route.to.length else ""
            own = findings.about(*about.prefixes(route.text[0]))
            own.at(ROUTES, nic, message, route.table_line, numbers, "main", same_cause=same_cause)
        elif route.table not in tables:
            why = "is reserved by the system" if route.table in SYSTEM_TABLES else f"does not belong to {nic.name}"
            of_route.at(TABLES, nic, f"table {route.table} {why}", route.table_line, numbers, route.table)


def _check_rules(findings: HostFindings, nic: NetplanNic, table: ExpectedTable, prefix: Prefix | None) -> None:
    rules = [rule for rule in nic.rules if rule.table == table.id]
    if len(rules) != 1:
        message = f"table {table.id} ({table.name}) needs one rule, it has {len(rules)}"
        line = rules[1].table_line if len(rules) > 1 else nic.line
        own = findings.about(*([about.prefix(prefix)] if prefix is not None else []))
        same_cause = "" if nic.rules else f"{nic.file} {nic.name} without rules"
        own.at(RULES, nic, message, line, 1, len(rules) or "", same_cause=same_cause)
    for rule in rules:
        what = f"the rule of table {table.id}"
        if rule.source is None or (prefix is not None and rule.source != prefix):
            message = f"{what} must be from {prefix or 'a prefix'}, not {rule.text or 'anything'}"
            own = findings.about(*about.prefixes(rule.text), *([about.prefix(prefix)] if prefix is not None else []))
            own.at(RULES, nic, message, rule.line, prefix or "", rule.text)
        if rule.priority != table.priority:
            found = rule.priority if rule.priority is not None else "none"
            message = f"{what} must have priority {table.priority}, not {found}"
            findings.at(RULES, nic, message, rule.priority_line, table.priority, found)
        _check_others(findings, RULES, nic, rule, what)


def _check_others(findings: HostFindings, check: Check, nic: NetplanNic, entry: Rule | ServerRoute, what: str) -> None:
    for other in entry.others:
        findings.at(check, nic, f"{other.key} of {what} does not belong here", other.line, "", other.value)


def _check_routes(
    findings: HostFindings, nic: NetplanNic, table: ExpectedTable, routes: list[ServerRoute], prefix: Prefix | None
) -> None:
    what, line = f"table {table.id} ({table.name})", routes[0].line
    if prefix is None:
        findings.at(ROUTES, nic, f"{what} has no on-link prefix", line, "a prefix")
    defaults = [route for route in routes if route.to is not None and not route.to.length]
    # A route too many may be the one that another table lacks.
    stray = _stray(routes, prefix) if len(routes) > 2 else 0
    for route in routes:
        _check_others(findings, ROUTES, nic, route, f"the route to {route.text[0]}")
        if route in defaults:
            _check_default(findings, nic, route, prefix, stray)
        elif len(routes) == 2 and route.to != prefix and not route.text[1]:
            message = f"the route on the link of {what} must be to {prefix}, not {route.text[0]}"
            own = findings.about(about.prefix(prefix)) if prefix is not None else findings
            own.about(*about.prefixes(route.text[0])).at(ROUTES, nic, message, route.line, prefix or "", route.text[0])
        elif route.to != prefix or route.text[1]:
            own = findings.about(*about.prefixes(route.text[0]))
            own.at(ROUTES, nic, f"{what} has an unexpected route to {route.text[0]}", stray or route.line)
        elif route.scope != "link" or route.on_link:
            found = f"scope {route.scope or 'global'}{', on-link' if route.on_link else ''}"
            message = f"the route to {route.text[0]} must have scope link: there is no gateway"
            line = route.scope_line if route.scope != "link" else route.on_link_line
            own = findings.about(*about.prefixes(route.text[0]))
            own.at(ROUTES, nic, message, line, "scope link", found)
    if len(defaults) != 1:
        message = f"{what} needs one default route, it has {len(defaults)}"
        at = stray if stray and len(defaults) > 1 else line
        findings.at(ROUTES, nic, message, at, 1, len(defaults) or "", same_cause=_misplaced(nic, defaults))
    if len(routes) > 2:
        findings.at(ROUTES, nic, f"{what} needs two routes, it has {len(routes)}", stray or line, 2, len(routes))


def _stray(routes: Iterable[ServerRoute], prefix: Prefix | None) -> int:
    """Return the line of the table of a route that belongs to another prefix; 0 if none does."""
    for route in routes:
        is_default = route.to is not None and not route.to.length
        foreign = route.to != prefix
        if is_default:
            foreign = prefix is not None and route.via is not None and not prefix.holds(route.via)
        if foreign:
            return route.table_line
    return 0


def _misplaced(nic: NetplanNic, defaults: list[ServerRoute]) -> str:
    """Return the shared cause of the default routes of a NIC where one is in a table of another prefix."""
    count = Counter(route.table for route in nic.routes if route.to is not None and not route.to.length)
    twice, without = [one for one, many in count.items() if many > 1 or one is None], len(defaults) != 1
    return f"{nic.file} {nic.name} default" if len(twice) == 1 and without else ""


def _check_default(
    findings: HostFindings, nic: NetplanNic, route: ServerRoute, prefix: Prefix | None, stray: int
) -> None:
    what, gateway = f"the default route of table {route.table}", route.text[1]
    of_gateway = findings.about(*about.prefixes(gateway))
    if route.via is None:
        findings.at(ROUTES, nic, f"{what} has no IPv6 gateway", route.via_line, "a gateway", gateway)
    elif prefix is not None and not prefix.holds(route.via):
        message = f"the gateway {gateway} of table {route.table} is not in {prefix}"
        of_gateway.about(about.prefix(prefix)).at(ROUTES, nic, message, stray or route.via_line, prefix, gateway)
    if not route.on_link:
        message = f"{what} must be on-link: the table has no other way to its gateway"
        findings.at(ROUTES, nic, message, route.on_link_line, "on-link: true")
    if route.scope:
        findings.at(ROUTES, nic, f"{what} must not have scope {route.scope}", route.scope_line, "", route.scope)


def _check_priorities(group: HostGroup, findings: HostFindings) -> None:
    """Find rules without a table of the plan, and priorities that are used twice or come too late."""
    tables = {nic.name: {table.id for table in nic.tables} for nic in group.expected.nics}
    first: dict[int, Rule] = {}
    for rule in group.profile.rules:
        priority = rule.priority
        if rule.nic in tables and rule.table not in tables[rule.nic]:
            found = rule.table if rule.table is not None else "none"
            message = f"a rule from {rule.text} looks up table {found}, which is not one of {rule.nic}'s"
            own = findings.about(*about.prefixes(rule.text), about.table(findings.scope, found))
            own.add(RULES, message, rule.file, rule.table_line, "", found, rule.nic)
        if priority is None:
            continue
        if priority >= MAIN_PRIORITY or priority == 0:
            message = f"priority {priority} is reserved by the system, or comes after the main table"
            allowed = f"1-{MAIN_PRIORITY - 1}"
            findings.add(RULES, message, rule.file, rule.priority_line, allowed, priority, rule.nic)
        other = first.setdefault(priority, rule)
        if other is not rule:
            message = f"priority {priority} is already that of the rule from {other.text}"
            own = findings.about(*about.prefixes(other.text))
            own.add(RULES, message, rule.file, rule.priority_line, "", priority, rule.nic)
    owner: dict[int, str] = {}
    # What a GPU NIC has of another one's is told where it stands.
    for nic in sorted(group.profile.nics.values(), key=lambda nic: nic.name not in tables):
        for table in {route.table for route in nic.routes if route.table is not None}:
            if owner.setdefault(table, nic.name) != nic.name and nic.name not in tables:
                message = f"table {table} is used by {owner[table]} and {nic.name}"
                of_table = findings.about(about.table(findings.scope, table))
                of_table.at(TABLES, nic, message, nic.line, "", table)


@per_group
def _check_names(group: HostGroup, findings: HostFindings) -> None:
    """Compare `rt_tables.d` with the plan."""
    file = files.TABLE_NAMES
    if file not in group.profile.files:
        return
    expected = {table.id: table.name for nic in group.expected.nics for table in nic.tables}
    findings.look(NAMES, len(expected))
    seen: set[int] = set()
    # Where a name of the fabric is missing, one beside them may be that one under a wrong number.
    own = {(entry.table, entry.name) for entry in group.profile.names}
    complete, right = expected.items() <= own, set[int]()
    for entry in group.profile.names:
        number, name = entry.table, expected.get(entry.table)
        of_table = findings.about(about.table(findings.scope, number))
        if name is None and complete and number not in SYSTEM_TABLES and entry.name not in expected.values():
            continue
        if name is None:
            message = f"table {number} ({entry.name}) is not one of the fabric's"
            of_table.add(NAMES, message, file, entry.line, "", number)
        elif entry.name != name:
            message = f"table {number} must be called {name}, not {entry.name}"
            if (number, name) in own:
                message = f"table {number} is named twice; it is {name}, not {entry.name}"
            of_table.add(NAMES, message, file, entry.line, "" if (number, name) in own else name, entry.name)
        elif number in right:
            of_table.add(NAMES, f"table {number} is named twice", file, entry.line, "", entry.name)
        else:
            right.add(number)
        seen.add(number)
    lines, line = {entry.table: entry.line for entry in group.profile.names}, 1
    for number, name in expected.items():
        # What is missing belongs behind what is in front of it.
        line = lines.get(number, line)
        if number not in seen:
            of_table = findings.about(about.table(findings.scope, number))
            of_table.add(NAMES, f"table {number} has no name; it must be {name}", file, line, name)


_of_tables = partial(Check, run=_check_tables, layer=Layer.TABLES)
TABLES = _of_tables(
    "AILB603",
    "every NIC has one routing table per color, numbered first + colors x NIC + (color - 1)",
    "a NIC has the wrong routing tables",
    "A missing table, or one that two prefixes share, sends traffic of one color over another.",
    REGENERATE,
)
RULES = _of_tables(
    "AILB604",
    "one rule per table picks it by the source prefix, with a priority of its own before the main table's",
    "the rule of a routing table is missing, wrong or unexpected",
    "Without its rule a prefix uses the main table: packets leave through any NIC, or through none.",
    REGENERATE,
)
ROUTES = _of_tables(
    "AILB605",
    "every table has its on-link prefix and a default route via a gateway in the prefix, and no other routes",
    "a routing table has wrong, missing or unexpected routes",
    "Extra routes send part of the traffic another way; a gateway outside the prefix is unreachable.",
    REGENERATE,
)
NAMES = Check(
    "AILB608",
    "rt_tables.d gives every table the name that belongs to its number",
    "a routing table has the wrong name, or none",
    "The NCCL plug-in and operators find tables by name: a wrong name leads to a wrong table.",
    REGENERATE,
    _check_names,
    layer=Layer.SERVERS,
)
