"""Compare servers and the advertisements that reach them with the intent: addresses, rules, tables."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.addresses import Prefix, address_text, eui64
from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import deviations
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_hosts import ExpectedNic
from ailb_gen.checks.expected_routes import ExpectedRoutes
from ailb_gen.checks.expected_switches import ExpectedSwitch
from ailb_gen.checks.families.lab import ADDRESSES, ADVERTISED, TABLES
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import Place
from ailb_gen.lab.advertisements import Advertisement, AnnouncedPrefix
from ailb_gen.lab.check.expected import DownLinks, leaf_ports
from ailb_gen.lab.check.observed import Observed
from ailb_gen.lab.kernel import KernelNextHop, KernelRule
from ailb_gen.layout import NETPLAN
from ailb_gen.network.fabric import End
from ailb_gen.wording import some

DEFAULT_ROUTE = Prefix(0, 0)
# A server's NICs whose cable is in service, with their leaf.
Nics = dict[End, tuple[ExpectedSwitch, ExpectedNic]]


def check_servers(
    context: Context, routes: ExpectedRoutes, observed: Observed, down: DownLinks, findings: Findings
) -> None:
    """Compare advertisements on links and at NICs, addresses of NICs and IRBs, rules and tables."""
    leaves = {leaf.name: leaf for leaf in context.expected.leaves}
    nics: Nics = {
        end: (leaves[port.device], nic)
        for end, port in leaf_ports(context).items()
        if end.device in observed.devices
        for nic in context.hosts[end.device].nics
        if nic.name == end.port
    }
    _check_links(context, routes, observed, down, findings)
    _check_nics(context, nics, observed, findings)
    _check_addresses(context, nics, observed, findings)
    for server in dict.fromkeys(end.device for end in nics):
        own = {end: row for end, row in nics.items() if end.device == server}
        _check_tables(context, observed, server, own, findings)


def _check_links(
    context: Context, routes: ExpectedRoutes, observed: Observed, down: DownLinks, findings: Findings
) -> None:
    """Expect a router advertisement of the other end, without prefixes, at both ends of every link in service.

    Static neighbors need none.
    """
    static = context.fabric.bgp.neighbors == "static"
    for end, sender in routes.ends():
        findings.look(ADVERTISED)
        advertisement = observed.advertisements.get(end)
        if advertisement is None and not static:
            message = f"no router advertisement of {sender.device} arrives over {sender} - {end}"
            if end in down.dark and {end.device, sender.device} <= observed.devices:
                message += ": the link has no carrier"
            involves = (about.device(end.device), about.end(end))
            _at_interface(context, ADVERTISED, sender, message, involves, findings)
        elif advertisement is not None and advertisement.prefixes:
            prefixes = some([str(one.prefix) for one in advertisement.prefixes])
            message = f"its advertisements to {end} have {prefixes}"
            _at_interface(context, ADVERTISED, sender, message, (), findings)


def _check_nics(context: Context, nics: Nics, observed: Observed, findings: Findings) -> None:
    """Expect the advertisement of its leaf at every NIC."""
    for end, (leaf, _) in nics.items():
        findings.look(ADVERTISED)
        advertisement = observed.advertisements.get(end)
        # A NIC that receives nothing may be down, and has no routes then.
        involves = (about.device(end.device), *([about.nic(end.device, end.port)] if advertisement is None else []))
        irb = End(leaf.name, f"irb.{leaf.vlan}")
        for message in _advertisement(leaf, advertisement, end):
            _at_interface(context, ADVERTISED, irb, message, involves, findings)


def _advertisement(leaf: ExpectedSwitch, observed: Advertisement | None, end: End) -> Iterator[str]:
    if observed is None:
        yield f"no router advertisement arrives at {end}"
        return
    ra = leaf.settings.ra
    if observed.lifetime_s != ra.router_lifetime_s:
        yield f"its router lifetime at {end} is {observed.lifetime_s} s, expected {ra.router_lifetime_s} s"
    times = (ra.valid_lifetime_s, ra.preferred_lifetime_s)
    expected = {prefix: AnnouncedPrefix(prefix, True, True, *times) for prefix in leaf.prefixes}
    for deviation in deviations(expected, {one.prefix: one for one in observed.prefixes}):
        prefix, one = deviation.subject, deviation.observed
        if one is None:
            yield f"{prefix} is not advertised to {end}"
        elif deviation.expected is None:
            yield f"{prefix} is advertised to {end}, and is not one of its prefixes"
        elif not (one.on_link and one.autonomous):
            yield f"{prefix} is advertised to {end} {'without on-link' if not one.on_link else 'not autonomous'}"
        else:
            have = f"for {one.valid_s} s and {one.preferred_s} s"
            yield f"{prefix} is advertised to {end} {have}, expected {times[0]} s and {times[1]} s"


def _check_addresses(context: Context, nics: Nics, observed: Observed, findings: Findings) -> None:
    """Expect the gateways of the leaf's prefixes on IRBs, EUI-64 addresses on NICs, and no other global address."""
    expected = {
        End(leaf.name, f"irb.{leaf.vlan}"): frozenset(leaf.gateways)
        for leaf in context.expected.leaves
        if leaf.name in observed.devices
    }
    for end, (leaf, _) in nics.items():
        mac = observed.macs.get(end, "")
        expected[end] = frozenset(prefix.value + eui64(mac) for prefix in leaf.prefixes) if mac else frozenset()
    findings.look(ADDRESSES, len(expected))
    for one in deviations(expected, {end: observed.addresses.get(end, frozenset()) for end in expected}):
        end, want, have = one.subject, one.expected or frozenset(), one.observed or frozenset()
        messages = []
        if missing := sorted(want - have):
            messages.append(f"has no address {some([address_text(value) for value in missing])}")
        if extra := sorted(have - want):
            messages.append(f"has the address {some([address_text(value) for value in extra])}, which is not expected")
        for message in messages:
            if end in nics:
                involves = (nics[end][0].name,)
                subjects = [about.nic(end.device, end.port)]
                findings.add(ADDRESSES, end.device, message, None, involves=involves, part=end.port, subjects=subjects)
            else:
                _at_interface(context, ADDRESSES, end, f"{end.port} {message}", (), findings)


