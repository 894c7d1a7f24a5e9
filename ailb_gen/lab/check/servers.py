"""Compare servers and the advertisements that reach them with the intent: addresses, rules, tables."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.addresses import Prefix, address_text, eui64
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import port_override
from ailb_gen.checks.expected_cabling import ExpectedCable
from ailb_gen.checks.expected_hosts import ExpectedNic
from ailb_gen.checks.expected_switches import ExpectedSwitch
from ailb_gen.checks.families.lab import ADDRESSES, ADVERTISED, TABLES
from ailb_gen.checks.model import Check, Findings
from ailb_gen.checks.subjects import Subject
from ailb_gen.errors import Place
from ailb_gen.lab.check.asked import Gone
from ailb_gen.lab.check.measured import Measured, SeenAdvertisement, SeenRoute, SeenRule
from ailb_gen.layout import NETPLAN
from ailb_gen.network.fabric import End
from ailb_gen.wording import some

DEFAULT_ROUTE = Prefix(0, 0)


def judge_servers(context: Context, seen: Measured, gone: Gone, findings: Findings) -> None:
    """Judge advertisements on links and at NICs, addresses of NICs and IRBs, rules and tables."""
    judge_links(context, seen, gone, findings)
    judge_gateways(context, seen, findings)
    nics: dict[str, list[tuple[ExpectedCable, ExpectedSwitch, ExpectedNic]]] = {}
    for cable in context.cabling.hosts:
        host = context.hosts[cable.b_device]
        nic = next((one for one in host.nics if one.name == cable.b_port), None)
        off = port_override(context.expected, End(cable.a_device, cable.a_port)).disabled
        if cable.b_device in seen.devices and nic is not None and not off:
            nics.setdefault(cable.b_device, []).append((cable, context.expected.switches[cable.a_device], nic))
    for server, rows in nics.items():
        for cable, leaf, _ in rows:
            judge_nic(context, seen, cable, leaf, findings)
        judge_tables(context, seen, server, [(leaf, nic) for _, leaf, nic in rows], findings)


def judge_links(context: Context, seen: Measured, gone: Gone, findings: Findings) -> None:
    """Every end of a link in service has heard the other one."""
    for cable in context.cabling.links:
        ends = (End(cable.a_device, cable.a_port), End(cable.b_device, cable.b_port))
        if not gone.failed.isdisjoint(ends) or any(port_override(context.expected, end).disabled for end in ends):
            continue
        for end, sender in (ends, ends[::-1]):
            findings.look(ADVERTISED)
            heard = seen.advertisements.get(end)
            if heard is None:
                message = f"no router advertisement of {sender.device} arrives over {sender} - {end}"
                if end in gone.dark and {end.device, sender.device} <= seen.devices:
                    message += ": the link has no carrier"
                involves = (about.device(end.device), about.end(end))
                _at_interface(context, ADVERTISED, sender, f"{sender.port}.0", message, involves, findings)
            elif heard.prefixes:
                prefixes = some([str(one.prefix) for one in heard.prefixes])
                message = f"its advertisements to {end} announce {prefixes}"
                _at_interface(context, ADVERTISED, sender, f"{sender.port}.0", message, (), findings)


def judge_gateways(context: Context, seen: Measured, findings: Findings) -> None:
    """Every IRB has the gateways of the leaf's prefixes, and no other global address."""
    for leaf in context.expected.leaves:
        if leaf.name not in seen.devices:
            continue
        irb = End(leaf.name, f"irb.{leaf.vlan}")
        findings.look(ADDRESSES)
        found, asked = seen.addresses.get(irb, frozenset()), frozenset(leaf.gateways)
        for message in _differences(asked, found):
            _at_interface(context, ADDRESSES, irb, irb.port, f"{irb.port} {message}", (), findings)


def judge_nic(context: Context, seen: Measured, cable: ExpectedCable, leaf: ExpectedSwitch, findings: Findings) -> None:
    """Judge what a NIC heard of its leaf, and the addresses that it formed."""
    end = End(cable.b_device, cable.b_port)
    findings.look(ADVERTISED)
    findings.look(ADDRESSES)
    heard = seen.advertisements.get(end)
    irb = f"irb.{leaf.vlan}"
    wrong = [f"no router advertisement arrives at {end}"] if heard is None else list(_wrong(leaf, heard, end))
    # A NIC that hears nothing may be down, and has no routes then.
    involves = (about.device(end.device), *([about.nic(end.device, end.port)] if heard is None else []))
    for message in wrong:
        _at_interface(context, ADVERTISED, End(leaf.name, irb), irb, message, involves, findings)
    mac = seen.macs.get(end, "")
    asked = frozenset(prefix.value + eui64(mac) for prefix in leaf.prefixes) if mac else frozenset()
    for message in _differences(asked, seen.addresses.get(end, frozenset())):
        subjects = (about.nic(end.device, end.port),)
        findings.add(ADDRESSES, end.device, message, None, involves=(leaf.name,), part=end.port, subjects=subjects)


