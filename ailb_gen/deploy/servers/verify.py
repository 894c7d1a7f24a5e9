"""Verify a server: compare what is observed with what is expected.

NICs, rules, tables, gateways and kernel settings, which a push sets; and what it does not set: other addresses, speeds,
NCCL's plug-in and variables.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, zip_longest

from ailb_gen.addresses import address_text
from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import deviations
from ailb_gen.checks.model import Finding
from ailb_gen.deploy.servers.addresses import (
    HostAddress,
    addresses,
    speeds,
)
from ailb_gen.deploy.servers.expected import EVERYWHERE, ExpectedRoute, ExpectedRule, ExpectedServer
from ailb_gen.deploy.servers.host_reports import reported
from ailb_gen.deploy.servers.jobs import (
    contradictions,
    plug_in,
)
from ailb_gen.deploy.servers.observed import ObservedServer, observe
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.switch_state import deviation
from ailb_gen.layout import SYSCTL
from ailb_gen.wording import counted

MOST_FINDINGS = 1000
PUSH = "push the server's files again: ailb-gen deploy"
ADVERTISED = "does the leaf advertise it? On the leaf: show ipv6 router-advertisement"
# What sets rules and tables, by way; and the words of `ip` for what verification calls a rule and a table.
APPLY = {"netplan": "netplan apply"}
COMMANDS = {"rule": ("rule", "priority"), "table": ("route", "table")}
# Kernel settings that systemd-networkd sets to its own values, because it does the work itself.
NETWORKD = ("accept_ra",)


def verify(server: ServerConnection, expected: ExpectedServer) -> tuple[Finding, ...]:
    """Compare a server with what its files set, as a push does; changes nothing there. Raises DeviceError."""
    return compare(server.name, expected, observe(server, expected))


def compare(name: str, expected: ExpectedServer, observed: ObservedServer) -> tuple[Finding, ...]:
    """Compare the observed state of a server with what its files set, aspect by aspect."""
    parts = (_files, _nics, _rules, _routes, _sysctls, _gateways)
    return tuple(finding for part in parts for finding in _first(part(name, expected, observed)))


def beyond_push(name: str, expected: ExpectedServer, observed: ObservedServer) -> tuple[Finding, ...]:
    """Compare what no push changes: other addresses, MACs and speeds, NCCL's plug-in, variables of other files.

    The NICs' settings and GIDs are reported by the server's own programs.
    """
    # A virtual function hears the leaf of its NIC, and has addresses of its own MAC, and GIDs of its own.
    others = observed.functions - set(expected.ports)
    interfaces = {nic: one for nic, one in observed.interfaces.items() if nic not in others}
    parts = (
        addresses(name, expected.ports, interfaces),
        speeds(name, expected.ports, observed.hardware),
        plug_in(name, expected.jobs, observed.plug_in),
        contradictions(name, expected.jobs, observed.assignments),
        reported(name, observed.reports, _changed_files(expected, observed), _wrong_nics(name, expected, observed)),
    )
    return tuple(finding for part in parts for finding in _first(part))


def _changed_files(expected: ExpectedServer, observed: ObservedServer) -> set[str]:
    return {one.subject for one in deviations(expected.tree, observed.tree, extra=False)}


def _wrong_nics(name: str, expected: ExpectedServer, observed: ObservedServer) -> set[str]:
    """Return the NICs with findings about their link or addresses."""
    found = (
        *_nics(name, expected, observed),
        *_gateways(name, expected, observed),
        *addresses(name, expected.ports, observed.interfaces),
    )
    return {subject.name for finding in found for subject in finding.subjects[:-1]}


def compare_all(name: str, expected: ExpectedServer, observed: ObservedServer) -> tuple[Finding, ...]:
    """Compare what a push changes and what it does not."""
    return compare(name, expected, observed) + beyond_push(name, expected, observed)


def _first(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings of one part, and of very many only how many there are: a host can have any number of routes."""
    yield from islice(findings, MOST_FINDINGS)
    last = next(findings, None)
    if last is not None:
        yield replace(last, message=f"{last.message}; {counted(sum(1 for _ in findings), 'more finding')}")