def _check_tables(context: Context, observed: Observed, server: str, nics: Nics, findings: Findings) -> None:
    """Compare a server's rules, and the routes of the tables that are expected, with those of the intent."""
    rules: set[KernelRule] = set()
    routes: set[tuple[int, Prefix, KernelNextHop]] = set()
    nic_of: dict[int, str] = {}
    for leaf, nic in nics.values():
        for table, prefix, gateway in zip(nic.tables, leaf.prefixes, leaf.gateways, strict=True):
            nic_of[table.id] = nic.name
            rules.add(KernelRule(table.priority, prefix, table.id))
            routes.add((table.id, prefix, KernelNextHop(nic.name, None)))
            routes.add((table.id, DEFAULT_ROUTE, KernelNextHop(nic.name, gateway)))
    findings.look(TABLES, len(rules) + len(nic_of))
    tables = observed.tables.get(server, {})
    have = {(table, prefix, hop) for table in nic_of for prefix, hops in tables.get(table, {}).items() for hop in hops}
    expected = {_rule(one) for one in rules} | {_route(*one) for one in routes}
    found = {_rule(one) for one in observed.rules.get(server, ())} | {_route(*one) for one in have}
    for number, where, text in sorted(expected ^ found):
        missing, kind = (number, where, text) in expected, "route" if where else "rule"
        message = f"{where}has no {kind} {text}" if missing else f"{where}has the {kind} {text}, which is not expected"
        place = _table_place(context, server, number)
        same_cause = f"{place.file} {message}" if place is not None else ""
        involves = (about.nic(server, nic_of[number]),) if number in nic_of else ()
        texts = (text, "") if missing else ("", text)
        subjects = [about.table(server, number)]
        findings.add(
            TABLES, server, message, place, *texts, involves=involves, same_cause=same_cause, subjects=subjects
        )


def _table_place(context: Context, server: str, table: int) -> Place | None:
    """Return where the netplan files of a server first name a table."""
    host = context.network.hosts.get(server)
    if host is None:
        return None
    places = [(one.file, one.table_line) for one in host.profile.routes.get(table, ())]
    places += [(one.file, one.table_line) for one in host.profile.rules if one.table == table]
    file, line = next(iter(places), (NETPLAN, 1))
    return Place(f"{host.profile.folder}/{file}", line or 1)


# The number of a table, its text in messages (none for a rule), and the text of the rule or route.
Line = tuple[int, str, str]


def _rule(rule: KernelRule) -> Line:
    return rule.table, "", f"{rule.priority}: from {rule.source} lookup {rule.table}"


def _route(table: int, prefix: Prefix, hop: KernelNextHop) -> Line:
    via = f" via {address_text(hop.gateway)}" if hop.gateway is not None else ""
    return table, f"table {table} ", f"{'default' if prefix == DEFAULT_ROUTE else prefix}{via} dev {hop.link}"


def _at_interface(
    context: Context, check: Check, end: End, message: str, involves: tuple[about.Subject, ...], findings: Findings
) -> None:
    """Add a finding about a port or an IRB of a switch, at its line if it has a file."""
    interface = end.port if end.port.startswith("irb.") else f"{end.port}.0"
    switch = context.network.switches.get(end.device)
    if switch is None:
        findings.add(check, end.device, message, None, involves=involves, part=end.port)
        return
    configured, unit = switch.advertisements.get(interface), switch.unit(interface)
    line = configured.line if configured is not None and check is ADVERTISED else unit.line if unit is not None else 1
    findings.at(check, switch, message, line, involves=involves, part=end.port)