def _wrong(leaf: ExpectedSwitch, heard: SeenAdvertisement, end: End) -> Iterator[str]:
    """Yield what an advertisement at a NIC says otherwise than the intent."""
    ra = leaf.settings.ra
    if heard.lifetime_s != ra.router_lifetime_s:
        yield f"its router lifetime at {end} is {heard.lifetime_s} s; the intent asks for {ra.router_lifetime_s} s"
    announced = {one.prefix: one for one in heard.prefixes}
    for prefix in leaf.prefixes:
        one = announced.pop(prefix, None)
        if one is None:
            yield f"{prefix} is not announced to {end}"
        elif not (one.on_link and one.autonomous):
            yield f"{prefix} is announced to {end} {'without on-link' if not one.on_link else 'not autonomous'}"
        elif (one.valid_s, one.preferred_s) != (ra.valid_lifetime_s, ra.preferred_lifetime_s):
            asks = f"{ra.valid_lifetime_s} s and {ra.preferred_lifetime_s} s"
            yield f"{prefix} is announced to {end} for {one.valid_s} s and {one.preferred_s} s; the intent asks {asks}"
    yield from (f"{prefix} is announced to {end}, and is none of its prefixes" for prefix in announced)


def _differences(asked: frozenset[int], found: frozenset[int]) -> Iterator[str]:
    """Yield which addresses are missing, and which are too many."""
    missing, extra = sorted(asked - found), sorted(found - asked)
    if missing:
        yield f"has no address {some([address_text(value) for value in missing])}"
    if extra:
        yield f"has the address {some([address_text(value) for value in extra])}, which the intent does not ask for"


def judge_tables(
    context: Context,
    seen: Measured,
    server: str,
    nics: list[tuple[ExpectedSwitch, ExpectedNic]],
    findings: Findings,
) -> None:
    """Compare a server's rules and tables with those that the intent asks for."""
    rules: set[SeenRule] = set()
    tables: dict[int, frozenset[SeenRoute]] = {}
    for leaf, nic in nics:
        for table, prefix, gateway in zip(nic.tables, leaf.prefixes, leaf.gateways, strict=True):
            rules.add(SeenRule(table.priority, prefix, table.id))
            here, onward = SeenRoute(prefix, nic.name), SeenRoute(DEFAULT_ROUTE, nic.name, gateway)
            tables[table.id] = frozenset({here, onward})
    found = seen.rules.get(server, frozenset())
    findings.look(TABLES, len(rules) + len(tables))

    nic_of = {table.id: nic.name for _, nic in nics for table in nic.tables}

    def add(table: int, message: str, expected: str, have: str) -> None:
        place = _table_place(context, server, table)
        same_cause = f"{place.file} {message}" if place is not None else ""
        involves = (about.nic(server, nic_of[table]),) if table in nic_of else ()
        subjects = (about.table(server, table),)
        findings.add(
            TABLES, server, message, place, expected, have, involves=involves, same_cause=same_cause, subjects=subjects
        )

    for rule in sorted(rules - found):
        add(rule.table, f"has no rule {_rule(rule)}", _rule(rule), "")
    for rule in sorted(found - rules):
        add(rule.table, f"has the rule {_rule(rule)}, which is not asked for", "", _rule(rule))
    for number, asked in tables.items():
        have = seen.tables.get(server, {}).get(number, frozenset())
        for route in sorted(map(_route, asked - have)):
            add(number, f"table {number} has no route {route}", route, "")
        for route in sorted(map(_route, have - asked)):
            add(number, f"table {number} has the route {route}, which is not asked for", "", route)


def _table_place(context: Context, server: str, table: int) -> Place | None:
    """Return where the netplan files of a server first name a table."""
    host = context.network.hosts.get(server)
    if host is None:
        return None
    places = [(one.file, one.table_line) for one in host.profile.routes.get(table, ())]
    places += [(one.file, one.table_line) for one in host.profile.rules if one.table == table]
    file, line = next(iter(places), (NETPLAN, 1))
    return Place(f"{host.profile.folder}/{file}", line or 1)


def _rule(rule: SeenRule) -> str:
    return f"{rule.priority}: from {rule.source} lookup {rule.table}"


def _route(route: SeenRoute) -> str:
    via = f" via {address_text(route.gateway)}" if route.gateway is not None else ""
    return f"{'default' if route.prefix == DEFAULT_ROUTE else route.prefix}{via} dev {route.nic}"


def _at_interface(
    context: Context,
    check: Check,
    end: End,
    interface: str,
    message: str,
    involves: tuple[Subject, ...],
    findings: Findings,
) -> None:
    """Add a finding about an interface of a switch, at its line if it has a file."""
    switch = context.network.switches.get(end.device)
    if switch is None:
        findings.add(check, end.device, message, None, involves=involves, part=end.port)
        return
    told, unit = switch.advertisements.get(interface), switch.unit(interface)
    line = told.line if told is not None and check is ADVERTISED else unit.line if unit is not None else 1
    findings.at(check, switch, message, line, involves=involves, part=end.port)