def _files(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    for one in deviations(expected.tree, observed.tree, extra=False):
        reason = "is missing"
        if one.observed is not None:
            same = one.observed.content == expected.tree[one.subject].content
            reason = f"has another {'kind, owner or mode' if same else 'content'} than the file that was pushed"
        yield deviation(name, "file", f"/{one.subject}: {reason}; {PUSH}", about.file(one.subject))


def _nics(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    for nic, mtu in expected.mtus.items():
        found, up = observed.nics.get(nic, (None, True))
        if found is None:
            reason = "there is no such interface; check its name and driver: ip link"
            yield deviation(name, "link", f"{nic}: {reason}", about.nic(name, nic))
        if not up:
            reason = f"the link is down; check cable and leaf, and run: ip link set dev {nic} up"
            yield deviation(name, "link", f"{nic}: {reason}", about.nic(name, nic))
        # Without netplan the MTU is set by the host's own network configuration; it must be right all the same.
        if None not in (mtu, found) and found != mtu:
            reason = f"the MTU is {found}, it must be {mtu}; run: ip link set dev {nic} mtu {mtu}"
            yield deviation(name, "MTU", f"{nic}: {reason}", about.nic(name, nic))


def _dead(expected: ExpectedServer, observed: ObservedServer) -> set[str]:
    """Return the NICs that are missing or down: that they lack routes, settings and gateways follows."""
    return {nic for nic in expected.mtus if not observed.nics.get(nic, (0, False))[1]}


def _rules(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    """Compare the rules, of the host those at the fabric's priorities and into its tables."""
    priorities = {rule.priority for rule in expected.rules}
    tables = {rule.table for rule in expected.rules}
    rules = (rule for rule in observed.rules if rule.priority in priorities or rule.table in tables)
    return _lines(name, "rule", _rule_lines(expected.rules), _rule_lines(rules), observed.way)


def _routes(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    tables = {route.table for route in expected.routes}
    routes = (route for route in observed.routes if route.table in tables)
    dead = _dead(expected, observed)
    wanted, found = ([route for route in some if route.nic not in dead] for some in (expected.routes, routes))
    yield from _lines(name, "table", _route_lines(wanted), _route_lines(found), observed.way)


# The table of a rule or route by its text and the number before it. Texts have no common hash, which numbers that a
# host chooses can have.
Lines = dict[tuple[int, str], int]


def _lines(name: str, item: str, expected: Lines, observed: Lines, way: str) -> Iterator[Finding]:
    """Yield what is missing, what is unexpected, and in one line what was found instead of something else."""
    found: dict[tuple[int, str], tuple[list[str], list[str]]] = {}
    for one in deviations(expected, observed):
        number, text = one.subject
        # One priority has one rule, one destination in a table one route.
        found.setdefault((number, text.split()[0]), ([], []))[one.expected is None].append(text)
    apply = f"run: {APPLY.get(way, 'ailb-net apply')}"
    command, key = COMMANDS[item]
    for (number, _), texts in found.items():
        for missing, extra in zip_longest(*texts):
            removal = f"remove it: ip -6 {command} del {extra} {key} {number}"
            if extra is None:
                table, reason = expected[number, missing], f"'{missing}' is missing; {apply}"
            elif missing is None:
                table, reason = observed[number, extra], f"'{extra}' is unexpected; {removal}"
            else:
                table, reason = expected[number, missing], f"'{extra}' must be '{missing}'; {removal}, and {apply}"
            yield deviation(name, item, f"{item} {number}: {reason}", about.table(name, table))


def _rule_lines(rules: Iterable[ExpectedRule]) -> Lines:
    return {(rule.priority, f"from {rule.source} lookup {rule.table}"): rule.table for rule in rules}


def _route_lines(routes: Iterable[ExpectedRoute]) -> Lines:
    return {(route.table, _text(route)): route.table for route in routes}


def _text(route: ExpectedRoute) -> str:
    via = f" via {address_text(route.gateway)}" if route.gateway is not None else ""
    return f"{'default' if route.to == EVERYWHERE else route.to}{via} dev {route.nic}"


def _sysctls(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    own = () if observed.way != "netplan" else NETWORKD
    dead = _dead(expected, observed)
    skipped = {*own, *dead}
    checked = {key: value for key, value in expected.sysctls.items() if skipped.isdisjoint(key.split(".")[3:])}
    for one in deviations(checked, observed.sysctls, extra=False):
        reason = f"is {one.observed}, it must be {one.expected}; run: sysctl -p /{SYSCTL}"
        if one.observed is None:
            reason = "there is no such setting; does the NIC exist?"
        yield deviation(name, "sysctl", f"{one.subject}: {reason}", about.setting(name, one.subject))


def _gateways(name: str, expected: ExpectedServer, observed: ObservedServer) -> Iterator[Finding]:
    dead = _dead(expected, observed)
    for one in expected.gateways:
        if one.nic in dead:
            continue
        source, answered = observed.answers.get(one.words, ("", False))
        if not source:
            interface = observed.interfaces.get(one.nic)
            held = interface.within(one.prefix) if interface is not None else ()
            reason = next(map(_unusable, held), f"no usable address in {one.prefix}; {ADVERTISED}")
            yield deviation(name, "address", f"{one.nic}: {reason}", about.nic(name, one.nic))
        elif not answered:
            silent = f"{address_text(one.gateway)} does not answer {source}"
            reason = f"{silent}; check the leaf and its port: show interfaces terse"
            yield deviation(name, "gateway", f"{one.nic}: {reason}", about.nic(name, one.nic))


def _unusable(address: HostAddress) -> str:
    if "dadfailed" in address.flags:
        return f"{address.text} is a duplicate: another NIC has this address; look for a second one with the same MAC"
    return f"{address.text} is tentative: its detection of duplicates has not ended; is the link up?"
